#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests iWARP for programs: every byte of each operation arrives, with and without loss, errors end a
# connection as siw ends it, and verbs that siw lacks have its errno. A second run, on another engine, is
# the same, byte for byte. tshark finds each CRC good and nothing malformed. Arguments: the hcasim
# program, the top of the source tree, a program of this folder's.
hcasim=$1
source=$2
iwarp=$(dirname "$3")/iwarp
connections=$(dirname "$3")/connections
. "$(dirname "$0")/../support/script.sh"

run() { # NAME SCENARIO OPTIONS...
  timeout 100 "$hcasim" exec "$source/scenarios/$2.yaml" "${@:3}" --counters "$folder/$1.json" --pcap "$folder/$1.pcapng" -- \
    host0: "$iwarp" : host1: "$iwarp" host0 >"$folder/$1.out" 2>"$folder/$1.err" || fail "$1: exit code $?"
  [ -s "$folder/$1.err" ] && fail "$1: $(cat "$folder/$1.err")"
  diff - "$folder/$1.out" <<'END' || fail "$1: wrong output"
host1| atomic: Invalid argument
host1| write with immediate: Invalid argument
host1| send with immediate: Invalid argument
host1| UD: Operation not supported
host1| memory window: Operation not supported
host1| resize: Operation not supported
host1| client: as expected
host0| server: as expected
END
}
count() { # NAME HOST COUNTER
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2] + ".hca.rnic"]["counters"][sys.argv[3]])' "$folder/$1.json" "$2" "$3"
}

run clean two-hosts-iwarp
run lossy two-hosts-iwarp-loss
run again two-hosts-iwarp-loss --engine systemc
for file in out json pcapng; do
  cmp "$folder/lossy.$file" "$folder/again.$file" || fail "$file differs from run to run"
done
[ "$(count clean host1 retransmissions)" = 0 ] || fail "segments were sent again without loss"
[ "$(count lossy host1 retransmissions)" -gt 10 ] || fail "nothing was lost"
for name in clean lossy; do
  for host in host0 host1; do
    # control blocks and receive entries have 128 and 64 bytes
    state=$(count $name $host state_bytes)
    [ "$state" -gt 0 ] && [ $((state % 64)) = 0 ] || fail "$name, $host: $state bytes of state"
    [ "$(count $name $host held_bytes)" -gt 1000 ] || fail "$name, $host: no held bytes"
  done
  # the wrong key and the missing receive request
  [ "$(count $name host0 terminates_sent)" = 2 ] || fail "$name: $(count $name host0 terminates_sent) Terminates; expected 2"
  [ "$(count $name host1 terminates_received)" = 2 ] || fail "$name: a Terminate did not arrive"
  [ "$(count $name host1 fpdus_sent)" = "$(count $name host0 fpdus_received)" ] || fail "$name: FPDUs are not conserved"
  [ "$(count $name host0 fpdus_sent)" = "$(count $name host1 fpdus_received)" ] || fail "$name: FPDUs are not conserved"
done

# Hundreds of connections. libsiw takes one key of its rings for an error.
many=$("$hcasim" exec "$source/scenarios/two-hosts-iwarp.yaml" -- host0: "$connections" 300 : host1: "$connections" 300 host0 2>&1)
[[ $many == *'host0| 300 of 300 connections'* && $many =~ 'host1| 2'[01][0-9]'.'[0-9]' us each' ]] || fail "connections: $many"

if command -v tshark >/dev/null; then
  tshark -r "$folder/clean.pcapng" --disable-protocol rpcordma -V 2>/dev/null >"$folder/clean.txt"
  grep -q 'Bad CRC32' "$folder/clean.txt" && fail "tshark finds a bad CRC"
  [ "$(tshark -r "$folder/clean.pcapng" --disable-protocol rpcordma -Y _ws.malformed 2>/dev/null | wc -l)" = 0 ] || fail "tshark finds malformed packets"
  for operation in 'Write (0x0)' 'Read Request (0x1)' 'Read Response (0x2)' 'Send (0x3)' 'Send with Invalidate (0x4)' 'Terminate (0x7)'; do
    grep -qF "OpCode: $operation" "$folder/clean.txt" || fail "tshark finds no $operation"
  done
fi
exit $failures
