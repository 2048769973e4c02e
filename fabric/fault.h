/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault: errors of packets on one side of a port. A list of rules examines every packet that
 * the rules apply to, and drops, corrupts or delays some of the packets.
 *
 *     port_set_transmit_fault(): the wire loses or delays the packet; the receiver sees nothing
 *     port_set_receive_fault():  the packet arrives and takes input space; the receiver drops it
 *
 * Each rule has its own random stream, named after the port and the rule. An additional rule
 * therefore does not change the results of other rules.
 */
#ifndef FABRIC_FAULT_H
#define FABRIC_FAULT_H

#include "fabric/wire/packet.h"
#include "sim/random.h"

/* clang-format off */
#define FAULT_ACTIONS(X)                                                                      \
	X(drop, "Drops the packet.")                                                          \
	X(corrupt_icrc,                                                                       \
	  "Corrupts the payload. The destination HCA detects the error by the ICRC.")         \
	X(corrupt_vcrc, "Corrupts the frame. The next port detects the error.")               \
	X(delay, "Delays the packet and all packets behind it. Transmit side only.")          \
	X(reorder,                                                                            \
	  "Delays the packet but not the packets behind it. Transmit side of Ethernet only.") \
	X(mark, "Marks the packet as congested (ECN CE, or FECN) if the packet may be marked.")

#define FAULT_ACTION_ENUM(name, meaning) FAULT_##name,
enum fault_action { FAULT_ACTIONS(FAULT_ACTION_ENUM) FAULT_ACTION_COUNT };

#define FAULT_COUNTERS(X)                                                                    \
	X(packets_seen, "packets", "Packets that the rules examined.")                       \
	X(packets_dropped, "packets", "Packets that a rule dropped.")                        \
	X(packets_icrc_damaged, "packets", "Packets whose payload a rule corrupted.")        \
	X(packets_vcrc_damaged, "packets", "Packets whose frame a rule corrupted.")          \
	X(packets_delayed, "packets", "Packets that a rule delayed.")                        \
	X(packets_reordered, "packets", "Packets that a rule delayed behind later packets.") \
	X(packets_marked, "packets", "Packets that a rule marked as congested.")

struct fault_counters { FAULT_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

#define FAULT_ANY_OPCODE 0x100

/* Gilbert-Elliott channel, which is in a good or a bad state for each packet. Source: Elliott,
 * Bell System Technical Journal 1963. */
struct fault_burst {
	double to_bad, to_good;     /* probability of a change of state before each packet */
	double loss_good, loss_bad; /* probability of the action in each state */
};

/* A rule. It acts on the nth packet only, or by a bit error rate, or in bursts, or with a
 * probability. */
struct fault_rule {
	enum fault_action action;
	/* PACKET_DATA, for packets of hosts, or a kind of packet that the link itself sends */
	enum packet_kind kind;
	/* opcode of a packet with a BTH; FAULT_ANY_OPCODE: all packets, including TCP segments */
	uint16_t opcode;
	uint16_t vls;       /* one bit per VL; 0 for all VLs */
	double probability; /* probability for each such packet; ignored if nth is set */
	/* number of the only packet to act on, from 1; 0 if `probability` applies */
	uint64_t nth;
	sim_time delay; /* delay of FAULT_delay and FAULT_reorder */
	/* the rule is active for from <= now < until; `until` 0: no end */
	sim_time from, until;
	/* counter that must reach `reaches` before the rule is active, or NULL */
	const uint64_t *watched;
	uint64_t reaches;         /* value that `watched` must reach */
	double bit_error_rate;    /* probability that a bit is in error; 0 if not used */
	struct fault_burst burst; /* used if to_bad is not 0 */
};

struct fault;

/* Creates a fault without rules. `name` is its name in the tree of blocks, usually below its
 * port: "host0.hca.port.fault". */
struct fault *fault_create(struct sim *sim, const char *name);
void fault_destroy(struct fault *fault);

/* Adds a rule. Rules are applied in the order added. Later rules do not see a packet that a
 * rule has dropped. */
void fault_add(struct fault *fault, const struct fault_rule *rule);
const struct fault_counters *fault_counters(const struct fault *fault);

/* Applies the rules to a packet; called by the port. May mark the packet as damaged or change
 * its head_at and tail_at. Returns false if the packet is dropped. */
bool fault_judge(struct fault *fault, struct packet *packet);
bool fault_delays(const struct fault *fault);   /* returns true if a rule delays packets */
bool fault_reorders(const struct fault *fault); /* returns true if a rule reorders packets */

#endif
