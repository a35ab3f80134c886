#include "adjoint/external/nlopt_lbfgs.hpp"

#include "adjoint/optimize/problem.hpp"

#ifdef COSTATE_HAVE_NLOPT
#include <nlopt.hpp>
#endif

namespace costate {

#ifdef COSTATE_HAVE_NLOPT

namespace {

// NLopt's L-BFGS (Luksan) evaluates value and gradient together; each call after the first counts as an
// iteration. Scaling the problem by the learning rate scales its first step, which is along the gradient.
void nlopt_lbfgs(Problem& p) {
    const auto vector = [](const VecX<double>& x) { return std::vector<double>(x.begin(), x.end()); };
    const Variables& v = p.variables;
    const double scale = p.settings.learning_rate;
    nlopt::opt opt(nlopt::LD_LBFGS, static_cast<unsigned>(v.size()));
    opt.set_lower_bounds(vector(v.lower()));
    opt.set_upper_bounds(vector(v.upper()));
    std::exception_ptr failure;  // must not pass through the library
    const auto evaluate = [&](const VecX<double>& y, VecX<double>& gradient) {
        const bool first = p.result.loss_evaluations == 0;
        const double value = p.value(y);
        if (!first) p.end_iteration();
        if (value == unlimited) return 1e300;
        gradient = p.gradient(y);
        if (const char* why = p.reason_to_stop(gradient)) p.result.stopped = why;
        gradient *= scale;
        return scale * value;
    };
    std::function<double(const std::vector<double>&, std::vector<double>&)> guarded =
        [&](const std::vector<double>& x, std::vector<double>& g) {
            double value = 0;
            VecX<double> gradient = VecX<double>::Zero(v.size());
            try {
                if (p.result.stopped.empty())
                    value = evaluate(Eigen::Map<const VecX<double>>(x.data(), v.size()), gradient);
            } catch (...) {
                failure = std::current_exception();
            }
            if (failure || !p.result.stopped.empty()) opt.force_stop();
            std::copy(gradient.begin(), gradient.end(), g.begin());
            return value;
        };
    opt.set_min_objective([](const std::vector<double>& x, std::vector<double>& g,
                             void* f) { return (*static_cast<decltype(guarded)*>(f))(x, g); },
                          &guarded);
    std::vector<double> y = vector(v.start());
    double value = 0;
    try {
        opt.optimize(y, value);
    } catch (const nlopt::forced_stop&) {
    } catch (const nlopt::roundoff_limited&) {
        p.result.stopped = "round-off limits progress";
    } catch (const std::runtime_error&) {  // NLopt's generic failure, for example if all rollouts of a line
                                           // search diverge
        p.result.stopped = "the line search failed";
    }
    if (failure) std::rethrow_exception(failure);
    if (p.result.stopped.empty()) p.result.stopped = "converged";
}

}  // namespace

bool use_nlopt() {
    set_lbfgs(nlopt_lbfgs);
    return true;
}

#else

bool use_nlopt() { return false; }

#endif

}  // namespace costate
