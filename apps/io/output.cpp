#include "apps/io/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "adjoint/checkpoints/disk_file.hpp"
#include "apps/io/usage_error.hpp"

namespace fs = std::filesystem;

namespace costate {

namespace {

constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
    throw UsageError("cannot write '" + path.string() + "': " + why);
}

void append(const Report& r, const std::string& indent, std::string& text) {
    const auto plain = [](const Report& item) { return !item.is_structured(); };
    if (plain(r) || r.empty() || (r.is_array() && std::all_of(r.begin(), r.end(), plain))) {
        text += r.dump(-1, ' ', false, Report::error_handler_t::replace);
        return;
    }
    text += r.is_object() ? '{' : '[';
    const char* separator = "\n";
    for (const auto& [key, value] : r.items()) {
        text += separator + indent + "  ";
        if (r.is_object()) text += Report(key).dump(-1, ' ', false, Report::error_handler_t::replace) + ": ";
        append(value, indent + "  ", text);
        separator = ",\n";
    }
    text += "\n" + indent + (r.is_object() ? '}' : ']');
}

}  // namespace

std::string to_text(const Report& report) {
    std::string text;
    append(report, "", text);
    return text + "\n";
}

OutputFiles::OutputFiles() {
    sigset_t held;
    sigemptyset(&held);
    for (const int s : stop_signals)
        sigaddset(&held, s);
    sigprocmask(SIG_BLOCK, &held, &signals_before_);
}

OutputFiles::~OutputFiles() {
    std::error_code ignored;
    for (const File& f : files_) {
        if (f.stream != nullptr) std::fclose(f.stream);
        fs::remove(f.temporary, ignored);
    }
    for (; !made_.empty(); made_.pop_back())
        fs::remove(made_.back(), ignored);
    sigprocmask(SIG_SETMASK, &signals_before_, nullptr);  // delivers a pending signal
}

void OutputFiles::make_directory(const fs::path& directory) {
    fs::path path;
    for (const fs::path& part : directory) {
        path /= part;
        std::error_code error;
        made_.push_back(path);  // first: a folder must not be made that cannot be noted
        if (!fs::create_directory(path, error)) made_.pop_back();
        if (error) fail(directory, error.message());
    }
}

std::FILE* OutputFiles::open(const fs::path& path) {
    File f;
    std::error_code ignored;
    f.path = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
    if (fs::exists(f.path, ignored) && !fs::is_regular_file(f.path, ignored))
        fail(path, "it exists and is not a file");
    f.temporary = f.path.string() + ".tmp-" + std::to_string(getpid());
    files_.reserve(files_.size() + 1);  // a file must not be made that cannot be noted
    const std::string& temporary = f.temporary.native();
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail(path, std::strerror(errno));
    f.stream = ::fdopen(descriptor, "wb");
    if (f.stream == nullptr) {
        const int why = errno;
        ::close(descriptor);
        ::unlink(temporary.c_str());
        fail(path, std::strerror(why));
    }
    files_.push_back(std::move(f));
    return files_.back().stream;
}

void OutputFiles::write(const fs::path& path, const std::string& content) {
    std::FILE* const file = open(path);
    if (std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fflush(file) != 0)
        fail(path, std::strerror(errno));
}

void OutputFiles::commit() {
    for (File& f : files_) {
        const bool good = std::ferror(f.stream) == 0,
                   closed = std::fclose(std::exchange(f.stream, nullptr)) == 0;
        if (!good || !closed) fail(f.path, errno != 0 ? std::strerror(errno) : "a part was not written");
    }
    for (const File& f : files_) {
        std::error_code error;
        fs::rename(f.temporary, f.path, error);
        if (error) fail(f.path, error.message());
    }
    files_.clear();
    made_.clear();
}

void OutputFiles::check_interrupted() {
    sigset_t waiting;
    sigpending(&waiting);
    for (const int s : stop_signals)
        if (sigismember(&waiting, s) == 1) throw Interrupted();
}

namespace {

// Writes a trial file in the directory `there`; messages name `path`, which the user gave.
void try_to_write(const fs::path& there, const fs::path& path) {
    const std::vector<char> trial(64 * 1024);
    try {
        DiskFile file = DiskFile::temporary(there);
        file.write(0, trial.data(), trial.size());
        file.sync();
    } catch (const std::runtime_error& e) {
        const std::string what = e.what();
        fail(path, what.substr(what.find("': ") + 3));
    }
}

}  // namespace

void check_directory(const fs::path& directory) {
    std::error_code error;
    fs::path there = fs::absolute(directory, error);
    while (!fs::exists(there, error) && there.has_relative_path())
        there = there.parent_path();
    if (!fs::is_directory(there, error)) fail(directory, "'" + there.string() + "' is not a directory");
    try_to_write(there, directory);
}

void check_file(const fs::path& path) {
    std::error_code error;
    const fs::path folder = path.parent_path();
    if (!folder.empty() && !fs::is_directory(folder, error))
        fail(path, "there is no folder '" + folder.string() + "'");
    if (fs::exists(path, error) && !fs::is_regular_file(path, error))
        fail(path, "it exists and is not a file");
    try_to_write(folder.empty() ? fs::path(".") : folder, path);
}

}  // namespace costate
