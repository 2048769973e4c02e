/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock: a cycle of buffers, each of them full of packets that wait for space in the next. It is found in the
 * state as it is: a buffer is dead when all it holds is queued, and every output that it waits at is stopped by a
 * buffer that is dead. Hosts are taken to empty their buffers some day; a slow one is no deadlock.
 *
 * Ground truth D-20, D-29; Hu et al., HotNets 2016.
 */
#ifndef FABRIC_DEADLOCK_H
#define FABRIC_DEADLOCK_H

#include "fabric/topology.h"

#define DEADLOCK_HOPS 64

struct deadlock_hop {
	const struct port *input;  /* its buffer is full, ... */
	const struct port *output; /* of packets that wait here for the next hop's input */
	uint8_t vl;                /* ... of the input */
};

struct deadlock {
	sim_time at;
	unsigned count;   /* hops of the cycle; 0: there is none */
	unsigned buffers; /* dead in all */
	bool cut;         /* the cycle is longer than `hops` */
	struct deadlock_hop hops[DEADLOCK_HOPS];
};

/* Looks now. false: there is none. */
bool deadlock_find(const struct topology *topology, struct deadlock *deadlock);

/* "switch0.port1 VL 0 waits at switch0.port2 for switch1.port1 VL 0, ..." Returns text. */
const char *deadlock_print(const struct deadlock *deadlock, char *text, size_t text_bytes);

/* Looks every `interval`, until it finds one (found() is called once) or no event but its own is left in the run. */
struct deadlock_watch;
typedef void deadlock_found(void *context, const struct deadlock *deadlock);

struct deadlock_watch *deadlock_watch_create(struct sim *sim, const struct topology *topology,
					     sim_time interval, deadlock_found *found,
					     void *context); /* the topology outlives it */
void deadlock_watch_destroy(struct deadlock_watch *watch);
uint64_t
deadlock_watch_looks(const struct deadlock_watch *watch); /* how many times it has looked */

#endif
