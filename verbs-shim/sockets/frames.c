/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames: see state.h. Frames that arrive wait in a receive queue for an interrupt (softirq.c). A
 * poll merges consecutive segments of a connection (GRO).
 */
#include "fabric/wire/tcp_packet.h"
#include "hca/device/hca.h"
#include "verbs-shim/sockets/state.h"

#define MERGES 8 /* Linux: MAX_GRO_SKBS */

/* ---- sending ---- */

static const struct path *path_of(const struct sockets *sockets, const struct flow *flow)
{
	struct path path = endpoints_path(sockets->endpoints, flow->from_host, flow->to_host,
					  (unsigned)sockets->params->priority, flow->hop_limit, 0);

	path.tcp_source_port = flow->source.port;
	path.tcp_destination_port = flow->destination.port;
	return path_intern(endpoints_paths(sockets->endpoints), &path);
}

void frames_send(struct sockets *sockets, const struct flow *flow,
		 const struct tcp_segment *segment, const uint8_t *payload)
{
	struct socket_host *host = sockets->hosts[flow->from_host];
	struct netdev *netdev = host->netdev;
	struct packet *packet = packet_new(netdev_packets(netdev));

	packet->path = path_of(sockets, flow);
	packet->hop_limit = packet->path->hop_limit;
	packet->ecn = segment->ecn;
	packet->payload_bytes = segment->payload_bytes;
	packet->payload =
		packet_payload_of(netdev_packets(netdev), payload, segment->payload_bytes);
	tcp_packet_set(packet, &segment->header);
	packet->wire_bytes = packet_wire_bytes(packet);
	taps_see(host, packet, true);
	netdev_send(netdev, packet);
}

static void room(struct netdev_user *user, unsigned priority)
{
	(void)priority;
	network_resume(container_of(user, struct socket_host, user));
}

/* ---- receiving ---- */

static struct flow flow_of(const struct path *path)
{
	struct flow flow = {.from_host = path->source,
			    .to_host = path->destination,
			    .source.port = path->tcp_source_port,
			    .destination.port = path->tcp_destination_port};

	memcpy(flow.source.ip, path->sgid, sizeof(flow.source.ip));
	memcpy(flow.destination.ip, path->dgid, sizeof(flow.destination.ip));
	return flow;
}

static void deliver_segment(struct socket_host *host, struct merge *merge)
{
	struct sockets *sockets = host->sockets;
	struct packet_pool *pool = netdev_packets(host->netdev);
	struct flow flow = flow_of(merge->first->path);
	struct tcp_segment segment = {.ecn = merge->first->ecn,
				      .payload_bytes = merge->bytes,
				      .payload = sockets->scratch};
	uint32_t sequence, offset = 0;

	flow.hop_limit = merge->first->hop_limit;
	tcp_packet_header(merge->last, &segment.header);
	sequence = merge->first->tcp.sequence;
	segment.header.sequence = sequence;
	while (merge->first) {
		struct packet *packet = merge->first;

		merge->first = packet->next;
		packet_payload_copy(packet->payload, sockets->scratch + offset,
				    packet->payload_bytes);
		offset += packet->payload_bytes;
		packet_free(pool, packet);
	}
	connect_arrived(sockets, &flow, &segment, merge->packets);
}

/* Checks what tcp_gro_receive() of Linux checks. */
static bool fits(const struct sockets *sockets, const struct merge *merge,
		 const struct packet *packet)
{
	const struct packet *last = merge->last;
	unsigned alone = TCP_SYN | TCP_RST | TCP_FIN | TCP_PSH | TCP_URG | TCP_CWR;

	return packet->payload_bytes && last->payload_bytes && !(last->tcp.flags & alone) &&
	       !(packet->tcp.flags & (TCP_SYN | TCP_RST | TCP_URG | TCP_CWR)) &&
	       merge->bytes + packet->payload_bytes <= sockets->params->burst &&
	       packet->ecn == last->ecn &&
	       packet->tcp.sequence == last->tcp.sequence + last->payload_bytes &&
	       packet->tcp.acknowledgment == last->tcp.acknowledgment &&
	       packet->tcp.timestamp == last->tcp.timestamp && !packet->tcp.sack_count &&
	       !last->tcp.sack_count;
}

void frames_deliver(struct socket_host *host, struct merge *merge)
{
	if (merge->first->kind == PACKET_TCP)
		deliver_segment(host, merge);
	else
		fragments_arrived(host, merge->first);
}

void frames_drop(struct socket_host *host, struct merge *merge)
{
	while (merge->first) {
		struct packet *packet = merge->first;

		merge->first = packet->next;
		packet_free(netdev_packets(host->netdev), packet);
	}
}

/* Segments of up to MERGES connections that a poll is merging, oldest first. */
struct gro {
	struct merge merges[MERGES];
	uint32_t count;
};

static void flush(struct queue *queue, struct merge *merge)
{
	const struct socket_params *params = queue->host->sockets->params;

	merge->cost = merge->bytes ? params->receive_segment : params->receive_ack;
	softirq_add(queue, merge);
}

static void merge_segment(struct queue *queue, struct gro *gro, struct packet *packet)
{
	uint32_t place = 0;

	packet->next = NULL;
	while (place < gro->count && gro->merges[place].first->path != packet->path)
		place++;
	if (place < gro->count && fits(queue->host->sockets, &gro->merges[place], packet)) {
		gro->merges[place].last->next = packet;
		gro->merges[place].last = packet;
		gro->merges[place].bytes += packet->payload_bytes;
		gro->merges[place].packets++;
		return;
	}
	if (place == MERGES)
		place = 0;
	if (place < gro->count) { /* it makes room, and keeps its order */
		flush(queue, &gro->merges[place]);
		gro->count--;
		memmove(gro->merges + place, gro->merges + place + 1,
			(gro->count - place) * sizeof(*gro->merges));
	}
	gro->merges[gro->count++] = (struct merge){
		.first = packet, .last = packet, .bytes = packet->payload_bytes, .packets = 1};
}

/* Returns true for a frame that the host's stack processes. */
static bool is_wanted(const struct socket_host *host, const struct packet *packet)
{
	return !(packet->damage & WRONG_MAC) &&
	       (packet->kind == PACKET_TCP || fragments_are_wanted(host, packet));
}

uint32_t frames_take(struct queue *queue, uint64_t work[CPU_KIND_COUNT])
{
	struct socket_host *host = queue->host;
	const struct socket_params *params = host->sockets->params;
	struct gro gro = {.count = 0};
	struct packet *packet;
	uint32_t taken = 0;

	for (; taken < queue->most && (packet = softirq_get(queue)) != NULL; taken++) {
		taps_see(host, packet, false);
		if (!is_wanted(host, packet)) {
			packet_free(netdev_packets(host->netdev), packet);
			continue;
		}
		softirq_cost(params, packet->payload_bytes, 1, work);
		if (packet->kind == PACKET_TCP) {
			merge_segment(queue, &gro, packet);
			continue;
		}
		packet->next = NULL;
		softirq_add(queue, &(struct merge){.first = packet,
						   .cost = fragments_are_last(packet)
								   ? params->receive_segment
								   : 0});
	}
	for (uint32_t i = 0; i < gro.count; i++)
		flush(queue, &gro.merges[i]);
	return taken;
}

static void frame_arrives(struct netdev_user *user, struct packet *packet)
{
	struct socket_host *host = container_of(user, struct socket_host, user);
	struct flow flow = flow_of(packet->path);

	flow.to_host = host->number;
	flow.interface = SHIM_INTERFACE_ETH0;
	if (!softirq_put(softirq_queue(host, &flow, packet->kind != PACKET_TCP), packet))
		packet_free(netdev_packets(host->netdev), packet);
}

void frames_init_host(struct socket_host *host, struct hca *hca)
{
	host->user = (struct netdev_user){.receive = frame_arrives, .room = room};
	host->netdev = hca_create_netdev(hca, &host->user, host->sockets->params->send_ring);
	reports_init_host(host);
}

void frames_fini_host(struct socket_host *host)
{
	if (!host->netdev)
		return;
	reports_fini_host(host);
	fragments_fini_host(host);
}
