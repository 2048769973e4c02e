#!/bin/bash
# Proves that `hcasim explain` accounts for all of the latency of a program's work requests: of all together, of one by its
# tag, and of a percentile; and that it refuses what is no percentile, and a tag that completed nothing.
# Arguments: the hcasim program, the top of the source tree. Exit code 77: the program is not installed.
hcasim=$1
command -v ibv_rc_pingpong >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trace=$folder/run.trace

fail() {
  echo "$*"
  exit 1
}

"$hcasim" exec "$2/scenarios/back-to-back-ib.yaml" --trace "$trace" -- \
  host0: ibv_rc_pingpong -n 20 -g 0 : host1: ibv_rc_pingpong -n 20 -g 0 host0 >"$folder/out" 2>&1 || fail "$(cat "$folder/out")"
for options in "" "--wqe 5" "--percentile 0" "--percentile 99"; do
  # shellcheck disable=SC2086
  "$hcasim" explain "$trace" $options --json >"$folder/json" || fail "explain $options: exit code $?"
  python3 - "$folder/json" <<'END' || fail "explain $options: $(cat "$folder/json")"
import json, sys
for line in open(sys.argv[1]):
    row = json.loads(line)
    assert row["latency_ps"] > 0 and sum(row["stages_ps"].values()) == row["latency_ps"]
END
done
"$hcasim" explain "$trace" | grep -q '^mean of 40 work requests' || fail "$("$hcasim" explain "$trace" | head -1)"
"$hcasim" explain "$trace" --percentile 101 2>/dev/null && fail "101 is taken for a percentile"
"$hcasim" explain "$trace" --wqe 999999 2>/dev/null && fail "a tag that completed nothing is explained"
exit 0
