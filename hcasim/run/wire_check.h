/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_check: checks that the counted bytes fit the wire. Bytes of a port in a recorded window fit
 * its rate. Payload fits its headers.
 *
 *     experiment_measure.c --windows of ports--> wire_check --excess--> experiment_check.c
 */
#ifndef HCASIM_RUN_WIRE_CHECK_H
#define HCASIM_RUN_WIRE_CHECK_H

#include "fabric/port.h"

/* Windows in which a port sent more than its rate carries. All zero: there is no such window.
 * `bytes`, `from` and `until` are for the first window. */
struct wire_excess {
	uint64_t windows, bytes;
	sim_time from, until;
};

/* Returns the bytes that a rate carries in a window. */
double wire_check_room(uint64_t rate_bps, sim_time window);

/* Checks `bytes` of the window from `from` to `until`. A window allows one byte more than the rate
 * carries, since the byte on the link at an edge counts as a whole. */
void wire_check_window(struct wire_excess *excess, uint64_t rate_bps, sim_time from, sim_time until,
		       uint64_t bytes);

/* Returns the bytes of a packet besides its payload, at least, as port counters count them: IPv4
 * and TCP in Ethernet; LRH, BTH, ICRC and VCRC in InfiniBand. */
uint32_t wire_check_header_bytes(enum link_layer link_layer);

#endif
