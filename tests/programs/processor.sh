#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs see the processor of the scenario and not the machine's. The results of cpuid
# in a program and in a library that it loads later, and /proc/cpuinfo, are exact for each processor
# and any GLIBC_TUNABLES. UCX makes its choices from them. Arguments: the hcasim program, the top of
# the source tree, a program of this folder's.
hcasim=$1
scenario=$2/scenarios/two-hosts-ib.yaml
processor=$(dirname "$3")/processor
grep -q avx2 /proc/cpuinfo || { echo 'the machine has less than x86-64-v3'; exit 77; }
failures=0

# expect NAME: the expected text comes on standard input
expect() {
  diff - <("$hcasim" exec --set cpu.processor="$1" "$scenario" -- host0: "$processor" 2>&1 | sed 's/^host0| //') ||
    { echo "$1: not as expected"; failures=1; }
}

expect xeon-e5-v3 <<'END'
0.0: 0000000d 756e6547 6c65746e 49656e69
1.0: 000306f2 00010800 3ed83203 0789ab71
2.0: 76036301 00f0b5ff 00000000 00c10000
4.0: 00000121 01c0003f 0000003f 00000000
4.1: 00000122 01c0003f 0000003f 00000000
4.2: 00000143 01c0003f 000001ff 00000000
4.3: 00000163 04c0003f 00002fff 00000000
4.4: 00000000 00000000 00000000 00000000
7.0: 00000000 00000329 00000000 00000000
40000000.0: 00000000 00000000 00000000 00000000
80000000.0: 80000008 00000000 00000000 00000000
80000001.0: 00000000 00000000 00000021 28100800
80000002.0: 756d6973 6574616c 00000064 00000000
80000003.0: 00000000 00000000 00000000 00000000
80000004.0: 00000000 00000000 00000000 00000000
80000005.0: 00000000 00000000 00000000 00000000
80000006.0: 00000000 00000000 01006040 00000000
80000007.0: 00000000 00000000 00000000 00000100
80000008.0: 0000302e 00000000 00000000 00000000
constant 90a20f90
processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 63
model name	: simulated
stepping	: 2
microcode	: 0x1
cpu MHz		: 2000.000
cache size	: 15360 KB
physical id	: 0
core id		: 0
apicid		: 0
initial apicid	: 0
fpu		: yes
fpu_exception	: yes
cpuid level	: 13
wp		: yes
flags		: fpu tsc msr pae cx8 apic sep pge cmov pat clflush mmx fxsr sse sse2 syscall nx rdtscp lm nonstop_tsc pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c lahf_lm abm fsgsbase bmi1 avx2 bmi2 erms
bugs		:
bogomips	: 4000.00
clflush size	: 64
cache_alignment	: 64
address sizes	: 46 bits physical, 48 bits virtual
power management:
END

expect epyc-7003 <<'END'
0.0: 0000000d 68747541 444d4163 69746e65
1.0: 00a00f11 00010800 3ed83203 0789ab71
2.0: 00000000 00000000 00000000 00000000
4.0: 00000000 00000000 00000000 00000000
4.1: 00000000 00000000 00000000 00000000
4.2: 00000000 00000000 00000000 00000000
4.3: 00000000 00000000 00000000 00000000
4.4: 00000000 00000000 00000000 00000000
7.0: 00000000 00000329 00000000 00000000
40000000.0: 00000000 00000000 00000000 00000000
80000000.0: 80000008 68747541 444d4163 69746e65
80000001.0: 00000000 00000000 00000021 28100800
80000002.0: 756d6973 6574616c 00000064 00000000
80000003.0: 00000000 00000000 00000000 00000000
80000004.0: 00000000 00000000 00000000 00000000
80000005.0: 00000000 00000000 20080140 20080140
80000006.0: 00000000 00000000 02006040 01008040
80000007.0: 00000000 00000000 00000000 00000100
80000008.0: 0000302e 00000000 00000000 00000000
constant 90a20f90
processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 1
model name	: simulated
stepping	: 1
microcode	: 0x1
cpu MHz		: 2000.000
cache size	: 32768 KB
physical id	: 0
core id		: 0
apicid		: 0
initial apicid	: 0
fpu		: yes
fpu_exception	: yes
cpuid level	: 13
wp		: yes
flags		: fpu tsc msr pae cx8 apic sep pge cmov pat clflush mmx fxsr sse sse2 syscall nx rdtscp lm nonstop_tsc pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c lahf_lm abm fsgsbase bmi1 avx2 bmi2 erms
bugs		:
bogomips	: 4000.00
clflush size	: 64
cache_alignment	: 64
address sizes	: 46 bits physical, 48 bits virtual
power management:
END

# A library that comes later: UCX numbers vendors from 1, Intel, AMD.
if ldconfig -p | grep -q libucs.so.0; then
  for one in 'xeon-e5-v3 1' 'epyc-7003 2'; do
    "$hcasim" exec --set cpu.processor="${one% *}" "$scenario" -- host0: "$processor" libucs.so.0 |
      grep -q "libucs.so.0: vendor ${one#* }$" || { echo "$one: UCX sees another one"; failures=1; }
  done
fi
exit $failures
