// costate watch: serves a local page that shows a simulation or an optimization while it runs.
#include <csignal>
#include <thread>

#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/figures/plot.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "apps/io/terminal.hpp"
#include "apps/viewer/event_server.hpp"
#include "apps/viewer/page.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

constexpr double between_events = 0.1;         // s
constexpr double between_optimizations = 0.5;  // s
constexpr int max_frames_of_best = 400;

// Blocks the signals that stop the program, also in threads started later; wait() receives them.
class HeldSignals {
public:
    HeldSignals() {
        sigemptyset(&held_);
        for (const int s : {SIGINT, SIGTERM, SIGHUP})
            sigaddset(&held_, s);
        pthread_sigmask(SIG_BLOCK, &held_, &before_);
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    // Throws Interrupted if a signal arrives within this time.
    void wait(double seconds) const {
        const auto whole = static_cast<time_t>(seconds);
        const timespec time{whole, static_cast<long>(1e9 * (seconds - static_cast<double>(whole)))};
        if (sigtimedwait(&held_, nullptr, &time) > 0) throw Interrupted();
    }
    [[noreturn]] void wait() const {
        int signal = 0;
        sigwait(&held_, &signal);
        throw Interrupted();
    }

private:
    sigset_t held_, before_;
};

// JSON on one line
std::string text_of(const Report& report) {
    return report.dump(-1, ' ', false, Report::error_handler_t::replace);
}

// Sends the new frames, preceded by the last frame already sent.
void send_frames(EventLog& events, const Scene& scene, FrameSequence& sequence) {
    events.add("frames", encode_frames(scene, {sequence}));
    keep_last_frame(sequence, static_cast<int>(scene.world.model.bodies.size()), scene.world.nu());
}

void watch_simulation(const Scene& scene, double speed, int max_frames, EventLog& events,
                      const HeldSignals& signals) {
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, Schedule::forward_only(scene.steps));
    const Stopwatch watch;
    double next = 0;
    const auto on_frame = [&](FrameSequence& sequence) {
        const double ahead = sequence.times.back() / speed - watch.seconds();
        signals.wait(std::max(0.0, ahead));
        if (watch.seconds() < next || sequence.frames() < 2) return;
        send_frames(events, scene, sequence);
        next = watch.seconds() + between_events;
    };
    FrameSequence rest = frames_of_rollout(scene, rollout, {scene.theta, scene.x0, scene.z0}, "simulation",
                                           {true, false}, max_frames, on_frame);
    send_frames(events, scene, rest);
    const std::string loss = rest.has_loss ? print(", loss %.6g", rest.loss) : "";
    events.replace("status", text_of({{"text", print("%d steps", scene.steps) + loss}, {"done", true}}));
}

// Sends the run before optimization and the best run so far. `rollout` must not be the optimizer's, whose
// states are still needed.
void send_best(EventLog& events, const Scene& scene, Rollout<Simulation>& rollout,
               const FrameSequence& before, const RolloutInputs& best, const OptimizeResult& r) {
    const FrameSequence now =
        frames_of_rollout(scene, rollout, best, "best so far", {true, false}, max_frames_of_best);
    events.replace("runs", encode_frames(scene, {before, now}));
    events.replace("plot", text_of({{"svg", plot_svg(loss_curve("Loss of " + scene.name, r.losses, ""))}}));
}

Variables variables_of(const Scene& s) {
    return {s.world, s.plan, s.parameters, s.initial_state, {s.theta, s.x0, s.z0}};
}

void watch_optimization(const Scene& scene, EventLog& events, const HeldSignals& signals) {
    const RolloutInputs start{scene.theta, scene.x0, scene.z0};
    const Variables variables = variables_of(scene);
    Simulation simulation(scene.world, scene.objective), shown(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, checkpoint_schedule(scene)),
        to_show(shown, scene.plan, Schedule::forward_only(scene.steps));
    const FrameSequence before =
        frames_of_rollout(scene, to_show, start, "start", {true, false}, max_frames_of_best);
    double next = 0, sent = unlimited;
    const auto send_status = [&](const OptimizeResult& r, bool done) {
        const std::string more = done ? ", " + r.stopped : "";
        const std::string text = print("%d iterations, %d losses, %d gradients, loss %.6g", r.iterations,
                                       r.loss_evaluations, r.gradient_evaluations, r.final_loss);
        events.replace("status", text_of({{"text", text + more}, {"done", done}}));
    };
    Pauses pauses;
    pauses.progress = [&](const OptimizeResult& r) {
        signals.wait(0);
        if (r.loss_seconds.back() < next) return;
        send_status(r, false);
        if (r.final_loss != sent) send_best(events, scene, to_show, before, variables.inputs(r.y), r);
        sent = r.final_loss;
        next = r.loss_seconds.back() + between_optimizations;
    };
    const OptimizeResult result = optimize(rollout, variables, scene.constraints, scene.optimize, pauses);
    send_best(events, scene, to_show, before, variables.inputs(result.y), result);
    send_status(result, true);
}

int watch(const Arguments& a) {
    const std::string host = a.text("host").value_or("127.0.0.1");
    const int port = a.integer("port", 8000, 0, 65535), max_frames = a.integer("frames", 10000, 2, 1000000);
    const double speed = a.number("speed").value_or(unlimited);
    if (!(speed > 0)) throw UsageError("--speed takes a number above 0");
    const bool optimization = a.text("optimize").has_value();
    if (optimization && (a.text("speed") || a.text("frames")))
        throw UsageError("--speed and --frames cannot be combined with --optimize: leave them out");
    const Scene scene = a.load();
    if (optimization && variables_of(scene).size() == 0)
        throw UsageError("nothing to optimize: " + scene.file.string() +
                         " has no control, parameter or initial state with \"optimize\"");

    const HeldSignals signals;
    EventLog events;
    const PageServer server(host, port, live_page(scene), events);
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    const std::string url = "http://" + name + ":" + std::to_string(server.port()) + "/";
    if (a.json())
        std::fputs(to_text({{"name", scene.name}, {"url", url}, {"steps", scene.steps}}).c_str(), stdout);
    else
        std::printf("%s at %s; open it in a browser, stop with control-c\n", scene.name.c_str(), url.c_str());
    std::fflush(stdout);
    int code = done;
    try {
        try {
            if (optimization)
                watch_optimization(scene, events, signals);
            else
                watch_simulation(scene, speed, max_frames, events, signals);
        } catch (const DivergenceError& e) {
            events.replace("status", text_of({{"text", e.what()}, {"done", true}}));
            tell(Message::error, e.what());
            code = diverged;
        }
        signals.wait();
    } catch (const Interrupted&) {
    }
    return code;
}

}  // namespace

const Command watch_command{
    "watch",
    "serve a local page that shows a simulation or optimization while it runs",
    "costate watch go1_stand --steps 100000",
    {diverged},
    {{"optimize", nullptr, "run the scene's optimization instead of a simulation"},
     {"port", "N", "port of the page (default 8000; 0: any free port)"},
     {"host", "ADDRESS", "address to listen on (default 127.0.0.1, not reachable from other machines)"},
     {"speed", "X", "upper bound of simulated seconds per second (default: unbounded)"},
     {"frames", "N", "largest number of frames of a simulation (default 10000)"},
     memory_option},
    watch};

}  // namespace costate
