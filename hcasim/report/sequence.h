/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence: packets between two hosts, in order, with the events at each host: the contents of a
 * message sequence chart.
 *
 *     packets.pcapng --passages--> departures, losses, retransmissions, marks, pauses
 *     trace.bin --sequence_trace--> arrivals, losses on the last link, doorbells, completions
 *     sequence --sequence_text, sequence_svg--> chart
 */
#ifndef HCASIM_REPORT_SEQUENCE_H
#define HCASIM_REPORT_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hcasim/report/passages.h"
#include "hcasim/time.h"

#define SEQUENCE_TEXT_BYTES 96
#define SEQUENCE_QP_ANY     UINT32_MAX

/* clang-format off */
/* X(NAME, whether it travels, colour, words of the legend) */
#define SEQUENCE_KINDS(X) \
	X(REQUEST,    true,  "#0072b2", "request") \
	X(RESPONSE,   true,  "#009e73", "ACK or response") \
	X(NAK,        true,  "#d55e00", "NAK or RNR NAK") \
	X(CNP,        true,  "#cc79a7", "CNP") \
	X(DOORBELL,   false, "#333333", "doorbell, begin of a message") \
	X(COMPLETION, false, "#5e3c99", "completion") \
	X(REWIND,     false, "#882255", "requester goes back, rate changes") \
	X(PAUSE,      false, "#c2256f", "pause")
#define SEQUENCE_ENUM(name, travels, colour, words) SEQUENCE_##name,
enum sequence_kind { SEQUENCE_KINDS(SEQUENCE_ENUM) SEQUENCE_KIND_COUNT };
/* clang-format on */

struct sequence_event {
	sim_time at;    /* it leaves, or happens */
	sim_time until; /* time of arrival; SIM_NEVER: lost */
	enum sequence_kind kind;
	unsigned side; /* host at which it leaves or happens: 0 or 1 */
	bool again;    /* retransmitted */
	char text[SEQUENCE_TEXT_BYTES];
	uint64_t last_hop_ns; /* departure from the last port; 0: it did not leave */
};

struct sequence {
	char *hosts[2];
	size_t ports[2];       /* of the passages */
	uint32_t qps[2];       /* SEQUENCE_QP_ANY: all packets between these hosts */
	uint32_t *qps_seen[2]; /* to which packets of the chart go, at each host */
	size_t qp_counts[2];
	struct sequence_event *list;
	size_t count, room;
	bool exact[2]; /* arrival times are from the trace, not departures from the last port */
	/* events that were omitted before the first one and after the last one */
	size_t before, behind;
};

/* Finds all packets between two hosts. Returns false and sets *error on failure. */
bool sequence_of_pair(struct sequence *sequence, const struct passages *all, const char *one,
		      const char *other, char *error, size_t error_bytes);

/* Finds packets of one queue pair of the host, and of its peer. `trace` is the run's trace, which
 * names the peer. If it is NULL, the peer follows from the PSNs of the packets. Returns false and
 * sets *error on failure. */
bool sequence_of_qp(struct sequence *sequence, const struct passages *all, const char *host,
		    uint32_t qpn, const char *trace, char *error, size_t error_bytes);

/* Finds the queue pair of the second host that executes requests of the given queue pair of the
 * first host. Returns false if the trace does not show it. sequence_trace.c */
bool sequence_find_peer(char *const hosts[2], uint32_t qpn, const char *trace, uint32_t *peer);

/* Adds the events of the trace. Returns false and sets *error if it cannot be read.
 * sequence_trace.c */
bool sequence_add_trace(struct sequence *sequence, const char *path, char *error,
			size_t error_bytes);

/* Sorts the events by time, and keeps at most `most` events from `from` on. */
void sequence_cut(struct sequence *sequence, sim_time from, size_t most);

/* Returns true if the chart shows that queue pair on that side. */
bool sequence_has_qp(const struct sequence *sequence, unsigned side, uint64_t qpn);

struct sequence_event *sequence_add(struct sequence *sequence, enum sequence_kind kind,
				    unsigned side, sim_time at);
void sequence_free(struct sequence *sequence);

/* sequence_text.c, sequence_svg.c */
void sequence_print(const struct sequence *sequence, FILE *out);
void sequence_draw(const struct sequence *sequence, FILE *out);

#endif
