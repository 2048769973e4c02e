/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue_fetch: reads the doorbell record and the WQEs of a receive queue from host memory.
 * With a cache, cached lines are not read, and a WQE whose line was evicted before its use is read
 * again. Numbers of WQEs do not wrap; doorbell records hold their low 16 bits.
 *
 *     receive_queue.c --refill()--> record? WQEs? --pcie_read()--> kept --receive_queue_serve()-->
 */
#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/bytes.h"
#include "hca/work/event_queue.h"
#include "hca/work/receive_queue_state.h"

#define NEXT_BYTES 16 /* size of the segment that links a shared queue */

static void read_wqes(struct receive_queue *queue);

void receive_queue_refill(struct receive_queue *queue)
{
	const struct receive_queue_params *params = queue->owner->params;
	bool wanted =
		queue->waiting_first || (params->ahead && queue->kept_count <= params->low_water);

	if (!wanted || queue->wqes_busy || queue->flush_for || queue->context_busy)
		return;
	if (queue->posted != queue->fetched)
		read_wqes(queue);
	else
		receive_queue_read_record(queue);
}

static void enter_reads(struct receive_queue *queue, sim_time *since)
{
	*since = sim_now(queue->owner->block.sim);
	gauge_enter(&queue->owner->gauge.reads, *since, 1);
}

static void leave_reads(struct receive_queue *queue, sim_time since)
{
	gauge_left(&queue->owner->gauge.reads, since, sim_now(queue->owner->block.sim), 1);
}

static void check_limit(struct receive_queue *queue)
{
	if (!queue->limit_check)
		return;
	queue->limit_check = false;
	if (queue->limit && queue->posted - queue->taken < queue->limit) {
		queue->limit = 0;
		event_queue_async(queue->owner->blocks->events, ASYNC_SRQ_LIMIT, queue->number);
	}
}

static void record_done(struct pcie_read *read)
{
	struct receive_queue *queue = container_of(read, struct receive_queue, record_read);
	bool stale = queue->record_generation != queue->generation;
	uint32_t before = queue->posted;

	queue->record_busy = false;
	leave_reads(queue, queue->record_since);
	if (!stale && !read->failed) {
		uint16_t posted = (uint16_t)be32_get(queue->record);
		uint16_t ahead = (uint16_t)(posted - (uint16_t)queue->posted);

		if (ahead <= queue->attr.entries)
			queue->posted += ahead;
		trace(&queue->owner->block, TRACE_RECORD, 0, queue->number, queue->posted);
	}
	if (queue->flush_for) {
		receive_queue_flush_known(queue);
	} else if (stale) {
		receive_queue_refill(queue);
	} else {
		check_limit(queue);
		if (queue->posted != before || queue->posted != queue->fetched)
			receive_queue_refill(queue);
		else
			receive_queue_serve_all(queue);
	}
	receive_queue_drop(queue);
}

void receive_queue_read_record(struct receive_queue *queue)
{
	if (queue->record_busy)
		return;
	queue->record_busy = true;
	queue->record_generation = queue->generation;
	queue->record_read = (struct pcie_read){
		.memory = queue->attr.memory,
		.address = queue->attr.doorbell_record,
		.length = sizeof(queue->record),
		.bytes = queue->record,
		.done = record_done,
	};
	queue->users++;
	queue->owner->count.record_reads++;
	enter_reads(queue, &queue->record_since);
	pcie_read(queue->owner->blocks->pcie, &queue->record_read);
}

static void keep(struct receive_queue *queue, uint16_t index, const uint8_t *bytes)
{
	struct receive_wqe *wqe = pool_take_zeroed(&queue->owner->wqes);
	uint32_t skip = queue->shared ? NEXT_BYTES : 0;

	wqe_parse_receive(bytes + skip, queue->attr.stride_bytes - skip, wqe);
	wqe->index = index;
	if (queue->kept_last)
		queue->kept_last->next = wqe;
	else
		queue->kept_first = wqe;
	queue->kept_last = wqe;
	queue->kept_count++;
	wqe->kept_since = sim_now(queue->owner->block.sim);
	gauge_enter(&queue->owner->gauge.kept, wqe->kept_since, 1);
	queue->fetched++;
	queue->owner->count.wqes++;
}

/* Keeps the WQEs that were read. WQEs of a ring are adjacent. WQEs of a list usually are; the list
 * is followed while the next WQE is adjacent. */
static void keep_read(struct receive_queue *queue)
{
	uint32_t available = queue->posted - queue->fetched;

	for (uint32_t i = 0; i < queue->read_count && i < available; i++) {
		uint32_t at = queue->shared ? queue->head - queue->read_index : i;
		const uint8_t *bytes =
			queue->bytes + queue->bytes_start + (size_t)at * queue->attr.stride_bytes;

		if (at >= queue->read_count)
			break;
		keep(queue, queue->shared ? queue->head : (uint16_t)queue->fetched, bytes);
		if (queue->shared)
			queue->head = wqe_next_index(bytes);
	}
}

static void wqes_arrived(struct receive_queue *queue, bool failed)
{
	queue->wqes_busy = false;
	leave_reads(queue, queue->wqes_since);
	if (queue->flush_for) {
		receive_queue_read_record(queue);
	} else if (queue->wqes_generation != queue->generation) {
		receive_queue_refill(queue);
	} else if (failed) {
		event_queue_async(queue->owner->blocks->events, ASYNC_SRQ_ERROR, queue->number);
		receive_queue_serve_all(queue);
	} else {
		keep_read(queue);
		trace(&queue->owner->block, TRACE_FETCHED, 0, queue->number, queue->kept_count);
		receive_queue_serve(queue);
		receive_queue_refill(queue);
	}
	receive_queue_drop(queue);
}

static void wqes_done(struct pcie_read *read)
{
	wqes_arrived(container_of(read, struct receive_queue, wqe_read), read->failed);
}

static void start_read(struct receive_queue *queue, uint32_t offset, uint32_t length, void *bytes,
		       void (*done)(struct pcie_read *read))
{
	queue->wqe_read = (struct pcie_read){
		.memory = queue->attr.memory,
		.address = queue->attr.buffer + offset,
		.length = length,
		.bytes = bytes,
		.done = done,
	};
	queue->owner->count.wqe_reads++;
	pcie_read(queue->owner->blocks->pcie, &queue->wqe_read);
}

/* ---- with a cache ---- */

static uint32_t ring_bytes(const struct receive_queue *queue)
{
	return queue->attr.entries * queue->attr.stride_bytes;
}

/* Lines of a group of WQEs. The first line of the ring is 0. */
struct span {
	uint32_t line, count;
};

static struct span lines_of(const struct receive_queue *queue, uint32_t at, uint32_t wqes)
{
	uint32_t stride = queue->attr.stride_bytes;
	uint32_t first = at * stride / WQE_LINE_BYTES;
	uint32_t last = ((at + wqes) * stride - 1) / WQE_LINE_BYTES;

	return (struct span){first, last - first + 1};
}

/* Returns the bytes of the lines. The last line may be shorter. */
static uint32_t span_bytes(const struct receive_queue *queue, struct span span)
{
	uint32_t start = span.line * WQE_LINE_BYTES, length = span.count * WQE_LINE_BYTES;

	return start + length > ring_bytes(queue) ? ring_bytes(queue) - start : length;
}

/* Returns the lines that must be read: from the first line that is not cached to the last such
 * line. */
static struct span missing(struct receive_queue *queue, struct span all)
{
	struct wqe_cache *cache = queue->owner->blocks->cache;
	struct span read = {all.line, 0};

	for (uint32_t i = 0; i < all.count; i++) {
		uint32_t line = all.line + i;

		if (wqe_cache_want(cache, queue->lines->first + line))
			continue;
		if (!read.count)
			read.line = line;
		read.count = line - read.line + 1;
	}
	return read;
}

static void look_up(struct receive_queue *queue, enum wqe_outcome outcome, uint32_t line)
{
	wqe_cache_looked_up(queue->owner->blocks->cache, outcome, queue->lines->first + line, 0);
	queue->lines->asked++;
}

static void served(struct event *event)
{
	wqes_arrived(container_of(event, struct receive_lines, served)->queue, false);
}

static void lines_done(struct pcie_read *read)
{
	struct receive_queue *queue = container_of(read, struct receive_queue, wqe_read);
	uint64_t line = (read->address - queue->attr.buffer) / WQE_LINE_BYTES;
	uint32_t count = (read->length + WQE_LINE_BYTES - 1) / WQE_LINE_BYTES;

	if (!read->failed)
		wqe_cache_fill(queue->owner->blocks->cache, queue->lines->first + line, count);
	wqes_arrived(queue, read->failed);
}

static void fetch_lines(struct receive_queue *queue)
{
	struct receive_lines *lines = queue->lines;
	struct wqe_cache *cache = queue->owner->blocks->cache;
	struct span all = lines_of(queue, queue->read_index, queue->read_count);
	struct span read = missing(queue, all);
	uint64_t address = queue->attr.buffer + all.line * WQE_LINE_BYTES;
	uint32_t skip = (read.line - all.line) * WQE_LINE_BYTES;
	bool demanded = queue->waiting_first && !lines->asked;

	queue->bytes_start =
		queue->read_index * queue->attr.stride_bytes - all.line * WQE_LINE_BYTES;
	if (!memory_read(queue->attr.memory, address, queue->bytes, span_bytes(queue, all)))
		read = all; /* the PCIe read will fail as well */
	if (demanded)
		look_up(queue, read.count ? WQE_CACHE_MISS : WQE_CACHE_HIT, all.line);
	wqe_cache_fetched(cache, all.count - read.count,
			  read.count && demanded ? read.count - 1 : read.count);
	if (!read.count) {
		sim_schedule(&lines->served, wqe_cache_latency(cache));
		return;
	}
	start_read(queue, read.line * WQE_LINE_BYTES, span_bytes(queue, read), queue->bytes + skip,
		   lines_done);
}

static void head_done(struct pcie_read *read)
{
	struct receive_lines *lines = container_of(read, struct receive_lines, head);
	struct receive_queue *queue = lines->queue;

	lines->head_busy = false;
	leave_reads(queue, lines->head_since);
	wqe_cache_fill(queue->owner->blocks->cache, lines->head_line, lines->head_count);
	lines->head_read = queue->kept_count && lines->head_generation == queue->generation;
	receive_queue_serve(queue);
	receive_queue_drop(queue);
}

/* Reads the first kept WQE again. Only its time matters, because the contents are known. */
static void read_head(struct receive_queue *queue, struct span span)
{
	struct receive_lines *lines = queue->lines;

	lines->head_busy = true;
	lines->head_generation = queue->generation;
	lines->head_line = lines->first + span.line;
	lines->head_count = span.count;
	lines->head = (struct pcie_read){
		.memory = memory_none(),
		.address = queue->attr.buffer + span.line * WQE_LINE_BYTES,
		.length = span_bytes(queue, span),
		.done = head_done,
	};
	queue->users++;
	queue->owner->count.wqe_reads++;
	enter_reads(queue, &lines->head_since);
	pcie_read(queue->owner->blocks->pcie, &lines->head);
}

bool receive_queue_has_next(struct receive_queue *queue)
{
	struct receive_lines *lines = queue->lines;
	struct span span;

	if (!lines)
		return queue->kept_count;
	if (!queue->kept_count) {
		if (queue->wqes_busy && !lines->asked)
			look_up(queue, WQE_CACHE_MERGE, lines_of(queue, queue->read_index, 1).line);
		return false;
	}
	span = lines_of(queue, queue->kept_first->index & (queue->attr.entries - 1), 1);
	if (lines->head_read ||
	    wqe_cache_has(queue->owner->blocks->cache, lines->first + span.line, span.count)) {
		if (!lines->asked)
			look_up(queue, WQE_CACHE_HIT, span.line);
		lines->asked--;
		lines->head_read = false;
		return true;
	}
	if (!lines->asked) {
		look_up(queue, lines->head_busy ? WQE_CACHE_MERGE : WQE_CACHE_MISS, span.line);
		if (!lines->head_busy)
			wqe_cache_lost(queue->owner->blocks->cache);
	}
	if (!lines->head_busy)
		read_head(queue, span);
	return false;
}

void receive_queue_add_lines(struct receive_queue *queue)
{
	struct receive_queues *owner = queue->owner;
	size_t bytes = owner->params->prefetch * queue->attr.stride_bytes;

	if (owner->blocks->cache) {
		queue->lines = calloc(1, sizeof(*queue->lines));
		assert(queue->lines);
		queue->lines->queue = queue;
		queue->lines->first = wqe_cache_add_ring(owner->blocks->cache, ring_bytes(queue));
		event_init(&queue->lines->served, &owner->block, served);
		bytes += 2 * WQE_LINE_BYTES;
	}
	queue->bytes = calloc(1, bytes);
	assert(queue->bytes);
}

void receive_queue_remove_lines(struct receive_queue *queue)
{
	struct wqe_cache *cache = queue->owner->blocks->cache;

	free(queue->bytes);
	if (!cache)
		return;
	wqe_cache_forget(cache, queue->lines->first, lines_of(queue, 0, queue->attr.entries).count);
	free(queue->lines);
}

static void read_wqes(struct receive_queue *queue)
{
	const struct receive_queue_params *params = queue->owner->params;
	uint32_t mask = queue->attr.entries - 1;
	uint32_t at = queue->shared ? queue->head & mask : queue->fetched & mask;
	uint32_t wqes = (uint32_t)params->prefetch;

	if (wqes > queue->posted - queue->fetched)
		wqes = queue->posted - queue->fetched;
	if (wqes > queue->attr.entries - at)
		wqes = queue->attr.entries - at;
	if (wqes > RECEIVE_KEPT_MAX - queue->kept_count)
		wqes = RECEIVE_KEPT_MAX - queue->kept_count;
	queue->wqes_busy = true;
	queue->wqes_generation = queue->generation;
	queue->read_count = wqes;
	queue->read_index = at;
	queue->users++;
	enter_reads(queue, &queue->wqes_since);
	if (queue->lines)
		fetch_lines(queue);
	else
		start_read(queue, at * queue->attr.stride_bytes, wqes * queue->attr.stride_bytes,
			   queue->bytes, wqes_done);
}
