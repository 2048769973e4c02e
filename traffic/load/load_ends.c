/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_ends: ends of a workload's connections, see workload_core.h: tables by node and number, the
 * buffer of each end, and the creation of queue pairs. Queue pairs are created before the run, or
 * in reserved places when a pair is connected during the run.
 */
#include <assert.h>
#include <stdlib.h>

#include "fabric/partition.h"
#include "traffic/load/workload_core.h"

#define BUFFER_ALIGN    UINT64_C(64)
#define FIRST_QP_NUMBER 0x100u /* as for fidelity endpoint, so that routes are the same */
#define HOPS            64

struct load_ends { /* ends of a node */
	struct load_end **list;
	uint32_t count, room;
	struct load_end **by_number; /* [numbers] from first_number on */
	uint32_t first_number, numbers;
};

/* ---- tables ---- */

uint32_t load_ends_next_number(const struct load *load, uint32_t host)
{
	return FIRST_QP_NUMBER + load->ends[host].count;
}

static struct load_end *add_end(struct load *load, uint32_t host)
{
	struct load_ends *ends = &load->ends[host];
	struct load_end *end = calloc(1, sizeof(*end));

	assert(end);
	if (ends->count == ends->room) {
		ends->room = ends->room ? 2 * ends->room : 4;
		ends->list = realloc(ends->list, ends->room * sizeof(struct load_end *));
		assert(ends->list);
	}
	end->load = load;
	end->host = host;
	end->index = ends->count;
	ends->list[ends->count++] = end;
	expected_queue_init(&end->expected, load->mailboxes, load->nodes[host].sim,
			    load->params.max_rd_atomic);
	return end;
}

static const struct path *path_to(const struct load_end *end, const struct backend_pair *pair,
				  uint16_t udp_source_port)
{
	struct endpoints *endpoints = end->load->endpoints;
	struct path path = endpoints_path(endpoints, end->host, end->peer->host,
					  pair->service_level, HOPS, udp_source_port);

	return path_intern(endpoints_paths(endpoints), &path);
}

struct load_end *load_ends_add(struct load *load, const struct backend_pair *pair,
			       uint32_t source_number, uint32_t destination_number)
{
	struct load_end *one = add_end(load, pair->source);
	struct load_end *two = add_end(load, pair->destination);
	uint16_t udp_source_port = path_udp_source_port(
		path_flow_label(source_number + pair->entropy * 0x101, destination_number));

	assert(pair->source != pair->destination);
	one->peer = two;
	two->peer = one;
	one->path = path_to(one, pair, udp_source_port);
	two->path = path_to(two, pair, udp_source_port);
	return one;
}

/* Records the number of an end. Numbers of a node increase, except between the cores of a host,
 * each of which has its own range. */
static void number_end(struct load_ends *ends, struct load_end *end)
{
	if (!ends->numbers)
		ends->first_number = end->number;
	assert(end->number >= ends->first_number);
	if (end->number - ends->first_number >= ends->numbers) {
		uint32_t numbers = 2 * (end->number - ends->first_number + 1);

		ends->by_number = realloc(ends->by_number, numbers * sizeof(struct load_end *));
		assert(ends->by_number);
		while (ends->numbers < numbers)
			ends->by_number[ends->numbers++] = NULL;
	}
	ends->by_number[end->number - ends->first_number] = end;
}

struct load_end *load_ends_find(const struct load *load, uint32_t node, uint32_t number)
{
	const struct load_ends *ends = &load->ends[node];

	return number - ends->first_number < ends->numbers
		       ? ends->by_number[number - ends->first_number]
		       : NULL;
}

struct load_end *load_ends_get(const struct load *load, uint32_t node, uint32_t index)
{
	return index < load->ends[node].count ? load->ends[node].list[index] : NULL;
}

/* ---- resources ---- */

static bool is_far(const struct load_end *end)
{
	return !end->load->nodes[end->host].hca;
}

uint32_t load_ends_room(const struct load_node *node)
{
	const struct load *load = node->load;

	return load->any_bytes ? (uint32_t)load->params.nodes - 1 : load->ends[node->index].count;
}

static void give_qp(struct load_end *end, struct load_qp *qp)
{
	end->qp = qp;
	qp->end = end;
}

/* The cores of a node take ends in turn. */
void load_ends_plan(struct load_qp *qp, uint32_t index)
{
	const struct load_node *node = qp->thread->node;
	const struct load *load = node->load;
	const struct load_params *params = &load->params;
	uint64_t messages = params->tx_depth;
	bool receives = true;

	if (!load->any_bytes) {
		struct load_end *end =
			load->ends[node->index]
				.list[index * node->thread_count + qp->thread->index];

		give_qp(end, qp);
		messages = end->messages;
		receives = end->receives;
	}
	qp->posts = true;
	qp->depth = (uint32_t)(messages < params->tx_depth ? messages : params->tx_depth);
	if (receives)
		qp->receive_entries = load_power_of_two(params->rx_depth);
}

static uint64_t take_buffer(struct load_node *node, uint64_t bytes)
{
	uint64_t address = LOAD_LOCAL_ADDRESS + node->buffer_bytes;

	node->buffer_bytes += (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
	return address;
}

/* Places buffers one after the other, aligned to a cache line. A message that is larger than the
 * buffer of a late pair extends over the next buffers. This is harmless, because the contents are
 * not read. */
void load_ends_place(struct load_node *node)
{
	struct load *load = node->load;

	for (uint32_t i = 0; i < load_ends_room(node); i++) {
		struct load_end *end = load->any_bytes ? NULL : load->ends[node->index].list[i];
		uint64_t address = take_buffer(node, end ? end->bytes : load->any_bytes);

		if (end)
			end->address = address;
	}
	if (load->any_bytes)
		take_buffer(node, LOAD_MESSAGE_MAX);
}

/* ---- how they are connected ---- */

static void connect_queue_pair(struct load_end *end)
{
	const struct endpoints *endpoints = end->load->endpoints;
	uint16_t pkey = partitions_towards(endpoints_get(endpoints, end->host)->partitions,
					   endpoints_get(endpoints, end->peer->host)->partitions);

	load_qp_connect(end->qp, end->path, end->peer->number, pkey);
}

static void number(struct load_end *end)
{
	if (!is_far(end)) {
		end->number = end->qp->number;
		end->key = end->load->nodes[end->host].keys[0];
	}
	number_end(&end->load->ends[end->host], end);
}

void load_ends_connect(struct load *load)
{
	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load->ends[i].count; j++)
			number(load->ends[i].list[j]);
	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; load->nodes[i].hca && j < load->ends[i].count; j++)
			connect_queue_pair(load->ends[i].list[j]);
}

/* In the next of the places that are kept, which are all alike. */
static void open_late(struct load_end *end)
{
	struct load_node *node = &end->load->nodes[end->host];

	end->bytes = LOAD_MESSAGE_MAX;
	if (!is_far(end)) {
		struct load_thread *thread = &node->threads[end->index % node->thread_count];
		uint32_t index = end->index / node->thread_count;

		assert(end->index < load_ends_room(node));
		give_qp(end, &thread->qps[index]);
		end->address = LOAD_LOCAL_ADDRESS +
			       end->index * ((end->load->any_bytes + BUFFER_ALIGN - 1) /
					     BUFFER_ALIGN * BUFFER_ALIGN);
		load_node_add_qp(thread, index);
	}
}

void load_ends_connect_late(struct load_end *end)
{
	struct load_end *const ends[] = {end, end->peer};

	for (unsigned i = 0; i < 2; i++)
		open_late(ends[i]);
	for (unsigned i = 0; i < 2 && !end->load->failed; i++)
		number(ends[i]);
	for (unsigned i = 0; i < 2 && !end->load->failed; i++)
		if (!is_far(ends[i]))
			connect_queue_pair(ends[i]);
}

/* ---- life ---- */

void load_ends_create(struct load *load)
{
	load->ends = calloc(load->params.nodes, sizeof(load->ends[0]));
	assert(load->ends);
}

void load_ends_destroy(struct load *load)
{
	for (uint32_t i = 0; load->ends && i < load->params.nodes; i++) {
		for (uint32_t j = 0; j < load->ends[i].count; j++)
			free(load->ends[i].list[j]);
		free(load->ends[i].list);
		free(load->ends[i].by_number);
	}
	free(load->ends);
}
