/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network: see state.h. Sockets of a host that wait for room take turns.
 *
 * On a modelled link, segments of a host leave one after the other. Segments of several hosts reach
 * a link in the order in which their last bits arrive. A segment with payload takes the link for as
 * long as its packets do, with the headers of each. Segments without payload take no link time, as
 * they are short.
 */
#include "verbs-shim/sockets/state.h"

enum {
	IP_BYTES = 20, /* RFC 791 */
	PACKET_BYTES = TCP_HEADER_BYTES + TCP_TIMESTAMP_BYTES + IP_BYTES,
	ETHERNET_BYTES = 38, /* IEEE 802.3: preamble, header, FCS, gap */
};

static uint32_t packet_payload(const struct sockets *sockets)
{
	return (uint32_t)sockets->params->mtu - PACKET_BYTES;
}

uint16_t network_mss(const struct sockets *sockets, enum carrier carrier)
{
	uint32_t burst = (uint32_t)sockets->params->burst, payload = packet_payload(sockets);

	if (carrier == CARRIER_FRAMES)
		return (uint16_t)(payload + TCP_TIMESTAMP_BYTES);
	if (burst > SEGMENT_MAX - PACKET_BYTES - 1)
		burst = SEGMENT_MAX - PACKET_BYTES - 1;
	if (burst > payload)
		burst -= burst % payload; /* whole packets */
	return (uint16_t)(burst + TCP_TIMESTAMP_BYTES);
}

enum carrier network_carrier(const struct sockets *sockets, uint32_t from, uint32_t to)
{
	if (from == to)
		return CARRIER_LOOPBACK;
	return sockets->hosts[from]->netdev ? CARRIER_FRAMES : CARRIER_LINK;
}

static sim_time time_of(uint64_t bytes, uint64_t rate_bps)
{
	return (sim_time)((unsigned __int128)bytes * 8 * SEC / rate_bps);
}

static sim_time link_time(const struct sockets *sockets, uint32_t host, uint32_t payload_bytes)
{
	uint32_t most = packet_payload(sockets);
	uint64_t packets = payload_bytes ? (payload_bytes + most - 1) / most : 1;

	return time_of(payload_bytes + packets * (PACKET_BYTES + ETHERNET_BYTES),
		       sockets->hosts[host]->rate_bps);
}

/* Returns the time from the last bit of a packet at the sender to its last bit at the receiver. */
static sim_time latency(const struct sockets *sockets, uint32_t from, uint32_t to)
{
	uint32_t bytes = (uint32_t)sockets->params->mtu + ETHERNET_BYTES;
	sim_time trip = endpoints_trip(sockets->endpoints, from, to, bytes);
	sim_time first = time_of(bytes, sockets->hosts[from]->rate_bps);

	return trip > first ? trip - first : 0;
}

bool network_reaches(const struct sockets *sockets, uint32_t from, uint32_t to)
{
	return from == to || endpoints_trip(sockets->endpoints, from, to,
					    (uint32_t)sockets->params->mtu) < SIM_NEVER;
}

/* ---- segments ---- */

static void segment_free(struct segment *segment)
{
	if (segment->newer)
		segment->newer->older = segment->older;
	else
		segment->sockets->newest = segment->older;
	if (segment->older)
		segment->older->newer = segment->newer;
	sim_cancel(&segment->event);
	free(segment);
}

static bool is_within(const struct segment *segment)
{
	return segment->flow.from_host == segment->flow.to_host;
}

static uint32_t packets_of(const struct segment *segment)
{
	uint32_t most = packet_payload(segment->sockets);

	return is_within(segment) ? 1 : (segment->tcp.payload_bytes + most - 1) / most;
}

void network_deliver(struct segment *segment)
{
	uint32_t packets = packets_of(segment);

	segment->tcp.payload = segment->data;
	switch (segment->kind) {
	case SEGMENT_TCP:
		connect_arrived(segment->sockets, &segment->flow, &segment->tcp, packets);
		break;
	case SEGMENT_DATAGRAM:
		datagram_arrived(segment->sockets, &segment->flow, segment->data,
				 segment->tcp.payload_bytes, packets);
		break;
	case SEGMENT_REFUSAL:
		datagram_refused(segment->sockets, &segment->flow);
		break;
	}
	segment_free(segment);
}

/* A core of the receiver processes the segment, unless it is of the same host. */
static void segment_arrives(struct event *event)
{
	struct segment *segment = container_of(event, struct segment, event);
	const struct flow *flow = &segment->flow;
	struct socket_host *host = segment->sockets->hosts[flow->to_host];

	if (is_within(segment) || segment->kind == SEGMENT_REFUSAL)
		network_deliver(segment);
	else if (!softirq_put_segment(softirq_queue(host, flow, segment->kind == SEGMENT_DATAGRAM),
				      segment))
		segment_free(segment);
}

uint32_t network_take(struct queue *queue, uint64_t work[CPU_KIND_COUNT])
{
	const struct socket_params *params = queue->host->sockets->params;
	struct segment *segment;
	uint32_t taken = 0;

	for (; taken < queue->most && (segment = softirq_get_segment(queue)) != NULL; taken++) {
		uint32_t bytes = segment->tcp.payload_bytes;

		softirq_cost(params, bytes, bytes ? packets_of(segment) : 1, work);
		softirq_add(queue, &(struct merge){.segment = segment,
						   .cost = bytes ? params->receive_segment
								 : params->receive_ack});
	}
	return taken;
}

static struct segment *segment_create(struct sockets *sockets, enum segment_kind kind,
				      const struct flow *flow, const struct tcp_segment *tcp,
				      const uint8_t *payload)
{
	struct segment *segment = malloc(sizeof(*segment) + tcp->payload_bytes);

	assert(segment);
	*segment = (struct segment){.sockets = sockets,
				    .older = sockets->newest,
				    .flow = *flow,
				    .kind = kind,
				    .tcp = *tcp};
	event_init(&segment->event, &sockets->block, segment_arrives);
	if (segment->older)
		segment->older->newer = segment;
	sockets->newest = segment;
	if (tcp->payload_bytes)
		memcpy(segment->data, payload, tcp->payload_bytes);
	return segment;
}

/* The last bit has left the sender. The segment arrives when the receiver's link has carried it. */
static void take_link(struct segment *segment)
{
	struct sockets *sockets = segment->sockets;
	struct socket_host *to = sockets->hosts[segment->flow.to_host];
	sim_time at = sim_now(sockets->sim) + latency(sockets, segment->flow.from_host, to->number);
	sim_time free_at = to->arrived + link_time(sockets, to->number, segment->tcp.payload_bytes);

	to->arrived = at > free_at ? at : free_at;
	sim_schedule_at(&segment->event, to->arrived + sockets->params->interrupt);
}

/* A datagram to a group: switches make the copies, and only members get them. */
static void copy_to_all(struct segment *segment)
{
	struct sockets *sockets = segment->sockets;
	struct flow flow = segment->flow;

	for (uint32_t i = 0; i < sockets->host_count; i++) {
		flow.to_host = i;
		if (i == flow.from_host || !network_reaches(sockets, flow.from_host, i) ||
		    !membership_of_host(sockets, i, flow.destination.ip, flow.interface))
			continue;
		take_link(segment_create(sockets, segment->kind, &flow, &segment->tcp,
					 segment->data));
	}
	segment_free(segment);
}

/* Runs when the last bit of a segment has left the sender. */
static void left(struct event *event)
{
	struct socket_host *host = container_of(event, struct socket_host, left);
	struct segment *segment = host->leaving;

	host->leaving = NULL;
	if (segment->flow.to_host == NO_SOCKET)
		copy_to_all(segment);
	else
		take_link(segment);
	network_resume(host);
}

static void send_on_link(struct sockets *sockets, struct segment *segment)
{
	struct socket_host *from = sockets->hosts[segment->flow.from_host];
	sim_time time = link_time(sockets, from->number, segment->tcp.payload_bytes);

	if (segment->tcp.payload_bytes || segment->flow.to_host == NO_SOCKET) {
		assert(!from->leaving);
		from->leaving = segment;
		sim_schedule(&from->left, time);
	} else {
		sim_schedule(&segment->event,
			     latency(sockets, from->number, segment->flow.to_host) + time +
				     sockets->params->interrupt);
	}
}

void network_send(struct sockets *sockets, const struct flow *flow,
		  const struct tcp_segment *segment, const uint8_t *payload)
{
	switch (network_carrier(sockets, flow->from_host, flow->to_host)) {
	case CARRIER_LOOPBACK:
		sim_schedule(&segment_create(sockets, SEGMENT_TCP, flow, segment, payload)->event,
			     0);
		break;
	case CARRIER_LINK:
		send_on_link(sockets, segment_create(sockets, SEGMENT_TCP, flow, segment, payload));
		break;
	case CARRIER_FRAMES:
		frames_send(sockets, flow, segment, payload);
		break;
	}
}

void network_send_datagram(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
			   uint32_t count)
{
	const struct tcp_segment length = {.payload_bytes = count};
	enum carrier carrier = network_carrier(sockets, flow->from_host, flow->to_host);
	struct segment *segment;

	if (carrier == CARRIER_FRAMES) {
		fragments_send(sockets, flow, bytes, count);
		return;
	}
	segment = segment_create(sockets, SEGMENT_DATAGRAM, flow, &length, bytes);
	if (carrier == CARRIER_LINK)
		send_on_link(sockets, segment);
	else
		sim_schedule(&segment->event, 0);
}

/* Sends a refusal (ICMP), which takes the latency of the path. No frame carries it. */
void network_send_refusal(struct sockets *sockets, const struct flow *flow)
{
	const struct tcp_segment nothing = {.payload_bytes = 0};
	struct segment *segment = segment_create(sockets, SEGMENT_REFUSAL, flow, &nothing, NULL);
	bool within = flow->from_host == flow->to_host;

	sim_schedule(&segment->event, within ? 0
					     : latency(sockets, flow->to_host, flow->from_host) +
						       sockets->params->interrupt);
}

/* ---- room ---- */

static bool has_room(const struct socket_host *host, enum carrier carrier)
{
	if (carrier == CARRIER_FRAMES)
		return netdev_has_room(host->netdev, (unsigned)host->sockets->params->priority);
	return carrier == CARRIER_LOOPBACK || !host->leaving;
}

bool network_has_room(struct socket *socket)
{
	struct socket_host *host = socket->sockets->hosts[socket->host];

	if (has_room(host, socket->carrier))
		return true;
	if (socket->waits_for_room)
		return false;
	socket->waits_for_room = true;
	socket->sending_next = NULL;
	if (host->sending_last)
		host->sending_last->sending_next = socket;
	else
		host->sending_first = socket;
	host->sending_last = socket;
	return false;
}

void network_stop_waiting(struct socket *socket)
{
	struct socket_host *host = socket->sockets->hosts[socket->host];
	struct socket **place = &host->sending_first, *before = NULL;

	if (!socket->waits_for_room)
		return;
	while (*place != socket) {
		before = *place;
		place = &(*place)->sending_next;
	}
	*place = socket->sending_next;
	if (host->sending_last == socket)
		host->sending_last = before;
	socket->waits_for_room = false;
}

void network_resume(struct socket_host *host)
{
	while (host->sending_first && has_room(host, host->sending_first->carrier)) {
		struct socket *socket = host->sending_first;

		network_stop_waiting(socket);
		stream_resume(socket);
	}
}

void network_init_host(struct socket_host *host)
{
	event_init(&host->left, &host->sockets->block, left);
}

void network_fini_host(struct socket_host *host)
{
	sim_cancel(&host->left);
	while (host->sockets->newest) /* segments on their way when the run ended */
		segment_free(host->sockets->newest);
}
