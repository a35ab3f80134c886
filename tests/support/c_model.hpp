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
        nq = costate_model_nq(model), nv = costate_model_nv(model), nu = costate_model_nu(model);
        nparam = costate_model_nparam(model);
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

    int nq, nv, nu, nparam;
    Vector theta;  // (nparam) as loaded

private:
    std::unique_ptr<costate_model, int (*)(costate_model*)> model_;
};

struct State {
    Vector q, v, u;
};

inline State stepped(const CModel& m, const State& s) {
    State next = s;
    check(costate_step(m.get(), s.q.data(), s.v.data(), s.u.data(), next.q.data(), next.v.data()));
    return next;
}

// Number of contacts with an impulse in the step of s.
inline int pressing(const CModel& m, const State& s) {
    std::vector<costate_contact> contacts(256);
    const int n =
        costate_contacts(m.get(), s.q.data(), s.v.data(), s.u.data(), contacts.data(), contacts.size());
    check(n);
    contacts.resize(std::min(contacts.size(), static_cast<size_t>(n)));
    return static_cast<int>(std::count_if(contacts.begin(), contacts.end(), [](const costate_contact& c) {
        return std::hypot(c.impulse[0], c.impulse[1], c.impulse[2]) > 0;
    }));
}

// The change of (q_next, v_next) from `from` to `to`, (2 nv).
inline Vector change(const CModel& m, const State& from, const State& to) {
    Vector d(2 * static_cast<size_t>(m.nv));
    check(costate_difference(m.get(), from.q.data(), to.q.data(), d.data()));
    for (size_t i = 0; i < from.v.size(); ++i)
        d[from.v.size() + i] = to.v[i] - from.v[i];
    return d;
}

}  // namespace costate::test
