/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell_decoder: the built-in doorbell decoder. It collects the stores of a WQE, and keeps
 * decoded commands in a queue until they take effect.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/work/doorbell_module.h"

#define STORE_BYTES 8

struct decoded {
	sim_time due, stored_at, since;
	uint32_t length;
	bool is_arm;
	uint8_t bytes[WQE_BYTES_MAX];
};

struct decoder {
	struct doorbell_setup setup;
	const struct doorbell_params *params;
	sim_time last_due;
	/* a WQE that arrives in several stores */
	uint8_t gathered[WQE_BYTES_MAX];
	uint32_t gathered_bytes, wanted_bytes;
	uint64_t next_offset;
	sim_time gathered_at; /* time of the first collected store */
	uint32_t first, queued;
	bool stalled; /* the arrived store waits for the queue */
	struct decoded queue[];
};

static bool is_full(const struct decoder *decoder)
{
	return decoder->queued == decoder->params->queue;
}

static void enqueue(struct decoder *decoder, bool is_arm, sim_time stored_at, const uint8_t *bytes,
		    uint32_t length, sim_time now)
{
	const struct doorbell_params *params = decoder->params;
	struct doorbell_gauges *gauge = decoder->setup.gauges;
	sim_time due = now + params->latency;
	sim_time taken = length / WQE_BLOCK_BYTES * params->line_interval;
	struct decoded *decoded =
		&decoder->queue[(decoder->first + decoder->queued) % params->queue];

	assert(!is_full(decoder));
	decoded->is_arm = is_arm;
	decoded->stored_at = stored_at;
	decoded->length = length;
	memcpy(decoded->bytes, bytes, length);
	if (taken < params->interval)
		taken = params->interval;
	if (due < decoder->last_due + taken)
		due = decoder->last_due + taken;
	decoder->last_due = due;
	decoded->due = due;
	gauge_serve(&gauge->decoder, due, taken);
	decoded->since = now;
	gauge_enter(&gauge->queue, now, 1);
	if (!decoder->queued++)
		decoder->setup.services->due_at(decoder->setup.doorbell, due);
}

static void give_up_gathering(struct decoder *decoder, sim_time now)
{
	if (!decoder->wanted_bytes)
		return;
	decoder->wanted_bytes = 0;
	decoder->setup.counters->doorbells++;
	enqueue(decoder, false, decoder->gathered_at, decoder->gathered, STORE_BYTES, now);
}

static void gather(struct decoder *decoder, const struct doorbell_store *store, sim_time now)
{
	memcpy(decoder->gathered + decoder->gathered_bytes, store->bytes, WQE_BLOCK_BYTES);
	decoder->gathered_bytes += WQE_BLOCK_BYTES;
	decoder->next_offset = store->offset + WQE_BLOCK_BYTES;
	if (decoder->gathered_bytes < decoder->wanted_bytes)
		return;
	decoder->wanted_bytes = 0;
	decoder->setup.counters->blueflame++;
	enqueue(decoder, false, decoder->gathered_at, decoder->gathered, decoder->gathered_bytes,
		now);
}

/* Records that a store waits for the queue. Counts each store once. */
static bool stall(struct decoder *decoder)
{
	decoder->setup.counters->stalls += !decoder->stalled;
	decoder->stalled = true;
	return false;
}

static bool goes_on(const struct decoder *decoder, const struct doorbell_store *store)
{
	return decoder->wanted_bytes && store->offset == decoder->next_offset &&
	       store->length == WQE_BLOCK_BYTES;
}

static void begin(struct decoder *decoder, const struct doorbell_store *store, sim_time now)
{
	struct doorbell_counters *count = decoder->setup.counters;
	uint32_t within = (uint32_t)(store->offset % UAR_PAGE_BYTES);
	bool starts = within >= UAR_BLUEFLAME && within < UAR_BLUEFLAME_END &&
		      within % UAR_BLUEFLAME_BUFFER == 0;

	if (within == UAR_CQ_ARM && store->length == STORE_BYTES) {
		count->arms++;
		enqueue(decoder, true, store->stored_at, store->bytes, STORE_BYTES, now);
	} else if (starts && store->length == STORE_BYTES) {
		count->doorbells++;
		enqueue(decoder, false, store->stored_at, store->bytes, STORE_BYTES, now);
	} else if (starts && store->length == WQE_BLOCK_BYTES && wqe_blocks(store->bytes)) {
		decoder->gathered_bytes = 0;
		decoder->gathered_at = store->stored_at;
		decoder->wanted_bytes = wqe_blocks(store->bytes) * WQE_BLOCK_BYTES;
		gather(decoder, store, now);
	} else {
		count->unknown++;
	}
}

static bool decoder_store(void *module, const struct doorbell_store *store, sim_time now)
{
	struct decoder *decoder = module;

	if (goes_on(decoder, store)) {
		if (is_full(decoder) &&
		    decoder->gathered_bytes + WQE_BLOCK_BYTES >= decoder->wanted_bytes)
			return stall(decoder);
		decoder->stalled = false;
		gather(decoder, store, now);
		return true;
	}
	if (is_full(decoder))
		return stall(decoder);
	give_up_gathering(decoder, now);
	if (is_full(decoder))
		return stall(decoder);
	decoder->stalled = false;
	begin(decoder, store, now);
	return true;
}

static void decoder_due(void *module, sim_time now)
{
	struct decoder *decoder = module;
	const struct doorbell_services *services = decoder->setup.services;
	struct decoded *decoded = &decoder->queue[decoder->first];

	decoder->first = (decoder->first + 1) % (uint32_t)decoder->params->queue;
	decoder->queued--;
	gauge_left(&decoder->setup.gauges->queue, decoded->since, now, 1);
	if (decoder->queued)
		services->due_at(decoder->setup.doorbell, decoder->queue[decoder->first].due);
	services->execute(decoder->setup.doorbell, &(struct doorbell_command){
							   .is_arm = decoded->is_arm,
							   .length = decoded->length,
							   .bytes = decoded->bytes,
							   .stored_at = decoded->stored_at,
						   });
	services->resume(decoder->setup.doorbell);
}

static void *decoder_create(const struct doorbell_setup *setup)
{
	struct decoder *decoder =
		calloc(1, sizeof(*decoder) + setup->params->queue * sizeof(decoder->queue[0]));

	assert(decoder);
	decoder->setup = *setup;
	decoder->params = setup->params;
	return decoder;
}

static void decoder_destroy(void *module)
{
	free(module);
}

const struct doorbell_module doorbell_decoder = {
	.head = {MODULE_VERSION_DOORBELL, sizeof(struct doorbell_module), "builtin_doorbell",
		 "the built-in doorbell decoder"},
	.create = decoder_create,
	.destroy = decoder_destroy,
	.store = decoder_store,
	.due = decoder_due,
};
