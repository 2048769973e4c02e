/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telemetry: the record that switches add to a packet that requests in-band telemetry (INT). The
 * receiver sends it back with the ACK. HPCC reads it.
 */
#ifndef INCLUDE_HCASIM_TELEMETRY_H
#define INCLUDE_HCASIM_TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "hcasim/time.h"

#define TELEMETRY_HOPS 8

/* Record that one switch adds to a departing packet, as in-band telemetry does. */
struct telemetry_hop {
	sim_time at; /* the packet's first bit leaves */
	/* bytes of data packets that the port has sent, including this packet */
	uint64_t sent_bytes;
	uint64_t rate_bps;    /* rate of the link */
	uint32_t queue_bytes; /* bytes of its VL that wait behind this packet */
	/* port_number() of the switch's port; counters of two ports are not comparable */
	uint32_t port;
};

/* Telemetry of a packet that requests it, from a pool. Packets carry it, and ACKs return it. */
struct telemetry {
	struct telemetry *next_free;
	uint32_t count;   /* hops filled */
	uint16_t skipped; /* number of hops that did not fit */
	bool complete;    /* the receiver has read it, so an ACK returns it unchanged */
	struct telemetry_hop hops[TELEMETRY_HOPS];
};

#endif
