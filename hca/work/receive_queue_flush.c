/* receive_queue_flush: flush and reset of receive queues; see receive_queue.h. Receive WQEs that are posted to a queue pair in ERR. */
#include "fabric/wire/bytes.h"
#include "hca/transport/qp.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/receive_queue_state.h"

/* Nobody tells the adapter of a receive WQE, and a queue pair in ERR takes none: the record is looked at again, half
 * as often each time nothing is found. */
static void poll_later(struct receive_queue *queue, struct qp *qp)
{
	const struct receive_queue_params *params = queue->owner->params;

	if (qp->state.state != STATE_ERR || qp->destroyed || event_pending(&queue->error_poll) ||
	    queue->error_polls >= params->error_polls)
		return;
	sim_schedule(&queue->error_poll, params->error_poll << queue->error_polls++);
}

static void join(struct receive_queue *queue, struct qp *qp)
{
	struct receive_queues *owner = queue->owner;

	queue->error_poll_for = qp;
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

/* The adapter looks all the time; only a look behind stores of the host can find anything. */
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
			continue; /* the flush schedules the next look */
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
	struct qp *qp = queue->flush_for;

	queue->flush_for = NULL;
	while (qp->state.state == STATE_ERR && queue->taken != queue->posted) {
		struct completion completion = {
			.opcode = CQE_RECEIVE_ERROR,
			.status = WORK_FLUSHED,
			.wqe_counter = (uint16_t)queue->taken,
			.qpn = qp->number,
			.user_index = qp->attr.user_index,
		};

		queue->taken++;
		receive_queue_complete(queue, qp, queue->taken - 1, true);
		qp->hca->transport->count.wqes_flushed++;
		qp->hca->transport->count.receives_flushed++;
		completion_write(qp->recv_cq, &completion, 0);
		queue->error_polls = 0;
	}
	queue->fetched = queue->posted;
	if (qp->state.state == STATE_ERR && !qp->destroyed)
		join(queue, qp);
	poll_later(queue, qp);
	qp_drop(qp);
}

void receive_queue_drop_kept(struct receive_queue *queue)
{
	queue->owner->count.dropped += queue->kept_count;
	if (queue->lines)
		queue->lines->head_read = false;
	while (queue->kept_count)
		pool_give(&queue->owner->wqes, receive_queue_pop(queue));
}

void receive_queue_flush(struct receive_queue *queue, struct qp *qp)
{
	receive_queue_forget_waiter(queue, qp);
	if (queue->shared || queue->flush_for)
		return;
	receive_queue_drop_kept(queue);
	qp_hold(qp);
	queue->flush_for = qp;
	if (!queue->wqes_busy)
		receive_queue_read_record(queue);
}

void receive_queue_reset(struct receive_queue *queue, struct qp *qp)
{
	receive_queue_forget_waiter(queue, qp);
	receive_queue_drop_kept(queue);
	sim_cancel(&queue->error_poll);
	leave(queue);
	queue->error_polls = 0;
	queue->generation++;
	queue->posted = queue->fetched = queue->taken = queue->completed = 0;
	if (queue->flush_for)
		qp_drop(queue->flush_for);
	queue->flush_for = NULL;
}
