/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_params: the parameters of a switch, for those who describe one. Its ports have theirs in the sub-map `port`,
 * its memory in `buffer`, its congestion marks in `ecn` (Ethernet) and `fecn` (InfiniBand),
 * balancers that leaf switches work at together in `conga` and `conweave`.
 */
#ifndef SWITCH_SWITCH_PARAMS_H
#define SWITCH_SWITCH_PARAMS_H

#include "fabric/port_params.h"
#include "fabric/port_set.h"
#include "switch/shared_buffer_params.h"

/* clang-format off */
#define SWITCH_PARAMS(X)                                                                                   \
	X(forwarding_latency, TIME, "90ns",  "0ps..100us", "from a packet's first bit in to its first bit out, if nothing is in the way", "ground truth C-10: SB7700, EDR") \
	X(routes,           FLAG, "false", "",           "forwards at layer 3: takes one off the hop limit and drops at 0", "choice") \
	X(balance,          CHOICE, "destination", "destination|ecmp|letflow|spray|adaptive|drill|conga|conweave", "which of several equal paths a packet takes: by its destination's number; by a hash of its addresses and UDP port; at random after each gap of its flow; at random; one of the shortest queues; the shorter of two queues at random and the last one that was shorter; the path that is least congested up to the last leaf after each gap; or another when a probe is late, put in order by the last leaf", "choice") \
	X(flowlet_gap,      TIME, "100us", "0ps..1s",    "balance: letflow and conga: silence of a flow after which it may change its path", "ConWeave's comparison (ground truth D-32): 100 us; recalled: LetFlow (NSDI'17) and CONGA (SIGCOMM'14) have 500 us") \
	X(flowlet_entries,  COUNT, "16384", "1..16777216", "balance: letflow and conga: flows remembered, rounded up to a power of two; two that share a place share a path", "assumed; recalled: CONGA (SIGCOMM'14) has 65536") \
	X(adaptive_grade,   BYTES, "16KB", "1B..1GiB", "balance: adaptive: queues are compared in units of so much; among those that are alike one is taken at random", "assumed: four packets, as switches compare grades of a few bits; by exact lengths hosts of one pace keep to a path each, as by a hash") \
	X(drill_samples,    COUNT, "2", "1..16", "balance: drill: queues looked at for each packet, at random, beside the one remembered", "ConWeave's comparison (ground truth D-32): DRILL(2, 1), as recommended") \
	X(hash_seed,        COUNT, "0", "0..18446744073709551615", "balance: ecmp, letflow, conga and conweave: 0 gives each switch its own, another number is the same for all that have it (polarisation)", "choice") \
	X(priority_from,    CHOICE, "sender", "sender|pcp|dscp", "Ethernet: a packet's priority: the VL it was sent on, its PCP, or its DSCP through the map", "choice") \
	X(unknown,          CHOICE, "drop", "drop|flood|flood_lossy", "Ethernet: a destination without a path: dropped; sent out of all other ports, as a switch does that has an ARP entry and no MAC entry; the same of lossy priorities alone", "ground truth D-20: flooding makes the deadlock, flood_lossy is its fix") \
	X(queueing,         CHOICE, "inputs", "inputs|arrival", "which packet of a VL leaves next: of each input in turn (virtual output queues), or as they came (one queue)", "choice; arrival: shared-memory Ethernet switches, and the simulators of ground truth D-05 to D-18") \
	X(telemetry,        FLAG, "false", "",           "adds its port, queue, bytes sent, time and rate to data packets that ask for it", "choice") \
	X(telemetry_gaps,   FLAG, "false", "",           "Ethernet: bytes sent and queued of telemetry include preamble and gap, 20 B a packet; else they are those of the frames, and the line is full at less than its rate", "false: octets of RFC 2863 and IEEE 802.3 count frames; true: the simulator of ground truth D-10, whose links have no gaps")

/* mark: when the queue is looked at. The queue is what waits behind the packet (dequeue) or before it (enqueue). */
#define SWITCH_ECN_PARAMS(X)                                                                               \
	X(mark,       CHOICE, "off", "off|dequeue|enqueue", "when a packet's mark is decided, by the egress queue of that moment", "choice") \
	X(kmin,       BYTES, "5KB",   "0B..1GiB", "queue up to which nothing is marked", "ground truth C-17: DCQCN") \
	X(kmax,       BYTES, "200KB", "0B..1GiB", "queue beyond which all is marked", "ground truth C-17: DCQCN") \
	X(pmax,       RATIO, "1%",    "0..1",     "chance at kmax, growing from 0 at kmin", "ground truth C-17: DCQCN") \
	X(per_rate,   RATE,  "0bps",  "0bps..3.2Tbps", "kmin and kmax are for a port of this rate and grow with the port's; 0bps: they are the same for all", "ground truth C-20") \
	X(priorities, COUNT, "255",   "0..255",   "one bit a priority that is marked", "choice")

/* The names are those of the standard's SwitchCongestionSetting; ground truth C-09. */
#define SWITCH_FECN_PARAMS(X)                                                                              \
	X(threshold,    COUNT, "0", "0..15", "0: no marks; the queue of a VL marks beyond (16 - threshold) / 16 of a VL's input buffer", "IBTA annex A10: uniformly decreasing; the bytes are the vendor's") \
	X(marking_rate, COUNT, "0", "0..65535", "packets passed over between two marks", "IBTA annex A10") \
	X(packet_size,  COUNT, "0", "0..255",   "shortest packet to mark, in units of 64 B", "IBTA annex A10") \
	X(victim_mask,  TEXT,  "0", "",         "one bit a port that marks even when it lacks credits itself: decimal for the first 64, or 0x and up to 64 hexadecimal digits", "IBTA annex A10: 256 bits") \
	X(credit_mask,  TEXT,  "0", "",         "one bit a port whose credits come back slowly while what came in there is congested: for adapters without congestion control. As victim_mask", "IBTA annex A10: 256 bits; what it does is recalled") \
	X(cs_threshold, COUNT, "0", "0..15",    "credit starvation; 0: none; as threshold, of the queue that the packet leaves", "IBTA annex A10, as OpenSM has it: 1 loose, 15 aggressive; the bytes are the vendor's") \
	X(cs_shift,     COUNT, "0", "0..3",     "CS_ReturnDelay: credits of a VL that is starved come back with a gap of (packet time >> cs_shift) * cs_multiplier behind each packet's time", "OpenSM: shift:multiplier, as an entry of the CCT; that it paces returns is recalled") \
	X(cs_multiplier, COUNT, "0", "0..16383", "see cs_shift", "OpenSM: 14 bits")

/* The names in brackets are those of CONGA, SIGCOMM 2014. Of leaf switches and of those between them. */
#define SWITCH_CONGA_PARAMS(X)                                                                             \
	X(dre_interval, TIME,  "16us", "1ns..1s", "between two decays of a link's estimate (T_dre)", "recalled: CONGA (SIGCOMM'14), interval over alpha is tau = 160 us; how it is split is assumed") \
	X(dre_alpha,    RATIO, "10%",  "0.001..1", "share of the estimate that a decay takes (alpha)", "see dre_interval") \
	X(metric_bits,  COUNT, "3",    "1..8", "of a link's load in the header and the tables (Q)", "recalled: CONGA (SIGCOMM'14), Q = 3") \
	X(metric_age,   TIME,  "10ms", "1ns..10s", "a path of which nothing was heard for so long counts as idle", "recalled: CONGA (SIGCOMM'14), 10 ms, decaying step by step; here at once") \
	X(header,       BYTES, "50B",  "0B..256B", "added to each packet between two leaves", "RFC 7348: VXLAN over Ethernet, IPv4 and UDP, whose reserved bits CONGA's fields take")

/* The names in brackets are those of ConWeave, SIGCOMM 2023. Of leaf switches. */
#define SWITCH_CONWEAVE_PARAMS(X)                                                                          \
	X(reply_timeout,  TIME,  "8us",   "1ns..1s", "from a probe until its flow takes another path if no RTT_REPLY has come (theta_reply)", "ground truth D-32: leaf to leaf and back in 4 us, and 4 us more") \
	X(busy_time,      TIME,  "16us",  "0ps..1s", "a path on which a packet was marked is not chosen for so long (theta_path_busy)", "ground truth D-32's simulator: 16 us") \
	X(inactive,       TIME,  "300us", "1ns..10s", "silence of a flow after which it begins anew on any path (theta_inactive)", "ground truth D-32's simulator: 300 us") \
	X(resume_extra,   TIME,  "16us",  "0ps..1s", "rerouted packets wait longer than expected by so much for the last one of the path before (theta_resume_extra)", "ground truth D-32's simulator: 16 us") \
	X(resume_default, TIME,  "200us", "1ns..10s", "they wait so long if none of the path before was seen (theta_resume_default)", "ground truth D-32's simulator: 200 us") \
	X(reorder_queues, COUNT, "24",    "0..65535", "of a port towards a host, for one flow each; 0: no limit. Without a free one packets go on out of order", "ConWeave's P4 program: 24 of a port's 32 queues; its simulator has no limit") \
	X(reorder_memory, CHOICE, "shared", "shared|apart", "what waits there takes the memory of the shared buffer, and may pause who sends it; or has some of its own, and takes that when it goes on", "shared: ConWeave (SIGCOMM'23) pauses queues of the switch; apart: its simulator") \
	X(flow_entries,   COUNT, "65536", "1..16777216", "flows remembered, at either end, rounded up to a power of two; one that finds its place taken is balanced by hash", "assumed: enough; ConWeave's P4 program: 4096") \
	X(header,         BYTES, "4B",    "0B..256B", "added to each data packet between two leaves", "ConWeave's P4 program: two time stamps of 16 bits; all else is in reserved bits of BTH") \
	X(control_bytes,  BYTES, "64B",   "64B..1KB", "of RTT_REPLY, CLEAR and NOTIFY", "IEEE 802.3: the shortest frame") \
	X(control_vl,     COUNT, "7",     "0..7", "priority of these", "assumed: the highest")

struct switch_ecn_params { SWITCH_ECN_PARAMS(PARAM_FIELD) };
struct switch_fecn_params { SWITCH_FECN_PARAMS(PARAM_FIELD) };

struct switch_conga_params { SWITCH_CONGA_PARAMS(PARAM_FIELD) };
struct switch_conweave_params { SWITCH_CONWEAVE_PARAMS(PARAM_FIELD) };

struct switch_params {
	SWITCH_PARAMS(PARAM_FIELD)
	struct port_params port;
	struct shared_buffer_params buffer;
	struct switch_ecn_params ecn;
	struct switch_fecn_params fecn;
	struct switch_conga_params conga;
	struct switch_conweave_params conweave;
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
	BALANCE_CONWEAVE
};
enum reorder_memory { REORDER_SHARED, REORDER_APART };
enum unknown { UNKNOWN_DROP, UNKNOWN_FLOOD, UNKNOWN_FLOOD_LOSSY };
enum queueing { QUEUEING_INPUTS, QUEUEING_ARRIVAL };
enum priority_from { PRIORITY_FROM_SENDER, PRIORITY_FROM_PCP, PRIORITY_FROM_DSCP };
enum ecn_mark { ECN_MARK_OFF, ECN_MARK_DEQUEUE, ECN_MARK_ENQUEUE };

extern const struct param switch_param_list[];
extern const struct param_section
	switch_sections[]; /* `port`, `buffer`, `ecn`, `fecn`, `conga`, `conweave` */

/* Ports of a mask as `victim_mask` has it; false: it is none. */
bool switch_parse_mask(const char *text, struct port_set *ports);

/* All defaults, of the groups too. */
void switch_params_default(struct switch_params *params);

#endif
