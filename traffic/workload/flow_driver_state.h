/* SPDX-License-Identifier: Apache-2.0 */
/* flow_driver_state: declarations shared by the files of flow_driver. No other file includes it. */
#ifndef TRAFFIC_WORKLOAD_FLOW_DRIVER_STATE_H
#define TRAFFIC_WORKLOAD_FLOW_DRIVER_STATE_H

#include "traffic/workload/dependencies.h"
#include "traffic/workload/flow_driver.h"
#include "traffic/workload/flow_pairs.h"
#include "traffic/workload/flow_start_heap.h"
#include "traffic/workload/servers.h"

/* Phases that are not simulated (flow_repeat.c). */
struct flow_repeat {
	bool watches;     /* the run stops when the start of a phase becomes known */
	uint64_t *sums;   /* bytes of skipped phases, by pair, end and kind; NULL: never watched */
	sim_time next_at; /* start of the next phase; SIM_NEVER: not known */
	uint32_t next;    /* its number */
	uint32_t end;     /* first flow after the skipped ones */
	sim_time skipped; /* duration of the skipped phases */
	struct sim *sim;
};

struct flow_state {
	struct flow_pair *pair;
	uint64_t bytes_left;    /* not posted */
	uint32_t messages_left; /* not complete */
	uint32_t undelivered;
	bool failed, stopped, served;
	/* at the source of the data */
	bool sends;
	uint32_t cnps; /* CNPs of the sender at the start */
	sim_time paused;
};

/* Flows that begin at a host, which is their requester. */
struct flow_driver_host {
	struct flow_start_heap heaps[FLOW_START_KINDS];
	uint32_t ended; /* flows that ended, barriers excluded */
	struct block block;
};

struct flow_driver {
	struct backend_user user; /* first */
	struct dependencies_user dependencies_user;
	struct dependencies *dependencies;
	const struct workload *workload;
	struct flow_driver_part *parts; /* as the workload's */
	struct backend *backend;
	const struct backend_ops *ops; /* the backend's */
	flow_driver_route_function *route;
	void *context;
	struct flow_state *states;
	struct flow_record *records;
	struct flow_pairs pairs;
	struct servers *servers; /* NULL: none */
	struct flow_driver_host *hosts;
	struct start *starts; /* [flows] of all hosts */
	struct flow_repeat repeat;
	struct block block;
};

/* Writes the facts that are known before the run to the records of the flows.
 * flow_driver_describe.c */
void flow_driver_describe(struct flow_driver *driver);

#endif
