/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_client: clients, see load_server.h: the requests of each client by number, and the slots of
 * requests and responses.
 *
 *     request number in a client: ring * window + slot; in a thread: after the numbers of its
 *     previous clients
 */
#include "traffic/load/load_server.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/bytes.h"

static uint32_t window(const struct load *load)
{
	return (uint32_t)load->params.tx_depth;
}

static uint32_t numbers_of_client(const struct load *load)
{
	return load_rings(load) * window(load);
}

static uint32_t clients_of_node(const struct load *load)
{
	return (uint32_t)(load->params.threads * load->params.qps);
}

uint64_t load_slot_bytes(const struct load *load, const struct load_node *node)
{
	uint64_t clients = node->index == 0 ? load->client_count : clients_of_node(load);

	return clients * numbers_of_client(load) * load->params.server.slot;
}

/* ---- requests ---- */

bool load_client_may_ask(const struct load_client *client)
{
	const struct load_params *params = &client->qp->thread->node->load->params;

	return client->under_way + params->post_list <= params->tx_depth;
}

/* Returns the address of a slot. The rings of a core are contiguous, and contain the rings of its
 * clients. */
static uint64_t slot_address(const struct load *load, const struct load_client *client,
			     uint32_t ring_number, uint32_t slot)
{
	uint64_t ring = (uint64_t)ring_number * load->client_count + client->number;

	return LOAD_REMOTE_ADDRESS + (ring * window(load) + slot) * load->params.server.slot;
}

static uint32_t core_of(const struct load *load, const struct load_client *client,
			uint32_t ring_number)
{
	return load_rings(load) > 1 ? ring_number
				    : client->number % (uint32_t)load->params.server.cores;
}

struct load_target load_client_ask(struct load_client *client)
{
	struct load_thread *thread = client->qp->thread;
	struct load *load = thread->node->load;
	uint32_t ring_number = load_rings(load) > 1
				       ? (uint32_t)random_below(&thread->random, load_rings(load))
				       : 0;
	uint32_t slot = client->next[ring_number]++ % window(load);
	sim_time *began_at = &client->began_at[ring_number * window(load) + slot];
	const struct load_thread *core =
		&load->nodes[0].threads[core_of(load, client, ring_number)];
	uint32_t position =
		client->number / (load_rings(load) > 1 ? 1 : (uint32_t)load->params.server.cores);
	bool datagram = load->params.transport == LOAD_UD;

	assert(*began_at == LOAD_NOT_ASKED);
	*began_at = sim_now(load->sim);
	client->under_way++;
	return (struct load_target){
		.node = &load->nodes[0],
		.qpn = datagram ? core->qps[position % core->qp_count].number : 0,
		.key = load->nodes[0].keys[0],
		.address = slot_address(load, client, ring_number, slot),
		.verb = (uint8_t)load->params.verb,
		.bytes = load_longest(&load->params),
		.local = LOAD_LOCAL_ADDRESS,
		.numbered = load->params.verb == LOAD_SEND,
		.immediate = client->number * window(load) + slot,
	};
}

void load_client_response(struct load_thread *thread, uint32_t number, sim_time cost)
{
	struct load *load = thread->node->load;
	struct load_client *client = thread->qps[number / numbers_of_client(load)].client;
	sim_time *began_at = &client->began_at[number % numbers_of_client(load)];

	assert(*began_at != LOAD_NOT_ASKED);
	load_completed(thread, load_longest(&load->params), *began_at, cost);
	load_mark(thread->node);
	*began_at = LOAD_NOT_ASKED;
	client->under_way--;
	thread->under_way--;
	load_thread_room(client->qp);
}

/* ---- written data ---- */

/* Reports written data. The first node's slots hold requests. The other nodes' slots hold
 * responses, thread by thread. */
void load_slot_written(struct load_node *node, uint64_t end)
{
	struct load *load = node->load;
	const struct load_params *params = &load->params;
	uint64_t bytes = node->index == 0 ? load_longest(params) : params->server.bytes, index;
	uint32_t of_thread = (uint32_t)params->qps * numbers_of_client(load);

	if (end <= LOAD_REMOTE_ADDRESS || end > LOAD_REMOTE_ADDRESS + load_slot_bytes(load, node))
		return;
	end -= LOAD_REMOTE_ADDRESS;
	if ((end - 1) % params->server.slot + 1 != bytes)
		return; /* not the last byte */
	index = (end - 1) / params->server.slot;
	if (node->index == 0) {
		uint32_t client = (uint32_t)(index / window(load) % load->client_count);
		uint32_t ring_number = (uint32_t)(index / window(load) / load->client_count);
		uint32_t core = core_of(load, &load->clients[client], ring_number);

		load_server_written(node->threads[core].server, client,
				    (uint32_t)(index % window(load)));
	} else {
		load_cores_wake(&node->threads[index / of_thread],
				LOAD_RESPONSE_CAME | (uint32_t)(index % of_thread));
	}
}

/* ---- creation ---- */

static void init_client(struct load *load, struct load_thread *thread, uint32_t index)
{
	uint32_t of_node = clients_of_node(load), qps = (uint32_t)load->params.qps;
	uint32_t number = (thread->node->index - 1) * of_node + thread->index * qps + index;
	struct load_client *client = &load->clients[number];
	const struct load_server_params *server = &load->params.server;

	client->number = number;
	client->number_in_thread = index;
	client->qp = &thread->qps[index];
	client->qp->client = client;
	if (load->params.transport == LOAD_UD)
		client->responses = client->qp;
	else if (server->response == LOAD_RESPONSE_DATAGRAM)
		client->responses = &thread->qps[qps]; /* shared by all clients of the thread */
	if (load->params.transport != LOAD_UD)
		client->far =
			&load->nodes[0].threads[number % server->cores].qps[number / server->cores];
	client->next = calloc(load_rings(load), sizeof(client->next[0]));
	client->began_at = calloc(numbers_of_client(load), sizeof(client->began_at[0]));
	assert(client->next && client->began_at);
	for (uint32_t i = 0; i < numbers_of_client(load); i++)
		client->began_at[i] = LOAD_NOT_ASKED;
}

void load_clients_init(struct load *load)
{
	load->clients = calloc(load->client_count, sizeof(load->clients[0]));
	assert(load->clients);
	for (uint32_t i = 1; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load->params.threads; j++)
			for (uint32_t k = 0; k < load->params.qps; k++)
				init_client(load, &load->nodes[i].threads[j], k);
}

void load_clients_fini(struct load *load)
{
	for (uint32_t i = 0; load->clients && i < load->client_count; i++) {
		free(load->clients[i].next);
		free(load->clients[i].began_at);
	}
	free(load->clients);
}
