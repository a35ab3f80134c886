#include "adjoint/optimize/augmented_lagrangian.hpp"

#include <algorithm>

#include "adjoint/optimize/stages.hpp"

namespace costate {

namespace {

// e(y), signed
double excess(double y, double lower, double upper) { return y - std::clamp(y, lower, upper); }

// The residuals of a part of a constraint as single numbers, without bounds and shift.
Term numbers_of(const Term& part) {
    Term term = part;
    term.norm = TermNorm::component;
    term.lower.resize(0);
    term.upper.resize(0);
    term.shift = {};
    return term;
}

// Runs the rollout and visits every number r[k] of every part: visit(constraint, part, step, k, r[k]). Returns the loss.
template <class Visit>
double visit_numbers(Rollout<Simulation>& rollout, const Constraints& constraints, const RolloutInputs& in,
                     const Visit& visit) {
    std::vector<std::vector<Term>> parts(constraints.size());
    for (size_t i = 0; i < constraints.size(); ++i)
        for (const Term& part : constraints[i].parts)
            parts[i].push_back(numbers_of(part));
    const auto each = [&](int t, const double* x, const double* u) {
        const Simulation& at = rollout.step();
        for (size_t i = 0; i < parts.size(); ++i)
            for (size_t j = 0; j < parts[i].size(); ++j) {
                Term& term = parts[i][j];
                if (!counts(term, u != nullptr, t)) continue;
                const int size = residual_size(term);
                for (term.component = 0; term.component < size; ++term.component)
                    visit(i, j, t, term.component,
                          term_value(at.world(), term, t, {in.theta.data(), x, u}, at.scratch()));
            }
    };
    const double loss = rollout.forward(in.theta, in.x0, in.z, each);
    if (rollout.divergence()) throw DivergenceError(rollout.step().world().model, rollout.divergence());
    return loss;
}

class Rounds {
public:
    Rounds(Rollout<Simulation>& rollout, const Variables& variables, const Constraints& constraints,
           const OptimizeSettings& settings)
        : rollout_(rollout),
          objective_(rollout.step().objective()),
          constraints_(constraints),
          settings_(settings),
          variables_(variables),
          change_(constraints.size(), unlimited) {
        for (Constraint& c : constraints_)
            for (Term& part : c.parts) {
                const int rows = part.running ? std::min(part.end, rollout.steps()) : 1;
                part.shift.width = residual_size(part);
                part.shift.values.assign(static_cast<size_t>(rows) * static_cast<size_t>(part.shift.width),
                                         0.0);
            }
    }

    OptimizeResult run(const Pauses& pauses, Objective* augmented) {
        if (pauses.resume.empty())
            begin();
        else
            resume(pauses.resume);
        std::string stopped;
        while (stopped.empty()) {
            const Objective objective = augmented_objective(objective_, constraints_);
            if (augmented) *augmented = objective;
            stopped = round(objective, pauses);
        }
        total_.final_loss = best_.final_loss;
        total_.y = best_.y;
        total_.violations = best_.violations;
        total_.stopped = stopped;
        return std::move(total_);
    }

private:
    void begin() {
        total_.y = variables_.start();
        total_.initial_loss = visit_numbers(rollout_, constraints_, variables_.inputs(total_.y),
                                            [](size_t, size_t, int, int, double) {});
        total_.loss_evaluations = 1;
    }

    // A round with its share of what is left. Returns why the run has ended; empty: it goes on.
    std::string round(const Objective& objective, const Pauses& pauses) {
        OptimizeSettings share = settings_;
        const int rounds = std::max(1, settings_.rounds - static_cast<int>(total_.rounds.size()));
        share.iterations = (settings_.iterations - total_.iterations + rounds - 1) / rounds;
        share.max_loss_evaluations -= total_.loss_evaluations;
        share.max_gradient_evaluations -= total_.gradient_evaluations;
        variables_.start_at(total_.y);
        const OptimizeResult r = [&] {
            const Simulation::ScopedObjective scoped(rollout_.step(), objective);
            return optimize(rollout_, variables_, share,
                            pauses_of_next(total_, pauses, method_, [&](ArchiveWriter& a) { transfer(a); }));
        }();
        const bool spent = r.iterations >= share.iterations ||
                           r.loss_evaluations >= share.max_loss_evaluations ||
                           r.gradient_evaluations >= share.max_gradient_evaluations;
        total_ = joined(total_, r);
        method_.clear();
        const std::vector<double> change = update_multipliers();
        if (r.stopped == "interrupted") return r.stopped;
        bool settled = true;
        for (size_t i = 0; i < change.size(); ++i)
            settled = settled && change[i] <= constraints_[i].tolerance;
        if (settled && !spent) return r.stopped;
        if (total_.iterations >= settings_.iterations) return "iterations used";
        if (total_.loss_evaluations >= settings_.max_loss_evaluations) return "loss evaluations used";
        if (total_.gradient_evaluations >= settings_.max_gradient_evaluations)
            return "gradient evaluations used";
        if (static_cast<int>(total_.rounds.size()) >= settings_.rounds) return "rounds used";
        raise_penalties(change);
        return "";
    }

    // Updates lambda/mu at the end of a round, and returns the largest change for each constraint.
    std::vector<double> update_multipliers() {
        OptimizeResult end;
        end.y = total_.y;
        std::vector<double> change;
        double penalty = 0;
        for (const Constraint& c : constraints_) {
            change.push_back(0);
            end.violations.push_back({0, c.tolerance, 0});
            penalty = std::max(penalty, c.penalty);
        }
        end.final_loss = visit_numbers(
            rollout_, constraints_, variables_.inputs(end.y),
            [&](size_t i, size_t j, int t, int k, double r) {
                Term& part = constraints_[i].parts[j];
                const int row = part.running ? t : 0;
                double& shift = part.shift.values[static_cast<size_t>(row * part.shift.width + k)];
                const double next = excess(r + shift, part.lower[k], part.upper[k]);
                change[i] = std::max(change[i], std::abs(next - shift));
                shift = next;
                end.violations[i].note(excess(r, part.lower[k], part.upper[k]), t);
            });
        ++total_.loss_evaluations;
        total_.rounds.push_back({total_.iterations, end.final_loss, infeasibility(end.violations), penalty});
        if (best_.y.size() == 0 || is_better(end, best_)) best_ = std::move(end);
        return change;
    }

    // change: of lambda/mu of each constraint in this round
    void raise_penalties(const std::vector<double>& change) {
        constexpr double enough = 0.25;
        for (size_t i = 0; i < change.size(); ++i) {
            Constraint& c = constraints_[i];
            const bool slow = change[i] > c.tolerance && change[i] > enough * change_[i];
            change_[i] = change[i];
            if (!slow) continue;
            c.penalty *= settings_.penalty_growth;
            for (Term& part : c.parts)
                for (double& shift : part.shift.values)
                    shift /= settings_.penalty_growth;
        }
    }

    void resume(const std::vector<char>& bytes) {
        method_ = resumed_run(bytes, [&](ArchiveReader& reader) { transfer(reader); });
        if (total_.y.size() != variables_.size())
            throw ResumeError("it has another number of variables than the scene");
    }
    template <class Archive> void transfer(Archive& a) {
        total_.transfer(a);
        best_.transfer(a);
        a.of_known_size(change_);
        for (Constraint& c : constraints_) {
            a(c.penalty);
            for (Term& part : c.parts)
                a.of_known_size(part.shift.values);
        }
    }

    Rollout<Simulation>& rollout_;
    const Objective& objective_;
    Constraints constraints_;  // with the penalties and multipliers of this round
    const OptimizeSettings& settings_;
    Variables variables_;
    OptimizeResult total_;        // of the rounds before
    OptimizeResult best_;         // y, loss and violations of the best end of a round
    std::vector<double> change_;  // (constraints) of lambda/mu in the round before
    std::vector<char> method_;    // the state in which a resumed round goes on
};

}  // namespace

OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const Constraints& constraints, const OptimizeSettings& settings,
                        const Pauses& pauses, Objective* augmented) {
    RolloutLoss loss(rollout);
    return in_stages(loss, variables, settings, pauses,
                     [&](const Variables& start, const OptimizeSettings& stage, const Pauses& within) {
                         if (!constraints.empty())
                             return Rounds(rollout, start, constraints, stage).run(within, augmented);
                         if (augmented) *augmented = rollout.step().objective();
                         return optimize(rollout, start, stage, within);
                     });
}

Objective augmented_objective(const Objective& objective, const Constraints& constraints) {
    Objective all = objective;
    for (const Constraint& c : constraints)
        for (const Term& part : c.parts) {
            all.push_back(part);
            all.back().norm = TermNorm::squared;
            all.back().weight = 0.5 * c.penalty;
        }
    return all;
}

std::string why_no_constraints(const World& w, const ParameterMap& parameters) {
    for (const ParameterVariable& p : parameters)
        if (p.scale != ParameterScale::log_cholesky && p.index == w.time_step.at(0))
            return "the time step is optimized, with which the weights of their multipliers change";
    return "";
}

}  // namespace costate
