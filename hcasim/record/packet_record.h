/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_record: writes packets that leave ports to a pcapng file, in order of time: all packets,
 * or the packets that record.only selects. Each port is an interface. With record.ring the latest
 * packets stay in memory until a trigger.
 *
 *     port tap (a departure, as soon as its time is fixed) --> heap by time --> pcapng_write()
 *                                                                  `--> ring --trigger--^
 */
#ifndef HCASIM_RECORD_PACKET_RECORD_H
#define HCASIM_RECORD_PACKET_RECORD_H

#include "hcasim/builder/build.h"

struct packet_record;

/* Creates the file and records the packets that the scenario selects. The build must outlive the
 * record. Returns NULL on failure, and writes the reason to *error. */
struct packet_record *packet_record_create(const struct build *build, const char *path, char *error,
					   size_t error_bytes);

/* Writes the remaining records, after the run. `failed`: the run has an exit code other than 0. */
void packet_record_end(struct packet_record *record, bool failed);

/* Closes the file. Returns 0, or the errno of a failed write. */
int packet_record_destroy(struct packet_record *record);

/* Returns the time of the first packet that did not fit into the file (pcapng_limit()), or
 * SIM_NEVER. */
sim_time packet_record_full_since(const struct packet_record *record);
uint64_t packet_record_packets(const struct packet_record *record); /* in the file */

/* Writes statistics of the ring, after packet_record_end(). Returns false without a ring. */
bool packet_record_describe(const struct packet_record *record, char *text, size_t text_bytes);

#endif
