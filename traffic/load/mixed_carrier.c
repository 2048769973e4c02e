/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_carrier: see mixed_carrier.h. Queue pairs of either carrier are held by one more, which knows whose they are. */
#include "traffic/load/mixed_carrier.h"

#include <assert.h>
#include <stdlib.h>

#include "traffic/workload/endpoint_carrier.h"

struct mixed_qp {
	struct carrier *of;
	struct carrier_qp *qp;
	struct mixed_qp *peer;
};

struct mixed_pair {
	struct mixed_qp ends[2]; /* of the source, of the destination */
	struct mixed_pair *next;
};

struct mixed_carrier {
	struct carrier carrier;
	struct carrier *detailed, *endpoints;
	struct endpoint_hca *const *hcas;
	struct mixed_pair *pairs;
	bool started;
};

static struct mixed_carrier *of(const struct carrier *carrier)
{
	return container_of(carrier, struct mixed_carrier, carrier);
}

static struct mixed_qp *mixed(const struct carrier_qp *qp)
{
	return (struct mixed_qp *)(void *)qp;
}

static bool is_of_both(const struct mixed_qp *qp)
{
	return qp->of != qp->peer->of;
}

/* ---- messages ---- */

/* To the far end that takes the other's place there. */
static void post_detailed(const struct mixed_qp *requester, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes)
{
	const struct carrier_ops *ops = requester->of->ops;

	ops->post(requester->of,
		  operation == WORKLOAD_READ ? ops->peer(requester->qp) : requester->qp, flow,
		  operation, bytes);
}

static void post_endpoint(const struct mixed_qp *requester, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes)
{
	const struct carrier_qp *there = requester->peer->qp;
	struct load_place place = load_carrier_place(there);

	load_carrier_tell(there, flow, operation, bytes);
	endpoint_carrier_ask(requester->of, requester->qp, flow, operation, bytes, place.address,
			     place.key);
}

static void post(struct carrier *carrier, struct carrier_qp *qp, uint32_t flow,
		 enum workload_operation operation, uint64_t bytes)
{
	const struct mixed_qp *source = mixed(qp);
	const struct mixed_qp *requester = operation == WORKLOAD_READ ? source->peer : source;

	if (!is_of_both(source))
		source->of->ops->post(source->of, source->qp, flow, operation, bytes);
	else if (requester->of == of(carrier)->detailed)
		post_detailed(requester, flow, operation, bytes);
	else
		post_endpoint(requester, flow, operation, bytes);
}

/* ---- queue pairs ---- */

static struct carrier *of_host(const struct carrier *carrier, uint32_t host)
{
	return of(carrier)->hcas[host] ? of(carrier)->endpoints : of(carrier)->detailed;
}

static struct port *port(const struct carrier *carrier, uint32_t host)
{
	struct carrier *its = of_host(carrier, host);

	return its->ops->port(its, host);
}

static void join_both(struct carrier *carrier, const struct carrier_pair *pair,
		      struct mixed_pair *joined)
{
	bool to_detailed = of(carrier)->hcas[pair->source];
	uint32_t far = to_detailed ? pair->source : pair->destination;
	uint32_t number = endpoint_next_qp_number(of(carrier)->hcas[far]);
	uint16_t udp_source_port;
	struct arrival_book *arrivals;

	joined->ends[to_detailed].qp = load_carrier_join_far(of(carrier)->detailed, pair, number,
							     &udp_source_port, &arrivals);
	joined->ends[!to_detailed].qp =
		endpoint_carrier_open(of(carrier)->endpoints, pair, udp_source_port, arrivals);
}

/* The detailed end's queue pair is there. */
static void connect(const struct mixed_pair *pair, const struct carrier *detailed)
{
	bool to_detailed = pair->ends[1].of == detailed;

	endpoint_carrier_connect(pair->ends[!to_detailed].qp,
				 load_carrier_place(pair->ends[to_detailed].qp).number);
}

static struct carrier_qp *join(struct carrier *carrier, const struct carrier_pair *pair)
{
	struct mixed_pair *joined = calloc(1, sizeof(*joined));
	struct mixed_qp *ends = joined->ends;

	assert(joined);
	joined->next = of(carrier)->pairs;
	of(carrier)->pairs = joined;
	ends[0].of = of_host(carrier, pair->source);
	ends[1].of = of_host(carrier, pair->destination);
	ends[0].peer = &ends[1];
	ends[1].peer = &ends[0];
	if (is_of_both(ends)) {
		join_both(carrier, pair, joined);
		if (of(carrier)->started)
			connect(joined, of(carrier)->detailed);
	} else {
		ends[0].qp = ends[0].of->ops->join(ends[0].of, pair);
		ends[1].qp = ends[0].of->ops->peer(ends[0].qp);
	}
	return (struct carrier_qp *)(void *)ends;
}

static void plan(struct carrier *carrier, struct carrier_qp *qp, uint64_t message_bytes,
		 uint64_t messages, enum workload_operation operation)
{
	struct carrier *detailed = of(carrier)->detailed;
	const struct mixed_qp *source = mixed(qp);

	if (source->of == detailed)
		detailed->ops->plan(detailed, source->qp, message_bytes, messages, operation);
	else if (source->peer->of == detailed)
		detailed->ops->plan(detailed, detailed->ops->peer(source->peer->qp), message_bytes,
				    messages, operation);
}

static void plan_any(struct carrier *carrier, uint64_t bytes)
{
	struct carrier *detailed = of(carrier)->detailed;

	detailed->ops->plan_any(detailed, bytes);
}

static void start(struct carrier *carrier)
{
	struct carrier *detailed = of(carrier)->detailed, *endpoints = of(carrier)->endpoints;

	detailed->user = endpoints->user = carrier->user;
	detailed->ops->start(detailed);
	endpoints->ops->start(endpoints);
	for (struct mixed_pair *pair = of(carrier)->pairs; pair; pair = pair->next)
		if (is_of_both(pair->ends))
			connect(pair, detailed);
	of(carrier)->started = true;
}

static struct carrier_qp *peer(const struct carrier_qp *qp)
{
	return (struct carrier_qp *)(void *)mixed(qp)->peer;
}

static const struct path *path(const struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->path(mixed(qp)->qp);
}

static uint32_t cnps(const struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->cnps(mixed(qp)->qp);
}

static uint32_t marks(const struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->marks(mixed(qp)->qp);
}

static uint64_t acked_bytes(const struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->acked_bytes(mixed(qp)->qp);
}

static uint64_t arrived_bytes(const struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->arrived_bytes(mixed(qp)->qp); /* of both: what is acknowledged */
}

static uint64_t rate_bps(struct carrier_qp *qp)
{
	return mixed(qp)->of->ops->rate_bps(mixed(qp)->qp);
}

static void outstanding(const struct carrier *carrier, carrier_tell *tell, void *context)
{
	const struct carrier *detailed = of(carrier)->detailed, *endpoints = of(carrier)->endpoints;

	detailed->ops->outstanding(detailed, tell, context);
	endpoints->ops->outstanding(endpoints, tell, context);
}

static const char *trouble(const struct carrier *carrier)
{
	const struct carrier *detailed = of(carrier)->detailed;

	return detailed->ops->trouble(detailed);
}

/* ---- life ---- */

static void destroy(struct carrier *carrier)
{
	struct carrier *detailed = of(carrier)->detailed, *endpoints = of(carrier)->endpoints;

	while (of(carrier)->pairs) {
		struct mixed_pair *pair = of(carrier)->pairs;

		of(carrier)->pairs = pair->next;
		free(pair);
	}
	detailed->ops->destroy(detailed);
	endpoints->ops->destroy(endpoints);
	free(of(carrier));
}

struct carrier *mixed_carrier_create(struct load *load, struct endpoint_hca *const *hcas,
				     uint32_t hosts)
{
	static const struct carrier_ops ops = {
		port, join,  plan,        plan_any,      start,    post,        peer,    path,
		cnps, marks, acked_bytes, arrived_bytes, rate_bps, outstanding, trouble, destroy};
	struct mixed_carrier *carrier = calloc(1, sizeof(*carrier));

	assert(carrier);
	carrier->detailed = load_carrier(load);
	carrier->endpoints = endpoint_carrier_create(hcas, hosts, NULL);
	carrier->hcas = hcas;
	carrier->carrier = (struct carrier){.ops = &ops,
					    .message_max = carrier->detailed->message_max,
					    .ideal = carrier->detailed->ideal};
	return &carrier->carrier;
}
