#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests verbs that the device does not offer. The log names each once, and the program gets its
# library's result. OPEN_XRCD of a file without a domain ends with EAGAIN, though the file may
# block. O_NONBLOCK of device files is kept. A run whose program requested umad does not end with
# exit code 0. Arguments: the hcasim program, the top of the source tree, a program of this
# folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
refused=$(dirname "$3")/refused
fail() { echo "$*"; exit 1; }

printed=$(timeout 60 "$hcasim" exec "$scenario" -- host0: "$refused" "$0" 2>/dev/null) || fail "exit code $?: $printed"
[ "$printed" = 'host0| ibv_alloc_dm: Invalid argument
host0| ibv_alloc_dm: Invalid argument
host0| ibv_alloc_null_mr: Operation not supported
host0| ibv_create_srq_ex: Invalid argument
host0| ibv_modify_qp_rate_limit: Invalid argument
host0| OPEN_XRCD: Resource temporarily unavailable
host0| /dev/infiniband/uverbs0: does not block
host0| /dev/infiniband/rdma_cm: does not block' ] || fail "$printed"
log=$("$hcasim" exec "$scenario" -- host0: "$refused" "$0" 2>&1 >/dev/null)
for verb in ibv_alloc_dm ibv_alloc_null_mr ibv_create_srq_ex ibv_modify_qp_rate_limit; do
  [ "$(grep -c "^hcasim: host0: not modelled: $verb: " <<<"$log")" = 1 ] || fail "$verb is not named once: $log"
done

log=$("$hcasim" exec "$scenario" -- host0: sh -c 'cat /sys/class/infiniband_mad/abi_version; exit 0' 2>&1)
code=$?
[ $code = 1 ] || fail "umad: exit code $code: $log"
[[ $log == *'not modelled: umad (/dev/infiniband/umad0)'* && $log == *'exit code 1: a program asked for umad'* ]] || fail "$log"
