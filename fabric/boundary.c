/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boundary: see boundary.h. Two queues: the sender fills one while the receiver empties the other.
 */
#include "fabric/boundary.h"

#include <stdlib.h>

struct boundary {
	struct crossing crossing;
	struct packet_queue left[2];
	uint32_t count[2];
	uint32_t lost[2]; /* the first so many */
	struct port *from;
};

void boundary_leave(struct boundary *boundary, struct packet *packet)
{
	unsigned window = crossing_leave(&boundary->crossing, packet->head_at);

	packet_queue_push(&boundary->left[window], packet);
	boundary->count[window]++;
}

void boundary_lose(struct boundary *boundary)
{
	unsigned window = crossing_window(&boundary->crossing);

	boundary->lost[window] = boundary->count[window];
}

static void take(struct crossing *crossing, unsigned window)
{
	struct boundary *boundary = container_of(crossing, struct boundary, crossing);
	struct packet_queue *left = &boundary->left[window];

	for (; boundary->lost[window]; boundary->lost[window]--)
		link_state_lose(boundary->from->peer, packet_queue_pop(left));
	while (left->head)
		transmit_arrives(crossing->to, boundary->from, packet_queue_pop(left));
	boundary->count[window] = 0;
}

struct boundary *boundary_create(struct port *from)
{
	struct boundary *boundary = aligned_alloc(64, (sizeof(*boundary) + 63) / 64 * 64);

	assert(boundary);
	*boundary = (struct boundary){.from = from};
	crossing_init(&boundary->crossing, from->block.sim, from->peer->block.sim, from->latency,
		      take);
	return boundary;
}

void boundary_destroy(struct boundary *boundary)
{
	for (unsigned window = 0; boundary && window < 2; window++)
		while (boundary->left[window].head)
			packet_free(boundary->from->pool,
				    packet_queue_pop(&boundary->left[window]));
	free(boundary);
}
