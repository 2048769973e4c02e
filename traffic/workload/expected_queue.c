/* SPDX-License-Identifier: Apache-2.0 */
/* expected_queue: see expected_queue.h. */
#include "traffic/workload/expected_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/transport/psn.h"
#include "sim/parallel.h"
#include "sim/pool.h"

struct notification {
	struct expected_queue *to;
	uint32_t flow, packets;
	enum workload_operation operation;
};

/* Mailbox from one LP to another. */
struct mailbox {
	struct lp_channel channel;
	struct notification *left[2];
	uint32_t count[2], room[2];
};

struct expected_queue_mailboxes {
	unsigned lps;
	struct mailbox *between;        /* [from * lps + to] */
	struct pool pools[SIM_LPS_MAX]; /* one per LP */
};

static struct pool *pool_of(const struct expected_queue *expected)
{
	return &expected->mailboxes->pools[expected->lp];
}

/* ---- announcements ---- */

static void append(struct expected_list *queue, struct expected_message *message)
{
	if (queue->last)
		queue->last->next = message;
	else
		queue->first = message;
	queue->last = message;
}

static void take_notification(const struct notification *notification)
{
	struct expected_queue *expected = notification->to;
	uint32_t first_psn = expected->next_psn;
	struct expected_message *message;

	expected->next_psn = psn_add(first_psn, notification->packets);
	if (notification->operation == WORKLOAD_ATOMIC)
		return;
	message = pool_take(pool_of(expected));
	*message = (struct expected_message){.of = expected,
					     .flow = notification->flow,
					     .first_psn = first_psn,
					     .packets = notification->packets,
					     .operation = (uint8_t)notification->operation};
	append(notification->operation == WORKLOAD_READ ? &expected->reads : &expected->data,
	       message);
}

static void take(struct lp_channel *channel, unsigned window)
{
	struct mailbox *mailbox = container_of(channel, struct mailbox, channel);

	for (uint32_t i = 0; i < mailbox->count[window]; i++)
		take_notification(&mailbox->left[window][i]);
	mailbox->count[window] = 0;
}

/* Leaves a notification, which takes effect with its packets. The packets cross by themselves. */
static void leave(struct mailbox *mailbox, const struct notification *notification)
{
	unsigned window = lp_channel_leave(&mailbox->channel, SIM_NEVER);
	uint32_t *room = &mailbox->room[window];

	if (mailbox->count[window] == *room) {
		*room = *room ? 2 * *room : 64;
		mailbox->left[window] =
			realloc(mailbox->left[window], *room * sizeof(struct notification));
		assert(mailbox->left[window]);
	}
	mailbox->left[window][mailbox->count[window]++] = *notification;
}

void expected_queue_add(struct expected_queue *expected, unsigned from, uint32_t flow,
			enum workload_operation operation, uint32_t packets)
{
	const struct expected_queue_mailboxes *mailboxes = expected->mailboxes;
	const struct notification notification = {expected, flow, packets, operation};

	if (from == expected->lp)
		take_notification(&notification);
	else
		leave(&mailboxes->between[from * mailboxes->lps + expected->lp], &notification);
}

/* ---- found ---- */

static struct expected_message *find(const struct expected_list *queue, uint32_t psn)
{
	for (struct expected_message *message = queue->first; message; message = message->next) {
		int32_t place = psn_distance(message->first_psn, psn);

		if (place >= 0 && (uint32_t)place < message->packets)
			return message;
	}
	return NULL;
}

static void drop_first(struct expected_queue *expected, struct expected_list *queue)
{
	struct expected_message *message = queue->first;

	queue->first = message->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(pool_of(expected), message);
}

struct expected_message *expected_queue_find_data(const struct expected_queue *expected,
						  uint32_t psn)
{
	return find(&expected->data, psn);
}

/* Finds a read. The requester has a limited number of reads in flight. A read that is older than
 * this number of reads is complete. */
struct expected_message *expected_queue_find_read(struct expected_queue *expected, uint32_t psn)
{
	struct expected_list *reads = &expected->reads;
	struct expected_message *found = find(reads, psn);
	uint64_t before = 0;

	if (!found)
		return NULL;
	for (const struct expected_message *read = reads->first; read != found; read = read->next)
		before++;
	for (; before >= expected->max_rd_atomic; before--)
		drop_first(expected, reads);
	return found;
}

struct expected_message *expected_queue_oldest_send(const struct expected_queue *expected)
{
	struct expected_message *message = expected->data.first;

	while (message && (message->operation != WORKLOAD_SEND || message->delivered))
		message = message->next;
	return message;
}

void expected_queue_delivered(struct expected_message *message)
{
	struct expected_queue *expected = message->of;

	message->delivered = true;
	while (expected->data.first && expected->data.first->delivered)
		drop_first(expected, &expected->data);
}

/* ---- life ---- */

void expected_queue_init(struct expected_queue *expected,
			 struct expected_queue_mailboxes *mailboxes, struct sim *sim,
			 uint64_t max_rd_atomic)
{
	*expected = (struct expected_queue){
		.mailboxes = mailboxes, .lp = sim_lp_number(sim), .max_rd_atomic = max_rd_atomic};
}

struct expected_queue_mailboxes *expected_queue_mailboxes_create(struct sim *sim)
{
	struct expected_queue_mailboxes *mailboxes = calloc(1, sizeof(*mailboxes));
	unsigned lps = sim_lps(sim);

	assert(mailboxes);
	mailboxes->lps = lps;
	mailboxes->between = calloc((size_t)lps * lps, sizeof(mailboxes->between[0]));
	assert(mailboxes->between);
	for (unsigned i = 0; i < lps * lps; i++) {
		struct sim *from = sim_lp(sim, i / lps), *to = sim_lp(sim, i % lps);

		if (from != to)
			lp_channel_init(&mailboxes->between[i].channel, from, to, SIM_NEVER, take);
	}
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_init(&mailboxes->pools[i], sizeof(struct expected_message), 0);
	return mailboxes;
}

void expected_queue_mailboxes_destroy(struct expected_queue_mailboxes *mailboxes)
{
	for (unsigned i = 0; i < mailboxes->lps * mailboxes->lps; i++)
		for (unsigned window = 0; window < 2; window++)
			free(mailboxes->between[i].left[window]);
	for (unsigned i = 0; i < SIM_LPS_MAX; i++)
		pool_fini(&mailboxes->pools[i]);
	free(mailboxes->between);
	free(mailboxes);
}
