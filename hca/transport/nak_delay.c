/* SPDX-License-Identifier: Apache-2.0 */
/* nak_delay: see nak_delay.h. */
#include "hca/transport/nak_delay.h"

#include "hca/transport/transport.h"

#define SLAB_NAKS 16

struct delayed_nak {
	struct delay_item item;
	struct qp *qp; /* held by the NAK */
	uint32_t generation;
	struct response response;
};

static struct qp *release(struct transport_block *transport, struct delayed_nak *delayed)
{
	struct qp *qp = delayed->qp;

	pool_give(&transport->delayed_naks, delayed);
	return qp;
}

/* Passes the NAK to the responder, unless the queue pair was reset or failed meanwhile. */
static void due(struct delay_line *line, struct delay_item *item)
{
	struct transport_block *transport = container_of(line, struct transport_block, naks);
	struct delayed_nak *delayed = container_of(item, struct delayed_nak, item);
	struct qp *qp = delayed->qp;

	if (!qp->destroyed && delayed->generation == qp->responder.generation &&
	    qp->state.state != STATE_ERR)
		responder_owe(qp, &delayed->response);
	qp_drop(release(transport, delayed));
}

void nak_delay_push(struct qp *qp, const struct response *response)
{
	struct transport_block *transport = qp->transport;
	struct delayed_nak *delayed = pool_take_zeroed(&transport->delayed_naks);

	delayed->qp = qp;
	delayed->generation = qp->responder.generation;
	delayed->response = *response;
	qp_hold(qp);
	delay_line_push(&transport->naks, &delayed->item, transport->params->nak_delay);
}

void nak_delay_init(struct transport_block *transport)
{
	pool_init(&transport->delayed_naks, sizeof(struct delayed_nak), SLAB_NAKS);
	delay_line_init(&transport->naks, &transport->block, due);
}

void nak_delay_fini(struct transport_block *transport)
{
	struct delay_item *item;

	while ((item = delay_line_take(&transport->naks)))
		qp_drop(release(transport, container_of(item, struct delayed_nak, item)));
	sim_cancel(&transport->naks.event);
	pool_fini(&transport->delayed_naks);
}
