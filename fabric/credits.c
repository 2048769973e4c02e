/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credits: InfiniBand's link-level flow control (IBTA vol. 1, 7.9.4). This end counts the blocks of
 * 64 bytes that it has sent (FCTBS) and received (ABR), modulo 4096. It reports its limit to the
 * other end: FCCL = ABR + free.
 *
 * A flow-control packet is sent when `credit_batch` of input space has become free. It is sent for
 * any free space if the sender must be short of credits. The standard also requires one at least
 * every 65,536 symbol times. A repetition of known values has no effect and is omitted. The
 * repetition that repairs a loss is sent at that time.
 *
 * Hardware sends credits for about every packet. Most of these packets have no effect, and each
 * costs an event. Unless `credit_batch` is set, a quarter of the buffer is collected while the
 * sender has enough credits for a round trip. Otherwise all free space is reported at once. A
 * sender therefore never waits for space that is free.
 */
#include "fabric/port_state.h"

#define REFRESH_SYMBOLS UINT64_C(65536)

/* Returns the bytes that the sender can use at full rate between a release of space and the arrival
 * of the credits. They cover the packet that delays the credits, their flight, the flight of the
 * next packets, and one packet at each end. */
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

/* Performs the initial exchange of credits, which real ports do during link training. */
void credits_start(struct port *port)
{
	for (unsigned vl = 0; vl < port->params.vls; vl++) {
		port->vls[vl].advertised = (uint16_t)(port->capacity & CREDIT_MASK);
		port->peer->vls[vl].credit_limit = port->vls[vl].advertised;
	}
}

/* Returns FCCL if more_blocks were free in addition. */
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

/* Processes a flow-control packet. FCTBS is the number of blocks sent. Missing blocks were lost and
 * take no space. */
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

void credits_lost(struct port *port, unsigned vl)
{
	uint64_t symbol_bytes = port->params.width; /* one byte per lane */
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
