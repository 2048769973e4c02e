/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_adapter: see dma_adapter.h. The file follows a transfer: to the module, its pieces to the
 * translation unit and to PCIe, its end.
 */
#include "hca/work/dma_adapter.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/module/module_host.h"

enum { DIRECTIONS = DMA_SCATTER + 1 };

struct ending {
	struct event event;
	struct dma_adapter *adapter;
	struct dma *dma; /* transfer that ends at that time */
};

struct dma_adapter {
	struct dma_engine *engine;
	struct block *block; /* block of the engine */
	const struct dma_params *params;
	struct dma_counters *count;
	struct dma_gauges *gauge;
	struct translation_unit *unit;
	struct pcie *pcie;
	const struct dma_module *table;
	struct module_host host;
	struct event grant; /* grant of a write */
	struct ending endings[DIRECTIONS];
};

void dma_adapter_start(struct dma_adapter *adapter, struct dma *dma)
{
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->start(adapter->host.module, dma, ahead);
	module_host_leave(&adapter->host);
}

/* ---- translation ---- */

static void piece_translated(struct translation *translation)
{
	struct dma_piece *piece = container_of(translation, struct dma_piece, translation);
	struct dma_adapter *adapter = piece->adapter;
	sim_time ahead = module_host_enter(&adapter->host);

	piece->status = translation->status == TRANSLATION_OK ? DMA_OK : DMA_PROTECTION;
	piece->dma->translated_at = sim_now(adapter->block->sim);
	adapter->table->translated(adapter->host.module, piece, ahead);
	module_host_leave(&adapter->host);
}

static void start_translation(struct event *event)
{
	struct dma_piece *piece = container_of(event, struct dma_piece, event);
	const struct dma *dma = piece->dma;
	const struct data_segment *segment = &dma->segments[piece->segment];
	struct translation *translation = &piece->translation;

	translation->key = segment->key;
	translation->pd = dma->pd;
	translation->access = dma->access;
	translation->length = piece->length;
	translation->address = segment->address + piece->segment_offset;
	translation->qpn = dma->qpn;
	translation->tag = dma->tag;
	translation->done = piece_translated;
	dma_trace_piece(piece->adapter->block, dma, translation->address, piece->length);
	translation_start(piece->adapter->unit, translation);
}

static void service_translate(struct dma_adapter *adapter, struct dma_piece *piece, sim_time at)
{
	const struct dma *dma = piece->dma;

	if (piece->segment >= dma->segment_count ||
	    piece->segment_offset > dma->segments[piece->segment].length ||
	    piece->length > dma->segments[piece->segment].length - piece->segment_offset ||
	    piece->byte_offset > dma->length || piece->length > dma->length - piece->byte_offset)
		module_broke(adapter->block->name, "requests a piece outside of its transfer");
	piece->adapter = adapter;
	event_init(&piece->event, adapter->block, start_translation);
	if (module_host_is_now(&adapter->host, at))
		start_translation(&piece->event);
	else
		module_host_schedule(&adapter->host, &piece->event, adapter->block,
				     start_translation, at);
}

/* ---- PCIe ---- */

static void piece_moved(struct dma_piece *piece, bool failed)
{
	struct dma_adapter *adapter = piece->adapter;
	sim_time ahead = module_host_enter(&adapter->host);

	piece->status = failed ? DMA_FAULT : DMA_OK;
	adapter->table->moved(adapter->host.module, piece, ahead);
	module_host_leave(&adapter->host);
}

static void piece_read(struct pcie_read *read)
{
	piece_moved(container_of(read, struct dma_piece, read), read->failed);
}

static void piece_written(struct pcie_write *write)
{
	piece_moved(container_of(write, struct dma_piece, write), write->failed);
}

static void gather(struct dma_piece *piece)
{
	const struct translation *translation = &piece->translation;
	uint8_t *bytes = piece->dma->bytes;

	piece->read = (struct pcie_read){
		.memory = translation->memory,
		.address = translation->host_address,
		.length = translation->length,
		.tag = piece->dma->tag,
		.bytes = bytes ? bytes + piece->byte_offset : NULL,
		.done = piece_read,
		.relaxed = true,
	};
	pcie_read(piece->adapter->pcie, &piece->read);
}

static void scatter(struct dma_piece *piece)
{
	const struct translation *translation = &piece->translation;
	const uint8_t *bytes = piece->dma->bytes;
	struct dma *dma = piece->dma;
	bool last = piece->byte_offset + piece->length == dma->length;

	piece->write = (struct pcie_write){
		.memory = translation->memory,
		.address = translation->host_address,
		.length = translation->length,
		.tag = dma->tag,
		.bytes = bytes ? bytes + piece->byte_offset : NULL,
		.done = piece_written,
		.relaxed = true,
	};
	pcie_write(piece->adapter->pcie, &piece->write);
	if (last && dma->posted)
		dma->posted(dma);
}

static void start_move(struct event *event)
{
	struct dma_piece *piece = container_of(event, struct dma_piece, event);

	if (piece->dma->direction == DMA_GATHER)
		gather(piece);
	else
		scatter(piece);
}

static void service_move(struct dma_adapter *adapter, struct dma_piece *piece, sim_time at)
{
	if (piece->status != DMA_OK)
		module_broke(adapter->block->name, "moves bytes without a successful translation");
	if (module_host_is_now(&adapter->host, at))
		start_move(&piece->event);
	else
		module_host_schedule(&adapter->host, &piece->event, adapter->block, start_move, at);
}

static sim_time service_write_grant(struct dma_adapter *adapter)
{
	if (!adapter->host.calls)
		module_broke(adapter->block->name, "requests a grant outside of a call");
	return dma_write_grant(adapter->engine);
}

static void take_grant(struct event *event)
{
	struct dma_adapter *adapter = container_of(event, struct dma_adapter, grant);
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->grant(adapter->host.module, ahead);
	module_host_leave(&adapter->host);
}

static void service_grant_at(struct dma_adapter *adapter, sim_time at)
{
	if (event_pending(&adapter->grant))
		module_broke(adapter->block->name,
			     "requests a second call of grant() while one is outstanding");
	module_host_schedule(&adapter->host, &adapter->grant, adapter->block, take_grant, at);
}

/* ---- the end ---- */

static void end(struct event *event)
{
	struct ending *ending = container_of(event, struct ending, event);
	struct dma_adapter *adapter = ending->adapter;
	struct dma *dma = ending->dma;
	sim_time ahead = module_host_enter(&adapter->host);

	ending->dma = NULL;
	dma_count_end(adapter->block, adapter->count, dma);
	adapter->table->finished(adapter->host.module, dma, ahead);
	module_host_leave(&adapter->host);
	if (!dma->length && dma->posted && dma->status == DMA_OK)
		dma->posted(dma);
	dma->done(dma);
}

static void service_done(struct dma_adapter *adapter, struct dma *dma, sim_time at)
{
	struct ending *ending = &adapter->endings[dma->direction];

	if (ending->dma)
		module_broke(adapter->block->name,
			     "ends a transfer before the previous one is finished");
	ending->dma = dma;
	module_host_schedule(&adapter->host, &ending->event, adapter->block, end, at);
}

static const struct dma_services services = {
	.translate = service_translate,
	.move = service_move,
	.write_grant = service_write_grant,
	.grant_at = service_grant_at,
	.done = service_done,
};

/* ---- creation and destruction ---- */

static void *create_module(void *argument)
{
	struct dma_adapter *adapter = argument;
	const struct dma_setup setup = {
		.name = adapter->block->name,
		.params = adapter->params,
		.services = &services,
		.adapter = adapter,
		.counters = adapter->count,
		.gauges = adapter->gauge,
	};

	return adapter->table->create(&setup);
}

struct dma_adapter *dma_adapter_create(struct dma_engine *engine, struct block *block,
				       const struct dma_params *params, struct dma_counters *count,
				       struct dma_gauges *gauge, struct translation_unit *unit,
				       struct pcie *pcie)
{
	struct dma_adapter *adapter = calloc(1, sizeof(*adapter));

	assert(adapter);
	*adapter = (struct dma_adapter){
		.engine = engine,
		.block = block,
		.params = params,
		.count = count,
		.gauge = gauge,
		.unit = unit,
		.pcie = pcie,
	};
	for (unsigned i = 0; i < DIRECTIONS; i++) {
		adapter->endings[i].adapter = adapter;
		event_init(&adapter->endings[i].event, block, end);
	}
	event_init(&adapter->grant, block, take_grant);
	adapter->table =
		module_open(MODULE_DMA, sizeof(*adapter->table), block->name, params->module.text);
	module_host_fill(&adapter->host, block, false, create_module, adapter,
			 adapter->table->destroy, adapter->table->trace);
	return adapter;
}

void dma_adapter_destroy(struct dma_adapter *adapter)
{
	for (unsigned i = 0; i < DIRECTIONS; i++)
		sim_cancel(&adapter->endings[i].event);
	sim_cancel(&adapter->grant);
	module_host_clear(&adapter->host);
	free(adapter);
}
