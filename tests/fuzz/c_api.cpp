// Targets of the C API: texts in memory, and calls one after the other. A call has arguments of the right sizes, each
// in memory of its own so that the sanitizer sees its end, or is given a null pointer, a freed handle, a wrong index.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>

#include "apps/c_api/costate.h"
#include "scenes/format/json.hpp"
#include "tests/fuzz/targets.hpp"

namespace costate::fuzz {
namespace {

int checked(int status) {
    if (status >= 0) return status;
    const std::string why = costate_last_error();
    expect_one_line(why);
    if (status == COSTATE_INTERNAL || status < COSTATE_INTERRUPTED)
        throw std::logic_error("status " + std::to_string(status) + ": " + why);
    return status;
}

// A shipped scene, or one of the tests, of eight steps.
std::string short_text(const std::string& file) {
    Json json = read_json(file);
    json["steps"] = 8;
    return json.dump();
}

class Calls {
public:
    explicit Calls(const std::string& bytes) : bytes_(bytes) {}
    ~Calls() {
        for (costate_batch* b : batches_)
            costate_batch_free(b);
        for (costate_controller* c : controllers_)
            costate_controller_free(c);
        for (costate_model* m : models_)
            costate_model_free(m);
    }
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    void run() {
        for (int n = 0; at_ < bytes_.size() && n < 60; ++n) {
            memory_.clear();
            call();
        }
    }

private:
    std::uint8_t byte() { return at_ < bytes_.size() ? static_cast<std::uint8_t>(bytes_[at_++]) : 1; }
    bool seldom() { return byte() % 16 == 0; }
    int index() { return byte() % 8 == 0 ? static_cast<int>(byte() * 16843009u) : byte() % 12 - 1; }
    double number() {
        constexpr double odd[] = {0, -0.0, 1e-308, 1e300, -1e300, 1e18, 1e-9, 7, -1, 100, 1e6};
        const int b = byte();
        return b % 16 != 0 ? (b - 128) / 64.0 : odd[static_cast<size_t>(b / 16) % std::size(odd)];
    }
    // (n) numbers of little meaning, in memory that ends with them; seldom null
    double* numbers(std::int64_t n) {
        const int how = byte();
        if (how == 0 || n < 0) return nullptr;
        std::vector<double>& x = memory_.emplace_back(static_cast<size_t>(n), 0.1 * (how % 8));
        if (how % 3 == 0)
            for (size_t i = 0; i < std::min<size_t>(x.size(), 6); ++i)
                x[i] = number();
        if (how == 255 && n > 0) x[x.size() / 2] = NAN;
        x.shrink_to_fit();
        return x.data();
    }
    int* integers(std::int64_t n) {
        double* x = numbers((n + 1) / 2);
        int* out = reinterpret_cast<int*>(x);
        for (std::int64_t i = 0; x != nullptr && i < n; ++i)
            out[i] = byte() % 4;
        return out;
    }
    template <class Handle> Handle* handle(const std::vector<Handle*>& all) {
        const int b = byte();
        if (b == 0) return nullptr;
        if (b == 1) return reinterpret_cast<Handle*>(std::uintptr_t{0xdeadbeef});
        return all.empty() ? nullptr : all[static_cast<size_t>(b) % all.size()];  // some of them freed
    }
    int count(const costate_model* m, int kind) { return std::max(0, costate_model_count(m, kind)); }

    struct Sizes {
        int nq, nv, nu, nx, ndx, ny, np, nb, steps, n;
    };
    Sizes sizes(const costate_model* m) {
        Sizes s{costate_model_nq(m),
                costate_model_nv(m),
                costate_model_nu(m),
                costate_model_nx(m),
                0,
                costate_model_ny(m),
                costate_model_nparam(m),
                count(m, COSTATE_BODY),
                0,
                0};
        if (s.nq < 0) return {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};  // no model
        s.ndx = s.nx - s.nq + s.nv;
        s.steps = std::max(0, costate_scene_steps(m));
        s.n = std::max(0, costate_scene_variables(m, nullptr, nullptr, nullptr));
        return s;
    }

    void call() {
        switch (byte() % 12) {
            case 0: return make();
            case 1: return free_one();
            case 2: return ask_names();
            case 3: return ask_dynamics();
            case 4: return step();
            case 5: return step_state();
            case 6: return observe();
            case 7: return make_batch();
            case 8: return use_batch();
            case 9: return run_batch();
            case 10: return use_scene();
            default: return control();
        }
    }

    void make() {
        static const std::vector<std::string> texts{
            short_text(std::string(SHIPPED_SCENES) + "/throw.json"),
            short_text(std::string(SHIPPED_SCENES) + "/box_slide.json"),
            short_text(std::string(SHIPPED_SCENES) + "/cartpole_swingup.json"),
            short_text(std::string(TEST_SCENES) + "/sensors_scene.json"),
            short_text(std::string(TEST_SCENES) + "/settings_scene.json"),
            "<robot name='r'><link name='l'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "
            "ixy='0' ixz='0' "
            "iyz='0'/></inertial></link></robot>",
            "{}",
            ""};
        const std::string& text = texts[byte() % texts.size()];
        const int how = byte();
        const char* formats[] = {nullptr, nullptr, "json", "urdf", "mjcf", "sdf", "nothing"};
        costate_load_options options{sizeof options, nullptr, nullptr, 0,      how & 1,
                                     how >> 1 & 1,   index(), nullptr, how % 3};
        if (how % 5 == 0) options.base = how % 2 == 0 ? "fixed" : "flying";
        if (how % 7 == 0) options.law = how % 2 == 0 ? "mujoco" : "";
        if (how % 11 == 0) options.size = static_cast<size_t>(how) % sizeof options;
        const std::string name = std::string(SHIPPED_SCENES) + "/text.json";
        costate_model* model = nullptr;
        checked(costate_model_parse(seldom() ? nullptr : text.c_str(), text.size(), formats[how % 7],
                                    name.c_str(), how % 3 == 0 ? &options : nullptr,
                                    seldom() ? nullptr : &model));
        if (model == nullptr && seldom()) {
            static const std::string file = std::string(SHIPPED_SCENES) + "/pendulum_1.json";
            const char* path = seldom() ? nullptr : seldom() ? "no_such_scene" : file.c_str();
            checked(how % 2 == 0 ? costate_model_load(path, &model)
                                 : costate_model_load_with(path, seldom() ? nullptr : &options, &model));
        }
        if (model != nullptr) models_.push_back(model);
        costate_model* copy = nullptr;
        if (seldom()) checked(costate_model_copy(handle(models_), seldom() ? nullptr : &copy));
        if (copy != nullptr) models_.push_back(copy);
    }

    void free_one() {
        switch (byte() % 3) {
            case 0: checked(costate_model_free(handle(models_))); break;
            case 1: checked(costate_batch_free(handle(batches_))); break;
            default: checked(costate_controller_free(handle(controllers_)));
        }
    }

    void ask_names() {
        const costate_model* m = handle(models_);
        const int kind = byte() % 11 - 1, i = index();
        checked(costate_model_count(m, kind));
        std::vector<char> buffer(byte() % 40);
        checked(costate_model_name(m, kind, i, buffer.empty() ? nullptr : buffer.data(), buffer.size()));
        checked(costate_model_joint(m, i, integers(4)));
        checked(
            costate_model_sensor(m, i, integers(2), buffer.empty() ? nullptr : buffer.data(), buffer.size()));
        const Sizes s = sizes(m);
        checked(costate_model_parent(m, kind, i, integers(1)));
        checked(costate_model_limits(m, kind, i, numbers(kind == COSTATE_ACTUATOR ? 4 : 2)));
        checked(costate_model_keyframe(m, i, numbers(s.nq), numbers(s.nv), numbers(s.nu)));
        checked(costate_model_time_step(m, numbers(1)));
        expect_one_line(costate_status_name(i));
        const int n = seldom() ? s.np + 1 : s.np;
        checked(costate_model_get_parameters(m, numbers(n), static_cast<size_t>(n)));
        double* theta = numbers(n);
        if (theta != nullptr) costate_model_get_parameters(m, theta, static_cast<size_t>(s.np));
        if (theta != nullptr && s.np > 0) theta[byte() % s.np] = number();
        checked(costate_model_set_parameters(handle(models_), theta, static_cast<size_t>(n)));
        checked(costate_version(index()));
    }

    void ask_dynamics() {
        const costate_model* m = handle(models_);
        const Sizes s = sizes(m);
        double *q = numbers(s.nq), *v = numbers(s.nv);
        if (seldom()) checked(costate_model_initial_state(m, q, v));
        checked(costate_retract(m, q, v, numbers(s.nq)));
        checked(costate_difference(m, q, numbers(s.nq), numbers(s.nv)));
        checked(costate_gradient_to_tangent(m, q, numbers(s.nq), numbers(s.nv)));
        checked(costate_gradient_to_ambient(m, q, v, numbers(s.nq)));
        checked(costate_body_pose(m, q, index(), numbers(3), numbers(4)));
        checked(costate_forward_dynamics(m, q, v, numbers(s.nv), numbers(s.nv)));
        checked(costate_inverse_dynamics(m, q, v, numbers(s.nv), numbers(s.nv)));
        const std::int64_t square = std::int64_t{s.nv} * s.nv;
        checked(costate_mass_matrix(m, q, numbers(square)));
        checked(costate_forward_dynamics_derivatives(m, q, v, numbers(s.nv), numbers(square), numbers(square),
                                                     numbers(square)));
    }

    void step() {
        const costate_model* m = handle(models_);
        const Sizes s = sizes(m);
        double *q = numbers(s.nq), *v = numbers(s.nv), *u = numbers(s.nu);
        if (q != nullptr && v != nullptr && byte() % 2 == 0) checked(costate_model_initial_state(m, q, v));
        checked(costate_step(m, q, v, u, numbers(s.nq), numbers(s.nv)));
        checked(costate_step_vjp(m, q, v, u, numbers(s.nv), numbers(s.nv), numbers(s.nv), numbers(s.nv),
                                 numbers(s.nu), numbers(s.np)));
        checked(costate_step_jvp(m, q, v, u, numbers(s.nv), numbers(s.nv), numbers(s.nu), numbers(s.np),
                                 numbers(s.nv), numbers(s.nv)));
        const std::int64_t rows = 2 * s.nv;
        checked(costate_step_jacobian(m, q, v, u, numbers(rows * rows), numbers(rows * s.nu),
                                      numbers(rows * s.np)));
        const int capacity = byte() % 4;
        std::vector<costate_contact> contacts(static_cast<size_t>(capacity));
        checked(costate_contacts(m, q, v, u, seldom() ? nullptr : contacts.data(), contacts.size()));
    }

    void step_state() {
        const costate_model* m = handle(models_);
        const Sizes s = sizes(m);
        double *x = numbers(s.nx), *u = numbers(s.nu);
        checked(costate_state_step(m, x, u, numbers(s.nx)));
        checked(
            costate_state_step_vjp(m, x, u, numbers(s.ndx), numbers(s.ndx), numbers(s.nu), numbers(s.np)));
        checked(
            costate_state_step_jvp(m, x, u, numbers(s.ndx), numbers(s.nu), numbers(s.np), numbers(s.ndx)));
        const std::int64_t rows = s.ndx;
        checked(costate_state_step_jacobian(m, x, u, numbers(rows * rows), numbers(rows * s.nu),
                                            numbers(rows * s.np)));
        checked(costate_state_residual(m, x, u, numbers(1)));
    }

    void observe() {
        const costate_model* m = handle(models_);
        const Sizes s = sizes(m);
        double *x = numbers(s.nx), *u = numbers(s.nu), *w = numbers(6 * s.nb);
        const std::int64_t rows = s.ny;
        checked(costate_observe(m, x, u, w, numbers(s.nx), numbers(s.ny)));
        checked(costate_observe_vjp(m, x, u, w, numbers(s.ndx), numbers(s.ny), numbers(s.ndx), numbers(s.nu),
                                    numbers(6 * s.nb), numbers(s.np)));
        checked(costate_observe_jvp(m, x, u, w, numbers(s.ndx), numbers(s.nu), numbers(6 * s.nb),
                                    numbers(s.np), numbers(s.ndx), numbers(s.ny)));
        checked(costate_observe_jacobian(m, x, u, numbers(rows * s.ndx), numbers(rows * s.nu),
                                         numbers(rows * s.np)));
    }

    struct Batch {
        Sizes s;
        int n_env;
        bool own;
    };

    void make_batch() {
        const costate_model* m = handle(models_);
        costate_batch_options o{byte() % 5, byte() % 3, byte() % 3, byte() % 2, byte() % 2, 0};
        if (seldom()) o.n_env = index();
        if (seldom()) o.n_threads = byte() - 128;
        if (seldom()) o.substeps = -1;
        if (seldom()) o.checkpoint_bytes = std::size_t{1} << byte() % 64;
        if (o.n_env > 5) o.n_env = 1000000007;  // refused, or too much memory: known before it is taken
        size_t bytes = 0;
        checked(costate_batch_bytes(m, &o, seldom() ? nullptr : &bytes));
        if (bytes > size_t{1} << 26) return;
        costate_batch* batch = nullptr;
        checked(costate_batch_create(m, seldom() ? nullptr : &o, seldom() ? nullptr : &batch));
        if (batch == nullptr) return;
        batches_.push_back(batch);
        batch_sizes_.push_back({sizes(m), o.n_env, o.own_parameters == 1});
    }

    // A batch and its sizes; those of nothing for what is no batch.
    std::pair<costate_batch*, Batch> batch() {
        costate_batch* b = handle(batches_);
        for (size_t i = 0; i < batches_.size(); ++i)
            if (batches_[i] == b) return {b, batch_sizes_[i]};
        return {b, {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, false}};
    }
    size_t theta_size(const Batch& b) {
        const auto n = static_cast<size_t>(b.s.np);
        return byte() % 4 == 0 ? n * static_cast<size_t>(b.n_env) : seldom() ? n + 1 : n;
    }

    // Callbacks that end a call at once, or never.
    void set_callbacks(costate_batch* b) {
        const costate_interrupt interrupt{[](void* end) { return end == nullptr ? 0 : 1; },
                                          seldom() ? this : nullptr};
        const costate_progress progress{[](void* end, std::uint64_t done, std::uint64_t total) {
                                            if (done > total)
                                                throw std::logic_error("more is done than there is");
                                            return end == nullptr ? 0 : 1;
                                        },
                                        seldom() ? this : nullptr};
        checked(costate_batch_set_interrupt(b, byte() % 2 == 0 ? nullptr : &interrupt));
        checked(costate_batch_set_progress(b, byte() % 2 == 0 ? nullptr : &progress));
    }

    void use_batch() {
        const auto [b, of] = batch();
        const Sizes& s = of.s;
        const std::int64_t n = of.n_env;
        if (byte() % 4 == 0) set_callbacks(b);
        if (byte() % 4 == 0) {
            const size_t size = theta_size(of);
            checked(costate_batch_set_parameters(b, numbers(static_cast<std::int64_t>(size)), size));
        }
        if (byte() % 3 == 0) {
            const auto k = static_cast<size_t>(byte() % 6);
            std::vector<std::uint64_t> seeds(k, 3);
            const std::int64_t x_size = byte() % 2 == 0 ? s.nx : s.nx * static_cast<std::int64_t>(k);
            checked(costate_batch_reset(
                b, integers(static_cast<std::int64_t>(k)), k, seldom() ? "home" : nullptr, numbers(x_size),
                static_cast<size_t>(x_size), numbers(s.ndx), seldom() ? nullptr : seeds.data()));
        }
        checked(costate_batch_state(b, numbers(n * s.nx), integers(n)));
        checked(costate_batch_step(b, numbers(n * s.nx), numbers(n * s.nu), numbers(n * s.nx), integers(n)));
        checked(costate_batch_residuals(b, numbers(n), integers(n)));
        const std::vector<unsigned char> which(static_cast<size_t>(n), byte() % 2);
        const unsigned char* chosen = seldom() ? nullptr : which.data();
        checked(costate_batch_jacobian(b, numbers(n * s.nx), numbers(n * s.nu), chosen,
                                       numbers(n * s.ndx * s.ndx), numbers(n * s.ndx * s.nu),
                                       numbers(n * s.ndx * s.np), integers(n)));
        const auto mask = [&](int width) {
            return std::vector<unsigned char>(static_cast<size_t>(width), byte() % 2);
        };
        const std::vector<unsigned char> by_x = mask(s.ndx), by_u = mask(s.nu), by_theta = mask(s.np);
        const costate_columns columns{seldom() ? byte() % sizeof columns : sizeof columns,
                                      seldom() ? nullptr : by_x.data(), by_u.data(), by_theta.data()};
        checked(costate_batch_jacobian_with(
            b, numbers(n * s.nx), numbers(n * s.nu), chosen, seldom() ? nullptr : &columns,
            numbers(n * s.ndx * s.ndx), numbers(n * s.ndx * s.nu), numbers(n * s.ndx * s.np), integers(n)));
        const auto capacity = byte() % 4;
        std::vector<costate_contact> contacts(static_cast<size_t>(n * capacity));
        checked(costate_batch_contacts(b, numbers(n * s.nx), numbers(n * s.nu),
                                       seldom() ? nullptr : contacts.data(), numbers(3 * n * capacity),
                                       static_cast<size_t>(capacity), integers(n)));
        checked(costate_batch_sensors(b, numbers(n * s.nx), numbers(n * s.nu), numbers(6 * n * s.nb),
                                      numbers(n * s.ny), integers(n)));
        const size_t size = theta_size(of);
        const int x_bar = std::max(s.nx, s.ndx);
        checked(costate_batch_sensors_vjp(b, numbers(n * s.nx), numbers(n * s.nu), numbers(6 * n * s.nb),
                                          numbers(n * s.ny), numbers(n * x_bar), numbers(n * s.nu),
                                          numbers(6 * n * s.nb), numbers(static_cast<std::int64_t>(size)),
                                          size));
        checked(costate_batch_sensors_jacobian(b, numbers(n * s.nx), numbers(n * s.nu), chosen,
                                               numbers(n * s.ny * s.ndx), numbers(n * s.ny * s.nu),
                                               numbers(n * s.ny * s.np), integers(n)));
        const auto frames = static_cast<size_t>(byte() % 4);
        const auto each = static_cast<std::int64_t>(frames) * n;
        const int* which_frames = integers(static_cast<std::int64_t>(frames));
        checked(costate_batch_poses(b, numbers(n * s.nx), which_frames, frames, numbers(7 * each),
                                    numbers(6 * each)));
        checked(costate_batch_poses_vjp(b, numbers(n * s.nx), which_frames, frames, numbers(7 * each),
                                        numbers(6 * each), numbers(n * x_bar),
                                        numbers(static_cast<std::int64_t>(size)), size));
    }

    void run_batch() {
        const auto [b, of] = batch();
        const Sizes& s = of.s;
        const int steps = seldom() ? -1 : byte() % 4;
        const std::int64_t n = of.n_env, all = std::max(0, steps) * n;
        const int x_bar = std::max(s.nx, s.ndx);
        double *x = numbers(n * s.nx), *u = numbers(all * s.nu);
        checked(costate_batch_rollout(b, steps, x, u, numbers(all * s.nx), integers(n)));
        const size_t size = theta_size(of);
        double* theta_bar = numbers(static_cast<std::int64_t>(size));
        checked(costate_batch_backward(b, steps, numbers(all * s.nx), u, integers(n), numbers(all * x_bar),
                                       numbers(n * x_bar), numbers(all * s.nu), theta_bar, size));
        costate_run run{};
        run.size = seldom() ? byte() % sizeof run : sizeof run;
        run.n_steps = steps;
        run.x = x;
        run.u = u;
        run.wrenches = numbers(6 * all * s.nb);
        run.states = numbers(all * s.nx);
        run.y = numbers(all * s.ny);
        run.completed = integers(n);
        checked(costate_batch_run(b, seldom() ? nullptr : &run));
        costate_run_gradient gradient{};
        gradient.size = seldom() ? byte() % sizeof gradient : sizeof gradient;
        gradient.max_bytes = byte() % 2 == 0 ? 0 : std::size_t{1} << byte() % 30;
        gradient.states_bar = numbers(all * x_bar);
        gradient.y_bar = numbers(all * s.ny);
        if (byte() % 4 == 0)
            gradient.seed = [](void* interrupted, int, const double*, const double*, double*, double*) {
                return interrupted == nullptr ? 0 : 1;
            };
        if (seldom()) gradient.data = this;
        gradient.x_bar = numbers(n * x_bar);
        gradient.u_bar = numbers(all * s.nu);
        gradient.wrenches_bar = numbers(6 * all * s.nb);
        gradient.theta_bar = theta_bar;
        gradient.theta_size = size;
        checked(costate_batch_run_vjp(b, &run, &gradient));
        checked(costate_batch_jvp(b, &run, numbers(n * s.ndx), numbers(all * s.nu), numbers(s.np),
                                  numbers(all * s.ndx), numbers(all * s.ny)));
        checked(costate_batch_hvp(b, &run, numbers(n * s.ndx), numbers(all * s.nu), numbers(s.np),
                                  numbers(all * s.ndx), numbers(all * s.ndx), numbers(n * s.ndx),
                                  numbers(all * s.nu), theta_bar, size));
    }

    // With a cost of the caller: half the square of the first control.
    void evaluate(const costate_model* m, const Sizes& s, const double* y, const costate_interrupt* asked) {
        const costate_cost cost{[](void* end, const double*, const double* controls, double* value, double*,
                                   double* controls_bar) {
                                    *value = 0.5 * controls[0] * controls[0];
                                    if (controls_bar != nullptr) controls_bar[0] += controls[0];
                                    return end == nullptr ? 0 : 1;
                                },
                                seldom() ? this : nullptr};
        const costate_cost* added = byte() % 2 == 0 || s.nu == 0 || s.steps == 0 ? nullptr : &cost;
        checked(costate_scene_gradient_with(m, added, y, numbers(1), numbers(s.n), asked));
        const costate_progress progress{[](void* end, std::uint64_t done, std::uint64_t total) {
                                            if (done > total)
                                                throw std::logic_error("more is done than there is");
                                            return end == nullptr ? 0 : 1;
                                        },
                                        seldom() ? this : nullptr};
        const std::int64_t states = s.steps + 1;
        const costate_scene_run run{seldom() ? byte() % sizeof run : sizeof run,
                                    y,
                                    numbers(1),
                                    numbers(s.n),
                                    numbers(states * s.nx),
                                    numbers(std::int64_t{s.steps} * s.nu),
                                    added,
                                    asked,
                                    byte() % 2 == 0 ? nullptr : &progress};
        checked(costate_scene_evaluate(m, seldom() ? nullptr : &run));
    }

    void use_scene() {
        const costate_model* m = handle(models_);
        const Sizes s = sizes(m);
        double *y = numbers(s.n), *V_xx = nullptr;
        const std::int64_t states = s.steps + 1;
        const costate_interrupt interrupt{[](void* end) { return end == nullptr ? 0 : 1; },
                                          seldom() ? this : nullptr};
        const costate_interrupt* asked = seldom() ? nullptr : &interrupt;
        if (byte() % 2 == 0) checked(costate_scene_variables(m, y, numbers(s.n), numbers(s.n)));
        checked(costate_scene_gradient(m, y, numbers(1), numbers(s.n), asked));
        checked(costate_scene_rollout(m, y, numbers(states * s.nx), numbers(s.steps * s.nu), asked));
        evaluate(m, s, y, asked);
        const char* methods[] = {nullptr,
                                 "lbfgs",
                                 "adam",
                                 "momentum",
                                 "gauss_newton",
                                 "ilqr",
                                 "multiple_shooting",
                                 "receding_horizon",
                                 "cmaes",
                                 "magic"};
        const size_t losses = byte() % 4;
        costate_optimize_options o{seldom() ? byte() % sizeof o : sizeof o,
                                   methods[byte() % std::size(methods)],
                                   byte() % 3,
                                   0,
                                   0,
                                   numbers(static_cast<std::int64_t>(losses)),
                                   losses,
                                   asked,
                                   nullptr,
                                   nullptr,
                                   seldom() ? byte() % 4 : 0,
                                   byte() % 3,
                                   byte(),
                                   seldom() ? number() : 0,
                                   nullptr};
        if (o.losses == nullptr) o.n_losses = seldom() ? 3 : 0;
        if (seldom()) o.iterations = -1;
        if (seldom()) o.learning_rate = number();
        if (o.iterations == 0) o.iterations = 1;  // 0 or none given: those of the file, many
        costate_optimize_result result;
        const costate_optimize_options* options = seldom() ? nullptr : &o;
        const bool bounded = options != nullptr && o.size > offsetof(costate_optimize_options, learning_rate);
        checked(costate_scene_optimize(m, options, bounded ? y : nullptr, &result));
        V_xx = numbers(states * s.ndx * s.ndx);
        checked(costate_scene_feedback(m, y, numbers(std::int64_t{s.steps} * s.nu * s.ndx),
                                       numbers(states * s.ndx), V_xx));
    }

    void control() {
        const costate_model* m = handle(models_);
        const int horizon = seldom() ? index() : 1 + byte() % 6;
        if (horizon < 100 && horizon != 0) {
            costate_controller* made = nullptr;
            if (checked(costate_controller_create(m, horizon, seldom() ? nullptr : &made)) > 0 &&
                made != nullptr) {
                controllers_.push_back(made);
                controller_sizes_.push_back({sizes(m), horizon, false});
            }
        }
        costate_controller* c = handle(controllers_);
        Batch of{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, false};
        for (size_t i = 0; i < controllers_.size(); ++i)
            if (controllers_[i] == c) of = controller_sizes_[i];
        const Sizes& s = of.s;
        costate_plan plan{};
        plan.size = seldom() ? byte() % sizeof plan : sizeof plan;
        plan.iterations = seldom() ? -1 : byte() % 3;
        plan.seconds = seldom() ? number() : 0;
        plan.states = numbers((of.n_env + 1) * s.nx);
        plan.controls = numbers(of.n_env * s.nu);
        plan.gains = numbers(std::int64_t{of.n_env} * s.nu * s.ndx);
        double* x = numbers(s.nx);
        checked(costate_controller_plan(c, number(), x, seldom() ? nullptr : &plan));
        checked(costate_controller_control(c, number(), x, numbers(s.nu)));
    }

    const std::string& bytes_;
    size_t at_ = 0;
    std::deque<std::vector<double>> memory_;
    std::vector<costate_model*> models_;
    std::vector<costate_batch*> batches_;
    std::vector<costate_controller*> controllers_;
    std::vector<Batch> batch_sizes_, controller_sizes_;  // n_env of a controller is its horizon
};

}  // namespace

void parse_model(const std::string& text) {
    const std::string name = (folder() / "text").string();
    costate_model* m = nullptr;
    if (checked(costate_model_parse(text.data(), text.size(), nullptr, name.c_str(), nullptr, &m)) < 0)
        return;
    const int nq = costate_model_nq(m), nv = costate_model_nv(m), nu = costate_model_nu(m);
    for (int kind = COSTATE_BODY; kind <= COSTATE_SENSOR; ++kind) {
        char name_of[16];
        for (int i = 0, n = checked(costate_model_count(m, kind)); i < n && i < 50; ++i)
            checked(costate_model_name(m, kind, i, name_of, sizeof name_of));
    }
    if (nv <= 60) {
        std::vector<double> q(static_cast<size_t>(nq)), v(static_cast<size_t>(nv)),
            u(static_cast<size_t>(nu)), q_next(q), v_next(v);
        checked(costate_model_initial_state(m, q.data(), v.data()));
        checked(costate_step(m, q.data(), v.data(), u.data(), q_next.data(), v_next.data()));
        checked(costate_step_vjp(m, q.data(), v.data(), u.data(), v.data(), v.data(), nullptr, v_next.data(),
                                 nullptr, nullptr));
    }
    checked(costate_model_free(m));
}

void call_c_api(const std::string& calls) { Calls(calls).run(); }

}  // namespace costate::fuzz
