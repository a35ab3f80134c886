// Checkpoints in files, saved runs and streamed gradients: stored data are read back, and faults give a
// message.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

#include "adjoint/checkpoints/compression.hpp"
#include "adjoint/checkpoints/control_gradient_file.hpp"
#include "adjoint/checkpoints/disk_store.hpp"
#include "adjoint/checkpoints/saved_run.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace costate;
using costate::test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

constexpr int nx = 37;

// States that change slowly, including NaN.
std::vector<double> state(int slot) {
    std::vector<double> x(nx);
    for (int i = 0; i < nx; ++i)
        x[i] = std::sin(i + 1e-3 * slot);
    x[5] = slot % 7 == 0 ? NAN : -0.0;
    x[6] = 5e-324 * slot;
    return x;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <class F> std::string refusal(const F& f) {
    try {
        f();
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "";
}

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void overwrite(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

// Limits the size of files, like a full disk.
class SmallFiles {
public:
    explicit SmallFiles(rlim_t bytes) {
        std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit small{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("disk store: any number of states is read in any order, with the same bits") {
    const ScratchFolder folder("disk_store");
    for (const bool compressed : {false, true}) {
        if (compressed && !have_compression()) continue;
        for (const int n : {1, 54, 55, 56, 110, 111, 1000}) {  // a chunk has 55 states
            CAPTURE(n);
            DiskStore store({folder.path(), {}, false, compressed}, nx, n);
            std::vector<double> x(nx);
            for (int sweep = 0; sweep < 2; ++sweep) {
                for (int t = 0; t < n; ++t)
                    store.write(t, state(t + sweep).data());
                for (int again = 0; again < 2; ++again)
                    for (int t = n - 1; t >= 0; --t) {
                        store.read(t, x.data());
                        REQUIRE(same(x, state(t + sweep)));
                    }
                std::mt19937 random(1);
                for (int k = 0; k < 30; ++k) {
                    const int t = static_cast<int>(random() % static_cast<unsigned>(n));
                    store.read(t, x.data());
                    REQUIRE(same(x, state(t + sweep)));
                }
                // the second half again
                for (int t = n / 2; t < n; ++t)
                    store.write(t, state(2 * t).data());
                for (const int t : {n - 1, n / 2, 0}) {
                    store.read(t, x.data());
                    REQUIRE(same(x, state(t < n / 2 ? t + sweep : 2 * t)));
                }
            }
            CHECK(store.traffic().states_written == 2 * n + 2 * (n - n / 2));
            if (!compressed && n == 1000)
                CHECK(store.traffic().bytes_written >= 2 * DiskStore::file_bytes(nx, n));
            if (compressed && n == 1000) CHECK(store.traffic().ratio() > 1.3);
        }
        CHECK(fs::is_empty(folder.path()));  // the file has no name
    }
}

TEST_CASE("disk store: the file has the predicted size") {
    const ScratchFolder folder("disk_store");
    for (const int n : {1, 55, 56, 200}) {
        DiskStore store({{}, folder.path("file"), false, false}, nx, n);
        std::vector<double> x(nx);
        for (int t = 0; t < n; ++t)
            store.write(t, state(t).data());
        for (int t = n - 1; t >= 0; --t)
            store.read(t, x.data());
        const std::int64_t last_chunk_stays_in_memory = DiskStore::file_bytes(nx, n <= 55 ? 0 : n);
        CHECK(static_cast<std::int64_t>(fs::file_size(folder.path("file"))) == last_chunk_stays_in_memory);
    }
}

TEST_CASE("disk store: corrupted or truncated data and a full disk give one line") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("file");
    for (const bool compressed : {false, true}) {
        if (compressed && !have_compression()) continue;
        const auto damaged = [&](const auto& damage) {
            return refusal([&] {
                DiskStore store({{}, file, false, compressed}, nx, 500);
                std::vector<double> x(nx);
                for (int t = 0; t < 500; ++t)
                    store.write(t, state(t).data());
                // which waits for the other thread
                store.read(499, x.data());
                store.read(300, x.data());
                store.traffic();
                std::string text = content(file);
                damage(text);
                overwrite(file, text);
                for (int t = 299; t >= 0; --t) {
                    store.read(t, x.data());
                    REQUIRE(same(x, state(t)));
                }
            });
        };
        CHECK(damaged([](std::string&) {}) == "");
        // in the header of the first chunk, and in its states
        for (const size_t at : {0, 5, 9, 13, 16, 500}) {
            CAPTURE(at);
            const std::string why =
                damaged([&](std::string& text) { text[at] = static_cast<char>(text[at] ^ 1); });
            CHECK(why.find("checkpoints in '" + file.string() + "' are corrupted at byte 0") == 0);
        }
        CHECK(damaged([](std::string& text) {
                  text.resize(1000);
              }).find("cannot read '" + file.string() + "': it ends at byte ") == 0);
        {
            const SmallFiles small(40'000);  // within a chunk: the first part of it is written
            const std::string why = refusal([&] {
                DiskStore store({{}, file, false, compressed}, nx, 5000);
                for (int t = 0; t < 5000; ++t)
                    store.write(t, state(t * 997).data());
            });
            CHECK(why.find("cannot write '" + file.string() + "': File too large; make room") == 0);
        }
    }
    if (access("/dev/full", W_OK) == 0) {
        const std::string why = refusal([&] {
            DiskFile full("/dev/full", DiskFile::Mode::open);
            full.write(0, "x", 1);
        });
        CHECK(why == "cannot write '/dev/full': No space left on device; make room, or give another place");
    }
    CHECK(refusal([&] {
              DiskStore({folder.path("nowhere"), {}, false, false}, nx, 1);
          }).find("cannot write '" + (folder.path("nowhere")).string()) == 0);
}

// Every field of a chunk's header gets every kind of value, with a matching checksum.
TEST_CASE("disk store: a header that contradicts its states is refused, even with a matching checksum") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("file");
    constexpr std::uint32_t values[] = {0,    1,          2,          54,         55,        56,
                                        1000, 0x7ffffff0, 0x7fffffff, 0x80000000, 0xffffffff};
    for (const bool compressed : {false, true}) {
        if (compressed && !have_compression()) continue;
        const auto read_back = [&](size_t field, std::uint32_t value) {
            return refusal([&] {
                DiskStore store({{}, file, false, compressed}, nx, 500);
                std::vector<double> x(nx);
                for (int t = 0; t < 500; ++t)
                    store.write(t, state(t).data());
                store.read(499, x.data());
                store.read(300, x.data());
                store.traffic();
                std::string text = content(file);
                std::uint32_t header[4];
                std::memcpy(header, text.data(), sizeof header);
                const size_t length = sizeof header + header[2];
                header[field] = value;
                header[3] = 0;
                std::memcpy(text.data(), header, sizeof header);
                header[3] = checksum(text.data(), length);
                std::memcpy(text.data(), header, sizeof header);
                overwrite(file, text);
                for (int t = 299; t >= 0; --t) {
                    store.read(t, x.data());
                    REQUIRE(same(x, state(t)));
                }
            });
        };
        const std::uint32_t right[] = {0, 55};
        for (size_t field = 0; field < 3; ++field)
            for (const std::uint32_t value : values) {
                CAPTURE(field);
                CAPTURE(value);
                const std::string why = read_back(field, value);
                if (field < 2 && value == right[field])
                    CHECK(why == "");
                else
                    CHECK(why.find("checkpoints in '" + file.string() + "' are corrupted at byte 0: ") == 0);
            }
    }
}

// Every eight bytes of a saved rollout get every kind of value, as if the checksum of the file matched.
TEST_CASE("saved run: bytes that do not fit the store are refused, or are read as what they were") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("file");
    constexpr std::uint64_t values[] = {
        0, 1, 7, 1000, 0x7ffffff0, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
    ArchiveWriter writer;
    DiskStore store({{}, file, false, false}, nx, 500);
    for (int t = 0; t < 300; ++t)
        store.write(t, state(t).data());
    store.transfer(writer);
    const std::vector<char> good = writer.bytes;
    const size_t places =
        sizeof(int) + sizeof(size_t) + 6 * sizeof(std::int64_t) + sizeof(int) + sizeof(bool) + sizeof(size_t);
    int refused = 0;
    for (size_t at = 0; at < places; ++at)
        for (const std::uint64_t value : values) {
            CAPTURE(at);
            CAPTURE(value);
            std::vector<char> bytes = good;
            std::memcpy(bytes.data() + at, &value, sizeof value);
            refused += !refusal([&] {
                            DiskStore again({{}, file, true, false}, nx, 500);
                            ArchiveReader reader(bytes);
                            again.transfer(reader);
                            std::vector<double> x(nx);
                            for (int t = 219; t >= 0; --t) {
                                again.read(t, x.data());
                                if (!same(x, state(t)))
                                    throw std::logic_error("not the state that was written");
                            }
                        }).empty();
        }
    CHECK(refused > 100);
}

TEST_CASE("saved run: two runs do not save to one file") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("run");
    {
        const RunLock first(file);
        CHECK(refusal([&] { RunLock second(file); }) ==
              "cannot write '" + file.string() +
                  "': another run writes it; wait for that run, or give another name");
        const RunLock other(folder.path("other"));
    }
    CHECK(fs::is_empty(folder.path()));
    const RunLock next(file);
}

TEST_CASE("saved run: it is restored only into the run that saved it, otherwise one line gives the reason") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("run");
    std::vector<char> run(1000, 'a');
    save_run(file, 7, run);
    CHECK(load_run(file, 7) == run);
    run[3] = 'b';
    save_run(file, 7, run);  // overwrites the file
    CHECK(load_run(file, 7) == run);
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    const std::string good = content(file), name = "cannot resume '" + file.string() + "': ";
    CHECK(refusal([&] { load_run(file, 8); }).find(name + "it was saved by another run") == 0);
    for (size_t at = 0; at < good.size(); at += 13) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 4);
        overwrite(file, bad);
        CHECK(refusal([&] { load_run(file, 7); }).find(name) == 0);
    }
    overwrite(file, good.substr(0, 500));
    CHECK(refusal([&] { load_run(file, 7); }) == name + "it is corrupted; start the run again");
    overwrite(file, "");
    CHECK(refusal([&] { load_run(file, 7); }) == name + "it is not a saved run");
    CHECK(refusal([&] { load_run(folder.path("none"), 7); }).find("cannot read '") == 0);
    overwrite(file, good);
    {
        const SmallFiles small(500);
        CHECK(refusal([&] {
                  save_run(file, 7, run);
              }).find("cannot write '" + file.string() + ".tmp': File too large") == 0);
    }
    CHECK(content(file) == good);  // the previous file remains
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("streamed gradient: a NumPy array, complete or absent, that a resumed run completes") {
    const ScratchFolder folder("disk_store");
    const fs::path file = folder.path("g.npy");
    constexpr int steps = 1000, nu = 3;
    const auto row = [](int t) { return std::vector<double>{1.0 * t, 2.0 * t, -0.5 * t}; };
    {
        ControlGradientFile sink(file, steps, nu);
        for (int t = steps - 1; t >= 500; --t)
            sink.row(t, row(t).data());
    }
    CHECK(fs::is_empty(folder.path()));
    {
        ControlGradientFile killed(file, steps, nu, true);
        for (int t = steps - 1; t >= 700; --t)
            killed.row(t, row(t).data());
        killed.flush();
        for (int t = 699; t >= 100; --t)
            killed.row(t, row(t).data());
    }
    CHECK(!fs::exists(file));
    {
        ControlGradientFile resumed(file, steps, nu, true, true);
        for (int t = 699; t >= 0; --t)
            resumed.row(t, row(t).data());
        resumed.finish();
    }
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    const std::string text = content(file);
    REQUIRE(text.size() == 128 + steps * nu * 8);
    CHECK(text.substr(1, 5) == "NUMPY");
    CHECK(text.find("'descr': '<f8', 'fortran_order': False, 'shape': (1000, 3), ") < 128);
    CHECK(text[127] == '\n');
    for (int t = 0; t < steps; ++t)
        CHECK(std::memcmp(text.data() + 128 + t * nu * 8, row(t).data(), nu * 8) == 0);
    for (size_t at = 0; at < 128; ++at) {  // an array of another run
        CAPTURE(at);
        std::string other = text;
        other[at] = static_cast<char>(other[at] ^ 1);
        overwrite(folder.path("g.npy.part"), other);
        CHECK(refusal([&] {
                  ControlGradientFile(file, steps, nu, true, true);
              }).find("cannot resume with '" + file.string() + ".part': ") == 0);
    }
    overwrite(folder.path("g.npy.part"), text.substr(0, 50));
    CHECK(refusal([&] { ControlGradientFile(file, steps, nu, true, true); }).find("cannot resume with '") ==
          0);
    fs::remove(folder.path("g.npy.part"));
    {
        const SmallFiles small(100);
        const fs::path none = folder.path("none.npy");
        CHECK(refusal([&] {
                  ControlGradientFile(none, steps, nu);
              }).find("cannot write '" + none.string() + ".part': File too large") == 0);
        CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    }
    {
        // the program was killed between its last two operations
        ControlGradientFile once_more(file, steps, nu, true, true);
        once_more.finish();
    }
    CHECK(content(file) == text);
}
