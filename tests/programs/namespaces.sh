#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs see the namespaces of a system that has made none, by stat() and by readlink(),
# and not those of hcasim, which have other numbers in each run. Arguments: the hcasim program, the
# top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

"$hcasim" exec "$2/scenarios/two-hosts-ib.yaml" -- \
  host0: sh -c 'for one in ipc uts user pid; do stat -L -c "%i %d" /proc/self/ns/$one; readlink /proc/self/ns/$one; done' \
  >"$folder/out" 2>&1 || fail "exit code $?"
for one in ipc:4026531839 uts:4026531838 user:4026531837 pid:4026531836; do
  printf 'host0| %s 4\nhost0| %s:[%s]\n' "${one#*:}" "${one%:*}" "${one#*:}"
done >"$folder/expected"
cmp "$folder/expected" "$folder/out" || fail "$(cat "$folder/out")"
exit $failures
