#include "adjoint/optimize/stages.hpp"

namespace costate {

namespace {

class Stages {
public:
    Stages(LossFunction& loss, const Variables& variables, const OptimizeSettings& settings)
        : loss_(loss),
          variables_(variables),
          settings_(settings) {}

    OptimizeResult run(const Pauses& pauses, const OptimizeOnce& optimize) {
        if (pauses.resume.empty())
            begin();
        else
            resume(pauses.resume);
        const auto last = static_cast<int>(settings_.stages.size());
        while (true) {
            const Pauses within =
                pauses_of_next(total_, pauses, run_, [&](ArchiveWriter& writer) { transfer(writer); });
            const OptimizeResult r = optimize(variables_of(stage_), settings_of(stage_), within);
            run_.clear();
            total_ = joined(total_, r);
            total_.stopped = r.stopped;
            total_.violations = r.violations;
            total_.rounds = r.rounds;
            if (stage_ == last || r.stopped == "interrupted") break;
            ++stage_;
        }
        if (stage_ < last) total_.final_loss = value(variables_, total_.y);
        if (total_.violations.empty() && !(total_.final_loss < total_.initial_loss)) {
            total_.y = variables_.start();
            total_.final_loss = total_.initial_loss;
        }
        return std::move(total_);
    }

private:
    void begin() {
        total_.y = variables_.start();
        total_.initial_loss = value(variables_, total_.y);
        loss_.complain();
    }
    void resume(const std::vector<char>& bytes) {
        run_ = resumed_run(bytes, [&](ArchiveReader& reader) { transfer(reader); });
        if (stage_ < 0 || stage_ > static_cast<int>(settings_.stages.size()) ||
            total_.y.size() != variables_.size())
            throw ResumeError("it has other stages or variables than the scene");
    }
    template <class Archive> void transfer(Archive& a) {
        a(stage_);
        total_.transfer(a);
    }

    // Counts an evaluation.
    double value(const Variables& variables, const VecX<double>& y) {
        ++total_.loss_evaluations;
        return loss_.value(variables.inputs(y));
    }
    bool is_last(int stage) const { return stage == static_cast<int>(settings_.stages.size()); }

    // Those of a stage, from the point so far.
    Variables variables_of(int stage) {
        Variables v =
            is_last(stage) ? variables_ : variables_.with_parameters(settings_.stages[stage].parameters);
        const VecX<double> start = v.start();
        v.start_at(total_.y.cwiseMax(v.lower()).cwiseMin(v.upper()));
        if (run_.empty() && value(v, v.start()) == unlimited) v.start_at(start);
        return v;
    }
    OptimizeSettings settings_of(int stage) const {
        OptimizeSettings s = settings_;
        s.stages.clear();
        s.max_loss_evaluations = std::max(1, s.max_loss_evaluations - total_.loss_evaluations);
        s.max_gradient_evaluations = std::max(1, s.max_gradient_evaluations - total_.gradient_evaluations);
        if (is_last(stage)) return s;
        s.method = settings_.stages[stage].method;
        s.iterations = settings_.stages[stage].iterations;
        s.gradient_tolerance = 0;
        s.target_loss = -unlimited;
        return s;
    }

    LossFunction& loss_;
    const Variables& variables_;
    const OptimizeSettings& settings_;
    int stage_ = 0;
    OptimizeResult total_;   // of the stages before
    std::vector<char> run_;  // the state in which a resumed stage goes on
};

}  // namespace

OptimizeResult in_stages(LossFunction& loss, const Variables& variables, const OptimizeSettings& settings,
                         const Pauses& pauses, const OptimizeOnce& optimize) {
    if (settings.stages.empty()) return optimize(variables, settings, pauses);
    return Stages(loss, variables, settings).run(pauses, optimize);
}

}  // namespace costate
