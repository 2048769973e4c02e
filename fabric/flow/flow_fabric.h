/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_fabric: the links of a topology as a flow model has them: what is under way shares them max-min fairly, and has
 * no packets, queues, pauses or loss. Time is the simulation's own, so whoever sends over it may be any block.
 *
 *     flow_fabric_begin(transfer) --> fluid (SimGrid, CM02) --> ended(transfer), when the last byte has left
 *
 * One event is pending: the end of the transfer that ends first. Transfers that begin at one instant are begun together.
 */
#ifndef FABRIC_FLOW_FLOW_FABRIC_H
#define FABRIC_FLOW_FLOW_FABRIC_H

#include "fabric/topology.h"
#include "sim/block.h"

/* clang-format off */
#define FLOW_FABRIC_COUNTERS(X) \
	X(transfers_begun, "transfers", "Transfers that began.") \
	X(transfers_ended, "transfers", "Transfers whose last byte has left.") \
	X(bytes_carried, "bytes", \
	  "Bytes of finished transfers, with preamble and gaps, counted once and not per link.") \
	X(solutions, "times", "Times that all rates were recalculated.")

struct flow_fabric_counters { FLOW_FABRIC_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct fluid_flow;

/* The caller owns it until ended() is called, then again. */
struct flow_transfer {
	/* the caller's */
	struct topology_route route;
	uint64_t link_bytes; /* that a link is busy with: preamble and gaps are among them */
	uint64_t bytes;      /* that ports count */
	uint64_t packets;    /* likewise */
	void (*ended)(
		struct flow_transfer *transfer); /* at the time at which the last byte leaves */
	/* private */
	struct fluid_flow *flow;
	struct flow_transfer *next, *previous;
	uint64_t counted_bytes; /* by ports */
};

struct flow_fabric;

/* After topology_finish(); one at a time in a process. NULL: *error says which module is missing. */
struct flow_fabric *flow_fabric_create(struct sim *sim, const struct topology *topology,
				       char *error, size_t error_bytes);

/* Transfers that have not ended are their owners' again. */
void flow_fabric_destroy(struct flow_fabric *fabric);

const struct topology *flow_fabric_topology(const struct flow_fabric *fabric);

/* Never ends inside the call. */
void flow_fabric_begin(struct flow_fabric *fabric, struct flow_transfer *transfer);

/* Lets ports have counted all that has been carried until now. */
void flow_fabric_settle(struct flow_fabric *fabric);

/* What share of a transfer has left, 0 to 1, at the last flow_fabric_settle(). */
double flow_transfer_progress(const struct flow_transfer *transfer);

#endif
