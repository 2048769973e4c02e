/*
 * port: one end of a full-duplex link: transmit queues per virtual lane (or priority), arbitration between
 * them, flow control, serialization, and the input buffer whose space the other end may use.
 *
 *      user (HCA or switch)                                   user
 *        | port_send()   ^ receive()                            ^
 *     +--v---------------|--+   one pending event a direction  |
 *     |  port               |==================================| port
 *     +---------------------+   rate, length, encoding         +-----
 *
 * Cut-through: receive() is called when the head of a packet arrives; packet->tail_at says when its last bit will.
 * InfiniBand: credits of 64 bytes per VL, returned in flow-control packets (IBTA vol. 1, 7.9).
 * Ethernet: PFC per priority (IEEE 802.1Qbb) sent by the user's word, see port_pause().
 */
#ifndef FABRIC_PORT_H
#define FABRIC_PORT_H

#include "fabric/wire/packet.h"
#include "sim/block.h"

#define PORT_LANES 16

struct port;
struct port_params; /* fabric/port_params.h: the list */

/* Whoever sits behind a port embeds this. */
struct port_user {
	/* The packet's head is here now (head_at == now). The user owns it, and owes its input space:
	 * port_release() once it has left, or been dropped. */
	void (*receive)(struct port_user *user, struct port *port, struct packet *packet);
	/* The transmit queue of that lane has room again, after port_has_room() said no. */
	void (*room)(struct port_user *user, struct port *port, unsigned lane);
	/* The last bit of the packet is out (the memory it came from may be reused). The port frees the packet
	 * at the peer's expense; here only to count and to pace. NULL: not wanted. */
	void (*sent)(struct port_user *user, struct port *port, const struct packet *packet);
};

/* The user outlives the port. params are copied. */
struct port *port_create(struct sim *sim, const char *name, const struct port_params *params,
			 enum link_layer link_layer, struct packet_pool *pool, struct port_user *user);
void port_destroy(struct port *port);

/* Joins two ports by a link, for the whole run, before the first event. */
void port_connect(struct port *one, struct port *other);

/* May one more packet be queued on that lane? */
bool port_has_room(const struct port *port, unsigned lane);

/* Queues the packet on lane packet->vl. There must be room. The packet is the port's from now on. */
void port_send(struct port *port, struct packet *packet);

/* The input space of a received packet is free again: credits go back to the other end. */
void port_release(struct port *port, unsigned lane, uint32_t wire_bytes);

/* Ethernet: ask the other end to stop (or let go) the priorities whose bit is set. */
void port_pause(struct port *port, uint8_t priorities, bool stop);

/* Earliest time at which a packet queued now would start to leave if nothing overtakes it. */
sim_time port_free_at(const struct port *port, unsigned lane);

#endif
