#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that RDMA and programs see the same bytes in memory of each kind (listed in regions.c). Two
# runs are equal, for any number of quanta, with each of libc's methods to copy bytes: by emulated
# instructions and by others. Arguments: the hcasim program, the top of the source tree, a program
# of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
regions=$(dirname "$3")/regions

first=$("$hcasim" exec "$scenario" --verbose -- host0: "$regions" 2>&1) || { echo "exit code $?: $first"; exit 1; }
second=$("$hcasim" exec "$scenario" --verbose --set session.quantum=100us -- host0: "$regions" 2>&1)
[[ $first == *'memory regions are as expected'* ]] || { echo "$first"; exit 1; }
[ "$first" = "$second" ] || { echo "not twice alike: $first, then $second"; exit 1; }
for without in -AVX512VL,-AVX512F -AVX512VL,-AVX512F,-AVX2,-ERMS; do
  copied=$(GLIBC_TUNABLES=glibc.cpu.hwcaps=$without "$hcasim" exec "$scenario" --set session.quantum=100us -- host0: "$regions" 2>&1)
  [[ $copied == *'memory regions are as expected'* ]] || { echo "with $without: $copied"; exit 1; }
done
