#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that `sweep --via slurm` gives the same database as a sweep without it, on four virtual
# nodes of a Slurm of its own, one of which is lost half-way with its tasks. Also proves that parts
# of a sweep (--part) together run each point once. Skipped without Slurm, or without its daemons'
# rights. Arguments: the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

cat >sweep.yaml <<'END'
seed: 1
hosts: {count: 5, hca: {fidelity: endpoint, congestion: dcqcn-paper}}
fabric: {link_layer: roce, topology: single-switch, switch: red-dcqcn-paper, link: {rate: 100Gbps}}
workload: {pattern: incast, bytes: 20MB, fan_in: 4}
sweep: {workload.bytes: [10MB, 20MB, 30MB], workload.fan_in: [2, 4], seed: [1, 2, 3, 4, 5, 6, 7, 8]}
END
tables() { # tables FOLDER: all tables that do not depend on the machine
  for table in results means bins bin_means configuration parameters; do
    sqlite3 "$1/results.db" "select '$table', * from $table"
  done
}
"$hcasim" sweep sweep.yaml -j 2 --out alone >log 2>&1 || fail "alone: exit code $?: $(tail -3 log)"

# ---- parts ----
for part in 2 0 1; do
  "$hcasim" sweep sweep.yaml --part $part/3 --out parts >log 2>&1 || fail "part $part: exit code $?: $(tail -3 log)"
done
[ "$(ls -d parts/*/ | wc -l)" = 48 ] || fail "parts made $(ls -d parts/*/ | wc -l) points"
[ ! -e parts/results.csv ] || fail 'a part writes tables'
"$hcasim" sweep sweep.yaml --out parts >log 2>&1 || fail "parts: exit code $?: $(tail -3 log)"
grep -q '48 of 48 points are finished already' log || fail "parts: $(head -1 log)"
cmp <(tables alone) <(tables parts) || fail 'parts give another database'
[ "$(wc -l <parts/cost.csv)" = 49 ] || fail "parts: $(wc -l <parts/cost.csv) lines of cost.csv"
for part in 3/3 x 1/0 1; do
  "$hcasim" sweep sweep.yaml --part $part --out parts >log 2>&1
  [ $? -eq 2 ] && grep -q 'is not a part; expected NUMBER/PARTS' log || fail "--part $part: $(cat log)"
done
"$hcasim" sweep sweep.yaml --via pbs --out parts >log 2>&1
[ $? -eq 2 ] && grep -q 'expected slurm' log || fail "--via pbs: $(cat log)"
mkdir empty
PATH=$folder/empty "$hcasim" sweep sweep.yaml --via slurm --out none >log 2>&1
[ $? -eq 2 ] && grep -q "sbatch: .*expected Slurm's commands on PATH" log || fail "without sbatch: $(cat log)"
[ $failures -eq 0 ] || exit 1

# ---- a Slurm of four nodes ----
PATH=$PATH:/usr/sbin
for command in sbatch slurmctld slurmd munged; do
  command -v $command >/dev/null || exit 77
done
[ "$(id -u)" = 0 ] || exit 77
host=$(hostname -s)
port=$((20000 + $$ % 20000))
rm -f log
mkdir -p state munge log
chmod 755 "$folder" munge
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
cat >slurm.conf <<END
ClusterName=hcasim
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n[1-4] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=1 RealMemory=100 State=UNKNOWN
PartitionName=sim Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$folder/slurm.conf
stop() {
  for file in n1 n2 n3 n4 slurmctld munge/munged; do
    [ -f "$folder/$file.pid" ] && kill "$(cat "$folder/$file.pid")" 2>/dev/null
  done
  sleep 1
  rm -rf "$folder"
}
trap stop EXIT
munged --key-file="$folder/munge/key" --socket="$folder/munge/munge.sock" --pid-file="$folder/munge/munged.pid" \
  --log-file="$folder/munge/munged.log" --seed-file="$folder/munge/seed" >log/munged 2>&1 || exit 77
slurmctld -f "$SLURM_CONF" >log/ctld 2>&1 || exit 77
for node in n1 n2 n3 n4; do
  mkdir "spool-$node"
  slurmd -N $node -f "$SLURM_CONF" >"log/$node-start" 2>&1 || exit 77
done
for ((i = 0; i < 30; i++)); do
  [ "$(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | sort -u | wc -l)" = 4 ] && break
  sleep 1
done
[ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | wc -l)" = 4 ] || { cat log/*; exit 77; }

"$hcasim" sweep sweep.yaml --via slurm --points 3 --out slurm >log/sweep 2>&1 &
sweep=$!
for ((i = 0; i < 600; i++)); do
  [ "$(ls -d slurm/*/summary.json 2>/dev/null | wc -l)" -ge 12 ] && break
  sleep 0.1
done
half=$(ls -d slurm/*/summary.json 2>/dev/null | wc -l)
# n1 is lost: its daemon and its processes end at once.
victim=$(cat n1.pid)
steps=$(pgrep -f 'slurmstepd: \[.*' | while read -r pid; do
  grep -q "SLURMD_NODENAME=n1" <(tr '\0' '\n' <"/proc/$(pgrep -P "$pid" | head -1)/environ") 2>/dev/null && echo "$pid"
done)
kill -9 "$victim"
for step in $steps; do
  kill -9 "$step" $(pgrep -P "$step") 2>/dev/null
done
scontrol update nodename=n1 state=down reason=lost
wait $sweep
code=$?
[ $code -eq 0 ] || fail "via slurm: exit code $code: $(tail -5 log/sweep slurm/slurm/tables.log)"
[ "$half" -lt 48 ] || fail 'the node was lost too late'
echo "n1 was lost after $half of 48 points, with $(wc -w <<<"$steps") tasks: $(tail -1 log/sweep)"
cmp <(tables alone) <(tables slurm) || fail 'Slurm gives another database'
[ "$(sqlite3 slurm/results.db 'select count(distinct point) from results')" = 48 ] || fail 'not each point once'
[ "$(awk -F, 'NR > 1 {print $1}' slurm/cost.csv | sort | uniq -d | wc -l)" = 0 ] || fail 'a point ran twice'
grep -q 'tasks for 48 points; job' log/sweep || fail "said: $(cat log/sweep)"
# All points are complete, so no job is submitted.
"$hcasim" sweep sweep.yaml --via slurm --out slurm >log/again 2>&1 || fail "again: $(cat log/again)"
grep -q '48 of 48 points are finished already' log/again || fail "again: $(cat log/again)"
[ $failures -eq 0 ]
