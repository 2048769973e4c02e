#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that flows of one crowded port take as long as in the simulator of HPCC's authors, within 3
# % for the mean and the last flows. Two and sixteen flows run without congestion control, with
# DCQCN and with HPCC, with and without pauses. Arguments: the hcasim program, the top of the source
# tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"
python3 "$source/tests/support/reference_flows.py" "$hcasim" "$source/tests/data/ns3" "$folder" two-to-one two-to-one-dcqcn two-to-one-hpcc \
  incast-pauses incast-dcqcn incast-dcqcn-pauses incast-hpcc || fail "times of flows differ"
[ $failures -eq 0 ]
