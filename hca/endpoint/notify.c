/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify: returns congestion marks to the sender. RoCE uses CNPs (IBTA annex A17.9), at most one
 * per cnp_interval for each queue pair, each source address, or the whole port (row C-21).
 * InfiniBand uses CNPs, or BECN in the next ACK (annex A10).
 */
#include "hca/endpoint/endpoint_state.h"

void notify_marked(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	sim_time now = endpoint_now(ep);
	const struct endpoint_params *params = ep->params;
	struct packet *cnp;

	if (!cnp_limiter_pass(&ep->cnp_limiter, (enum cnp_limit)params->cnp_limit,
			      params->cnp_interval, qp->path->destination, &qp->cnp_at, now))
		return;
	cnp = response_packet(qp, CNP_NOTIFY, 0);
	cnp->becn = true;
	response_set_priority(qp, cnp, params->cnp_priority);
	cnp->wire_bytes = packet_wire_bytes(cnp);
	cnp->tail_at = now + params->cnp_delay;
	ep->count.cnp_sent++;
	if (params->cnp_delay)
		endpoint_packet_line_push(&ep->cnps, cnp);
	else
		port_send_at(ep->port, cnp, now);
}

void notify_receive(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	uint64_t rate_before;

	ep->count.cnp_received++;
	qp->cnps++;
	if (!qp->cc)
		return;
	rate_before = congestion_on_cnp(qp->cc->congestion, cc_of(qp), endpoint_now(ep));
	trace(&ep->block, TRACE_CNP, 0, qp->number, cc_of(qp)->rate_bps / 1000000);
	departure_rate_changed(qp, rate_before);
}

void notify_loss(struct endpoint_qp *qp, enum congestion_loss loss)
{
	uint64_t rate_before;

	if (!qp->cc->congestion->ops->on_loss)
		return;
	rate_before = congestion_on_loss(qp->cc->congestion, cc_of(qp), endpoint_now(qp->ep), loss);
	departure_rate_changed(qp, rate_before);
}
