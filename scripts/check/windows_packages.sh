#!/usr/bin/env bash
# Puts what the program needs on Windows into build-windows/packages, for scripts/cmake/windows.cmake: the headers of Debian's
# packages that are headers alone, and Bullet in double precision, compiled by mingw-w64 from Debian's source package.
# Does nothing where that has been done.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

packages=$PWD/build-windows/packages
[ ! -e "$packages/lib/pkgconfig/bullet-float64.pc" ] || exit 0
scripts/install_deps.sh --windows
rm -rf "$packages"
mkdir -p "$packages"
cp -r --parents /usr/include/{eigen3,nlohmann,cxxopts.hpp} /usr/share/{eigen3,cmake/nlohmann_json} /usr/lib/cmake/cxxopts "$packages"
mv "$packages"/usr/* "$packages"  # where their CMake files look for them, by their own place
rmdir "$packages/usr"

# the source package, with lists and cache of apt that are our own
sources=build-windows/bullet
rm -rf "$sources"
mkdir -p "$sources/lists/partial"
# shellcheck source=/dev/null
(. /etc/os-release && echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main") >"$sources/sources.list"
own_apt() {
    (cd "$sources" && apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$PWD/lists" -o Dir::Cache="$PWD" "$@")
}
own_apt update
own_apt source --download-only bullet
tar -C "$sources" --strip-components 1 -xf "$sources"/bullet_*.orig.tar.*
cmake -S "$sources" -B "$sources/build" -G Ninja --toolchain "$PWD/scripts/cmake/windows.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$packages" -DUSE_DOUBLE_PRECISION=ON -DBUILD_BULLET2_DEMOS=OFF -DBUILD_CPU_DEMOS=OFF -DBUILD_EXTRAS=OFF \
    -DBUILD_UNIT_TESTS=OFF -DBUILD_BULLET3=OFF -DBUILD_PYBULLET=OFF -DINSTALL_LIBS=ON -DUSE_GRAPHICAL_BENCHMARK=OFF -DUSE_GLUT=OFF
cmake --build "$sources/build" --parallel "${JOBS:-$(nproc)}" --target BulletCollision LinearMath
mkdir -p "$packages"/{lib/pkgconfig,include/bullet}
find "$sources/build" -name 'lib*.a' -exec cp {} "$packages/lib" \;
(cd "$sources/src" && find BulletCollision LinearMath ./*.h -name '*.h' -exec cp --parents {} "$packages/include/bullet" \;)
cat >"$packages/lib/pkgconfig/bullet-float64.pc" <<END
Name: bullet-float64
Description: Bullet's collision detection in double precision
Version: $(cat "$sources/VERSION")
Cflags: -DBT_USE_DOUBLE_PRECISION -I$packages/include/bullet
Libs: -L$packages/lib -lBulletCollision -lLinearMath
END
