/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_params: the parameters of a switch. The sections `port` and `buffer` describe its ports
 * and its memory. Congestion marks have the sections `ecn` (Ethernet) and `fecn` (InfiniBand).
 * `conga` and `conweave` describe load balancing that leaf switches do together. `plugins` names
 * shared objects.
 */
#ifndef SWITCH_SWITCH_PARAMS_H
#define SWITCH_SWITCH_PARAMS_H

#include "fabric/port_params.h"
#include "fabric/port_set.h"
#include "switch/shared_buffer_params.h"

/* clang-format off */
#define SWITCH_PARAMS(X)                                                                          \
	X(forwarding_latency, TIME, "90ns", "0ps..100us",                                         \
	  "Time from a packet's first bit in to its first bit out, if no other packet is in the " \
	  "way.",                                                                                 \
	  "data sheet, recalled (row C-10): SB7700, EDR")                                         \
	X(stores, FLAG, "false", "",                                                              \
	  "`true`: stores each packet, and forwards it `forwarding_latency` after its last bit. " \
	  "`false`: cut-through, unless the output is faster than the input.",                    \
	  "choice")                                                                               \
	X(routes, FLAG, "false", "",                                                              \
	  "`true`: forwards at layer 3, decrements the hop limit and drops packets whose hop "    \
	  "limit is 0.",                                                                          \
	  "choice")                                                                               \
	X(balance, CHOICE, "destination",                                                         \
	  "destination|ecmp|letflow|spray|adaptive|drill|conga|conweave|"                         \
	  "plugin",                                                                               \
	  "Selection among several equal paths. `destination`: by the destination's number. "     \
	  "`ecmp`: by a hash of addresses and UDP port. `letflow`: at random after each gap of "  \
	  "a flow. `spray`: at random per packet. `adaptive`: one of the shortest queues. "       \
	  "`drill`: the shortest of random queues and the best queue of the previous choice. "    \
	  "`conga`: after each gap, the path that is least congested up to the last leaf. "       \
	  "`conweave`: another path when a probe is late; the last leaf restores the order. "     \
	  "`plugin`: the shared object of `plugins.balance`, which implies it.",                  \
	  "choice")                                                                               \
	X(flowlet_gap, TIME, "100us", "0ps..1s",                                                  \
	  "With `balance: letflow` and `conga`: idle time of a flow after which the flow may "    \
	  "change its path.",                                                                     \
	  "ConWeave, SIGCOMM 2023 (row D-32): 100 us; recalled: LetFlow (NSDI'17) and "           \
	  "CONGA (SIGCOMM'14) have 500 us")                                                       \
	X(flowlet_entries, COUNT, "16384", "1..16777216",                                         \
	  "With `balance: letflow` and `conga`: size of the flow table, rounded up to a power "   \
	  "of two. Two flows in one entry share a path.",                                         \
	  "assumed; recalled: CONGA (SIGCOMM'14) has 65536")                                      \
	X(adaptive_grade, BYTES, "16KB", "1B..1GiB",                                              \
	  "With `balance: adaptive`: granularity of the comparison of queues. One of the queues " \
	  "of equal grade is chosen at random.",                                                  \
	  "assumed: four packets, because switches compare grades of a few bits; with exact "     \
	  "lengths, hosts of equal pace would each keep one path, as with a hash")                \
	X(drill_samples, COUNT, "2", "1..16",                                                     \
	  "With `balance: drill`: number of queues sampled at random for each packet, in "        \
	  "addition to the remembered queue.",                                                    \
	  "ConWeave, SIGCOMM 2023 (row D-32): DRILL(2, 1), as recommended")                       \
	X(hash_seed, COUNT, "0", "0..18446744073709551615",                                       \
	  "With `balance: ecmp`, `letflow`, `conga` and `conweave`: seed of the hash. `0`: each " \
	  "switch has its own seed. Switches with the same number above 0 hash alike "            \
	  "(polarisation).",                                                                      \
	  "choice")                                                                               \
	X(hash_fields, CHOICE, "all", "all|destination_port",                                     \
	  "Ethernet: fields of a packet that the hash covers. `all`: both addresses and ports. "  \
	  "`destination_port`: only the TCP destination port. All RoCEv2 packets then take one "  \
	  "path.",                                                                                \
	  "choice; destination_port: TLT's public TCP simulator (row D-18)")                      \
	X(priority_from, CHOICE, "sender", "sender|pcp|dscp",                                     \
	  "Ethernet: source of a packet's priority. `sender`: the VL on which it was sent. "      \
	  "`pcp`: its PCP. `dscp`: its DSCP, through the map.",                                   \
	  "choice")                                                                               \
	X(unknown, CHOICE, "drop", "drop|flood|flood_lossy",                                      \
	  "Ethernet: treatment of a destination without a path. `drop`: drop the packet. "        \
	  "`flood`: send it to all other ports, as a switch with an ARP entry and no MAC entry "  \
	  "does. `flood_lossy`: flood only lossy priorities.",                                    \
	  "Guo et al., SIGCOMM 2016 (row D-20): flooding causes the deadlock, flood_lossy is the "\
	  "fix")                                                                                  \
	X(snooping, FLAG, "false", "",                                                            \
	  "Ethernet: the switch reads IGMP and MLD reports, and sends packets of a group only to " \
	  "its members. Groups without members are flooded.",                                     \
	  "RFC 4541; choice")                                                                     \
	X(queueing, CHOICE, "inputs", "inputs|arrival",                                           \
	  "Order in which packets of a VL leave. `inputs`: round robin among the inputs "         \
	  "(virtual output queues). `arrival`: by arrival (one queue).",                          \
	  "choice; arrival: shared-memory Ethernet switches, and the simulators of Zhu et al. "   \
	  "(row D-05), HPCC (row D-10) and TLT (row D-18)")                                       \
	X(telemetry, FLAG, "false", "",                                                           \
	  "`true`: adds port, queue length, bytes sent, time and rate to data packets that "      \
	  "request telemetry.",                                                                   \
	  "choice")                                                                               \
	X(telemetry_gaps, FLAG, "false", "",                                                      \
	  "Ethernet: `true` includes preamble and gap (20 B per packet) in the telemetry's "      \
	  "bytes sent and queue length. `false` counts frames only, so a full line shows less "   \
	  "than its rate.",                                                                       \
	  "false: octets of RFC 2863 and IEEE 802.3 count frames; true: HPCC's simulator (row "   \
	  "D-10), whose links have no gaps")

/* `mark` says when the queue is measured. The queue consists of the packets behind the packet
 * (dequeue) or before it (enqueue). */
#define SWITCH_ECN_PARAMS(X)                                                                      \
	X(mark, CHOICE, "off", "off|dequeue|enqueue",                                             \
	  "Time at which the egress queue decides on a packet's mark. `off`: no marks. "          \
	  "`dequeue`: by the queue behind the packet when it leaves. `enqueue`: by the queue "    \
	  "before the packet when it enters.",                                                    \
	  "choice")                                                                               \
	X(kmin, BYTES, "5KB", "0B..1GiB",                                                         \
	  "Queue length up to which no packet is marked.",                                        \
	  "Zhu et al., CoNEXT 2016 (row C-17): DCQCN")                                            \
	X(kmax, BYTES, "200KB", "0B..1GiB",                                                       \
	  "Queue length above which every packet is marked.",                                     \
	  "Zhu et al., CoNEXT 2016 (row C-17): DCQCN")                                            \
	X(pmax, RATIO, "1%", "0..1",                                                              \
	  "Marking probability at kmax. The probability grows linearly from 0 at kmin.",          \
	  "Zhu et al., CoNEXT 2016 (row C-17): DCQCN")                                            \
	X(per_rate, RATE, "0bps", "0bps..3.2Tbps",                                                \
	  "Port rate for which kmin and kmax hold. Both grow with the rate of the port. `0bps`: " \
	  "both are the same for all ports.",                                                     \
	  "HPCC's simulator (row C-20)")                                                          \
	X(priorities, COUNT, "255", "0..255",                                                     \
	  "Priorities that are marked, one bit per priority.",                                    \
	  "choice")

/* The names follow the standard's SwitchCongestionSetting; rdma-core, ibccconfig (row C-09). */
#define SWITCH_FECN_PARAMS(X)                                                                     \
	X(threshold, COUNT, "0", "0..15",                                                         \
	  "Marking threshold. The queue of a VL marks packets above (16 - threshold) / 16 of "    \
	  "the VL's input buffer. `0`: no marks.",                                                \
	  "IBTA annex A10: uniformly decreasing; the bytes are the vendor's")                     \
	X(marking_rate, COUNT, "0", "0..65535",                                                   \
	  "Number of packets that are not marked between two marks.",                             \
	  "IBTA annex A10")                                                                       \
	X(packet_size, COUNT, "0", "0..255",                                                      \
	  "Shortest packet to mark, in units of 64 B.",                                           \
	  "IBTA annex A10")                                                                       \
	X(victim_mask, TEXT, "0", "",                                                             \
	  "Ports that mark even if they lack credits themselves, one bit per port. Decimal for "  \
	  "the first 64 ports, or 0x and up to 64 hexadecimal digits.",                           \
	  "IBTA annex A10: 256 bits")                                                             \
	X(credit_mask, TEXT, "0", "",                                                             \
	  "Ports that return credits slowly for congested input, one bit per port as in "         \
	  "victim_mask. For adapters without congestion control.",                                \
	  "IBTA annex A10: 256 bits; its effect is recalled")                                     \
	X(cs_threshold, COUNT, "0", "0..15",                                                      \
	  "Credit-starvation threshold, as `threshold`, of the queue from which the packet "      \
	  "leaves. `0`: no credit starvation.",                                                   \
	  "IBTA annex A10, as OpenSM has it: 1 loose, 15 aggressive; the bytes are the vendor's") \
	X(cs_shift, COUNT, "0", "0..3",                                                           \
	  "CS_ReturnDelay: credits of a starved VL return with a gap of (packet time >> "         \
	  "cs_shift) * cs_multiplier after each packet's time.",                                  \
	  "OpenSM: shift:multiplier, as an entry of the CCT; the pacing of returns is recalled")  \
	X(cs_multiplier, COUNT, "0", "0..16383",                                                  \
	  "Multiplier of CS_ReturnDelay; see cs_shift.",                                          \
	  "OpenSM: 14 bits")

/* Parameters of leaf switches and of the switches between them. Names in brackets are from
 * CONGA, SIGCOMM 2014. */
#define SWITCH_CONGA_PARAMS(X)                                                                  \
	X(dre_interval, TIME, "16us", "1ns..1s",                                                \
	  "Interval between two decays of a link's load estimate (T_dre).",                     \
	  "recalled: CONGA (SIGCOMM'14), interval over alpha is tau = 160 us; the split is "    \
	  "assumed")                                                                            \
	X(dre_alpha, RATIO, "10%", "0.001..1",                                                  \
	  "Share of the load estimate that a decay removes (alpha).",                           \
	  "see dre_interval")                                                                   \
	X(metric_bits, COUNT, "3", "1..8",                                                      \
	  "Bits of a link's load metric in the header and in the tables (Q).",                  \
	  "recalled: CONGA (SIGCOMM'14), Q = 3")                                                \
	X(metric_age, TIME, "10ms", "1ns..10s",                                                 \
	  "Age after which the remote metric of a path counts as 0 (idle).",                    \
	  "recalled: CONGA (SIGCOMM'14), 10 ms, decaying step by step; here at once")           \
	X(header, BYTES, "50B", "0B..256B",                                                     \
	  "Bytes added to each packet between two leaves.",                                     \
	  "RFC 7348: VXLAN over Ethernet, IPv4 and UDP, whose reserved bits CONGA's fields take")

/* Parameters of leaf switches. Names in brackets are from ConWeave, SIGCOMM 2023. */
#define SWITCH_CONWEAVE_PARAMS(X)                                                                 \
	X(reply_timeout, TIME, "8us", "1ns..1s",                                                  \
	  "Time after a probe at which its flow changes to another path if no RTT_REPLY has "     \
	  "arrived (theta_reply).",                                                               \
	  "ConWeave, SIGCOMM 2023 (row D-32): leaf to leaf and back in 4 us, and 4 us more")      \
	X(busy_time, TIME, "16us", "0ps..1s",                                                     \
	  "Time for which a path is not chosen after a packet on it was marked "                  \
	  "(theta_path_busy).",                                                                   \
	  "ConWeave's simulator (row D-32): 16 us")                                               \
	X(inactive, TIME, "300us", "1ns..10s",                                                    \
	  "Idle time after which a flow may start again on any path (theta_inactive).",           \
	  "ConWeave's simulator (row D-32): 300 us")                                              \
	X(resume_extra, TIME, "16us", "0ps..1s",                                                  \
	  "Additional time for which rerouted packets wait for the last packet of the old path, " \
	  "beyond its expected arrival (theta_resume_extra).",                                    \
	  "ConWeave's simulator (row D-32): 16 us")                                               \
	X(resume_default, TIME, "200us", "1ns..10s",                                              \
	  "Time for which rerouted packets wait, in addition to resume_extra, if no packet of "   \
	  "the old path was seen (theta_resume_default).",                                        \
	  "ConWeave's simulator (row D-32): 200 us")                                              \
	X(reorder_queues, COUNT, "24", "0..65535",                                                \
	  "Reorder queues of a port towards a host, each for one flow. `0`: no limit. If no "     \
	  "queue is free, packets are forwarded out of order.",                                   \
	  "ConWeave's P4 program: 24 of a port's 32 queues; its simulator has no limit")          \
	X(reorder_memory, CHOICE, "shared", "shared|apart",                                       \
	  "Memory of waiting packets. `shared`: the shared buffer, so that they may pause their " \
	  "sender. `apart`: separate memory; a packet takes shared memory when it is forwarded.", \
	  "shared: ConWeave (SIGCOMM'23) pauses queues of the switch; apart: its simulator")      \
	X(flow_entries, COUNT, "65536", "1..16777216",                                            \
	  "Size of the flow table at each end, rounded up to a power of two. A flow that finds "  \
	  "its entry taken is balanced by hash.",                                                 \
	  "assumed: enough; ConWeave's P4 program: 4096")                                         \
	X(header, BYTES, "4B", "0B..256B",                                                        \
	  "Bytes added to each data packet between two leaves.",                                  \
	  "ConWeave's P4 program: two time stamps of 16 bits; all else is in reserved bits of "   \
	  "BTH")                                                                                  \
	X(control_bytes, BYTES, "64B", "64B..1KB",                                                \
	  "Size of RTT_REPLY, CLEAR and NOTIFY.",                                                 \
	  "IEEE 802.3: the shortest frame")                                                       \
	X(control_vl, COUNT, "7", "0..7",                                                         \
	  "Priority of RTT_REPLY, CLEAR and NOTIFY.",                                             \
	  "assumed: the highest")

/* See include/hcasim/switch_plugins.h. */
#define SWITCH_PLUGIN_VALUES "Parameters of that shared object: `key=value, key=value`."
#define SWITCH_PLUGIN_PARAMS(X)                                                                   \
	X(balance, TEXT, "", "",                                                                  \
	  "Shared object with a load balancer, which replaces `balance`.",                        \
	  "choice")                                                                               \
	X(balance_values, TEXT, "", "", SWITCH_PLUGIN_VALUES, "choice")                           \
	X(schedule, TEXT, "", "",                                                                 \
	  "Shared object that chooses the VL which a port serves next. It replaces "              \
	  "`port.schedule` and VL arbitration.",                                                  \
	  "choice")                                                                               \
	X(schedule_values, TEXT, "", "", SWITCH_PLUGIN_VALUES, "choice")                          \
	X(marking, TEXT, "", "",                                                                  \
	  "Shared object that decides on congestion marks. It replaces `ecn` and `fecn`.",        \
	  "choice")                                                                               \
	X(marking_values, TEXT, "", "", SWITCH_PLUGIN_VALUES, "choice")                           \
	X(buffer, TEXT, "", "",                                                                   \
	  "Shared object that sets the limits of queues in the shared buffer (Ethernet). It "     \
	  "replaces `buffer.alpha` and `buffer.alpha_lossy`.",                                    \
	  "choice")                                                                               \
	X(buffer_values, TEXT, "", "", SWITCH_PLUGIN_VALUES, "choice")

struct switch_ecn_params { SWITCH_ECN_PARAMS(PARAM_FIELD) };
struct switch_fecn_params { SWITCH_FECN_PARAMS(PARAM_FIELD) };

struct switch_conga_params { SWITCH_CONGA_PARAMS(PARAM_FIELD) };
struct switch_conweave_params { SWITCH_CONWEAVE_PARAMS(PARAM_FIELD) };
struct switch_plugin_params { SWITCH_PLUGIN_PARAMS(PARAM_FIELD) };

struct switch_params {
	SWITCH_PARAMS(PARAM_FIELD)
	struct port_params port;
	struct shared_buffer_params buffer;
	struct switch_ecn_params ecn;
	struct switch_fecn_params fecn;
	struct switch_conga_params conga;
	struct switch_conweave_params conweave;
	struct switch_plugin_params plugins;
};
/* clang-format on */

enum balance {
	BALANCE_DESTINATION,
	BALANCE_ECMP,
	BALANCE_LETFLOW,
	BALANCE_SPRAY,
	BALANCE_ADAPTIVE,
	BALANCE_DRILL,
	BALANCE_CONGA,
	BALANCE_CONWEAVE,
	BALANCE_PLUGIN
};
enum hash_fields { HASH_ALL, HASH_DESTINATION_PORT };
enum reorder_memory { REORDER_SHARED, REORDER_APART };
enum unknown { UNKNOWN_DROP, UNKNOWN_FLOOD, UNKNOWN_FLOOD_LOSSY };
enum queueing { QUEUEING_INPUTS, QUEUEING_ARRIVAL };
enum priority_from { PRIORITY_FROM_SENDER, PRIORITY_FROM_PCP, PRIORITY_FROM_DSCP };
enum ecn_mark { ECN_MARK_OFF, ECN_MARK_DEQUEUE, ECN_MARK_ENQUEUE };

extern const struct param switch_param_list[];
extern const struct param_section
	switch_sections[]; /* `port`, `buffer`, `ecn`, `fecn`, `conga`, `conweave`, `plugins` */

/* Parses a mask as in `victim_mask`. Returns false if the text is not a mask. */
bool switch_parse_mask(const char *text, struct port_set *ports);

/* Sets all parameters to their defaults, including the sections. */
void switch_params_default(struct switch_params *params);

#endif
