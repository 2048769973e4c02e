#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the clusters of scenarios/clusters/ run by the commands of their comments, with exact
# results. Each row below is a command without `hcasim run`, and the first line of its output. MPI
# commands are in docs/lessons/mpi-cluster.md. Arguments: the hcasim program, the top of the source
# tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
as_a_user

rows=0
while IFS='|' read -r command line; do
  file=${command%% *}
  rows=$((rows + 1))
  grep -qF "#     hcasim run scenarios/clusters/$command" "$top/scenarios/clusters/${file##*/}" ||
    fail "$file: its comment does not have hcasim run scenarios/clusters/$command"
  output=$(eval "hcasim run \"$top/scenarios/clusters/$file\" ${command#"$file"}" 2>&1) || fail "$command: exit code $?: $output"
  [ "${output%%$'\n'*}" = "$line" ] || fail "$command: expected \"$line\", found \"${output%%$'\n'*}\""
done <<'END'
gpu-pod-hdr.yaml|flows      64, done 64, failed 0 in 44.570 us
gpu-pod-hdr.yaml --set workload.stride=1|flows      64, done 64, failed 0 in 326.694 us
mpi-18-edr.yaml --set 'workload={pattern: ring_allreduce, bytes: 1MB}'|flows      612, done 612, failed 0 in 295.033 us
pair-edr.yaml|completed  0.1895 M/s, 99.345 Gb/s of data
pair-edr.yaml --set load.bytes=8B --set load.tx_depth=1|completed  0.5763 M/s, 0.037 Gb/s of data
pair-fdr.yaml|completed  0.1007 M/s, 52.803 Gb/s of data
pair-fdr.yaml --set load.bytes=8B --set load.tx_depth=1|completed  0.5839 M/s, 0.037 Gb/s of data
pair-hdr.yaml|completed  0.3790 M/s, 198.690 Gb/s of data
pair-hdr.yaml --set load.bytes=8B --set load.tx_depth=1|completed  0.5748 M/s, 0.037 Gb/s of data
pair-ndr.yaml|completed  0.7579 M/s, 397.380 Gb/s of data
pair-ndr.yaml --set load.bytes=8B --set load.tx_depth=1|completed  0.5677 M/s, 0.036 Gb/s of data
pair-qdr.yaml|completed  0.0606 M/s, 31.790 Gb/s of data
pair-qdr.yaml --set load.bytes=8B --set load.tx_depth=1|completed  0.5811 M/s, 0.037 Gb/s of data
storage-roce.yaml|flows      375, done 375, failed 0 in 502.980 us
storage-roce.yaml --set hosts.hca.congestion=none|flows      375, done 375, failed 0 in 397.142 us
END

commands=$(cat "$top"/scenarios/clusters/*.yaml | grep -c '^#     hcasim run\|&& hcasim run')
[ "$rows" = "$commands" ] || fail "$rows rows, but the comments of scenarios/clusters/ have $commands commands"
exit $((failures > 0))
