/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames: see state.h. Frames that arrive wait in host memory for an interrupt. The time to the
 * interrupt starts again with each frame (CQE-based moderation), up to a limit. The stack then
 * merges consecutive segments of a connection (GRO).
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

/* Packets of a connection that make one segment. */
struct merge {
	struct packet *first, *last;
	uint32_t bytes, packets;
};

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

static void deliver(struct socket_host *host, struct merge *merge)
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
	unsigned alone = TCP_SYN | TCP_RST | TCP_FIN | TCP_PSH | TCP_CWR;

	return packet->payload_bytes && last->payload_bytes && !(last->tcp.flags & alone) &&
	       !(packet->tcp.flags & (TCP_SYN | TCP_RST | TCP_CWR)) &&
	       merge->bytes + packet->payload_bytes <= sockets->params->burst &&
	       packet->ecn == last->ecn &&
	       packet->tcp.sequence == last->tcp.sequence + last->payload_bytes &&
	       packet->tcp.acknowledgment == last->tcp.acknowledgment &&
	       packet->tcp.timestamp == last->tcp.timestamp && !packet->tcp.sack_count &&
	       !last->tcp.sack_count;
}

static void take_frame(struct socket_host *host, struct merge *merges, uint32_t *count,
		       struct packet *packet)
{
	uint32_t place = 0;

	packet->next = NULL;
	while (place < *count && merges[place].first->path != packet->path)
		place++;
	if (place < *count && fits(host->sockets, &merges[place], packet)) {
		merges[place].last->next = packet;
		merges[place].last = packet;
		merges[place].bytes += packet->payload_bytes;
		merges[place].packets++;
		return;
	}
	if (place == MERGES)
		place = 0;
	if (place < *count) { /* it makes room, and keeps its order */
		struct merge ended = merges[place];

		memmove(merges + place, merges + place + 1, (*count - place - 1) * sizeof(*merges));
		(*count)--;
		deliver(host, &ended);
	}
	merges[(*count)++] = (struct merge){packet, packet, packet->payload_bytes, 1};
}

static void poll(struct event *event)
{
	struct socket_host *host = container_of(event, struct socket_host, poll);
	struct merge merges[MERGES];
	uint32_t count = 0;

	if (host->poll_at > sim_now(host->sockets->sim)) {
		sim_schedule_at(&host->poll, host->poll_at);
		return;
	}
	while (host->frame_first) {
		struct packet *packet = host->frame_first;

		host->frame_first = packet->next;
		taps_see(host, packet, false);
		if (packet->damage & WRONG_MAC)
			packet_free(netdev_packets(host->netdev), packet);
		else if (packet->kind == PACKET_TCP)
			take_frame(host, merges, &count, packet);
		else
			fragments_arrived(host, packet);
	}
	for (uint32_t i = 0; i < count; i++)
		deliver(host, &merges[i]);
}

static void frame_arrives(struct netdev_user *user, struct packet *packet)
{
	struct socket_host *host = container_of(user, struct socket_host, user);
	const struct socket_params *params = host->sockets->params;
	sim_time now = sim_now(host->sockets->sim);

	packet->next = NULL;
	host->poll_at = now + params->interrupt;
	if (host->frame_first) {
		host->frame_last->next = packet;
		if (host->poll_at > host->poll_until)
			host->poll_at = host->poll_until;
	} else {
		host->frame_first = packet;
		host->poll_until =
			now + (params->moderation > params->interrupt ? params->moderation
								      : params->interrupt);
		sim_schedule_at(&host->poll, host->poll_at);
	}
	host->frame_last = packet;
}

void frames_init_host(struct socket_host *host, struct hca *hca)
{
	host->user = (struct netdev_user){.receive = frame_arrives, .room = room};
	host->netdev = hca_create_netdev(hca, &host->user, host->sockets->params->send_ring);
	event_init(&host->poll, &host->sockets->block, poll);
	reports_init_host(host);
}

void frames_fini_host(struct socket_host *host)
{
	if (!host->netdev)
		return;
	sim_cancel(&host->poll);
	reports_fini_host(host);
	fragments_fini_host(host);
	while (host->frame_first) {
		struct packet *packet = host->frame_first;

		host->frame_first = packet->next;
		packet_free(netdev_packets(host->netdev), packet);
	}
}
