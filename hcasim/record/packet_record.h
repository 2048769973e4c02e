/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_record: writes every packet that leaves a port to a pcapng file, each port an interface, in the order of time.
 *
 *     port tap (a departure, as soon as it is fixed) --> heap by time --> pcapng_write() once time has come there
 */
#ifndef HCASIM_RECORD_PACKET_RECORD_H
#define HCASIM_RECORD_PACKET_RECORD_H

#include "fabric/port.h"

struct packet_record;

struct packet_record_file {
	const char *path;
	uint32_t snap;      /* bytes kept of each packet, 0: all */
	uint64_t max_bytes; /* of the file */
};

/* The ports and the pool outlive it. NULL: the file cannot be made; errno says why. */
struct packet_record *packet_record_create(struct sim *sim, struct packet_pool *pool,
					   const struct packet_record_file *place,
					   struct port *const *ports, uint32_t count);

/* After the run. 0, or the errno of what could not be written. */
int packet_record_destroy(struct packet_record *record);

/* The time of the first packet that found no room in the file (pcapng_limit()); SIM_NEVER: none. */
sim_time packet_record_full_since(const struct packet_record *record);
uint64_t packet_record_packets(const struct packet_record *record);

#endif
