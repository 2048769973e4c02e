/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect: creates queue pairs in pairs, and the paths between them.
 */
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/cc_extension.h"
#include "hca/endpoint/tcp_end.h"

/* Interns the path of a priority, for response_set_priority(). */
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
	cc_extension_intern(from, from->congestion, &path);
	return path_intern(endpoints_paths(from->endpoints), &path);
}

static void add_chunk(struct endpoint_hca *ep)
{
	struct slot_chunk *chunk = malloc(sizeof(*chunk));

	ep->qp_capacity += SLOTS_PER_CHUNK;
	ep->chunks = realloc(ep->chunks, ep->qp_capacity / SLOTS_PER_CHUNK * sizeof(ep->chunks[0]));
	assert(chunk && ep->chunks);
	chunk->ep = ep;
	ep->chunks[ep->qp_count / SLOTS_PER_CHUNK] = chunk;
}

static struct endpoint_qp *add_qp(struct endpoint_hca *ep)
{
	struct endpoint_qp *qp = rest_take_qp(ep);
	struct endpoint_slot *slot;

	assert(ep->endpoints);
	if (ep->qp_count == ep->qp_capacity)
		add_chunk(ep);
	slot = slot_of(ep, ep->qp_count);
	*slot = (struct endpoint_slot){.where = (uintptr_t)qp,
				       .peer_and_place = ep->qp_count % SLOTS_PER_CHUNK};
	qp->slot = slot;
	qp->ep = ep;
	qp->number = endpoint_next_qp_number(ep);
	qp->place[DEADLINE_DEPARTURE] = qp->place[DEADLINE_RESPONSE] = NOT_IN_HEAP;
	qp->deadline = SIM_NEVER;
	ep->qp_count++;
	return qp;
}

static void join(struct endpoint_qp *one, struct endpoint_qp *two, unsigned service_level)
{
	one->slot->peer_and_place |= (uintptr_t)two->slot;
	two->slot->peer_and_place |= (uintptr_t)one->slot;
	one->peer_number = two->number;
	two->peer_number = one->number;
	one->vl = (uint8_t)port_vl(one->ep->port, service_level);
	two->vl = (uint8_t)port_vl(two->ep->port, service_level);
}

struct endpoint_qp *endpoint_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					 unsigned service_level, uint32_t entropy)
{
	struct endpoint_qp *one, *two;
	uint16_t udp_port;

	assert(ep != other && service_level < 16);
	if (ep->params->transport != ENDPOINT_RDMA)
		return tcp_end_create_pair(ep, other, service_level);
	one = add_qp(ep);
	two = add_qp(other);
	udp_port =
		path_udp_source_port(path_flow_label(one->number + entropy * 0x101, two->number));
	one->path = make_path(ep, other->endpoint, service_level, udp_port);
	two->path = make_path(other, ep->endpoint, service_level, udp_port);
	join(one, two, service_level);
	cc_extension_prepare(one, ep->congestion);
	cc_extension_prepare(two, other->congestion);
	return one;
}

/* Returns the path of a TCP connection, which uses IPv4. */
static const struct path *make_tcp_path(const struct endpoint_hca *from, uint32_t to,
					unsigned service_level, uint16_t source_port,
					uint16_t destination_port)
{
	struct path path = endpoints_path(from->endpoints, from->endpoint, to, service_level,
					  (unsigned)from->params->hop_limit, 0);

	assert(path.link_layer == LINK_ETHERNET && path.roce_version == ROCE_V2_IPV4);
	path.tcp_source_port = source_port;
	path.tcp_destination_port = destination_port;
	return path_intern(endpoints_paths(from->endpoints), &path);
}

struct endpoint_qp *connect_tcp_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
				     unsigned service_level, uint16_t source_port,
				     uint16_t destination_port)
{
	struct endpoint_qp *one = add_qp(ep), *two = add_qp(other);

	one->is_tcp = two->is_tcp = true;
	one->path =
		make_tcp_path(ep, other->endpoint, service_level, source_port, destination_port);
	two->path =
		make_tcp_path(other, ep->endpoint, service_level, destination_port, source_port);
	join(one, two, service_level);
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

/* Returns the round-trip time of a full packet and its ACK on an empty path, as the sender measures
 * it. */
static sim_time empty_round_trip(const struct endpoint_qp *qp, const struct congestion_ops *ops)
{
	const struct endpoint_hca *ep = qp->ep;
	const struct endpoint_params *params = ep->params;
	const struct endpoint_slot *peer = slot_peer(qp->slot);
	const struct endpoint_params *others = peer ? slot_ep(peer)->params : params;
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

static const struct congestion *congestion_at(const struct endpoint_hca *ep, uint32_t number)
{
	uint32_t place = number - FIRST_QP_NUMBER;

	return place < ep->choice_count && ep->choices[place] ? ep->choices[place] : ep->congestion;
}

const struct congestion *connect_congestion(const struct endpoint_qp *qp)
{
	return congestion_at(qp->ep, qp->number);
}

const struct congestion *connect_peer_congestion(const struct endpoint_qp *qp)
{
	return congestion_at(slot_ep(slot_peer(qp->slot)), qp->peer_number);
}

void endpoint_set_congestion(struct endpoint_qp *qp, const struct congestion *congestion)
{
	struct endpoint_hca *ep = qp->ep;
	uint32_t place = qp->number - FIRST_QP_NUMBER;

	assert(!qp->cc && !qp->is_tcp);
	if (place >= ep->choice_count) {
		ep->choices =
			realloc(ep->choices, ep->qp_capacity * sizeof(const struct congestion *));
		assert(ep->choices);
		while (ep->choice_count < ep->qp_capacity)
			ep->choices[ep->choice_count++] = NULL;
	}
	ep->choices[place] = congestion;
	cc_extension_prepare(qp, congestion);
}

sim_time connect_round_trip(const struct endpoint_qp *qp, const struct congestion_ops *ops)
{
	sim_time given = qp->ep->params->base_rtt;

	return given ? given : empty_round_trip(qp, ops);
}

void connect_state_init(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	const struct congestion *congestion = connect_congestion(qp);
	size_t bytes = rest_cc_bytes(congestion);
	sim_time given = ep->params->base_rtt, empty = empty_round_trip(qp, congestion->ops);
	struct congestion_path path = {
		.line_rate_bps = port_rate_bps(ep->port),
		.base_rtt = given ? given : empty,
		.mtu_bytes = ep->mtu_bytes,
		.service_level = qp->path->service_level,
		.active_flows = ep->active_qps,
	};

	qp->cc = rest_take_cc(ep, congestion);
	memset(qp->cc, 0, bytes);
	qp->cc->congestion = congestion;
	qp->cc->ack_interval =
		congestion_ack_interval(congestion, ep->params->ack_interval, ep->mtu_bytes);
	ep->count.base_rtt_low += given && given < empty;
	if (empty > ep->count.empty_rtt_max)
		ep->count.empty_rtt_max = empty;
	cc_extension_begin(qp, &path);
	congestion->ops->state_init(cc_of(qp), congestion->params, &path, endpoint_now(ep));
	rest_learn_cc(ep, qp->cc);
}

void connect_destroy(struct endpoint_hca *ep)
{
	for (uint32_t i = 0; i < ep->qp_count; i++) {
		struct endpoint_qp *qp;

		if (slot_of(ep, i)->where & SLOT_AT_REST)
			continue;
		qp = slot_qp(slot_of(ep, i));
		response_drop_all(qp);
		if (qp->is_tcp)
			tcp_end_destroy(qp);
		else
			selective_destroy(qp);
		cc_extension_destroy(qp);
		free(qp->cc);
	}
	rest_destroy(ep);
	for (uint32_t i = 0; i < ep->qp_count; i += SLOTS_PER_CHUNK)
		free(ep->chunks[i / SLOTS_PER_CHUNK]);
	free(ep->chunks);
	free(ep->choices);
}
