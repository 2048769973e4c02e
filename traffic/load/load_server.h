/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_server: cores of the first node that wait for requests, work on each, and respond; and the clients, which ask. A client is
 * a queue pair of another node, with `tx_depth` requests that are posted and without response.
 *
 *     client --WRITE--> slot in memory --\                                        /--WRITE--> slot --> client
 *     client --SEND---> CQE -------------> core: take, look up lines, work, post --SEND----> CQE ----> client
 *
 * Slots are as HERD has them: each core has a ring of `tx_depth` for each client whose requests may be for it, and looks at one
 * slot of each client in turn.
 */
#ifndef TRAFFIC_LOAD_LOAD_SERVER_H
#define TRAFFIC_LOAD_LOAD_SERVER_H

#include "traffic/load/load_state.h"

/* clang-format off */
#define SERVER_COUNTERS(X) \
	X(requests,     "requests", "taken")                                                     \
	X(batches,      "batches",  "of requests that were worked on together")                  \
	X(doorbells,    "doorbells", "of responses")                                             \
	X(slots_missed, "lines",    "of requests that the cache did not have")                   \
	X(lines_missed, "lines",    "of those that requests need, that the cache did not have")  \
	X(stalls,       "responses", "that waited for room in their send queue")
/* clang-format on */

struct server_counters {
	SERVER_COUNTERS(COUNTER_FIELD)
};

struct load_client {               /* who asks */
	struct load_qp *qp;        /* posts requests */
	struct load_qp *responses; /* UD: where responses arrive; NULL: not so */
	struct load_qp *far;       /* at the server; NULL: UD */
	uint32_t number;           /* of all */
	uint32_t number_in_thread;
	uint32_t under_way; /* requests */
	uint32_t *next;     /* [rings] requests, so far, to each core that it may ask */
	sim_time *began_at; /* [rings * window]; LOAD_NOT_ASKED */
};

#define LOAD_NOT_ASKED UINT64_MAX

/* How many rings of slots a client has: one for each core that it may ask. */
static inline uint32_t load_rings(const struct load *load)
{
	const struct load_server_params *server = &load->params.server;

	return server->chosen == LOAD_CHOSEN_RANDOM ? (uint32_t)server->cores : 1;
}

/* ---- load_client.c ---- */

/* The clients of all nodes; queue pairs are there. */
void load_clients_init(struct load *load);
void load_clients_fini(struct load *load);

/* Bytes of the slots of a node. */
uint64_t load_slot_bytes(const struct load *load, const struct load_node *node);

/* Does its window have room for a whole list of requests? Then: the next one, of which it takes the number, the slot and the core;
 * its latency counts from now. */
bool load_client_may_ask(const struct load_client *client);
struct load_target load_client_ask(struct load_client *client);

/* A response of that number, of a thread's, is polled `cost` from now. */
void load_client_response(struct load_thread *thread, uint32_t number, sim_time cost);

/* Data of so many bytes end there, in the slots of a node. */
void load_slot_written(struct load_node *node, uint64_t end);

/* ---- load_server.c ---- */

/* The core of a thread that waits for requests, in the place of its cores; a block with counters and gauges. */
void load_server_init(struct load_thread *thread);
void load_server_fini(struct load_thread *thread);

/* A CQE is visible to it. */
void load_server_wake(struct load_server *server);

/* A request of a client is in that slot, or was in a CQE. */
void load_server_written(struct load_server *server, uint32_t client, uint32_t slot);
void load_server_received(struct load_server *server, uint32_t client, uint32_t slot);

/* ---- load_lines.c ---- */

/* What a core of a node waits for lines of memory, of which those of a step are fetched side by side. */
struct load_lines {
	struct load_node *node;
	uint64_t cached, missed; /* lines */
	sim_time delay;          /* until memory can begin */
};

/* The step reads those bytes, or writes them: `change`. Then: how long the core waits for all that the step used: cpu.cache or
 * cpu.memory a line, cpu.side_by_side of them at a time. */
void load_lines_use(struct load_lines *lines, uint64_t address, uint64_t bytes, bool change);
sim_time load_lines_time(const struct load_lines *lines);

/* A core has just written them: they are in its cache. */
void load_lines_written(struct load_node *node, uint64_t address, uint64_t bytes);

#endif
