#include "solvers/complementarity/laws.hpp"

#include <cstdio>
#include <cstdlib>

namespace costate {

namespace {

constexpr double law_round_off = 1e-9;  // relative to a bound, and to 1e-6 times the largest impulse
constexpr double tolerance_of_solvers =
    1e-11;  // as acceptable_residual, relative to 1 + the largest velocity

// Tolerance of |x_r| at its bound, or of the length of the friction of a cone, for a residual of 1 m/s: the residual of
// row r times it is the distance of x_r, or of all rows of the cone, from their projection.
double room_for_residual(const MlcpView<double>& p, int r, bool of_cone) {
    if (!of_cone) return 1 / p.diagonal(r);
    const int n = p.normal_of(r);
    return (std::sqrt(p.friction_rows(n)) + p.mu(r)) / p.diagonal(n);
}

// A row with an impulse between -bound and bound: at rest below the bound; at the bound the impulse acts
// against its velocity s.
BrokenLaw broken_friction(const MlcpView<double>& p, const double* x, int r, double s, double tolerance) {
    const double bound = p.largest_impulse(r, x), room = tolerance / p.diagonal(r);
    if (s > tolerance && x[r] > -bound + room) return {"friction at its bound opposes forward slip", r, s};
    if (s < -tolerance && x[r] < bound - room) return {"friction at its bound opposes backward slip", r, -s};
    return {nullptr, 0, 0};
}

// The friction rows of a cone: at rest below mu x_n, otherwise mu x_n against the slip s.
BrokenLaw broken_cone(const MlcpView<double>& p, const double* x, int n, const double* s, int friction,
                      double tolerance) {
    const double mu = p.mu(n + 1), bound = mu * std::max(0.0, x[n]), slip = length_of(s, friction);
    if (slip <= tolerance) return {nullptr, 0, 0};
    for (int i = 0, r = n + 1; i < friction; ++i, ++r) {
        if (p.drops(r)) continue;
        const double off = std::abs(x[r] + bound * s[i] / slip),
                     room = tolerance * room_for_residual(p, r, true);
        if (off > room + bound * tolerance / slip)
            return {"friction of a cone at its bound opposes the slip", r, off};
    }
    return {nullptr, 0, 0};
}

}  // namespace

BrokenLaw broken_bound(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    double largest = 0, fastest = 0;
    for (int r = 0; r < p.rows; ++r) {
        largest = std::max(largest, std::abs(x[r]));
        fastest = std::max(fastest, std::abs(p.b[r]));
    }
    for (int r = 0; r < p.rows; ++r) {
        if (!std::isfinite(x[r])) return {"an impulse is finite", r, x[r]};
        if (p.drops(r) && x[r] != 0) return {"a dropped row has no impulse", r, std::abs(x[r])};
        if (p.type[r] == RowType::unilateral && x[r] < -1e-6 * law_round_off * largest)
            return {"a contact or a limit pushes and does not pull", r, -x[r]};
        if (p.type[r] == RowType::unilateral || p.type[r] == RowType::free) continue;
        const bool of_cone =
            law != FrictionLaw::box && p.type[r] == RowType::friction && p.contact_at(p.normal_of(r));
        const double bound = p.largest_impulse(r, x);
        const double size =
            of_cone ? length_of(x + p.normal_of(r) + 1, p.friction_rows(p.normal_of(r))) : std::abs(x[r]);
        const double room = law_round_off * (bound + 1e-6 * largest) +
                            tolerance_of_solvers * (1 + fastest) * room_for_residual(p, r, of_cone);
        if (size > bound + room) return {"friction stays within its bound", r, size - bound};
    }
    return {nullptr, 0, 0};
}

BrokenLaw broken_law(const MlcpView<double>& p, FrictionLaw law, const double* x, double tolerance) {
    if (const BrokenLaw broken = broken_bound(p, law, x)) return broken;
    std::vector<double> velocity(p.rows);
    mlcp_velocity(p, x, velocity.data());
    for (int r = 0; r < p.rows; ++r)
        if (p.drops(r)) velocity[r] = 0;
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        const int friction = law == FrictionLaw::box ? 0 : p.friction_rows(r);
        const double s = velocity[r], *slip = velocity.data() + r + 1;
        if (p.type[r] == RowType::free) {
            if (std::abs(s) > tolerance) return {"a free row does not move", r, std::abs(s)};
        } else if (p.type[r] == RowType::unilateral) {
            const double lift = friction > 0 && law == FrictionLaw::relaxed_cone
                                    ? p.mu(r + 1) * length_of(slip, friction)
                                    : 0;
            if (s - lift < -tolerance) return {"a row does not close", r, lift - s};
            if (s - lift > tolerance && x[r] * p.diagonal(r) > tolerance)
                return {"a row with an impulse does not open", r, s - lift};
            if (friction == 0) continue;
            if (const BrokenLaw broken = broken_cone(p, x, r, slip, friction, tolerance)) return broken;
            r += friction;
        } else if (const BrokenLaw broken = broken_friction(p, x, r, s, tolerance)) {
            return broken;
        }
    }
    return {nullptr, 0, 0};
}

#ifdef NDEBUG
void assert_lawful(const MlcpView<double>&, FrictionLaw, const double*, bool) {}
#else
void assert_lawful(const MlcpView<double>& p, FrictionLaw law, const double* x, bool solved) {
    const auto finite = [](double number) { return std::isfinite(number); };
    if ((p.A != nullptr && !std::all_of(p.A, p.A + p.rows * p.rows, finite)) ||
        !std::all_of(p.b, p.b + p.rows, finite))
        return;
    for (int r = 0; r < p.rows; ++r)
        if (p.diagonal(r) < 0) return;
    const BrokenLaw broken =
        solved ? broken_law(p, law, x, 1e3 * acceptable_residual(p, x)) : broken_bound(p, law, x);
    if (!broken) return;
    std::fprintf(stderr, "costate: a solver broke a law of contact: %s (row %d of %d, by %g)\n", broken.law,
                 broken.row, p.rows, broken.by);
    std::abort();
}
#endif

}  // namespace costate
