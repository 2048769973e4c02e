/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_fault: what can go wrong with ports for a time: links go down, a port asks for pause without need, a receiver
 * takes its packets away slowly. A switch that restarts is all of its links down. For packets, see fault.h.
 */
#ifndef FABRIC_PORT_FAULT_H
#define FABRIC_PORT_FAULT_H

#include "fabric/port.h"

/* clang-format off */
#define PORT_FAULTS(X)                                                                                     \
	X(link_down,     "the links of the ports are down: both directions, both ends")                    \
	X(pause_storm,   "the ports pause the other end's priorities, whatever their buffers hold (Ethernet)") \
	X(slow_receiver, "input space is given back at no more than a rate")

#define PORT_FAULT_ENUM(name, meaning) PORT_FAULT_##name,
enum port_fault_kind { PORT_FAULTS(PORT_FAULT_ENUM) PORT_FAULT_COUNT };

#define PORT_FAULT_COUNTERS(X)                                                                             \
	X(begun, "times", "it began")                                                                      \
	X(ended, "times", "it ended")

struct port_fault_counters { PORT_FAULT_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct port_fault_plan {
	enum port_fault_kind kind;
	sim_time from;           /* when it begins, or is looked for */
	sim_time lasts;          /* SIM_NEVER: for ever */
	sim_time period;         /* from one beginning to the next, more than `lasts` */
	uint64_t times;          /* how often it begins, at least once */
	uint8_t priorities;      /* pause_storm: one bit each */
	uint64_t rate_bps;       /* slow_receiver */
	const uint64_t *watched; /* not NULL: it does not begin before this counter ... */
	uint64_t reaches;        /* ... has reached this, ... */
	sim_time every, give_up; /* ... which is looked at so often, until then at the latest */
};

struct port_fault;

/* The ports, of which the array is copied, are linked, and outlive it. Without `watched`, they may be in several LPs of
 * a parallel run, of which `sim` is one; both ends of an InfiniBand link in one. */
struct port_fault *port_fault_create(struct sim *sim, const char *name,
				     const struct port_fault_plan *plan, struct port *const *ports,
				     unsigned count);

/* Calls begins() when a fault with a condition begins for the first time, within an event of its LP. */
void port_fault_follow(struct port_fault *fault, void (*begins)(void *context), void *context);
void port_fault_destroy(struct port_fault *fault);
const struct port_fault_counters *port_fault_counters(const struct port_fault *fault);

#endif
