/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel: connects a connection of tcp/ to a socket of the Linux kernel that runs the test, in real
 * time. A tun device in the test's own network namespace connects them. The link loses, delays and
 * marks segments at random in both directions.
 *
 *     connection <--> link <--> tun device <--> TCP of the kernel <--> socket
 *
 * The value of each application byte depends on its place in the stream. Each byte that arrives is
 * compared.
 */
#ifndef TESTS_TCP_SUPPORT_TUNNEL_H
#define TESTS_TCP_SUPPORT_TUNNEL_H

#include "tcp/tcp.h"

struct tunnel_setup {
	const char *congestion;
	struct tcp_params params;
	uint16_t mtu;
	int kernel_buffer;          /* SO_RCVBUF of the kernel's socket; 0: the kernel's choice */
	bool kernel_opens;          /* else the engine does */
	bool no_listener;           /* the side that is to accept does not */
	double loss, reorder, mark; /* probability for each segment, in both directions */
	sim_time delay;             /* of each segment */
};

/* An application at either end. The caller sets the fields, then calls tunnel_run(). */
struct tunnel_end {
	uint64_t write_bytes; /* in all */
	bool stops_reading;
	bool shuts; /* half-close behind the last byte */
	uint64_t written, read;
	bool connected, peer_closed, shut, wrong_byte;
	int error; /* kernel: errno; engine: ECONNRESET, ECONNREFUSED, ETIMEDOUT */
};

struct tunnel;

/* Enters a network namespace of its own. Returns false if the system does not permit it. */
bool tunnel_possible(void);

/* Sets the value of /proc/sys/net/ipv4/NAME in the namespace. */
void tunnel_sysctl(const char *name, const char *value);

void tunnel_default(struct tunnel_setup *setup);
struct tunnel *tunnel_create(const struct tunnel_setup *setup);
void tunnel_destroy(struct tunnel *tunnel);

struct tunnel_end *tunnel_engine(struct tunnel *tunnel);
struct tunnel_end *tunnel_kernel(struct tunnel *tunnel);
int tunnel_socket(const struct tunnel *tunnel); /* of the kernel, once connected */
void tunnel_report(const struct tunnel *tunnel, struct tcp_report *report);

/* Runs until done() holds, at most so many milliseconds. Returns whether it held. */
bool tunnel_run(struct tunnel *tunnel, bool (*done)(struct tunnel *tunnel), unsigned limit_ms);

void tunnel_abort(struct tunnel *tunnel);        /* by the engine: RST */
void tunnel_kernel_reset(struct tunnel *tunnel); /* close with SO_LINGER 0 */

#endif
