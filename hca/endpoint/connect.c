/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect: queue pairs, two at a time, and the paths between them.
 */
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/endpoint_state.h"

/* response_set_priority() finds it there. */
static void intern_level(const struct endpoint_hca *from, struct path path, uint64_t service_level)
{
	if (service_level > 15)
		return;
	path.service_level = (uint8_t)service_level;
	path_intern(endpoints_paths(from->endpoints), &path);
}

static const struct path *make_path(const struct endpoint_hca *from, uint32_t to,
				    unsigned service_level, uint16_t udp_port)
{
	struct path path = endpoints_path(from->endpoints, from->endpoint, to, service_level,
					  (unsigned)from->params->hop_limit, udp_port);

	intern_level(from, path, from->params->cnp_priority);
	intern_level(from, path, from->params->ack_priority);
	return path_intern(endpoints_paths(from->endpoints), &path);
}

static struct endpoint_qp *add_qp(struct endpoint_hca *ep)
{
	struct endpoint_qp *qp = sim_arena(ep->block.sim, sizeof(*qp));

	assert(ep->endpoints);
	if (ep->qp_count == ep->qp_capacity) {
		ep->qp_capacity = ep->qp_capacity ? ep->qp_capacity * 2 : 4;
		ep->qps = realloc(ep->qps, ep->qp_capacity * sizeof(ep->qps[0]));
		assert(ep->qps);
	}
	qp->ep = ep;
	qp->number = endpoint_next_qp_number(ep);
	qp->place[DEADLINE_DEPARTURE] = qp->place[DEADLINE_RESPONSE] = NOT_IN_HEAP;
	qp->deadline = SIM_NEVER;
	ep->qps[ep->qp_count++] = qp;
	return qp;
}

struct endpoint_qp *endpoint_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					 unsigned service_level, uint32_t entropy)
{
	struct endpoint_qp *one = add_qp(ep), *two = add_qp(other);
	uint16_t udp_port =
		path_udp_source_port(path_flow_label(one->number + entropy * 0x101, two->number));

	assert(ep != other && service_level < 16);
	one->path = make_path(ep, other->endpoint, service_level, udp_port);
	two->path = make_path(other, ep->endpoint, service_level, udp_port);
	one->peer = two;
	two->peer = one;
	one->peer_number = two->number;
	two->peer_number = one->number;
	one->vl = (uint8_t)port_vl(ep->port, service_level);
	two->vl = (uint8_t)port_vl(other->port, service_level);
	return one;
}

struct endpoint_qp *endpoint_open(struct endpoint_hca *ep, uint32_t other, unsigned service_level,
				  uint16_t udp_source_port)
{
	struct endpoint_qp *qp = add_qp(ep);

	assert(ep->endpoint != other && service_level < 16);
	assert(ep->params->recovery == GO_BACK_N && ep->params->cumulative_ack);
	qp->path = make_path(ep, other, service_level, udp_source_port);
	qp->vl = (uint8_t)port_vl(ep->port, service_level);
	qp->flags |= QP_FAR;
	return qp;
}

void endpoint_connect(struct endpoint_qp *qp, uint32_t number)
{
	assert(qp->flags & QP_FAR);
	qp->peer_number = number;
}

/* Of a full packet and its ACK on an empty path, as the sender measures it. */
static sim_time empty_round_trip(const struct endpoint_qp *qp, const struct congestion_ops *ops)
{
	const struct endpoint_hca *ep = qp->ep;
	const struct endpoint_params *params = ep->params;
	const struct endpoint_params *others = qp->peer ? qp->peer->ep->params : params;
	uint32_t from = ep->endpoint, to = qp->path->destination;
	uint32_t telemetry =
		ops->lives_by & CONGESTION_TELEMETRY ? (uint32_t)params->telemetry_bytes : 0;
	const struct packet data = {
		.path = qp->path, .opcode = RC_WRITE_ONLY, .payload_bytes = ep->mtu_bytes};
	const struct packet ack = {.path = qp->path, .opcode = RC_ACK};
	uint32_t data_bytes = packet_wire_bytes(&data) + telemetry;
	sim_time there = endpoints_trip(ep->endpoints, from, to,
					data_bytes + (uint32_t)params->data_header_extra);
	sim_time back =
		endpoints_trip(ep->endpoints, to, from, packet_wire_bytes(&ack) + telemetry);

	if (there == SIM_NEVER || back == SIM_NEVER)
		return CONGESTION_RTT_UNKNOWN;
	return there + others->receive_latency + back + params->receive_latency;
}

void connect_state_init(struct endpoint_qp *qp, const struct congestion *congestion)
{
	struct endpoint_hca *ep = qp->ep;
	size_t bytes = (sizeof(struct qp_cc) + congestion->ops->state_bytes + 63) / 64 * 64;
	sim_time given = ep->params->base_rtt, empty = empty_round_trip(qp, congestion->ops);
	const struct congestion_path path = {
		.line_rate_bps = port_rate_bps(ep->port),
		.base_rtt = given ? given : empty,
		.mtu_bytes = ep->mtu_bytes,
		.service_level = qp->path->service_level,
		.active_flows = ep->active_qps,
	};

	free(qp->cc);
	qp->cc = aligned_alloc(64, bytes);
	assert(qp->cc);
	memset(qp->cc, 0, bytes);
	qp->cc->congestion = congestion;
	ep->count.base_rtt_low += given && given < empty;
	if (empty > ep->count.empty_rtt_max)
		ep->count.empty_rtt_max = empty;
	congestion->ops->state_init(cc_of(qp), congestion->params, &path, endpoint_now(ep));
}

void connect_destroy(struct endpoint_hca *ep)
{
	for (uint32_t i = 0; i < ep->qp_count; i++) {
		struct endpoint_qp *qp = ep->qps[i];

		response_drop_all(qp);
		selective_destroy(qp);
		free(qp->cc);
	}
	free(ep->qps);
}
