#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that random runs obey laws: pairs of runs whose results must relate in a known way, and runs
# with known results. laws.py has the list. docs/explanation/laws.md describes each law and the
# permitted differences.
# Usage: run.sh [-n CASES] [-s SEED] [-l LAW] [-c CASE] [HCASIM [TOP]]
#   -n CASES  number of cases (default 50), in two processes
#   -s SEED   seed of the cases: the same seed gives the same cases (default 1)
#   -l LAW    only this law (nothing, scale, more, names, shift, apart, fidelities, reverse, scale, repeat, known)
#   -c CASE   only the case of this number
# A failing case is printed as files to run, reduced as far as possible. The last line is `N cases,
# M violations`. The exit code is 1 if M is not 0, and 77 without Python.
here=$(cd "$(dirname "$0")" && pwd)
options=()
while getopts n:s:l:c: option; do
  case $option in
    n | s | l | c) options+=("-$option" "$OPTARG") ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
hcasim=${1:-$here/../../build/bin/hcasim}
[ -x "$hcasim" ] || { echo "usage: run.sh [-n CASES] [-s SEED] [-l LAW] [-c CASE] [HCASIM [TOP]]: no program $hcasim"; exit 2; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "$here/laws.py" "${options[@]}" "$hcasim"
