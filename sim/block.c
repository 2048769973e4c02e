/* SPDX-License-Identifier: Apache-2.0 */
/* block: the run's list of blocks (block.h), in order of creation. A block's id is its place in
 * that order, and also its rank among the origins of events. */
#include "sim/block.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/audit.h"
#include "sim/engine.h"

#define BLOCKS_MAX (UINT32_C(1) << (64 - EVENT_ORIGIN_SHIFT))

void block_init(struct block *block, struct sim *sim, const struct block_type *type,
		const char *name, const void *params, const void *counts)
{
	struct sim *root = sim->root;

	assert(type && name && root->block_count + 1 < BLOCKS_MAX);
	*block = (struct block){
		.sim = sim,
		.type = type,
		.name = strdup(name),
		.params = params,
		.counts = counts,
		.previous = root->last_block,
		.id = ++root->block_count,
	};
	assert(block->name);
	block->next_order = (uint64_t)block->id << EVENT_ORIGIN_SHIFT;
	if (root->last_block)
		root->last_block->next = block;
	else
		root->first_block = block;
	root->last_block = block;
	if (sim->trace)
		trace_attach(sim->trace, block);
}

void block_gauges(struct block *block, struct gauge *gauges)
{
	assert(block->type->gauges);
	block->gauges = gauges;
}

void block_fini(struct block *block)
{
	struct sim *root = block->sim->root;

	if (block->previous)
		block->previous->next = block->next;
	else
		root->first_block = block->next;
	if (block->next)
		block->next->previous = block->previous;
	else
		root->last_block = block->previous;
	free((char *)block->name);
	*block = (struct block){.sim = NULL};
}

void block_equal(struct block *block, FILE *out, const char *what, uint64_t one, uint64_t other)
{
	if (one == other)
		return;
	block->violations++;
	fprintf(out, "%s: %s: %" PRIu64 " and %" PRIu64 "\n", block->name, what, one, other);
}

unsigned blocks_check(struct sim *sim, FILE *out)
{
	unsigned violations = 0;

	for (struct block *block = sim->first_block; block; block = block->next) {
		block->violations = 0;
		if (block->type->check)
			block->type->check(block, out);
		audit_block(block, out);
		violations += block->violations;
	}
	return violations;
}

struct block *sim_blocks(const struct sim *sim)
{
	return sim->first_block;
}
