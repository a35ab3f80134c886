// How exact solvers of contact problems are, and how long they take, beside sweeps: a table of problems that have a solution,
// as many of each family of tests/contact_problems.hpp.
//   costate_solver_table [PROBLEMS]    10 000 if not said
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "solvers/cone.hpp"
#include "solvers/pgs.hpp"
#include "tests/contact_problems.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr Family families[] = {Family::scattered, Family::stacked, Family::heavy_on_light, Family::redundant};

struct Method {
    std::string name, judged_by;
    FrictionLaw law;
    std::function<void(const ContactProblem&, double*)> solve;
    std::vector<double> residuals = {}, times = {};  // over 1 + |b|; us
};

double quantile(std::vector<double> x, double share) {
    const auto at = x.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(x.size() - 1));
    std::nth_element(x.begin(), at, x.end());
    return *at;
}

std::vector<Method> all_methods() {
    std::vector<Method> all;
    for (const int sweeps : {10, 50, 200, 1000})
        for (const FrictionLaw law : {FrictionLaw::box, FrictionLaw::cone})
            all.push_back({"`pgs`, " + std::to_string(sweeps) + " sweeps", law == FrictionLaw::box ? "box" : "cone", law,
                           [sweeps, tape = PgsTape<double>()](const ContactProblem& p, double* x) mutable { pgs(p.view(), sweeps, 0, tape, x); }});
    // as in a step without a warm start, where a few sweeps make the guess
    all.push_back({"`lcp`", "box", FrictionLaw::box, [tape = PgsTape<double>(), work = LcpScratch(), set = ActiveSet<double>()](const ContactProblem& p, double* x) mutable {
                       pgs(p.view(), 10, 0, tape, x);
                       lcp(p.view(), work, set, x);
                   }});
    for (const ConeMethod method : {ConeMethod::gauss_seidel, ConeMethod::admm})
        all.push_back({method == ConeMethod::admm ? "`ncp`, ADMM" : "`ncp`, Gauss-Seidel", "cone", FrictionLaw::cone,
                       [method, tape = PgsTape<double>(), work = ConeScratch(), set = ActiveSet<double>()](const ContactProblem& p, double* x) mutable {
                           pgs(p.view(), 10, 0, tape, x);
                           cone(p.view(), FrictionLaw::cone, method, work, set, x);
                       }});
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    const int problems = count > 1 ? std::atoi(arguments[1]) : 10000;
    if (problems < 4) return std::fprintf(stderr, "costate_solver_table: \"%s\" is no number of problems; give 4 or more\n", arguments[1]), 2;
    std::vector<Method> methods = all_methods();
    for (int n = 0; n < problems; ++n) {
        const ContactProblem p = contact_problem(families[n % 4], static_cast<unsigned>(n / 4));
        const double scale = 1 + p.b.cwiseAbs().maxCoeff();
        for (Method& m : methods) {
            std::vector<double> x(static_cast<size_t>(p.b.size()), 0.0);
            const auto begin = std::chrono::steady_clock::now();
            m.solve(p, x.data());
            m.times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
            m.residuals.push_back(mlcp_residual(p.view(), x.data(), m.law) / scale);
        }
    }
    std::printf("| solver | friction | solved to 1e-10, %% | residual, median | 99 %% | time, median, us |\n|---|---|---|---|---|---|\n");
    for (const Method& m : methods) {
        const auto solved = std::count_if(m.residuals.begin(), m.residuals.end(), [](double r) { return r <= 1e-10; });
        std::printf("| %s | %s | %.2f | %.0e | %.0e | %.0f |\n", m.name.c_str(), m.judged_by.c_str(), 100.0 * static_cast<double>(solved) / problems,
                    quantile(m.residuals, 0.5), quantile(m.residuals, 0.99), quantile(m.times, 0.5));
    }
}
