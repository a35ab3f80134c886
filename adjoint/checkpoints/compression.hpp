// Lossless compression of states by zstd.
#pragma once

#include <cstddef>
#include <vector>

namespace costate {

bool have_compression();  // in this build

// `count` records of `each` doubles, one after the other. Neighbours in time are alike: a number is stored as
// what differs, bit by bit, from the same number of the record before, and of all numbers first the highest
// bytes, which then are mostly zero.
std::vector<char> compress(const double* records, size_t each, size_t count);
// Returns whether the bytes were those of so many records.
bool decompress(const char* bytes, size_t n, double* records, size_t each, size_t count);

}  // namespace costate
