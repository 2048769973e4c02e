#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the included studies meet their expectations of published results. Arguments: the
# hcasim program, the top of the source tree.
hcasim=$1
source=$2
failures=0
for study in "$source"/scenarios/studies/*.yaml; do
  output=$("$hcasim" run "$study" 2>&1) || {
    echo "$study: $output"
    failures=$((failures + 1))
  }
done
[ $failures -eq 0 ]
