/* SPDX-License-Identifier: Apache-2.0 */
/* wqe_refetch: see wqe_refetch.h. */
#include "hca/work/wqe_refetch.h"
#include "hca/work/wqe_fetch_state.h"

static uint64_t line_of(const struct send_queue *sq, uint32_t block)
{
	return sq->first_line + (block & (sq->attr->sq_blocks - 1));
}

void wqe_refetch_fill(struct send_queue *sq, uint32_t block, uint32_t blocks)
{
	for (uint32_t i = 0; i < blocks; i++)
		wqe_cache_fill(sq->fetch->cache, line_of(sq, block + i), 1);
}

void wqe_refetch_forget(struct send_queue *sq, const struct send_slot *slot)
{
	for (uint32_t i = 0; i < slot->blocks; i++)
		wqe_cache_forget(sq->fetch->cache, line_of(sq, slot->block + i), 1);
}

static void repeated(struct pcie_read *read)
{
	struct wqe_repeat *repeat = container_of(read, struct wqe_repeat, read);
	struct send_queue *sq = repeat->sq;
	struct send_slot *slot = send_queue_slot(sq, repeat->number);

	gauge_left(&sq->fetch->gauge.reads, repeat->since, sim_now(sq->fetch->block.sim), 1);
	if (repeat->number - sq->oldest < sq->tail - sq->oldest && slot->tag == repeat->tag) {
		wqe_refetch_fill(sq, repeat->block, read->length / WQE_BLOCK_BYTES);
		slot->at_hand = true;
		slot->fetching = false;
		if (!slot->stages.at[STAGE_GRANT])
			slot->stages.at[STAGE_WQE_FETCH] = sim_now(sq->fetch->block.sim);
		sq->fetch->user->wake(sq);
	}
	pool_give(&sq->fetch->repeats, repeat);
	sq->fetch->user->drop(sq);
}

/* Returns the number of blocks of a read that begins with that WQE. It includes the parsed WQEs
 * after it, up to the end of the ring and the maximum size of a read. */
static uint32_t blocks_again(const struct send_queue *sq, const struct send_slot *slot)
{
	uint32_t at = slot->block & (sq->attr->sq_blocks - 1);
	uint32_t most = wqe_fetch_smaller(
		(uint32_t)sq->fetch->params->read_blocks,
		wqe_fetch_smaller(sq->parsed - slot->block, sq->attr->sq_blocks - at));

	return most > slot->blocks ? most : slot->blocks;
}

uint32_t wqe_refetch_blocks(const struct send_queue *sq, const struct send_slot *slot)
{
	uint32_t at = slot->block & (sq->attr->sq_blocks - 1);
	uint32_t most = wqe_fetch_smaller((uint32_t)sq->fetch->params->response_blocks,
					  sq->attr->sq_blocks - at);

	return most > slot->blocks ? most : slot->blocks;
}

struct pcie_read wqe_refetch_read(struct send_queue *sq, const struct send_slot *slot,
				  uint32_t blocks, void (*done)(struct pcie_read *))
{
	struct wqe_fetch *fetch = sq->fetch;
	uint32_t at = slot->block & (sq->attr->sq_blocks - 1);

	fetch->count.reads++;
	fetch->count.read_blocks += blocks;
	trace(&fetch->block, TRACE_WQE_READ, slot->tag, sq->number, blocks);
	return (struct pcie_read){
		.memory = memory_none(),
		.address = sq->attr->sq_buffer + (uint64_t)at * WQE_BLOCK_BYTES,
		.length = blocks * WQE_BLOCK_BYTES,
		.tag = slot->tag,
		.done = done,
	};
}

static void read_again(struct send_queue *sq, struct send_slot *slot)
{
	struct wqe_fetch *fetch = sq->fetch;
	struct wqe_repeat *repeat = pool_take(&fetch->repeats);

	repeat->sq = sq;
	repeat->number = sq->cursor;
	repeat->tag = slot->tag;
	repeat->block = slot->block;
	repeat->read = wqe_refetch_read(sq, slot, blocks_again(sq, slot), repeated);
	slot->fetching = true;
	fetch->user->hold(sq);
	repeat->since = sim_now(fetch->block.sim);
	gauge_enter(&fetch->gauge.reads, repeat->since, 1);
	pcie_read(sq->fetch->pcie, &repeat->read);
}

enum wqe_outcome wqe_refetch_look_up(struct send_queue *sq, const struct send_slot *slot)
{
	struct wqe_cache *cache = sq->fetch->cache;
	enum wqe_outcome outcome = slot->list_coming ? WQE_CACHE_MERGE : WQE_CACHE_HIT;

	for (uint32_t i = 0; i < slot->blocks && outcome == WQE_CACHE_HIT; i++)
		if (!wqe_cache_has(cache, line_of(sq, slot->block + i), 1))
			outcome = WQE_CACHE_MISS;
	wqe_cache_looked_up(cache, outcome, line_of(sq, slot->block), slot->tag);
	if (outcome == WQE_CACHE_MISS)
		wqe_cache_lost(cache);
	return outcome;
}

bool wqe_refetch_is_here(struct send_queue *sq, struct send_slot *slot)
{
	const struct wqe_fetch_params *params = sq->fetch->params;

	if (slot->fetching)
		return false;
	slot->at_hand = (params->looked_up == WQE_LOOKED_UP_RESPONSE && !slot->started) ||
			wqe_refetch_look_up(sq, slot) == WQE_CACHE_HIT;
	if (!slot->at_hand)
		read_again(sq, slot);
	return slot->at_hand;
}
