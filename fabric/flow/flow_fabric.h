/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_fabric: the links of a topology as a flow model. Transfers in progress share the links
 * max-min fairly. There are no packets, queues, pauses or losses. Time is the simulation's time, so
 * any block may be the sender.
 *
 *     flow_fabric_begin(transfer) --> fluid (SimGrid, CM02) --> ended(transfer): the last byte left
 *
 * One event is pending, for the transfer that ends first. Transfers that begin at the same time are
 * begun together.
 */
#ifndef FABRIC_FLOW_FLOW_FABRIC_H
#define FABRIC_FLOW_FLOW_FABRIC_H

#include "fabric/topology.h"
#include "sim/block.h"

/* clang-format off */
#define FLOW_FABRIC_COUNTERS(X)                                                                  \
	X(transfers_begun, "transfers", "Transfers that began.")                                 \
	X(transfers_ended, "transfers", "Transfers whose last byte has left.")                   \
	X(bytes_carried, "bytes",                                                                \
	  "Bytes of finished transfers, with preamble and gaps, counted once and not per link.") \
	X(solutions, "times", "Times that all rates were recalculated.")

struct flow_fabric_counters { FLOW_FABRIC_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct fluid_flow;

/* A transfer. The fabric uses it from flow_fabric_begin() until ended(). */
struct flow_transfer {
	/* filled in by the caller */
	struct topology_route route;
	uint64_t link_bytes; /* bytes that occupy a link, including preamble and gaps */
	uint64_t bytes;      /* bytes to add to the counters of ports */
	uint64_t packets;    /* packets to add to the counters of ports */
	void (*ended)(struct flow_transfer *transfer); /* called when the last byte leaves */
	/* private */
	struct fluid_flow *flow;
	struct flow_transfer *next, *previous;
	uint64_t counted_bytes; /* bytes that ports have counted */
};

struct flow_fabric;

/* Creates the flow level. Call it after topology_finish(). A process has at most one. Returns NULL,
 * and *error, if a module is missing. */
struct flow_fabric *flow_fabric_create(struct sim *sim, const struct topology *topology,
				       char *error, size_t error_bytes);

/* Destroys the flow level. Transfers that have not ended belong to their owners again. */
void flow_fabric_destroy(struct flow_fabric *fabric);

const struct topology *flow_fabric_topology(const struct flow_fabric *fabric);

/* Begins a transfer. ended() is never called inside this call. */
void flow_fabric_begin(struct flow_fabric *fabric, struct flow_transfer *transfer);

/* Updates the counters of all ports to the present time. */
void flow_fabric_settle(struct flow_fabric *fabric);

/* Returns the share of a transfer that had left at the last flow_fabric_settle(), 0 to 1. */
double flow_transfer_progress(const struct flow_transfer *transfer);

#endif
