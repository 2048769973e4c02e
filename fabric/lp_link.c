/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_link: see lp_link.h. Two queues: the sender fills one while the receiver empties the other.
 */
#include "fabric/lp_link.h"

#include <stdlib.h>

struct lp_link {
	struct lp_channel channel;
	struct packet_queue left[2];
	uint32_t count[2];
	uint32_t lost[2]; /* number of packets at the head of the queue that are lost */
	struct port *from;
};

void lp_link_leave(struct lp_link *lp_link, struct packet *packet)
{
	unsigned window = lp_channel_leave(&lp_link->channel, packet->head_at);

	packet_queue_push(&lp_link->left[window], packet);
	lp_link->count[window]++;
}

void lp_link_lose(struct lp_link *lp_link)
{
	unsigned window = lp_channel_window(&lp_link->channel);

	lp_link->lost[window] = lp_link->count[window];
}

static void take(struct lp_channel *channel, unsigned window)
{
	struct lp_link *lp_link = container_of(channel, struct lp_link, channel);
	struct packet_queue *left = &lp_link->left[window];

	for (; lp_link->lost[window]; lp_link->lost[window]--)
		link_state_lose(lp_link->from->peer, packet_queue_pop(left));
	while (left->head)
		transmit_arrives(channel->to, lp_link->from, packet_queue_pop(left));
	lp_link->count[window] = 0;
}

static void carry(struct lp_channel *channel, unsigned window, struct carry *carry)
{
	struct lp_link *lp_link = container_of(channel, struct lp_link, channel);
	struct packet_queue *left = &lp_link->left[window];
	uint32_t count = lp_link->count[window];

	CARRY(carry, count);
	CARRY(carry, lp_link->lost[window]);
	for (uint32_t i = 0; i < count; i++) {
		if (carry->reads) {
			struct packet_pool *pool = lp_link->from->peer->pool;
			struct packet *packet = packet_new(pool);

			packet_carry(pool, packet, carry);
			packet_queue_push(left, packet);
		} else {
			struct packet *packet = packet_queue_pop(left);

			packet_carry(lp_link->from->pool, packet, carry);
			packet_free(lp_link->from->pool, packet);
		}
	}
	if (!carry->reads)
		lp_link->count[window] = lp_link->lost[window] = 0;
}

struct lp_link *lp_link_create(struct port *from)
{
	struct lp_link *lp_link = aligned_alloc(64, (sizeof(*lp_link) + 63) / 64 * 64);

	assert(lp_link);
	*lp_link = (struct lp_link){.from = from};
	lp_channel_init(&lp_link->channel, from->block.sim, from->peer->block.sim, from->latency,
			take);
	lp_link->channel.carry = carry;
	return lp_link;
}

void lp_link_destroy(struct lp_link *lp_link)
{
	for (unsigned window = 0; lp_link && window < 2; window++)
		while (lp_link->left[window].head)
			packet_free(lp_link->from->pool, packet_queue_pop(&lp_link->left[window]));
	free(lp_link);
}
