// Self-contained HTML pages that work without a network. The script in apps/viewer/web draws their data; it
// is bundled when the program is built.
#pragma once

#include "apps/viewer/frames.hpp"

namespace costate {

// A page that plays the runs of the scene synchronously in the whole window.
std::string view_page(const Scene& scene, const std::vector<FrameSequence>& sequences);

// The same page without runs, which it requests from its server (apps/viewer/event_server.hpp).
std::string live_page(const Scene& scene);

// The runs encoded for a page, in base64.
std::string encode_frames(const Scene& scene, const std::vector<FrameSequence>& sequences);

// A document that contains a viewer with the runs of the scene between the HTML texts `before` and `after`.
std::string document_page(const std::string& title, const std::string& before, const Scene& scene,
                          const std::vector<FrameSequence>& sequences, const std::string& after);

// Text escaped for HTML.
std::string html(const std::string& text);

}  // namespace costate
