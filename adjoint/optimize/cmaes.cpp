// Covariance matrix adaptation (CMA-ES; Hansen & Ostermeier 2001) by pagmo, the gradient-free baseline. An
// iteration is a generation; each individual costs one evaluation of the loss.
#include "adjoint/optimize/cmaes.hpp"

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

// y = start + scale w, clamped to its bounds. pagmo uses only the width of the box of w, to which sigma is
// relative.
struct Fitness {
    Problem* p = nullptr;
    VecX<double> scale;

    VecX<double> y(const pagmo::vector_double& w) const {
        const Variables& v = p->variables;
        const Eigen::Map<const VecX<double>> moved(w.data(), scale.size());
        return (v.start() + scale.cwiseProduct(moved)).cwiseMax(v.lower()).cwiseMin(v.upper());
    }
    pagmo::vector_double fitness(const pagmo::vector_double& w) const { return {p->value(y(w))}; }
    std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
        const auto n = static_cast<size_t>(scale.size());
        return {pagmo::vector_double(n, -0.5), pagmo::vector_double(n, 0.5)};
    }
};

void cmaes(Problem& p) {
    const Variables& v = p.variables;
    const OptimizeSettings& o = p.settings;
    const VecX<double> range = v.upper() - v.lower();
    Fitness fitness{&p, range.unaryExpr([](double width) { return std::isfinite(width) ? width : 1.0; })};
    const int usual = std::max(5, 4 + static_cast<int>(3 * log(static_cast<double>(v.size())))),
              size = o.population > 0 ? o.population : usual;
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
