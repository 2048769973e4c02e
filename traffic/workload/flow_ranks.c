/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_ranks: see flow_ranks.h. The rank of a column's host adds its value to the zeros of the
 * other ranks. Flows are treated in parts of FLOWS, so that no copy of all records is needed.
 */
#include "traffic/workload/flow_ranks.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/parallel.h"
#include "traffic/workload/flow_driver_state.h"

#define FLOWS   4096u
#define COLUMNS 6u

/* The host at which the value of a column happens. */
enum end { AT_HOME, AT_SOURCE, AT_ARRIVAL };

/* X(column, type, end): the dynamic members of struct flow_record */
#define BEGUN_COLUMNS(X)               \
	X(status, uint32_t, AT_HOME)   \
	X(ready, sim_time, AT_HOME)    \
	X(finished, sim_time, AT_HOME) \
	X(arrived, sim_time, AT_ARRIVAL)
#define REST_COLUMNS(X)                     \
	X(started, sim_time, AT_HOME)       \
	X(packets, uint64_t, AT_HOME)       \
	X(retransmitted, uint64_t, AT_HOME) \
	X(marked, uint32_t, AT_ARRIVAL)     \
	X(cnps, uint32_t, AT_SOURCE)        \
	X(paused, sim_time, AT_SOURCE)

static bool is_here(const struct flow_driver *driver, const struct workload_flow *flow,
		    enum end end)
{
	uint32_t host = end == AT_HOME                       ? workload_home(flow)
			: end == AT_SOURCE                   ? flow->source
			: flow->operation == WORKLOAD_ATOMIC ? flow->source
							     : flow->destination;

	return !sim_is_remote(port_sim(driver->ops->port(driver->backend, host)));
}

static void put(const struct flow_driver *driver, uint32_t number, enum flow_ranks_columns columns,
		uint64_t values[COLUMNS])
{
	const struct workload_flow *flow = &driver->workload->flows[number];
	const struct flow_record *record = &driver->records[number];

#define PUT(column, type, end) *values++ = is_here(driver, flow, end) ? record->column : 0;
	if (columns == FLOW_RANKS_BEGUN) {
		BEGUN_COLUMNS(PUT)
	} else {
		REST_COLUMNS(PUT)
	}
#undef PUT
}

static void get(struct flow_record *record, enum flow_ranks_columns columns,
		const uint64_t values[COLUMNS])
{
#define GET(column, type, end) record->column = (type)*values++;
	if (columns == FLOW_RANKS_BEGUN) {
		BEGUN_COLUMNS(GET)
	} else {
		REST_COLUMNS(GET)
	}
#undef GET
}

void flow_ranks_share(struct flow_driver *driver, enum flow_ranks_columns columns)
{
	uint64_t(*values)[COLUMNS];
	uint32_t count = driver->workload->count;

	if (!sim_ranks(driver->block.sim))
		return;
	values = calloc(FLOWS, sizeof(values[0]));
	assert(values);
	for (uint32_t from = 0; from < count; from += FLOWS) {
		uint32_t part = count - from < FLOWS ? count - from : FLOWS;

		for (uint32_t i = 0; i < part; i++)
			put(driver, from + i, columns, values[i]);
		sim_sum(driver->block.sim, values[0], (size_t)part * COLUMNS);
		for (uint32_t i = 0; i < part; i++)
			get(&driver->records[from + i], columns, values[i]);
	}
	free(values);
}
