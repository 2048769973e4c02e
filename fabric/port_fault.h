/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_fault: temporary faults of ports: links that go down, a port that requests pauses
 * without need, a receiver that drains its packets slowly. A restarting switch is a fault of
 * all its links. fault.h describes the faults of packets.
 */
#ifndef FABRIC_PORT_FAULT_H
#define FABRIC_PORT_FAULT_H

#include "fabric/port.h"

/* clang-format off */
#define PORT_FAULTS(X) \
	X(link_down, "Takes the links of the ports down, in both directions and at both ends.") \
	X(pause_storm, \
	  "The ports pause the priorities of the other end, whatever the state of their buffers " \
	  "(Ethernet).") \
	X(slow_receiver, "The ports release input space at a limited rate.")

#define PORT_FAULT_ENUM(name, meaning) PORT_FAULT_##name,
enum port_fault_kind { PORT_FAULTS(PORT_FAULT_ENUM) PORT_FAULT_COUNT };

#define PORT_FAULT_COUNTERS(X) \
	X(begun, "times", "Times that the fault began.") \
	X(ended, "times", "Times that the fault ended.")

struct port_fault_counters { PORT_FAULT_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct port_fault_plan {
	enum port_fault_kind kind;
	/* time at which the fault begins, or at which the watch of the counter begins */
	sim_time from;
	sim_time lasts;     /* duration; SIM_NEVER for no end */
	sim_time period;    /* time from one start to the next, above `lasts` */
	uint64_t times;     /* number of beginnings, at least 1 */
	uint8_t priorities; /* for pause_storm: one bit per priority */
	uint64_t rate_bps;  /* for slow_receiver */
	/* counter that must reach `reaches` before the fault begins, or NULL */
	const uint64_t *watched;
	uint64_t reaches; /* value that `watched` must reach */
	/* interval at which `watched` is read, and the time of the last reading */
	sim_time every, give_up;
};

struct port_fault;

/* Creates a fault of the given ports. The ports must be linked and outlive the fault; the array
 * is copied. Without `watched`, the ports may be in several LPs of a parallel run, and `sim` is
 * one LP. Both ends of an InfiniBand link must be in one LP. */
struct port_fault *port_fault_create(struct sim *sim, const char *name,
				     const struct port_fault_plan *plan, struct port *const *ports,
				     unsigned count);

/* Registers begins(), which the fault calls when it begins for the first time after its
 * condition. The call is within an event of the fault's LP. */
void port_fault_follow(struct port_fault *fault, void (*begins)(void *context), void *context);
void port_fault_destroy(struct port_fault *fault);
const struct port_fault_counters *port_fault_counters(const struct port_fault *fault);

#endif
