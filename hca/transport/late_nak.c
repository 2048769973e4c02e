/* SPDX-License-Identifier: Apache-2.0 */
/* late_nak: see late_nak.h. */
#include "hca/transport/late_nak.h"

#include "hca/transport/transport.h"

#define SLAB_NAKS 16

struct late_nak {
	struct delay_item item;
	struct qp *qp; /* held */
	uint32_t generation;
	struct response response;
};

static struct qp *release(struct transport_block *transport, struct late_nak *late)
{
	struct qp *qp = late->qp;

	pool_give(&transport->late_naks, late);
	return qp;
}

/* Unless the queue pair has begun anew, or failed, meanwhile. */
static void due(struct delay_line *line, struct delay_item *item)
{
	struct transport_block *transport = container_of(line, struct transport_block, naks);
	struct late_nak *late = container_of(item, struct late_nak, item);
	struct qp *qp = late->qp;

	if (!qp->destroyed && late->generation == qp->responder.generation &&
	    qp->state.state != STATE_ERR)
		responder_owe(qp, &late->response);
	qp_drop(release(transport, late));
}

void late_nak_push(struct qp *qp, const struct response *response)
{
	struct transport_block *transport = qp->transport;
	struct late_nak *late = pool_take_zeroed(&transport->late_naks);

	late->qp = qp;
	late->generation = qp->responder.generation;
	late->response = *response;
	qp_hold(qp);
	delay_line_push(&transport->naks, &late->item, transport->params->nak_delay);
}

void late_nak_init(struct transport_block *transport)
{
	pool_init(&transport->late_naks, sizeof(struct late_nak), SLAB_NAKS);
	delay_line_init(&transport->naks, &transport->block, due);
}

void late_nak_fini(struct transport_block *transport)
{
	struct delay_item *item;

	while ((item = delay_line_take(&transport->naks)) != NULL)
		qp_drop(release(transport, container_of(item, struct late_nak, item)));
	sim_cancel(&transport->naks.event);
	pool_fini(&transport->late_naks);
}
