#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that `hcasim published` measures the rows that programs measured, and how many of them hold.
# Arguments: the hcasim program, the top of the source tree. Exit code 77: the programs are not installed.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
command -v ib_send_lat ib_read_lat ib_write_lat >"$folder/programs" || exit 77

"$hcasim" published A1 C-29 G-03 >"$folder/out" 2>&1 || fail "exit code $?"
# A1-04, A1-05, A1-06, A1-09 and C-29 miss: docs/explanation/accuracy.md
[[ $(tail -n 1 "$folder/out") =~ ^12\ rows:\ ([0-9]+)\ pass,\ [0-9]+\ miss,\ 0\ skipped ]] || fail "no count: $(cat "$folder/out")"
[ "${BASH_REMATCH[1]}" -ge 7 ] || fail "7 are expected to pass: $(cat "$folder/out")"
exit $((failures > 0))
