// The program `costate`: runs a command and turns every error into one line on stderr and an exit code.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "adjoint/external/cmaes.hpp"
#include "adjoint/external/nlopt_lbfgs.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/reference.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/io/output.hpp"
#include "apps/io/terminal.hpp"
#include "core/platform/posix.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

const std::vector<const Command*> commands{&info_command,      &convert_command,  &simulate_command,
                                           &gradcheck_command, &gradient_command, &merge_command,
                                           &optimize_command,  &plan_command,     &bench_command,
                                           &view_command,      &watch_command};

void print_help() {
    std::puts(
        "Differentiable simulation of articulated rigid bodies with contact\n\nUsage:\n  costate COMMAND "
        "SCENE [OPTION...]\n");
    for (const Command* c : commands)
        std::printf("  %-10s %s\n", c->name, c->summary);
    std::puts("\nSCENE is a scene or model in JSON, a robot in URDF, MJCF or SDFormat, or one of");
    std::string line;
    for (const std::string& name : shipped_scenes()) {
        if (line.size() + name.size() > 70) {
            std::printf(" %s\n", line.c_str());
            line.clear();
        }
        line += " " + name;
    }
    std::printf(" %s\n\n", line.c_str());
    std::puts(
        "  costate COMMAND --help   the options of a command\n  costate --version\n  costate --man | man -l "
        "-      this as a page\n  costate --completion SHELL    completion for bash or zsh");
    std::printf("\nExit codes:");
    for (const ExitCode code : {done, check_failed, bad_input, diverged, interrupted})
        std::printf("%s %d %s", code == done ? "" : ",", code, meaning(code));
    std::puts("");
}

int run(int argc, const char* const* argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (name == "--help" || name == "-h") {
        print_help();
        return done;
    }
    if (name == "--version") {
        std::puts("costate " COSTATE_VERSION_TEXT);
        return done;
    }
    if (name == "--man") {
        std::fputs(man_page(commands).c_str(), stdout);
        return done;
    }
    if (name == "--completion") {
        const std::string shell = argc > 2 ? argv[2] : "";
        if (shell != "bash" && shell != "zsh") throw UsageError("--completion takes bash or zsh");
        return std::fputs((shell == "bash" ? bash_completion : zsh_completion)(commands).c_str(), stdout),
               done;
    }
    if (name.empty()) throw UsageError("no command, see costate --help");
    std::vector<std::string> names;
    for (const Command* c : commands) {
        names.push_back(c->name);
        if (name != c->name) continue;
        if (c->shared) join_ranks();
        const Arguments arguments = together([&] { return Arguments(*c, argc - 1, argv + 1); });
        set_quiet(arguments.quiet());
        if (!arguments.help()) return c->run(arguments);
        if (joined_ranks().rank() == 0) std::fputs(arguments.help_text().c_str(), stdout);
        return done;
    }
    if (name.starts_with("-"))
        throw UsageError("unknown option '" + name + "'" +
                         suggestion(name, {"--help", "--version", "--man", "--completion"}));
    throw UsageError("unknown command '" + name + "'" + suggestion(name, names));
}

// One line on one rank: what all ranks throw is told by rank 0, and what only one has met by that one, which then
// ends the others. Needs no memory.
int complain(const char* line, ExitCode code, bool all_have_it = false) {
    Ranks& ranks = joined_ranks();
    const int rank = ranks.rank();
    if (rank == 0 || !all_have_it) tell(Message::error, line, rank);
    if (!all_have_it) ranks.end_all(code);
    return code;
}

int run_or_complain(int argc, const char* const* argv) {
    try {
        const int code = run(argc, argv);
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            throw UsageError(std::string("cannot write to stdout: ") + std::strerror(errno));
        return code;
    } catch (const DivergenceError& e) {
        return complain(one_line(e.what()).c_str(), diverged, true);
    } catch (const AgreedError& e) {
        return complain(one_line(e.what()).c_str(), bad_input, true);
    } catch (const Interrupted&) {
        return complain("interrupted", bad_input);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& e) {
        return complain(one_line(e.what()).c_str(), bad_input);
    }
}

int guarded_run(int argc, const char* const* argv) {
    try {
        return run_or_complain(argc, argv);
    } catch (const std::bad_alloc&) {  // also of a complaint
        return complain("not enough memory for this number of steps or of bodies in contact", bad_input);
    }
}

std::terminate_handler terminate_otherwise;

// nlohmann::json allocates in its destructor. Where that fails, no other destructor runs.
[[noreturn]] void end_without_memory() {
    try {
        if (const std::exception_ptr e = std::current_exception()) std::rethrow_exception(e);
    } catch (const std::bad_alloc&) {
        std::_Exit(
            complain("not enough memory, not even to clean up; remove files *.tmp-* and *.lock", bad_input));
    } catch (...) {
    }
    terminate_otherwise();
    std::abort();
}

}  // namespace

}  // namespace costate

int main(int argc, char** argv) {
    using namespace costate;
    std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit of size is an error of writing, with a message
    terminate_otherwise = std::set_terminate(end_without_memory);
    use_cmaes();
    use_nlopt();
    const int code = guarded_run(argc, argv);
    leave_ranks();
    return code;
}
