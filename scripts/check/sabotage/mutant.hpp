// Included before every file of a tree that write_mutants.py wrote: which of its mutants is on, and which
// lines a run came by.
#pragma once

#ifdef __cplusplus
#include <cstdio>
#include <cstdlib>

#include "mutant_count.hpp"

namespace sabotage {

inline unsigned char reached[mutant_count + 1];  // by the number of the mutant, from 1
inline const int chosen = [] {
    const char* number = std::getenv("COSTATE_MUTANT");
    return number ? std::atoi(number) : 0;
}();

inline bool mutant(int number) {
    reached[number] = 1;
    return number == chosen;
}

// Appends `reached` to $COSTATE_REACHED when the process ends: objects of lanes have records of their own.
struct Report {
    ~Report() {
        const char* path = std::getenv("COSTATE_REACHED");
        if (!path) return;
        if (std::FILE* file = std::fopen(path, "ab")) {
            std::fwrite(reached, 1, sizeof reached, file);
            std::fclose(file);
        }
    }
};
inline const Report report;

}  // namespace sabotage
#endif
