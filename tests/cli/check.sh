#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that `check` refuses the scenarios that `run` refuses, with the same messages, for errors in
# each phase of a run. Both name file and line, and leave nothing behind. Scenarios that check
# accepts run. The effective configuration finds the scenario's files from another folder.
# Arguments: the hcasim program, the top of the source tree.
hcasim=$1
. "$(dirname "$0")/../support/script.sh"
cd "$folder" || exit 1

# both CODE TEXT: scenario.yaml, by either verb
both() {
  local code=$1 text=$2 verb output status
  for verb in check run; do
    output=$("$hcasim" $verb scenario.yaml $([ $verb = run ] && echo --out result) 2>&1)
    status=$?
    [ $status -eq "$code" ] && [[ $output == *"$text"* ]] || fail "$text: $verb: exit code $status, expected $code: $output"
  done
  [ "$code" = 0 ] || [ -z "$(find . -name 'result*')" ] || fail "$text: it left $(find . -name 'result*')"
  rm -rf result
}

hosts='hosts: {count: 2, hca: {fidelity: endpoint}}'
roce='fabric: {link_layer: roce, topology: single-switch}'
places='hosts: {count: 0, hca: {fidelity: endpoint}}'
detailed='hosts: {count: 2, hca: connectx5-edr}'
cable='fabric: {link_layer: infiniband, topology: back-to-back}'
work='workload: {bytes: 1KB}'

echo 0 >flows.csv
while IFS='|' read -r text lines; do
  printf '%b\n' "${lines//; /\\n}" >scenario.yaml
  case $text in
  runs) both 0 '' ;;
  *) both 2 "$text" ;;
  esac
done <<END
runs|$hosts; $roce; $work
scenario.yaml:4:10: the pause_storm from host0 never ends, nor would the run; expected pause_storm: {lasts: ...}, or run: {until: ...}|$hosts; $roce; $work; faults: [{from: host0, pause_storm: {begin: 1us}}]
scenario.yaml:4:64: the pause_storm from host1 never ends, nor would the run; expected pause_storm: {lasts: ...}, or run: {until: ...}|$hosts; $roce; $work; faults: [{from: host0, pause_storm: {begin: 1us, lasts: 5us}}, {from: host1, pause_storm: {when: {counter: host1.hca.port.packets_sent, reaches: 3}}}]
runs|$hosts; $roce; $work; faults: [{from: host0, pause_storm: {begin: 1us, lasts: 5us}}]
runs|$hosts; $roce; $work; faults: [{from: host0, pause_storm: {begin: 1us}}]; run: {until: 20us, loss: expected}
scenario.yaml:1:91: host0: congestion: dctcp does not react to the marks of its ecn; expected ecn: dctcp, auto or off|hosts: {count: 2, hca: {fidelity: endpoint, transport: tcp, congestion: dctcp, tcp: {ecn: classic}}}; fabric: {link_layer: roce, topology: single-switch, switch: {ecn: {mark: dequeue, kmin: 65KB, kmax: 65KB}}}; $work
scenario.yaml:1:91: host0: congestion: cubic does not react to the marks of its ecn; expected ecn: classic, auto or off|hosts: {count: 2, hca: {fidelity: endpoint, transport: tcp, congestion: cubic, tcp: {ecn: dctcp}}}; $roce; $work
runs|hosts: {count: 2, hca: {fidelity: endpoint, transport: tcp, congestion: cubic, tcp: {ecn: classic}}}; $roce; $work
scenario.yaml:3:28: trace: none.csv cannot be read: No such file or directory|$hosts; $roce; workload: {pattern: trace, trace: none.csv}
scenario.yaml:3:27: trace: none.goal cannot be read: No such file or directory|$hosts; $roce; workload: {pattern: goal, trace: none.goal}
scenario.yaml:2:43: ./none.net cannot be read: No such file or directory|$hosts; fabric: {topology: {kind: net-file, file: ./none.net}}; $work
scenario.yaml:3:24: target: no host 7; expected 0..1|$hosts; $roce; workload: {bytes: 1KB, target: 7}
scenario.yaml:3:24: target: no host "hots1"; did you mean "host1"?|$hosts; $roce; workload: {bytes: 1KB, target: hots1}
scenario.yaml:3:24: target: no host "-1"; expected a number or a name|$hosts; $roce; workload: {bytes: 1KB, target: -1}
scenario.yaml:2:1: b.hca.port: no route leads to a.hca.port|hosts: {a: {hca: {fidelity: endpoint}}, b: {hca: {fidelity: endpoint}}}; fabric: {link_layer: roce, switches: {s: , t: }, links: [{between: [a, s]}, {between: [b, t]}]}; $work
scenario.yaml:2:9: host0 has 0 links; an HCA has one port|$hosts; fabric: {link_layer: roce, switches: {s: }, links: [{between: [host1, s]}]}; $work
scenario.yaml:2:74: host0.hca.port and s.port0 differ in rate|$hosts; fabric: {link_layer: roce, switches: {s: {port: {rate: 1Gbps}}}, links: [{between: [host0, s]}, {between: [host1, s]}]}; $work
scenario.yaml:2:43: s floods unknown addresses; with detailed adapters, set unknown: drop|$detailed; fabric: {link_layer: roce, switches: {s: {unknown: flood}}, links: [{between: [host0, s]}, {between: [host1, s]}]}; $work
scenario.yaml:2:143: routes: s has no link to "host1"|$hosts; fabric: {switches: {s: , t: }, links: [{between: [host0, s]}, {between: [host1, t]}, {between: [s, t]}], routes: [{at: t, to: host0, via: s}, {at: s, to: host0, via: host1}]}; $work
scenario.yaml:2:35: none.lft: No such file or directory|$hosts; fabric: {topology: single-switch, forwarding: none.lft}; $work
scenario.yaml:3:12: halving_doubling_allreduce: 3 hosts are no power of two|hosts: {count: 3, hca: {fidelity: endpoint}}; $roce; workload: {pattern: halving_doubling_allreduce, bytes: 1KB}
scenario.yaml:3:28: flows.csv:1: expected start_us|$hosts; $roce; workload: {pattern: trace, trace: flows.csv}
scenario.yaml:2:28: host0.hca.port and switch0.port0 differ in rate|$hosts; fabric: {link_layer: roce, topology: single-switch, switch: {port: {rate: 1Gbps}}}; $work
scenario.yaml:4:24: record: no port matches x*; expected names such as switch0.port1|$hosts; $roce; $work; record: {series: 10us, series_ports: ["x*"]}
scenario.yaml:4:18: record: trace: no block matches "hots0.*"; expected a name as counters.json has them|$hosts; $roce; $work; record: {trace: ["hots0.*"]}
scenario.yaml:4:11: expect: no counter matches "host0.hca.port.packets_sendt"; expected a name as counters.json has them|$hosts; $roce; $work; expect: [{counter: host0.hca.port.packets_sendt, at_least: 1}]
scenario.yaml:4:10: faults: when: unknown counter "host0.sent"; expected a name of counters.json|$hosts; $roce; $work; faults: [{from: host0, to: "*", drop: {nth: 3, when: {counter: host0.sent, reaches: 1}}}]
scenario.yaml:4:10: at_least is above at_most, so no value meets both|$hosts; $roce; $work; expect: [{metric: goodput_gbps, at_least: 5, at_most: 3}]
scenario.yaml:4:10: at_least is above at_most, so no value meets both|$hosts; $roce; $work; expect: [{counter: "*.drops", at_least: 5, at_most: 3}]
scenario.yaml:4:6: run: warm_up is not before until|$hosts; $roce; $work; run: {until: 5us, warm_up: 6us}
scenario.yaml:4:1: programs and workload exclude each other; remove one|$detailed; $cable; $work; programs: [{host: host0, command: [ls]}]
scenario.yaml:4:1: programs and load exclude each other; remove one|$detailed; $cable; load: {bytes: 8B}; programs: [{host: host0, command: [ls]}]
scenario.yaml:3:26: host0: no-such-program: no such program in PATH|$detailed; $cable; programs: [{host: host0, command: [no-such-program]}]
scenario.yaml:3:35: the command is empty; expected [PROGRAM, ARGUMENT, ...]|$detailed; $cable; programs: [{host: host0, command: []}]
scenario.yaml:2:1: the routes of packets form a circle of buffers, so a deadlock is possible; expected routing: up_down, service_levels with VLs that break the circle, or run: {deadlock: possible}; the circle: switch1.port2 VL 0, switch2.port2 VL 0, switch3.port2 VL 0, switch0.port2 VL 0|$places; fabric: {link_layer: infiniband, topology: {kind: torus, size_x: 4, size_y: 1}}; $work
scenario.yaml:2:1: the routes of packets form a circle of buffers|$places; fabric: {link_layer: infiniband, topology: {kind: dragonfly, routers: 4, hosts: 2, global: 2}}; $work
scenario.yaml:2:1: the routes of packets form a circle of buffers, so a deadlock is possible; expected other routes|hosts: {count: 3, hca: {fidelity: endpoint}}; fabric: {link_layer: roce, switches: {a: , b: , c: }, links: [{between: [a, b]}, {between: [b, c]}, {between: [c, a]}, {between: [host0, a]}, {between: [host1, b]}, {between: [host2, c]}], routes: [{at: a, to: host2, via: b}, {at: b, to: host0, via: c}, {at: c, to: host1, via: a}]}; $work
runs|$places; fabric: {link_layer: infiniband, routing: up_down, topology: {kind: torus, size_x: 4, size_y: 1}}; $work
runs|$places; fabric: {link_layer: infiniband, topology: {kind: torus, size_x: 3, size_y: 3}}; $work
runs|$places; fabric: {link_layer: infiniband, routing: up_down, topology: {kind: dragonfly, routers: 4, hosts: 2, global: 2}}; $work
runs|$places; fabric: {link_layer: infiniband, topology: {kind: torus, size_x: 4, size_y: 1}}; $work; run: {deadlock: possible}
runs|$places; fabric: {link_layer: roce, link: {pfc_priorities: 0}, topology: {kind: torus, size_x: 4, size_y: 1}}; $work
runs|$places; fabric: {link_layer: infiniband, topology: {kind: leaf-spine, leaves: 3, spines: 2, hosts: 2}, switch: {balance: ecmp}}; $work
scenario.yaml:1:8: no hosts; expected {host0: {hca: ...}, ...} or {count: 2, ...}|hosts: {}; $roce; $work
scenario.yaml:1:8: no hosts; expected count: 1 or more|hosts: {count: 0}; $roce; $work
scenario.yaml:3:1: host 0 cannot create a QP: Cannot allocate memory; device.qps is the limit|hosts: {count: 2, hca: {device: {qps: 64}}}; $cable; workload: {bytes: 1KB, count: 100}
scenario.yaml:3:1: host 0 cannot create a QP: Cannot allocate memory; device.qps is the limit|hosts: {count: 2, hca: {device: {qps: 64}}}; $cable; load: {bytes: 8B, qps: 100}
scenario.yaml:4:55: tolerance: "1000%" is out of range; expected a number, or a percentage with % (0..1)|$hosts; $roce; $work; expect: [{metric: goodput_gbps, equals: 1, tolerance: 1000%}]
scenario.yaml:5:11: no recorded port "hots0.hca.port"; did you mean "host0.hca.port"?|$hosts; $roce; $work; record: {series: 1us}; expect: [{metric: hots0.hca.port.utilisation, at_least: 0}]
scenario.yaml:4:11: queue_mean_bytes needs samples; set record: {series: TIME}|$hosts; $roce; $work; expect: [{metric: host0.hca.port.queue_mean_bytes, at_least: 0}]
scenario.yaml:1:46: unknown key "ryzen"|hosts: {count: 2, hca: connectx5-edr, host: {ryzen: 7000}}; $cable; $work
scenario.yaml:3:19: bytes: "1e30GB" is too large; expected a size: B, KiB, MiB, GiB, KB, MB, GB (1B..|$hosts; $roce; workload: {bytes: 1e30GB}
END

# A value of a sweep, and errors of programs that only `exec` reports.
printf '%s\n' "$hosts" "$roce" "$work" 'sweep: {workload.target: [0, 9]}' >scenario.yaml
output=$("$hcasim" check scenario.yaml 2>&1)
[ $? -eq 2 ] && [[ $output == *'scenario.yaml:4:9: sweep: workload.target=9: target: no host 9; expected 0..1'* ]] || fail "sweep: $output"
printf '%s\n' "$hosts" "$roce" "$work" 'sweep: {workload: [{target: 0, bytes: 1KB}, {target: 9, bytes: 2KB}]}' >scenario.yaml
output=$("$hcasim" check scenario.yaml 2>&1)
[ $? -eq 2 ] && [[ $output == *'scenario.yaml:4:9: sweep: workload={target: 9, bytes: 2KB}: target: no host 9; expected 0..1'* ]] || fail "sweep of a map: $output"
printf '%s\n' 'hosts: {count: 2, hca: connectx5-edr, host: pcie3-x8, except: {host1: {hca: connectx5-edr, host: {pcie: {lanes: 4}}}}}' "$cable" >scenario.yaml
"$hcasim" check scenario.yaml --effective >effective.yaml || fail 'hosts by count with a host'
"$hcasim" check effective.yaml --effective | cmp - effective.yaml || fail 'hosts by count with a host: the effective configuration reads back another'
[ "$(grep -A6 '^ *pcie:' effective.yaml | grep -o 'lanes: [0-9]*' | tr '\n' ' ')" = 'lanes: 8 lanes: 4 ' ] || fail "hosts by count with a host: $(grep -n lanes: effective.yaml)"
printf '%s\n' "$detailed" "$cable" >scenario.yaml
"$hcasim" check scenario.yaml || fail 'a scenario for exec'

# The effective configuration names files so that they are found from elsewhere.
mkdir -p there/files other
printf 'start_us,source,destination,bytes\n0,1,0,1000\n' >there/files/flows.csv
printf '%s\n' "$hosts" "$roce" 'workload: {pattern: trace, trace: files/flows.csv}' >there/scenario.yaml
"$hcasim" run there/scenario.yaml --out result >/dev/null && (cd other && "$hcasim" run ../result/scenario.yaml --out ../again) >/dev/null || fail 'workload.trace from elsewhere'
cmp result/flows.csv again/flows.csv && cmp result/scenario.yaml again/scenario.yaml || fail 'workload.trace from elsewhere: other results'
printf 'Unicast lids [0x0-0x2] of switch Lid 3 guid 0x0000000000000000 (switch0):\n' >there/files/tables.lft
printf '%s\n' "$hosts" 'fabric: {topology: single-switch, forwarding: files/tables.lft}' "$work" >there/scenario.yaml
"$hcasim" check there/scenario.yaml --effective >there/one.yaml && (cd other && "$hcasim" check ../there/one.yaml --effective) | cmp - there/one.yaml || fail "forwarding from elsewhere: $(grep forwarding there/one.yaml)"
printf '%s\n' 'hosts: {count: 2, hca: {fidelity: endpoint, congestion: ./files/none.so}}' "$roce" "$work" >there/scenario.yaml
output=$("$hcasim" check there/scenario.yaml 2>&1)
[ $? -eq 2 ] && [[ $output == *"there/scenario.yaml:1:"*"there/./files/none.so: cannot open shared object file"* ]] || fail "a plugin from elsewhere: $output"
exit $((failures > 0))
