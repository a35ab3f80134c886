// States and gradients of scenes, bit for bit: a change of the code without an intended change of results
// must not change these fingerprints in tests/adjoint/fingerprints/table.json. After an intended change,
// replace the lines of the table by the lines that this test prints.
#include <doctest/doctest.h>

#include <bit>
#include <cinttypes>
#include <cstdio>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

// FNV-1a over the bits of numbers; the two zeros differ.
class Fingerprint {
public:
    void add(const double* x, Eigen::Index n) {
        for (Eigen::Index i = 0; i < n; ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(x[i]);
            for (int byte = 0; byte < 8; ++byte)
                hash_ = (hash_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
        }
    }
    void add(const VecX<double>& x) { add(x.data(), x.size()); }
    std::string text() const {
        char digits[17];
        std::snprintf(digits, sizeof digits, "%016" PRIx64, hash_);
        return digits;
    }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// An entry of the table: a shipped scene or a file beside the table, with a merge patch (RFC 7386) of its
// JSON.
Scene scene_of_entry(const Json& entry, const std::filesystem::path& folder) {
    const std::string name = entry["scene"];
    const std::filesystem::path file = name.ends_with(".json") ? folder / name : find_scene(name);
    Json json = read_json(file);
    json.merge_patch(entry["patch"]);
    return scene_from_json(json, file, entry["steps"].get<int>());
}

}  // namespace

TEST_CASE(
    "states and gradients of scenes with every solver and setting are what they were, to the last bit") {
    const std::filesystem::path folder = "tests/adjoint/fingerprints";
    const Json table = read_json(folder / "table.json");
    CHECK(table.size() >= 12);
    for (const Json& entry : table) {
        CAPTURE(entry["name"].get<std::string>());
        const Scene scene = scene_of_entry(entry, folder);
        Simulation simulation(scene.world, scene.objective);
        Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);

        Fingerprint states, gradients;
        rollout.forward(scene.theta, scene.x0, scene.z0,
                        [&](int, const double* x, const double*) { states.add(x, scene.world.nx()); });
        REQUIRE(!rollout.divergence());
        Gradient g;
        rollout.backward(scene.theta, scene.z0, g);
        gradients.add(g.controls);
        gradients.add(g.initial_state);
        gradients.add(g.parameters);
        CHECK(g.parameters.norm() > 0);

        const std::string is =
            "\"states\": \"" + states.text() + "\", \"gradients\": \"" + gradients.text() + "\"";
        const bool same = entry["states"] == states.text() && entry["gradients"] == gradients.text();
        CHECK_MESSAGE(same, is);
    }
}
