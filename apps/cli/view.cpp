#include <algorithm>

#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "apps/io/terminal.hpp"
#include "apps/viewer/page.hpp"
#include "apps/viewer/screenshot.hpp"
#include "scenes/format/names.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

Overlays overlays_of(const std::string& list) {
    Overlays o{false, false};
    if (list == "none") return o;
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, end - begin);
        if (name == "contacts")
            o.contacts = true;
        else if (name == "gradient")
            o.gradient = true;
        else
            throw UsageError("unknown overlay '" + name + "'" +
                             suggestion(name, {"contacts", "gradient", "none"}));
        begin = end + 1;
    }
    return o;
}

// The file name, with its folder if another file has the same name.
std::string label_of(const std::string& path, const std::vector<std::string>& all) {
    const std::filesystem::path p(path);
    const auto same = [&](const std::string& other) {
        return std::filesystem::path(other).stem() == p.stem();
    };
    return std::count_if(all.begin(), all.end(), same) > 1 ? path : p.stem().string();
}

std::vector<FrameSequence> sequences_of(const Scene& scene, const std::vector<std::string>& runs,
                                        const Overlays& overlays, int max_frames) {
    std::vector<FrameSequence> sequences;
    for (const std::string& run : runs)
        sequences.push_back(frames_of_trajectory(scene, read_trajectory(run, scene), label_of(run, runs),
                                                 overlays, max_frames));
    if (!sequences.empty()) return sequences;
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(
        simulation, scene.plan,
        overlays.gradient ? checkpoint_schedule(scene) : Schedule::forward_only(scene.steps));
    sequences.push_back(frames_of_rollout(scene, rollout, {scene.theta, scene.x0, scene.z0}, "simulation",
                                          overlays, max_frames));
    return sequences;
}

// Says if the moment of an image is not within the runs.
void warn_of_time(const ScreenshotSettings& image, const std::vector<FrameSequence>& sequences) {
    double first = unlimited, last = -unlimited;
    for (const FrameSequence& sequence : sequences) {
        first = std::min(first, sequence.times.front());
        last = std::max(last, sequence.times.back());
    }
    if (!image.time || (*image.time >= first && *image.time <= last)) return;
    const bool late = *image.time > last;
    char line[128];
    std::snprintf(line, sizeof line, "--at %g is %s of the run, %g s; the image shows this moment",
                  *image.time, late ? "after the end" : "before the start", late ? last : first);
    tell(Message::warning, line);
}

int view(const Arguments& a) {
    const std::vector<std::string> runs = a.texts("run");
    const Overlays overlays = overlays_of(a.text("overlays").value_or("contacts,gradient"));
    const int max_frames = a.integer("frames", 10000, 2, 1000000);
    const std::optional<std::string> png = a.text("png");
    const bool sheet = a.text("sheet").has_value();
    if (!png && (a.text("at") || sheet || a.text("size")))
        throw UsageError("--at, --sheet and --size require --png FILE");
    if (a.text("at") && sheet) throw UsageError("--at and --sheet cannot be combined: leave one out");
    if (png) check_extension("png", *png, ".png", "PNG");
    ScreenshotSettings image;
    image.time = a.number("at");
    image.sheet_images = sheet ? a.integer("sheet", 12, 1, 100) : 0;
    if (const auto size = a.text("size")) set_size(*size, image);
    const Scene scene = a.load();
    const std::string out = a.text("out").value_or(png ? "" : scene.file.stem().string() + ".html");
    if (a.text("open") && out.empty()) throw UsageError("--open requires a page: add --out FILE");

    std::vector<FrameSequence> sequences;
    try {
        sequences = sequences_of(scene, runs, overlays, max_frames);
    } catch (const DivergenceError& e) {
        throw DivergenceError(std::string(e.what()) + "; costate view --steps shows the steps before it");
    }
    warn_of_time(image, sequences);
    const std::string page = view_page(scene, sequences);
    OutputFiles files;
    if (!out.empty()) files.write(out, page);
    if (png) files.write(*png, screenshot(page, image));
    files.commit();
    if (a.text("open") && !open_in_browser(out))
        tell(Message::warning, "xdg-open cannot be started: open " + out + " in a browser");

    Report shown = Report::array();
    for (const FrameSequence& sequence : sequences)
        shown.push_back({{"label", sequence.label},
                         {"states", sequence.states},
                         {"frames", sequence.frames()},
                         {"every", sequence.every}});
    const Report report{{"name", scene.name},
                        {"bodies", scene.world.model.bodies.size()},
                        {"runs", shown},
                        {"bytes", page.size()},
                        {"out", out.empty() ? Report() : Report(out)},
                        {"png", png ? Report(*png) : Report()}};
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    for (const FrameSequence& sequence : sequences) {
        std::printf("%s, %s: %d frames", scene.name.c_str(), sequence.label.c_str(), sequence.frames());
        if (sequence.every > 1)
            std::printf(" of %d states, every %dth and the last", sequence.states, sequence.every);
        std::printf("\n");
        for (const std::string& note : sequence.notes)
            std::printf("%s\n", note.c_str());
    }
    if (!out.empty())
        std::printf("%.2f MB in %s; open it in a browser\n", 1e-6 * static_cast<double>(page.size()),
                    out.c_str());
    if (png) std::printf("%d x %d pixels in %s\n", image.width, image.height, png->c_str());
    return done;
}

}  // namespace

const Command view_command{
    "view",
    "write an HTML page that replays a scene or its trajectories",
    "costate view throw --out throw.html",
    {diverged},
    {{"out", "FILE", "name of the page (default: SCENE.html; with --png: no page)", "o"},
     {"open", nullptr, "open the page in the browser that xdg-open chooses"},
     {"run", "FILE",
      "show this trajectory of the scene, in CSV or JSON, instead of simulating; may be given several times"},
     {"overlays", "LIST", "overlays to record: contacts,gradient (default), one of them, or none"},
     {"frames", "N", "largest number of frames of a run (default 10000)"},
     {"png", "FILE", "write an image (needs Chromium)"},
     {"at", "TIME", "time of the image, s (default: the start)"},
     {"sheet", "N", "write an image with N moments of the run"},
     {"size", "WxH", "size of the image in pixels (default 1280x800)"},
     memory_option},
    view};

}  // namespace costate
