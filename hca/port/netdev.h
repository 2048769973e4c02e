/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netdev: the network device of an Ethernet adapter. The stack of the host sends and receives
 * frames with it, beside RDMA, through the same pipelines and the same port.
 *
 *     stack --netdev_send()--> queue of a priority --PCIe read--> transmit --> port
 *     stack <--receive()------ PCIe write <-------------------- receive <---- port
 *
 * Frames of a priority leave in order. A priority may have scheduler.inflight_bytes in flight
 * (read, or waiting for the port), as all queue pairs together may. The port's arbitration
 * therefore divides the link between traffic classes. Within one class, frames and RDMA share the
 * queue of the class evenly, independent of the number of queue pairs. Descriptors and completions
 * of frames take no time on PCIe.
 */
#ifndef HCA_PORT_NETDEV_H
#define HCA_PORT_NETDEV_H

#include "fabric/wire/packet.h"
#include "sim/block.h"

#define NETDEV_PRIORITIES 8 /* IEEE 802.1Q */

/* clang-format off */
#define NETDEV_COUNTERS(X) \
	X(frames_sent, "packets", "frames passed to the transmit pipeline") \
	X(bytes_sent, "bytes", "of these frames, from Ethernet destination to FCS") \
	X(frames_received, "packets", "frames written to host memory") \
	X(bytes_received, "bytes", "of these frames, from Ethernet destination to FCS") \
	X(damaged, "packets", "received frames that were dropped because of a wrong checksum")

#define NETDEV_GAUGES(X) \
	X(queued, QUEUE, "packets", \
	  "frames that wait because their priority has its bytes in flight") \
	X(reads, QUEUE, "packets", "frames that are read from host memory") \
	X(writes, QUEUE, "packets", "frames that are written to host memory")
/* clang-format on */

struct netdev_counters {
	NETDEV_COUNTERS(COUNTER_FIELD)
};

struct netdev;
struct pcie;
struct port;
struct receive;
struct transmit;

/* The stack of the host. */
struct netdev_user {
	/* A frame is in host memory. The user owns the packet from now on. */
	void (*receive)(struct netdev_user *user, struct packet *packet);
	/* The queue of the priority was full and has room again. */
	void (*room)(struct netdev_user *user, unsigned priority);
};

/* Blocks that the device uses. All must outlive it. */
struct netdev_blocks {
	struct packet_pool *packets;
	struct pcie *pcie;
	struct transmit *transmit;
	struct receive *receive;
	struct port *port;
};

struct netdev_limits {
	uint64_t ring_bytes;     /* frames, in bytes, that a queue holds before it is full */
	uint64_t inflight_bytes; /* of each priority */
};

struct netdev *netdev_create(struct sim *sim, const char *name, const struct netdev_blocks *blocks,
			     struct netdev_user *user, const struct netdev_limits *limits);
void netdev_destroy(struct netdev *netdev);

/* Returns whether the queue of the priority takes one more frame. If not, room() is called
 * later. */
bool netdev_has_room(struct netdev *netdev, unsigned priority);

/* Queues a frame with path, headers, payload and wire_bytes on the priority of its path. A full
 * queue takes it as well. The device owns the packet from now on. */
void netdev_send(struct netdev *netdev, struct packet *packet);

/* Sets whether the stack gets frames for others as well. */
void netdev_set_promiscuous(struct netdev *netdev, bool promiscuous);
bool netdev_is_promiscuous(const struct netdev *netdev);

/* Accepts a frame of the receive pipeline. */
void netdev_arrived(struct netdev *netdev, struct packet *packet);

/* Reports that a frame has left the transmit pipeline for the port. */
void netdev_left(struct netdev *netdev, unsigned priority, uint32_t wire_bytes);

struct packet_pool *netdev_packets(const struct netdev *netdev);
const struct netdev_counters *netdev_counters(const struct netdev *netdev);

#endif
