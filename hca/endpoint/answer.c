/*
 * answer: ACKs, NAKs, read responses and atomic responses. Answers go in the order of the requests: while a read or an
 * atomic is owed, an ACK waits behind it (IBTA vol. 1, 9.7.5.1). Otherwise it leaves at once, whatever the port's queue.
 */
#include "hca/endpoint/endpoint_state.h"

struct packet *answer_packet(struct endpoint_qp *qp, uint8_t opcode, uint64_t psn)
{
	struct endpoint_hca *hca = qp->hca;
	struct packet *packet = packet_new(hca->pool);

	packet->path = qp->path;
	packet->vl = qp->lane;
	packet->ingress = SOURCE_ANSWERS;
	packet->hop_limit = qp->path->hop_limit;
	packet->sent_at = endpoint_now(hca);
	packet->serial = ++hca->serial;
	packet->opcode = opcode;
	packet->psn = PSN_OF(psn);
	packet->dest_qp = qp->peer_number;
	packet->pkey = endpoint_pkey(qp);
	packet->syndrome = aeth_syndrome(SYNDROME_ACK, AETH_CREDITS_NONE);
	packet->msn = qp->messages & 0xffffff;
	return packet;
}

void answer_set_priority(struct endpoint_qp *qp, struct packet *packet, uint64_t priority)
{
	struct endpoint_hca *hca = qp->hca;
	struct path path = *qp->path;

	if (priority > 15)
		return;
	path.service_level = (uint8_t)priority; /* made when they were joined */
	packet->path = path_intern(endpoints_paths(hca->endpoints), &path);
	packet->vl = (uint8_t)port_lane(hca->port, path.service_level);
}

static void transmit(struct endpoint_qp *qp, struct packet *packet)
{
	packet->wire_bytes = packet_wire_bytes(packet);
	if (packet->telemetry)
		packet->wire_bytes += (uint32_t)qp->hca->params->telemetry_bytes;
	port_send_at(qp->hca->port, packet, endpoint_now(qp->hca));
}

/* When the last bit of what has its effect now was here. */
static sim_time came_at(const struct endpoint_qp *qp)
{
	return endpoint_now(qp->hca) - qp->hca->params->receive_latency;
}

/* What an ACK says of congestion; where another kind of adapter looks for it, if it goes to one. */
static void fill_notice(struct endpoint_qp *qp, struct packet *ack, sim_time asked_at,
			sim_time came_at)
{
	if (ack->opcode == RC_ACK)
		answer_set_priority(qp, ack, qp->hca->params->ack_priority);
	if (qp->flags & QP_FAR) {
		ack->asked_at = asked_at;
		ack->request_at = came_at;
	} else {
		ack->remote_address = asked_at;
	}
	ack->immediate = qp->marked;
	ack->becn = qp->marked && qp->hca->params->notify == NOTIFY_ACK;
	qp->marked = 0;
}

static struct answer *first_answer(const struct endpoint_qp *qp)
{
	return qp->answers->next;
}

static struct answer *append(struct endpoint_qp *qp)
{
	struct answer *answer = pool_take(&qp->hca->answer_pool);

	if (qp->answers) {
		answer->next = qp->answers->next;
		qp->answers->next = answer;
	} else {
		answer->next = answer;
	}
	qp->answers = answer;
	answer->started = false;
	return answer;
}

static void remove_first(struct endpoint_qp *qp)
{
	struct answer *first = first_answer(qp);

	if (first == qp->answers)
		qp->answers = NULL;
	else
		qp->answers->next = first->next;
	pool_give(&qp->hca->answer_pool, first);
}

void answer_drop_all(struct endpoint_qp *qp)
{
	while (qp->answers)
		remove_first(qp);
}

/* The telemetry goes on with the ACK. */
void answer_ack(struct endpoint_qp *qp, uint64_t psn, struct packet *asked)
{
	struct packet *ack;

	if (qp->answers) {
		struct answer *answer = qp->answers;

		if (answer->kind != OP_ACK)
			answer = append(qp);
		answer->kind = OP_ACK;
		answer->psn = psn;
		answer->ready_at = endpoint_now(qp->hca);
		answer->asked_at = asked->sent_at;
		answer->came_at = came_at(qp);
		return;
	}
	ack = answer_packet(qp, RC_ACK, psn);
	fill_notice(qp, ack, asked->sent_at, came_at(qp));
	ack->telemetry = asked->telemetry;
	asked->telemetry = NULL;
	qp->hca->count.acks_sent++;
	transmit(qp, ack);
}

/* The NAK names the PSN that is missing; selective repeat adds the one that has come (IRN's SACK). */
void answer_nak(struct endpoint_qp *qp, uint64_t psn, uint64_t arrived_psn)
{
	struct endpoint_hca *hca = qp->hca;
	struct packet *nak = answer_packet(qp, RC_ACK, psn);

	nak->syndrome = aeth_syndrome(SYNDROME_NAK, NAK_PSN_SEQUENCE);
	nak->dma_length = PSN_OF(arrived_psn);
	fill_notice(qp, nak, 0, came_at(qp));
	nak->wire_bytes = packet_wire_bytes(nak);
	hca->count.naks_sent++;
	nak->tail_at = endpoint_now(hca) + hca->params->nak_delay;
	if (hca->params->nak_delay)
		packet_line_push(&hca->naks, nak);
	else
		transmit(qp, nak);
}

/* A request that comes again takes the place of what is owed from its PSN on. */
static void forget_from(struct endpoint_qp *qp, uint64_t psn)
{
	while (qp->answers && qp->answers->psn >= psn) {
		struct answer *last = qp->answers, *before = last->next;

		while (before->next != last)
			before = before->next;
		if (before == last) {
			qp->answers = NULL;
		} else {
			before->next = last->next;
			qp->answers = before;
		}
		pool_give(&qp->hca->answer_pool, last);
	}
}

void answer_owe(struct endpoint_qp *qp, const struct packet *request, uint64_t psn)
{
	const struct endpoint_params *params = qp->hca->params;
	bool atomic = opcode_is_atomic(request->opcode);
	struct answer *answer;

	forget_from(qp, psn);
	if (!qp->box)
		join_flow_init(qp, qp->hca->congestion);
	if (!qp->answers)
		departure_begin(qp);
	answer = append(qp);
	answer->kind = atomic ? OP_ATOMIC_ACK : OP_READ_RESPONSE;
	answer->psn = psn;
	answer->bytes = atomic ? 0 : request->dma_length;
	answer->asked_at = request->sent_at;
	answer->came_at = came_at(qp);
	answer->tag = request->tag;
	if (qp->hca->user && qp->hca->user->read_begins && !atomic)
		qp->hca->user->read_begins(qp->hca->user, qp, request->tag, PSN_OF(psn));
	answer->ready_at =
		endpoint_now(qp->hca) + (atomic ? params->atomic_latency : params->read_latency);
	departure_consider(qp);
}

sim_time answer_ready_at(const struct endpoint_qp *qp)
{
	const struct answer *answer = first_answer(qp);

	if (answer->kind == OP_READ_RESPONSE && qp->allowed_at > answer->ready_at)
		return qp->allowed_at;
	return answer->ready_at;
}

static void send_response(struct endpoint_qp *qp, struct answer *answer)
{
	struct endpoint_hca *hca = qp->hca;
	bool last = answer->bytes <= hca->mtu_bytes;
	uint8_t opcode = answer->started ? (last ? RC_READ_RESP_LAST : RC_READ_RESP_MIDDLE)
					 : (last ? RC_READ_RESP_ONLY : RC_READ_RESP_FIRST);
	struct packet *packet = answer_packet(qp, opcode, answer->psn);

	packet->payload_bytes = (uint32_t)(last ? answer->bytes : hca->mtu_bytes);
	packet->ecn = hca->ecn;
	if (qp->flags & QP_FAR)
		packet->request_at = answer->came_at;
	packet->wire_bytes = packet_wire_bytes(packet);
	answer->bytes -= packet->payload_bytes;
	answer->psn++;
	answer->started = true;
	hca->count.data_packets_sent++;
	hca->count.data_bytes_sent += packet->payload_bytes;
	departure_pay(qp, packet);
	port_send(hca->port, packet);
	if (!last)
		return;
	if (hca->user && hca->user->read_ends)
		hca->user->read_ends(hca->user, qp, answer->tag, PSN_OF(answer->psn - 1));
	remove_first(qp);
}

void answer_send(struct endpoint_qp *qp)
{
	struct answer *answer = first_answer(qp);
	struct packet *packet;

	if (answer->kind == OP_READ_RESPONSE) {
		congestion_settle(qp->box->congestion, flow_of(qp), endpoint_now(qp->hca));
		send_response(qp, answer);
		return;
	}
	packet = answer_packet(qp, answer->kind == OP_ACK ? RC_ACK : RC_ATOMIC_ACK, answer->psn);
	fill_notice(qp, packet, answer->asked_at, answer->came_at);
	qp->hca->count.acks_sent += answer->kind == OP_ACK;
	remove_first(qp);
	transmit(qp, packet);
}
