/*
 * notify: how congestion marks come back to the sender. RoCE: a CNP (IBTA annex A17.9), no more often than
 * cnp_interval for each queue pair, each source address, or the whole port, as adapters differ (ground truth C-21).
 * InfiniBand: a CNP as well, or BECN in the next ACK (annex A10).
 */
#include <stdlib.h>

#include "hca/endpoint/endpoint_state.h"

static uint32_t slot_of(const struct endpoint_hca *hca, uint32_t source)
{
	uint32_t slot = source * UINT32_C(2654435769) & (hca->notice_capacity - 1);

	while (hca->notices[slot].source != NO_ENDPOINT && hca->notices[slot].source != source)
		slot = (slot + 1) & (hca->notice_capacity - 1);
	return slot;
}

static void grow(struct endpoint_hca *hca)
{
	struct peer_notice *old = hca->notices;
	uint32_t count = hca->notice_capacity;

	hca->notice_capacity = count ? count * 2 : 16;
	hca->notices = malloc(hca->notice_capacity * sizeof(hca->notices[0]));
	assert(hca->notices);
	for (uint32_t i = 0; i < hca->notice_capacity; i++)
		hca->notices[i] = (struct peer_notice){.source = NO_ENDPOINT};
	for (uint32_t i = 0; i < count; i++)
		if (old[i].source != NO_ENDPOINT)
			hca->notices[slot_of(hca, old[i].source)] = old[i];
	free(old);
}

/* Where the time of the next CNP to that sender stands. */
static sim_time *limit_of(struct endpoint_qp *qp)
{
	struct endpoint_hca *hca = qp->hca;
	uint32_t slot;

	switch ((enum cnp_limit)hca->params->cnp_limit) {
	case CNP_PER_QP:
		return &qp->cnp_at;
	case CNP_PER_PORT:
		return &hca->port_cnp_at;
	case CNP_PER_ADDRESS:
		break;
	}
	if (hca->notice_count * 2 >= hca->notice_capacity)
		grow(hca);
	slot = slot_of(hca, qp->path->destination);
	if (hca->notices[slot].source == NO_ENDPOINT) {
		hca->notices[slot] = (struct peer_notice){.source = qp->path->destination};
		hca->notice_count++;
	}
	return &hca->notices[slot].cnp_at;
}

static void set_priority(struct endpoint_qp *qp, struct packet *packet)
{
	struct endpoint_hca *hca = qp->hca;
	struct path path = *qp->path;

	path.service_level = (uint8_t)hca->params->cnp_priority; /* made when they were joined */
	packet->path = path_intern(endpoints_paths(hca->endpoints), &path);
	packet->vl = (uint8_t)port_lane(hca->port, path.service_level);
}

void notify_marked(struct endpoint_qp *qp)
{
	struct endpoint_hca *hca = qp->hca;
	sim_time now = endpoint_now(hca);
	sim_time *next_at = limit_of(qp);
	struct packet *cnp;

	if (now < *next_at)
		return;
	*next_at = now + hca->params->cnp_interval;
	cnp = answer_packet(qp, CNP_NOTIFY, 0);
	cnp->becn = true;
	if (hca->params->cnp_priority < 16)
		set_priority(qp, cnp);
	cnp->wire_bytes = packet_wire_bytes(cnp);
	cnp->tail_at = now + hca->params->cnp_delay;
	hca->count.cnp_sent++;
	if (hca->params->cnp_delay)
		packet_line_push(&hca->cnps, cnp);
	else
		port_send_at(hca->port, cnp, now);
}

void notify_receive(struct endpoint_qp *qp)
{
	struct endpoint_hca *hca = qp->hca;
	sim_time now = endpoint_now(hca);
	const struct congestion *congestion;
	struct congestion_flow *flow;
	uint64_t rate_before;

	hca->count.cnp_received++;
	qp->cnps++;
	if (!qp->box)
		return;
	congestion = qp->box->congestion;
	flow = flow_of(qp);
	congestion_settle(congestion, flow, now);
	rate_before = flow->rate_bps;
	if (congestion->ops->on_cnp)
		congestion->ops->on_cnp(flow, congestion->params, now);
	trace(&hca->block, TRACE_CNP, 0, qp->number, flow->rate_bps / 1000000);
	departure_rate_changed(qp, rate_before);
}

void notify_loss(struct endpoint_qp *qp, enum congestion_loss loss)
{
	const struct congestion *congestion = qp->box->congestion;
	struct congestion_flow *flow = flow_of(qp);
	sim_time now = endpoint_now(qp->hca);
	uint64_t rate_before;

	if (!congestion->ops->on_loss)
		return;
	congestion_settle(congestion, flow, now);
	rate_before = flow->rate_bps;
	congestion->ops->on_loss(flow, congestion->params, now, loss);
	departure_rate_changed(qp, rate_before);
}
