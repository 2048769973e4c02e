#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that Open MPI runs unmodified, with several ranks on a host. mpirun on one simulated host
# starts a daemon on the other by tools/hcasim-ssh. The four ranks of mpi.c use UCX, over the
# adapters and through shared memory. Two ranks of one host use Open MPI's own shared memory. Bytes,
# sums and hosts are right. The times are those of the adapter or of shared memory. A second run on
# another engine prints the same. Arguments: the hcasim program, the top of the source tree. Exit
# code 77: Open MPI, or its compiler, is not installed.
hcasim=$1
source=$2
command -v mpirun >/dev/null && command -v mpicc >/dev/null && mpirun --version | grep -q 'Open MPI' || exit 77
folder=$(mktemp -d /tmp/hcasim-mpi.XXXX) # short: the names of Open MPI's sockets start with it
trap 'rm -rf "$folder"' EXIT
mpicc -O2 -o "$folder/mpi" "$source/tests/programs/mpi.c" || exit 77

# run KERNEL OPTIONS...
run() {
  local engine=$1
  shift
  TMPDIR=$folder "$hcasim" exec --engine "$engine" "$source/scenarios/two-hosts-ib.yaml" -- \
    host0: mpirun --allow-run-as-root --mca plm_rsh_agent "$source/tools/hcasim-ssh" "$@" "$folder/mpi" \
    2>"$folder/errors" </dev/null | sed 's/ *$//' | LC_ALL=C sort
  [ "${PIPESTATUS[0]}" -eq 0 ] || cat "$folder/errors"
}

failures=0
# expect FILE PATTERN
expect() {
  grep -qE "^host0\| $2\$" "$folder/$1" || { echo "$1: not printed: $2"; failures=$((failures + 1)); }
}

for engine in native systemc; do
  run $engine --mca pml ucx -H host0:2,host1:2 -np 4 >"$folder/ucx-$engine"
  run $engine --mca pml ob1 --mca btl_vader_backing_directory "$folder" -H host0:2 -np 2 >"$folder/shared-$engine"
done
for rank in 0 1 2 3; do
  expect ucx-native "rank $rank of 4 is on host$((rank / 2)), the sum is 10"
done
for elements in 1 16 256 4096; do
  expect ucx-native "allreduce of +$elements +[0-9.]+ us"
done
expect ucx-native 'with rank 1 +8 bytes +0\.[0-9]+ us'
expect ucx-native 'with rank 1 +16384 bytes +[0-9.]+ us'
expect ucx-native 'with rank 3 +8 bytes +1\.[1-9][0-9] us' # as a tagged message of ucx_perftest: 1.40 us
expect ucx-native 'with rank 3 +1024 bytes +[2-4]\.[0-9]+ us'
expect ucx-native 'with rank 3 +16384 bytes +[3-9]\.[0-9]+ us'
expect ucx-native 'with rank 3 +1048576 bytes +(8[4-9]|9[0-9])\.[0-9]+ us' # at the ceiling of 11846 MB/s: 84.4 us
expect shared-native 'rank 1 of 2 is on host0, the sum is 3'
# 0.13 or 1.20 us: ranks that poll more than 16 locations of shared memory wake late, and whether they
# do depends on when Open MPI's daemons exchanged messages (limitations.md).
expect shared-native 'with rank 1 +8 bytes +[01]\.[0-9]+ us'
expect shared-native 'with rank 1 +1048576 bytes +[0-9.]+ us'
for what in ucx shared; do
  cmp "$folder/$what-native" "$folder/$what-systemc" || failures=$((failures + 1))
done
[ $failures -eq 0 ] || cat "$folder"/ucx-native "$folder"/shared-native "$folder/errors"
[ $failures -eq 0 ]
