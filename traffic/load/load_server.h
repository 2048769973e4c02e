/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_server: the servers and clients of a load. Server cores of the first node poll for requests,
 * process each request and respond. Clients send requests. A client is a queue pair of another
 * node. It has up to `tx_depth` requests that are posted and have no response yet.
 *
 *     client --WRITE--> slot in memory --\                              /-WRITE-> slot --> client
 *     client --SEND---> CQE --------------> core: take, use lines, post --SEND--> CQE ---> client
 *
 * Slots are laid out as in HERD. Each core has a ring of `tx_depth` slots for each client that may
 * send requests to it. The core polls one slot of each client in turn.
 */
#ifndef TRAFFIC_LOAD_LOAD_SERVER_H
#define TRAFFIC_LOAD_LOAD_SERVER_H

#include "traffic/load/load_state.h"

/* clang-format off */
#define SERVER_COUNTERS(X) \
	X(requests,     "requests", "taken") \
	X(batches,      "batches",  "batches of requests processed together") \
	X(doorbells, "doorbells", \
	  "doorbells of responses") \
	X(slots_missed, "lines",    "lines of requests that missed the cache") \
	X(lines_missed, "lines",    "lines of the table that missed the cache") \
	X(stalls,       "responses", "responses that waited for room in their send queue")
/* clang-format on */

struct server_counters {
	SERVER_COUNTERS(COUNTER_FIELD)
};

struct load_client {               /* source of requests */
	struct load_qp *qp;        /* queue pair that posts the requests */
	struct load_qp *responses; /* UD queue pair that receives the responses; NULL: not UD */
	struct load_qp *far;       /* queue pair at the server; NULL: UD */
	uint32_t number;           /* among the clients of all nodes */
	uint32_t number_in_thread;
	uint32_t under_way; /* requests without response */
	/* [rings] requests sent so far to each core that the client may select */
	uint32_t *next;
	sim_time *began_at; /* [rings * window] start of each request, or LOAD_NOT_ASKED */
};

#define LOAD_NOT_ASKED UINT64_MAX

/* Returns the number of slot rings of a client: one for each core that may receive its requests. */
static inline uint32_t load_rings(const struct load *load)
{
	const struct load_server_params *server = &load->params.server;

	return server->chosen == LOAD_CHOSEN_RANDOM ? (uint32_t)server->cores : 1;
}

/* ---- load_client.c ---- */

/* Creates and frees the clients of all nodes. The queue pairs must exist. */
void load_clients_init(struct load *load);
void load_clients_fini(struct load *load);

/* Returns the size of a node's slots in bytes. */
uint64_t load_slot_bytes(const struct load *load, const struct load_node *node);

/* Both functions are the client side of a request. load_client_may_ask() returns true if the window
 * of the client has room for a whole list of requests. load_client_ask() starts the next request.
 * It assigns number, slot and core, and the latency counts from that moment. */
bool load_client_may_ask(const struct load_client *client);
struct load_target load_client_ask(struct load_client *client);

/* Completes the request of that number in a thread. The thread polls the response `cost` from
 * now. */
void load_client_response(struct load_thread *thread, uint32_t number, sim_time cost);

/* Reports data that end at address `end` in the slots of a node. */
void load_slot_written(struct load_node *node, uint64_t end);

/* ---- load_server.c ---- */

/* Creates and frees the server core of a thread, which replaces its posting cores. It is a block
 * with counters and gauges. */
void load_server_init(struct load_thread *thread);
void load_server_fini(struct load_thread *thread);

/* Tells the server core that a CQE is visible. */
void load_server_wake(struct load_server *server);

/* Report a request of a client: one written to that slot, or one received in a CQE. */
void load_server_written(struct load_server *server, uint32_t client, uint32_t slot);
void load_server_received(struct load_server *server, uint32_t client, uint32_t slot);

/* ---- load_lines.c ---- */

/* Memory lines that a core of a node uses in one step. The core loads the lines of a step
 * concurrently. */
struct load_lines {
	struct load_node *node;
	uint64_t cached, missed; /* lines */
	sim_time delay;          /* time until memory can start */
};

/* load_lines_use() adds bytes that the step reads, or writes if `change` is true. load_lines_time()
 * returns how long the core waits for all lines of the step. A line takes cpu.cache or cpu.memory,
 * and cpu.side_by_side lines are loaded at a time. */
void load_lines_use(struct load_lines *lines, uint64_t address, uint64_t bytes, bool change);
sim_time load_lines_time(const struct load_lines *lines);

/* Records that a core has written these bytes, which puts their lines into its cache. */
void load_lines_written(struct load_node *node, uint64_t address, uint64_t bytes);

#endif
