/* SPDX-License-Identifier: Apache-2.0 */
/* flow_driver_describe: see flow_driver.h. */
#include <assert.h>
#include <stdlib.h>

#include "fabric/port_params.h"
#include "traffic/workload/flow_driver_state.h"

/* Returns the time of a flow in an otherwise idle fabric. `qp` is the queue pair at the source. */
static sim_time time_alone(const struct backend *backend, const struct backend_qp *qp,
			   const struct workload_flow *flow, const struct ideal_route *route)
{
	const struct backend_ops *ops = backend->ops;
	const struct port *port = ops->port(backend, flow->source);
	enum workload_operation operation = (enum workload_operation)flow->operation;
	uint64_t bytes = flow->bytes; /* in the stream */
	struct packet segment;

	if (ops->segment && ops->segment(qp, operation, &bytes, &segment))
		return ideal_tcp_time(backend->ideal, &segment, route, operation, bytes);
	return ideal_time(backend->ideal, (uint32_t)port_params(port)->mtu, ops->path(qp), route,
			  operation, flow->bytes);
}

/* A pair of queue pairs, and the flow of it that was described last. */
struct known {
	struct ideal_route route;
	uint32_t last; /* its number + 1; 0: none */
};

/* Returns the time of a flow alone. Flows of a pair are often alike. */
static sim_time ideal_of(const struct flow_driver *driver, uint32_t number,
			 const struct known *known)
{
	const struct workload_flow *flow = &driver->workload->flows[number];

	if (known->last) {
		uint32_t before = known->last - 1;
		const struct workload_flow *last = &driver->workload->flows[before];

		if (last->bytes == flow->bytes && last->operation == flow->operation)
			return driver->records[before].ideal;
	}
	return time_alone(driver->backend, driver->states[number].pair->sender, flow,
			  &known->route);
}

static void describe(struct flow_driver *driver, uint32_t number, struct known *pairs)
{
	const struct workload_flow *flow = &driver->workload->flows[number];
	const struct flow_state *state = &driver->states[number];

	driver->records[number] = (struct flow_record){
		.flow = number,
		.source = flow->source,
		.destination = flow->destination,
		.operation = flow->operation,
		.queue_pair = flow->queue_pair,
		.bytes = flow->bytes,
		.incast = flow->incast,
		.part = flow->part,
		.status = FLOW_not_started,
	};
	if (workload_is_barrier(flow))
		return;
	struct known *known = &pairs[state->pair - driver->pairs.list];

	driver->records[number].hops = known->route.hops;
	driver->records[number].ideal = ideal_of(driver, number, known);
	known->last = number + 1;
}

void flow_driver_describe(struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;
	struct known *pairs = calloc(driver->pairs.count + 1, sizeof(pairs[0]));

	assert(pairs);
	for (uint32_t i = 0; i < driver->pairs.count; i++) {
		const struct workload_flow *flow = &workload->flows[driver->pairs.list[i].first];

		pairs[i].route = driver->route(driver->context, flow->source, flow->destination);
	}
	for (uint32_t i = 0; i < workload->count; i++)
		describe(driver, i, pairs);
	free(pairs);
}
