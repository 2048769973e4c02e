#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that 2,000 flows of the web search's sizes at half load in a leaf-spine fabric take as long as in the simulator of HPCC's
# authors: mean and 99th percentile of slowdown within 3 %, the mean of each size within 6 %, without congestion control, with
# DCQCN, with DCQCN and windows, and with HPCC.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
source=$2
. "$(dirname "$0")/../support/script.sh"
python3 "$source/tests/support/reference_flows.py" "$hcasim" "$source/tests/data/ns3" "$folder" web-search web-search-dcqcn web-search-window \
  web-search-hpcc || fail "times of flows differ"
[ $failures -eq 0 ]
