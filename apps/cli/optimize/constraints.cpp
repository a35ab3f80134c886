#include "apps/cli/optimize/constraints.hpp"

#include "apps/cli/optimize/closed_loop.hpp"

namespace costate {

namespace {

double time_of(const Scene& s, const Violation& v) { return v.step * s.world.settings.time_step; }

}  // namespace

void check_constraints(const Arguments& a, const Scene& s) {
    if (s.constraints.empty()) return;
    const auto refuse = [&](const std::string& why) {
        throw UsageError(s.file.string() + ": \"constraints\" hold for one rollout that is optimized, but " +
                         why + "; write them as terms of the objective with \"lower\" and \"upper\"");
    };
    if (s.batch.environments > 0) refuse("the scene has a \"batch\"");
    if (wants_plant(a)) refuse("a plant runs in closed loop");
    if (const std::string why = why_no_constraints(s.world, s.parameters); !why.empty()) refuse(why);
}

Report constraint_report(const Scene& s, const OptimizeResult& r) {
    Report constraints = Report::array(), rounds = Report::array();
    for (size_t i = 0; i < r.violations.size(); ++i) {
        const Violation& v = r.violations[i];
        constraints.push_back({{"name", s.constraints[i].name},
                               {"violation", v.largest},
                               {"time", time_of(s, v)},
                               {"tolerance", v.tolerance},
                               {"met", v.met()}});
    }
    for (const Round& round : r.rounds)
        rounds.push_back({{"iterations", round.iterations},
                          {"loss", round.loss},
                          {"violation_in_tolerances", round.infeasibility},
                          {"penalty", round.penalty}});
    return {{"met", infeasibility(r.violations) <= 1}, {"each", constraints}, {"rounds", rounds}};
}

std::vector<std::string> constraint_lines(const Scene& s, const OptimizeResult& r) {
    std::vector<std::string> lines;
    for (size_t i = 0; i < r.violations.size(); ++i) {
        const Violation& v = r.violations[i];
        char text[160] = ": never violated";
        if (v.largest > 0)
            std::snprintf(text, sizeof text, ": largest violation %.3g at %.4g s, tolerance %.3g, %s",
                          v.largest, time_of(s, v), v.tolerance, v.met() ? "met" : "not met");
        lines.push_back("constraint " + s.constraints[i].name + text);
    }
    return lines;
}

std::string why_infeasible(const Scene& s, const OptimizeResult& r) {
    std::string names;
    for (size_t i = 0; i < r.violations.size(); ++i)
        if (!r.violations[i].met()) names.append(names.empty() ? "" : ", ").append(s.constraints[i].name);
    if (names.empty()) return "";
    return "the constraints are not met: " + names +
           "; allow more \"iterations\" and \"rounds\", raise their \"penalty\" or \"tolerance\", or check "
           "that a motion "
           "can keep all of them";
}

}  // namespace costate
