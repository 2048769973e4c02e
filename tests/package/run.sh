#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the Debian packages work without the source tree. Builds them, installs them with apt
# in a new chroot, and runs programs there. Also runs an own scenario, a sweep, plots, and a
# congestion-control plug-in compiled against libhcasim-dev. By hand, as root: it downloads a
# Debian.
#
#     tests/package/run.sh [FOLDER]   # of the chroot; a new one unless given, removed at the end
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" -eq 0 ] || { echo 'tests/package/run.sh: not root' >&2; exit 1; }
tools/install build package
command -v mmdebstrap >/dev/null || apt-get -qq install -y mmdebstrap >/dev/null

tools/debs
root=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$root"' EXIT
. /etc/os-release
echo '== a new Debian with the packages'
mmdebstrap --quiet --variant=apt --include=ca-certificates "$VERSION_CODENAME" "$root"
mkdir -p "$root/debs" "$root/work"
cp build/packages/*.deb "$root/debs"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 bash -ec "cd /work; $*"; }
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm" 2>/dev/null || true
trap 'umount -l "$root/dev/shm" "$root/dev" "$root/sys" "$root/proc" 2>/dev/null; [ -n "${1:-}" ] || rm -rf --one-file-system "$root"' EXIT
inside 'export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq install -y /debs/hcasim_*.deb /debs/hcasim-doc_*.deb /debs/libhcasim-dev_*.deb >/dev/null 2>&1'

echo '== programs'
inside 'hcasim --version
  hcasim init programs
  hcasim run programs.yaml >out
  grep "^host1|  *65536" out'
echo '== a scenario, a sweep, plots'
inside 'hcasim init fabric
  hcasim check fabric.yaml
  hcasim run fabric.yaml --out run | grep "^flows"
  hcasim sweep fabric.yaml -j 2 --out sweep | tail -n 1
  hcasim plot sweep --metric slowdown_p99 --x workload.offered_load
  hcasim init adapter
  hcasim run adapter.yaml --out one >/dev/null
  hcasim explain one --bottleneck | head -n 3'
echo '== a plug-in, against the installed headers'
inside 'gcc -shared -fPIC -O2 $(pkg-config --cflags hcasim) -o halve.so /usr/share/doc/hcasim/examples/halve.c
  hcasim run fabric.yaml --set hosts.hca.congestion=./halve.so | grep "^flows"'
echo '== the library, from C and from Python'
inside 'apt-get -qq install -y python3 >/dev/null 2>&1
  gcc -Wall -Werror /usr/share/doc/hcasim/examples/step.c $(pkg-config --cflags --libs hcasim) -o step
  ./step | tail -n 1
  python3 /usr/share/doc/hcasim/examples/step.py swift | tail -n 1'
echo '== the pages and the manual'
inside 'test -f /usr/share/doc/hcasim/README.md -a -f /usr/share/man/man1/hcasim.1
  dpkg -V hcasim libhcasim-dev'
echo 'passed'
