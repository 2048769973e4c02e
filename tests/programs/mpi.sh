#!/bin/bash
# Proves that Open MPI runs unmodified: mpirun on one simulated host starts a daemon on the other by tools/hcasim-ssh, and the two
# ranks of mpi.c talk over the adapters by UCX. Bytes and hosts are right, the times are those of the adapter, and a second
# run, on another kernel of the simulator, prints the same.
# Arguments: the hcasim program, the top of the source tree. Exit code 77: Open MPI, or its compiler, is not installed.
hcasim=$1
source=$2
command -v mpirun >/dev/null && command -v mpicc >/dev/null && mpirun --version | grep -q 'Open MPI' || exit 77
folder=$(mktemp -d /tmp/hcasim-mpi.XXXX) # short: the names of Open MPI's sockets start with it
trap 'rm -rf "$folder"' EXIT
mpicc -O2 -o "$folder/mpi" "$source/tests/programs/mpi.c" || exit 77

run() {
  TMPDIR=$folder "$hcasim" exec --kernel "$1" "$source/scenarios/two-hosts-ib.yaml" -- \
    host0: mpirun --allow-run-as-root --mca plm_rsh_agent "$source/tools/hcasim-ssh" --mca pml ucx -H host0,host1 -np 2 "$folder/mpi" \
    2>"$folder/errors" </dev/null | sed 's/ *$//' | LC_ALL=C sort
  [ "${PIPESTATUS[0]}" -eq 0 ] || cat "$folder/errors"
}

run native >"$folder/1"
run hosted >"$folder/2"
failures=0
expect() {
  grep -qE "^host0\| $1\$" "$folder/1" || { echo "not printed: $1"; failures=$((failures + 1)); }
}
expect 'rank 0 of 2 is on host0, the sum is 3'
expect 'rank 1 of 2 is on host1, the sum is 3'
expect ' +8 bytes +1\.[1-9][0-9] us' # as a tagged message of ucx_perftest: 1.40 us
expect ' +1024 bytes +[2-4]\.[0-9]+ us'
expect ' +16384 bytes +[3-9]\.[0-9]+ us'
expect '1048576 bytes +(8[4-9]|9[0-9])\.[0-9]+ us' # at the ceiling of 11846 MB/s: 84.4 us
cmp "$folder/1" "$folder/2" || failures=$((failures + 1))
[ $failures -eq 0 ] || cat "$folder/1" "$folder/errors"
[ $failures -eq 0 ]
