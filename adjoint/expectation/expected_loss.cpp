#include "adjoint/expectation/expected_loss.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace costate {
namespace {

// Environments of a thread: enough to find some that take the same branches.
constexpr int most_together = 64;
constexpr double silence = 60;  // s, after which rank 0 no longer follows the others

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double mean_loss(const EnvironmentSum& s) {
    return s.sum.total()[0] / static_cast<double>(s.sum.plan().environments);
}

Gradient mean_gradient(const EnvironmentSum& s, Eigen::Index controls, Eigen::Index tangent) {
    const std::vector<double>& total = s.sum.total();
    const VecX<double> mean =
        Eigen::Map<const VecX<double>>(total.data(), static_cast<Eigen::Index>(total.size())) /
        static_cast<double>(s.sum.plan().environments);
    return {mean.segment(1, controls), mean.segment(1 + controls, tangent),
            mean.segment(1 + controls + tangent, mean.size() - squares_in_row - 1 - controls - tangent)};
}

StandardErrors standard_errors(const EnvironmentSum& s, Eigen::Index controls, Eigen::Index tangent) {
    const auto n = static_cast<double>(s.sum.plan().environments);
    const double* const of_squares = s.sum.total().data() + s.sum.total().size() - squares_in_row;
    const Gradient g = mean_gradient(s, controls, tangent);
    const auto error = [&](int k, double mean_squared) {
        return std::sqrt(std::max(0.0, of_squares[k] / n - mean_squared) / (n - 1));
    };
    return {error(0, mean_loss(s) * mean_loss(s)), error(1, g.controls.squaredNorm()),
            error(2, g.initial_state.squaredNorm()), error(3, g.parameters.squaredNorm())};
}

namespace {

// The sums of several inputs.
struct Sums {
    std::vector<EnvironmentSum> of;
    RankTimes times;
    void add(const Sums& other) {
        for (size_t i = 0; i < of.size(); ++i)
            of[i].add(other.of[i]);
        times.add(other.times);
    }
    template <class Archive> void transfer(Archive& a) {
        auto count = static_cast<std::int64_t>(of.size());
        a(count);
        of.resize(static_cast<size_t>(count));
        for (EnvironmentSum& sum : of)
            sum.transfer(a);
        times.transfer(a);
    }
};

}  // namespace

// What a thread runs environments in.
struct ExpectedLoss::Worker {
    EnvironmentGroup group;
    EnvironmentFailure failure;
    std::exception_ptr error;
};

int ExpectedLoss::thread_count(const ExpectedLossOptions& o) { return costate::thread_count(o.threads); }

int ExpectedLoss::group_size(const Randomization& r, const ExpectedLossOptions& o) {
    const std::int64_t workers = std::int64_t{thread_count(o)} * (o.ranks != nullptr ? o.ranks->size() : 1);
    return static_cast<int>(
        std::clamp<std::int64_t>((r.environments + workers - 1) / workers, 1, most_together));
}

ExpectedLoss::ExpectedLoss(const World& w, const Objective& objective, const ControlPlan& plan,
                           const Randomization& r, const Schedule& schedule,
                           const ExpectedLossOptions& options)
    : world_(w),
      plan_(plan),
      options_(options),
      sum_plan_{r.environments},
      width_(options.gradients ? static_cast<size_t>(1 + plan.size() + w.ndx() + w.np() + squares_in_row)
                               : 1),
      group_(group_size(r, options)),
      ranks_(options.ranks ? *options.ranks : alone_) {
    const int threads = static_cast<int>(
        std::min<std::int64_t>(thread_count(options), std::max<std::int64_t>(1, r.environments)));
    for (int i = 0; i < threads; ++i)
        workers_.push_back(std::make_unique<Worker>(
            Worker{EnvironmentGroup(w, objective, plan, r, schedule, group_), {}, nullptr}));
    pool_.reset(new ThreadPool(threads));
    // two groups a thread, so that those that take longer keep no thread waiting for long
    const std::int64_t at_once =
        (std::max<std::int64_t>(64, 2 * group_ * threads) + SumPlan::block - 1) / SumPlan::block;
    const std::int64_t rows = std::min(at_once, sum_plan_.blocks()) * SumPlan::block;
    rows_.resize(rows * width_);
}

ExpectedLoss::~ExpectedLoss() = default;

LaneUse ExpectedLoss::lane_use() const {
    LaneUse all;
    for (const std::unique_ptr<Worker>& worker : workers_)
        all.add(worker->group.lane_use());
    return all;
}

size_t ExpectedLoss::bytes() const {
    return rows_.size() * sizeof(double) + workers_.size() * workers_.front()->group.bytes();
}

EnvironmentSum ExpectedLoss::sum_of_blocks(
    const RolloutInputs& in, Range blocks,
    const std::function<void(std::int64_t done, std::int64_t of)>& note) {
    EnvironmentSum out{PartialSum(sum_plan_, width_), {}, {}};
    const double begin = now();
    const auto at_once = static_cast<std::int64_t>(rows_.size() / width_) / SumPlan::block;
    const Range all = sum_plan_.environments_of(blocks);
    for (std::int64_t b = blocks.first; b < blocks.last && !out.failure; b += at_once) {
        const Range group{b, std::min(b + at_once, blocks.last)};
        const Range es = sum_plan_.environments_of(group);
        pool_->run(static_cast<int>((es.size() + group_ - 1) / group_), [&](int thread, int i) {
            Worker& worker = *workers_[thread];
            if (worker.error) return;
            const std::int64_t first = es.first + i * group_;
            const Range together{first, std::min(first + group_, es.last)};
            double* rows = rows_.data() + i * group_ * width_;
            try {
                worker.failure.add(worker.group.run(together, in, options_.gradients, rows));
            } catch (...) {
                worker.error = std::current_exception();
            }
        });
        std::exception_ptr error;
        for (const std::unique_ptr<Worker>& worker : workers_) {
            if (worker->error) error = std::exchange(worker->error, nullptr);
            out.failure.add(std::exchange(worker->failure, {}));
        }
        if (error) std::rethrow_exception(error);
        const SumPlan of_group{es.size()};  // the same cuts: a group begins with a block
        for (std::int64_t k = 0; k < group.size() && !out.failure; ++k) {
            sum_block(rows_.data(), of_group, k, width_);
            out.sum.add(group.first + k, rows_.data() + k * SumPlan::block * width_);
        }
        note(es.last - all.first, all.size());
    }
    out.times = {now() - begin, now() - begin, ranks_.rank()};
    return out;
}

// The progress of all ranks as rank 0 knows it, or of this one.
EnvironmentProgress ExpectedLoss::progress(std::int64_t done, std::int64_t of) const {
    if (!options_.follow || ranks_.rank() > 0) return {done, of, -1};
    const std::vector<std::int64_t>& told = ranks_.told();
    EnvironmentProgress all{done, shares_[0], -1};
    double least = of > 0 ? static_cast<double>(done) / static_cast<double>(of) : 1;
    for (int r = 1; r < ranks_.size(); ++r) {
        const std::int64_t its = told[r], share = shares_[r];
        all.done += its;
        all.of += share;
        const double part = share > 0 ? static_cast<double>(its) / static_cast<double>(share) : 1;
        if (part < least) {
            least = part;
            all.behind = r;
        }
    }
    const double mean = static_cast<double>(all.done) / static_cast<double>(all.of);
    if (mean - least < 0.25) all.behind = -1;
    return all;
}

void ExpectedLoss::note_progress(std::int64_t done, std::int64_t of) const {
    if (options_.follow && ranks_.rank() > 0 && done < of) ranks_.tell(done, false);
    if (options_.between) options_.between(progress(done, of));
}

// Until all ranks have computed, for rank 0 to show their progress.
void ExpectedLoss::follow_others() const {
    if (!options_.follow) return;
    const std::int64_t own = shares_[ranks_.rank()];
    if (ranks_.rank() > 0) return ranks_.tell(own, true);
    std::int64_t heard = 0;
    for (double since = now(); now() - since < silence;) {
        const EnvironmentProgress all = progress(own, own);
        if (options_.between) options_.between(all);
        if (all.done == all.of) return;
        if (all.done > heard) since = now();
        heard = all.done;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

// The blocks of all inputs in a row are cut by ranks.
std::vector<ExpectedLoss::Part> ExpectedLoss::parts_of(int rank, size_t inputs) const {
    const std::int64_t blocks = sum_plan_.blocks();
    const Range all = share_of(blocks * static_cast<std::int64_t>(inputs), rank, ranks_.size());
    std::vector<Part> parts;
    for (size_t i = 0; i < inputs; ++i) {
        const std::int64_t first = static_cast<std::int64_t>(i) * blocks;
        const Range its{std::max(all.first - first, std::int64_t{0}), std::min(all.last - first, blocks)};
        if (its.size() > 0) parts.push_back({i, its});
    }
    return parts;
}

void ExpectedLoss::begin_call(size_t inputs) {
    if (options_.follow) ranks_.forget();
    shares_.assign(static_cast<size_t>(ranks_.size()), 0);
    for (int r = 0; r < ranks_.size(); ++r)
        for (const Part& part : parts_of(r, inputs))
            shares_[r] += sum_plan_.environments_of(part.blocks).size();
}

// Adds up what each rank has computed in its `times`.
template <class T> void ExpectedLoss::add_up_timed(T& part) {
    const double computed = now();
    times_.compute += part.times.longest;
    follow_others();
    ranks_.wait_for_all();
    const double waited = now();
    add_up(ranks_, part);
    times_.wait += waited - computed;
    times_.reduce += now() - waited;
    const RankTimes &call = part.times, &before = times_.ranks;
    if (before.sum == 0 || call.longest * before.sum > before.longest * call.sum) times_.ranks = call;
}

double ExpectedLoss::value(const RolloutInputs& in) {
    begin_call(1);
    total_ = sum_of_blocks(in, sum_plan_.share(ranks_.rank(), ranks_.size()));
    add_up_timed(total_);
    return total_.failure ? unlimited : mean_loss(total_);
}

std::vector<double> ExpectedLoss::values(const std::vector<RolloutInputs>& in) {
    if (ranks_.size() == 1) return LossFunction::values(in);
    begin_call(in.size());
    const int me = ranks_.rank();
    const double begin = now();
    Sums all{std::vector<EnvironmentSum>(in.size(), {PartialSum(sum_plan_, width_), {}, {}}), {}};
    std::int64_t before = 0;  // environments of the parts that are done
    for (const Part& part : parts_of(me, in.size())) {
        const auto note = [&](std::int64_t done, std::int64_t) { note_progress(before + done, shares_[me]); };
        all.of[part.input] = sum_of_blocks(in[part.input], part.blocks, note);
        before += sum_plan_.environments_of(part.blocks).size();
    }
    all.times = {now() - begin, now() - begin, me};
    add_up_timed(all);
    std::vector<double> losses;
    for (const EnvironmentSum& sum : all.of)
        losses.push_back(sum.failure ? unlimited : mean_loss(sum));
    return losses;
}

void ExpectedLoss::gradient(const RolloutInputs&, Gradient& g) {
    assert(options_.gradients);
    g = mean_gradient(total_, plan_.size(), world_.ndx());
}

void ExpectedLoss::complain() const {
    if (total_.failure)
        throw DivergenceError("environment " + std::to_string(total_.failure.environment) + ": " +
                              total_.failure.what);
}

}  // namespace costate
