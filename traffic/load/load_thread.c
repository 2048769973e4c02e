/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_thread: actions of a thread's cores: build WQEs and ring, choose the next queue pair, take
 * CQEs. load_cores.c determines their times and costs.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "hca/host/memory.h"
#include "hca/work/doorbell.h"
#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"

enum {
	CONTROL_BYTES = 16,
	REMOTE_BYTES = 16,
	ATOMIC_BYTES = 16,
	INLINE_HEADER_BYTES = 4,
	RECEIVE_LIST = 16, /* receive work requests that one store tells of */
	SIGNALED = 2 << 2,
	COMPRESSED = 3 << 2,
	NO_CQE = 0xf0,
	QKEY = 0x11111111,
};

#define INLINE_FLAG     UINT32_C(0x80000000)
#define EXTENDED_VECTOR UINT32_C(0x80000000)

static const uint8_t opcode_of[] = {
	[LOAD_WRITE] = WQE_WRITE,
	[LOAD_READ] = WQE_READ,
	[LOAD_SEND] = WQE_SEND,
	[LOAD_FETCH_ADD] = WQE_FETCH_ADD,
};

/* ---- work requests ---- */

static uint32_t wqe_bytes(const struct load_params *params, unsigned verb, uint64_t length)
{
	uint32_t bytes = CONTROL_BYTES;

	if (load_is_addressed(params))
		bytes += ADDRESS_VECTOR_BYTES;
	if (verb != LOAD_SEND)
		bytes += REMOTE_BYTES;
	if (verb == LOAD_FETCH_ADD)
		bytes += ATOMIC_BYTES;
	if (length && params->inline_data)
		bytes += INLINE_HEADER_BYTES + (uint32_t)length;
	else if (length)
		bytes += WQE_DS_BYTES * (params->sges.count ? params->sges.count : 1);
	return bytes;
}

uint32_t load_wqe_blocks_of(const struct load_params *params, uint64_t bytes)
{
	return (wqe_bytes(params, (unsigned)params->verb, bytes) + WQE_BLOCK_BYTES - 1) /
	       WQE_BLOCK_BYTES;
}

uint32_t load_wqe_blocks(const struct load_params *params)
{
	return load_wqe_blocks_of(params, load_longest(params));
}

static struct load_node *choose_peer(struct load_thread *thread, const struct load_qp *qp)
{
	struct load *load = thread->node->load;
	uint32_t peer;

	if (qp->peer)
		return qp->peer;
	peer = thread->next_peer++ % (uint32_t)(load->params.nodes - 1);
	return &load->nodes[load_peer(thread->node, thread->params, peer)];
}

struct load_target load_thread_choose(struct load_qp *qp)
{
	struct load_thread *thread = qp->thread;
	const struct load_params *params = thread->params;
	struct load_target target = {
		.verb = (uint8_t)params->verb,
		.bytes = load_cycle_of(&thread->cycle, thread->cycle.bytes, qp->posted),
		.local = LOAD_LOCAL_ADDRESS};
	uint64_t region, place;

	if (qp->client)
		return load_client_ask(qp->client);
	target.node = choose_peer(thread, qp);
	if (params->transport == LOAD_UD)
		target.qpn =
			target.node->threads[thread->index].qps[(size_t)(qp - thread->qps)].number;
	if (params->transport == LOAD_DC)
		target.qpn = target.node->dct;
	if (params->verb == LOAD_SEND)
		return target;
	region = params->regions > 1 ? random_below(&thread->random, params->regions) : 0;
	place = params->addresses_per_region > 1
			? random_below(&thread->random, params->addresses_per_region)
			: 0;
	target.key = target.node->threads[thread->index].keys[region];
	target.address = LOAD_REMOTE_ADDRESS + place * params->address_stride;
	return target;
}

static uint8_t *put_vector(const struct load_params *params, const struct load_target *target,
			   uint8_t *at)
{
	if (params->transport == LOAD_DC)
		be64_put(at, LOAD_DC_KEY);
	else
		be32_put(at, QKEY);
	be32_put(at + 8, target->qpn | EXTENDED_VECTOR);
	be16_put(at + 14, (uint16_t)(target->node->index + 1));
	return at + ADDRESS_VECTOR_BYTES;
}

static uint8_t *put_remote(const struct load_target *target, uint8_t *at)
{
	be64_put(at, target->address);
	be32_put(at + 8, target->key);
	return at + REMOTE_BYTES;
}

void load_put_element(const struct load_thread *thread, uint8_t *at, uint64_t address,
		      uint64_t bytes)
{
	be32_put(at, (uint32_t)bytes);
	be32_put(at + 4, thread->local_key);
	be64_put(at + 8, address);
}

void load_put_elements(const struct load_thread *thread, uint8_t *at,
		       const struct param_sizes *list)
{
	uint64_t address = LOAD_LOCAL_ADDRESS;

	for (uint32_t i = 0; i < list->count; i++) {
		load_put_element(thread, at + (size_t)i * WQE_DS_BYTES, address, list->bytes[i]);
		address += (list->bytes[i] + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
	}
}

static void put_data(const struct load_thread *thread, const struct load_target *target,
		     uint8_t *at)
{
	const struct load_params *params = thread->params;

	if (!target->bytes)
		return;
	if (params->inline_data) {
		be32_put(at, (uint32_t)target->bytes | INLINE_FLAG);
		return;
	}
	if (!params->sges.count)
		load_put_element(thread, at, target->local, target->bytes);
	else
		load_put_elements(thread, at, &params->sges);
}

static uint64_t ring_address(const struct load_qp *qp, uint32_t block)
{
	return qp->ring + (uint64_t)(block & (qp->ring_blocks - 1)) * WQE_BLOCK_BYTES;
}

static uint8_t *ring_at(const struct load_qp *qp, uint32_t block)
{
	return qp->thread->node->memory.bytes + ring_address(qp, block);
}

void load_thread_build(struct load_qp *qp, const struct load_target *target)
{
	struct load_thread *thread = qp->thread;
	const struct load_params *params = thread->params;
	uint32_t blocks = load_qp_blocks(qp, qp->posted), first = load_qp_block(qp, qp->posted);
	uint8_t wqe[WQE_BYTES_MAX] = {0}, *at = wqe + CONTROL_BYTES;

	be32_put(wqe, (first & 0xffff) << 8 |
			      (target->numbered ? WQE_SEND_IMMEDIATE : opcode_of[target->verb]));
	be32_put(wqe + 4,
		 qp->number << 8 | (wqe_bytes(params, target->verb, target->bytes) + WQE_DS_BYTES -
				    1) / WQE_DS_BYTES);
	wqe[11] = (qp->posted + 1) % params->cq_mod == 0 ? SIGNALED : 0;
	be32_put(wqe + 12, target->immediate);
	if (load_is_addressed(params))
		at = put_vector(params, target, at);
	if (target->verb != LOAD_SEND)
		at = put_remote(target, at);
	if (target->verb == LOAD_FETCH_ADD) {
		be64_put(at, 1);
		at += ATOMIC_BYTES;
	}
	put_data(thread, target, at);
	if (thread->local_keys)
		thread->local_key =
			thread->local_keys[++thread->local_used % params->local_regions];
	for (uint32_t i = 0; i < blocks; i++) {
		memcpy(ring_at(qp, first + i), wqe + i * WQE_BLOCK_BYTES, WQE_BLOCK_BYTES);
		load_lines_written(thread->node, ring_address(qp, first + i), WQE_BLOCK_BYTES);
	}
	qp->began_at[qp->posted % qp->depth] = sim_now(thread->node->sim);
	qp->posted++;
}

bool load_thread_may_ring(const struct load_thread *thread, struct event *step)
{
	sim_time ask_at;

	if (hca_uar_has_room(thread->node->hca, &ask_at))
		return true;
	sim_schedule_at(step, ask_at);
	return false;
}

void load_thread_ring(struct load_qp *qp)
{
	struct load_node *node = qp->thread->node;
	const struct load_params *params = qp->thread->params;
	uint32_t blocks = load_qp_blocks(qp, qp->posted - 1),
		 last = load_qp_block(qp, qp->posted - 1);
	bool blueflame = params->post_list == 1 &&
			 (params->posting == LOAD_BLUEFLAME ||
			  (params->posting == LOAD_INLINE_BLUEFLAME && params->inline_data));

	be32_put(node->memory.bytes + qp->record + 4, (last + blocks) & 0xffff);
	if (!blueflame) {
		hca_uar_write(node->hca, UAR_BLUEFLAME, ring_at(qp, last), 8);
		return;
	}
	for (uint32_t i = 0; i < blocks; i++)
		hca_uar_write(node->hca, UAR_BLUEFLAME + (uint64_t)i * WQE_BLOCK_BYTES,
			      ring_at(qp, last + i), WQE_BLOCK_BYTES);
}

/* ---- the choice of the next queue pair ---- */

/* Returns true if the queue pair waits until all its work requests are complete. Programs that post
 * a window and then wait for all of it behave so. */
static bool awaits_all(const struct load_qp *qp)
{
	return qp->thread->params->refill == LOAD_REFILL_ALL && qp->posted != qp->retired &&
	       qp->posted % qp->depth == 0;
}

void load_thread_room(struct load_qp *qp)
{
	struct load_thread *thread = qp->thread;

	if (qp->ready || !qp->posts || awaits_all(qp) ||
	    qp->posted - qp->retired + thread->params->post_list > qp->depth ||
	    (qp->client && !load_client_may_ask(qp->client)) ||
	    (qp->end && !load_end_waits(qp->end)))
		return;
	qp->ready = true;
	thread->ready[(thread->ready_first + thread->ready_count++) % thread->qp_count] = qp;
}

struct load_qp *load_thread_take_ready(struct load_thread *thread)
{
	struct load_qp **first = &thread->ready[thread->ready_first];
	struct load_qp *qp;

	if (thread->node->load->params.order == LOAD_RANDOM && thread->ready_count > 1) {
		uint64_t chosen = random_below(&thread->random, thread->ready_count);
		struct load_qp **other =
			&thread->ready[(thread->ready_first + chosen) % thread->qp_count];

		qp = *other;
		*other = *first;
	} else {
		qp = *first;
	}
	thread->ready_first = (thread->ready_first + 1) % thread->qp_count;
	thread->ready_count--;
	qp->ready = false;
	return qp;
}

/* ---- completions ---- */

/* Posts a receive work request. Receive WQEs are equal and stay in place. The doorbell record is
 * updated in lists of at most half of the queue, so that the last ones are announced. Multi-packet
 * receive WQEs are announced one by one. */
void load_thread_post_receive(struct load_qp *qp)
{
	uint32_t list = qp->receive_entries < 2 * RECEIVE_LIST ? (qp->receive_entries + 1) / 2
							       : RECEIVE_LIST;

	qp->receives_posted++;
	if (qp->receives_posted - qp->receives_announced < list &&
	    !qp->thread->node->load->params.strides)
		return;
	qp->receives_announced = qp->receives_posted;
	be32_put(qp->thread->node->memory.bytes + qp->record, qp->receives_posted & 0xffff);
}

/* Returns the number of work requests that a CQE completes. `counter` is the first block of the
 * last WQE. */
static uint32_t retired_by(const struct load_qp *qp, uint16_t counter)
{
	uint16_t distance = (uint16_t)(counter - load_qp_block(qp, qp->retired));
	uint32_t count = 0;

	for (uint64_t blocks = 0; blocks <= distance; count++)
		blocks += load_qp_blocks(qp, qp->retired + count);
	return count;
}

static void retire(struct load_qp *qp, uint16_t counter)
{
	const struct load_cycle *cycle = &qp->thread->cycle;
	struct load *load = qp->thread->node->load;
	uint32_t count = retired_by(qp, counter);

	if (load_serves(load)) {
		qp->retired += count;
	} else {
		for (uint32_t i = 0; i < count; i++, qp->retired++)
			load_completed(qp->thread, load_cycle_of(cycle, cycle->bytes, qp->retired),
				       qp->began_at[qp->retired % qp->depth],
				       load_poll_time(qp->thread->node));
		qp->thread->under_way -= count;
		load_mark(qp->thread->node);
	}
	load_thread_room(qp);
}

/* Takes a request or a response of a load whose cores respond. Its number is its immediate data. */
static sim_time take_numbered(struct load_qp *qp, uint32_t number)
{
	struct load_thread *thread = qp->thread;
	const struct load_params *params = &thread->node->load->params;
	uint32_t window = (uint32_t)params->tx_depth;
	sim_time cost = load_poll_time(thread->node) + params->cpu.receive;

	load_thread_post_receive(qp);
	if (thread->server)
		load_server_received(thread->server, number / window, number % window);
	else
		load_client_response(thread, number, cost);
	return cost;
}

/* Counts a received message, or strides. Returns the time to repost used receive work requests. */
static sim_time take_received(struct load_qp *qp, uint32_t byte_count)
{
	struct load *load = qp->thread->node->load;

	if (load->params.strides) {
		qp->strides_used += byte_count >> CQE_STRIDES_SHIFT & CQE_STRIDES_MASK;
		if (!(byte_count & CQE_FILLER))
			load_received(qp->thread->node);
		if (qp->strides_used < load->params.strides) {
			load_mark(qp->thread->node);
			return 0;
		}
		qp->strides_used = 0;
	} else {
		load_received(qp->thread->node);
	}
	load_mark(qp->thread->node);
	load_thread_post_receive(qp);
	return load->params.cpu.receive;
}

/* Returns the CQE in a slot of the ring. `slot` may exceed the ring size. */
static uint8_t *cqe_at(const struct load_thread *thread, const struct load_cq *cq, uint32_t slot)
{
	uint32_t bytes = load_cqe_bytes(thread->node->load);
	uint32_t index = slot & (thread->node->cq_entries - 1);

	return thread->node->memory.bytes + cq->at + (size_t)index * bytes + bytes - CQE_BYTES;
}

/* ---- compressed CQEs: slots without a write hold nothing, so slots that were read are cleared
 * ---- */

static void clear_slots(const struct load_thread *thread, const struct load_cq *cq, uint32_t first,
			uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		cqe_at(thread, cq, first + i)[63] = NO_CQE;
}

void load_thread_clear(struct load_thread *thread, uint32_t cq)
{
	if (thread->node->load->params.cqe_compression)
		clear_slots(thread, &thread->cqs[cq], 0, thread->node->cq_entries);
}

static bool is_cleared(const struct load_thread *thread, const struct load_cq *cq)
{
	uint8_t last = cqe_at(thread, cq, cq->polled)[63];

	return last >> 4 == NO_CQE >> 4 ||
	       (last & 1) != (cq->polled / thread->node->cq_entries & 1);
}

/* Takes a title and its mini-CQEs. Every eight mini-CQEs are one line of memory. */
static sim_time take_compressed(struct load_thread *thread, struct load_cq *cq, struct load_qp *qp)
{
	const uint8_t *title = cqe_at(thread, cq, cq->polled);
	uint32_t count = be32_get(title + 44), first = cq->polled;
	bool sent = title[63] >> 4 == CQE_SENT;
	sim_time line = load_poll_time(thread->node), cost = line;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t array = i < CQE_MINIS ? 1 : i - i % CQE_MINIS;
		const uint8_t *mini =
			cqe_at(thread, cq, first + array) + i % CQE_MINIS * CQE_MINI_BYTES;

		cost += i % CQE_MINIS ? 0 : line;
		if (sent)
			retire(qp, be16_get(mini));
		else
			cost += take_received(qp, be32_get(mini + 4));
	}
	clear_slots(thread, cq, first, count);
	cq->polled += count;
	return cost;
}

static struct load_cqe parse(const struct load_thread *thread, const uint8_t *cqe)
{
	return (struct load_cqe){.qp = &thread->qps[be24_get(cqe + 33)],
				 .opcode = cqe[63] >> 4,
				 .syndrome = cqe[55],
				 .counter = be16_get(cqe + 60),
				 .byte_count = be32_get(cqe + 44),
				 .immediate = be32_get(cqe + 36)};
}

struct load_cqe load_thread_take_cqe(struct load_thread *thread)
{
	uint32_t number = thread->arrived[thread->arrived_first++ & thread->arrived_mask];
	struct load_cq *cq = &thread->cqs[number];

	return parse(thread, cqe_at(thread, cq, cq->polled++));
}

bool load_thread_has_arrived(const struct load_thread *thread)
{
	return thread->arrived_first != thread->arrived_end;
}

/* Compressed CQEs take several writes. The write of the title is the last. */
sim_time load_thread_take(struct load_thread *thread)
{
	struct load *load = thread->node->load;
	uint32_t number = thread->arrived[thread->arrived_first++ & thread->arrived_mask];
	sim_time line = load_poll_time(thread->node);
	const uint8_t *cqe;
	struct load_cqe taken;
	struct load_cq *cq;

	if (number & LOAD_RESPONSE_CAME) {
		load_client_response(thread, number & ~LOAD_RESPONSE_CAME, line);
		return line;
	}
	cq = &thread->cqs[number];
	cqe = cqe_at(thread, cq, cq->polled);
	if (load->params.cqe_compression && is_cleared(thread, cq))
		return 0;
	taken = parse(thread, cqe);
	if (load->params.cqe_compression) {
		if ((cqe[63] & COMPRESSED) == COMPRESSED)
			return take_compressed(thread, cq, taken.qp);
		clear_slots(thread, cq, cq->polled, 1);
	}
	cq->polled++;
	if (taken.opcode >= CQE_SEND_ERROR) {
		load_fail(thread->node, "a work request failed with syndrome %u", taken.syndrome);
		return 0;
	}
	if (taken.opcode == CQE_SENT) {
		retire(taken.qp, taken.counter);
		return line;
	}
	if (load_serves(load))
		return take_numbered(taken.qp, taken.immediate);
	return line + take_received(taken.qp, taken.byte_count);
}
