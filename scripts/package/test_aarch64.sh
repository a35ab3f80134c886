#!/usr/bin/env bash
# Tries the wheel of `wheel.sh --aarch64` under qemu, in an empty Debian of arm64 (debootstrap, with python3, python3-numpy and
# python3-pip only): installs it, computes a gradient in Python, runs the program. Then runs a few C++ tests that are compiled for
# aarch64 here. Needs root. Emulation takes about twenty times as long as a processor; each part ends after ten minutes.
#     test_aarch64.sh [TEST...]   the C++ tests, as named in tests/CMakeLists.txt; none if the one name is "none"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tests=("$@")
[ $# -gt 0 ] || tests=(core/operators core/products solvers/lane_step)
scripts/install_deps.sh --aarch64
wheel=$(ls -t out/wheels/costate-*aarch64.whl | head -1)
root=${ROOT:-out/wheel-root-aarch64}
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ ! -x "$root/usr/bin/pip3" ]; then
    # the second stage of debootstrap runs programs that start others, which takes binfmt_misc; unpacked files are enough
    debootstrap --arch=arm64 --foreign --variant=minbase --include=python3,python3-numpy,python3-pip bookworm "$root" "$mirror" >/dev/null
    for package in "$root"/var/cache/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
    done
    if [ -L "$root/proc" ]; then rm "$root/proc" && mkdir "$root/proc"; fi  # debootstrap's link, until its second stage
    cp "$(command -v qemu-aarch64-static)" "$root/usr/bin/"
fi
rm -rf "$root/tmp/test" && mkdir -p "$root/tmp/test"
cp "$wheel" apps/python/examples/first_gradient.py "$root/tmp/test/"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
lib=/usr/lib/aarch64-linux-gnu
emulated() {  # of BLAS and LAPACK an installation would make links
    timeout 600 env -i PATH=/usr/bin:/usr/sbin LC_ALL=C.UTF-8 PYTHONPATH=/tmp/test/site chroot "$root" /usr/bin/qemu-aarch64-static \
        -E LD_LIBRARY_PATH=$lib/blas:$lib/lapack "$@"
}
emulated /usr/bin/python3.11 -m pip install --quiet --no-index --no-deps --root-user-action=ignore --target /tmp/test/site \
    "/tmp/test/$(basename "$wheel")"
emulated /usr/bin/python3.11 /tmp/test/first_gradient.py
program=/tmp/test/site/costate/costate
emulated $program info throw
emulated $program gradcheck throw --steps 20 --max-error 1e-6
emulated $program gradient go1_stand --steps 200
emulated $program view throw --out /tmp/test/throw.html

[ "${tests[*]}" != none ] || exit 0
export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
cmake -B build-aarch64 -DCOSTATE_BUILD_TESTS=ON "-DCOSTATE_TESTS=$(IFS=';' && echo "${tests[*]}")" >/dev/null
cmake --build build-aarch64 --parallel "${JOBS:-$(nproc)}" --target costate_tests
timeout 600 qemu-aarch64-static build-aarch64/tests/costate_tests --no-colors
