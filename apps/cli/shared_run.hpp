// A run that several processes share, called ranks: mpirun or srun starts them, libcostate_mpi.so connects them.
#pragma once

#include <optional>
#include <type_traits>

#include "adjoint/batch/ranks.hpp"
#include "apps/io/usage_error.hpp"

namespace costate {

// This process alone, until join_ranks.
Ranks& joined_ranks();
// Joins the others if mpirun or srun started this process with others. Throws UsageError if there is no driver.
void join_ranks();
// To be called before the process ends.
void leave_ranks();

// An error that all ranks throw, and of which rank 0 tells.
struct AgreedError : UsageError {
    using UsageError::UsageError;
};

// Throws AgreedError on all ranks if `fault` of one is not empty.
void agree(const std::string& fault);

// prepare(), after which all ranks go on, or none: what it throws on one of them becomes an AgreedError on all.
template <class Prepare> std::invoke_result_t<Prepare> together(const Prepare& prepare) {
    if (joined_ranks().size() == 1) return prepare();
    std::optional<std::invoke_result_t<Prepare>> result;
    std::string fault;
    try {
        result.emplace(prepare());
    } catch (const std::exception& e) {
        fault = e.what();
    }
    agree(fault);
    return std::move(*result);
}

// Throws AgreedError unless all ranks have the same bytes; `what` differs on this rank otherwise.
void agree_on(const std::vector<char>& bytes, const std::string& what);

}  // namespace costate
