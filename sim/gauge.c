/* SPDX-License-Identifier: Apache-2.0 */
/* gauge: see gauge.h. */
#include "sim/gauge.h"

#include <assert.h>

const char *gauge_kind_name(enum gauge_kind kind)
{
#define KIND_NAME(kind, meaning) #kind,
	static const char *const names[] = {GAUGE_KINDS(KIND_NAME)};

	assert((unsigned)kind < GAUGE_KIND_COUNT);
	return names[kind];
}

const struct gauge *gauges_read(struct block *block)
{
	if (block->gauges && block->type->settle)
		block->type->settle(block);
	return block->gauges;
}
