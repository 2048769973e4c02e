#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the preloaded library exports only the names of the libc functions that it replaces. A
# program may then have its own function clock_init() or insn_run(). Usage: exports.sh LIBRARY
library=$1
[ -r "$library" ] || { echo "usage: exports.sh LIBRARY"; exit 2; }
command -v nm >/dev/null || { echo "nm is not installed"; exit 77; }
libc=$(ldd "$library" | awk '$1 == "libc.so.6" { print $3 }')
[ -r "$libc" ] || { echo "no libc.so.6 among what $library needs"; exit 77; }

names() { # of a library, without versions and local ones
  nm -D --defined-only "$1" | awk '$2 ~ /[A-Zi]/ { sub(/@.*/, "", $3); print $3 }' | sort -u
}

status=0
# of libibverbs: preload/verbs.c
others=$(comm -23 <(names "$library") <(names "$libc") | grep -vx ibv_open_device)
if [ -n "$others" ]; then
  echo "exported, but not functions of libc:" $others
  status=1
fi
for name in clock_gettime open openat64 poll pthread_mutex_lock fork sigaction gettid syscall; do
  names "$library" | grep -qx "$name" || { echo "$name is not exported: programs would reach libc's"; status=1; }
done
echo "$(names "$library" | wc -l) names exported"
exit $status
