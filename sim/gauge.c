/* SPDX-License-Identifier: Apache-2.0 */
/* gauge: see gauge.h. */
#include "sim/gauge.h"

#include <assert.h>

#include "sim/engine.h"

const char *gauge_kind_name(enum gauge_kind kind)
{
#define KIND_NAME(kind, meaning) #kind,
	static const char *const names[] = {GAUGE_KINDS(KIND_NAME)};

	assert((unsigned)kind < GAUGE_KIND_COUNT);
	return names[kind];
}

const struct gauge *gauges_read(struct block *block)
{
	/* sim_share() brought those of another process up to date */
	if (block->gauges && block->type->settle && !block->sim->remote)
		block->type->settle(block);
	return block->gauges;
}
