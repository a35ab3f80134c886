// The problems of an island in several environments (core/math/lanes.hpp), solved and pulled back one lane after the
// other by the solvers for doubles. Sweeps alone run in lanes (solvers/complementarity/pgs.hpp).
#pragma once

#include "core/math/lanes.hpp"
#include "solvers/complementarity/cone_sweeps.hpp"
#include "solvers/complementarity/solver.hpp"

namespace costate {

// The problem of one lane of a dense island: of the rows that the lane has.
struct LaneProblem {
    std::vector<int> kept, position;  // its rows in the island; (rows) the place of each among them
    std::vector<double> A, b, bound, x, before;
    std::vector<RowType> type;
    std::vector<int> normal;
    std::vector<LaneBits> dropped;
    template <int W> MlcpView<double> take(const MlcpView<Lanes<W>>& p, const Lanes<W>* impulses, int lane) {
        if (p.factored != nullptr) throw LanesPart();
        const auto has = [lane](LaneBits bits) { return (bits >> lane & 1) != 0; };
        kept.clear();
        position.resize(p.rows);
        for (int r = 0; r < p.rows; ++r) {
            position[r] = static_cast<int>(kept.size());
            if (p.lanes == nullptr || has(p.lanes[r])) kept.push_back(r);
        }
        for (auto* numbers : {&A, &b, &bound, &x, &before})
            numbers->clear();
        type.clear();
        normal.clear();
        dropped.clear();
        for (const int r : kept) {
            for (const int c : kept)
                A.push_back(p.A[r * p.rows + c][lane]);
            b.push_back(p.b[r][lane]);
            bound.push_back(p.bound[r][lane]);
            x.push_back(impulses[r][lane]);
            if (p.before != nullptr) before.push_back(p.before[r][lane]);
            type.push_back(p.type[r]);
            normal.push_back(p.type[r] == RowType::friction ? position[p.normal_of(r)] : 0);
            dropped.push_back(p.dropped != nullptr && has(p.dropped[r]) ? 1 : 0);
        }
        return {static_cast<int>(kept.size()),
                A.data(),
                b.data(),
                type.data(),
                normal.data(),
                bound.data(),
                0,
                dropped.data(),
                nullptr,
                nullptr,
                p.before != nullptr ? before.data() : nullptr};
    }
};

template <int W> struct ActiveSet<Lanes<W>> {
    ActiveSet<double> lanes[W];
    bool rests[W] = {};  // a lane without a problem: x is 0
    SolverStatus status[W] = {};
    LaneProblem problem;
    std::vector<double> x_bar, s_of_lane, bound_of_lane;
    std::vector<RowState> state;
    std::vector<Lanes<W>> s, s_bar;
};

// solve(problem, set, x) in each lane. x (rows): in and out. The status of each lane stays in the set.
template <int W, class Solve>
SolverStatus solve_lanes(const MlcpView<Lanes<W>>& p, ActiveSet<Lanes<W>>& set, Lanes<W>* x,
                         const Solve& solve) {
    for (int i = 0; i < W; ++i) {
        if (set.rests[i]) continue;
        const MlcpView<double> one = set.problem.take(p, x, i);
        set.status[i] = solve(one, set.lanes[i], set.problem.x.data());
        for (int r = 0; r < one.rows; ++r)
            x[set.problem.kept[r]].set(i, set.problem.x[r]);
    }
    return set.status[0];
}

template <int W>
SolverStatus solve_exactly(const MlcpView<Lanes<W>>& p, const Settings& settings, FrictionLaw law,
                           SolverScratch& work, ActiveSet<Lanes<W>>& set, Lanes<W>* x) {
    return solve_lanes(p, set, x, [&](const MlcpView<double>& one, ActiveSet<double>& of_lane, double* y) {
        return solve_exactly(one, settings, law, work, of_lane, y);
    });
}
template <int W>
SolverStatus lcp(const MlcpView<Lanes<W>>& p, LcpScratch& work, ActiveSet<Lanes<W>>& set, Lanes<W>* x) {
    return solve_lanes(p, set, x, [&](const MlcpView<double>& one, ActiveSet<double>& of_lane, double* y) {
        return lcp(one, work, of_lane, y);
    });
}
template <int W>
void linearise_at(const MlcpView<Lanes<W>>& p, FrictionLaw law, ActiveSet<Lanes<W>>& set, const Lanes<W>* x) {
    for (int i = 0; i < W; ++i) {
        const MlcpView<double> one = set.problem.take(p, x, i);
        linearise_at(one, law, set.lanes[i], set.problem.x.data());
    }
}

// solve_active_set_adj, in each lane that has a problem.
template <int W>
void pull_back_active_set(const MlcpView<Lanes<W>>& p, ActiveSet<Lanes<W>>& set, const Lanes<W>* x,
                          const Lanes<W>* x_bar, Lanes<W>* s_bar, Lanes<W>* bound_bar) {
    for (int i = 0; i < W; ++i) {
        if (set.rests[i]) continue;
        const MlcpView<double> one = set.problem.take(p, x, i);
        const std::vector<int>& kept = set.problem.kept;
        for (auto* numbers : {&set.x_bar, &set.s_of_lane, &set.bound_of_lane})
            numbers->clear();
        for (const int r : kept) {
            set.x_bar.push_back(x_bar[r][i]);
            set.s_of_lane.push_back(s_bar[r][i]);
            set.bound_of_lane.push_back(bound_bar[r][i]);
        }
        solve_active_set_adj(one, set.lanes[i], set.problem.x.data(), set.x_bar.data(), set.s_of_lane.data(),
                             set.bound_of_lane.data());
        for (size_t k = 0; k < kept.size(); ++k) {
            s_bar[kept[k]].set(i, set.s_of_lane[k]);
            bound_bar[kept[k]].set(i, set.bound_of_lane[k]);
        }
    }
}

template <class T>
void pull_back_active_set(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, const T* x_bar, T* s_bar,
                          T* bound_bar) {
    solve_active_set_adj(p, set, x, x_bar, s_bar, bound_bar);
}

// Both sides of complementarity are chosen contact by contact: lanes would part at every step. Sweeps on cones are
// for factored islands, which no lanes share.
template <int W> void linearise_states(const MlcpView<Lanes<W>>&, ActiveSet<Lanes<W>>&, const Lanes<W>*) {
    throw LanesPart();
}
template <int W>
void cone_sweeps(const MlcpView<Lanes<W>>&, FrictionLaw, int, ConeTape<Lanes<W>>&, Lanes<W>*) {
    throw LanesPart();
}
template <int W>
void cone_sweeps_adj(const MlcpView<Lanes<W>>&, FrictionLaw, ConeTape<Lanes<W>>&, Lanes<W>*,
                     const OperatorBar<Lanes<W>>&, Lanes<W>*, Lanes<W>*) {
    throw LanesPart();
}

// The residual of each lane, m/s. A cone's projection has several cases, so that the lanes take turns.
template <int W>
Lanes<W> mlcp_residual(const MlcpView<Lanes<W>>& p, const Lanes<W>* x, FrictionLaw law = FrictionLaw::box) {
    if (law == FrictionLaw::box) return mlcp_residual<Lanes<W>>(p, x, law);
    LaneProblem one;
    return Lanes<W>::each([&](int i) {
        const MlcpView<double> view = one.take(p, x, i);
        return mlcp_residual(view, one.x.data(), law);
    });
}

}  // namespace costate
