// Bundles the page's script and style sheet and writes both as C++ source of the program.
// Usage: node build.mjs NODE_MODULES OUTPUT.cpp
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    nodePaths: [modules],
    legalComments: "inline",
    logLevel: "warning",
  });
  return result.outputFiles[0].text;
}

// Raw literals in pieces, because compilers limit the length of a literal.
function literal(text) {
  const pieces = text.match(/[^]{1,8000}/gu) ?? [""];
  return pieces.map((piece) => `R"costate(${piece})costate"`).join("\n");
}

const [script, style] = await Promise.all([bundle("main.js"), bundle("style.css")]);
writeFileSync(
  output,
  `#include "apps/viewer/assets.hpp"

namespace costate {

namespace {
constexpr char script[] = ${literal(script)};
constexpr char style[] = ${literal(style)};
}  // namespace

std::string_view viewer_script() { return {script, sizeof script - 1}; }
std::string_view viewer_style() { return {style, sizeof style - 1}; }

}  // namespace costate
`,
);
