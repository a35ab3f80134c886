#include "adjoint/expectation/environment_group.hpp"

#include <algorithm>
#include <cmath>

#include "adjoint/batch/lane_jobs.hpp"

namespace costate {
namespace {

int first_not_finite(const double* x, size_t n) {
    for (size_t i = 0; i < n; ++i)
        if (!std::isfinite(x[i])) return static_cast<int>(i);
    return -1;
}
bool all_finite(const std::vector<double>& x) { return first_not_finite(x.data(), x.size()) < 0; }

}  // namespace

EnvironmentGroup::EnvironmentGroup(const World& w, const Objective& objective, const ControlPlan& plan,
                                   const Randomization& r, const Schedule& schedule, int size)
    : world_(w),
      plan_(plan),
      randomization_(r),
      nx_(w.nx()),
      ndx_(w.ndx()),
      nu_(w.nu()),
      np_(w.np()),
      alone_(w, objective),
      lanes_(size > 1 ? make_lane_simulation(w, objective) : nullptr),
      schedule_(schedule),
      slots_(schedule.slots()),
      inputs_(size),
      branches_(size),
      loss_(size),
      shared_u_(w.nu()),
      x_(size * nx_),
      x_next_(x_.size()),
      x_bar_(size * ndx_),
      u_(size * nu_),
      theta_bar_(size * np_),
      controls_bar_(size),
      one_bar_(w.ndx()),
      one_u_bar_(w.nu()) {
    jobs_.reserve(size);
    if (lanes_ && lanes_->width() > size) lanes_.reset();
    if (!lanes_) return;
    const size_t width = lanes_->width();
    for (std::vector<double>* states : {&lane_x_, &lane_x_next_})
        states->resize(width * nx_);
    for (std::vector<double>* bars : {&lane_next_bar_, &lane_x_bar_})
        bars->resize(width * ndx_);
    for (std::vector<double>* of_controls : {&lane_u_, &lane_u_bar_})
        of_controls->resize(width * nu_);
    lane_theta_bar_.resize(width * np_);
    lane_share_.resize(width);
    lane_parameters_.resize(width);
}

EnvironmentFailure EnvironmentGroup::run(Range environments, const RolloutInputs& shared, bool gradients,
                                         double* rows) {
    begin(environments, shared);
    if (gradients) {
        pull_back(rows);
    } else {
        for (int t = 0; t < schedule_.steps(); ++t)
            step(t);
        finish(rows, 1);
    }
    return failure_;
}

void EnvironmentGroup::begin(Range environments, const RolloutInputs& shared) {
    first_ = environments.first;
    shared_ = &shared;
    failure_ = {};
    has_lane_parameters_ = false;
    jobs_.clear();
    for (size_t e = 0; e < static_cast<size_t>(environments.size()); ++e) {
        jobs_.push_back({e});
        inputs_[e] = environment_inputs(world_, randomization_, number(e), shared);
        std::ranges::copy(inputs_[e].x0, x(e));
        branches_[e] = 0;
        loss_[e] = 0;
    }
}

// Calls together(jobs) for environments that share a step, and alone(e) for each of the others; together: false if the
// lanes part.
template <class Together, class Alone>
void EnvironmentGroup::each(const Together& together, const Alone& alone) {
    lane_use_.all += static_cast<std::int64_t>(jobs_.size());
    in_lanes(
        jobs_, branches_, lanes_ ? lanes_->width() : 1,
        [&](const Job* jobs) {
            if (!lanes_) return false;
            load(jobs);
            const bool shared = together(jobs);
            lane_use_.shared += shared ? lanes_->width() : 0;
            return shared;
        },
        [&](const Job& job) { alone(job.e); });
    std::erase_if(jobs_, [&](const Job& job) { return job.failed; });
}

// Numbers (n) of the environments that share a step, from an array of all and back.
void EnvironmentGroup::gather(const Job* jobs, const std::vector<double>& all, size_t n,
                              std::vector<double>& lanes) const {
    for (int i = 0; i < lanes_->width(); ++i)
        put_lane(all.data() + jobs[i].e * n, n, i, lanes_->width(), lanes.data());
}
void EnvironmentGroup::scatter(const Job* jobs, const std::vector<double>& lanes, size_t n,
                               std::vector<double>& all) const {
    for (int i = 0; i < lanes_->width(); ++i)
        get_lane(lanes.data(), n, i, lanes_->width(), all.data() + jobs[i].e * n);
}

void EnvironmentGroup::load(const Job* jobs) {
    gather(jobs, x_, nx_, lane_x_);
    gather(jobs, u_, nu_, lane_u_);
    if (has_lane_parameters_) return;
    for (int i = 0; i < lanes_->width(); ++i)
        lane_parameters_[i] = theta(jobs[i].e);
    lanes_->set_parameters(lane_parameters_.data());
    has_lane_parameters_ = randomization_.parameters.empty();
}

void EnvironmentGroup::set_controls(int t) {
    plan_.evaluate(shared_->z.data(), t, shared_u_.data());
    for (const Job& job : jobs_)
        noisy_control(randomization_, EnvironmentNumbers(randomization_.seed, number(job.e)), t, shared_u_,
                      u(job.e));
}

void EnvironmentGroup::fail(size_t e, const std::string& what) {
    failure_.add({number(e), what});
    std::ranges::find(jobs_, e, &Job::e)->failed = true;
}

// One step of all, with its share of the losses.
void EnvironmentGroup::step(int t) {
    set_controls(t);
    each(
        [&](const Job* jobs) {
            if (!lanes_->run(t, lane_x_.data(), lane_u_.data(), lane_x_next_.data(), lane_share_.data()) ||
                !all_finite(lane_x_next_))
                return false;
            scatter(jobs, lane_x_next_, nx_, x_next_);
            for (int i = 0; i < lanes_->width(); ++i) {
                loss_[jobs[i].e] += lane_share_[i];
                branches_[jobs[i].e] = lanes_->branches();
            }
            return true;
        },
        [&](size_t e) {
            loss_[e] += alone_.run(t, theta(e), x(e), u(e), x_next(e));
            if (lanes_) branches_[e] = shared_branches(alone_.scratch());
            if (const int entry = first_not_finite(x_next(e), nx_); entry >= 0)
                fail(e, DivergenceError(world_.model, Divergence{t, entry}).what());
        });
    x_.swap(x_next_);
}

// Writes the losses into the first numbers of rows (environments x width).
void EnvironmentGroup::finish(double* rows, size_t width) {
    const int n = schedule_.steps();
    each(
        [&](const Job* jobs) {
            if (!lanes_->finish(n, lane_x_.data(), lane_share_.data())) return false;
            for (int i = 0; i < lanes_->width(); ++i)
                loss_[jobs[i].e] += lane_share_[i];
            return true;
        },
        [&](size_t e) { loss_[e] += alone_.finish(n, theta(e), x(e)); });
    for (const Job& job : jobs_)
        rows[job.e * width] = loss_[job.e];
}

void EnvironmentGroup::reverse_end() {
    const int n = schedule_.steps();
    for (std::vector<double>* bars : {&x_bar_, &theta_bar_})
        std::ranges::fill(*bars, 0.0);
    for (VecX<double>& z_bar : controls_bar_)
        z_bar.setZero(plan_.size());
    each(
        [&](const Job* jobs) {
            for (std::vector<double>* bars : {&lane_x_bar_, &lane_theta_bar_})
                std::ranges::fill(*bars, 0.0);
            if (!lanes_->finish_adj(n, lane_x_.data(), lane_theta_bar_.data(), lane_x_bar_.data()) ||
                !all_finite(lane_x_bar_))
                return false;
            scatter(jobs, lane_x_bar_, ndx_, x_bar_);
            scatter(jobs, lane_theta_bar_, np_, theta_bar_);
            return true;
        },
        [&](size_t e) {
            alone_.finish_adj(n, theta(e), x(e), theta_bar(e), x_bar(e));
            check_adjoint(e, n);
        });
}

// Step t once more, and its reverse.
void EnvironmentGroup::reverse(int t) {
    set_controls(t);
    each(
        [&](const Job* jobs) {
            gather(jobs, x_bar_, ndx_, lane_next_bar_);
            gather(jobs, theta_bar_, np_, lane_theta_bar_);
            for (std::vector<double>* bars : {&lane_x_bar_, &lane_u_bar_})
                std::ranges::fill(*bars, 0.0);
            if (!lanes_->run(t, lane_x_.data(), lane_u_.data(), lane_x_next_.data(), lane_share_.data()) ||
                !lanes_->run_adj(t, lane_x_.data(), lane_u_.data(), lane_next_bar_.data(),
                                 lane_theta_bar_.data(), lane_x_bar_.data(), lane_u_bar_.data()) ||
                !all_finite(lane_x_bar_))
                return false;
            scatter(jobs, lane_x_bar_, ndx_, x_bar_);
            scatter(jobs, lane_theta_bar_, np_, theta_bar_);
            for (int i = 0; i < lanes_->width(); ++i) {
                get_lane(lane_u_bar_.data(), nu_, i, lanes_->width(), one_u_bar_.data());
                plan_.evaluate_adj(t, one_u_bar_.data(), controls_bar_[jobs[i].e].data());
                branches_[jobs[i].e] = lanes_->branches();
            }
            return true;
        },
        [&](size_t e) {
            one_bar_.setZero();
            one_u_bar_.setZero();
            alone_.run(t, theta(e), x(e), u(e), x_next(e));
            alone_.run_adj(t, theta(e), x(e), u(e), x_bar(e), theta_bar(e), one_bar_.data(),
                           one_u_bar_.data());
            std::ranges::copy(one_bar_, x_bar(e));
            plan_.evaluate_adj(t, one_u_bar_.data(), controls_bar_[e].data());
            if (lanes_) branches_[e] = shared_branches(alone_.scratch());
            check_adjoint(e, t);
        });
}

// Of the state before step t, just pulled back by itself
void EnvironmentGroup::check_adjoint(size_t e, int t) {
    const int entry = first_not_finite(x_bar(e), ndx_);
    if (entry < 0) return;
    AdjointDivergence divergence{{t, entry}, ""};
    if (t < schedule_.steps()) divergence.row = alone_.first_bad_row();
    fail(e, to_text(divergence, world_.model));
}

void EnvironmentGroup::pull_back(double* rows) {
    const size_t width = 1 + plan_.size() + ndx_ + np_ + squares_in_row;
    bool first_sweep = true;
    schedule_.restart();
    while (!schedule_.done()) {
        const Action a = schedule_.next();
        switch (a.kind) {
            case Action::Kind::store: slots_[a.slot] = x_; break;
            case Action::Kind::restore: x_ = slots_[a.slot]; break;
            case Action::Kind::forward: {
                const bool reversed = schedule_.reverses_next();  // the last one, which `reverse` runs again
                for (int t = a.step; t + reversed < a.to; ++t)
                    step(t);
                if (!reversed || !first_sweep) break;
                before_last_ = x_;
                step(a.to - 1);
                finish(rows, width);
                reverse_end();
                x_ = before_last_;
                first_sweep = false;
                break;
            }
            case Action::Kind::reverse: reverse(a.step); break;
        }
    }
    for (const Job& job : jobs_) {
        const auto of = [&](double* numbers, size_t n) {
            return Eigen::Map<const VecX<double>>(numbers, static_cast<Eigen::Index>(n));
        };
        gradient_ = {controls_bar_[job.e], of(x_bar(job.e), ndx_), of(theta_bar(job.e), np_)};
        pull_back_environment(world_, randomization_, number(job.e), *shared_, gradient_);
        double* row = rows + job.e * width + 1;
        for (const VecX<double>* part :
             {&gradient_.controls, &gradient_.initial_state, &gradient_.parameters})
            row = std::copy(part->begin(), part->end(), row);
        *row++ = loss_[job.e] * loss_[job.e];
        for (const VecX<double>* part :
             {&gradient_.controls, &gradient_.initial_state, &gradient_.parameters})
            *row++ = part->squaredNorm();
    }
}

}  // namespace costate
