#include "apps/viewer/page.hpp"

#include <algorithm>
#include <cmath>

#include "apps/viewer/assets.hpp"
#include "apps/viewer/encoding.hpp"
#include "apps/viewer/scene_json.hpp"

namespace costate {

namespace {

using Json = TableEncoder::Json;

double largest(const std::vector<double>& numbers) {
    double most = 0;
    for (const double x : numbers)
        if (std::isfinite(x)) most = std::max(most, std::abs(x));
    return most;
}

// Quantum of positions: a millionth of the extent of all frames, or more if far positions would not fit.
double position_quantum(const std::vector<FrameSequence>& sequences) {
    double extent = 0, farthest = 0;
    Vec3<double> lower = Vec3<double>::Constant(unlimited), upper = -lower;
    for (const FrameSequence& sequence : sequences)
        for (size_t i = 0; i + 2 < sequence.positions.size(); i += 3) {
            const Eigen::Map<const Vec3<double>> p(sequence.positions.data() + i);
            lower = lower.cwiseMin(p);
            upper = upper.cwiseMax(p);
        }
    if ((upper.array() >= lower.array()).all()) {
        extent = (upper - lower).maxCoeff();
        farthest = std::max(upper.cwiseAbs().maxCoeff(), lower.cwiseAbs().maxCoeff());
    }
    return std::max({std::ldexp(std::max(extent, 1.0), -20), std::ldexp(farthest, -30)});
}

// Decadic logarithms of norms, which may span many decades; -400 for 0, and 400 if not finite.
std::vector<double> decades(const std::vector<double>& norms) {
    std::vector<double> out;
    for (const double x : norms)
        out.push_back(!std::isfinite(x) ? 400 : (x > 0 ? std::max(-400.0, std::log10(x)) : -400));
    return out;
}

Json encode_sequence(const FrameSequence& sequence, double quantum, int bodies, int nu,
                     TableEncoder& encoder) {
    const auto relative = [](const std::vector<double>& numbers, int bits) {
        return std::ldexp(std::max(largest(numbers), 1e-30), -bits);
    };
    Json tables{{"times", encoder.table(sequence.times, 1, relative(sequence.times, 30), Prediction::line)},
                {"positions", encoder.table(sequence.positions, 3 * bodies, quantum, Prediction::line)},
                {"quaternions",
                 encoder.table(sequence.quaternions, 4 * bodies, std::ldexp(1.0, -17), Prediction::line)},
                {"controls",
                 encoder.table(sequence.controls, nu, relative(sequence.controls, 18), Prediction::line)}};
    if (sequence.has_contacts) {
        tables["contacts"] =
            encoder.table({sequence.contacts.begin(), sequence.contacts.end()}, 1, 1, Prediction::last);
        tables["contact_points"] = encoder.groups(sequence.contact_points, 3,
                                                  std::max(quantum, std::ldexp(1.0, -16)), sequence.contacts);
        tables["contact_forces"] = encoder.groups(sequence.contact_forces, 3,
                                                  relative(sequence.contact_forces, 16), sequence.contacts);
    }
    if (sequence.has_gradient) {
        tables["adjoint_norms"] = encoder.table(decades(sequence.adjoint_norms), 2, 1e-3, Prediction::last);
        tables["impulse_gradients"] = encoder.magnitudes(sequence.impulse_gradients, 3 * bodies);
        tables["control_gradients"] = encoder.magnitudes(sequence.control_gradients, nu);
    }
    Json run{{"label", sequence.label},
             {"states", sequence.states},
             {"every", sequence.every},
             {"notes", sequence.notes},
             {"tables", std::move(tables)}};
    if (sequence.has_loss) run["loss"] = sequence.loss;
    return run;
}

// The script precedes the encoded frames, so it can report that they end too early. If the script is missing,
// the text in #viewer stays.
std::string page(const std::string& title, const char* body_class, const std::string& before,
                 const std::string& frames, const std::string& after) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" "
        "href=\"data:,\">\n<title>";
    out += html(title);
    out += "</title>\n<style>\n";
    out += viewer_style();
    out += "</style>\n</head>\n<body class=\"";
    out += body_class;
    out += "\">\n";
    out += before;
    out +=
        "<div id=\"viewer\"><p class=\"message\">Loading. If this text stays, the file is cut off, or the "
        "browser does not run "
        "scripts: write the file again, or open it in another browser.</p></div>\n";
    out += after;
    out += "<script>";
    out += viewer_script();
    out += "</script>\n<script type=\"text/plain\" id=\"frames\">";
    out += frames;
    return out += "</script>\n</body>\n</html>\n";
}

}  // namespace

std::string html(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string encode_frames(const Scene& scene, const std::vector<FrameSequence>& sequences) {
    TableEncoder encoder;
    const Json objects = describe_objects(scene, sequences.front().theta);
    Json runs = Json::array();
    const double quantum = position_quantum(sequences);
    for (const FrameSequence& sequence : sequences) {
        runs.push_back(encode_sequence(sequence, quantum, static_cast<int>(scene.world.model.bodies.size()),
                                       scene.world.nu(), encoder));
        if (Json own = describe_objects(scene, sequence.theta); own != objects)
            runs.back()["objects"] = std::move(own);
    }
    Json header{{"generator", "costate " COSTATE_VERSION_TEXT},
                {"scene", describe_scene(scene)},
                {"objects", objects},
                {"time_step", sequences.front().theta[scene.world.time_step.at(0)]},
                {"runs", std::move(runs)}};
    return encoder.finish(header);
}

std::string view_page(const Scene& scene, const std::vector<FrameSequence>& sequences) {
    return page(scene.name, "whole", "", encode_frames(scene, sequences), "");
}

std::string live_page(const Scene& scene) { return page(scene.name, "whole", "", "live", ""); }

std::string document_page(const std::string& title, const std::string& before, const Scene& scene,
                          const std::vector<FrameSequence>& sequences, const std::string& after) {
    return page(title, "document", before, encode_frames(scene, sequences), after);
}

}  // namespace costate
