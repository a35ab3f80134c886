// Prints a table of the accuracy and time of exact contact solvers and of sweeps, on problems with a
// solution, equally many from each family of tests/support/contact_problems.hpp.
//   costate_solver_table [PROBLEMS]    default: 10 000
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "solvers/step/impulses.hpp"
#include "tests/support/contact_problems.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr Family families[] = {Family::scattered, Family::stacked, Family::heavy_on_light, Family::redundant};

struct Method {
    std::string name;
    std::function<void(const ContactProblem&, double*)> solve;
    std::vector<double> box = {}, cone = {};  // residuals by each law, divided by 1 + the largest entry of b
    std::vector<double> times = {};           // us
};

double quantile(std::vector<double> x, double share) {
    const auto at = x.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(x.size() - 1));
    std::nth_element(x.begin(), at, x.end());
    return *at;
}

std::vector<Method> all_methods() {
    std::vector<Method> all;
    PgsTape<double> tape;
    for (const int sweeps : {10, 50, 200, 1000})
        all.push_back(
            {"`pgs`, " + std::to_string(sweeps) + " sweeps",
             [=](const ContactProblem& p, double* x) mutable { pgs(p.view(), sweeps, 0, tape, x); }});
    ActiveSet<double> set;
    LcpScratch box;
    all.push_back({"`lcp`", [=](const ContactProblem& p, double* x) mutable { lcp(p.view(), box, set, x); }});
    ConeScratch round;
    for (const ConeMethod method : {ConeMethod::gauss_seidel, ConeMethod::admm})
        all.push_back({method == ConeMethod::admm ? "`ncp`, ADMM" : "`ncp`, Gauss-Seidel",
                       [=](const ContactProblem& p, double* x) mutable {
                           cone(p.view(), FrictionLaw::cone, method, round, set, x);
                       }});
    return all;
}

void print_residuals(const std::vector<double>& r) {
    const auto solved = std::count_if(r.begin(), r.end(), [](double x) { return x <= 1e-10; });
    std::printf(" %.2f | %.0e | %.0e |", 100.0 * static_cast<double>(solved) / static_cast<double>(r.size()),
                quantile(r, 0.5), quantile(r, 0.99));
}

}  // namespace

int main(int count, char** arguments) {
    const int problems = count > 1 ? std::atoi(arguments[1]) : 10000;
    if (problems < 4)
        return std::fprintf(stderr, "costate_solver_table: \"%s\" is no number of problems; give 4 or more\n",
                            arguments[1]),
               2;
    std::vector<Method> methods = all_methods();
    for (int n = 0; n < problems; ++n) {
        const ContactProblem p = contact_problem(families[n % 4], static_cast<unsigned>(n / 4));
        const double scale = 1 + p.b.cwiseAbs().maxCoeff();
        for (Method& m : methods) {
            std::vector<double> x(p.b.size(), 0.0);
            const auto begin = std::chrono::steady_clock::now();
            m.solve(p, x.data());
            m.times.push_back(
                std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
            m.box.push_back(mlcp_residual(p.view(), x.data(), FrictionLaw::box) / scale);
            m.cone.push_back(mlcp_residual(p.view(), x.data(), FrictionLaw::cone) / scale);
        }
    }
    std::printf(
        "| solver | box: solved, %% | median | 99 %% | cone: solved, %% | median | 99 %% | time, us |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (const Method& m : methods) {
        std::printf("| %s |", m.name.c_str());
        print_residuals(m.box);
        print_residuals(m.cone);
        std::printf(" %.0f |\n", quantile(m.times, 0.5));
    }
}
