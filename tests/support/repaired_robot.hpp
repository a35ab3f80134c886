// Robot files with slips that other software accepts.
#pragma once

#include <doctest/doctest.h>

#include "tests/support/mjcf_text.hpp"
#include "tests/support/urdf_text.hpp"

namespace costate::test {

// There is exactly one warning, which contains `warning`, or none if that is empty.
inline void check_only_warning(const std::vector<std::string>& warnings, const std::string& warning) {
    REQUIRE(warnings.size() == (warning.empty() ? 0 : 1));
    if (warning.empty()) return;
    CAPTURE(warnings[0]);
    CHECK(warnings[0].find(warning) != std::string::npos);
}

// The model of a URDF text, which must give exactly one warning that contains `warning` (empty: none), and must
// be refused if strict, unless the warning cannot change the motion.
inline Json repaired_urdf(const std::string& text, const std::string& warning, bool harmless = false) {
    CAPTURE(text);
    const ImportedModel imported = import_text(text);
    check_only_warning(imported.warnings, warning);
    ImportOptions strict;
    strict.strict = true;
    CHECK((urdf_complaint(text, strict) == "") == (harmless || warning.empty()));
    return imported.model;
}

// The same for the content of <mujoco>
inline MjcfText repaired_mjcf(const std::string& inside, const std::string& warning, bool harmless = false) {
    CAPTURE(inside);
    const MjcfText m = mjcf(inside);
    check_only_warning(m.warnings, warning);
    CHECK((complaint([&] { mjcf(inside, true); }) == "no complaint") == (harmless || warning.empty()));
    return m;
}

inline const std::string first_link = urdf_link("a"), second_link = urdf_link("b");

}  // namespace costate::test
