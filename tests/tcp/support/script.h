/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script: drives a connection with a list of lines, one per step, which begin with the time in
 * microseconds. Sequence numbers count from the SYN of their sender, which is 0. Each segment of
 * the connection must be expected, at its exact time:
 *
 *     "0     connect"
 *     "0     > S 0(0) mss 1460 wscale 7 sackok"     the connection sends
 *     "100   < SA 0(0) ack 1 win 8192 mss 1000"     the peer sends
 *     "100   > A 1(0) ack 1"
 *     "200   write 3000"
 *     "200   is cwnd 10000"
 *
 * Segment: flags of SAFREWPU (W: CWR), sequence(bytes), then `ack N`, `win N`, `urg N`, `mss N`,
 * `wscale N`, `sackok`, `ts VALUE ECHO`, `sack A-B,C-D`, `ect0`, `ce`. `win` and `ts` are compared
 * if given, the others always; PSH is not compared.
 *
 * Calls: connect, listen, write N, urge N, read N, shutdown, abort, orphan, room, no-room.
 * `is NAME N`: cwnd, in-flight, peer-window, acknowledged, received, readable, timeouts,
 * recoveries, probes, window-probes, keepalive-probes, stuck, ce-received, ece-received,
 * reductions, rto (us), recovering, urgent, state NAME. `event NAME` (connected, readable,
 * acknowledged, peer-closed, finished, reset, timed-out, urgent-announced, urgent-arrived) requires
 * that it was reported since the last such line.
 */
#ifndef TESTS_TCP_SUPPORT_SCRIPT_H
#define TESTS_TCP_SUPPORT_SCRIPT_H

#include "tcp/tcp.h"

struct script_setup {
	const char *congestion; /* NULL: newreno */
	const char *set; /* parameters: "sack=false rto_min=1s"; NULL: defaults, see script.c */
};

/* An active open, whose round trip takes 100 us. The peer's window is not scaled. */
#define SCRIPT_OPEN                                             \
	"0   connect", "0   > S 0(0) mss 1000 wscale 7 sackok", \
		"100 < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok", "100 > A 1(0) ack 1"

/* Five and ten full segments are sent. */
#define SCRIPT_FIVE(at)                                                                  \
	at " > A 1(1000) ack 1", at " > A 1001(1000) ack 1", at " > A 2001(1000) ack 1", \
		at " > A 3001(1000) ack 1", at " > A 4001(1000) ack 1"

#define SCRIPT_TEN(at)                                                           \
	SCRIPT_FIVE(at), at " > A 5001(1000) ack 1", at " > A 6001(1000) ack 1", \
		at " > A 7001(1000) ack 1", at " > A 8001(1000) ack 1", at " > A 9001(1000) ack 1"

/* Runs the lines; the last is NULL. Every difference fails the test. */
void script_run(const struct script_setup *setup, const char *const *lines);

#endif
