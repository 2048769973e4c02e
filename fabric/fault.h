/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault: what can go wrong with packets on one side of a port: a list of rules, each of which looks at every packet
 * it applies to, and drops, damages or delays some of them.
 *
 *     port_set_transmit_fault(): lost on the wire, the other end never hears of it, or hears late
 *     port_set_receive_fault():  the wire is good, the receiver errs: input space is taken and given back
 *
 * Chance comes from a stream of random numbers named after the port and the rule, so one rule more changes nothing
 * for the others.
 */
#ifndef FABRIC_FAULT_H
#define FABRIC_FAULT_H

#include "fabric/wire/packet.h"
#include "sim/random.h"

/* clang-format off */
#define FAULT_ACTIONS(X)                                                                                   \
	X(drop,         "the packet is lost")                                                              \
	X(corrupt_icrc, "the payload is hit: the HCA at the end finds out")                                \
	X(corrupt_vcrc, "the frame is hit: the next port finds out")                                       \
	X(delay,        "the packet, and what follows it, comes later; transmit side only")                \
	X(reorder,      "the packet comes later, what follows it does not; transmit side, Ethernet only") \
	X(mark,         "the packet gets a mark of congestion, if it may: ECN's CE, or FECN")

#define FAULT_ACTION_ENUM(name, meaning) FAULT_##name,
enum fault_action { FAULT_ACTIONS(FAULT_ACTION_ENUM) FAULT_ACTION_COUNT };

#define FAULT_COUNTERS(X)                                                                                  \
	X(packets_seen,         "packets", "that went by")                                                   \
	X(packets_dropped,      "packets", "dropped")                                                        \
	X(packets_icrc_damaged, "packets", "hit in the payload")                                             \
	X(packets_vcrc_damaged, "packets", "hit in the frame")                                               \
	X(packets_delayed,      "packets", "delayed")                                                        \
	X(packets_reordered,    "packets", "that came after later ones")                                     \
	X(packets_marked,       "packets", "marked as having met congestion")

struct fault_counters { FAULT_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

#define FAULT_ANY_OPCODE 0x100

/* Gilbert-Elliott: a channel that is good or bad, packet by packet. Elliott, Bell System Technical Journal 1963. */
struct fault_burst {
	double to_bad, to_good;     /* chance, before each packet, to change */
	double loss_good, loss_bad; /* chance of the action in each state */
};

/* When a rule strikes: the nth packet alone; or by a bit error rate; or in bursts; or with a probability. */
struct fault_rule {
	enum fault_action action;
	enum packet_kind kind;    /* PACKET_DATA, or what the link itself sends */
	uint16_t opcode;          /* of data packets; FAULT_ANY_OPCODE */
	uint16_t vls;             /* one bit each; 0: all */
	double probability;       /* of each such packet; with nth: ignored */
	uint64_t nth;             /* that packet alone, from 1; 0: by probability */
	sim_time delay;           /* FAULT_delay, FAULT_reorder: how much later */
	sim_time from, until;     /* it sees packets of from <= now < until; until 0: for ever */
	const uint64_t *watched;  /* not NULL: it sees none before this counter has reached ... */
	uint64_t reaches;         /* ... this */
	double bit_error_rate;    /* not 0: each bit of the packet is hit with that chance */
	struct fault_burst burst; /* to_bad not 0: in bursts */
};

struct fault;

/* `name` is the fault's in the tree of blocks, best below its port's: "host0.hca.port.fault". */
struct fault *fault_create(struct sim *sim, const char *name);
void fault_destroy(struct fault *fault);

/* Rules are tried in the order added; a packet that one has dropped is not seen by the next. */
void fault_add(struct fault *fault, const struct fault_rule *rule);
const struct fault_counters *fault_counters(const struct fault *fault);

/* For the port: does the packet go on? May mark it damaged, or move its head_at and tail_at. */
bool fault_judge(struct fault *fault, struct packet *packet);
bool fault_delays(const struct fault *fault);   /* has a rule that delays */
bool fault_reorders(const struct fault *fault); /* ... that reorders */

#endif
