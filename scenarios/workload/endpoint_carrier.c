/* endpoint_carrier: see endpoint_carrier.h. A flow's number + 1 is the tag of its messages. */
#include "scenarios/workload/endpoint_carrier.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/parallel.h"
#include "sim/pool.h"

struct post {
	struct endpoint_message message; /* first */
	struct endpoint_carrier *carrier;
};

struct endpoint_carrier {
	struct carrier carrier;    /* first */
	struct endpoint_user user; /* of all HCAs */
	struct endpoint_hca *const *hcas;
	uint32_t hosts;
	struct pool posts[SIM_PARTS_MAX]; /* of each part of the run */
};

static struct endpoint_carrier *of(const struct carrier *carrier)
{
	return (struct endpoint_carrier *)(void *)carrier;
}

static struct endpoint_qp *endpoint_of_qp(const struct carrier_qp *qp)
{
	return (struct endpoint_qp *)(void *)qp;
}

static struct carrier_qp *carrier_of_qp(struct endpoint_qp *qp)
{
	return (struct carrier_qp *)(void *)qp;
}

static struct pool *posts_of(struct endpoint_carrier *carrier, const struct endpoint_qp *requester)
{
	return &carrier->posts[sim_part_of(endpoint_sim(endpoint_of(requester)))];
}

static void done(struct endpoint_message *message)
{
	struct post *post = (struct post *)(void *)message;
	struct endpoint_carrier *carrier = post->carrier;
	const struct carrier_report report = {.failed = message->status != ENDPOINT_OK,
					      .started_at = message->started_at,
					      .packets_sent = message->packets_sent,
					      .packets_resent = message->packets_resent};
	uint32_t flow = message->tag - 1;

	pool_give(posts_of(carrier, message->qp), post);
	carrier->carrier.user->done(carrier->carrier.user, flow, &report);
}

static void post(struct carrier *base, struct carrier_qp *qp, uint32_t flow,
		 enum workload_operation operation, uint64_t bytes)
{
	static const enum endpoint_operation operations[] = {
		[WORKLOAD_WRITE] = ENDPOINT_WRITE,
		[WORKLOAD_SEND] = ENDPOINT_SEND,
		[WORKLOAD_READ] = ENDPOINT_READ,
		[WORKLOAD_ATOMIC] = ENDPOINT_ATOMIC,
	};
	struct endpoint_carrier *carrier = of(base);
	struct endpoint_qp *sender = endpoint_of_qp(qp);
	struct endpoint_qp *requester = operation == WORKLOAD_READ ? endpoint_peer(sender) : sender;
	struct post *work = pool_take(posts_of(carrier, requester));

	*work = (struct post){.carrier = carrier,
			      .message = {.bytes = bytes,
					  .operation = operations[operation],
					  .tag = flow + 1,
					  .done = done}};
	endpoint_post(requester, &work->message);
}

static struct carrier_user *user_of(struct endpoint_user *user)
{
	return container_of(user, struct endpoint_carrier, user)->carrier.user;
}

static void delivered(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag)
{
	(void)qp;
	user_of(user)->delivered(user_of(user), tag - 1);
}

static void read_begins(struct endpoint_user *user, uint32_t tag)
{
	user_of(user)->read_begins(user_of(user), tag - 1);
}

static void read_ends(struct endpoint_user *user, uint32_t tag)
{
	user_of(user)->read_ends(user_of(user), tag - 1);
}

/* ---- queue pairs ---- */

static struct port *port(const struct carrier *carrier, uint32_t host)
{
	return endpoint_port(of(carrier)->hcas[host]);
}

static struct carrier_qp *join(struct carrier *carrier, const struct carrier_pair *pair)
{
	struct endpoint_hca *const *hcas = of(carrier)->hcas;

	return carrier_of_qp(endpoint_join(hcas[pair->source], hcas[pair->destination],
					   pair->service_level, pair->entropy));
}

static void plan(struct carrier *carrier, struct carrier_qp *qp, uint64_t message_bytes,
		 uint64_t messages, enum workload_operation operation)
{
	(void)carrier, (void)qp, (void)message_bytes, (void)messages, (void)operation;
}

static void start(struct carrier *carrier)
{
	for (uint32_t i = 0; i < of(carrier)->hosts; i++)
		endpoint_set_user(of(carrier)->hcas[i], &of(carrier)->user);
}

static struct carrier_qp *peer(const struct carrier_qp *qp)
{
	return carrier_of_qp(endpoint_peer(endpoint_of_qp(qp)));
}

static const struct path *path(const struct carrier_qp *qp)
{
	return endpoint_path(endpoint_of_qp(qp));
}

static uint32_t cnps(const struct carrier_qp *qp)
{
	return endpoint_cnps(endpoint_of_qp(qp));
}

static uint32_t marks(const struct carrier_qp *qp)
{
	return endpoint_marks(endpoint_of_qp(qp));
}

static uint64_t acked_bytes(const struct carrier_qp *qp)
{
	return endpoint_acked_bytes(endpoint_of_qp(qp));
}

static uint64_t rate_bps(struct carrier_qp *qp)
{
	return endpoint_rate_bps(endpoint_of_qp(qp));
}

static const char *trouble(const struct carrier *carrier)
{
	(void)carrier;
	return NULL;
}

/* ---- life ---- */

static void destroy(struct carrier *carrier)
{
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_fini(&of(carrier)->posts[i]);
	free(of(carrier));
}

struct carrier *endpoint_carrier_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params)
{
	static const struct carrier_ops ops = {port,     join,    plan,   start, post,
					       peer,     path,    cnps,   marks, acked_bytes,
					       rate_bps, trouble, destroy};
	struct endpoint_carrier *carrier = calloc(1, sizeof(*carrier));

	assert(carrier);
	carrier->carrier =
		(struct carrier){.ops = &ops, .message_max = UINT64_MAX, .ideal = params};
	carrier->user = (struct endpoint_user){delivered, read_begins, read_ends};
	carrier->hcas = hcas;
	carrier->hosts = hosts;
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_init(&carrier->posts[i], sizeof(struct post), 0);
	return &carrier->carrier;
}
