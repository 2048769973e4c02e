/* SPDX-License-Identifier: Apache-2.0 */
/* receive_queue_flush: flush and reset of receive queues, and receive WQEs that are posted to a
 * queue pair in ERR; see receive_queue.h. */
#include "fabric/wire/bytes.h"
#include "hca/work/receive_queue_state.h"

/* Schedules the next read of the record. A receive WQE rings no doorbell, and a queue pair in ERR
 * takes none. Each unsuccessful read doubles the interval. */
static void poll_later(struct receive_queue *queue, struct receive_waiter *waiter)
{
	const struct receive_queue_params *params = queue->owner->params;

	if (!queue->owner->blocks->user->flushes(waiter) || event_pending(&queue->error_poll) ||
	    queue->error_polls >= params->error_polls)
		return;
	sim_schedule(&queue->error_poll, params->error_poll << queue->error_polls++);
}

static void join(struct receive_queue *queue, struct receive_waiter *waiter)
{
	struct receive_queues *owner = queue->owner;

	queue->error_poll_for = waiter;
	if (queue->link_in_error)
		return;
	queue->link_in_error = &owner->in_error;
	queue->next_in_error = owner->in_error;
	if (owner->in_error)
		owner->in_error->link_in_error = &queue->next_in_error;
	owner->in_error = queue;
}

static void leave(struct receive_queue *queue)
{
	if (!queue->link_in_error)
		return;
	*queue->link_in_error = queue->next_in_error;
	if (queue->next_in_error)
		queue->next_in_error->link_in_error = queue->link_in_error;
	queue->link_in_error = NULL;
}

/* Restarts the polls after a program ran. A real adapter polls all the time, but only a poll after
 * a store of the host can find a WQE. */
void receive_queues_host_ran(struct receive_queues *queues, sim_time until)
{
	sim_time now = sim_now(queues->block.sim);
	sim_time due = (until > now ? until : now) + queues->params->error_poll;

	if (!queues->params->error_polls)
		return;
	for (struct receive_queue *queue = queues->in_error; queue; queue = queue->next_in_error) {
		queue->error_polls = 0;
		if (queue->flush_for ||
		    (event_pending(&queue->error_poll) && event_time(&queue->error_poll) <= due))
			continue; /* the flush schedules the next poll */
		sim_cancel(&queue->error_poll);
		sim_schedule_at(&queue->error_poll, due);
	}
}

void receive_queue_poll(struct event *event)
{
	struct receive_queue *queue = container_of(event, struct receive_queue, error_poll);

	receive_queue_flush(queue, queue->error_poll_for);
}

void receive_queue_flush_known(struct receive_queue *queue)
{
	const struct receive_queue_user *user = queue->owner->blocks->user;
	struct receive_waiter *waiter = queue->flush_for;

	queue->flush_for = NULL;
	while (user->flushes(waiter) && queue->taken != queue->posted) {
		uint32_t sequence = queue->taken++;

		receive_queue_complete(queue, waiter, sequence, true);
		user->flushed(waiter, (uint16_t)sequence);
		queue->error_polls = 0;
	}
	queue->fetched = queue->posted;
	if (user->flushes(waiter))
		join(queue, waiter);
	poll_later(queue, waiter);
	user->drop(waiter);
}

void receive_queue_drop_kept(struct receive_queue *queue)
{
	queue->owner->count.dropped += queue->kept_count;
	if (queue->lines)
		queue->lines->head_read = false;
	while (queue->kept_count)
		pool_give(&queue->owner->wqes, receive_queue_pop(queue));
}

void receive_queue_flush(struct receive_queue *queue, struct receive_waiter *waiter)
{
	receive_queue_forget_waiter(queue, waiter);
	if (queue->shared || queue->flush_for)
		return;
	receive_queue_drop_kept(queue);
	queue->owner->blocks->user->hold(waiter);
	queue->flush_for = waiter;
	if (!queue->wqes_busy)
		receive_queue_read_record(queue);
}

void receive_queue_reset(struct receive_queue *queue, struct receive_waiter *waiter)
{
	receive_queue_forget_waiter(queue, waiter);
	receive_queue_drop_kept(queue);
	sim_cancel(&queue->error_poll);
	leave(queue);
	queue->error_polls = 0;
	queue->generation++;
	queue->posted = queue->fetched = queue->taken = queue->completed = 0;
	if (queue->flush_for)
		queue->owner->blocks->user->drop(queue->flush_for);
	queue->flush_for = NULL;
}
