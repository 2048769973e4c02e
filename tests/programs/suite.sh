#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that rdma-core's own tests of pyverbs pass on the simulated adapter: all tests on
# InfiniBand, and on RoCE the tests that send. The tests of rdma_cm run twice, on two engines, with
# equal results. suite.txt lists the passing tests. The suite skips the others.
#
# Both ends are of one adapter. A program in virtual time reads the data as soon as the sender has
# its completion, and resizes a CQ directly after a doorbell. Python on a machine cannot. The
# scenario therefore has ACKs after the data, and stores of 1 us. Arguments: the hcasim program, the
# top of the source tree. Exit code 77: pyverbs, or its tests, are not installed.
hcasim=$1
source=$2
python=/usr/bin/python3 # the one that Debian's modules are for
tests=/usr/share/doc/rdma-core/tests
"$python" -c 'import pyverbs.device' 2>/dev/null && [ -e $tests/run_tests.py ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp $tests/* "$folder" && gunzip "$folder"/*.gz || exit 1

# The interface of a RoCE adapter that the suite queries. The simulated hosts have no netlink.
cat >"$folder/ip" <<'END'
#!/bin/sh
read -r mac </sys/class/net/eth0/address
echo "[{\"addr_info\": [{\"local\": \"127.77.0.1\"}], \"address\": \"$mac\"}]"
END
chmod +x "$folder/ip"

# run SCENARIO KERNEL TESTS...
run() {
  local scenario=$1 engine=$2
  shift 2
  PATH=$folder:$PATH "$hcasim" exec --engine "$engine" --set hosts.host0.hca.transport.ack_when=posted --set cpu.mmio_store=1us \
    "$source/scenarios/$scenario.yaml" -- host0: "$python" "$source/tests/programs/suite.py" "$folder" \
    --dev mlx5_0 --port 1 --gid 0 "$@" 2>"$folder/errors" </dev/null || cat "$folder/errors"
}

failures=0
# compare RESULTS KIND MODULES: the passes and failures are those of suite.txt, in the modules that an ERE names
compare() {
  grep -E "^(pass|$2|fail) ($3)\." "$source/tests/programs/suite.txt" | sed 's/^pass-[a-z]* /pass /' | LC_ALL=C sort >"$folder/expected"
  sed -nE 's/^host0\| ((pass|fail) [^ ]*).*/\1/p' "$1" | grep -vxF "$(sed -n 's/^may /pass /p' "$source/tests/programs/suite.txt")" |
    LC_ALL=C sort >"$folder/found"
  [ -s "$folder/found" ] && diff "$folder/expected" "$folder/found" && return
  failures=$((failures + 1))
  grep -Ev '^host0\| (pass|skip)' "$1"
}

run two-hosts-ib native >"$folder/ib"
compare "$folder/ib" pass-ib '[a-z0-9_]*'

few=(test_addr test_atomic test_cq_events test_mr test_odp test_parent_domain test_qp test_rdmacm
  test_relaxed_ordering)
run two-hosts-roce native "${few[@]}" >"$folder/roce"
run two-hosts-roce systemc "${few[@]}" >"$folder/again"
compare "$folder/roce" pass-roce "$(IFS='|'; echo "${few[*]}")"
cmp "$folder/roce" "$folder/again" || failures=$((failures + 1))
[ $failures -eq 0 ]
