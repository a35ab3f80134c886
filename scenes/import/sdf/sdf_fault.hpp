// Faults that libsdformat finds, in words of one line.
#pragma once

#include <sdf/Error.hh>
#include <sdf/Types.hh>
#include <string>

namespace costate {

class Warnings;
struct SdfFile;

// Throws SceneError if libsdformat found a fault.
void check_sdf(const sdf::Errors& errors, const SdfFile& file, Warnings& warnings);

// A message without its line ends and its last full stop
std::string without_end(std::string text);
// What an assertion of libsdformat says: the line "Error: ..." among those of the place in its source.
std::string what_failed(const std::string& text);

}  // namespace costate
