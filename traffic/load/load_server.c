/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_server: server core, see load_server.h. It performs one step after the other, each with its
 * cost:
 *
 *     poll slots in turn, or CQEs --> batch full, or all polled --> look up lines, work
 *      ^                               --> build a list, ring --> more responses: next list --,
 *      '------------------------------------ all have a response <---------------------------'
 *
 * A core that finds nothing continues to poll. This needs no events: its position is computed from
 * the time.
 */
#include "traffic/load/load_server.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port.h"
#include "hca/host/llc.h"
#include "sim/gauge.h"

enum { BATCH_MAX = 64, NAME_BYTES = 128 };

/* clang-format off */
#define SERVER_GAUGES(X) CORE_GAUGES(X, "processor core that responds to requests")
/* clang-format on */

enum server_state { SERVER_LOOKING, SERVER_TAKING, SERVER_WORKING, SERVER_POSTING, SERVER_STALLED };

struct request {
	uint32_t client, slot;
};

struct load_server {
	struct block block;
	struct server_counters count;
	struct core_gauges gauge;
	struct load_thread *thread; /* its queue pairs and CQ */
	struct event step;
	enum server_state state;
	/* clients that may send requests to it, by position: all, or one in `cores` */
	uint32_t clients;
	uint8_t *full;          /* [clients * window] slots */
	uint32_t *next;         /* [clients] next slot to poll */
	uint32_t ready;         /* clients whose next slot is full */
	uint32_t position;      /* position of the next client to poll */
	sim_time looking_since; /* ... from then on */
	uint32_t left; /* clients left to poll before it processes the requests found, if any */
	struct request *waiting; /* a ring of [clients * window]: their CQEs were polled, no more */
	uint32_t waiting_first, waiting_count;
	struct request batch[BATCH_MAX];
	uint32_t taken, responded, listed;
	struct random random;
};

static struct load *load_of(const struct load_server *server)
{
	return server->thread->node->load;
}

static const struct load_server_params *params_of(const struct load_server *server)
{
	return &load_of(server)->params.server;
}

static uint32_t window(const struct load_server *server)
{
	return (uint32_t)load_of(server)->params.tx_depth;
}

static sim_time now(const struct load_server *server)
{
	return sim_now(load_of(server)->sim);
}

static bool by_slots(const struct load_server *server)
{
	return load_of(server)->params.verb == LOAD_WRITE;
}

static void go_on(struct load_server *server, enum server_state state, sim_time cost)
{
	server->state = state;
	core_serve(&server->gauge, now(server), cost);
	sim_schedule(&server->step, cost);
}

/* ---- slots ---- */

static uint32_t client_at(const struct load_server *server, uint32_t position)
{
	uint32_t cores = (uint32_t)params_of(server)->cores;

	return load_rings(load_of(server)) > 1 ? position
					       : position * cores + server->thread->index;
}

static uint32_t position_of(const struct load_server *server, uint32_t client)
{
	return load_rings(load_of(server)) > 1 ? client
					       : client / (uint32_t)params_of(server)->cores;
}

static uint8_t *slot_of(const struct load_server *server, uint32_t position, uint32_t slot)
{
	return &server->full[(size_t)position * window(server) + slot];
}

static bool is_ready(const struct load_server *server, uint32_t position)
{
	return *slot_of(server, position, server->next[position]);
}

/* Returns the number of empty polls until it finds a request. There must be one. */
static uint32_t distance(const struct load_server *server)
{
	uint32_t steps = 0;

	while (!is_ready(server, (server->position + steps) % server->clients))
		steps++;
	return steps;
}

/* Returns true if all clients were polled, and a request was found. */
static bool pass_is_over(const struct load_server *server)
{
	return server->taken && server->left == server->clients;
}

static void pass(struct load_server *server, uint64_t steps)
{
	server->position = (uint32_t)((server->position + steps) % server->clients);
	server->left =
		steps < server->left
			? server->left - (uint32_t)steps
			: server->clients - (uint32_t)((steps - server->left) % server->clients);
}

/* Continues to poll until it finds a request, has polled all clients with a request found, or is
 * notified of one. */
static void look(struct load_server *server)
{
	uint32_t steps = server->left;
	sim_time at;

	server->state = SERVER_LOOKING;
	sim_cancel(&server->step);
	if (!server->ready && !server->taken)
		return;
	if (pass_is_over(server)) {
		steps = 0;
	} else if (server->ready) {
		steps = distance(server);
		if (server->taken && steps > server->left)
			steps = server->left;
	}
	at = server->looking_since + steps * load_of(server)->params.cpu.idle_poll;
	sim_schedule_at(&server->step, at > now(server) ? at : now(server));
}

/* Advances to the current position. */
static void catch_up(struct load_server *server)
{
	sim_time each = load_of(server)->params.cpu.idle_poll;
	uint64_t steps = (now(server) - server->looking_since) / each;

	pass(server, steps);
	server->looking_since += steps * each;
}

void load_server_written(struct load_server *server, uint32_t client, uint32_t slot)
{
	uint32_t position = position_of(server, client);
	uint8_t *full = slot_of(server, position, slot);
	bool looking = server->state == SERVER_LOOKING;

	assert(!*full);
	if (looking)
		catch_up(server);
	*full = 1;
	server->ready += slot == server->next[position];
	if (looking)
		look(server);
}

/* ---- taking requests ---- */

static void count_request(struct load_server *server)
{
	server->count.requests++;
	load_received(server->thread->node);
	load_mark(server->thread->node);
}

void load_server_received(struct load_server *server, uint32_t client, uint32_t slot)
{
	uint32_t room = server->clients * window(server);

	assert(server->waiting_count < room);
	server->waiting[(server->waiting_first + server->waiting_count++) % room] =
		(struct request){client, slot};
	count_request(server);
}

static sim_time take_slot(struct load_server *server)
{
	const struct load *load = load_of(server);
	uint32_t position = server->position, client = client_at(server, position);
	uint32_t slot = server->next[position];
	uint64_t ring_number = load_rings(load) > 1 ? server->thread->index : 0;
	uint64_t ring = ring_number * load->client_count + client;
	struct load_lines lines = {.node = server->thread->node};

	load_lines_use(&lines,
		       LOAD_REMOTE_ADDRESS +
			       (ring * window(server) + slot) * params_of(server)->slot,
		       load_longest(&load->params), true);
	server->count.slots_missed += lines.missed;
	*slot_of(server, position, slot) = 0;
	server->next[position] = (slot + 1) % window(server);
	server->ready -= !is_ready(server, position);
	server->batch[server->taken++] = (struct request){client, slot};
	count_request(server);
	pass(server, 1);
	return load_lines_time(&lines);
}

/* CQEs: of responses that were sent, and of requests, enough for a batch. */
static sim_time take_cqes(struct load_server *server)
{
	uint32_t room = server->clients * window(server);
	sim_time cost = 0;

	while (load_thread_has_arrived(server->thread) &&
	       server->waiting_count < params_of(server)->batch)
		cost += load_thread_take(server->thread);
	while (server->waiting_count && server->taken < params_of(server)->batch) {
		server->batch[server->taken++] = server->waiting[server->waiting_first];
		server->waiting_first = (server->waiting_first + 1) % room;
		server->waiting_count--;
	}
	return cost;
}

/* ---- work ---- */

/* Returns the queue pair that sends the response. sort_batch() makes the responses of one queue
 * pair consecutive. */
static struct load_qp *response_by(const struct load_server *server, const struct request *request)
{
	struct load *load = load_of(server);
	struct load_thread *thread = server->thread;
	uint32_t qps = (uint32_t)params_of(server)->qps;

	if (params_of(server)->response != LOAD_RESPONSE_DATAGRAM)
		return load->clients[request->client].far;
	return &thread->qps[thread->qp_count - qps + position_of(server, request->client) % qps];
}

static void sort_batch(struct load_server *server)
{
	for (uint32_t i = 1; i < server->taken; i++) {
		struct request request = server->batch[i];
		uint32_t j = i;

		for (; j > 0 &&
		       response_by(server, &server->batch[j - 1]) > response_by(server, &request);
		     j--)
			server->batch[j] = server->batch[j - 1];
		server->batch[j] = request;
	}
}

static void work(struct load_server *server)
{
	const struct load_server_params *params = params_of(server);
	sim_time cost = server->taken * params->work;

	for (uint64_t i = 0; i < params->lines; i++) {
		struct load_lines lines = {.node = server->thread->node};

		for (uint32_t j = 0; j < server->taken; j++)
			load_lines_use(&lines,
				       LOAD_TABLE_ADDRESS +
					       random_below(&server->random,
							    params->table / LLC_LINE_BYTES) *
						       LLC_LINE_BYTES,
				       LLC_LINE_BYTES, params->changes);
		server->count.lines_missed += lines.missed;
		cost += load_lines_time(&lines);
	}
	server->count.batches++;
	server->responded = 0;
	if (params->response != LOAD_RESPONSE_NONE)
		sort_batch(server);
	go_on(server, SERVER_WORKING, cost);
}

/* ---- responses ---- */

static struct load_target target_of(const struct load_server *server, const struct request *request)
{
	const struct load *load = load_of(server);
	const struct load_client *client = &load->clients[request->client];
	const struct load_thread *thread = client->qp->thread;
	uint32_t ring_number = load_rings(load) > 1 ? server->thread->index : 0;
	uint32_t number = (client->number_in_thread * load_rings(load) + ring_number) *
				  (uint32_t)load->params.tx_depth +
			  request->slot;
	uint64_t slot = (uint64_t)thread->index * load->params.qps * load_rings(load) *
				load->params.tx_depth +
			number;

	return (struct load_target){
		.node = thread->node,
		.qpn = client->responses ? client->responses->number : 0,
		.key = thread->node->keys[0],
		.address = LOAD_REMOTE_ADDRESS + slot * load->params.server.slot,
		.verb = (uint8_t)load->responses.verb,
		.bytes = load_longest(&load->responses),
		.local = LOAD_LOCAL_ADDRESS,
		.numbered = params_of(server)->response != LOAD_RESPONSE_WRITE,
		.immediate = number,
	};
}

static void begin_pass(struct load_server *server)
{
	server->taken = 0;
	server->left = server->clients;
	go_on(server, SERVER_TAKING, take_cqes(server));
}

/* Without responses: clients know that the request was taken. */
static void report_responses(struct load_server *server)
{
	for (uint32_t i = 0; i < server->taken; i++) {
		struct load_target target = target_of(server, &server->batch[i]);
		struct load_client *client = &load_of(server)->clients[server->batch[i].client];

		load_cores_wake(client->qp->thread, LOAD_RESPONSE_CAME | target.immediate);
	}
	begin_pass(server);
}

/* Posts the next responses of one queue pair, as many as it has room for. */
static void post(struct load_server *server)
{
	const struct load_server_params *params = params_of(server);
	const struct load_cpu_params *cpu = &load_of(server)->params.cpu;
	struct load_qp *qp = response_by(server, &server->batch[server->responded]);
	uint32_t room = qp->depth - (qp->posted - qp->retired), count = 0;

	while (count < params->post_list && count < room &&
	       server->responded + count < server->taken &&
	       response_by(server, &server->batch[server->responded + count]) == qp) {
		struct load_target target =
			target_of(server, &server->batch[server->responded + count]);

		load_thread_build(qp, &target);
		count++;
	}
	server->listed = count;
	if (count) {
		go_on(server, SERVER_POSTING, count * cpu->post + cpu->ring);
		return;
	}
	server->count.stalls += server->state != SERVER_STALLED;
	server->state = SERVER_STALLED;
	if (load_thread_has_arrived(server->thread))
		load_server_wake(server);
}

/* ---- steps ---- */

static void step_looking(struct load_server *server)
{
	catch_up(server);
	if (pass_is_over(server))
		work(server);
	else if (is_ready(server, server->position))
		go_on(server, SERVER_TAKING, take_slot(server));
	else
		look(server);
}

static void step_taking(struct load_server *server)
{
	if (server->taken && (!by_slots(server) || server->taken == params_of(server)->batch ||
			      pass_is_over(server))) {
		work(server);
	} else if (!by_slots(server) && load_thread_has_arrived(server->thread)) {
		go_on(server, SERVER_TAKING, take_cqes(server));
	} else {
		server->looking_since = now(server);
		look(server);
	}
}

static void step_posting(struct load_server *server)
{
	if (!load_thread_may_ring(server->thread, &server->step))
		return;
	load_thread_ring(response_by(server, &server->batch[server->responded]));
	server->count.doorbells++;
	server->responded += server->listed;
	if (server->responded < server->taken)
		post(server);
	else
		begin_pass(server);
}

static void step(struct event *event)
{
	struct load_server *server = container_of(event, struct load_server, step);

	switch (server->state) {
	case SERVER_LOOKING:
		step_looking(server);
		return;
	case SERVER_TAKING:
		step_taking(server);
		return;
	case SERVER_WORKING:
		if (params_of(server)->response == LOAD_RESPONSE_NONE)
			report_responses(server);
		else
			post(server);
		return;
	case SERVER_POSTING:
		step_posting(server);
		return;
	case SERVER_STALLED:
		post(server);
		return;
	}
}

/* Handles a visible CQE. The core polls CQEs when it has no other work. */
void load_server_wake(struct load_server *server)
{
	sim_time cost = 0;

	if (event_pending(&server->step))
		return;
	if (server->state == SERVER_STALLED) {
		while (load_thread_has_arrived(server->thread))
			cost += load_thread_take(server->thread);
		go_on(server, SERVER_STALLED, cost);
	} else if (!by_slots(server)) {
		go_on(server, SERVER_TAKING, take_cqes(server));
	}
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct load_server_params, __VA_ARGS__)
const struct param load_server_param_list[] = {LOAD_SERVER_PARAMS(ROW) {0}};

static const struct block_type server_type = {
	.name         = "server",
	.params       = load_server_param_list,
	.counters     = (const struct counter[]){SERVER_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){SERVER_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

void load_server_init(struct load_thread *thread)
{
	struct load *load = thread->node->load;
	struct load_server *server = calloc(1, sizeof(*server));
	uint32_t cores = (uint32_t)load->params.server.cores;
	char name[LOAD_NAME_BYTES];

	assert(server && load->params.server.batch <= BATCH_MAX);
	thread->server = server;
	server->thread = thread;
	server->clients = load_rings(load) > 1
				  ? load->client_count
				  : (load->client_count + cores - 1 - thread->index) / cores;
	assert(server->clients);
	server->left = server->clients;
	server->full =
		calloc((size_t)server->clients * load->params.tx_depth, sizeof(server->full[0]));
	server->next = calloc(server->clients, sizeof(server->next[0]));
	server->waiting =
		calloc((size_t)server->clients * load->params.tx_depth, sizeof(server->waiting[0]));
	assert(server->full && server->next && server->waiting);
	load_thread_name(thread, "server", name);
	block_init(&server->block, load->sim, &server_type, name, &load->params.server,
		   (const uint64_t *)&server->count);
	block_gauges(&server->block, (struct gauge *)&server->gauge);
	server->gauge.core.capacity = 1;
	event_init(&server->step, &server->block, step);
	random_init(&server->random, &server->block, "lines");
}

void load_server_fini(struct load_thread *thread)
{
	struct load_server *server = thread->server;

	if (!server)
		return;
	sim_cancel(&server->step);
	block_fini(&server->block);
	free(server->full);
	free(server->next);
	free(server->waiting);
	free(server);
}
