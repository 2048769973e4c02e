/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_plan: plans the queue pairs of a node's threads, their kinds, and the sizes of rings and
 * CQs, before they are created (load_node.c).
 */
#include <assert.h>
#include <stdlib.h>

#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"

enum {
	RECEIVES_CONNECTED = 256, /* receive work requests of a queue pair */
	RECEIVES_DATAGRAM = 2048,
	CQ_ENTRIES_LEAST = 16,
};

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

uint64_t load_receives(const struct load_params *params, bool datagram)
{
	if (params->rx_depth)
		return params->rx_depth;
	return datagram ? RECEIVES_DATAGRAM : RECEIVES_CONNECTED;
}

/* Returns the receive queue size of a queue pair that receives `verb` from the other end. */
static uint32_t receive_entries(const struct load_params *params, uint64_t verb, bool datagram)
{
	return verb == LOAD_SEND ? (uint32_t)load_receives(params, datagram) : 0;
}

/* Returns the entries of a send queue. With servers, a response does not wait for its CQE. Work
 * requests without a CQE so far then also take entries. */
static uint32_t send_entries(const struct load *load, const struct load_params *params)
{
	uint64_t unsignaled = 2 * params->cq_mod, list = 2 * params->post_list;

	if (!load_serves(load))
		return (uint32_t)params->tx_depth;
	return (uint32_t)larger(params->tx_depth, larger(unsignaled, list));
}

static uint32_t ring_blocks(const struct load_qp *qp)
{
	return qp->depth ? load_power_of_two((uint64_t)qp->depth *
					     load_wqe_blocks(qp->thread->params))
			 : 0;
}

/* Returns the number of clients connected with one server core. */
static uint32_t connections(const struct load_node *node, uint32_t core)
{
	const struct load *load = node->load;
	uint32_t cores = (uint32_t)load->params.server.cores;

	return load->params.transport == LOAD_UD ? 0
						 : (load->client_count + cores - 1 - core) / cores;
}

static uint32_t thread_qps(const struct load_thread *thread)
{
	const struct load_node *node = thread->node;
	const struct load_params *params = &node->load->params;
	bool datagrams = params->server.response == LOAD_RESPONSE_DATAGRAM;

	if (node->load->backend) /* dealt out in turn */
		return (load_ends_room(node) + node->thread_count - 1 - thread->index) /
		       node->thread_count;
	if (!load_serves(node->load))
		return (uint32_t)thread->params->qps * load_peer_count(node, thread->params);
	if (node->index == 0)
		return connections(node, thread->index) +
		       (datagrams ? (uint32_t)params->server.qps : 0);
	return (uint32_t)params->qps + (datagrams && params->transport != LOAD_UD);
}

/* Plans a queue pair of a load with servers: queue pairs for requests first, then UD queue pairs
 * for responses. */
static void plan_served(struct load_qp *qp, uint32_t index)
{
	const struct load_thread *thread = qp->thread;
	const struct load *load = thread->node->load;
	bool server = thread->node->index == 0, connected = load->params.transport != LOAD_UD;
	uint32_t asking =
		server ? connections(thread->node, thread->index) : (uint32_t)load->params.qps;
	bool other = index >= asking,
	     datagrams = load->params.server.response == LOAD_RESPONSE_DATAGRAM;
	bool asks = !server && !other;
	bool responses =
		server && load->params.server.response != LOAD_RESPONSE_NONE && other == datagrams;
	bool gets_requests = server && (!connected || !other);
	bool gets_responses = !server && (!connected || other == datagrams);

	qp->datagram = !connected || other;
	qp->posts = asks;
	qp->depth = asks || responses ? send_entries(load, thread->params) : 0;
	qp->receive_entries = 0;
	if (gets_requests)
		qp->receive_entries =
			receive_entries(&load->params, load->params.verb, qp->datagram);
	else if (gets_responses && load->params.server.response != LOAD_RESPONSE_NONE)
		qp->receive_entries =
			receive_entries(&load->params, load->responses.verb, qp->datagram);
}

static bool does_post(const struct load_node *node, const struct load_params *params)
{
	return params->pattern == LOAD_ALL ||
	       (params->pattern != LOAD_INBOUND) == (node->index == 0);
}

static void plan_qp(struct load_qp *qp, uint32_t index)
{
	const struct load_thread *thread = qp->thread;
	const struct load *load = thread->node->load;

	if (load->backend) {
		load_ends_plan(qp, index);
	} else if (load_serves(load)) {
		plan_served(qp, index);
	} else {
		qp->datagram = load->params.transport == LOAD_UD;
		qp->posts = thread->posts;
		qp->depth = send_entries(load, thread->params);
		qp->receive_entries =
			receive_entries(&load->params, thread->params->verb, qp->datagram);
	}
	qp->ring_blocks = ring_blocks(qp);
}

/* Returns the largest number of CQEs that a CQ may hold, so that none is lost. */
static uint64_t most_completions(const struct load_thread *thread)
{
	uint64_t received = thread->params->strides ? thread->params->strides : 1, all = 0;

	for (uint32_t i = 0; i < thread->qp_count; i++)
		all += thread->qps[i].depth + thread->qps[i].receive_entries * received;
	return thread->cq_count ? all / thread->cq_count : 0;
}

static const struct load_params *thread_params(const struct load_node *node, uint32_t index)
{
	if (load_serves(node->load))
		return node->index == 0 ? &node->load->responses : &node->load->params;
	return index < node->load->params.threads ? &node->load->params : &node->load->background;
}

void load_plan_thread(struct load_node *node, uint32_t index)
{
	struct load_thread *thread = &node->threads[index];

	thread->node = node;
	thread->index = index;
	thread->next_peer = index;
	thread->params = thread_params(node, index);
	thread->posts = does_post(node, thread->params);
	load_cycle_init(&thread->cycle, thread->params);
	thread->qp_count = thread_qps(thread);
	thread->qps = calloc(larger(thread->qp_count, 1), sizeof(thread->qps[0]));
	thread->ready = calloc(larger(thread->qp_count, 1), sizeof(struct load_qp *));
	assert(thread->qps && thread->ready);
	thread->cq_count = node->load->params.cq_of == LOAD_OF_QP ? thread->qp_count : 1;
	for (uint32_t i = 0; i < thread->qp_count; i++) {
		thread->qps[i].thread = thread;
		plan_qp(&thread->qps[i], i);
	}
}

uint32_t load_plan_cq_entries(const struct load_node *node)
{
	uint64_t all = CQ_ENTRIES_LEAST;

	for (uint32_t i = 0; i < node->thread_count; i++)
		all = larger(all, most_completions(&node->threads[i]));
	return load_power_of_two(all);
}

uint64_t load_plan_bytes(const struct load_node *node)
{
	uint64_t cq = (uint64_t)node->cq_entries * load_cqe_bytes(node->load) + LOAD_RECORD_BYTES,
		 bytes = node->load->params.transport == LOAD_DC
				 ? LOAD_RECORD_BYTES + LOAD_SRQ_ENTRIES * LOAD_SRQ_STRIDE_BYTES
				 : 0;

	for (uint32_t i = 0; i < node->thread_count; i++) {
		const struct load_thread *thread = &node->threads[i];

		bytes += cq * thread->cq_count;
		for (uint32_t j = 0; j < thread->qp_count; j++)
			bytes += (uint64_t)thread->qps[j].ring_blocks * WQE_BLOCK_BYTES +
				 LOAD_RECORD_BYTES +
				 (uint64_t)thread->qps[j].receive_entries *
					 load_receive_stride(thread->params);
	}
	return bytes;
}
