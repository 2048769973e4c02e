/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint_backend: see endpoint_backend.h. A flow's number + 1 is the tag of its messages, which
 * other adapters do not know. */
#include "traffic/workload/endpoint_backend.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/parallel.h"
#include "sim/pool.h"

struct post {
	struct endpoint_message message; /* first */
	struct endpoint_backend *backend;
	struct post *next, **link; /* next in its LP, and the pointer to this one */
};

struct endpoint_backend {
	struct backend backend;    /* first */
	struct endpoint_user user; /* callbacks of all HCAs */
	struct endpoint_hca *const *hcas;
	uint32_t hosts;
	struct lp {
		struct pool pool;
		struct post *posts; /* that are not complete */
	} lps[SIM_LPS_MAX];         /* one per LP of the run */
	struct far_ends *far;       /* [hosts] */
};

/* Ends of a host that expect messages from other adapters. */
struct far_ends {
	struct expected_queue *
		/* [] from first_number on; NULL: both ends are HCAs of fidelity endpoint */
		*by_number;
	uint32_t first_number, count;
};

static struct endpoint_backend *of(const struct backend *backend)
{
	return (struct endpoint_backend *)(void *)backend;
}

/* The backend's queue pairs are the slots of the HCAs' queue pairs, which may rest. */
static struct endpoint_slot *slot_of(const struct backend_qp *qp)
{
	return (struct endpoint_slot *)(void *)qp;
}

static struct endpoint_qp *look_at(const struct backend_qp *qp)
{
	return endpoint_look(slot_of(qp));
}

static struct backend_qp *backend_of(struct endpoint_slot *slot)
{
	return (struct backend_qp *)(void *)slot;
}

static struct lp *lp_of(struct endpoint_backend *backend, const struct endpoint_qp *requester)
{
	return &backend->lps[sim_lp_number(endpoint_sim(endpoint_of(requester)))];
}

static void add_post(struct lp *lp, struct post *post)
{
	post->next = lp->posts;
	post->link = &lp->posts;
	if (post->next)
		post->next->link = &post->next;
	lp->posts = post;
}

static void remove_post(struct lp *lp, struct post *post)
{
	*post->link = post->next;
	if (post->next)
		post->next->link = post->link;
	pool_give(&lp->pool, post);
}

static struct backend_report report_of(const struct endpoint_message *message)
{
	return (struct backend_report){.started_at = message->started_at,
				       .packets_sent = endpoint_packets_sent(message),
				       .packets_retransmitted = message->packets_retransmitted};
}

static void done(struct endpoint_message *message)
{
	struct post *post = (struct post *)(void *)message;
	struct endpoint_backend *backend = post->backend;
	struct backend_report report = report_of(message);
	uint32_t flow = message->tag - 1;

	report.failed = message->status != ENDPOINT_OK;
	remove_post(lp_of(backend, message->qp), post);
	backend->backend.user->done(backend->backend.user, flow, &report);
}

void endpoint_backend_ask(struct backend *base, struct backend_qp *qp, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes, uint64_t address,
			  uint32_t key)
{
	static const enum endpoint_operation operations[] = {
		[WORKLOAD_WRITE] = ENDPOINT_WRITE,
		[WORKLOAD_SEND] = ENDPOINT_SEND,
		[WORKLOAD_READ] = ENDPOINT_READ,
		[WORKLOAD_ATOMIC] = ENDPOINT_ATOMIC,
	};
	struct endpoint_backend *backend = of(base);
	struct endpoint_qp *requester = endpoint_at(slot_of(qp));
	struct lp *lp = lp_of(backend, requester);
	struct post *work = pool_take(&lp->pool);

	*work = (struct post){.backend = backend,
			      .message = {.bytes = bytes,
					  .remote_address = address,
					  .rkey = key,
					  .operation = operations[operation],
					  .tag = flow + 1,
					  .done = done}};
	add_post(lp, work);
	endpoint_post(requester, &work->message);
}

static struct backend_qp *peer(const struct backend_qp *qp)
{
	return backend_of(endpoint_slot_peer(slot_of(qp)));
}

static void post(struct backend *base, struct backend_qp *qp, uint32_t flow,
		 enum workload_operation operation, uint64_t bytes)
{
	endpoint_backend_ask(base, operation == WORKLOAD_READ ? peer(qp) : qp, flow, operation,
			     bytes, 0, 0);
}

/* ---- callbacks of HCAs ---- */

/* Returns the queue of expected messages, or NULL if messages have tags. */
static struct expected_queue *expected_by(const struct endpoint_user *user,
					  const struct endpoint_qp *qp)
{
	const struct endpoint_backend *backend =
		container_of(user, const struct endpoint_backend, user);
	const struct far_ends *far = &backend->far[endpoint_number(endpoint_of(qp))];

	return endpoint_slot_peer(endpoint_slot(qp))
		       ? NULL
		       : far->by_number[endpoint_qp_number(qp) - far->first_number];
}

static struct backend_user *user_of(struct endpoint_user *user)
{
	return container_of(user, struct endpoint_backend, user)->backend.user;
}

static void delivered(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
		      uint32_t psn)
{
	struct expected_queue *expected = expected_by(user, qp);
	uint32_t flow = tag - 1;

	if (expected) {
		struct expected_message *message = expected_queue_find_data(expected, psn);

		assert(message);
		flow = message->flow;
		expected_queue_delivered(message);
	}
	user_of(user)->delivered(user_of(user), flow);
}

/* Returns false if the read is complete. */
static bool find_read(struct endpoint_user *user, const struct endpoint_qp *qp, uint32_t psn,
		      uint32_t *flow)
{
	struct expected_queue *expected = expected_by(user, qp);
	const struct expected_message *read;

	if (!expected)
		return true;
	read = expected_queue_find_read(expected, psn);
	if (read)
		*flow = read->flow;
	return read;
}

static void read_begins(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
			uint32_t psn)
{
	uint32_t flow = tag - 1;

	if (find_read(user, qp, psn, &flow))
		user_of(user)->read_begins(user_of(user), flow);
}

static void read_ends(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
		      uint32_t psn)
{
	uint32_t flow = tag - 1;

	if (find_read(user, qp, psn, &flow))
		user_of(user)->read_ends(user_of(user), flow);
}

/* ---- queue pairs ---- */

static struct port *port(const struct backend *backend, uint32_t host)
{
	return endpoint_port(of(backend)->hcas[host]);
}

static struct backend_qp *connect_pair(struct backend *backend, const struct backend_pair *pair)
{
	struct endpoint_hca *const *hcas = of(backend)->hcas;
	struct endpoint_qp *qp = endpoint_create_pair(hcas[pair->source], hcas[pair->destination],
						      pair->service_level, pair->entropy);
	struct endpoint_slot *slot;

	if (pair->congestion) {
		endpoint_set_congestion(qp, pair->congestion);
		endpoint_set_congestion(endpoint_peer(qp), pair->congestion);
	}
	slot = endpoint_slot(qp);
	endpoint_let_rest(slot);
	return backend_of(slot);
}

static void add_far(struct far_ends *far, uint32_t number, struct expected_queue *expected)
{
	if (!far->count)
		far->first_number = number;
	far->by_number = realloc(far->by_number, (number - far->first_number + 1) *
							 sizeof(struct expected_queue *));
	assert(far->by_number);
	while (far->count < number - far->first_number)
		far->by_number[far->count++] = NULL;
	far->by_number[far->count++] = expected;
}

struct backend_qp *endpoint_backend_open(struct backend *backend, const struct backend_pair *pair,
					 uint16_t udp_source_port, struct expected_queue *expected)
{
	struct endpoint_hca *const *hcas = of(backend)->hcas;
	bool sends = hcas[pair->source];
	uint32_t here = sends ? pair->source : pair->destination;
	uint32_t there = sends ? pair->destination : pair->source;
	struct endpoint_qp *qp =
		endpoint_open(hcas[here], there, pair->service_level, udp_source_port);

	add_far(&of(backend)->far[here], endpoint_qp_number(qp), expected);
	return backend_of(endpoint_slot(qp));
}

void endpoint_backend_connect(struct backend_qp *qp, uint32_t number)
{
	endpoint_connect(endpoint_at(slot_of(qp)), number);
}

static void plan(struct backend *backend, struct backend_qp *qp, uint64_t message_bytes,
		 uint64_t messages, enum workload_operation operation)
{
	(void)backend, (void)qp, (void)message_bytes, (void)messages, (void)operation;
}

static void plan_any(struct backend *backend, uint64_t bytes)
{
	(void)backend, (void)bytes;
}

static void start(struct backend *backend)
{
	for (uint32_t i = 0; i < of(backend)->hosts; i++)
		if (of(backend)->hcas[i])
			endpoint_set_user(of(backend)->hcas[i], &of(backend)->user);
}

static const struct path *path(const struct backend_qp *qp)
{
	return endpoint_path(look_at(qp));
}

static bool segment(const struct backend_qp *qp, enum workload_operation operation, uint64_t *bytes,
		    struct packet *packet)
{
	return endpoint_tcp_segment(look_at(qp), (enum endpoint_operation)operation, bytes, packet);
}

static uint32_t cnps(const struct backend_qp *qp)
{
	return endpoint_cnps(look_at(qp));
}

static uint32_t marks(const struct backend_qp *qp)
{
	return endpoint_marks(look_at(qp));
}

static uint64_t acked_bytes(const struct backend_qp *qp)
{
	return endpoint_acked_bytes(look_at(qp));
}

static uint64_t arrived_bytes(const struct backend_qp *qp)
{
	return endpoint_arrived_bytes(look_at(qp));
}

static void sender(struct backend_qp *qp, struct backend_sender *sender)
{
	*sender = (struct backend_sender){
		.rate_bps = endpoint_rate_bps(look_at(qp)),
		.cwnd_bytes = endpoint_cwnd_bytes(look_at(qp)),
		.inflight_bytes = endpoint_inflight_bytes(look_at(qp)),
		.rtt = endpoint_rtt(look_at(qp)),
	};
	sender->state = endpoint_gauges(look_at(qp), &sender->gauges);
}

static void outstanding(const struct backend *backend, backend_visit *visit, void *context)
{
	for (unsigned i = 0; i < SIM_LPS_MAX; i++) {
		const struct post *post = of(backend)->lps[i].posts;

		for (; post; post = post->next) {
			const struct backend_report so_far = report_of(&post->message);

			visit(context, post->message.tag - 1, &so_far);
		}
	}
}

static void retire(struct backend_qp *qp)
{
	endpoint_retire(slot_of(qp));
}

static const char *trouble(const struct backend *backend)
{
	(void)backend;
	return NULL;
}

/* ---- life ---- */

static void destroy(struct backend *backend)
{
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_fini(&of(backend)->lps[i].pool);
	for (uint32_t i = 0; i < of(backend)->hosts; i++)
		free(of(backend)->far[i].by_number);
	free(of(backend)->far);
	free(of(backend));
}

struct backend *endpoint_backend_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params)
{
	static const struct backend_ops ops = {
		port,   connect_pair, plan,    plan_any, start,       post,
		peer,   path,         cnps,    marks,    acked_bytes, arrived_bytes,
		sender, outstanding,  trouble, destroy,  segment,     retire};
	struct endpoint_backend *backend = calloc(1, sizeof(*backend));

	assert(backend);
	backend->backend =
		(struct backend){.ops = &ops, .message_max = UINT64_MAX, .ideal = params};
	backend->user = (struct endpoint_user){delivered, read_begins, read_ends};
	backend->hcas = hcas;
	backend->hosts = hosts;
	backend->far = calloc(hosts, sizeof(backend->far[0]));
	assert(backend->far);
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_init(&backend->lps[i].pool, sizeof(struct post), 0);
	return &backend->backend;
}
