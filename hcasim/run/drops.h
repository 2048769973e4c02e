/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops: how many packets a run lost, where and why. The reasons are those of the lists PORT_DROPS (fabric/port.h), SWITCH_DROPS
 * (switch/switch.h) and HCA_DROPS: metrics, tables, summaries and checks all count by these.
 */
#ifndef HCASIM_RUN_DROPS_H
#define HCASIM_RUN_DROPS_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "switch/switch.h"

/* clang-format off */
/* Why adapters lose packets that came to them: X(column, short name, counter of fidelity endpoint, counters of detailed ones). */
#define HCA_DROPS(X)                                                                                       \
	X(icrc_drops, "icrc",          counters->icrc_drops,      "receive.icrc_errors")                   \
	X(pkey_drops, "P_Key at host", counters->pkey_violations, "receive.pkey_violations")               \
	X(qp_drops,   "queue pair",    UINT64_C(0),               "receive.no_qp,receive.bad_state,receive.bad_source,receive.qkey_violations")
/* clang-format on */

/* The columns of links.csv behind those of the port itself, and their values; an adapter's are in its port's line. */
void drops_write_columns(FILE *out);
void drops_write_port(const struct build *build, const struct port *port, FILE *out);

/* Of a port: in its queues; on the way to it and on arrival, or on transmit; both. */
uint64_t drops_in_queues(const struct port *port);
uint64_t drops_on_link(const struct port *port);
uint64_t drops_of_port(const struct port *port);

/* Of a switch, without those of its ports' queues (queue_drops). */
uint64_t drops_of_switch(const struct fabric_switch *sw);

/* Of a host's adapter. */
uint64_t drops_of_hca(const struct build *build, uint32_t host);

/* Everywhere. */
uint64_t drops_of_all(const struct build *build);

/* " (fault 12, icrc 3)", or nothing if there is none. Returns their sum. */
uint64_t drops_print(const struct build *build, FILE *out);

/* Of a detailed adapter's blocks, "block.counter"; 0: it has no such block. */
uint64_t drops_counted(const struct build *build, uint32_t host, const char *counter);

#endif
