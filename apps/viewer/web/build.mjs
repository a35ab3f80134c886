// Bundles the page's script and style sheet and writes both as C++ source of the program.
// Usage: node build.mjs ESBUILD MODULES OUTPUT.cpp, where MODULES is the folder that holds three
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [esbuild, modules, output] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const options = "--bundle --minify --format=iife --target=es2022 --charset=utf8 --legal-comments=inline --log-level=warning";

function bundle(entry) {
  const env = { ...process.env, NODE_PATH: modules };
  const limit = 100e6;  // bytes
  return execFileSync(esbuild, [join(here, "src", entry), ...options.split(" ")], { env, encoding: "utf8", maxBuffer: limit });
}

// Raw literals in pieces, because compilers limit the length of a literal.
function literal(text) {
  const pieces = text.match(/[^]{1,8000}/gu) ?? [""];
  return pieces.map((piece) => `R"costate(${piece})costate"`).join("\n");
}

writeFileSync(
  output,
  `#include "apps/viewer/assets.hpp"

namespace costate {

namespace {
constexpr char script[] = ${literal(bundle("main.js"))};
constexpr char style[] = ${literal(bundle("style.css"))};
}  // namespace

std::string_view viewer_script() { return {script, sizeof script - 1}; }
std::string_view viewer_style() { return {style, sizeof style - 1}; }

}  // namespace costate
`,
);
