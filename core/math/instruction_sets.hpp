// COSTATE_EVERY_INSTRUCTION_SET before a function compiles it for the baseline and for AVX2, and chooses when
// the program starts. Contraction is off, so both compute the same bits. Not with sanitizers, which cannot run
// before the choice.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                 \
    !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COSTATE_EVERY_INSTRUCTION_SET __attribute__((target_clones("default", "avx2")))
#else
#define COSTATE_EVERY_INSTRUCTION_SET
#endif
