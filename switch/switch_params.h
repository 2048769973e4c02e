/*
 * switch_params: the parameters of a switch, for those who describe one. Its ports have theirs in the sub-map `port`,
 * its memory in `buffer`, its congestion marks in `ecn` (Ethernet) and `fecn` (InfiniBand).
 */
#ifndef SWITCH_SWITCH_PARAMS_H
#define SWITCH_SWITCH_PARAMS_H

#include "fabric/port_params.h"
#include "switch/shared_buffer_params.h"

/* clang-format off */
#define SWITCH_PARAMS(X)                                                                                   \
	X(crossing_latency, TIME, "90ns",  "0ps..100us", "from a packet's first bit in to its first bit out, if nothing is in the way", "ground truth C-10: SB7700, EDR") \
	X(routes,           FLAG, "false", "",           "forwards at layer 3: takes one off the hop limit and drops at 0", "choice") \
	X(balance,          CHOICE, "destination", "destination|ecmp|flowlet|spray|adaptive", "which of several equal ways a packet takes: by its destination's number, by a hash of its addresses and UDP port, by that but anew after a gap, at random, or the shortest queue", "choice") \
	X(flowlet_gap,      TIME, "100us", "0ps..1s",    "balance: flowlet: silence of a flow after which it may change its way", "assumed: above the round trip of a loaded fabric; LetFlow (NSDI'17) uses 500 us") \
	X(flowlet_entries,  COUNT, "16384", "1..16777216", "balance: flowlet: flows remembered, rounded up to a power of two", "assumed") \
	X(hash_seed,        COUNT, "0", "0..18446744073709551615", "balance: ecmp and flowlet: 0 gives each switch its own, another number is the same for all that have it (polarisation)", "choice") \
	X(priority_from,    CHOICE, "sender", "sender|pcp|dscp", "Ethernet: a packet's priority: the lane it was sent on, its PCP, or its DSCP through the map", "choice") \
	X(unknown,          CHOICE, "drop", "drop|flood|flood_lossy", "Ethernet: a destination without a way: dropped; sent out of all other ports, as a switch does that has an ARP entry and no MAC entry; the same of lossy priorities alone", "ground truth D-20: flooding makes the deadlock, flood_lossy is its fix") \
	X(queueing,         CHOICE, "inputs", "inputs|arrival", "which packet of a lane leaves next: of each input in turn (virtual output queues), or as they came (one queue)", "choice; arrival: shared-memory Ethernet switches, and the simulators of ground truth D-05 to D-18") \
	X(telemetry,        FLAG, "false", "",           "adds queue, bytes sent, time and rate to packets that ask for it", "choice")

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
	X(threshold,    COUNT, "0", "0..15", "0: no marks; the queue of a lane marks beyond (16 - threshold) / 16 of a lane's input buffer", "IBTA annex A10: uniformly decreasing; the bytes are the vendor's") \
	X(marking_rate, COUNT, "0", "0..65535", "packets passed over between two marks", "IBTA annex A10") \
	X(packet_size,  COUNT, "0", "0..255",   "shortest packet to mark, in units of 64 B", "IBTA annex A10") \
	X(victim_mask,  COUNT, "0", "0..18446744073709551615", "one bit a port, of the first 64, that marks even when it lacks credits itself", "IBTA annex A10")

struct switch_ecn_params { SWITCH_ECN_PARAMS(PARAM_FIELD) };
struct switch_fecn_params { SWITCH_FECN_PARAMS(PARAM_FIELD) };

struct switch_params {
	SWITCH_PARAMS(PARAM_FIELD)
	struct port_params port;
	struct shared_buffer_params buffer;
	struct switch_ecn_params ecn;
	struct switch_fecn_params fecn;
};
/* clang-format on */

enum balance {
	BALANCE_DESTINATION,
	BALANCE_ECMP,
	BALANCE_FLOWLET,
	BALANCE_SPRAY,
	BALANCE_ADAPTIVE
};
enum unknown { UNKNOWN_DROP, UNKNOWN_FLOOD, UNKNOWN_FLOOD_LOSSY };
enum queueing { QUEUEING_INPUTS, QUEUEING_ARRIVAL };
enum priority_from { PRIORITY_FROM_SENDER, PRIORITY_FROM_PCP, PRIORITY_FROM_DSCP };
enum ecn_mark { ECN_MARK_OFF, ECN_MARK_DEQUEUE, ECN_MARK_ENQUEUE };

extern const struct param switch_param_list[];
extern const struct param_group switch_param_groups[]; /* `port`, `buffer`, `ecn`, `fecn` */

/* All defaults, of the groups too. */
void switch_params_default(struct switch_params *params);

#endif
