#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `hcasim exec` finds all bad input before a program starts, with exit code 2. Output and
# exit codes of programs are passed on. Hosts share no memory. A result folder is complete, equal in
# a second run, and reads back. Arguments: the hcasim program, the top of the source tree.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
. "$(dirname "$0")/../support/script.sh"

# expect CODE TEXT ARGUMENTS...: standard error or output holds TEXT
expect() {
  local code=$1 text=$2 output status
  shift 2
  output=$("$hcasim" "$@" 2>&1)
  status=$?
  if [ $status -ne "$code" ]; then
    fail "hcasim $*: exit code $status, expected $code: $output"
  elif [[ $output != *"$text"* ]]; then
    fail "hcasim $*: \"$text\" is not in: $output"
  fi
}

printf '#!/no/such/interpreter\n' >"$folder/script"
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0' >"$folder/bits32"
printf 'echo\n' >"$folder/plain"
chmod +x "$folder/script" "$folder/bits32"

expect 2 'no programs' exec "$scenario"
expect 2 'no programs' exec "$scenario" --
expect 2 'no host "host3"; did you mean "host0"?' exec "$scenario" -- host3: true
expect 2 'found "true"; expected a host' exec "$scenario" -- true
expect 2 'host0: is not followed by a program' exec "$scenario" -- host0:
expect 2 'a program is missing' exec "$scenario" -- host0: true :
expect 2 'a program is missing' exec "$scenario" -- : host0: true
expect 2 'all programs are servers' exec "$scenario" -- server host0: true
expect 2 'found "server"; expected a host' exec "$scenario" -- server : host0: true
expect 2 'host1: no-such-program: no such program in PATH' exec "$scenario" -- host0: true : host1: no-such-program
expect 2 '/no/such/interpreter: No such file or directory' exec "$scenario" -- host0: "$folder/script"
expect 2 'bits32 is a 32-bit program' exec "$scenario" -- host0: "$folder/bits32"
expect 2 'plain is not executable' exec "$scenario" -- host0: "$folder/plain"
expect 2 'cannot be read: No such file or directory' exec "$folder/none.yaml" -- host0: true
expect 2 'no engine "nativ"; expected native, systemc or systemc-reference; did you mean "native"?' exec "$scenario" --engine nativ -- host0: true
expect 2 'cannot be written' exec "$scenario" --pcap "$folder/none/x" -- host0: true
expect 2 'is a directory' exec "$scenario" --counters "$folder" -- host0: true
expect 2 'not an empty folder' exec "$scenario" --out "$folder" -- host0: true
expect 2 'nothing to run' run "$scenario"
if [ -n "$(find "$folder" -name '*.part' -o -name '*.json')" ]; then
  fail "bad input has left something behind: $(ls "$folder")"
fi

expect 0 'host1| hello' exec "$scenario" -- host1: echo hello
expect 0 'host0| host0' exec "$scenario" -- host0: hostname
# The PCIe link that programs read is the adapter's.
shown=$("$hcasim" exec "$scenario" --set hosts.host0.hca.pcie.lanes=4 --set hosts.host0.hca.pcie.generation=4 -- host0: sh -c \
  'cd /sys/class/infiniband/mlx5_0/device; cat current_link_speed current_link_width max_link_speed max_link_width')
[ "$shown" = $'host0| 16.0 GT/s PCIe\nhost0| 4\nhost0| 16.0 GT/s PCIe\nhost0| 4' ] || fail "PCIe link: $shown"
# Each host has a /dev/shm of its own, where there are namespaces; nothing of it stays on the machine.
if unshare --user --map-root-user --net --mount --pid --ipc --fork true 2>/dev/null; then
  shown=$("$hcasim" exec "$scenario" -- host0: sh -c ": >/dev/shm/hcasim-$$" : host0: sh -c 'sleep 1; ls /dev/shm' : host1: sh -c 'sleep 1; ls /dev/shm')
  [ "$shown" = "host0| hcasim-$$" ] && [ ! -e "/dev/shm/hcasim-$$" ] || fail "/dev/shm: $shown, $(ls /dev/shm)"
  # A program that a process of another host starts there as root sees that host, not the other one.
  # The same holds after the return.
  [ "$(id -u)" -ne 0 ] || shown=$("$hcasim" exec "$scenario" -- host0: env "PATH=$2/tools:$PATH" sh -c \
    ': >/dev/shm/a; hcasim-ssh -x -o BatchMode=yes me@host1 "ls /dev/shm; : >/dev/shm/b; hcasim-ssh host0 ls /dev/shm"' : host1: sh -c 'sleep 1; ls /dev/shm')
  [ "$(id -u)" -ne 0 ] || [ "$shown" = $'host0| a\nhost1| b' ] || fail "/dev/shm by hcasim-ssh: $shown"
fi
expect 7 '' exec "$scenario" -- host0: true : host1: sh -c 'exit 7'
expect 3 '' run "$scenario" --set 'programs=[{host: host1, command: [sh, -c, exit 3]}]'
expect 2 'expect: no counter matches "*.nothing"; expected a name as counters.json has them' exec "$scenario" --set 'expect=[{counter: "*.nothing"}]' -- host0: true
expect 0 '' exec "$scenario" --set 'expect=[{counter: "*.packets_forwarded", equals: 0}]' -- host0: true

for run in one two; do
  "$hcasim" exec "$scenario" --out "$folder/$run" --set record.packets=true --set 'record.trace=["*"]' -- host0: true >"$folder/$run.log" 2>&1 ||
    fail "run $run: $(cat "$folder/$run.log")"
done
for file in scenario.yaml summary.json counters.json packets.pcapng trace.bin; do
  cmp "$folder/one/$file" "$folder/two/$file" || fail "$file is missing or differs from run to run"
done
[ "$(find "$folder/one" -type f | wc -l)" -eq 5 ] || fail "more or less than five files: $(ls "$folder/one")"
"$hcasim" check "$folder/one/scenario.yaml" || fail "the effective configuration does not read back"
python3 -c 'import json, sys; [json.load(open(f)) for f in sys.argv[1:]]' "$folder/one/summary.json" "$folder/one/counters.json" || fail "not JSON"
"$hcasim" decode "$folder/one/packets.pcapng" >/dev/null || fail "hcasim decode does not read packets.pcapng"
[ $failures -eq 0 ]
