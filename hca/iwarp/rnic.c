/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnic: see rnic.h. Numbers of objects start at 1 and are not used again.
 */
#include "hca/iwarp/rnic.h"

#include "hca/iwarp/rnic_state.h"

/* clang-format off */
#define ROW(...) PARAM_ROW(struct rnic_params, __VA_ARGS__)
const struct param rnic_param_list[] = { RNIC_PARAMS(ROW) { 0 } };

static const struct block_type rnic_type = {
	.name         = "rnic",
	.params       = rnic_param_list,
	.counters     = (const struct counter[]){ RNIC_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ { 0 } },
};
/* clang-format on */

/* ---- objects ---- */

static void count_bytes(uint64_t *now, uint64_t *most, int64_t bytes)
{
	*now += (uint64_t)bytes;
	if (*now > *most)
		*most = *now;
}

void iwarp_count_state(struct rnic *rnic, int64_t bytes)
{
	count_bytes(&rnic->state_bytes, &rnic->count.state_bytes, bytes);
}

void iwarp_count_held(struct rnic *rnic, int64_t bytes)
{
	count_bytes(&rnic->held_bytes, &rnic->count.held_bytes, bytes);
}

/* Returns the memory of the adapter for that many entries of a receive queue. */
static int64_t entries_bytes(const struct rnic *rnic, uint32_t entries)
{
	return (int64_t)(entries * rnic->params->receive_entry);
}

struct rnic_cq *iwarp_cq(const struct rnic *rnic, uint32_t number)
{
	return number - 1 < rnic->cq_count ? rnic->cqs[number - 1] : NULL;
}

struct rnic_srq *iwarp_srq(const struct rnic *rnic, uint32_t number)
{
	return number - 1 < rnic->srq_count ? rnic->srqs[number - 1] : NULL;
}

struct rnic_qp *iwarp_qp(const struct rnic *rnic, uint32_t number)
{
	return number - 1 < rnic->qp_count ? rnic->qps[number - 1] : NULL;
}

uint64_t rnic_ring_bytes(enum rnic_ring_kind kind, uint32_t entries)
{
	switch (kind) {
	case RNIC_CQ:
		return entries * sizeof(struct siw_cqe) + sizeof(struct siw_cq_ctrl);
	case RNIC_SQ:
		return entries * sizeof(struct siw_sqe);
	case RNIC_RQ:
	case RNIC_SRQ:
		break;
	}
	return entries * sizeof(struct siw_rqe);
}

/* Appends an object to a table. Returns its number. */
static uint32_t append(void *table, uint32_t *count, void *object)
{
	void **objects = realloc(*(void **)table, (*count + 1) * sizeof(*objects));

	if (!objects)
		abort();
	objects[*count] = object;
	*(void **)table = objects;
	return ++*count;
}

static void moderation_due(struct moderation *moderation)
{
	(void)moderation; /* the CQ was disarmed when its CQE was visible */
}

uint32_t rnic_create_cq(struct rnic *rnic, struct memory *memory, uint32_t entries)
{
	struct rnic_cq *cq = rnic_state_take(sizeof(*cq));

	cq->rnic = rnic;
	cq->busy = 1;
	cq->ring = (struct rnic_ring){.memory = memory, .entries = entries};
	cq->number = append(&rnic->cqs, &rnic->cq_count, cq);
	event_queue_moderation_init(&cq->moderation, rnic->blocks.events, moderation_due);
	cq->moderation.cqn = cq->number;
	return cq->number;
}

uint32_t rnic_create_srq(struct rnic *rnic, struct memory *memory, uint32_t entries, uint32_t pd)
{
	struct rnic_srq *srq = rnic_state_take(sizeof(*srq));

	srq->pd = pd;
	srq->ring = (struct rnic_ring){.memory = memory, .entries = entries};
	iwarp_count_state(rnic, entries_bytes(rnic, entries));
	return srq->number = append(&rnic->srqs, &rnic->srq_count, srq);
}

uint32_t rnic_create_qp(struct rnic *rnic, const struct rnic_qp_attr *attr)
{
	struct rnic_qp *qp = rnic_state_take(sizeof(*qp));

	qp->rnic = rnic;
	qp->attr = *attr;
	qp->busy = 1;
	qp->state = STATE_INIT;
	qp->sq = (struct rnic_ring){.memory = attr->memory, .entries = attr->sq_entries};
	qp->rq = (struct rnic_ring){.memory = attr->memory, .entries = attr->rq_entries};
	iwarp_count_state(rnic, entries_bytes(rnic, attr->rq_entries));
	return qp->number = append(&rnic->qps, &rnic->qp_count, qp);
}

void rnic_set_ring(struct rnic *rnic, enum rnic_ring_kind kind, uint32_t number, uint64_t address)
{
	struct rnic_cq *cq = kind == RNIC_CQ ? iwarp_cq(rnic, number) : NULL;
	struct rnic_srq *srq = kind == RNIC_SRQ ? iwarp_srq(rnic, number) : NULL;
	struct rnic_qp *qp = kind == RNIC_SQ || kind == RNIC_RQ ? iwarp_qp(rnic, number) : NULL;

	if (cq)
		cq->ring.address = address;
	if (srq)
		srq->ring.address = address;
	if (qp && kind == RNIC_SQ)
		qp->sq.address = address;
	else if (qp)
		qp->rq.address = address;
}

void rnic_destroy_cq(struct rnic *rnic, uint32_t number)
{
	struct rnic_cq *cq = iwarp_cq(rnic, number);

	rnic->cqs[number - 1] = NULL;
	event_queue_moderation_close(&cq->moderation);
	cq->destroyed = true;
	if (--cq->busy == 0)
		free(cq);
}

void rnic_destroy_srq(struct rnic *rnic, uint32_t number)
{
	struct rnic_srq *srq = iwarp_srq(rnic, number);

	if (srq)
		iwarp_count_state(rnic, -entries_bytes(rnic, srq->ring.entries));
	free(srq);
	rnic->srqs[number - 1] = NULL;
}

void iwarp_qp_release(struct rnic_qp *qp)
{
	if (--qp->busy == 0)
		free(qp);
}

void rnic_destroy_qp(struct rnic *rnic, uint32_t number)
{
	struct rnic_qp *qp = iwarp_qp(rnic, number);
	struct rnic_connection *connection = qp->connection;

	rnic->qps[number - 1] = NULL;
	iwarp_count_state(rnic, -entries_bytes(rnic, qp->attr.rq_entries));
	qp->destroyed = true;
	qp->state = STATE_ERR;
	qp->connection = NULL;
	iwarp_send_drop(qp);
	while (qp->wqes) {
		struct rnic_wqe *wqe = qp->wqes;

		qp->wqes = wqe->next;
		free(wqe);
	}
	if (connection) {
		connection->qp = NULL;
		iwarp_shut(connection);
	}
	iwarp_qp_release(qp);
}

/* ---- doorbells ---- */

struct ring_event {
	struct event event;
	struct rnic *rnic;
	uint32_t qpn;
};

static void rung(struct event *event)
{
	struct ring_event *ring = container_of(event, struct ring_event, event);
	struct rnic_qp *qp = iwarp_qp(ring->rnic, ring->qpn);

	if (qp)
		iwarp_send_fetch(qp);
	free(ring);
}

void rnic_ring(struct rnic *rnic, uint32_t qpn)
{
	struct ring_event *ring = rnic_state_take(sizeof(*ring));

	ring->rnic = rnic;
	ring->qpn = qpn;
	rnic->count.doorbells++;
	event_init(&ring->event, &rnic->block, rung);
	sim_schedule(&ring->event, pcie_mmio_delay(rnic->blocks.pcie));
}

enum qp_state rnic_qp_state(const struct rnic *rnic, uint32_t qpn)
{
	const struct rnic_qp *qp = iwarp_qp(rnic, qpn);

	return qp ? qp->state : STATE_ERR;
}

void rnic_qp_fail(struct rnic *rnic, uint32_t qpn)
{
	struct rnic_qp *qp = iwarp_qp(rnic, qpn);

	if (!qp)
		return;
	iwarp_complete_end(qp, SIW_WC_WR_FLUSH_ERR);
	if (qp->connection)
		iwarp_shut(qp->connection);
}

/* ---- creation ---- */

void rnic_set_user(struct rnic *rnic, struct rnic_user *user)
{
	rnic->user = user;
}

static void set_tcp(struct rnic *rnic)
{
	static const char *const names[RNIC_CONGESTION_COUNT] = {
		[RNIC_NEWRENO] = "newreno", [RNIC_CUBIC] = "cubic", [RNIC_DCTCP] = "dctcp"};
	const struct rnic_params *params = rnic->params;
	char error[128];
	bool good;

	params_default(tcp_param_list, &rnic->tcp);
	rnic->tcp.nagle = TCP_NAGLE_OFF;
	rnic->tcp.timestamps = params->timestamps;
	rnic->tcp.sack = params->sack;
	rnic->tcp.delayed_ack = params->delayed_ack;
	rnic->tcp.rto_min = params->rto_min;
	rnic->tcp.receive_buffer = params->receive_buffer;
	rnic->tcp.time_wait = 0;
	good = congestion_init(&rnic->congestion, names[params->congestion], error, sizeof(error));
	assert(good);
}

struct rnic *rnic_create(struct sim *sim, const char *name, const struct rnic_params *params,
			 const struct rnic_blocks *blocks)
{
	struct rnic *rnic = rnic_state_take(sizeof(*rnic));

	rnic->params = params;
	rnic->blocks = *blocks;
	block_init(&rnic->block, sim, &rnic_type, name, params, (const uint64_t *)&rnic->count);
	set_tcp(rnic);
	iwarp_connection_init(rnic);
	return rnic;
}

void rnic_destroy(struct rnic *rnic)
{
	if (!rnic)
		return;
	iwarp_connection_fini(rnic);
	for (uint32_t i = 1; i <= rnic->qp_count; i++)
		if (iwarp_qp(rnic, i))
			rnic_destroy_qp(rnic, i);
	for (uint32_t i = 1; i <= rnic->cq_count; i++)
		if (iwarp_cq(rnic, i))
			rnic_destroy_cq(rnic, i);
	for (uint32_t i = 1; i <= rnic->srq_count; i++)
		rnic_destroy_srq(rnic, i);
	free(rnic->cqs);
	free(rnic->srqs);
	free(rnic->qps);
	congestion_fini(&rnic->congestion);
	block_fini(&rnic->block);
	free(rnic);
}
