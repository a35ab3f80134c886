// A model behind the C API, its states, and the steps from them.
#pragma once

#include <costate.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "tests/support/differences.hpp"

namespace costate::test {

inline void check(int status) {
    if (status < 0) throw std::runtime_error(costate_last_error());
}

// Owns a model.
class CModel {
public:
    explicit CModel(costate_model* model) : model_(model, costate_model_free) {
        nq = costate_model_nq(model);
        nv = costate_model_nv(model);
        nu = costate_model_nu(model);
        nparam = costate_model_nparam(model);
        nx = costate_model_nx(model);
        na = costate_model_count(model, COSTATE_ACTIVATION);
        theta.resize(static_cast<size_t>(nparam));
        check(costate_model_get_parameters(model, theta.data(), theta.size()));
    }
    costate_model* get() const { return model_.get(); }
    std::string name(int kind, int index) const {
        const int n = costate_model_name(get(), kind, index, nullptr, 0);
        check(n);
        std::string text(static_cast<size_t>(n) + 1, ' ');
        check(costate_model_name(get(), kind, index, text.data(), text.size()));
        return text.substr(0, static_cast<size_t>(n));
    }

    // A tangent of (q, v, activations)
    size_t own_ndx() const { return static_cast<size_t>(2 * nv + na); }
    size_t ndx() const { return static_cast<size_t>(nx - nq + nv); }  // of whole states

    int nq, nv, nu, nparam, nx, na;
    Vector theta;  // (nparam) as loaded

    // A batch of one environment, which has the parameters of the model
    costate_batch* batch() const {
        if (batch_ == nullptr) {
            const costate_batch_options options{1, 1, 1, 0, 0, 0};
            costate_batch* batch = nullptr;
            check(costate_batch_create(get(), &options, &batch));
            batch_.reset(batch);
        }
        return batch_.get();
    }

private:
    std::unique_ptr<costate_model, int (*)(costate_model*)> model_;
    mutable std::unique_ptr<costate_batch, int (*)(costate_batch*)> batch_{nullptr, costate_batch_free};
};

// The state before a step, without kept impulses, and its control.
struct State {
    Vector q, v, act, u;  // (nq), (nv), (na) activations, (nu)
};

// In the initial state of the file, with zeros as controls
inline State start_of(const CModel& m) {
    Vector x(static_cast<size_t>(m.nx));
    check(costate_batch_reset(m.batch(), nullptr, 1, nullptr, nullptr, 0, nullptr, nullptr));
    check(costate_batch_state(m.batch(), x.data(), nullptr));
    const auto v = x.begin() + m.nq, act = v + m.nv;
    return {{x.begin(), v}, {v, act}, {act, act + m.na}, Vector(static_cast<size_t>(m.nu))};
}
inline Vector whole(const CModel& m, const State& s) {  // (nx)
    Vector x = s.q;
    x.insert(x.end(), s.v.begin(), s.v.end());
    x.insert(x.end(), s.act.begin(), s.act.end());
    x.resize(static_cast<size_t>(m.nx));
    return x;
}

// The state after a step; its status, and what is left unchanged if it fails.
inline int step_to(const CModel& m, const State& s, State& next) {
    Vector x(static_cast<size_t>(m.nx));
    const int status = costate_state_step(m.get(), whole(m, s).data(), s.u.data(), x.data());
    if (status < 0) return status;
    const auto v = x.begin() + m.nq, act = v + m.nv;
    next = {{x.begin(), v}, {v, act}, {act, act + m.na}, s.u};
    return status;
}
inline State stepped(const CModel& m, const State& s) {
    State next;
    check(step_to(m, s, next));
    return next;
}

// Number of contacts with an impulse in the step of s.
inline int pressing(const CModel& m, const State& s) {
    std::vector<costate_contact> contacts(256);
    int n = 0;
    check(costate_batch_contacts(m.batch(), whole(m, s).data(), s.u.data(), contacts.data(), nullptr,
                                 contacts.size(), &n));
    check(n);
    contacts.resize(std::min(contacts.size(), static_cast<size_t>(n)));
    return static_cast<int>(std::count_if(contacts.begin(), contacts.end(), [](const costate_contact& c) {
        return std::hypot(c.impulse[0], c.impulse[1], c.impulse[2]) > 0;
    }));
}

// The state displaced by e d, d (own_ndx)
inline State displaced(const CModel& m, const State& s, const Vector& d, double e) {
    State out = s;
    const auto nv = static_cast<size_t>(m.nv);
    Vector turn(d.begin(), d.begin() + m.nv);
    for (double& x : turn)
        x *= e;
    check(costate_retract(m.get(), s.q.data(), turn.data(), out.q.data()));
    for (size_t i = 0; i < nv; ++i)
        out.v[i] += e * d[nv + i];
    for (size_t i = 0; i < out.act.size(); ++i)
        out.act[i] += e * d[2 * nv + i];
    return out;
}
// The change of (q, v, activations) from `from` to `to`, (own_ndx).
inline Vector change(const CModel& m, const State& from, const State& to) {
    Vector d(m.own_ndx());
    const auto nv = static_cast<size_t>(m.nv);
    check(costate_difference(m.get(), from.q.data(), to.q.data(), d.data()));
    for (size_t i = 0; i < nv; ++i)
        d[nv + i] = to.v[i] - from.v[i];
    for (size_t i = 0; i < to.act.size(); ++i)
        d[2 * nv + i] = to.act[i] - from.act[i];
    return d;
}

// The derivatives of a step, of (q, v, activations) by the same. Forward mode along x_dot (own_ndx), u_dot (nu) and
// theta_dot (nparam): (own_ndx).
inline Vector pushed(const CModel& m, const State& s, Vector x_dot, const Vector& u_dot,
                     const double* theta_dot) {
    Vector next_dot(m.ndx());
    x_dot.resize(m.ndx());
    check(costate_state_step_jvp(m.get(), whole(m, s).data(), s.u.data(), x_dot.data(), u_dot.data(),
                                 theta_dot, next_dot.data()));
    next_dot.resize(m.own_ndx());
    return next_dot;
}
// Reverse mode from next_bar (own_ndx), with the status of the call
struct Bars {
    Vector x, u, theta;  // (own_ndx), (nu), (nparam)
    int status = 0;
};
inline Bars pulled_back(const CModel& m, const State& s, Vector next_bar) {
    Bars out{Vector(m.ndx()), Vector(s.u.size()), Vector(m.theta.size())};
    next_bar.resize(m.ndx());
    out.status = costate_state_step_vjp(m.get(), whole(m, s).data(), s.u.data(), next_bar.data(),
                                        out.x.data(), out.u.data(), out.theta.data());
    out.x.resize(m.own_ndx());
    return out;
}
// The Jacobian: by_x (own_ndx x own_ndx), by_u (own_ndx x nu), by_theta (own_ndx x nparam) unless it is null
struct StepJacobian {
    Vector by_x, by_u, by_theta;
};
inline StepJacobian jacobian(const CModel& m, const State& s, bool by_parameters) {
    const size_t rows = m.own_ndx();
    StepJacobian J{Vector(rows * rows), Vector(rows * s.u.size()),
                   Vector(by_parameters ? rows * m.theta.size() : 0)};
    double* const by_theta = by_parameters ? J.by_theta.data() : nullptr;
    if (m.na == 0) {  // which has closed forms also for models with a warm start
        check(costate_step_jacobian(m.get(), s.q.data(), s.v.data(), s.u.data(), J.by_x.data(), J.by_u.data(),
                                    by_theta));
        return J;
    }
    if (m.ndx() != rows)
        throw std::runtime_error("a model with activations and a warm start is not supported");
    check(costate_state_step_jacobian(m.get(), whole(m, s).data(), s.u.data(), J.by_x.data(), J.by_u.data(),
                                      by_theta));
    return J;
}

}  // namespace costate::test
