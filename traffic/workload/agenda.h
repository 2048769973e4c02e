/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agenda: which flows of a host begin when: a heap, and one event for the first of them. Part of flow_driver.
 *
 * A host has two: of what begins because of the host alone, and of what others have told it of (waits.h), which may enter
 * between two windows of a divided run and therefore has a fixed place within its instant.
 */
#ifndef TRAFFIC_WORKLOAD_AGENDA_H
#define TRAFFIC_WORKLOAD_AGENDA_H

#include "sim/block.h"

enum agenda_kind { AGENDA_OWN, AGENDA_TOLD, AGENDAS };

struct start {
	sim_time at;
	uint32_t flow;
};

struct agenda {
	struct event event;
	struct start *starts; /* the earliest first, of equals the lower number */
	uint32_t count;
	enum agenda_kind kind;
	void (*begin)(void *context, uint32_t flow);
	void *context;
};

/* starts: room for all that will ever be in it at once. */
void agenda_init(struct agenda *agenda, struct block *block, enum agenda_kind kind,
		 struct start *starts, void (*begin)(void *context, uint32_t flow), void *context);
void agenda_fini(struct agenda *agenda);

/* at: now, or later. */
void agenda_add(struct agenda *agenda, sim_time at, uint32_t flow);

#endif
