#!/usr/bin/env bash
# Tries what the README promises in empty Debians made by debootstrap, and prints how long each part takes:
#
#     scripts/check/clean_room.sh [run] [test] [wheel] [deb]
#
#   run, test: the two commands of the README, each alone in a Debian of its own with the files of HEAD
#   wheel, deb: the wheel and the Debian packages, made here and tried there
#
# All four without arguments, which takes an hour. Tests find reference data where COSTATE_REFERENCE_DIR names them. Needs root.
# ROOMS=DIR (out/rooms) holds the Debians.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[ $# -gt 0 ] || set -- run test wheel deb
rooms=${ROOMS:-out/rooms}
mirror=${MIRROR:-http://deb.debian.org/debian}
mkdir -p "$rooms"
command -v debootstrap >/dev/null || apt-get -qq install -y debootstrap >/dev/null

# An empty Debian with the files of HEAD in /costate.
furnish() {
    rm -rf --one-file-system "$1"
    debootstrap --variant=minbase --include=ca-certificates bookworm "$1" "$mirror" >/dev/null
    cp /etc/resolv.conf /etc/hosts "$1/etc/"
    cp -r /usr/local/share/ca-certificates "$1/usr/local/share/"  # of a network that has its own
    chroot "$1" update-ca-certificates >/dev/null 2>&1
    mkdir "$1/costate"
    git archive HEAD | tar -x -C "$1/costate"
}

# Runs a command in /costate of a room.
inside() {
    local room=$1
    shift
    mount -t proc proc "$room/proc"
    mount -t sysfs -o ro sys "$room/sys"  # of which MPI asks for the cores
    mount --rbind /dev "$room/dev"
    mount --make-rslave "$room/dev"
    trap 'umount -l "$room/proc" "$room/sys" "$room/dev"' RETURN
    if [ -n "${COSTATE_REFERENCE_DIR:-}" ]; then
        mkdir -p "$room/reference"
        mount --bind "$COSTATE_REFERENCE_DIR" "$room/reference"
        trap 'umount -l "$room/proc" "$room/sys" "$room/dev" "$room/reference"' RETURN
        set -- COSTATE_REFERENCE_DIR=/reference "$@"
    fi
    chroot "$room" /usr/bin/env -i -C /costate PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
        NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$@"
}

table="" failed=0
for part in "$@"; do
    room="$rooms/$part" log="$rooms/$part.log"
    case "$part" in
        run | test) furnish "$room" ;;
        wheel | deb) ;;
        *) echo "clean_room.sh: there is no part $part: run test wheel deb" >&2 && exit 2 ;;
    esac
    begin=$SECONDS status=passed
    case "$part" in
        run) inside "$room" scripts/run.sh >"$log" 2>&1 || status=failed ;;
        test) inside "$room" scripts/test.sh >"$log" 2>&1 || status=failed ;;
        *) { scripts/package/"$part".sh && ROOT="$room" scripts/package/test_"$part".sh; } >"$log" 2>&1 || status=failed ;;
    esac
    [ "$status" = passed ] || failed=1
    table+="| $part | $status | $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s | $(tail -1 "$log") |"$'\n'
done
printf '| part | | time | last line |\n|---|---|---|---|\n%s' "$table"
exit "$failed"
