/* SPDX-License-Identifier: Apache-2.0 */
/* read_recoveries: see read_recoveries.h. */
#include "hca/transport/read_recoveries.h"

#include <assert.h>
#include <stdlib.h>

void read_recoveries_init(struct read_recoveries *recoveries, uint64_t limit)
{
	*recoveries = (struct read_recoveries){.limit = (uint32_t)limit};
	if (!limit)
		return;
	recoveries->ends = calloc(limit, sizeof(recoveries->ends[0]));
	assert(recoveries->ends);
}

void read_recoveries_fini(struct read_recoveries *recoveries)
{
	free(recoveries->ends);
}

/* All recoveries have the same duration, so the oldest one ends first. */
sim_time read_recoveries_begin(struct read_recoveries *recoveries, sim_time now, sim_time duration)
{
	sim_time *oldest, begin;

	if (!recoveries->limit)
		return now;
	oldest = &recoveries->ends[recoveries->oldest];
	begin = *oldest > now ? *oldest : now;
	*oldest = begin + duration;
	recoveries->oldest = (recoveries->oldest + 1) % recoveries->limit;
	return begin;
}
