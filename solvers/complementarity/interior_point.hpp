// Interior-point method for problems with friction cones: steps in impulses and velocities at once with the scaling of
// Nesterov and Todd and Mehrotra's predictor and corrector (Vandenberghe, The CVXOPT linear and quadratic cone
// program solvers, 2010), on equations with De Saxce's term and its derivative (Acary, Armand, Nguyen & Shpakovych,
// Optimization Methods and Software 2024). It takes 13 to 16 iterations, whatever the problem. With De Saxce's term, a
// step after one that a bound has shortened aims at the centre: otherwise iterates creep along the bounds of jammed
// robots.
//
// Rows are scaled, x = D x' and s' = D s, to a diagonal of about 1 and to cones {|z_T| <= z_n}, each its own dual:
//
//   s' = A' x' + b' + c,   c_n = |s'_T| (not for the relaxed cone),   x' o s' = gap e,   gap -> 0
//
// with Jordan's product o. A unilateral row is a cone of one row. A boxed row has a multiplier for each bound, s' =
// s_lower - s_upper. With the symmetric O of a cone, O x' = O^-1 s', and the slip u = s'_T/|s'_T|, where ds'_n is
// (A' dx)_n + u.(A' dx)_T, a step solves (A' + T O^2) dx = T r:   T z = (z_n - u.z_T, z_T)
//
// With a factored A, it solves (A + D^-1 T O^2 D^-1) D dx = D^-1 T r (solvers/complementarity/factored_solver.hpp).
#pragma once

#include "solvers/complementarity/factored_solver.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

class InteriorPoint {
public:
    // law: cone or relaxed_cone; x (rows): a guess of the impulses. The problem must exist until the last iteration.
    void start(const MlcpView<double>& p, FrictionLaw law, const double* x);
    // Iterates until the mean of x' o s' is at most `gap` of the largest b' squared. x (rows): out, the impulses, also
    // if it returns false because round-off or 40 iterations end before.
    bool advance(double gap, double* x);
    double work() const { return work_; }  // multiplications since `start`

private:
    enum class Bound { zero, none, cone, box };
    struct Group {
        Bound bound;
        int first, rows;
    };
    bool iterate(double least);
    void start_near(const double* x);
    void find_velocities(std::vector<double>& s);
    double evaluate();
    void add_barrier(const Group& g, double* row, size_t length);
    bool factor();
    void factor_rows();
    void solve_step();
    void find_direction(double centre, bool second_order);
    void boxed_targets(int r, double centre, bool second_order, double& lower, double& upper) const;
    double longest_step() const;
    double gap_after(double length) const;

    int rows_ = 0, bounds_ = 0, iterations_ = 0;
    bool symmetric_ = false;                   // A' + T O^2
    double size_ = 1, work_ = 0, length_ = 1;  // the largest |b'|; of the last step
    std::vector<Group> groups_;
    std::vector<double> A_, b_, scale_, limit_;  // A', b', D; D^-1 bound of boxed rows
    std::vector<double> x_, s_, upper_, rest_;   // x', s' or s_lower, s_upper; A' x' + b' + c - s'
    std::vector<double> slip_;                   // u on friction rows; 0 for the relaxed cone
    std::vector<double> dx_, ds_, d_upper_;      // the step
    std::vector<double> dx_first_, ds_first_, d_upper_first_;  // the predictor
    std::vector<double> eta_, w_, scaled_, target_,
        factor_;                                  // of O; O x', r + rest; the factor of A' + T O^2
    const MlcpView<double>* factored_ = nullptr;  // the problem, if its A is factored
    FactoredSolver solver_;                       // of A + D^-1 T O^2 D^-1
    std::vector<int> equations_;                  // its rows
    std::vector<double> step_, moved_;            // D dx; A D x'
    bool last_met_ = false;                       // whether there is one of
    std::vector<double> last_x_;                  // the last iterate that met the equations
};

}  // namespace costate
