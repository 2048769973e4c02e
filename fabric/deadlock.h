/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock: detects a cycle of full buffers in which each buffer waits for space in the next. The
 * search uses the present state. A buffer is dead if all of its packets are queued, and if dead
 * buffers stop every output at which these packets wait. Hosts are assumed to empty their buffers
 * eventually, so a slow host is not a deadlock.
 *
 * Rows D-20, D-29; Hu et al., HotNets 2016.
 */
#ifndef FABRIC_DEADLOCK_H
#define FABRIC_DEADLOCK_H

#include "fabric/topology.h"

#define DEADLOCK_HOPS 64

struct deadlock_hop {
	const struct port *input;  /* a full buffer of this input */
	const struct port *output; /* the output at which its packets wait */
	uint8_t vl;                /* VL of the input */
};

struct deadlock {
	sim_time at;
	unsigned count;   /* hops of the cycle; 0 if there is no cycle */
	unsigned buffers; /* number of all dead buffers */
	bool cut;         /* the cycle is longer than `hops` */
	struct deadlock_hop hops[DEADLOCK_HOPS];
};

/* Searches for a deadlock in the present state. Returns false if there is none. */
bool deadlock_find(const struct topology *topology, struct deadlock *deadlock);

/* Writes for example "switch0.port1 VL 0 waits at switch0.port2 for switch1.port1 VL 0, ...".
 * Returns `text`. */
const char *deadlock_print(const struct deadlock *deadlock, char *text, size_t text_bytes);

/* Searches every `interval`, until a deadlock is found or the run has no other event. Calls found()
 * once. */
struct deadlock_watch;
typedef void deadlock_found(void *context, const struct deadlock *deadlock);

struct deadlock_watch *deadlock_watch_create(struct sim *sim, const struct topology *topology,
					     sim_time interval, deadlock_found *found,
					     void *context); /* the topology outlives it */
void deadlock_watch_destroy(struct deadlock_watch *watch);
uint64_t deadlock_watch_looks(const struct deadlock_watch *watch); /* number of searches */

#endif
