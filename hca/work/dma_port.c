/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_port: see dma_port.h. Reads top-down as a transfer goes: to the module; its pieces to the translation unit and to
 * PCIe; its end.
 */
#include "hca/work/dma_port.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/module/module_seat.h"

enum { DIRECTIONS = DMA_SCATTER + 1 };

struct ending {
	struct event event;
	struct dma_port *port;
	struct dma *dma; /* that ends then */
};

struct dma_port {
	struct dma_engine *engine;
	struct block *block; /* the engine's */
	const struct dma_params *params;
	struct dma_counters *count;
	struct dma_gauges *gauge;
	struct translation_unit *unit;
	struct pcie *pcie;
	const struct dma_module *table;
	struct module_seat seat;
	struct event turn; /* of writing */
	struct ending endings[DIRECTIONS];
};

void dma_port_start(struct dma_port *port, struct dma *dma)
{
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->start(port->seat.module, dma, ahead);
	module_seat_leave(&port->seat);
}

/* ---- translation ---- */

static void piece_translated(struct translation *translation)
{
	struct dma_piece *piece = container_of(translation, struct dma_piece, translation);
	struct dma_port *port = piece->port;
	sim_time ahead = module_seat_enter(&port->seat);

	piece->status = translation->status == TRANSLATION_OK ? DMA_OK : DMA_PROTECTION;
	piece->dma->translated_at = sim_now(port->block->sim);
	port->table->translated(port->seat.module, piece, ahead);
	module_seat_leave(&port->seat);
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
	dma_trace_piece(piece->port->block, dma, translation->address, piece->length);
	translate(piece->port->unit, translation);
}

static void service_translate(struct dma_port *port, struct dma_piece *piece, sim_time at)
{
	const struct dma *dma = piece->dma;

	if (piece->segment >= dma->segment_count ||
	    piece->segment_offset > dma->segments[piece->segment].length ||
	    piece->length > dma->segments[piece->segment].length - piece->segment_offset ||
	    piece->byte_offset > dma->length || piece->length > dma->length - piece->byte_offset)
		module_broke(port->block->name, "asks for a piece that is not of its transfer");
	piece->port = port;
	event_init(&piece->event, port->block, start_translation);
	if (module_seat_is_now(&port->seat, at))
		start_translation(&piece->event);
	else
		module_seat_schedule(&port->seat, &piece->event, port->block, start_translation,
				     at);
}

/* ---- PCIe ---- */

static void piece_moved(struct dma_piece *piece, bool failed)
{
	struct dma_port *port = piece->port;
	sim_time ahead = module_seat_enter(&port->seat);

	piece->status = failed ? DMA_FAULT : DMA_OK;
	port->table->moved(port->seat.module, piece, ahead);
	module_seat_leave(&port->seat);
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
	pcie_read(piece->port->pcie, &piece->read);
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
	pcie_write(piece->port->pcie, &piece->write);
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

static void service_move(struct dma_port *port, struct dma_piece *piece, sim_time at)
{
	if (piece->status != DMA_OK)
		module_broke(port->block->name, "moves bytes that no key allows");
	if (module_seat_is_now(&port->seat, at))
		start_move(&piece->event);
	else
		module_seat_schedule(&port->seat, &piece->event, port->block, start_move, at);
}

static sim_time service_write_turn(struct dma_port *port)
{
	if (!port->seat.calls)
		module_broke(port->block->name, "asks for a turn outside of a call");
	return dma_write_turn(port->engine);
}

static void take_turn(struct event *event)
{
	struct dma_port *port = container_of(event, struct dma_port, turn);
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->turn(port->seat.module, ahead);
	module_seat_leave(&port->seat);
}

static void service_turn_at(struct dma_port *port, sim_time at)
{
	if (event_pending(&port->turn))
		module_broke(port->block->name, "waits for two turns at once");
	module_seat_schedule(&port->seat, &port->turn, port->block, take_turn, at);
}

/* ---- the end ---- */

static void end(struct event *event)
{
	struct ending *ending = container_of(event, struct ending, event);
	struct dma_port *port = ending->port;
	struct dma *dma = ending->dma;
	sim_time ahead = module_seat_enter(&port->seat);

	ending->dma = NULL;
	dma_count_end(port->block, port->count, dma);
	port->table->finished(port->seat.module, dma, ahead);
	module_seat_leave(&port->seat);
	if (!dma->length && dma->posted && dma->status == DMA_OK)
		dma->posted(dma);
	dma->done(dma);
}

static void service_done(struct dma_port *port, struct dma *dma, sim_time at)
{
	struct ending *ending = &port->endings[dma->direction];

	if (ending->dma)
		module_broke(port->block->name,
			     "ends a transfer before the one before it is finished");
	ending->dma = dma;
	module_seat_schedule(&port->seat, &ending->event, port->block, end, at);
}

static const struct dma_services services = {
	.translate = service_translate,
	.move = service_move,
	.write_turn = service_write_turn,
	.turn_at = service_turn_at,
	.done = service_done,
};

/* ---- life ---- */

static void *create_module(void *argument)
{
	struct dma_port *port = argument;
	const struct dma_setup setup = {
		.name = port->block->name,
		.params = port->params,
		.services = &services,
		.port = port,
		.counters = port->count,
		.gauges = port->gauge,
	};

	return port->table->create(&setup);
}

struct dma_port *dma_port_create(struct dma_engine *engine, struct block *block,
				 const struct dma_params *params, struct dma_counters *count,
				 struct dma_gauges *gauge, struct translation_unit *unit,
				 struct pcie *pcie)
{
	struct dma_port *port = calloc(1, sizeof(*port));

	assert(port);
	*port = (struct dma_port){
		.engine = engine,
		.block = block,
		.params = params,
		.count = count,
		.gauge = gauge,
		.unit = unit,
		.pcie = pcie,
	};
	for (unsigned i = 0; i < DIRECTIONS; i++) {
		port->endings[i].port = port;
		event_init(&port->endings[i].event, block, end);
	}
	event_init(&port->turn, block, take_turn);
	port->table =
		module_open(MODULE_DMA, sizeof(*port->table), block->name, params->module.text);
	module_seat_fill(&port->seat, block, create_module, port, port->table->destroy,
			 port->table->trace);
	return port;
}

void dma_port_destroy(struct dma_port *port)
{
	for (unsigned i = 0; i < DIRECTIONS; i++)
		sim_cancel(&port->endings[i].event);
	sim_cancel(&port->turn);
	module_seat_clear(&port->seat);
	free(port);
}
