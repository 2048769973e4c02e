#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# By hand, as it lasts for minutes: each socket program of the matrix runs REPEATS times (20), every second time beside two busy loops.
# All runs must print the same bytes, and send the same frames at the same times.
#   tests/programs/repeats.sh build/bin/hcasim . - [REPEATS [NAME...]]
# prints a line for each program, and at the end `N programs, M differ`.
hcasim=$1 source=$2 repeats=${4:-20}
shift 4 2>/dev/null || shift $#
. "$(dirname "$0")/../support/script.sh"
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(iperf3 iperf3-ib iperf3-reverse iperf3-both iperf3-udp iperf3-udp-ib iperf-multicast nuttcp redis \
  qperf-tcp qperf-udp sockperf-tcp sockperf-udp sockperf-multicast curl rsync iperf3-rdma ssh mpi-tcp tcpdump tshark)

# More programs, in the form of matrix.txt: they last too long for the check, or need files.
mkdir -p "$folder/files"
head -c 3000000 /dev/zero | tr '\0' 'x' >"$folder/files/data"
cat >"$folder/more.txt" <<LINES
qperf-tcp          | two-hosts-roce | timeout --preserve-status 4 qperf | qperf host0 -n 200 tcp_lat |
qperf-udp          | two-hosts-roce | timeout --preserve-status 4 qperf | qperf host0 -t 1 udp_bw |
sockperf-multicast | two-hosts-roce | timeout --preserve-status 8 sockperf server -i 239.1.1.1 -p 7000 | sockperf ping-pong -i 239.1.1.1 -p 7000 --mps 50 -t 1 |
curl               | two-hosts-roce | timeout --preserve-status 2 python3 -m http.server --directory $folder/files 8000 | curl -s --retry 9 --retry-connrefused --retry-delay 1 http://host0:8000/data |
rsync              | two-hosts-roce | timeout --preserve-status 2 rsync --daemon --no-detach --config=$folder/rsyncd.conf --port=8730 | rsync -a rsync://host0:8730/files/data $folder/copy |
iperf3-rdma        | two-hosts-roce | sh $folder/beside-server | sh $folder/beside-client |
ssh                | two-hosts-roce | sh $folder/login-server | sh $folder/login |
mpi-tcp            | two-hosts-roce | mpirun --allow-run-as-root --mca plm_rsh_agent $source/tools/hcasim-ssh --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0 -H host0,host1 -np 2 $folder/mpi | true |
tcpdump            | two-hosts-roce | sh $folder/capture tcpdump -U -i eth0 -w $folder/copy | iperf3 -c host0 -n 1M -i 0 |
tshark             | two-hosts-roce | sh $folder/capture tshark -i eth0 | iperf3 -c host0 -n 1M -i 0 |
LINES
# iperf3 and RDMA through the same ports
echo 'iperf3 -s -1 & ib_write_bw -n 2000; wait' >"$folder/beside-server"
echo 'iperf3 -c host0 -n 20M -i 0 & ib_write_bw -n 2000 host0; wait' >"$folder/beside-client"
# tcpdump and tshark end by a signal
echo 'timeout --preserve-status 2 "$@" & iperf3 -s -1; wait' >"$folder/capture"
# a login with keys, and bytes
ssh-keygen -q -t ed25519 -N '' -f "$folder/key" 2>/dev/null && cp "$folder/key.pub" "$folder/authorized"
printf '%s\n' 'Port 2222' "HostKey $folder/key" "AuthorizedKeysFile $folder/authorized" 'StrictModes no' 'UsePAM no' 'PidFile none' >"$folder/sshd_config"
echo "exec timeout --preserve-status 4 /usr/sbin/sshd -D -e -f $folder/sshd_config" \
  '-o "SetEnv=LD_PRELOAD=$LD_PRELOAD HCASIM_SHIM=$HCASIM_SHIM"' >"$folder/login-server"
echo "ssh -p 2222 -i $folder/key -o ConnectionAttempts=5 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null host0 cat $folder/files/data | sha256sum" >"$folder/login"
mpicc -O2 -o "$folder/mpi" "$source/tests/programs/mpi.c" 2>/dev/null
printf 'use chroot = no\nlog file = /dev/null\n[files]\npath = %s/files\n' "$folder" >"$folder/rsyncd.conf"

differ=0 count=0
for name in "${names[@]}"; do
  row=$(cat "$source/tests/programs/matrix.txt" "$folder/more.txt" | grep "^$name *|")
  IFS='|' read -r _ scenario first second _ <<<"$row"
  read -r scenario options <<<"$scenario"
  read -ra first <<<"$first"
  read -ra second <<<"$second"
  program=${second[0]}
  [ "$program" != sh ] || program=${name%-*}
  [ "$program" != true ] || program=${first[0]}
  command -v "$program" >/dev/null || { echo "$name: $program is not installed"; continue; }
  count=$((count + 1)) kinds=()
  for ((i = 0; i < repeats; i++)); do
    loops=()
    for ((j = 0; j < 2 * (i % 2); j++)); do
      sh -c 'while :; do :; done' & loops+=($!)
    done
    rm -f "$folder/copy"
    # shellcheck disable=SC2086
    timeout -s KILL 200 "$hcasim" exec --pcap "$folder/run.pcapng" "$source/scenarios/$scenario.yaml" $options -- host0: "${first[@]}" : host1: "${second[@]}" \
      >"$folder/run.out" 2>"$folder/run.err" </dev/null
    status=$?
    # 143: the server of this row ends by a signal only
    [ $status -eq 0 ] || [ $status -eq 143 ] || fail "$name, run $i: exit status $status: $(tail -3 "$folder/run.err")"
    [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}"
    kinds+=("$(cat "$folder/run.out" "$folder/run.err" "$folder/run.pcapng" "$folder/copy" 2>/dev/null | sha256sum)")
  done
  different=$(printf '%s\n' "${kinds[@]}" | sort -u | wc -l)
  [ "$different" -eq 1 ] || differ=$((differ + 1))
  echo "$name: $repeats runs, $different different"
done
echo "$count programs, $differ differ"
exit $((failures + differ > 0))
