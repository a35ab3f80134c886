#include "solvers/complementarity/interior_point.hpp"

#include <type_traits>
#include <utility>

#include "solvers/complementarity/factors/lu.hpp"
#include "solvers/complementarity/lcp.hpp"

namespace costate {

namespace {

constexpr int max_interior_iterations = 40;
constexpr double share_of_step = 0.99, most_rest = 1e-6;
// after a shorter step, the next aims at this share of the gap
constexpr double shortened = 0.98, recentred = 0.8;
constexpr double first_distance = 0.1;  // of the first iterate from bounds, as a share of the largest |b'|

using ContactRows = double[max_contact_rows];

// visit(n) with the number of rows of a cone: a constant where it is usual, so that loops over rows unroll.
template <class Visit> void with_rows(int rows, const Visit& visit) {
    if (rows == 3) return visit(std::integral_constant<int, 3>());
    if (rows == 1) return visit(std::integral_constant<int, 1>());
    visit(rows);
}

// a o b = (a.b, a_0 b_T + b_0 a_T)
template <class N> void jordan_product(const double* a, const double* b, N n, double* out) {
    out[0] = a[0] * b[0];
    for (int i = 1; i < n; ++i) {
        out[0] += a[i] * b[i];
        out[i] = a[0] * b[i] + b[0] * a[i];
    }
}
// z_n^2 - |z_T|^2 without cancellation of its squares
template <class N> double determinant(const double* z, N n) {
    double squared = 0;
    for (int i = 1; i < n; ++i)
        squared += z[i] * z[i];
    const double tangent = std::sqrt(squared);
    return (z[0] - tangent) * (z[0] + tangent);
}
// out with a o out = b
template <class N> void jordan_quotient(const double* a, const double* b, N n, double* out) {
    double along = a[0] * b[0];
    for (int i = 1; i < n; ++i)
        along -= a[i] * b[i];
    out[0] = along / determinant(a, n);
    for (int i = 1; i < n; ++i)
        out[i] = (b[i] - out[0] * a[i]) / a[0];
}

// The largest t with z + t d in the cone.
template <class N> double step_to_boundary(const double* z, const double* d, N n) {
    double t = d[0] < 0 ? -z[0] / d[0] : std::numeric_limits<double>::infinity();
    if (n == 1) return t;
    double a = d[0] * d[0], b = z[0] * d[0];
    for (int i = 1; i < n; ++i) {
        a -= d[i] * d[i];
        b -= z[i] * d[i];
    }
    const double c = determinant(z, n), root = b * b - a * c;  // a t^2 + 2 b t + c = 0
    if (root < 0) return t;
    const double q = b >= 0 ? -(b + std::sqrt(root)) : -(b - std::sqrt(root));
    if (a != 0 && q / a > 0) t = std::min(t, q / a);
    if (q != 0 && c / q > 0) t = std::min(t, c / q);
    return t;
}

// The symmetric O with O x = O^-1 s, for x and s inside the cone:
//
//   O = eta [w_0, w_T^T; w_T, 1 + w_T w_T^T / (1 + w_0)],   O^2 = eta^2 (2 w w^T - diag(1, -1, ... -1))
//
// Sets w (n) and returns eta.
template <class N> double find_scaling(const double* x, const double* s, N n, double* w) {
    const double of_x = std::sqrt(determinant(x, n)), of_s = std::sqrt(determinant(s, n));
    double along = 0;
    for (int i = 0; i < n; ++i)
        along += x[i] / of_x * (s[i] / of_s);
    const double cosine = 2 * std::sqrt((1 + along) / 2);
    for (int i = 0; i < n; ++i)
        w[i] = (s[i] / of_s + (i == 0 ? x[i] : -x[i]) / of_x) / cosine;
    return std::sqrt(of_s / of_x);
}
// out <- O z
template <class N> void apply_scaling(double eta, const double* w, const double* z, N n, double* out) {
    double along = 0;
    for (int i = 1; i < n; ++i)
        along += w[i] * z[i];
    const double by = z[0] + along / (1 + w[0]);
    out[0] = eta * (w[0] * z[0] + along);
    for (int i = 1; i < n; ++i)
        out[i] = eta * (z[i] + by * w[i]);
}

}  // namespace

void InteriorPoint::start(const MlcpView<double>& p, FrictionLaw law, const double* x) {
    const size_t n = p.rows;
    rows_ = p.rows;
    bounds_ = iterations_ = 0;
    work_ = 0;
    length_ = 1;
    symmetric_ = true;
    factored_ = p.factored != nullptr ? &p : nullptr;
    last_met_ = false;
    groups_.clear();
    scale_.assign(n, 0);  // 0: the row has no impulse
    limit_.assign(n, 0);
    for (int r = 0; r < rows_; r += groups_.back().rows) {
        const int friction = p.friction_rows(r);
        const double mu = friction > 0 ? p.mu(r + 1) : 1, root = std::sqrt(p.diagonal(r));
        Group g{Bound::zero, r, 1};  // also friction of a contact without friction, or that cannot open
        if (p.drops(r)) {
        } else if (p.type[r] == RowType::free) {
            g.bound = Bound::none;
        } else if (p.type[r] == RowType::unilateral) {
            g = {Bound::cone, r, mu > 0 ? 1 + friction : 1};
        } else if (p.type[r] == RowType::boxed && p.max_impulse(r) > 0) {
            g.bound = Bound::box;
            limit_[r] = p.max_impulse(r) * root;
        }
        groups_.push_back(g);
        if (g.bound == Bound::zero) continue;
        for (int i = r; i < r + g.rows; ++i)
            if (!p.drops(i)) scale_[i] = 1 / root;
        if (g.rows > 1) {
            scale_[r] /= mu;
            symmetric_ &= law != FrictionLaw::cone;
        }
        if (g.bound != Bound::none) bounds_ += g.bound == Bound::box ? 2 : 1;
    }
    A_.resize(factored_ != nullptr ? 0 : n * n);
    b_.resize(n);
    size_ = 0;
    for (size_t r = 0; r < n; ++r) {
        for (size_t c = 0; factored_ == nullptr && c < n; ++c)
            A_[r * n + c] = scale_[r] * p.A[r * n + c] * scale_[c];
        if (factored_ == nullptr && scale_[r] == 0) A_[r * n + r] = 1;
        b_[r] = scale_[r] * p.b[r];
        size_ = std::max(size_, std::abs(b_[r]));
    }
    if (size_ == 0) size_ = 1;
    for (auto* zeros : {&x_, &s_, &upper_, &slip_, &dx_, &ds_, &d_upper_, &scaled_, &target_, &eta_, &w_})
        zeros->assign(n, 0);
    dx_.resize(row_length(n));
    start_near(x);
}

// The first iterate: the guess and its velocities, moved inside their cones and bounds.
void InteriorPoint::start_near(const double* x) {
    const double distance = first_distance * size_;
    for (int r = 0; r < rows_; ++r)
        if (scale_[r] != 0) x_[r] = x[r] / scale_[r];
    find_velocities(s_);
    for (const Group& g : groups_) {
        const int r = g.first;
        if (g.bound == Bound::cone) {
            x_[r] = std::max(x_[r], length_of(x_.data() + r + 1, g.rows - 1)) + distance;
            s_[r] = std::max(s_[r], length_of(s_.data() + r + 1, g.rows - 1)) + distance;
        } else {
            const double s = std::exchange(s_[r], 0);
            if (g.bound != Bound::box) continue;
            x_[r] = std::clamp(x_[r], -0.9 * limit_[r], 0.9 * limit_[r]);
            s_[r] = std::max(s, 0.0) + distance;
            upper_[r] = std::max(-s, 0.0) + distance;
        }
    }
}

// s <- A' x' + b' + c. Sets slip_.
void InteriorPoint::find_velocities(std::vector<double>& s) {
    s = b_;
    if (factored_ != nullptr) {
        step_.resize(rows_);
        moved_.resize(rows_);
        for (int r = 0; r < rows_; ++r)
            step_[r] = scale_[r] * x_[r];
        operator_product(*factored_, step_.data(), moved_.data());
        for (int r = 0; r < rows_; ++r)
            s[r] += scale_[r] * moved_[r];
    } else {
        add_product({A_.data(), rows_, 0, rows_}, x_.data(), s.data());
    }
    if (symmetric_) return;
    for (const Group& g : groups_) {
        if (g.bound != Bound::cone || g.rows == 1) continue;
        double *normal = s.data() + g.first, *slip = slip_.data() + g.first;
        const double speed = length_of(normal + 1, g.rows - 1);
        normal[0] += speed;
        for (int i = 1; i < g.rows; ++i)
            slip[i] = speed > 0 ? normal[i] / speed : 0;
    }
}

// The mean of x' o s' over all bounds. Sets rest_.
double InteriorPoint::evaluate() {
    double gap = 0;
    find_velocities(rest_);
    for (const Group& g : groups_) {
        const int r = g.first;
        for (int i = r; i < r + g.rows; ++i)
            rest_[i] -= s_[i] - upper_[i];
        if (g.bound == Bound::cone)
            gap += std::inner_product(x_.data() + r, x_.data() + r + g.rows, s_.data() + r, 0.0);
        if (g.bound == Bound::box) gap += (limit_[r] + x_[r]) * s_[r] + (limit_[r] - x_[r]) * upper_[r];
    }
    return gap / std::max(bounds_, 1);
}

// Adds T O^2 of a group at the iterate to its rows of a matrix, the first of which begins at `row`, each of `length`.
// Sets its scaling.
void InteriorPoint::add_barrier(const Group& g, double* row, size_t length) {
    const int r = g.first;
    if (g.bound == Bound::box) row[0] += s_[r] / (limit_[r] + x_[r]) + upper_[r] / (limit_[r] - x_[r]);
    if (g.bound != Bound::cone) return;
    with_rows(g.rows, [&](auto rows) {
        double* w = w_.data() + r;
        const double eta = eta_[r] = find_scaling(x_.data() + r, s_.data() + r, rows, w);
        apply_scaling(eta, w, x_.data() + r, rows, scaled_.data() + r);
        double along = w[0];  // the first entry of T w
        for (int i = 1; i < rows; ++i)
            along -= slip_[r + i] * w[i];
        row[0] += eta * eta * (2 * along * w[0] - 1);
        for (int j = 1; j < rows; ++j)
            row[j] += eta * eta * (2 * along * w[j] - slip_[r + j]);
        for (int i = 1; i < rows; ++i) {
            row += length;
            row[i] += eta * eta;
            for (int j = 0; j < rows; ++j)
                row[j] += eta * eta * 2 * w[i] * w[j];
        }
    });
}

// The scalings at the iterate, and the factor of A' + T O^2.
bool InteriorPoint::factor() {
    if (factored_ != nullptr) {
        factor_rows();
        return true;
    }
    const size_t n = rows_, length = row_length(n);
    factor_.resize(matrix_size(n));
    for (size_t r = 0; r < n; ++r)
        std::copy_n(A_.data() + r * n, n, factor_.data() + r * length);
    work_ += factorisation_work(n) / (symmetric_ ? 2 : 1);
    for (const Group& g : groups_)
        add_barrier(g, factor_.data() + g.first * length + g.first, length);
    if (symmetric_) return factor_symmetric_inplace(factor_.data(), n);
    return factor_unpivoted_inplace(factor_.data(), n);
}

// The same for a factored A: P = 1 and K = D^-1 T O^2 D^-1 of every group. Rows without impulse keep 0.
void InteriorPoint::factor_rows() {
    solver_.groups.clear();
    equations_.clear();
    for (const Group& g : groups_) {
        RowGroup& of = solver_.groups.emplace_back();
        of.first = static_cast<int>(equations_.size());
        of.count = g.rows;
        add_barrier(g, of.K, g.rows);
        for (int i = 0; i < g.rows; ++i) {
            equations_.push_back(g.first + i);
            const double row = scale_[g.first + i];
            for (int j = 0; j < g.rows; ++j) {
                const double both = row * scale_[g.first + j];
                double& K = of.K[i * g.rows + j];
                K = both != 0 ? K / both : i == j ? 1 : 0;
            }
            of.P[i * g.rows + i] = row != 0 ? 1 : 0;
        }
    }
    solver_.factor(*factored_->factored, equations_);
    work_ += solver_.work();
}

// dx_ <- (A' + T O^2)^-1 dx_
void InteriorPoint::solve_step() {
    if (factored_ != nullptr) {
        for (int r = 0; r < rows_; ++r)
            step_[r] = scale_[r] != 0 ? dx_[r] / scale_[r] : 0;
        solver_.solve_inplace(step_.data());
        for (int r = 0; r < rows_; ++r)
            dx_[r] = scale_[r] != 0 ? step_[r] / scale_[r] : 0;
    } else if (symmetric_) {
        solve_symmetric_inplace(factor_.data(), rows_, dx_.data());
    } else {
        solve_unpivoted_inplace(factor_.data(), rows_, dx_.data());
    }
}

// Of the multipliers of a boxed row: r and s of a step are targets - (O^2 dx) of each bound.
void InteriorPoint::boxed_targets(int r, double centre, bool second_order, double& lower,
                                  double& upper) const {
    const double to_lower = limit_[r] + x_[r], to_upper = limit_[r] - x_[r];
    lower = centre / to_lower - s_[r];
    upper = centre / to_upper - upper_[r];
    if (!second_order) return;
    lower -= dx_first_[r] * ds_first_[r] / to_lower;
    upper += dx_first_[r] * d_upper_first_[r] / to_upper;
}

// A step towards x' o s' = centre e. second_order: corrected by dx o ds of the predictor.
void InteriorPoint::find_direction(double centre, bool second_order) {
    double lower = 0, upper = 0;
    for (const Group& g : groups_) {
        const int r = g.first;
        if (g.bound == Bound::box) {
            boxed_targets(r, centre, second_order, lower, upper);
            target_[r] = lower - upper;
        }
        with_rows(g.rows, [&](auto rows) {
            if (g.bound == Bound::cone) {  // O (O x' \ (centre e - O x' o O x' - O dx o O^-1 ds))
                const double *w = w_.data() + r, *scaled = scaled_.data() + r, eta = eta_[r];
                ContactRows d, moved, other, product;
                jordan_product(scaled, scaled, rows, d);
                for (int i = 0; i < rows; ++i)
                    d[i] = (i == 0 ? centre : 0) - d[i];
                if (second_order) {  // O^-1 ds = -O x' - O dx
                    apply_scaling(eta, w, dx_first_.data() + r, rows, moved);
                    for (int i = 0; i < rows; ++i)
                        other[i] = -scaled[i] - moved[i];
                    jordan_product(moved, other, rows, product);
                    for (int i = 0; i < rows; ++i)
                        d[i] -= product[i];
                }
                jordan_quotient(scaled, d, rows, moved);
                apply_scaling(eta, w, moved, rows, target_.data() + r);
            }
            for (int i = r; i < r + rows; ++i)
                dx_[i] = scale_[i] == 0 ? 0 : target_[i] - rest_[i];
            for (int i = r + 1; i < r + rows; ++i)
                dx_[r] -= slip_[i] * dx_[i];
        });
    }
    solve_step();
    for (const Group& g : groups_) {
        const int r = g.first;
        if (g.bound == Bound::box) {
            boxed_targets(r, centre, second_order, lower, upper);
            ds_[r] = lower - s_[r] / (limit_[r] + x_[r]) * dx_[r];
            d_upper_[r] = upper + upper_[r] / (limit_[r] - x_[r]) * dx_[r];
        } else if (g.bound == Bound::cone) {
            with_rows(g.rows, [&](auto rows) {
                const double *w = w_.data() + r, eta = eta_[r];
                ContactRows once, twice;
                apply_scaling(eta, w, dx_.data() + r, rows, once);
                apply_scaling(eta, w, once, rows, twice);
                for (int i = 0; i < rows; ++i)
                    ds_[r + i] = target_[r + i] - twice[i];
            });
        }
    }
}

// The longest step to the bounds, at most 1 / share_of_step.
double InteriorPoint::longest_step() const {
    double t = 1 / share_of_step;
    const auto stay_positive = [&](double z, double d) {
        if (d < 0) t = std::min(t, -z / d);
    };
    for (const Group& g : groups_) {
        const int r = g.first;
        if (g.bound == Bound::box) {
            stay_positive(limit_[r] + x_[r], dx_[r]);
            stay_positive(limit_[r] - x_[r], -dx_[r]);
            stay_positive(s_[r], ds_[r]);
            stay_positive(upper_[r], d_upper_[r]);
        } else if (g.bound == Bound::cone) {
            with_rows(g.rows, [&](auto rows) {
                t = std::min({t, step_to_boundary(x_.data() + r, dx_.data() + r, rows),
                              step_to_boundary(s_.data() + r, ds_.data() + r, rows)});
            });
        }
    }
    return t;
}

double InteriorPoint::gap_after(double length) const {
    double gap = 0;
    for (const Group& g : groups_) {
        const int r = g.first;
        if (g.bound == Bound::box) {
            const double x = x_[r] + length * dx_[r];
            gap += (limit_[r] + x) * (s_[r] + length * ds_[r]) +
                   (limit_[r] - x) * (upper_[r] + length * d_upper_[r]);
        }
        for (int i = r; g.bound == Bound::cone && i < r + g.rows; ++i)
            gap += (x_[i] + length * dx_[i]) * (s_[i] + length * ds_[i]);
    }
    return gap / std::max(bounds_, 1);
}

bool InteriorPoint::iterate(double least) {
    for (; iterations_ < max_interior_iterations; ++iterations_) {
        const double gap = evaluate();
        const bool met =
            std::ranges::all_of(rest_, [&](double e) { return std::abs(e) <= most_rest * size_; });
        if (gap <= least * size_ * size_ && met) return true;
        if (factored_ != nullptr && met) {  // its round-off may end the approach
            last_met_ = true;
            last_x_ = x_;
        }
        if (!std::isfinite(gap) || !factor()) return false;
        find_direction(0, false);
        const double share = std::clamp(gap_after(std::min(1.0, longest_step())) / gap, 0.0, 1.0);
        dx_first_ = dx_;
        ds_first_ = ds_;
        d_upper_first_ = d_upper_;
        const double centre =
            std::max(share * share * share, !symmetric_ && length_ < shortened ? recentred : 0.0);
        find_direction(centre * gap, true);
        length_ = std::min(1.0, share_of_step * longest_step());
        const bool finite =
            std::all_of(dx_.begin(), dx_.begin() + rows_, [](double d) { return std::isfinite(d); });
        if (!finite || !(length_ > 0)) return false;
        for (int r = 0; r < rows_; ++r) {
            x_[r] += length_ * dx_[r];
            s_[r] += length_ * ds_[r];
            upper_[r] += length_ * d_upper_[r];
        }
    }
    return false;
}

bool InteriorPoint::advance(double gap, double* x) {
    const bool reached = iterate(gap);
    if (!reached && last_met_) x_ = last_x_;
    for (int r = 0; r < rows_; ++r)
        x[r] = scale_[r] * x_[r];
    return reached;
}

}  // namespace costate
