#!/usr/bin/env bash
# Installs the wheel of scripts/package/wheel.sh in an empty Debian (made by debootstrap, with python3, python3-numpy and
# python3-pip only) and times the way from nothing to a gradient; then runs the program and writes a page. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --wheel
wheel=$(ls -t out/wheels/costate-*"$(uname -m)".whl | head -1)
root=${ROOT:-out/wheel-root}
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ ! -x "$root/usr/bin/pip3" ]; then
    debootstrap --variant=minbase --include=python3,python3-numpy,python3-pip bookworm "$root" "$mirror" >/dev/null
fi
rm -rf "$root/tmp/test" && mkdir -p "$root/tmp/test"
cp "$wheel" apps/python/examples/first_gradient.py "$root/tmp/test/"
cat >"$root/tmp/test/run.sh" <<'RUN'
set -eu
cd /tmp/test
rm -rf site
begin=$(date +%s.%N)
pip install --quiet --no-index --no-deps --root-user-action=ignore --target site costate-*.whl
export PYTHONPATH=/tmp/test/site
python3 first_gradient.py
python3 -c "print('seconds from nothing to a gradient: %.1f' % ($(date +%s.%N) - $begin))"
python3 -m costate --version
python3 -m costate gradcheck throw --steps 200 --max-error 1e-6
python3 -m costate view throw --out throw.html
python3 -c "import costate, costate.gym; env = costate.gym.make('ant'); env.reset(seed=0); print(costate.__version__, costate.__file__)"
ls site/costate-*.dist-info/licenses/third_party
RUN
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 sh /tmp/test/run.sh
