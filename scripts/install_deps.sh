#!/usr/bin/env bash
# Installs the Debian packages that are missing, and only those; with --tests also what only tests need, with --compare the tools of
# automatic differentiation, with --wheel, --debian and --site what these are made with, with --aarch64 what compiles for aarch64
# and runs it here, with --windows the same for Windows. Says nothing when nothing is missing.
set -euo pipefail

missing=()
tool() { command -v "$1" >/dev/null || missing+=("$2"); }  # a program, and the package that brings it
# dpkg-query says a word for each architecture of the package
library() { [[ " $(dpkg-query -W -f '${db:Status-Status} ' "$1" 2>/dev/null)" == *" installed "* ]] || missing+=("$1"); }

if ! command -v apt-get >/dev/null; then
    echo "install_deps.sh knows Debian and its kin only: here, install by hand what cmake reports missing" >&2
    exit 0
fi
tool g++ build-essential
tool cmake cmake
tool ninja ninja-build
tool ccache ccache
tool pkg-config pkg-config
tool python3 python3
tool node nodejs
tool npm npm
library libeigen3-dev
library libbullet-dev
library libcpp-httplib-dev
library libcxxopts-dev
library nlohmann-json3-dev
library doctest-dev
library libnlopt-cxx-dev
library libpagmo-dev
library libtinyxml2-dev
library libsdformat-dev
library libassimp-dev
library libpng-dev
library zlib1g-dev
library libzstd-dev
if [ "${1:-}" = --tests ]; then
    tool chromium chromium  # in which the tests look at pages
    tool clang-format clang-format
    library libopenmpi-dev  # with mpirun
    library python3-mpi4py
    library python3-mypy
    library python3-numpy
    library python3-torch
    library python3-cmaes
    library python3-scipy
    library python3-matplotlib
    library python3-pip  # with which a test installs the package
    library python3-setuptools
    library python3-wheel
fi
if [ "${1:-}" = --wheel ]; then
    tool patchelf patchelf
    tool debootstrap debootstrap
fi
if [ "${1:-}" = --aarch64 ]; then
    tool patchelf patchelf
    tool debootstrap debootstrap
    tool aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
    tool qemu-aarch64-static qemu-user-static
    for name in libbullet libassimp libpng libtinyxml2 libzstd libcpp-httplib zlib1g; do
        library $name-dev:arm64
    done
fi
if [ "${1:-}" = --windows ]; then
    tool x86_64-w64-mingw32-g++-posix g++-mingw-w64-x86-64-posix
    library wine64
    library libz-mingw-w64-dev
fi
if [ "${1:-}" = --debian ]; then
    tool dpkg-buildpackage dpkg-dev
    tool dh debhelper
    tool lintian lintian
    tool debootstrap debootstrap
    library dh-python
    tool esbuild esbuild
fi
if [ "${1:-}" = --site ]; then
    library doxygen
    library python3-sphinx
    library python3-breathe
    library python3-myst-parser
    library python3-sphinx-rtd-theme
    library python3-numpy
fi
if [ "${1:-}" = --compare ]; then
    library libadolc-dev
    library libtrilinos-sacado-dev
    library libtrilinos-kokkos-dev  # whose headers Sacado's include
    library libceres-dev
    library libtorch-dev
fi
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing ${missing[*]}"
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
[ "${1:-}" != --aarch64 ] || "${as_root[@]}" dpkg --add-architecture arm64
apt update
apt install -y --no-install-recommends "${missing[@]}" >/dev/null
