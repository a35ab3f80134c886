// From libsdformat's models to the intermediate form.
#pragma once

#include "scenes/import/import_options.hpp"
#include "scenes/import/sdf/sdf_model.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

// `text` is that of the document.
SdfScene read_sdf(const XmlDocument& document, const std::string& text, const ImportOptions& options,
                  Warnings& warnings);

}  // namespace costate
