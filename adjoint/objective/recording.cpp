#include "adjoint/objective/recording.hpp"

#include <algorithm>
#include <cassert>

#include "core/math/rotation.hpp"

namespace costate {

namespace {

// Calls visit(t, row, next, share) for the steps [first, last]: the time of step t is a share of the way from
// a row to the next.
template <class Visit>
void visit_steps(const std::vector<double>& times, int first, int last, double time_step,
                 const Visit& visit) {
    size_t after = 0;  // the first row later than the step
    for (int t = first; t <= last; ++t) {
        const double time = t * time_step;
        while (after < times.size() && times[after] <= time)
            ++after;
        const size_t from = after > 0 ? after - 1 : 0, to = std::min(after, times.size() - 1);
        const double share =
            to > from ? std::clamp((time - times[from]) / (times[to] - times[from]), 0.0, 1.0) : 0;
        visit(t, from, to, share);
    }
}

double between(double a, double b, double share) { return share > 0 ? (1 - share) * a + share * b : a; }

}  // namespace

Recording resample(std::vector<Signal> signals, const std::vector<double>& times,
                   const std::vector<std::vector<double>>& rows, int first, int last, double time_step) {
    assert(times.front() <= (first + 1e-6) * time_step && times.back() >= (last - 1e-6) * time_step);
    Recording rec;
    rec.signals = std::move(signals);
    for (const Signal& c : rec.signals) {
        rec.width += c.width();
        rec.dimension += c.dimension();
    }
    rec.values.resize(static_cast<size_t>(last + 1) * static_cast<size_t>(rec.width));
    visit_steps(times, first, last, time_step, [&](int t, size_t from, size_t to, double share) {
        const double *a = rows[from].data(), *b = rows[to].data();
        double* out = rec.values.data() + static_cast<size_t>(t) * static_cast<size_t>(rec.width);
        for (const Signal& c : rec.signals) {
            if (c.is_rotation()) {
                const Quaternion<double> qa = load_quaternion(a);
                const Vec3<double> turn = share * quaternion_difference(qa, load_quaternion(b));
                const Quaternion<double> q = retract_quaternion(qa, turn);
                out[0] = q.w;
                out[1] = q.v.x();
                out[2] = q.v.y();
                out[3] = q.v.z();
            } else {
                *out = between(*a, *b, share);
            }
            a += c.width();
            b += c.width();
            out += c.width();
        }
    });
    return rec;
}

Samples resample(const std::vector<double>& times, const std::vector<std::vector<double>>& rows, int first,
                 int last, double time_step) {
    Samples samples{static_cast<int>(rows[0].size()), {}};
    const size_t width = rows[0].size();
    samples.values.resize((last + 1) * width);
    visit_steps(times, first, last, time_step, [&](int t, size_t from, size_t to, double share) {
        for (size_t k = 0; k < width; ++k)
            samples.values[t * width + k] = between(rows[from][k], rows[to][k], share);
    });
    return samples;
}

}  // namespace costate
