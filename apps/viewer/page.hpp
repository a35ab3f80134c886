// Pages: HTML files that stand by themselves and work without a network. What they hold is drawn by the
// script in apps/viewer/web, which is bundled when the program is built.
#pragma once

#include "apps/viewer/frames.hpp"

namespace costate {

// A page that fills the window with the runs of the scene, all at the same time of the clock.
std::string view_page(const Scene& scene, const std::vector<Film>& films);

// The same without runs: it asks its server for them (apps/viewer/event_server.hpp).
std::string live_page(const Scene& scene);

// The runs as a page has them: one word.
std::string pack_films(const Scene& scene, const std::vector<Film>& films);

// A page of text with the runs of the scene in one part of it: `before` and `after` are HTML.
std::string document_page(const std::string& title, const std::string& before, const Scene& scene,
                          const std::vector<Film>& films, const std::string& after);

// Text as it is shown by HTML, whatever it holds.
std::string html(const std::string& text);

}  // namespace costate
