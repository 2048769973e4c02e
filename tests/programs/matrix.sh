#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that an unmodified program behaves on simulated adapters as on real adapters. It ends with
# exit code 0, and prints nothing on standard error. It prints the lines of one row of matrix.txt,
# with figures within the stated bounds. A second run, on another engine and other processors,
# prints the same and sends the same packets at the same times. Arguments: the hcasim program, the
# top of the source tree, the row's name, the program `verify`. Exit code 77: the program is not
# installed.
hcasim=$1
source=$2
name=$3
verify=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

row=$(grep "^$name *|" "$source/tests/programs/matrix.txt") || {
  echo "matrix.txt has no row $name"
  exit 1
}
IFS='|' read -r _ scenario first second _ <<<"$row"
expected=$(sed -E 's/^([^|]*\|){4} *//' <<<"$row")
read -r scenario options <<<"$scenario"
read -ra first <<<"${first//@verify@/$verify}"
read -ra second <<<"${second//@verify@/$verify}"
host=host1
if [ "${second[0]}" = host0: ]; then # both run there
  host=host0
  second=("${second[@]:1}")
fi
for word in "${first[@]}"; do # behind `env` and variables
  [[ $word == env || $word == *=* ]] || break
done
command -v "$word" >/dev/null || exit 77

failures=0
fail() {
  echo "$*"
  failures=$((failures + 1))
}

# run NUMBER OPTIONS... [-- COMMAND in front]
run() {
  local number=$1
  shift
  "$@" --pcap "$folder/$number.pcapng" "$source/scenarios/$scenario.yaml" $options -- \
    host0: "${first[@]}" : $host: "${second[@]}" >"$folder/$number.out" 2>"$folder/$number.err" </dev/null
  local status=$?
  # rping reports its end. perftest reports that it does not know the vendor of siw. hcasim reports the requests of UCX that were refused, and that data over
  # loopback arrived after their ACKs.
  sed -i '/server DISCONNECT EVENT/d; /client DISCONNECT EVENT/d; /Device not recognized to implement inline/d; /wait for RDMA_READ_ADV state/d; /^hcasim: host[01]: not modelled: ibv_alloc_dm/d;
    /^hcasim: host0: [0-9]* messages over loopback were acknowledged before/d' "$folder/$number.err"
  [ $status -eq 0 ] || fail "run $number: exit code $status"
}

# The last row of figures of the second program's host.
figures() {
  grep -E "^$host\| +[0-9]+ +[0-9]+ +[0-9.]+ " "$folder/1.out" | tail -n 1 | cut -d'|' -f2
}

check() {
  local column low high value
  case $1 in
  /*) grep -qE "${1:1:-1}" "$folder/squeezed" || fail "not printed: $1" ;;
  !/*) ! grep -qE "${1:2:-1}" "$folder/squeezed" || fail "printed: $1" ;;
  *)
    column=${1%%=*}
    low=${1#*=}
    high=${low#*..}
    low=${low%%..*}
    value=$(figures | awk -v column="$column" '{print $column}')
    awk -v value="$value" -v low="$low" -v high="$high" 'BEGIN {exit !(value != "" && value >= low + 0 && value <= high + 0)}' ||
      fail "figure $column is \"$value\", expected $low to $high"
    ;;
  esac
}

other=(systemc systemc-reference)
run 1 "$hcasim" exec
run 2 taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')" "$hcasim" exec --engine "${other[$((${#name} % 2))]}"

tr -s ' \t' ' ' <"$folder/1.out" >"$folder/squeezed"
while read -r one; do
  check "$one"
done < <(sed 's/ & /\n/g' <<<"$expected")
[ -s "$folder/1.err" ] && [[ $name != *ud* ]] && fail "standard error: $(cat "$folder/1.err")"
cmp "$folder/1.out" "$folder/2.out" || fail "standard output differs from run to run"
cmp "$folder/1.pcapng" "$folder/2.pcapng" || fail "the packets differ from run to run"
[ $failures -eq 0 ] || cat "$folder/1.out" "$folder/1.err"
[ $failures -eq 0 ]
