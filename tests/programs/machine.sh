#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs see the host of the scenario and not the machine, to the byte: processors,
# memory, limits, kernel, random bytes. Programs read them by functions of libc, system calls and
# files. Tests that virtual time does not depend on the machine: three rows of matrix.txt run on
# this machine and on a simulated different machine. That has one processor, no transparent huge
# pages, little memory, no PCI devices and another kernel. Arguments: the hcasim program, the top of
# the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
machine=$(dirname "$3")/machine
. "$(dirname "$0")/../support/script.sh"
grep -q avx2 /proc/cpuinfo || { echo 'the machine has less than x86-64-v3'; exit 77; }

# The script runs it in namespaces of its own: another machine, as far as this one permits.
cat >"$folder/disguise.sh" <<'END'
cover() { # FILE; what it says from now on comes in on standard input
  local file
  file=$(mktemp -p "$folder")
  cat >"$file"
  [ ! -e "$1" ] || mount --bind "$file" "$1"
}
sed -E 's/^(Mem[A-Za-z]*: *)[0-9]+/\1 1000000/' /proc/meminfo | cover /proc/meminfo
echo 'always madvise [never]' | cover /sys/kernel/mm/transparent_hugepage/enabled
echo 4194304 | cover /proc/sys/kernel/shmmax
mkdir -p "$folder/empty"
for directory in /sys/devices/system/node /sys/bus/pci /sys/devices/pci0000:00; do
  mount --bind "$folder/empty" $directory 2>/dev/null
done
first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
ulimit -s unlimited 2>/dev/null || ulimit -s "$(ulimit -Hs)"
ulimit -l 64
ulimit -u 4000
ulimit -i 2000 # counts the pending signals of all processes of the user
exec env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-ERMS setarch --uname-2.6 taskset -c "$first" "$@"
END
export folder

here() { "$@"; }
elsewhere() {
  if unshare --mount true 2>/dev/null; then
    unshare --mount bash "$folder/disguise.sh" "$@"
  else
    unshare --user --map-root-user --mount bash "$folder/disguise.sh" "$@"
  fi
}
elsewhere true 2>/dev/null || { echo 'no namespaces for a machine that looks otherwise'; exit 77; }
grep -q '^MemTotal: *1000000 ' <(elsewhere cat /proc/meminfo) || fail 'the machine does not look otherwise'

cat >"$folder/expected" <<'END'
nprocs 16 16, sysconf 16 16
at first: 16 processors, of 16 first 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
setaffinity 0
then on 9
thread: 2 processors, of 16 first 0 0 0 0 0 0 0 0 0 1 0 1 0 0 0 0
create 0
thread that asks: 1 processors, of 16 first 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0
of none: -1
system call 8
system call: 2 processors, of 16 first 0 0 0 0 0 0 0 0 0 1 0 1 0 0 0 0
pages 16777216 16777216 16777216 16777216
sysinfo 68719476736 68719476736 1 1
32768 8 64 32768 8 64 262144 8 64 15728640 20 64 0 0 0
stacks 12288 49152 32768 12288
auxiliary 789ab71 2 x86_64
random e3128d8b6fc3bac4 8 d0c54fadd613a685 4a7775f0 29
filters 0 0 0 0
memlock 1
nproc 262144 262144 262144
stack 8388608
Linux host0 6.1.0 #1 SMP x86_64
pages at 0x6effffffc000
pages at 0x6efffffff000
huge pages 1 -1
/proc/meminfo: MemTotal:       67108864 kB SwapTotal:      0 kB HugePages_Total: 0
/proc/version: Linux version 6.1.0 (hcasim) #1 SMP
/proc/sys/kernel/osrelease: 6.1.0
/proc/sys/kernel/shmmax: 18446744073692774399
/proc/sys/kernel/random/uuid: 32300180-a00a-41dc-b72f-deb6fa1fe918
/proc/sys/kernel/random/boot_id: 68636173-696d-4000-8000-000000000001
/sys/devices/system/clocksource/clocksource0/current_clocksource: tsc
/sys/kernel/mm/transparent_hugepage/enabled: always [madvise] never
/sys/kernel/mm/ksm/run: none
/sys/devices/system/cpu/online: 0-15
/sys/devices/system/cpu/cpu15/cache/index3/size: 15360K
/sys/devices/system/cpu/cpu15/topology/core_siblings: 0000ffff
/sys/devices/system/cpu/cpu16/topology/core_id: none
/sys/devices/system/node/node0/meminfo: Node 0 MemTotal:       67108864 kB Node 0 SwapTotal:      0 kB Node 0 HugePages_Total: 0
/sys/devices/system/node/node1/meminfo: none
hcasim: warning: filters of system calls (seccomp) that programs install have no effect
END
for where in here elsewhere; do
  $where "$hcasim" exec "$scenario" -- host0: "$machine" 2>&1 | sed 's/^host0| //' >"$folder/seen-$where"
  diff "$folder/expected" "$folder/seen-$where" || fail "$where: not as expected"
done

# Parameters affect the visible values.
seen=$("$hcasim" exec --set cpu.cores=72 --set cpu.memory=2GiB --set cpu.huge_pages=never --set cpu.kernel_release=5.14.0 "$scenario" -- \
  host0: sh -c 'nproc; uname -r; grep MemTotal /proc/meminfo; cat /sys/kernel/mm/transparent_hugepage/enabled; taskset -c 70,71,72 nproc' 2>&1 |
  sed 's/^host0| //; s/  */ /' | paste -sd,)
[ "$seen" = '72,5.14.0,MemTotal: 2097152 kB,always madvise [never],2' ] || fail "parameters: $seen"
why=$("$hcasim" exec --set cpu.kernel_release="$(printf '%065d' 0)" "$scenario" -- host0: true 2>&1)
[ $? -eq 2 ] && [[ $why == *'cpu.kernel_release has 65 letters; expected 1 to 64'* ]] || fail "a long release: $why"

# A program passes its set of processors to its children.
seen=$("$hcasim" exec "$scenario" -- host0: taskset -c 3,5,7 sh -c 'nproc; (nproc); exec nproc' 2>&1 | paste -sd,)
[ "$seen" = 'host0| 3,host0| 3,host0| 3' ] || fail "inherited: $seen"

# row NAME COMMAND: the command on host0, and on host1 with host0's name behind it
row() {
  local name=$1 where
  shift
  command -v "$1" >/dev/null && { [ "$1" != env ] || command -v "$3" >/dev/null; } || return
  for where in here elsewhere; do
    $where "$hcasim" exec --verbose --pcap "$folder/$name-$where.pcapng" "$scenario" -- host0: "$@" : host1: "$@" host0 \
      >"$folder/$name-$where" 2>&1 || fail "$name $where: exit code $?"
  done
  cmp "$folder/$name-here" "$folder/$name-elsewhere" || { fail "$name: other lines"; diff "$folder/$name-here" "$folder/$name-elsewhere"; }
  cmp "$folder/$name-here.pcapng" "$folder/$name-elsewhere.pcapng" || fail "$name: other packets"
}

row write-lat ib_write_lat -F -n 300
row am ucx_perftest -d mlx5_0:1 -x rc_mlx5 -t am_bw -D zcopy -s 4096 -O 16 -n 500 -w 10
row ud env UCX_TLS=ud_x ucx_perftest -t tag_bw -s 4096 -n 500 -w 10
[ $failures -eq 0 ]
