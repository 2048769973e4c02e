/* SPDX-License-Identifier: Apache-2.0 */
/* wqe_fetch: see wqe_fetch.h. Numbers of blocks do not wrap; their low bits are the place in the
 * ring. */
#include "hca/work/wqe_fetch_state.h"
#include "hca/work/wqe_refetch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ROW(...)   PARAM_ROW(struct wqe_fetch_params, __VA_ARGS__)
#define SLAB_SLOTS 64
#define SLAB_READS 16

/* clang-format off */
const struct param wqe_fetch_param_list[] = {WQE_FETCH_PARAMS(ROW) {0}};

static void check(struct block *block, FILE *out);

static const struct block_type wqe_fetch_type = {
	.name         = "wqe_fetch",
	.params       = wqe_fetch_param_list,
	.counters     = (const struct counter[]){WQE_FETCH_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){WQE_FETCH_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){WQE_FETCH_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
};
/* clang-format on */

static void read_done(struct pcie_read *read);

static void change(struct wqe_fetch *fetch, struct gauge *gauge, struct send_queue_note *noted)
{
	sim_time now = sim_now(fetch->block.sim);

	noted->is = !noted->is;
	if (noted->is) {
		noted->since = now;
		gauge_enter(gauge, now, 1);
	} else {
		gauge_left(gauge, noted->since, now, 1);
	}
}

static inline void note(struct wqe_fetch *fetch, struct gauge *gauge, struct send_queue_note *noted,
			bool is)
{
	if (noted->is != is)
		change(fetch, gauge, noted);
}

/* Updates the gauges after WQEs were posted, parsed, sent or completed. */
static void note_work(struct send_queue *sq)
{
	struct wqe_fetch *fetch = sq->fetch;
	bool more = sq->parsed != sq->producer;
	bool starved = more && sq->cursor == sq->tail;
	bool full = sq->tail - sq->oldest == sq->window;

	note(fetch, &fetch->gauge.work, &sq->has_work, more || sq->oldest != sq->tail);
	note(fetch, &fetch->gauge.fetch, &sq->fetch_waits, starved && !full);
	note(fetch, &fetch->gauge.window, &sq->window_waits, starved && full);
	gauge_wait(&fetch->gauge.work, sim_now(fetch->block.sim), fetch->gauge.work.level);
}

static void append_read(struct send_queue *sq, struct staged_read *staged)
{
	staged->next = NULL;
	if (sq->reads_last)
		sq->reads_last->next = staged;
	else
		sq->reads_first = staged;
	sq->reads_last = staged;
	sq->reads_count++;
}

/* ---- staging ---- */

/* Appends blocks to the staging area, which must have room. */
static void stage(struct send_queue *sq, const uint8_t *bytes, uint32_t blocks)
{

	if (!sq->staging)
		sq->staging = pool_take(&sq->fetch->stagings);
	memcpy(sq->staging + sq->staged * WQE_BLOCK_BYTES, bytes, blocks * WQE_BLOCK_BYTES);
	if (sq->fetch->cache)
		wqe_refetch_fill(sq, sq->parsed + sq->staged, blocks);
	sq->staged += blocks;
}

static void unstage_all(struct send_queue *sq)
{

	if (sq->staging)
		pool_give(&sq->fetch->stagings, sq->staging);
	sq->staging = NULL;
	sq->staged = 0;
	sq->stored = false;
}

/* ---- the plan ---- */

/* Returns the maximum number of blocks of a read now: up to the end of the ring, and as many as can
 * be staged. */
static uint32_t read_room(const struct send_queue *sq)
{
	uint32_t at = sq->requested & (sq->attr->sq_blocks - 1);
	uint32_t blocks = wqe_fetch_smaller(sq->producer - sq->requested, sq->attr->sq_blocks - at);

	blocks = wqe_fetch_smaller(blocks, (uint32_t)sq->fetch->params->read_blocks);
	return wqe_fetch_smaller(blocks, STAGING_BLOCKS - (sq->requested - sq->parsed));
}

static struct wqe_fetch_view view(struct send_queue *sq, uint32_t room)
{
	return (struct wqe_fetch_view){
		.qpn = sq->number,
		.ring_blocks = sq->attr->sq_blocks,
		.producer = sq->producer,
		.requested = sq->requested,
		.parsed = sq->parsed,
		.staged = sq->staged,
		.reads = sq->reads_count,
		.room = room,
		.stored = sq->stored,
		.next = &sq->parse_next,
	};
}

static uint32_t blocks_to_read(struct send_queue *sq)
{
	struct wqe_fetch *fetch = sq->fetch;
	struct wqe_fetch_view queue = view(sq, read_room(sq));
	uint32_t blocks;

	if (!queue.room)
		return 0;
	module_host_enter(&fetch->host);
	blocks = fetch->plan->read_blocks(fetch->host.module, &queue, sim_now(fetch->block.sim));
	module_host_leave(&fetch->host);
	if (blocks > queue.room)
		module_broke(fetch->block.name, "reads more blocks than `room`");
	if (!blocks && !queue.reads && !queue.staged)
		module_broke(fetch->block.name, "reads no blocks while no block of the queue is "
						"staged or in flight");
	return blocks;
}

static void schedule_parse(struct send_queue *sq, bool again)
{
	struct wqe_fetch *fetch = sq->fetch;
	struct wqe_fetch_view queue = view(sq, 0);
	sim_time at;

	module_host_enter(&fetch->host);
	at = fetch->plan->parse_at(fetch->host.module, &queue, again, sim_now(fetch->block.sim));
	module_host_leave(&fetch->host);
	module_check_time(fetch->block.sim, fetch->block.name, at);
	sim_schedule_at(&sq->parse, at);
}

static uint32_t wqes_to_parse(struct send_queue *sq)
{
	struct wqe_fetch *fetch = sq->fetch;
	struct wqe_fetch_view queue = view(sq, 0);
	uint32_t count;

	module_host_enter(&fetch->host);
	count = fetch->plan->parse_count(fetch->host.module, &queue, sim_now(fetch->block.sim));
	module_host_leave(&fetch->host);
	if (!count)
		module_broke(fetch->block.name,
			     "parses no WQE at the time that parse_at() returned");
	return count;
}

/* ---- reads ---- */

void wqe_fetch_kick(struct send_queue *sq)
{
	struct wqe_fetch *fetch = sq->fetch;

	if (!fetch->user->may_fetch(sq))
		return;
	if (sq->staged && !event_pending(&sq->parse))
		schedule_parse(sq, false);
	while (sq->requested != sq->producer) {
		struct staged_read *staged;
		uint32_t at = sq->requested & (sq->attr->sq_blocks - 1);
		uint32_t blocks = blocks_to_read(sq);

		if (!blocks)
			break;
		staged = pool_take(&fetch->reads);
		append_read(sq, staged);
		staged->sq = sq;
		staged->busy = true;
		staged->stale = false;
		staged->blocks = blocks;
		staged->read = (struct pcie_read){
			.memory = sq->attr->memory,
			.address = sq->attr->sq_buffer + (uint64_t)at * WQE_BLOCK_BYTES,
			.length = blocks * WQE_BLOCK_BYTES,
			.bytes = staged->bytes,
			.done = read_done,
		};
		if (sq->fetch->cache)
			wqe_cache_fetched(sq->fetch->cache, 0,
					  blocks - (sq->requested == sq->parsed));
		sq->requested += blocks;
		fetch->user->hold(sq);
		staged->since = sim_now(fetch->block.sim);
		gauge_enter(&fetch->gauge.reads, staged->since, 1);
		fetch->count.reads++;
		fetch->count.read_blocks += blocks;
		trace(&fetch->block, TRACE_WQE_READ, 0, sq->number, blocks);
		pcie_read(sq->fetch->pcie, &staged->read);
	}
}

/* Stages completed reads in order. Reads of one caller may overtake each other (pcie.h). */
static void read_done(struct pcie_read *read)
{
	struct staged_read *staged = container_of(read, struct staged_read, read);
	struct send_queue *sq = staged->sq;

	staged->busy = false;
	gauge_left(&sq->fetch->gauge.reads, staged->since, sim_now(sq->fetch->block.sim), 1);
	if (!staged->stale && read->failed)
		sq->fetch->user->failed(sq);
	while (sq->reads_first && !sq->reads_first->busy) {
		struct staged_read *oldest = sq->reads_first;

		if (!oldest->stale)
			stage(sq, oldest->bytes, oldest->blocks);
		sq->reads_first = oldest->next;
		if (!sq->reads_first)
			sq->reads_last = NULL;
		sq->reads_count--;
		pool_give(&sq->fetch->reads, oldest);
	}
	wqe_fetch_kick(sq);
	sq->fetch->user->drop(sq);
}

void wqe_fetch_blueflame(struct send_queue *sq, const uint8_t *bytes)
{
	uint32_t blocks = wqe_blocks(bytes);
	bool next = sq->requested == sq->parsed && !sq->reads_count &&
		    sq->producer - sq->requested == blocks && sq->fetch->user->may_fetch(sq);

	if (!next)
		return;
	stage(sq, bytes, blocks);
	sq->stored = true;
	sq->requested += blocks;
	sq->fetch->count.blueflame++;
}

bool wqe_fetch_rung(struct send_queue *sq, uint16_t producer, sim_time stored_at)
{
	uint16_t ahead = (uint16_t)(producer - (uint16_t)sq->producer);
	struct ring *ring;

	if (sq->producer + ahead - sq->parsed > sq->attr->sq_blocks)
		return false;
	if (!ahead)
		return true;
	sq->producer += ahead;
	ring = pool_take_zeroed(&sq->fetch->rings);
	ring->producer = sq->producer;
	ring->stored_at = stored_at;
	ring->known_at = sim_now(sq->fetch->block.sim);
	if (sq->rings_last)
		sq->rings_last->next = ring;
	else
		sq->rings = ring;
	sq->rings_last = ring;
	note_work(sq);
	return true;
}

static void drop_rings(struct send_queue *sq, bool all)
{

	while (sq->rings && (all || (int32_t)(sq->parsed - sq->rings->producer) >= 0)) {
		struct ring *ring = sq->rings;

		sq->rings = ring->next;
		pool_give(&sq->fetch->rings, ring);
	}
	if (!sq->rings)
		sq->rings_last = NULL;
}

/* Records the doorbell and fetch stages of the WQE that begins at block sq->parsed. */
static void note_fetched(struct send_queue *sq, struct latency_stages *stages)
{
	drop_rings(sq, false);
	assert(sq->rings);
	stages->posted_at = sq->rings->stored_at;
	stages->at[STAGE_DOORBELL] = sq->rings->known_at;
	stages->at[STAGE_WQE_FETCH] = sim_now(sq->fetch->block.sim);
}

static struct send_slot *new_slot(struct send_queue *sq)
{
	struct send_slot *slot =
		pool_take_cleared(&sq->fetch->slots, offsetof(struct send_slot, wqe.listed));

	slot->tag = sim_new_tag(sq->fetch->block.sim);
	note_fetched(sq, &slot->stages);
	sq->slots[sq->tail++ & (sq->window - 1)] = slot;
	return slot;
}

static void parse(struct event *event)
{
	struct send_queue *sq = container_of(event, struct send_queue, parse);
	struct wqe_fetch *fetch = sq->fetch;
	uint32_t used = 0, left = wqes_to_parse(sq);

	while (left && sq->staged - used && sq->tail - sq->oldest < sq->window) {
		const uint8_t *bytes = sq->staging + used * WQE_BLOCK_BYTES;
		uint32_t blocks = wqe_ds_count(bytes) ? wqe_blocks(bytes) : 1;
		struct send_slot *slot;

		if (blocks > sq->staged - used)
			break;
		slot = new_slot(sq);
		slot->block = sq->parsed;
		slot->blocks = blocks;
		slot->error = wqe_parse(bytes, sq->number, sq->attr->type, &slot->wqe);
		fetch->count.wqes++;
		if (slot->error)
			fetch->count.malformed++;
		trace(&fetch->block, TRACE_WQE_PARSED, slot->tag, sq->number, slot->wqe.index);
		used += blocks;
		sq->parsed += blocks;
		left--;
	}
	if (sq->tail - sq->oldest == sq->window)
		fetch->count.window_full++;
	sq->staged -= used;
	if (sq->staged)
		memmove(sq->staging, sq->staging + used * WQE_BLOCK_BYTES,
			sq->staged * WQE_BLOCK_BYTES);
	else
		unstage_all(sq);
	if (!left && sq->staged)
		schedule_parse(sq, true);
	note_work(sq);
	if (used)
		fetch->user->posted(sq);
	if (used || !sq->staged)
		wqe_fetch_kick(sq);
}

void wqe_fetch_advance(struct send_queue *sq)
{
	sq->cursor++;
	note_work(sq);
}

void wqe_fetch_rewind(struct send_queue *sq, uint32_t number)
{
	sq->cursor = number;
}

void wqe_fetch_retire(struct send_queue *sq)
{
	struct send_slot *slot = send_queue_slot(sq, sq->oldest);

	assert(!slot->completed);
	slot->completed = true;
	if (sq->fetch->cache)
		wqe_refetch_forget(sq, slot);
	sq->oldest++;
	sq->fetch->count.retired++;
	note_work(sq);
}

void wqe_fetch_free_slot(struct send_queue *sq, struct send_slot *slot)
{
	assert(slot->completed && !slot->transfers && !slot->departures);
	pool_give(&sq->fetch->slots, slot);
}

void wqe_fetch_reset(struct send_queue *sq)
{

	sim_cancel(&sq->parse);
	for (struct staged_read *staged = sq->reads_first; staged; staged = staged->next)
		staged->stale = true;
	unstage_all(sq);
	if (sq->fetch->cache)
		wqe_cache_forget(sq->fetch->cache, sq->first_line, sq->attr->sq_blocks);
	while (sq->oldest != sq->tail) {
		struct send_slot *slot = send_queue_slot(sq, sq->oldest++);

		sq->fetch->count.dropped++;
		slot->completed = true;
		if (!slot->transfers && !slot->departures)
			wqe_fetch_free_slot(sq, slot);
	}
	sq->cursor = sq->tail;
	drop_rings(sq, true);
	sq->producer = sq->requested = sq->parsed = 0;
	note_work(sq);
}

void wqe_fetch_attach(struct wqe_fetch *fetch, struct send_queue *sq,
		      const struct hca_qp_attr *attr)
{
	sq->fetch = fetch;
	sq->attr = attr;
	sq->window = 1;
	while (sq->window < fetch->params->window && sq->window < sq->attr->sq_blocks)
		sq->window *= 2;
	sq->slots = calloc(sq->window, sizeof(struct send_slot *));
	assert(sq->slots);
	event_init(&sq->parse, &fetch->block, parse);
	if (sq->fetch->cache)
		sq->first_line = wqe_cache_add_ring(
			sq->fetch->cache, (uint64_t)sq->attr->sq_blocks * WQE_BLOCK_BYTES);
}

void wqe_fetch_detach(struct send_queue *sq)
{
	assert(!sq->staging && sq->oldest == sq->tail); /* reads may be left at the end of a run */
	free(sq->slots);
}

static void check(struct block *block, FILE *out)
{
	const struct wqe_fetch *fetch = container_of(block, struct wqe_fetch, block);
	uint64_t under_way = fetch->user->under_way(fetch->user);

	block_equal(block, out, "WQEs = retired + dropped + in progress", fetch->count.wqes,
		    fetch->count.retired + fetch->count.dropped + under_way);
}

static void *create_plan(void *argument)
{
	struct wqe_fetch *fetch = argument;

	return fetch->plan->create(&(const struct wqe_fetch_setup){
		.name = fetch->block.name,
		.params = fetch->params,
	});
}

struct wqe_fetch *wqe_fetch_create(struct sim *sim, const char *name,
				   const struct wqe_fetch_params *params, struct pcie *pcie,
				   struct wqe_cache *cache, const struct wqe_fetch_user *user)
{
	struct wqe_fetch *fetch = calloc(1, sizeof(*fetch));

	assert(fetch);
	fetch->user = user;
	fetch->pcie = pcie;
	fetch->cache = cache;
	fetch->params = params;
	block_init(&fetch->block, sim, &wqe_fetch_type, name, fetch->params,
		   (const uint64_t *)&fetch->count);
	block_gauges(&fetch->block, (struct gauge *)&fetch->gauge);
	fetch->plan = module_host_table(MODULE_WQE_FETCH, sizeof(*fetch->plan), name,
					&params->module, &wqe_fetch_plan);
	module_host_fill(&fetch->host, &fetch->block, !*params->module.text, create_plan, fetch,
			 fetch->plan->destroy, fetch->plan->trace);
	pool_init(&fetch->slots, sizeof(struct send_slot), SLAB_SLOTS);
	pool_init(&fetch->rings, sizeof(struct ring), SLAB_SLOTS);
	pool_init(&fetch->reads,
		  sizeof(struct staged_read) + fetch->params->read_blocks * WQE_BLOCK_BYTES,
		  SLAB_READS);
	pool_init(&fetch->stagings, STAGING_BYTES, SLAB_READS);
	pool_init(&fetch->repeats, sizeof(struct wqe_repeat), SLAB_READS);
	return fetch;
}

void wqe_fetch_destroy(struct wqe_fetch *fetch)
{
	module_host_clear(&fetch->host);
	pool_fini(&fetch->slots);
	pool_fini(&fetch->rings);
	pool_fini(&fetch->reads);
	pool_fini(&fetch->stagings);
	pool_fini(&fetch->repeats);
	block_fini(&fetch->block);
	free(fetch);
}

const struct wqe_fetch_counters *wqe_fetch_counters(const struct wqe_fetch *fetch)
{
	return &fetch->count;
}
