/* SPDX-License-Identifier: Apache-2.0 */
/* netdev: see netdev.h. */
#include "hca/port/netdev.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/port.h"
#include "hca/host/pcie.h"
#include "hca/port/receive.h"
#include "hca/port/transmit.h"
#include "sim/gauge.h"
#include "sim/pool.h"

#define SLAB_MOVES 64

/* clang-format off */
static const struct block_type netdev_type = {
	.name         = "netdev",
	.params       = (const struct param[]){{0}},
	.counters     = (const struct counter[]){NETDEV_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){NETDEV_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

struct netdev_gauges {
	NETDEV_GAUGES(GAUGE_FIELD)
};

struct send_ring {
	struct packet *first, *last;
	uint64_t bytes, inflight_bytes;
	bool was_full;
};

/* A frame on its way between host memory and the adapter. */
struct move {
	struct netdev *netdev;
	struct packet *packet;
	struct move *next;
	sim_time since;
	bool done;
	union {
		struct pcie_read read;
		struct pcie_write write;
	};
};

struct netdev {
	struct block block;
	struct netdev_counters count;
	struct netdev_gauges gauge;
	struct netdev_blocks blocks;
	struct netdev_user *user;
	struct netdev_limits limits;
	bool promiscuous;
	struct pool moves;
	struct move *reads, *last_read; /* in the order of their start */
	struct move *writes;            /* in any order */
	struct send_ring rings[NETDEV_PRIORITIES];
};

static sim_time now(const struct netdev *netdev)
{
	return sim_now(netdev->block.sim);
}

/* ---- sending ---- */

static struct packet *pop(struct netdev *netdev, struct send_ring *ring)
{
	struct packet *packet = ring->first;

	ring->first = packet->next;
	packet->next = NULL;
	ring->bytes -= packet->wire_bytes;
	gauge_left(&netdev->gauge.queued, packet->since, now(netdev), 1);
	return packet;
}

static void send(struct netdev *netdev, struct packet *packet)
{
	netdev->count.frames_sent++;
	netdev->count.bytes_sent += packet->wire_bytes;
	transmit_push(netdev->blocks.transmit, packet);
}

static void read_done(struct pcie_read *read)
{
	struct move *move = container_of(read, struct move, read);
	struct netdev *netdev = move->netdev;

	move->done = true;
	while ((move = netdev->reads) && move->done) {
		netdev->reads = move->next;
		gauge_left(&netdev->gauge.reads, move->since, now(netdev), 1);
		send(netdev, move->packet);
		pool_give(&netdev->moves, move);
	}
}

static struct move *move_of(struct netdev *netdev, struct packet *packet)
{
	struct move *move = pool_take_zeroed(&netdev->moves);

	move->netdev = netdev;
	move->packet = packet;
	move->since = now(netdev);
	return move;
}

static void read_frame(struct netdev *netdev, struct packet *packet)
{
	struct move *move = move_of(netdev, packet);

	move->read = (struct pcie_read){
		.memory = memory_none(),
		.length = packet->wire_bytes,
		.done = read_done,
	};
	if (netdev->reads)
		netdev->last_read->next = move;
	else
		netdev->reads = move;
	netdev->last_read = move;
	gauge_enter(&netdev->gauge.reads, move->since, 1);
	pcie_read(netdev->blocks.pcie, &move->read);
}

static bool is_full(const struct netdev *netdev, const struct send_ring *ring)
{
	return ring->bytes >= netdev->limits.ring_bytes;
}

static void read_frames(struct netdev *netdev, struct send_ring *ring)
{
	while (ring->first && ring->inflight_bytes < netdev->limits.inflight_bytes) {
		struct packet *packet = pop(netdev, ring);

		ring->inflight_bytes += packet->wire_bytes;
		read_frame(netdev, packet);
	}
	if (!ring->was_full || is_full(netdev, ring))
		return;
	ring->was_full = false;
	netdev->user->room(netdev->user, (unsigned)(ring - netdev->rings));
}

void netdev_left(struct netdev *netdev, unsigned priority, uint32_t wire_bytes)
{
	struct send_ring *ring = &netdev->rings[priority];

	ring->inflight_bytes -= wire_bytes;
	read_frames(netdev, ring);
}

bool netdev_has_room(struct netdev *netdev, unsigned priority)
{
	struct send_ring *ring = &netdev->rings[priority];

	ring->was_full |= is_full(netdev, ring);
	return !is_full(netdev, ring);
}

void netdev_send(struct netdev *netdev, struct packet *packet)
{
	struct send_ring *ring = &netdev->rings[packet->path->service_level];

	packet->vl = (uint8_t)port_vl(netdev->blocks.port, packet->path->service_level);
	packet->next = NULL;
	if (ring->first)
		ring->last->next = packet;
	else
		ring->first = packet;
	ring->last = packet;
	ring->bytes += packet->wire_bytes;
	packet->since = now(netdev);
	gauge_enter(&netdev->gauge.queued, packet->since, 1);
	if (!ring->was_full)
		read_frames(netdev, ring);
}

/* ---- receiving ---- */

static void unlink_write(struct netdev *netdev, const struct move *move)
{
	struct move **place = &netdev->writes;

	while (*place != move)
		place = &(*place)->next;
	*place = move->next;
}

static void write_done(struct pcie_write *write)
{
	struct move *move = container_of(write, struct move, write);
	struct netdev *netdev = move->netdev;
	struct packet *packet = move->packet;

	unlink_write(netdev, move);
	gauge_left(&netdev->gauge.writes, move->since, now(netdev), 1);
	pool_give(&netdev->moves, move);
	netdev->count.frames_received++;
	netdev->count.bytes_received += packet->wire_bytes;
	receive_release(netdev->blocks.receive, packet);
	netdev->user->receive(netdev->user, packet);
}

void netdev_arrived(struct netdev *netdev, struct packet *packet)
{
	struct move *move;

	if (packet->damage & ~(WRONG_MAC | MIRRORED)) {
		netdev->count.damaged++;
		receive_done(netdev->blocks.receive, packet);
		return;
	}
	move = move_of(netdev, packet);
	move->write = (struct pcie_write){
		.memory = memory_none(),
		.length = packet->wire_bytes,
		.done = write_done,
	};
	move->next = netdev->writes;
	netdev->writes = move;
	gauge_enter(&netdev->gauge.writes, move->since, 1);
	pcie_write(netdev->blocks.pcie, &move->write);
}

void netdev_set_promiscuous(struct netdev *netdev, bool promiscuous)
{
	netdev->promiscuous = promiscuous;
}

bool netdev_is_promiscuous(const struct netdev *netdev)
{
	return netdev->promiscuous;
}

/* ---- creation ---- */

struct packet_pool *netdev_packets(const struct netdev *netdev)
{
	return netdev->blocks.packets;
}

const struct netdev_counters *netdev_counters(const struct netdev *netdev)
{
	return &netdev->count;
}

struct netdev *netdev_create(struct sim *sim, const char *name, const struct netdev_blocks *blocks,
			     struct netdev_user *user, const struct netdev_limits *limits)
{
	struct netdev *netdev = calloc(1, sizeof(*netdev));

	assert(netdev);
	netdev->blocks = *blocks;
	netdev->user = user;
	netdev->limits = *limits;
	block_init(&netdev->block, sim, &netdev_type, name, NULL, (const uint64_t *)&netdev->count);
	block_gauges(&netdev->block, (struct gauge *)&netdev->gauge);
	pool_init(&netdev->moves, sizeof(struct move), SLAB_MOVES);
	transmit_set_netdev(blocks->transmit, netdev);
	receive_set_netdev(blocks->receive, netdev);
	return netdev;
}

void netdev_destroy(struct netdev *netdev)
{
	if (!netdev)
		return;
	for (uint32_t i = 0; i < NETDEV_PRIORITIES; i++)
		while (netdev->rings[i].first)
			packet_free(netdev->blocks.packets, pop(netdev, &netdev->rings[i]));
	for (struct move *move = netdev->reads; move; move = move->next)
		packet_free(netdev->blocks.packets, move->packet);
	for (struct move *move = netdev->writes; move; move = move->next)
		packet_free(netdev->blocks.packets, move->packet);
	pool_fini(&netdev->moves);
	block_fini(&netdev->block);
	free(netdev);
}
