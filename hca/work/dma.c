/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma: see dma.h. Each direction is a channel. It processes its transfers in order and splits them
 * into pieces, one per scatter/gather element. Pieces are translated concurrently. A gather piece
 * is read when it is translated. Scatter pieces are written in the order of the list, so bytes
 * become visible in order. A miss therefore delays the pieces after it.
 */
#include "hca/work/dma.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/work/dma_adapter.h"
#include "hca/work/dma_params.h"

enum { DMA_TRACE(TRACE_ENUM) };

enum { DIRECTIONS = DMA_SCATTER + 1 };

struct piece {
	struct translation translation;
	union {
		struct pcie_read read;
		struct pcie_write write;
	};
	struct channel *channel;
	struct dma *dma;
	uint32_t number;      /* position in the order of the list */
	uint32_t byte_offset; /* offset in dma->bytes */
	bool translated;
	sim_time since;
	struct piece *next; /* the next free piece, or the next one to be written */
};

struct channel {
	struct dma_engine *engine;
	struct dma *first, **last; /* all unfinished transfers, in order */
	struct dma *walking;       /* the first transfer that is not completely split */
	uint64_t inflight;         /* transfers from the start of their split to done */
	struct piece *pieces, *pieces_free;
	/* scatter: pieces not passed to PCIe yet, in order */
	struct piece *write_first, **write_last;
	struct event event; /* ends the first transfer */
	struct gauge *transfers_gauge, *pieces_gauge;
};

struct dma_engine {
	struct block block;
	struct dma_params param;
	struct dma_counters count;
	struct dma_gauges gauge;
	struct translation_unit *unit;
	struct pcie *pcie;
	struct channel channels[DIRECTIONS];
	struct dma_adapter *adapter; /* NULL if no module replaces the engine */
	sim_time write_next;         /* earliest time of the next write */
	struct event write_event;    /* grant of the waiting pieces */
	bool grant_taken;            /* the grant was given */
};

static void walk_transfers(struct channel *channel);
static bool walk_transfer(struct channel *channel, struct dma *dma);
static void make_piece(struct channel *channel, struct dma *dma);
static void piece_translated(struct translation *translation);
static void gather_piece(struct piece *piece);
static void gather_arrived(struct pcie_read *read);
static void issue_writes(struct channel *channel);
static void scatter_visible(struct pcie_write *write);
static void fail(struct dma *dma, uint32_t piece_number, enum dma_status status);
static void piece_done(struct piece *piece);
static void finish_if_complete(struct channel *channel, struct dma *dma);
static void complete(struct event *event);
static void check(struct block *block, FILE *out);

static sim_time now(const struct channel *channel)
{
	return sim_now(channel->engine->block.sim);
}

static bool list_reaches(const struct dma *dma)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < dma->segment_count; i++)
		bytes += dma->segments[i].length;
	return bytes >= (uint64_t)dma->offset + dma->length;
}

/* Splits the transfers that wait, as far as the limits allow. */
static inline void walk(struct channel *channel)
{
	if (channel->walking)
		walk_transfers(channel);
}

void dma_start(struct dma_engine *engine, struct dma *dma)
{
	struct channel *channel = &engine->channels[dma->direction];
	bool gather = dma->direction == DMA_GATHER;

	assert(dma->done && (unsigned)dma->direction < DIRECTIONS);
	++*(gather ? &engine->count.gathers : &engine->count.scatters);
	*(gather ? &engine->count.gather_bytes : &engine->count.scatter_bytes) += dma->length;
	trace(&engine->block, TRACE_DMA_START, dma->tag, dma->direction, dma->length);
	dma->status = list_reaches(dma) ? DMA_OK : DMA_TOO_SHORT;
	dma->translated_at = 0;
	if (__builtin_expect(!!engine->adapter, 0)) {
		dma_adapter_start(engine->adapter, dma);
		return;
	}
	dma->next = NULL;
	dma->segment = 0;
	dma->segment_offset = dma->offset;
	dma->walked = 0;
	dma->pieces_busy = 0;
	dma->pieces_made = 0;
	dma->failed_piece = UINT32_MAX;
	dma->begun = false;
	dma->finished_at = SIM_NEVER;
	*channel->last = dma;
	channel->last = &dma->next;
	if (!channel->walking)
		channel->walking = dma;
	if (channel->inflight == engine->param.inflight)
		engine->count.transfer_stalls++;
	walk_transfers(channel);
}

/* ---- transfers are split, in order ---- */

static void walk_transfers(struct channel *channel)
{
	struct dma_engine *engine = channel->engine;
	struct dma *dma;

	while ((dma = channel->walking)) {
		if (!dma->begun) {
			bool full = channel->inflight == engine->param.inflight;

			gauge_wait(channel->transfers_gauge, now(channel), full);
			if (full)
				return;
			dma->begun_at = now(channel);
			gauge_enter(channel->transfers_gauge, dma->begun_at, 1);
			if (++channel->inflight > engine->count.inflight_max)
				engine->count.inflight_max = channel->inflight;
			dma->begun = true;
		}
		if (!walk_transfer(channel, dma))
			return;
		channel->walking = dma->next;
		finish_if_complete(channel, dma);
	}
}

/* Splits a transfer into pieces. Returns false if no piece is free; the split continues later. */
static bool walk_transfer(struct channel *channel, struct dma *dma)
{
	while (dma->walked < dma->length && dma->status == DMA_OK) {
		const struct data_segment *segment = &dma->segments[dma->segment];

		if (dma->segment_offset >= segment->length) {
			dma->segment_offset -= segment->length;
			dma->segment++;
		} else if (channel->pieces_free) {
			make_piece(channel, dma);
		} else {
			channel->engine->count.piece_stalls++;
			gauge_wait(channel->pieces_gauge, now(channel), true);
			return false;
		}
	}
	return true;
}

static void make_piece(struct channel *channel, struct dma *dma)
{
	const struct data_segment *segment = &dma->segments[dma->segment];
	uint32_t length = segment->length - dma->segment_offset;
	struct piece *piece = channel->pieces_free;

	if (length > dma->length - dma->walked)
		length = dma->length - dma->walked;
	channel->pieces_free = piece->next;
	gauge_wait(channel->pieces_gauge, now(channel), false);
	piece->since = now(channel);
	gauge_enter(channel->pieces_gauge, piece->since, 1);
	piece->next = NULL;
	piece->dma = dma;
	piece->number = dma->pieces_made++;
	piece->byte_offset = dma->walked;
	piece->translated = false;
	piece->translation.key = segment->key;
	piece->translation.pd = dma->pd;
	piece->translation.access = dma->access;
	piece->translation.length = length;
	piece->translation.address = segment->address + dma->segment_offset;
	piece->translation.qpn = dma->qpn;
	piece->translation.tag = dma->tag;
	piece->translation.done = piece_translated;
	dma->pieces_busy++;
	dma->walked += length;
	dma->segment_offset += length;
	channel->engine->count.pieces++;
	dma_trace_piece(&channel->engine->block, dma, piece->translation.address, length);
	if (dma->direction == DMA_SCATTER) {
		*channel->write_last = piece;
		channel->write_last = &piece->next;
	}
	translation_start(channel->engine->unit, &piece->translation);
}

/* ---- pieces move ---- */

static void piece_translated(struct translation *translation)
{
	struct piece *piece = container_of(translation, struct piece, translation);

	piece->translated = true;
	piece->dma->translated_at = now(piece->channel);
	if (piece->dma->direction == DMA_GATHER)
		gather_piece(piece);
	else
		issue_writes(piece->channel);
}

static void gather_piece(struct piece *piece)
{
	uint8_t *bytes = piece->dma->bytes;

	if (piece->translation.status != TRANSLATION_OK) {
		fail(piece->dma, piece->number, DMA_PROTECTION);
		piece_done(piece);
		return;
	}
	piece->read.memory = piece->translation.memory;
	piece->read.address = piece->translation.host_address;
	piece->read.length = piece->translation.length;
	piece->read.tag = piece->dma->tag;
	piece->read.bytes = bytes ? bytes + piece->byte_offset : NULL;
	piece->read.done = gather_arrived;
	piece->read.relaxed = true; /* only data: descriptors and CQEs keep their order */
	piece->read.passes = piece->dma->passes;
	pcie_read(piece->channel->engine->pcie, &piece->read);
}

static void gather_arrived(struct pcie_read *read)
{
	struct piece *piece = container_of(read, struct piece, read);

	if (read->failed)
		fail(piece->dma, piece->number, DMA_FAULT);
	piece_done(piece);
}

sim_time dma_write_grant(struct dma_engine *engine)
{
	sim_time at = sim_now(engine->block.sim);

	if (engine->write_next > at) {
		engine->count.write_waits++;
		at = engine->write_next;
	}
	engine->write_next = at + engine->param.write_interval;
	return at;
}

static bool is_write_grant(struct channel *channel)
{
	struct dma_engine *engine = channel->engine;
	sim_time at;

	if (event_pending(&engine->write_event))
		return false;
	if (engine->grant_taken) {
		engine->grant_taken = false;
		return true;
	}
	at = dma_write_grant(engine);
	if (at == now(channel))
		return true;
	sim_schedule_at(&engine->write_event, at);
	return false;
}

/* Grants a write. The piece that requested it is still the first, because pieces are written in
 * order. */
static void write_grant(struct event *event)
{
	struct dma_engine *engine = container_of(event, struct dma_engine, write_event);

	engine->grant_taken = true;
	issue_writes(&engine->channels[DMA_SCATTER]);
}

/* Writes translated pieces in order. After a failure, no further piece of the transfer is
 * written. */
static void issue_writes(struct channel *channel)
{
	struct piece *piece;

	while ((piece = channel->write_first) && piece->translated) {
		struct dma *dma = piece->dma;
		const uint8_t *bytes = dma->bytes;
		bool last = piece->byte_offset + piece->translation.length == dma->length;

		if (dma->status == DMA_OK && piece->translation.status == TRANSLATION_OK &&
		    !is_write_grant(channel))
			return;
		channel->write_first = piece->next;
		if (!piece->next)
			channel->write_last = &channel->write_first;
		if (piece->translation.status != TRANSLATION_OK)
			fail(dma, piece->number, DMA_PROTECTION);
		if (dma->status != DMA_OK) {
			piece_done(piece);
			continue;
		}
		piece->write.memory = piece->translation.memory;
		piece->write.address = piece->translation.host_address;
		piece->write.length = piece->translation.length;
		piece->write.tag = dma->tag;
		piece->write.bytes = bytes ? bytes + piece->byte_offset : NULL;
		piece->write.done = scatter_visible;
		piece->write.relaxed = true;
		pcie_write(channel->engine->pcie, &piece->write);
		if (last && dma->posted)
			dma->posted(dma);
	}
}

static void scatter_visible(struct pcie_write *write)
{
	struct piece *piece = container_of(write, struct piece, write);

	if (write->failed)
		fail(piece->dma, piece->number, DMA_FAULT);
	piece_done(piece);
}

static void fail(struct dma *dma, uint32_t piece_number, enum dma_status status)
{
	if (piece_number < dma->failed_piece) {
		dma->failed_piece = piece_number;
		dma->status = status;
	}
}

static void piece_done(struct piece *piece)
{
	struct channel *channel = piece->channel;
	struct dma *dma = piece->dma;

	assert(dma->pieces_busy);
	dma->pieces_busy--;
	piece->next = channel->pieces_free;
	channel->pieces_free = piece;
	gauge_left(channel->pieces_gauge, piece->since, now(channel), 1);
	if (dma != channel->walking)
		finish_if_complete(channel, dma);
	walk(channel);
}

/* ---- transfers end, in order ---- */

/* Ends a transfer if it is completely split and no piece is in progress. */
static void finish_if_complete(struct channel *channel, struct dma *dma)
{
	if (dma->pieces_busy || dma->finished_at != SIM_NEVER)
		return;
	dma->finished_at = now(channel) + channel->engine->param.latency;
	if (dma == channel->first && !event_pending(&channel->event))
		sim_schedule_at(&channel->event, dma->finished_at);
}

void dma_trace_piece(struct block *block, const struct dma *dma, uint64_t address, uint32_t length)
{
	trace(block, TRACE_DMA_PIECE, dma->tag, address, length);
}

void dma_count_end(struct block *block, struct dma_counters *count, const struct dma *dma)
{
	++*(dma->direction == DMA_GATHER ? &count->gathers_done : &count->scatters_done);
	count->protection += dma->status == DMA_PROTECTION;
	count->too_short += dma->status == DMA_TOO_SHORT;
	count->faults += dma->status == DMA_FAULT;
	trace(block, TRACE_DMA_DONE, dma->tag, dma->direction, dma->status);
}

static void complete(struct event *event)
{
	struct channel *channel = container_of(event, struct channel, event);
	struct dma_engine *engine = channel->engine;
	struct dma *dma = channel->first;

	assert(dma && dma->finished_at <= now(channel) && channel->inflight);
	channel->first = dma->next;
	if (!dma->next)
		channel->last = &channel->first;
	else if (dma->next->finished_at != SIM_NEVER)
		sim_schedule_at(&channel->event, dma->next->finished_at > now(channel)
							 ? dma->next->finished_at
							 : now(channel));
	channel->inflight--;
	gauge_left(channel->transfers_gauge, dma->begun_at, now(channel), 1);
	dma_count_end(&engine->block, &engine->count, dma);
	walk(channel);
	if (!dma->length && dma->posted && dma->status == DMA_OK)
		dma->posted(dma);
	dma->done(dma);
}

/* ---- creation and destruction ---- */

#define ROW(...) PARAM_ROW(struct dma_params, __VA_ARGS__)
/* clang-format off */
const struct param dma_param_list[] = { DMA_PARAMS(ROW) { 0 } };

static const struct block_type dma_type = {
	.name = "dma",
	.params = dma_param_list,
	.counters = (const struct counter[]){ DMA_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ DMA_TRACE(TRACE_ENTRY) { 0 } },
	.gauges = (const struct gauge_info[]){ DMA_GAUGES(GAUGE_ENTRY) { 0 } },
	.check = check,
};
/* clang-format on */

static uint64_t list_length(const struct channel *channel)
{
	uint64_t length = 0;

	for (const struct dma *dma = channel->first; dma; dma = dma->next)
		length++;
	return length;
}

static void check(struct block *block, FILE *out)
{
	const struct dma_engine *engine = container_of(block, struct dma_engine, block);

	block_equal(block, out, "gathers = completed + in flight", engine->count.gathers,
		    engine->count.gathers_done + list_length(&engine->channels[DMA_GATHER]));
	block_equal(block, out, "scatters = completed + in flight", engine->count.scatters,
		    engine->count.scatters_done + list_length(&engine->channels[DMA_SCATTER]));
}

static void channel_init(struct channel *channel, struct dma_engine *engine)
{
	channel->engine = engine;
	channel->last = &channel->first;
	channel->write_last = &channel->write_first;
	channel->pieces = calloc(engine->param.pieces, sizeof(channel->pieces[0]));
	assert(channel->pieces);
	for (uint64_t i = engine->param.pieces; i-- > 0;) {
		channel->pieces[i].channel = channel;
		channel->pieces[i].next = channel->pieces_free;
		channel->pieces_free = &channel->pieces[i];
	}
	event_init(&channel->event, &engine->block, complete);
	channel->transfers_gauge->capacity = engine->param.inflight;
	channel->pieces_gauge->capacity = engine->param.pieces;
}

struct dma_engine *dma_engine_create(struct sim *sim, const char *name,
				     const struct dma_params *params, struct translation_unit *unit,
				     struct pcie *pcie)
{
	struct dma_engine *engine = calloc(1, sizeof(*engine));

	assert(engine && params->inflight && params->pieces && unit && pcie);
	engine->param = *params;
	engine->unit = unit;
	engine->pcie = pcie;
	block_init(&engine->block, sim, &dma_type, name, &engine->param,
		   (const uint64_t *)&engine->count);
	event_init(&engine->write_event, &engine->block, write_grant);
	block_gauges(&engine->block, (struct gauge *)&engine->gauge);
	if (*params->module.text) {
		engine->adapter = dma_adapter_create(engine, &engine->block, &engine->param,
						     &engine->count, &engine->gauge, unit, pcie);
		return engine;
	}
	engine->channels[DMA_GATHER].transfers_gauge = &engine->gauge.gathers;
	engine->channels[DMA_GATHER].pieces_gauge = &engine->gauge.gather_pieces;
	engine->channels[DMA_SCATTER].transfers_gauge = &engine->gauge.scatters;
	engine->channels[DMA_SCATTER].pieces_gauge = &engine->gauge.scatter_pieces;
	for (unsigned i = 0; i < DIRECTIONS; i++)
		channel_init(&engine->channels[i], engine);
	return engine;
}

void dma_engine_destroy(struct dma_engine *engine)
{
	if (!engine)
		return;
	sim_cancel(&engine->write_event);
	if (engine->adapter)
		dma_adapter_destroy(engine->adapter);
	for (unsigned i = 0; i < DIRECTIONS && !engine->adapter; i++) {
		sim_cancel(&engine->channels[i].event);
		free(engine->channels[i].pieces);
	}
	block_fini(&engine->block);
	free(engine);
}

const struct dma_counters *dma_counters(const struct dma_engine *engine)
{
	return &engine->count;
}
