// Memory for checkpoints as users write it.
#include "adjoint/checkpoints/schedule.hpp"
#include "scenes/memory.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {

TEST_CASE("memory: bytes, with a unit or without") {
    CHECK(parse_memory("auto") == 0);
    CHECK(parse_memory("1") == 1);
    CHECK(parse_memory("5000") == 5000);
    CHECK(parse_memory("3K") == 3072);
    CHECK(parse_memory("64M") == 64 << 20);
    CHECK(parse_memory("2G") == std::int64_t{2} << 30);
    CHECK(parse_memory("1024T") == max_memory);
    for (const char* wrong : {"", "0", "0K", "-1", "+1", "1k", "1MB", "M", "1.5G", " 1", "1 ", "1025T",
                              "99999999999999999999", "Auto"}) {
        CAPTURE(wrong);
        CHECK(!parse_memory(wrong));
    }
}

TEST_CASE("memory: a scene's says how many states are stored") {
    const Scene scene = changed({});
    const std::int64_t each = bytes_per_checkpoint(scene.world);
    CHECK(each == 8 * scene.world.nx());
    CHECK(checkpoint_schedule(scene).stores_every_step());
    CHECK(checkpoint_schedule(changed({{"/memory", "\"auto\""}})).stores_every_step());
    CHECK(checkpoint_schedule(changed({{"/memory", "\"1K\""}})).slots() == 1024 / each);
    CHECK(checkpoint_schedule(changed({{"/memory", std::to_string(7 * each).c_str()}})).slots() == 7);
    CHECK(checkpoint_schedule(changed({{"/memory", "\"1T\""}})).slots() == scene.steps);
}

TEST_CASE("memory: with room on disk a scene's states go to two tiers where that spares evaluations") {
    Scene scene = changed({{"/memory", "\"64K\""}, {"/steps", "100000"}});
    const Schedule in_memory = checkpoint_schedule(scene), tiers = checkpoint_schedule(scene, 1 << 30);
    CHECK(in_memory.disk_slots() == 0);
    CHECK(tiers.disk_slots() > 0);
    CHECK(tiers.forward_evaluations() < in_memory.forward_evaluations());
    CHECK(CheckpointStore::bytes(tiers, scene.world.nx()) <= 64 * 1024);
    CHECK(DiskStore::file_bytes(scene.world.nx(), tiers.disk_slots()) <= 1 << 30);
    CHECK(checkpoint_schedule(scene, 10).disk_slots() == 0);
    scene.memory_bytes = 20 * bytes_per_checkpoint(scene.world);  // not even room for what is written at once
    CHECK(checkpoint_schedule(scene, 1 << 30).disk_slots() == 0);
}

TEST_CASE("memory: what is none is refused") {
    const auto refused = [](const char* value, const char* what, const char* remedy) {
        check_complaint(complaint([&] {
                            changed({{"/memory", value}});
                        }),
                        "test.json#/memory: ", what, remedy);
    };
    refused("\"64Q\"", "is not a memory size", "write \"auto\", a number of bytes, or for example \"64M\"");
    refused("15", "is too small for a state of", "give more");
    refused("\"15\"", "is too small for a state of", "give more");
    CHECK(complaint([] { changed({{"/memory", "0"}}); }).starts_with("test.json#/memory: "));
    CHECK(complaint([] { changed({{"/memory", "1.5"}}); }).starts_with("test.json#/memory: "));
}

}  // namespace costate::test
