#include <ctime>
#include <sstream>

#include "tests/robots/robots.hpp"

namespace costate::test {
namespace {

constexpr int contact_steps = 300, fall_steps = 1000, idle_falls = 3;
constexpr double fast = 50;  // m/s or rad/s; beyond is an instability, which tests nothing more

Vector random_vector(std::mt19937_64& bits, size_t n, double size) {
    std::normal_distribution<double> normal;
    Vector x(n);
    for (double& e : x)
        e = size * normal(bits);
    return x;
}

double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

// A direction of the inputs of a step; the parameters change in proportion to themselves.
struct Direction {
    std::string name;
    Vector x, u, theta;  // x: (own_ndx)
};

std::vector<Direction> random_directions(const CModel& m, std::mt19937_64& bits) {
    const auto nv = static_cast<size_t>(m.nv), nu = static_cast<size_t>(m.nu), na = static_cast<size_t>(m.na);
    std::vector<Direction> out;
    const auto add = [&](const char* name) -> Direction& {
        return out.emplace_back(Direction{name, Vector(m.own_ndx()), Vector(nu), Vector(m.theta.size())});
    };
    const auto add_state = [&](const char* name, size_t begin, size_t n) {
        if (n == 0) return;
        const Vector entries = random_vector(bits, n, 1);
        std::ranges::copy(entries, add(name).x.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    add_state("q", 0, nv);
    add_state("v", nv, nv);
    if (nu > 0) add("u").u = random_vector(bits, nu, 1);
    Direction& parameters = add("parameters");
    parameters.theta = random_vector(bits, m.theta.size(), 1);
    for (size_t i = 0; i < m.theta.size(); ++i)
        parameters.theta[i] *= m.theta[i];
    add_state("activations", 2 * nv, na);
    return out;
}

// Directions with one entry of another each; some of them, if they are many.
std::vector<Direction> entries_of(const Direction& along, std::mt19937_64& bits) {
    constexpr size_t most = 60;
    std::vector<Direction> out;
    for (Vector Direction::*part : {&Direction::x, &Direction::u, &Direction::theta})
        for (size_t i = 0; i < (along.*part).size(); ++i) {
            if ((along.*part)[i] == 0) continue;
            Direction& entry = out.emplace_back(Direction{
                along.name, Vector(along.x.size()), Vector(along.u.size()), Vector(along.theta.size())});
            (entry.*part)[i] = (along.*part)[i];
        }
    std::ranges::shuffle(out, bits);
    if (out.size() > most) out.erase(out.begin() + most, out.end());
    return out;
}

// False if the parameters are out of their range.
bool set_parameters(CModel& m, const Vector& dot, double e) {
    Vector theta = m.theta;
    for (size_t i = 0; i < theta.size(); ++i)
        theta[i] += e * dot[i];
    return costate_model_set_parameters(m.get(), theta.data(), theta.size()) >= 0;
}

Differences differences(CModel& m, const State& s, const State& next, const Direction& along) {
    const bool parameters = along.name == "parameters";
    const Differences fd([&](double e) {
        State moved = displaced(m, s, along.x, e);
        for (size_t i = 0; i < moved.u.size(); ++i)
            moved.u[i] += e * along.u[i];
        if (parameters && !set_parameters(m, along.theta, e)) throw std::runtime_error(costate_last_error());
        return change(m, next, stepped(m, moved));
    });
    if (parameters) set_parameters(m, along.theta, 0);
    return fd;
}

// The derivatives of a step along a direction by forward mode, by the Jacobian (empty: left out), and by reverse mode,
// which gives their product with `weights`.
struct Derivative {
    Vector forward, jacobian;  // (own_ndx)
    Vector weights;            // (own_ndx)
    double reverse = 0;
};

Derivative derivative(const CModel& m, const State& s, const Direction& along, const StepJacobian& J,
                      std::mt19937_64& bits) {
    const size_t rows = m.own_ndx(), nu = s.u.size();
    Derivative out{pushed(m, s, along.x, along.u, along.theta.data()), {}, random_vector(bits, rows, 1)};
    const Bars bar = pulled_back(m, s, out.weights);
    check(bar.status);
    out.reverse = dot(bar.x, along.x) + dot(bar.u, along.u) + dot(bar.theta, along.theta);
    if (along.name == "parameters" || J.by_x.empty()) return out;
    out.jacobian.resize(rows);
    for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < rows; ++j)
            out.jacobian[i] += J.by_x[i * rows + j] * along.x[j];
        for (size_t j = 0; j < nu; ++j)
            out.jacobian[i] += J.by_u[i * nu + j] * along.u[j];
    }
    return out;
}

// The product of differences with weights
Differences weighted(const Vector& weights, Differences fd) {
    double size = 0;
    for (const double w : weights)
        size += std::abs(w);
    for (Limit* limit : {&fd.central, &fd.below, &fd.above})
        if (!limit->value.empty()) *limit = {{dot(weights, limit->value)}, size * limit->known_to};
    return fd;
}

template <class Load> CModel loaded(const char* law, const std::string& search, const Load& load) {
    costate_load_options options{};
    options.size = sizeof options;
    options.law = law;
    const char* const folder = search.c_str();
    options.search = &folder;
    options.n_search = search.empty() ? 0 : 1;
    costate_model* model = nullptr;
    check(load(options, &model));
    return CModel(model);
}

constexpr int large = 150;  // dofs from which the Jacobian of a step is left out

}  // namespace

CModel load_robot(const std::filesystem::path& file, const char* law, const std::string& search) {
    return loaded(law, search, [&](const costate_load_options& options, costate_model** model) {
        return costate_model_load_with(file.c_str(), &options, model);
    });
}

CModel load_on_ground(const std::filesystem::path& file, const char* law, const std::string& search) {
    CModel alone = load_robot(file, law, search);
    bool falls = false;
    for (int i = 0; i < costate_model_count(alone.get(), COSTATE_WARNING); ++i)
        falls |= alone.name(COSTATE_WARNING, i).find("so they fall") != std::string::npos;
    if (!falls) return alone;
    std::ostringstream scene;
    scene << R"({"steps": 1, "ground": true, "models": [{"name": "robot", "position": [0, 0, 1], "file": )"
          << file.filename() << "}]}";
    const std::string text = scene.str(), beside = file.parent_path() / "scene.json";
    return loaded(law, search, [&](const costate_load_options& options, costate_model** model) {
        return costate_model_parse(text.data(), text.size(), "json", beside.c_str(), &options, model);
    });
}

Falls::Falls(const CModel& model, unsigned long long seed, int per_fall)
    : model_(model),
      bits_(seed),
      per_fall_(per_fall) {
    begin();
}

void Falls::begin() {
    const auto nv = static_cast<size_t>(model_.nv);
    state_ = start_of(model_);
    const Vector turn = random_vector(bits_, nv, 0.3), q = state_.q;
    state_.v = random_vector(bits_, nv, 1);
    check(costate_retract(model_.get(), q.data(), turn.data(), state_.q.data()));
    const Vector shift = random_vector(bits_, state_.act.size(), 0.3);
    for (size_t i = 0; i < shift.size(); ++i)
        state_.act[i] += shift[i];
    taken_ = step_ = since_contact_ = 0;
}

State Falls::next() {
    const int gap = std::max(1, contact_steps / per_fall_);
    while (true) {
        state_.u = random_vector(bits_, state_.u.size(), 1);
        const bool touching = pressing(model_, state_) > 0;
        if (touching) {
            ++since_contact_;
            idle_falls_ = 0;
        }
        const bool chosen = touching ? (since_contact_ - 1) % gap == 0
                                     : idle_falls_ >= idle_falls && step_ % (fall_steps / per_fall_) == 0;
        const State here = state_;
        State after = state_;
        // a step that diverges is looked at, but not taken
        const bool goes_on = step_to(model_, here, after) == COSTATE_OK && largest(after.v) < fast;
        state_ = after;
        ++step_;
        const bool over = !goes_on || taken_ + chosen >= per_fall_ || step_ >= fall_steps;
        if (over && since_contact_ == 0) ++idle_falls_;
        taken_ += chosen;
        if (over) begin();
        if (chosen) {
            touches_ = touching;
            return here;
        }
    }
}

GradientTable check_gradients(CModel& m, int states, unsigned long long seed, double seconds) {
    GradientTable out;
    std::mt19937_64 bits(seed + 1);
    Falls falls(m, seed, 5);
    const std::clock_t begin = std::clock();
    for (; out.states < states; ++out.states) {
        if (static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC > seconds) break;
        const State s = falls.next();
        out.touching += falls.touches();
        const State next = stepped(m, s);
        StepJacobian J;
        if (m.nv < large) J = jacobian(m, s, false);
        Class worst = clean;
        const auto judge_along = [&](const Direction& along, const char*& mode) {
            const Derivative d = derivative(m, s, along, J, bits);
            const Differences fd = differences(m, s, next, along);
            Class all = clean;
            const auto take = [&](const char* name, const Vector& column, const Differences& reference) {
                const Verdict v = judge(column, reference);
                if (v.is == clean) out.worst_clean = std::max(out.worst_clean, v.error);
                if (v.is > all) {
                    all = v.is;
                    mode = name;
                }
                return v.is;
            };
            const bool is_clean = take("forward mode", d.forward, fd) == clean;
            take("reverse mode", {d.reverse}, weighted(d.weights, fd));
            if (!d.jacobian.empty()) take("Jacobian", d.jacobian, fd);
            double size = 1e-6;
            for (size_t i = 0; i < d.forward.size(); ++i)
                size += std::abs(d.weights[i] * d.forward[i]);
            if (is_clean)
                out.modes_apart =
                    std::max(out.modes_apart, std::abs(d.reverse - dot(d.weights, d.forward)) / size);
            return all;
        };
        for (const Direction& along : random_directions(m, bits)) {
            const char* mode = "";
            Class is = judge_along(along, mode);
            // Where several branches meet, a direction crosses some of them one way and some the other, and both
            // one-sided derivatives may be equal and differ from that of one branch. Single entries decide.
            if (is == wrong) {
                is = ties;
                for (const Direction& entry : entries_of(along, bits))
                    if (is != wrong && judge_along(entry, mode) == wrong) is = wrong;
            }
            if (is == wrong)
                out.wrong.push_back(mode + (" by " + along.name) + " in state " + std::to_string(out.states));
            worst = std::max(worst, is);
        }
        ++out.verdicts[worst];
    }
    return out;
}

}  // namespace costate::test
