#!/usr/bin/env bash
# Installs the packages of scripts/package/deb.sh in an empty Debian (made by debootstrap) and runs their tests (debian/tests) there
# by autopkgtest: programs in C and C++, Python, and the program. Then removes the packages again. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scripts/install_deps.sh --debian
root=${ROOT:-out/deb-root}
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ ! -x "$root/usr/bin/autopkgtest" ]; then
    debootstrap --variant=minbase --include=autopkgtest bookworm "$root" "$mirror" >/dev/null
fi
rm -rf "$root/tmp/costate" && mkdir -p "$root/tmp/costate"
cp out/deb/*.deb "$root/tmp/costate/"
cp out/deb/costate_*.dsc out/deb/costate_*.tar.* "$root/tmp/costate/"
cat >"$root/tmp/costate/run.sh" <<'RUN'
set -eu
export DEBIAN_FRONTEND=noninteractive
cd /tmp/costate
apt-get -qq update
# one environment for all tests, so each test says what it needs, but packages of earlier ones stay
autopkgtest --no-built-binaries ./*.deb ./*.dsc --summary-file=summary -- null >log 2>&1 || { tail -40 log >&2; exit 1; }
cat summary
apt-get -qq remove --purge -y libcostate0.1 costate-data >removal
if find /usr -name '*costate*' -not -path '*/doc/*' | grep .; then
    echo "these files remain after the packages are removed" >&2
    exit 1
fi
RUN
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root sh /tmp/costate/run.sh
