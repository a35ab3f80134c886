// Covariance matrix adaptation (CMA-ES; Hansen & Ostermeier 2001) by pagmo, the gradient-free baseline. An
// iteration is a generation; each individual costs one evaluation of the loss.
//
// pagmo asks for one loss after the other. But a generation's individuals are drawn from what is known before it,
// which a copy of the algorithm knows, too. So where threads or ranks share the losses, a copy runs ahead for the
// individuals alone, and the generation itself finds their losses computed.
#include "adjoint/external/cmaes.hpp"

#include <cstring>

#include "adjoint/optimize/problem.hpp"
#include "core/math/elementary.hpp"

#ifdef COSTATE_HAVE_PAGMO
#include <pagmo/algorithms/cmaes.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>
#endif

namespace costate {

#ifdef COSTATE_HAVE_PAGMO

namespace {

struct AllDrawn {};

// The individuals of a generation, and their losses.
struct Individuals {
    const size_t number;
    bool drawing = false;
    std::vector<VecX<double>> ys = {};
    std::vector<double> losses = {};
    size_t next = 0;

    double loss(const VecX<double>& y) {
        if (drawing) {
            ys.push_back(y);
            if (ys.size() == number) throw AllDrawn();
            return 0;
        }
        if (next == ys.size() || std::memcmp(ys[next].data(), y.data(), y.size() * sizeof(double)) != 0)
            throw std::logic_error("this version of pagmo draws individuals of CMA-ES by their losses");
        return losses[next++];
    }
    // `draw` runs a generation, whose losses do not matter.
    template <class Draw> void compute(Problem& p, const Draw& draw) {
        ys.clear();
        next = 0;
        drawing = true;
        try {
            draw();
        } catch (const AllDrawn&) {
        }
        drawing = false;
        losses = p.values(ys);
    }
};

// y = start + scale w, clamped to its bounds. pagmo uses only the width of the box of w, to which sigma is
// relative.
struct Fitness {
    Problem* p = nullptr;
    Individuals* shared = nullptr;  // null: losses are computed when pagmo asks for them
    VecX<double> scale;

    VecX<double> y(const pagmo::vector_double& w) const {
        const Variables& v = p->variables;
        const Eigen::Map<const VecX<double>> moved(w.data(), scale.size());
        return (v.start() + scale.cwiseProduct(moved)).cwiseMax(v.lower()).cwiseMin(v.upper());
    }
    pagmo::vector_double fitness(const pagmo::vector_double& w) const {
        return {shared ? shared->loss(y(w)) : p->value(y(w))};
    }
    std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
        const auto n = static_cast<size_t>(scale.size());
        return {pagmo::vector_double(n, -0.5), pagmo::vector_double(n, 0.5)};
    }
};

void cmaes(Problem& p) {
    const Variables& v = p.variables;
    const OptimizeSettings& o = p.settings;
    const VecX<double> range = v.upper() - v.lower();
    const int usual = std::max(5, 4 + static_cast<int>(3 * log(static_cast<double>(v.size())))),
              size = o.population > 0 ? o.population : usual;
    Individuals individuals{static_cast<size_t>(size)};
    const bool shared = o.threads > 1 || (o.ranks && o.ranks->size() > 1);
    const Fitness fitness{&p, shared ? &individuals : nullptr,
                          range.unaryExpr([](double width) { return std::isfinite(width) ? width : 1.0; })};
    const double first = p.value(v.start());

    pagmo::population population(pagmo::problem(fitness), 0, o.seed);
    const pagmo::vector_double origin(v.size(), 0.0);
    for (int k = 0; k < size; ++k)
        population.push_back(origin, {first});
    constexpr double smallest_move = 1e-13;
    // keeps its adapted state between generations
    const pagmo::cmaes generation(1, -1, -1, -1, -1, o.sigma, 0, smallest_move, true, false, o.seed);
    while (true) {
        if (const char* why = p.budget_spent()) return void(p.result.stopped = why);
        const int before = p.result.loss_evaluations;
        if (before + size > o.max_loss_evaluations) return void(p.result.stopped = "loss evaluations used");
        if (shared) individuals.compute(p, [&] { pagmo::cmaes(generation).evolve(population); });
        population = generation.evolve(population);
        if (p.result.loss_evaluations == before) return void(p.result.stopped = "converged");
        p.end_iteration();
    }
}

}  // namespace

void use_cmaes() { set_cmaes(cmaes); }

#else

void use_cmaes() {}

#endif

}  // namespace costate
