// Targets of the files that the program writes for itself: saved runs, checkpoints on disk, shards.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "adjoint/batch/ranks.hpp"
#include "adjoint/checkpoints/saved_run.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/gradient_report.hpp"
#include "apps/io/shard_file.hpp"
#include "tests/fuzz/targets.hpp"

namespace fs = std::filesystem;

namespace costate::fuzz {
namespace {

// Reads the input of a target; zeros after its end.
class Reader {
public:
    explicit Reader(const std::string& bytes) : bytes_(bytes) {}
    bool at_end() const { return at_ >= bytes_.size(); }
    std::uint8_t byte() { return at_end() ? 0 : static_cast<std::uint8_t>(bytes_[at_++]); }
    std::uint32_t number() { return byte() | std::uint32_t{byte()} << 8 | std::uint32_t{byte()} << 16; }

private:
    const std::string& bytes_;
    size_t at_ = 0;
};

// Bytes of a file as the input wants them to be changed: single bytes, words of extreme numbers, or the length.
void change(std::vector<char>& bytes, Reader& in) {
    constexpr std::int64_t extremes[] = {0,
                                         1,
                                         -1,
                                         2,
                                         7,
                                         64,
                                         255,
                                         65536,
                                         1LL << 20,
                                         1LL << 30,
                                         1LL << 31,
                                         1LL << 32,
                                         1LL << 61,
                                         1LL << 62,
                                         (1LL << 62) + 1,
                                         0x7fffffffffffffff,
                                         -(1LL << 62),
                                         0x7ff0000000000000,
                                         0x7ff8000000000000,
                                         0x3ff0000000000000};
    while (!in.at_end() && !bytes.empty()) {
        const int what = in.byte();
        const size_t at = in.number() % bytes.size();
        const std::uint8_t value = in.byte();
        const std::int64_t extreme = extremes[value % std::size(extremes)];
        if (what % 8 < 3)
            bytes[at] = static_cast<char>(value);
        else if (what % 8 < 5)
            std::memcpy(bytes.data() + at, &extreme, std::min<size_t>(8, bytes.size() - at));
        else if (what % 8 == 5)
            std::memcpy(bytes.data() + at, &extreme, std::min<size_t>(4, bytes.size() - at));
        else if (what % 8 == 6)
            bytes.resize(at);
        else
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), value, 'x');
    }
}

// Runs what reads the bytes, and may refuse them in one line.
template <class Read> void may_refuse_bytes(const Read& read) {
    try {
        read();
    } catch (const std::logic_error&) {
        throw;
    } catch (const std::runtime_error& e) {
        expect_one_line(e.what());
    }
}

const Scene& short_throw() {
    static const Scene scene = load_scene((fs::path(SHIPPED_SCENES) / "throw.json").string(), 12);
    return scene;
}

// All actions that are left name steps and slots that exist, and they end.
void follow(Schedule schedule) {
    for (int n = 0; !schedule.done(); ++n) {
        const Action a = schedule.next();
        const int slots = a.tier == Tier::memory ? schedule.slots() : schedule.disk_slots();
        const bool moves = a.kind == Action::Kind::store || a.kind == Action::Kind::restore;
        if (a.step < 0 || a.step > schedule.steps() || a.to > schedule.steps() ||
            (moves && (a.slot < 0 || a.slot >= slots)) || n > 10000)
            throw std::logic_error("a saved schedule leads to step " + std::to_string(a.step) + ", slot " +
                                   std::to_string(a.slot) + ", action " + std::to_string(n));
    }
}

}  // namespace

void resume_gradient(const std::string& changes) {
    const Scene& s = short_throw();
    Reader in(changes);
    const int kind = in.byte() % 4, stop = in.byte() % (2 * s.steps), directed = in.byte() % 2;
    const Schedule schedule = kind == 0   ? Schedule::every_step(s.steps)
                              : kind == 1 ? Schedule::every_kth(s.steps, 3)
                              : kind == 2 ? Schedule::binomial(s.steps, 3)
                                          : Schedule::two_tiers(s.steps, 4, 2);
    DiskSettings disk;
    if (kind == 3) disk.file = folder() / "run.checkpoints";
    std::vector<char> saved;
    {
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, schedule, disk);
        int visits = 0;
        const auto save = [&](int, const double*, const double*) {
            if (visits++ == stop) saved = bytes_of(rollout);
        };
        rollout.forward(s.theta, s.x0, s.z0, save);
        Gradient g;
        rollout.backward(s.theta, s.z0, g, save);
    }
    if (directed == 1) {  // most bytes are states; of those before them, more are wrong
        Schedule positions = schedule;
        std::vector<char> begin(saved.begin(),
                                saved.begin() + static_cast<std::ptrdiff_t>(
                                                    std::min(saved.size(), bytes_of(positions).size() + 64)));
        const size_t before = begin.size();
        change(begin, in);
        begin.insert(begin.end(), saved.begin() + static_cast<std::ptrdiff_t>(before), saved.end());
        saved = begin;
    } else {
        change(saved, in);
    }
    may_refuse_bytes([&] {
        save_run(folder() / "run", 7, saved);
        disk.resume = true;
        Simulation simulation(s.world, s.objective);
        Rollout<Simulation> rollout(simulation, s.plan, schedule, disk);
        const std::vector<char> run = load_run(folder() / "run", 7);
        ArchiveReader reader(run);
        rollout.transfer(reader);
        follow(rollout.schedule());
    });
}

void resume_optimization(const std::string& changes) {
    const Scene& s = short_throw();
    Reader in(changes);
    OptimizeSettings settings = s.optimize;
    settings.method = static_cast<Method>(in.byte() % 5);  // those that want no per-step controls
    settings.iterations = 3;
    const int stop = in.byte() % 3;
    const Variables variables(s.world, s.plan, s.parameters, s.initial_state, {s.theta, s.x0, s.z0});
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    std::vector<char> saved;
    int saves = 0;
    Pauses pauses;
    pauses.save = [&](const std::function<std::vector<char>()>& bytes, bool) {
        if (saves++ <= stop) saved = bytes();
    };
    optimize(rollout, variables, settings, pauses);
    change(saved, in);
    pauses.save = {};
    pauses.resume = saved;
    if (!saved.empty()) may_refuse_bytes([&] { optimize(rollout, variables, settings, pauses); });
}

void reread_checkpoints(const std::string& changes) {
    constexpr int nx = 5, states = 4000;  // several chunks
    Reader in(changes);
    DiskSettings settings;
    settings.file = folder() / "states";
    settings.compressed = in.byte() % 2 == 1;
    const bool of_file = in.byte() % 2 == 1;
    std::vector<double> x(nx);
    const auto fill = [&](int slot) {
        for (int i = 0; i < nx; ++i)
            x[static_cast<size_t>(i)] = slot + 0.1 * i;
    };
    std::vector<char> saved;
    {
        DiskStore store(settings, nx, states);
        for (int slot = 0; slot < states; ++slot) {
            fill(slot);
            store.write(slot, x.data());
        }
        saved = bytes_of(store);
    }
    if (of_file) {
        std::ifstream file(settings.file, std::ios::binary);
        std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        change(bytes, in);
        std::ofstream(settings.file, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    } else {
        change(saved, in);
    }
    settings.resume = true;
    may_refuse_bytes([&] {
        DiskStore store(settings, nx, states);
        ArchiveReader reader(saved);
        store.transfer(reader);
        std::vector<double> expected(nx);
        for (int slot = states - 1; slot >= 0; slot -= 37) {
            fill(slot);
            expected = x;
            store.read(slot, x.data());
            if (of_file && x != expected)
                throw std::logic_error("wrong states were read without a complaint");
        }
    });
}

void merge_shards(const std::string& changes) {
    const Scene& s = short_throw();
    Reader in(changes);
    const auto width = static_cast<size_t>(1 + s.z0.size() + s.world.ndx() + s.theta.size());
    const auto shard = [&](std::int64_t index) {
        Shard out;
        out.version = COSTATE_VERSION_TEXT;
        out.index = index;
        out.of = 2;
        out.scene = s.name;
        out.names = gradient_names(s).dump();
        out.part.sum = PartialSum({40}, width);
        const Range mine = out.part.sum.plan().share(index - 1, 2);
        const std::vector<double> numbers(width, 0.5);
        for (std::int64_t b = mine.first; b < mine.last; ++b)
            out.part.sum.add(b, numbers.data());
        return out;
    };
    Shard first = shard(1), second = shard(2);
    const fs::path here = folder() / "first.shard", there = folder() / "second.shard";
    write_shard(here, first);
    write_shard(there, second);
    const bool of_content = in.byte() % 4 != 0;  // its checksum is then right
    std::ifstream file(here, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (of_content) {
        constexpr size_t header = 32, at_size = 16, at_checksum = 24;
        std::vector<char> content(bytes.begin() + header, bytes.end());
        change(content, in);
        const std::uint64_t size = content.size();
        const std::uint32_t crc = checksum(content.data(), content.size());
        bytes.resize(header);
        std::memcpy(bytes.data() + at_size, &size, sizeof size);
        std::memcpy(bytes.data() + at_checksum, &crc, sizeof crc);
        bytes.insert(bytes.end(), content.begin(), content.end());
    } else {
        change(bytes, in);
    }
    std::ofstream(here, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::string out = (folder() / "sum.json").string();
    const char* words[] = {"merge", here.c_str(), there.c_str(), "--json", "--out", out.c_str()};
    may_refuse_bytes([&] { merge_command.run(Arguments(merge_command, 6, words)); });
}

}  // namespace costate::fuzz
