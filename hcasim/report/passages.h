/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passages: the packets of a run's packets.pcapng, each as it leaves a port. A packet that crosses
 * switches has several passages.
 *
 *     packets.pcapng --passages_read()--> passages --sequence_make()--> chart of two hosts
 */
#ifndef HCASIM_REPORT_PASSAGES_H
#define HCASIM_REPORT_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct passage {
	uint64_t at_ns;
	uint64_t source, destination; /* addresses; 0: PFC has none */
	uint32_t port;                /* in the list of ports */
	uint32_t dest_qp, psn;
	uint32_t payload_bytes, msn;
	uint8_t opcode, syndrome;
	uint8_t pause_enable; /* PFC: one bit per priority; 0: all priorities continue */
	bool pause;           /* PFC */
	bool marked;          /* ECN CE or FECN */
	bool becn;
};

struct passages {
	struct passage *list;
	size_t count, room;
	char **ports; /* their names */
	size_t port_count;
	uint64_t *addresses; /* of a host's port: the source of its packets; 0: unknown */
	size_t cut;          /* packets of which the file has only the first bytes */
	size_t too_short;    /* of these, packets with truncated headers */
};

/* Returns false and writes the reason to *error if the file cannot be read or is not a capture. */
bool passages_read(struct passages *all, const char *path, char *error, size_t error_bytes);
void passages_free(struct passages *all);

/* Returns the port "HOST.hca.port", or all->port_count if there is none. */
size_t passages_host_port(const struct passages *all, const char *host);

/* Returns the port of the host with that address, or all->port_count if there is none. */
size_t passages_find_address(const struct passages *all, uint64_t address);

#endif
