/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_backend: see mixed_backend.h. A queue pair of either backend is wrapped in a mixed_qp,
 * which records its backend. */
#include "traffic/load/mixed_backend.h"

#include <assert.h>
#include <stdlib.h>

#include "traffic/workload/endpoint_backend.h"

struct mixed_qp {
	struct backend *of;
	struct backend_qp *qp;
	struct mixed_qp *peer;
};

struct mixed_pair {
	struct mixed_qp ends[2]; /* source end, destination end */
	struct mixed_pair *next;
};

struct mixed_backend {
	struct backend backend;
	struct backend *detailed, *endpoints;
	struct endpoint_hca *const *hcas;
	struct mixed_pair *pairs;
	bool started;
};

static struct mixed_backend *of(const struct backend *backend)
{
	return container_of(backend, struct mixed_backend, backend);
}

static struct mixed_qp *mixed(const struct backend_qp *qp)
{
	return (struct mixed_qp *)(void *)qp;
}

static bool is_of_both(const struct mixed_qp *qp)
{
	return qp->of != qp->peer->of;
}

/* ---- messages ---- */

/* Posts at the far end that represents the other host. */
static void post_detailed(const struct mixed_qp *requester, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes)
{
	const struct backend_ops *ops = requester->of->ops;

	ops->post(requester->of,
		  operation == WORKLOAD_READ ? ops->peer(requester->qp) : requester->qp, flow,
		  operation, bytes);
}

static void post_endpoint(const struct mixed_qp *requester, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes)
{
	const struct backend_qp *there = requester->peer->qp;
	struct load_place place = detailed_backend_place(there);

	detailed_backend_announce(there, flow, operation, bytes);
	endpoint_backend_ask(requester->of, requester->qp, flow, operation, bytes, place.address,
			     place.key);
}

static void post(struct backend *backend, struct backend_qp *qp, uint32_t flow,
		 enum workload_operation operation, uint64_t bytes)
{
	const struct mixed_qp *source = mixed(qp);
	const struct mixed_qp *requester = operation == WORKLOAD_READ ? source->peer : source;

	if (!is_of_both(source))
		source->of->ops->post(source->of, source->qp, flow, operation, bytes);
	else if (requester->of == of(backend)->detailed)
		post_detailed(requester, flow, operation, bytes);
	else
		post_endpoint(requester, flow, operation, bytes);
}

/* ---- queue pairs ---- */

static struct backend *of_host(const struct backend *backend, uint32_t host)
{
	return of(backend)->hcas[host] ? of(backend)->endpoints : of(backend)->detailed;
}

static struct port *port(const struct backend *backend, uint32_t host)
{
	struct backend *its = of_host(backend, host);

	return its->ops->port(its, host);
}

static void connect_both(struct backend *backend, const struct backend_pair *pair,
			 struct mixed_pair *joined)
{
	bool to_detailed = of(backend)->hcas[pair->source];
	uint32_t far = to_detailed ? pair->source : pair->destination;
	uint32_t number = endpoint_next_qp_number(of(backend)->hcas[far]);
	uint16_t udp_source_port;
	struct expected_queue *expected;

	joined->ends[to_detailed].qp = detailed_backend_connect_far(
		of(backend)->detailed, pair, number, &udp_source_port, &expected);
	joined->ends[!to_detailed].qp =
		endpoint_backend_open(of(backend)->endpoints, pair, udp_source_port, expected);
}

/* The detailed end's queue pair is there. */
static void connect_ends(const struct mixed_pair *pair, const struct backend *detailed)
{
	bool to_detailed = pair->ends[1].of == detailed;

	endpoint_backend_connect(pair->ends[!to_detailed].qp,
				 detailed_backend_place(pair->ends[to_detailed].qp).number);
}

static struct backend_qp *connect_pair(struct backend *backend, const struct backend_pair *pair)
{
	struct mixed_pair *joined = calloc(1, sizeof(*joined));
	struct mixed_qp *ends = joined->ends;

	assert(joined);
	joined->next = of(backend)->pairs;
	of(backend)->pairs = joined;
	ends[0].of = of_host(backend, pair->source);
	ends[1].of = of_host(backend, pair->destination);
	ends[0].peer = &ends[1];
	ends[1].peer = &ends[0];
	if (is_of_both(ends)) {
		connect_both(backend, pair, joined);
		if (of(backend)->started)
			connect_ends(joined, of(backend)->detailed);
	} else {
		ends[0].qp = ends[0].of->ops->connect_pair(ends[0].of, pair);
		ends[1].qp = ends[0].of->ops->peer(ends[0].qp);
	}
	return (struct backend_qp *)(void *)ends;
}

static void plan(struct backend *backend, struct backend_qp *qp, uint64_t message_bytes,
		 uint64_t messages, enum workload_operation operation)
{
	struct backend *detailed = of(backend)->detailed;
	const struct mixed_qp *source = mixed(qp);

	if (source->of == detailed)
		detailed->ops->plan(detailed, source->qp, message_bytes, messages, operation);
	else if (source->peer->of == detailed)
		detailed->ops->plan(detailed, detailed->ops->peer(source->peer->qp), message_bytes,
				    messages, operation);
}

static void plan_any(struct backend *backend, uint64_t bytes)
{
	struct backend *detailed = of(backend)->detailed;

	detailed->ops->plan_any(detailed, bytes);
}

static void start(struct backend *backend)
{
	struct backend *detailed = of(backend)->detailed, *endpoints = of(backend)->endpoints;

	detailed->user = endpoints->user = backend->user;
	detailed->ops->start(detailed);
	endpoints->ops->start(endpoints);
	for (struct mixed_pair *pair = of(backend)->pairs; pair; pair = pair->next)
		if (is_of_both(pair->ends))
			connect_ends(pair, detailed);
	of(backend)->started = true;
}

static struct backend_qp *peer(const struct backend_qp *qp)
{
	return (struct backend_qp *)(void *)mixed(qp)->peer;
}

static const struct path *path(const struct backend_qp *qp)
{
	return mixed(qp)->of->ops->path(mixed(qp)->qp);
}

static uint32_t cnps(const struct backend_qp *qp)
{
	return mixed(qp)->of->ops->cnps(mixed(qp)->qp);
}

static uint32_t marks(const struct backend_qp *qp)
{
	return mixed(qp)->of->ops->marks(mixed(qp)->qp);
}

static uint64_t acked_bytes(const struct backend_qp *qp)
{
	return mixed(qp)->of->ops->acked_bytes(mixed(qp)->qp);
}

static uint64_t arrived_bytes(const struct backend_qp *qp)
{
	/* both backends: acknowledged bytes */
	return mixed(qp)->of->ops->arrived_bytes(mixed(qp)->qp);
}

static void sender(struct backend_qp *qp, struct backend_sender *sender)
{
	mixed(qp)->of->ops->sender(mixed(qp)->qp, sender);
}

static void retire(struct backend_qp *qp)
{
	const struct mixed_qp *end = mixed(qp);

	if (end->of->ops->retire)
		end->of->ops->retire(end->qp);
}

static void outstanding(const struct backend *backend, backend_visit *visit, void *context)
{
	const struct backend *detailed = of(backend)->detailed, *endpoints = of(backend)->endpoints;

	detailed->ops->outstanding(detailed, visit, context);
	endpoints->ops->outstanding(endpoints, visit, context);
}

static const char *trouble(const struct backend *backend)
{
	const struct backend *detailed = of(backend)->detailed;

	return detailed->ops->trouble(detailed);
}

/* ---- life ---- */

static void destroy(struct backend *backend)
{
	struct backend *detailed = of(backend)->detailed, *endpoints = of(backend)->endpoints;

	while (of(backend)->pairs) {
		struct mixed_pair *pair = of(backend)->pairs;

		of(backend)->pairs = pair->next;
		free(pair);
	}
	detailed->ops->destroy(detailed);
	endpoints->ops->destroy(endpoints);
	free(of(backend));
}

struct backend *mixed_backend_create(struct load *load, struct endpoint_hca *const *hcas,
				     uint32_t hosts)
{
	static const struct backend_ops ops = {
		port,   connect_pair, plan,    plan_any, start,       post,
		peer,   path,         cnps,    marks,    acked_bytes, arrived_bytes,
		sender, outstanding,  trouble, destroy,  NULL,        retire};
	struct mixed_backend *backend = calloc(1, sizeof(*backend));

	assert(backend);
	backend->detailed = detailed_backend(load);
	backend->endpoints = endpoint_backend_create(hcas, hosts, NULL);
	backend->hcas = hcas;
	backend->backend = (struct backend){.ops = &ops,
					    .message_max = backend->detailed->message_max,
					    .ideal = backend->detailed->ideal};
	return &backend->backend;
}
