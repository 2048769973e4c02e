/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe: two connections with a link between them that loses, reorders, repeats and marks segments.
 * The value of each application byte depends on its place in the stream. The test checks the value
 * of each byte, and that it arrives once.
 *
 * Each segment sent must obey the congestion window and the peer's window.
 */
#ifndef TESTS_TCP_SUPPORT_PIPE_H
#define TESTS_TCP_SUPPORT_PIPE_H

#include "sim/random.h"
#include "tcp/tcp.h"

struct pipe_setup {
	uint64_t seed;
	const char *congestion;
	struct tcp_params params[2];
	uint16_t mss[2];
	uint64_t bytes[2];    /* that end 0 and end 1 write */
	uint32_t write_bytes; /* at a time */
	uint32_t read_every;  /* the application reads after so many events; 1: at once */
	uint64_t rate_bps;
	sim_time delay;       /* one way */
	uint64_t queue_bytes; /* drop-tail, of each direction */
	uint64_t mark_bytes;  /* queue from which on CE is set; 0: never */
	double loss, reorder, duplicate;
	sim_time reorder_by;
	uint64_t drop_from, drop_count; /* data segments of end 0, counted from 1; 0: none */
	sim_time limit;
	/* NULL, or called with each ACK that end 0 takes */
	void (*watch)(void *context, sim_time now, const struct tcp_report *report);
	void *context;
};

struct pipe_result {
	bool complete;        /* all bytes arrived and both ends closed */
	sim_time finished_at; /* last byte of end 0 has arrived */
	uint64_t queue_max;   /* bytes, of end 0's direction */
	double queue_mean;    /* bytes, over the second half of the transfer's time */
	struct tcp_report report[2];
};

/* Sets reasonable values, which the caller changes. */
void pipe_default(struct pipe_setup *setup);
void pipe_run(const struct pipe_setup *setup, struct pipe_result *result);

#endif
