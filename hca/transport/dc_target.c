/* SPDX-License-Identifier: Apache-2.0 */
/* dc_target: see dc_target.h. DCRs are queue pairs without queues. They are created when first
 * needed, and reused. */
#include "hca/transport/dc_target.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"

#define BUCKETS 2048 /* like LOG_DCR_HASH_TABLE_SIZE of mlxconfig, 11 */
/* above the numbers of all QPs; for contexts and processing units */
#define FIRST_DCR_NUMBER 0x800000

struct dc_responder {
	struct qp *qp;
	struct qp *target; /* held while the DCR is open, and until it is in the pool again */
	struct dc_responder *chain;         /* list of its bucket, or of the pool */
	struct dc_responder *older, *newer; /* list of open DCRs, by last use */
	uint32_t source, initiator;         /* end point of the sender, and its DCI */
	uint32_t session;
	sim_time used_at;
	bool open;
};

struct dc_targets {
	struct transport_block *transport;
	struct dc_responder *buckets[BUCKETS];
	struct dc_responder *oldest, *newest;
	struct dc_responder *rest; /* pool, last in, first out */
	struct dc_responder **all;
	uint32_t count, room;
};

static struct transport_counters *count_of(struct qp *qp)
{
	return &qp->transport->count;
}

static struct dc_targets *targets_of(const struct qp *qp)
{
	return qp->transport->dc_targets;
}

/* ---- open responder contexts ---- */

static struct dc_responder **bucket_of(struct dc_targets *targets, uint32_t target, uint32_t source,
				       uint32_t initiator)
{
	uint32_t mixed = (target * 31 + source) * 31 + initiator;

	return &targets->buckets[(mixed * UINT32_C(2654435761)) >> 21];
}

static struct dc_responder *find(const struct qp *target, const struct packet *packet)
{
	struct dc_responder *dcr = *bucket_of(targets_of(target), target->number,
					      packet->path->source, packet->source_qp);

	while (dcr && (dcr->target != target || dcr->source != packet->path->source ||
		       dcr->initiator != packet->source_qp))
		dcr = dcr->chain;
	return dcr;
}

static void make_newest(struct dc_targets *targets, struct dc_responder *dcr)
{
	dcr->older = targets->newest;
	dcr->newer = NULL;
	if (targets->newest)
		targets->newest->newer = dcr;
	else
		targets->oldest = dcr;
	targets->newest = dcr;
	dcr->used_at = sim_now(targets->transport->block.sim);
}

static void take_out(struct dc_targets *targets, struct dc_responder *dcr)
{
	if (dcr->older)
		dcr->older->newer = dcr->newer;
	else
		targets->oldest = dcr->newer;
	if (dcr->newer)
		dcr->newer->older = dcr->older;
	else
		targets->newest = dcr->older;
}

struct qp *dc_target_responder(struct qp *target, const struct packet *packet)
{
	struct dc_targets *targets = targets_of(target);
	struct dc_responder *dcr = find(target, packet);

	if (!dcr)
		return NULL;
	take_out(targets, dcr);
	make_newest(targets, dcr);
	return dcr->qp;
}

/* ---- the pool ---- */

/* Closes a DCR. Transfers to memory continue. The DCR returns to the pool after the last one. */
static void close_responder(struct dc_responder *dcr)
{
	struct dc_targets *targets = targets_of(dcr->qp);
	struct dc_responder **link =
		bucket_of(targets, dcr->target->number, dcr->source, dcr->initiator);

	assert(dcr->open);
	while (*link != dcr)
		link = &(*link)->chain;
	*link = dcr->chain;
	take_out(targets, dcr);
	dcr->open = false;
	qp_drop(dcr->qp);
}

void dc_target_responder_rest(struct dc_responder *dcr)
{
	struct qp *qp = dcr->qp, *target = dcr->target;
	struct dc_targets *targets = targets_of(qp);

	assert(!dcr->open && !qp->users);
	qp->users = 1; /* for functions that hold and release it meanwhile */
	responder_reset(qp);
	scheduler_forget(qp->transport->blocks.scheduler, &qp->response_entity);
	qp->users = 0;
	qp->state.state = STATE_RESET;
	qp->rq = NULL;
	qp->recv_cq = NULL;
	dcr->target = NULL;
	dcr->chain = targets->rest;
	targets->rest = dcr;
	qp_drop(target);
}

static struct dc_responder *make(struct dc_targets *targets)
{
	struct dc_responder *dcr = calloc(1, sizeof(*dcr));

	assert(dcr);
	if (targets->count == targets->room) {
		targets->room = targets->room ? 2 * targets->room : 64;
		targets->all = realloc(targets->all, targets->room * sizeof(targets->all[0]));
		assert(targets->all);
	}
	dcr->qp = qp_create(targets->transport, &(struct hca_qp_attr){.type = QP_DCR});
	qp_set_number(dcr->qp, FIRST_DCR_NUMBER + targets->count);
	dcr->qp->users = 0;
	dcr->qp->dcr = dcr;
	targets->all[targets->count++] = dcr;
	return dcr;
}

/* Closes the oldest DCR if its initiator was silent for so long that its disconnect must be
 * lost. */
static void reclaim_oldest(struct dc_targets *targets)
{
	struct dc_responder *dcr = targets->oldest;
	const struct transport_params *params = targets->transport->params;

	if (!dcr || sim_now(targets->transport->block.sim) - dcr->used_at < params->dc_lifetime)
		return;
	targets->transport->count.dc_reclaims++;
	close_responder(dcr);
}

static struct dc_responder *take(struct dc_targets *targets)
{
	struct dc_responder *dcr;

	if (!targets->rest && targets->count < targets->transport->params->dc_responders)
		return make(targets);
	if (!targets->rest)
		reclaim_oldest(targets);
	dcr = targets->rest;
	if (dcr)
		targets->rest = dcr->chain;
	return dcr;
}

static void open_responder(struct dc_responder *dcr, struct qp *target, const struct packet *packet,
			   const struct path *back)
{
	struct dc_targets *targets = targets_of(target);
	struct dc_responder **bucket =
		bucket_of(targets, target->number, packet->path->source, packet->source_qp);
	struct qp *qp = dcr->qp;

	dcr->target = target;
	dcr->source = packet->path->source;
	dcr->initiator = packet->source_qp;
	dcr->session = packet->dc_session;
	dcr->open = true;
	dcr->chain = *bucket;
	*bucket = dcr;
	make_newest(targets, dcr);
	qp_hold(target);
	qp_hold(qp);
	qp->attr = target->attr;
	qp->attr.type = QP_DCR;
	qp->rq = target->rq;
	qp->recv_cq = target->recv_cq;
	qp->state = target->state;
	qp->state.state = STATE_RTS;
	qp->state.path = back;
	qp->state.dest_qp = packet->source_qp;
	qp->responder.expected_psn = packet->psn;
}

/* ---- connects and disconnects ---- */

static void respond(struct qp *qp, enum response_kind kind, uint8_t syndrome, uint32_t psn,
		    const struct packet *packet, const struct path *back)
{
	responder_owe(qp, &(struct response){
				  .kind = kind,
				  .ready = true,
				  .syndrome = syndrome,
				  .psn = psn,
				  .msn = qp->responder.msn,
				  .packets = 1,
				  .tag = packet->tag,
				  .request_at = packet->tail_at,
				  .path = back,
				  .dest_qp = packet->source_qp,
			  });
}

static void refuse(struct qp *target, uint8_t syndrome, const struct packet *packet,
		   const struct path *back)
{
	respond(target, RESPONSE_NAK, syndrome, packet->psn, packet, back);
}

static void connect_initiator(struct qp *target, const struct packet *packet)
{
	struct dc_targets *targets = targets_of(target);
	const struct path *back =
		path_reverse(target->transport->blocks.address_resolver->paths, packet->path);
	struct dc_responder *dcr = find(target, packet);

	if (packet->dc_key != target->attr.dc_key) {
		count_of(target)->dc_refusals++;
		refuse(target, aeth_syndrome(SYNDROME_NAK, NAK_REMOTE_ACCESS), packet, back);
		return;
	}
	if (dcr && (dcr->session != packet->dc_session || dcr->qp->state.state == STATE_ERR)) {
		close_responder(dcr);
		dcr = NULL;
	}
	if (!dcr) {
		dcr = take(targets);
		if (!dcr) {
			count_of(target)->dc_shortages++;
			refuse(target, aeth_syndrome(SYNDROME_RNR_NAK, target->state.min_rnr_timer),
			       packet, back);
			return;
		}
		open_responder(dcr, target, packet, back);
	}
	count_of(target)->dc_accepts++;
	respond(dcr->qp, RESPONSE_ACCEPT, aeth_syndrome(SYNDROME_ACK, AETH_CREDITS_NONE),
		psn_add(packet->psn, PSN_MASK), packet, back);
}

bool dc_target_takes(struct qp *qp, struct packet *packet)
{
	if (packet->opcode == DC_CONNECT)
		connect_initiator(qp, packet);
	else if (packet->opcode != DC_DISCONNECT)
		return false;
	/* a packet may have waited for the context of a DCR that was reclaimed */
	else if (qp->dcr->open)
		close_responder(qp->dcr);
	transport_packet_done(qp->transport, packet);
	return true;
}

void dc_target_reset(struct qp *target)
{
	struct dc_targets *targets = targets_of(target);

	for (uint32_t i = 0; i < targets->count; i++) {
		struct dc_responder *dcr = targets->all[i];

		if (dcr->target != target)
			continue;
		transport_forget_packets(dcr->qp->transport, dcr->qp);
		responder_reset(dcr->qp);
		if (dcr->open)
			close_responder(dcr);
	}
}

const struct qp *dc_target_of_responder(const struct dc_responder *dcr)
{
	return dcr->target;
}

/* ---- creation and destruction ---- */

void dc_targets_need(struct transport_block *transport)
{
	struct dc_targets *targets;

	if (transport->dc_targets)
		return;
	targets = calloc(1, sizeof(*targets));
	assert(targets);
	targets->transport = transport;
	transport->dc_targets = targets;
}

void dc_targets_destroy(struct dc_targets *targets)
{
	if (!targets)
		return;
	for (uint32_t i = 0; i < targets->count; i++) {
		struct dc_responder *dcr = targets->all[i];

		dcr->qp->rq = NULL;
		dcr->qp->recv_cq = NULL;
		qp_free(dcr->qp);
		free(dcr);
	}
	free(targets->all);
	free(targets);
}
