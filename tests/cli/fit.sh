#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim fit` finds the number of a preset that published cases were calibrated to, and
# predicts the other cases. It prints the same twice, changes no file, and refuses impossible fits.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"

# found NUMBER ARGUMENT...
found() {
  local number=$1
  shift
  "$hcasim" fit "$@" >"$folder/out" 2>&1 || fail "$*: $(cat "$folder/out")"
  grep -qF "$number (standard error " "$folder/out" || fail "$*: expected $number: $(cat "$folder/out")"
}

# 520 ns of B1-03 are the latency and 134.5 ns of link, by the picosecond and by the nanosecond
found "haswell-e5: pcie.read_latency=385492ps" B1-03 --preset haswell-e5 --param pcie.read_latency=100000ps..900000ps --case "64 B"
found "haswell-e5: pcie.read_latency=385ns" B1-03 --preset haswell-e5 --param pcie.read_latency=100..900ns --case "64 B"
grep -Eq "^B1-03 +4 B .* follows$" "$folder/out" || fail "4 B does not follow: $(cat "$folder/out")"
grep -Eq "^B1-03 +64 B .* fitted$" "$folder/out" || fail "64 B is not fitted: $(cat "$folder/out")"
cp "$folder/out" "$folder/first"
found "haswell-e5: pcie.read_latency=385ns" B1-03 --preset haswell-e5 --param pcie.read_latency=100..900ns --case "64 B"
cmp "$folder/out" "$folder/first" || fail "two fits differ"
found "haswell-e5: pcie.read_latency=300ns" B1-03 --preset haswell-e5 --param pcie.read_latency=100ns..300ns/50

# refused TEXT ARGUMENT...
refused() {
  local text=$1
  shift
  "$hcasim" fit "$@" >/dev/null 2>"$folder/log"
  local code=$?
  [ $code -eq 2 ] || fail "$*: exit code $code"
  grep -qF -- "$text" "$folder/log" || fail "$*: $(cat "$folder/log")"
}
refused "expected ROW... --preset NAME --param" B1-03 --preset haswell-e5
refused "is not a parameter with bounds" B1-03 --preset haswell-e5 --param pcie.read_latency=100ns
refused "is not a parameter with bounds" B1-03 --preset haswell-e5 --param pcie.read_latency=300ns..100ns
refused "is not a parameter with bounds" B1-03 --preset haswell-e5 --param pcie.read_latency=1us..900ns
refused "is not a parameter with bounds" B1-03 --preset haswell-e5 --param pcie.read_latency=100ns..905ns/10
refused "read_latensy" B1-03 --preset haswell-e5 --param pcie.read_latensy=100ns..900ns
refused 'uses preset "broadwell-e5"' B1-03 --preset broadwell-e5 --param pcie.read_latency=100ns..900ns
refused "no row begins with" X9 --preset haswell-e5 --param pcie.read_latency=100ns..900ns
refused "no name of a row begins with the text of --case" B1-03 --preset haswell-e5 --param pcie.read_latency=100ns..900ns --case "65 B"

[ $failures -eq 0 ]
