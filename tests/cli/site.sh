#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the documentation builds as a site with search. All links and anchors are valid
# (warnings of Sphinx are errors). Its reference pages have the parameters of the program.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
command -v sphinx-build >/dev/null || { echo "sphinx-build is not installed"; exit 77; }
/usr/bin/python3 -c 'import myst_parser, furo' 2>/dev/null || { echo "myst-parser or furo is not installed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() { echo "$*"; failures=1; }

HCASIM=$hcasim "$top/tools/site" "$folder/site" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
[ -s "$folder/site/searchindex.js" ] || fail "no search index"
for block in hca-scheduler hca-pcie cpu; do
  grep -q "id=\"$block\"" "$folder/site/reference/parameters.html" || fail "no parameters of $block"
done
grep -q 'id="hca.pcie.lanes"' "$folder/site/reference/parameters.html" || fail "no anchor of hca.pcie.lanes"
for entry in counters:doorbells metrics:goodput_gbps trace-points:DOORBELL gauges:to_host latency-stages:wqe_fetch \
             fault-actions:corrupt_icrc result-columns:destination presets:pcie.lanes studies:incast-dcqcn published:A1-01; do
  grep -q ">${entry#*:}<" "$folder/site/reference/${entry%%:*}.html" || fail "reference/${entry%%:*} has no ${entry#*:}"
done
grep -rqE '(src|href)="https?://[^"]*\.(js|css|woff2?)"' "$folder/site" --include=*.html && fail "a page loads something from outside"
exit "$failures"
