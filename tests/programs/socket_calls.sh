#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the same random socket calls on Linux and on simulated hosts, and compares all results and errno values. Linux: two network
# namespaces with an Ethernet cable between them. urgent.py makes more calls with urgent data. Exit status 77: the system permits no network namespaces.
# Arguments: the hcasim program, the top of the source tree, a program of this folder. Then, by hand: the number of seeds, the first
# seed, calls of each seed. SLICE seeds run in one process.
#   tests/programs/socket_calls.sh build/bin/hcasim . - 1000 1 1000
# ends with a line `N seeds, M differ`.
hcasim=$1 top=$2 seeds=${4:-4} first=${5:-1} calls=${6:-400}
SLICE=${SLICE:-20}
command -v python3 >/dev/null && command -v ip >/dev/null || { echo 'no python3 or ip'; exit 77; }
[ "$seeds" -gt 0 ] && [ "$calls" -gt 0 ] || { echo "$seeds seeds of $calls calls; expected numbers above 0"; exit 2; }
unshare --user --map-root-user --net bash -c 'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit && ip link add v0 type veth peer name v1' 2>/dev/null ||
  { echo 'no network namespaces'; exit 77; }
. "$(dirname "$0")/../support/script.sh"
program=$top/tests/programs/socket_calls.py

# The peer's namespace is that of the server. Linux limits ICMP messages by time.
cat >"$folder/linux.sh" <<'END'
echo 0 >/proc/sys/net/ipv4/icmp_ratelimit
ip link set lo up
ip link add v0 mtu 9000 type veth peer name v1 mtu 9000
ip address add 10.99.0.1/16 brd + dev v0
unshare --net bash -c 'echo 0 >/proc/sys/net/ipv4/icmp_ratelimit; ip link set lo up; until ip link show v1 >/dev/null 2>&1; do sleep 0.01; done
  ip address add 10.99.0.2/16 brd + dev v1; ip link set v1 up; ip route add 224.0.0.0/4 dev v1; ip route add 255.255.255.255 dev v1; exec python3 "$0" serve 10.99.0.2 "$1"' "$1" "$3" &
peer=$!
until ip link set v1 netns $peer && ! ip link show v1 >/dev/null 2>&1; do sleep 0.01; done
ip link set v0 up
ip route add 224.0.0.0/4 dev v0
ip route add 255.255.255.255 dev v0
python3 "$1" drive 10.99.0.1 10.99.0.2 "$2" "$3" "$4"
kill $peer 2>/dev/null
END
linux() { # SEED SEEDS
  timeout -s KILL 600 unshare --user --map-root-user --net bash "$folder/linux.sh" "$program" "$1" "$2" "$calls" 2>"$folder/linux.err"
}
simulated() { # SCENARIO SEED SEEDS
  timeout -s KILL 600 "$hcasim" exec "$top/scenarios/$1.yaml" -- host1: python3 "$program" serve 127.77.0.2 "$3" : \
    host0: python3 "$program" drive 127.77.0.1 127.77.0.2 "$2" "$3" "$calls" "$folder/linux" 2>"$folder/simulated.err" | sed -n 's/^host0| //p'
}
# compare SCENARIO SEED SEEDS: writes the calls that differ, each with the result of Linux and of the simulated hosts
compare() {
  simulated "$@" >"$folder/simulated"
  paste -d '\n' "$folder/linux" "$folder/simulated" | awk -v scenario="$1" 'NR % 2 {want = $0; next}
    $1 == "seed" && want == $0 {seed = $2; first = NR / 2; next}
    want != $0 {print seed ", " scenario ", call " NR / 2 - first ": Linux: " want " | simulated: " $0}' >"$folder/differences"
  [ ! -s "$folder/differences" ]
}

scenarios='two-hosts-roce two-hosts-ib'
differ=0
for ((seed = first; seed < first + seeds; seed += SLICE)); do
  slice=$((first + seeds - seed < SLICE ? first + seeds - seed : SLICE))
  linux "$seed" "$slice" >"$folder/linux"
  [ "$(wc -l <"$folder/linux")" -ge $((slice * calls * 9 / 10)) ] || { fail "seed $seed: Linux: $(tail -3 "$folder/linux.err")"; break; }
  for scenario in $scenarios; do
    compare "$scenario" "$seed" "$slice"
    cat "$folder/differences"
  done | cut -d , -f 1 | sort -nu >"$folder/again"
  # A busy machine may have delayed Linux: these seeds once more, with longer waits.
  for again in $(cat "$folder/again"); do
    SETTLE_S=0.02 linux "$again" 1 >"$folder/linux"
    for scenario in $scenarios; do
      compare "$scenario" "$again" 1 && continue
      fail "$(sed 's/^/seed /' "$folder/differences" | head -5; cat "$folder/simulated.err")"
      differ=$((differ + 1))
    done
  done
done

# Urgent data, within a host.
urgent=("$first" 4 150)
python3 "$top/tests/programs/urgent.py" 127.0.0.1 "${urgent[@]}" >"$folder/linux"
"$hcasim" exec "$top/scenarios/two-hosts-roce.yaml" -- host0: python3 "$top/tests/programs/urgent.py" 127.77.0.1 "${urgent[@]}" 2>&1 |
  sed 's/^host0| //' >"$folder/simulated"
diff "$folder/linux" "$folder/simulated" >"$folder/differences" || fail "urgent data: $(head -5 "$folder/differences")"
[ "$(wc -l <"$folder/linux")" -eq 600 ] || fail 'urgent data: Linux'
echo "$seeds seeds, $differ differ"
exit $((failures > 0))
