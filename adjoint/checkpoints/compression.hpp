// Lossless compression of states by zstd.
#pragma once

#include <cstddef>
#include <vector>

namespace costate {

bool have_compression();  // in this build

// Compresses `count` consecutive records of `each` doubles. Because consecutive records are similar, each
// number is XORed with the same number of the previous record, and bytes are grouped by significance, the
// highest first; these are mostly zero.
std::vector<char> compress(const double* records, size_t each, size_t count);
// Returns true if the bytes contain this number of records.
bool decompress(const char* bytes, size_t n, double* records, size_t each, size_t count);

}  // namespace costate
