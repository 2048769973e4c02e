#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that 2,000 flows of web-search sizes at half load in a leaf-spine fabric take as long as in
# the simulator of HPCC's authors. Mean and 99th percentile of slowdown agree within 3 %, the mean
# of each size within 6 %. Runs have no congestion control, DCQCN, and HPCC. The case
# web-search-window (DCQCN with windows) runs by hand. Arguments: the hcasim program, the top of the
# source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"
python3 "$source/tests/support/reference_flows.py" "$hcasim" "$source/tests/data/ns3" "$folder" web-search web-search-dcqcn \
  web-search-hpcc || fail "times of flows differ"
[ $failures -eq 0 ]
