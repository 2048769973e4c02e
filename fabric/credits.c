/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credits: InfiniBand's link-level flow control (IBTA vol. 1, 7.9.4). This end counts what it has sent (FCTBS) and
 * received (ABR), in blocks of 64 bytes modulo 4096, and tells the other end how far it may go: FCCL = ABR + free.
 *
 * When a flow-control packet is sent: when input space of `credit_batch` has become free, or any, if the sender
 * must be short of it. The standard also asks for one at least every 65,536 symbol times. A repetition of what the
 * other end already knows changes nothing and is left out; the one that heals a loss is sent at that time.
 *
 * Hardware tells of credits about every packet. Most of that changes nothing, and costs an event each: unless
 * `credit_batch` says otherwise, a quarter of the buffer is gathered while the sender has what lasts it for the round
 * trip, and whatever is free is told at once when it has not. So no sender ever waits for what is free here.
 */
#include "fabric/port_state.h"

#define REFRESH_SYMBOLS UINT64_C(65536)

/* What the sender may use up, at full rate, from a packet's release here until it has the credits: the packet that the
 * credits have to let pass, their flight there and the next packets' flight here, a packet each at both ends. */
static uint64_t used_meanwhile(const struct port *port)
{
	uint64_t packet_bytes = port->params.mtu + HEADERS_MAX;
	double flight_bytes =
		(double)port->latency * (double)port->rate_bps / (double)ENCODED_BITS_A_BYTE;

	return 2 * (uint64_t)flight_bytes + 4 * packet_bytes;
}

void credits_configure(struct port *port)
{
	uint64_t bytes = port->params.credit_batch ? port->params.credit_batch
						   : port->params.input_buffer / 4;

	port->batch_blocks = (uint32_t)((bytes + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES);
	port->low_blocks =
		port->batch_blocks + credit_blocks((uint32_t)port->params.mtu + HEADERS_MAX);
	if (!port->params.credit_batch &&
	    used_meanwhile(port) > port->low_blocks * CREDIT_BLOCK_BYTES)
		port->low_blocks = (uint32_t)(used_meanwhile(port) / CREDIT_BLOCK_BYTES + 1);
}

/* The first exchange, which real ports do while the link trains. */
void credits_start(struct port *port)
{
	for (unsigned vl = 0; vl < port->params.vls; vl++) {
		port->vls[vl].advertised = (uint16_t)(port->capacity & CREDIT_MASK);
		port->peer->vls[vl].credit_limit = port->vls[vl].advertised;
	}
}

/* FCCL as it would be, were so many more blocks free. */
static uint32_t limit_of(const struct port *port, unsigned vl, uint64_t more_blocks)
{
	uint64_t free_blocks = port->capacity - port->vls[vl].used + more_blocks;

	return (uint32_t)(port->vls[vl].received + free_blocks) & CREDIT_MASK;
}

void credits_restart(struct port *port)
{
	for (unsigned vl = 0; vl < port->params.vls; vl++) {
		uint32_t sent = port->peer->vls[vl].credit_total;

		credits_arrive(port, vl, (sent - port->vls[vl].received) & CREDIT_MASK);
		port->vls[vl].advertised = (uint16_t)limit_of(port, vl, 0);
		port->advertised_at[vl] = sim_now(port->block.sim);
		port->peer->vls[vl].credit_limit = port->vls[vl].advertised;
	}
}

bool credits_wanted(const struct port *port, unsigned vl, uint64_t more_blocks)
{
	uint32_t untold =
		(limit_of(port, vl, more_blocks) - port->vls[vl].advertised) & CREDIT_MASK;
	uint32_t left = (uint32_t)(port->vls[vl].advertised - port->vls[vl].received) & CREDIT_MASK;

	return untold && (untold >= port->batch_blocks || left < port->low_blocks);
}

uint32_t port_credits(const struct port *port, unsigned vl)
{
	if (vl == MANAGEMENT_VL)
		return UINT32_MAX;
	return (uint32_t)(port->vls[vl].credit_limit - port->vls[vl].credit_total) & CREDIT_MASK;
}

void credits_consider(struct port *port, unsigned vl)
{
	if (port->credits_due & 1u << vl || !credits_wanted(port, vl, 0))
		return;
	port->credits_due |= (uint16_t)(1u << vl);
	transmit_kick(port);
}

struct packet *credits_packet(struct port *port)
{
	unsigned vl = (unsigned)__builtin_ctz(port->credits_due);
	struct packet *packet = packet_new(port->pool);

	port->credits_due &= (uint16_t) ~(1u << vl);
	port->vls[vl].advertised = (uint16_t)limit_of(port, vl, 0);
	port->advertised_at[vl] = sim_now(port->block.sim);
	packet->kind = PACKET_FLOW_CONTROL;
	packet->wire_bytes = CREDIT_PACKET_BYTES;
	packet->vl = (uint8_t)vl;
	packet->credit_total = port->vls[vl].credit_total;
	packet->credit_limit = port->vls[vl].advertised;
	port->count.credit_packets_sent++;
	return packet;
}

/* FCTBS tells what was sent; what is missing here was lost on the way and takes no space. */
void credits_receive(struct port *port, const struct packet *packet)
{
	unsigned vl = packet->vl;
	uint32_t lost = (uint32_t)(packet->credit_total - port->vls[vl].received) & CREDIT_MASK;

	port->count.credit_packets_received++;
	port->vls[vl].credit_limit = packet->credit_limit;
	if (lost) {
		credits_arrive(port, vl, lost);
		credits_consider(port, vl);
	}
	if (port->waiting & 1u << vl)
		transmit_kick(port);
}

void credits_arrive(struct port *port, unsigned vl, uint32_t blocks)
{
	port->vls[vl].received = (uint16_t)((port->vls[vl].received + blocks) & CREDIT_MASK);
	port->count.credits_received += blocks;
}

void credits_lost(struct port *port, unsigned vl)
{
	uint64_t symbol_bytes = port->params.width; /* one byte a lane */
	sim_time at =
		port->advertised_at[vl] + transmit_duration(port, REFRESH_SYMBOLS * symbol_bytes);
	sim_time now = sim_now(port->block.sim);

	if (vl == MANAGEMENT_VL)
		return;
	port->refresh_vls |= (uint16_t)(1u << vl);
	if (!event_pending(&port->refresh))
		sim_schedule_at(&port->refresh, at > now ? at : now);
}

void credits_refresh(struct port *port)
{
	port->credits_due |= port->refresh_vls;
	port->refresh_vls = 0;
	transmit_kick(port);
}
