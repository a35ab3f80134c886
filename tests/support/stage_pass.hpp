// StagePass: an adaptor for check_pass from lists of inputs and outputs. Each entry refers to a number, a
// dual number and a covector. Derived classes fill the lists and run the pass in both directions.
#pragma once

#include <functional>
#include <memory>

#include "tests/support/check_adjoint.hpp"

namespace costate::test {

class Inputs {
public:
    struct Place {
        int size;
        // sets the dual number to the number moved along a tangent
        std::function<void(const double*)> lift;
        std::function<void(const double*)> set_bar;
        std::function<void(double*)> get_bar;
    };
    void add_place(Place p) {
        size_ += p.size;
        places_.push_back(std::move(p));
    }

    template <class X> void add(const X& x, typename Probe<X>::Lifted& dual, Bar<X>& bar) {
        add_place({Probe<X>::size, [&](const double* d) { dual = Probe<X>::lift(x, d); },
                   [&](const double* c) { bar = Probe<X>::bar(c); },
                   [&](double* c) { Probe<X>::covector(bar, c); }});
    }
    template <class X> void add(const X* x, typename Probe<X>::Lifted* dual, Bar<X>* bar, int count) {
        for (int i = 0; i < count; ++i)
            add<X>(x[i], dual[i], bar[i]);
    }
    template <class X>
    void add(const std::vector<X>& x, std::vector<typename Probe<X>::Lifted>& dual,
             std::vector<Bar<X>>& bar) {
        add<X>(x.data(), dual.data(), bar.data(), static_cast<int>(x.size()));
    }
    // Combines everything that `fill` adds into one input along a random direction, if single numbers may
    // have no effect but all together must.
    void add_along_direction(Rng& g, const std::function<void(Inputs&)>& fill) {
        const auto all = std::make_shared<Inputs>();
        fill(*all);
        Covector direction = g.covector(all->size());
        const double length = norm(direction);
        for (double& x : direction)
            x /= length;
        const auto times = [direction](double s) {
            Covector c = direction;
            for (double& x : c)
                x *= s;
            return c;
        };
        add_place({1, [=](const double* d) { all->lift(times(*d).data()); },
                   [=](const double* c) { all->set_bars(times(*c).data()); },
                   [=](double* c) { *c = pairing(all->bars(), direction); }});
    }

    int size() const { return size_; }
    void lift(const double* d) const {
        for (const Place& p : places_) {
            p.lift(d);
            d += p.size;
        }
    }
    void set_bars(const double* c) const {
        for (const Place& p : places_) {
            p.set_bar(c);
            c += p.size;
        }
    }
    Covector bars() const {
        Covector all(static_cast<size_t>(size_));
        double* c = all.data();
        for (const Place& p : places_) {
            p.get_bar(c);
            c += p.size;
        }
        return all;
    }

private:
    std::vector<Place> places_;
    int size_ = 0;
};

class Outputs {
public:
    struct Place {
        int size;
        std::function<void(double*)> tangent;
        std::function<void(const double*)> set_bar;
    };
    void add_place(Place p) {
        size_ += p.size;
        places_.push_back(std::move(p));
    }

    template <class X> void add(const typename Probe<X>::Lifted& dual, Bar<X>& bar) {
        add_place({Probe<X>::size, [&](double* d) { Probe<X>::tangent(dual, d); },
                   [&](const double* c) { bar = Probe<X>::bar(c); }});
    }
    template <class X> void add(const typename Probe<X>::Lifted* dual, Bar<X>* bar, int count) {
        for (int i = 0; i < count; ++i)
            add<X>(dual[i], bar[i]);
    }
    template <class X>
    void add(const std::vector<typename Probe<X>::Lifted>& dual, std::vector<Bar<X>>& bar) {
        add<X>(dual.data(), bar.data(), static_cast<int>(dual.size()));
    }

    int size() const { return size_; }
    Covector tangents() const {
        Covector all(static_cast<size_t>(size_));
        double* d = all.data();
        for (const Place& p : places_) {
            p.tangent(d);
            d += p.size;
        }
        return all;
    }
    void set_bars(const double* c) const {
        for (const Place& p : places_) {
            p.set_bar(c);
            c += p.size;
        }
    }

private:
    std::vector<Place> places_;
    int size_ = 0;
};

struct StagePass {
    Inputs in;
    Outputs out;
    StagePass() = default;
    StagePass(const StagePass&) = delete;  // the lists point into this object
    StagePass& operator=(const StagePass&) = delete;
    virtual ~StagePass() = default;

    virtual void run_duals() = 0;
    virtual void clear_bars() {}  // clears all bars, before those of the lists are set
    virtual void run_adjoint() = 0;

    int inputs() const { return in.size(); }
    int outputs() const { return out.size(); }
    Covector forward(const Covector& x_dot) {
        in.lift(x_dot.data());
        run_duals();
        return out.tangents();
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) {
        clear_bars();
        out.set_bars(y_bar.data());
        in.set_bars(prior.data());
        run_adjoint();
        return in.bars();
    }
};

}  // namespace costate::test
