#!/usr/bin/env bash
# Builds the documentation site into out/site/ by Doxygen and Sphinx; every warning is an error. Needs a build of the C library in
# build/, or COSTATE_LIBRARY, whose Python package is described.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --site
out=$PWD/out/site-work
rm -rf out/site && mkdir -p "$out"

# The comments of the headers as Doxygen wants them: /* as /**, and // as ///, apart from those to the right of code
document() {  # NAME FILTER FILE...
    local name=$1 filter=$2
    shift 2
    doxygen - <<DOXYGEN
PROJECT_NAME = costate
OUTPUT_DIRECTORY = $out/$name
INPUT = $*
INPUT_FILTER = "$filter"
STRIP_FROM_PATH = $PWD
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
SEARCH_INCLUDES = NO
PREDEFINED = COSTATE_API= __cplusplus= COSTATE_DOXYGEN
JAVADOC_AUTOBRIEF = NO
AUTOLINK_SUPPORT = NO
MARKDOWN_SUPPORT = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
DOXYGEN
}
document c "/usr/bin/python3 scripts/package/doxygen_comments.py" apps/c_api/costate.h
document cpp "/usr/bin/python3 scripts/package/doxygen_comments.py" scenes/scene.hpp adjoint/rollout/rollout.hpp \
    adjoint/optimize/optimize.hpp adjoint/optimize/own_cost.hpp adjoint/batch/batch.hpp

COSTATE_DOXYGEN_C=$out/c/xml COSTATE_DOXYGEN_CPP=$out/cpp/xml PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m sphinx -q -E -W --keep-going -b html -c apps/site -d "$out/doctrees" . out/site
ln -sfn apps/site/index.html out/site/start.html
echo "out/site/apps/site/index.html"
