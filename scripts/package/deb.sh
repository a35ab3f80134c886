#!/usr/bin/env bash
# Builds the Debian packages into out/deb/ by dpkg-buildpackage, from the commit that is checked out and three.js as npm fetches it;
# then runs lintian, of which every error and warning is a failure. Installs what the build needs. Uses ccache if it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --debian
version=$(dpkg-parsechangelog -l scripts/package/debian/changelog -S Version)
upstream=${version%-*}
out=$PWD/out/deb
source=$out/costate-$upstream
rm -rf "$out" && mkdir -p "$out/npm" "$source/three/examples/jsm"

# The source as archives: the commit, and of three.js what the viewer imports with the source of that
git archive --prefix="costate-$upstream/" HEAD | xz -T0 -1 >"$out/costate_$upstream.orig.tar.xz"
cp apps/viewer/web/package.json apps/viewer/web/package-lock.json "$out/npm/"
(cd "$out/npm" && npm ci --ignore-scripts --no-audit --no-fund >/dev/null)
npm=$out/npm/node_modules/three
mkdir "$source/three/build"
cp -R "$npm"/{LICENSE,package.json,src} "$source/three/"
cp "$npm"/build/three.{core,module}.js "$source/three/build/"
cp -R "$npm/examples/jsm/controls" "$source/three/examples/jsm/"
tar -C "$source" -c three | xz -T0 -1 >"$out/costate_$upstream.orig-three.tar.xz"
tar -C "$out" -xf "$out/costate_$upstream.orig.tar.xz"
cp -R scripts/package/debian "$source/"

if command -v ccache >/dev/null; then  # debhelper gives the build an empty home
    CCACHE_DIR=$(ccache -k cache_dir)
    export CCACHE_DIR
fi
export DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} noautodbgsym ${DEB_BUILD_OPTIONS:-}"
export DEB_CXXFLAGS_APPEND="-g0 ${DEB_CXXFLAGS_APPEND:-}"  # half the time and a third of the memory; there is no package of symbols
(cd "$source" && dpkg-buildpackage -us -uc >"$out/build.log" 2>&1) || { tail -30 "$out/build.log" >&2 && exit 1; }
(cd "$out" && lintian --fail-on error,warning "costate_${version}_"*.changes)
ls -l "$out"/*.deb
