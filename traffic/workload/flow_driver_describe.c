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
		return ideal_tcp_time(backend->ideal, &segment, route, bytes);
	return ideal_time(backend->ideal, (uint32_t)port_params(port)->mtu, ops->path(qp), route,
			  operation, flow->bytes);
}

static void describe(struct flow_driver *driver, uint32_t number, const struct ideal_route *routes)
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
	const struct ideal_route *route = &routes[state->pair - driver->pairs.list];

	driver->records[number].hops = route->hops;
	driver->records[number].ideal =
		time_alone(driver->backend, state->pair->sender, flow, route);
}

void flow_driver_describe(struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;
	struct ideal_route *routes = calloc(driver->pairs.count + 1, sizeof(routes[0]));

	assert(routes);
	for (uint32_t i = 0; i < driver->pairs.count; i++) {
		const struct workload_flow *flow = &workload->flows[driver->pairs.list[i].first];

		routes[i] = driver->route(driver->context, flow->source, flow->destination);
	}
	for (uint32_t i = 0; i < workload->count; i++)
		describe(driver, i, routes);
	free(routes);
}
