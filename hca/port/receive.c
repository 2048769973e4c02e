/* SPDX-License-Identifier: Apache-2.0 */
/* receive: see receive.h. One pending event, for the packet at the pipeline's end. */
#include "hca/port/receive.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/partition.h"
#include "fabric/wire/opcode.h"
#include "hca/port/netdev.h"
#include "hca/port/offload.h"
#include "hca/port/transmit.h"
#include "hca/transport/completer.h"
#include "hca/transport/dc_target.h"
#include "hca/transport/notification.h"
#include "hca/transport/psn.h"
#include "hca/transport/qp.h"
#include "hca/transport/reaction_point.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"
#include "sim/audit.h"
#include "sim/gauge.h"

#define ROW(...)         PARAM_ROW(struct receive_params, __VA_ARGS__)
#define MULTICAST_GROUPS 256

/* clang-format off */
const struct param receive_param_list[] = {RECEIVE_PARAMS(ROW) {0}};
enum { RECEIVE_TRACE(TRACE_ENUM) };

static void audit(struct block *block, FILE *out);

static const struct block_type receive_type = {
	.name         = "receive",
	.params       = receive_param_list,
	.counters     = (const struct counter[]){RECEIVE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){RECEIVE_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){RECEIVE_GAUGES(GAUGE_ENTRY) {0}},
	.audit        = audit,
};
/* clang-format on */

struct membership {
	uint32_t qpn;
	uint8_t gid[16];
};

struct receive_gauges {
	RECEIVE_GAUGES(GAUGE_FIELD)
};

struct receive {
	struct block block;
	struct receive_counters count;
	struct receive_gauges gauge;
	struct port_user user;
	struct receive_blocks blocks;
	struct port *port;
	struct netdev *netdev;   /* NULL if the host's stack does not use the adapter */
	struct offload *offload; /* NULL without one */
	const struct receive_params *params;
	struct packet *first, *last; /* ordered by tail_at; head_at is the end of the pipeline */
	struct event through;
	/* head_at of the last packet in the list, and of the last packet that left the pipeline */
	sim_time last_due, through_at;
	struct membership members[MULTICAST_GROUPS];
	uint32_t member_count;
};

static void port_receive(struct port_user *user, struct port *port, struct packet *packet)
{
	struct receive *receive = container_of(user, struct receive, user);

	assert(port == receive->port);
	packet->ingress = 0;
	receive_packet(receive, packet);
}

static void port_room(struct port_user *user, struct port *port, unsigned vl)
{
	struct receive *receive = container_of(user, struct receive, user);

	assert(port == receive->port);
	transmit_room(receive->blocks.transmit, vl);
}

static void port_departs(struct port_user *user, struct port *port, struct packet *packet,
			 sim_time starts_at, sim_time until)
{
	struct receive *receive = container_of(user, struct receive, user);

	assert(port == receive->port);
	transmit_departs(receive->blocks.transmit, packet, starts_at, until);
}

void receive_stall(struct receive *receive, sim_time until)
{
	sim_time late = until - sim_now(receive->block.sim);

	receive->last_due += late;
	if (receive->last_due < until)
		receive->last_due = until;
	if (receive->through_at < until)
		receive->through_at = until;
	for (struct packet *packet = receive->first; packet; packet = packet->next)
		packet->head_at += late;
	if (!receive->first)
		return;
	sim_cancel(&receive->through);
	sim_schedule_at(&receive->through, receive->first->head_at);
}

/* Inserts a packet by the arrival of its last bit. A loopback packet is announced before its last
 * bit. A packet of the port that arrives earlier goes first, and delays it. */
static void put_in(struct receive *receive, struct packet *packet)
{
	struct packet **place = &receive->first;
	sim_time before = receive->through_at;

	while ((*place)->tail_at <= packet->tail_at) {
		before = (*place)->head_at;
		place = &(*place)->next;
	}
	packet->head_at = packet->tail_at + receive->params->latency;
	packet->next = *place;
	*place = packet;
	for (; packet; packet = packet->next) {
		if (packet->head_at < before + receive->params->interval)
			packet->head_at = before + receive->params->interval;
		before = packet->head_at;
	}
	receive->last_due = before;
	sim_cancel(&receive->through);
	sim_schedule_at(&receive->through, receive->first->head_at);
}

void receive_packet(struct receive *receive, struct packet *packet)
{
	sim_time due = packet->tail_at + receive->params->latency;

	packet->since = sim_now(receive->block.sim);
	gauge_enter(&receive->gauge.held, packet->since, 1);
	if (__builtin_expect(receive->last && packet->tail_at < receive->last->tail_at, 0)) {
		put_in(receive, packet);
		gauge_serve(&receive->gauge.pipe, receive->last_due, receive->params->interval);
		return;
	}
	if (due < receive->last_due + receive->params->interval)
		due = receive->last_due + receive->params->interval;
	receive->last_due = due;
	gauge_serve(&receive->gauge.pipe, due, receive->params->interval);
	packet->head_at = due;
	packet->next = NULL;
	if (receive->last)
		receive->last->next = packet;
	else
		receive->first = packet;
	receive->last = packet;
	if (!event_pending(&receive->through))
		sim_schedule_at(&receive->through, due);
}

static void drop(struct receive *receive, struct packet *packet, uint64_t *counter)
{
	(*counter)++;
	trace(&receive->block, TRACE_DROP, packet->tag, packet->psn, packet->opcode);
	receive_done(receive, packet);
}

/* Drops a packet that is lost (HCA_DROPS of hcasim/run/drops.h). */
static void lose(struct receive *receive, struct packet *packet, uint64_t *counter)
{
	sim_note_loss(receive->block.sim, sim_now(receive->block.sim));
	drop(receive, packet, counter);
}

/* Returns the counter of the failed check, or NULL if all checks passed. */
static uint64_t *check(struct receive *receive, struct qp *qp, const struct packet *packet)
{
	struct receive_counters *count = &receive->count;
	const struct opcode_info *info = &opcode_info[packet->opcode];
	bool receives = qp->state.state >= STATE_RTR && qp->state.state != STATE_ERR;

	if (!info->name || info->transport != qp_transport[qp->attr.type] ||
	    ((qp->attr.type == QP_XRC_INI || qp->attr.type == QP_DCI) &&
	     opcode_is_request(packet->opcode)))
		return &count->no_qp;
	if (!receives)
		return &count->bad_state;
	if (!pkey_matches(packet->pkey, qp->state.pkey))
		return &count->pkey_violations;
	if (qp->attr.type == QP_DCT)
		return NULL; /* the access key permits or refuses the connection */
	if (qp_is_datagram(qp))
		return packet->qkey == qp->state.qkey ? NULL : &count->qkey_violations;
	if (!qp->state.path) /* a DCI that has never been connected */
		return &count->bad_source;
	return packet->path->source == qp->state.path->destination ? NULL : &count->bad_source;
}

static void note_congestion(struct qp *qp, struct packet *packet)
{
	if (packet->ecn == ECN_CE)
		notification_marked(qp, packet);
	if (opcode_is_request(packet->opcode))
		packet->asked_at = packet->sent_at;
}

/* Passes a packet to its transport, when the context of its queue pair is available. */
static void deliver_to_transport(struct receive *receive, struct qp *qp, struct packet *packet)
{
	uint64_t *failed = check(receive, qp, packet);

	if (failed) {
		lose(receive, packet, failed);
		return;
	}
	trace(&receive->block, TRACE_RECEIVE, packet->tag, packet->psn, packet->opcode);
	if (__builtin_expect(!!receive->blocks.transport->congestion, 0))
		note_congestion(qp, packet);
	if (opcode_is_request(packet->opcode)) {
		packet->sent_at =
			sim_now(receive->block.sim); /* only responses need the original value */
		if (opcode_info[packet->opcode].transport != TRANSPORT_DC ||
		    !dc_target_takes(qp, packet))
			responder_receive(qp, packet);
	} else {
		completer_receive(qp, packet);
	}
}

static void append(struct receive *receive, struct arrivals *arrivals, struct packet *packet)
{
	receive->count.context_waits++;
	packet->waits_since = sim_now(receive->block.sim);
	gauge_enter(&receive->gauge.contexts, packet->waits_since, 1);
	packet->next = NULL;
	if (arrivals->last)
		arrivals->last->next = packet;
	else
		arrivals->first = packet;
	arrivals->last = packet;
}

static struct packet *pop(struct receive *receive, struct arrivals *arrivals)
{
	struct packet *packet = arrivals->first;

	gauge_left(&receive->gauge.contexts, packet->waits_since, sim_now(receive->block.sim), 1);
	arrivals->first = packet->next;
	if (!arrivals->first)
		arrivals->last = NULL;
	packet->next = NULL;
	return packet;
}

static void deliver(struct receive *receive, struct qp *qp, struct packet *packet);

static void context_arrived(struct qp *qp, struct arrivals *arrivals)
{
	struct receive *receive = qp->transport->blocks.above->receive;

	receive->count.context_wait_time += sim_now(receive->block.sim) - arrivals->asked_at;
	arrivals->busy = false;
	while (arrivals->first) {
		struct packet *packet = pop(receive, arrivals);

		if (qp->attr.type == QP_DCT && packet->opcode != DC_CONNECT)
			deliver(receive, qp, packet);
		else
			deliver_to_transport(receive, qp, packet);
	}
	qp_drop(qp);
}

static void responder_arrived(struct context_lookup *lookup)
{
	struct arrivals *arrivals = container_of(lookup, struct arrivals, lookup);

	context_arrived(container_of(arrivals, struct qp, requests), arrivals);
}

static void requester_arrived(struct context_lookup *lookup)
{
	struct arrivals *arrivals = container_of(lookup, struct arrivals, lookup);

	context_arrived(container_of(arrivals, struct qp, responses), arrivals);
}

/* Returns the part of the context that a packet needs: the responder's part for requests, the
 * requester's part for responses. */
static enum context_kind kind_of(const struct context_cache *contexts, const struct packet *packet,
				 bool is_request)
{
	if (!is_request)
		return CONTEXT_REQUESTER;
	if (context_cache_separate_rdmarc(contexts) &&
	    (opcode_info[packet->opcode].operation == OP_READ || opcode_is_atomic(packet->opcode)))
		return CONTEXT_READS;
	return CONTEXT_RESPONDER;
}

static void deliver(struct receive *receive, struct qp *qp, struct packet *packet)
{
	struct context_cache *contexts = receive->blocks.contexts;
	bool is_request = opcode_is_request(packet->opcode);
	enum context_kind kind = kind_of(contexts, packet, is_request);
	struct arrivals *arrivals;
	sim_time ready;

	if (!qp) {
		lose(receive, packet, &receive->count.no_qp);
		return;
	}
	/* Packets behind a connect that waits for the DCT's context wait with it. */
	if (qp->attr.type == QP_DCT && packet->opcode != DC_CONNECT && !qp->requests.busy) {
		qp = dc_target_responder(qp, packet);
		if (!qp) {
			drop(receive, packet, &receive->blocks.transport->count.dc_strays);
			return;
		}
	}
	arrivals = is_request ? &qp->requests : &qp->responses;
	if (arrivals->busy) {
		append(receive, arrivals, packet);
		return;
	}
	if (context_cache_hit(contexts, kind, qp->number, qp_is_reliable(qp), packet->tag,
			      &ready)) {
		deliver_to_transport(receive, qp, packet);
		return;
	}
	append(receive, arrivals, packet);
	receive->count.context_misses++;
	arrivals->busy = true;
	arrivals->asked_at = sim_now(receive->block.sim);
	arrivals->lookup = (struct context_lookup){
		.number = qp->number,
		.kind = kind,
		.reliable = qp_is_reliable(qp),
		.tag = packet->tag,
		.done = is_request ? responder_arrived : requester_arrived,
	};
	qp_hold(qp);
	context_cache_lookup(contexts, &arrivals->lookup);
}

static void deliver_multicast(struct receive *receive, struct packet *packet)
{
	receive->count.multicast++;
	for (uint32_t i = 0; i < receive->member_count; i++) {
		const struct membership *member = &receive->members[i];
		struct packet *copy;

		if (memcmp(member->gid, packet->path->dgid, sizeof(member->gid)) != 0)
			continue;
		copy = packet_copy(receive->blocks.packets, packet);
		copy->next = NULL;
		copy->since = sim_now(receive->block.sim);
		gauge_enter(&receive->gauge.held, copy->since, 1);
		copy->ingress = COPY_INGRESS; /* the original holds the port's space */
		deliver(receive, qp_find(receive->blocks.transport, member->qpn), copy);
	}
	receive_done(receive, packet);
}

/* Processes a CNP. The rate limiter is on the chip, so no context is needed. */
static void take_notification(struct receive *receive, struct packet *packet)
{
	if (!receive->blocks.transport->congestion) {
		drop(receive, packet, &receive->count.notifications);
		return;
	}
	reaction_point_notified(receive->blocks.transport,
				qp_find(receive->blocks.transport, packet->dest_qp));
	receive_done(receive, packet);
}

/* ---- progress of queue pairs ---- */

static void advance(uint32_t *expected, uint32_t *unacked, const struct packet *packet)
{
	if (opcode_is_request(packet->opcode) && packet->psn == *expected)
		*expected = psn_add(*expected, 1);
	else if (opcode_info[packet->opcode].operation == OP_READ_RESPONSE &&
		 packet->psn == *unacked)
		*unacked = psn_add(*unacked, 1);
}

void receive_psns(const struct receive *receive, const struct qp *qp, uint32_t *expected,
		  uint32_t *unacked)
{
	*expected = qp->responder.expected_psn;
	*unacked = qp->requester.unacked_psn;
	const struct packet *lists[] = {qp->responder.waiting_first, qp->requests.first,
					qp->responses.first};

	for (unsigned i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct packet *packet = lists[i]; packet; packet = packet->next)
			advance(expected, unacked, packet);
	for (const struct packet *packet = receive->first; packet; packet = packet->next)
		if (packet->dest_qp == qp->number && packet->kind == PACKET_DATA &&
		    opcode_known(packet->opcode))
			advance(expected, unacked, packet);
}

static void through(struct event *event)
{
	struct receive *receive = container_of(event, struct receive, through);
	struct packet *packet = receive->first;

	receive->through_at = packet->head_at;
	receive->first = packet->next;
	if (receive->first)
		sim_schedule_at(&receive->through, receive->first->head_at);
	else
		receive->last = NULL;
	packet->next = NULL;
	receive->count.packets++;
	if (__builtin_expect(packet->damage & WRONG_MAC, 0)) {
		if (receive->netdev && netdev_is_promiscuous(receive->netdev)) {
			netdev_arrived(receive->netdev, packet);
			return;
		}
		drop(receive, packet, &receive->count.foreign_drops);
		return;
	}
	if (__builtin_expect(packet->kind != PACKET_DATA, 0)) {
		if (receive->offload && receive->offload->arrived(receive->offload, packet))
			return;
		if (receive->netdev)
			netdev_arrived(receive->netdev, packet);
		else
			drop(receive, packet, &receive->count.stack_drops);
		return;
	}
	receive->count.payload_bytes += packet->payload_bytes;
	if (packet->damage)
		lose(receive, packet, &receive->count.icrc_errors);
	else if (opcode_known(packet->opcode) && opcode_info[packet->opcode].operation == OP_NOTIFY)
		take_notification(receive, packet);
	else if (packet->dest_qp == MULTICAST_QPN)
		deliver_multicast(receive, packet);
	else
		deliver(receive, qp_find(receive->blocks.transport, packet->dest_qp), packet);
}

static void audit(struct block *block, FILE *out)
{
	const struct receive *receive = container_of(block, struct receive, block);
	uint64_t packets = receive->count.packets;

	for (const struct packet *packet = receive->first; packet; packet = packet->next)
		packets++;
	audit_service(block, out, &receive->gauge.pipe, packets, receive->params->interval);
}

void receive_release(struct receive *receive, const struct packet *packet)
{
	gauge_left(&receive->gauge.held, packet->since, sim_now(receive->block.sim), 1);
	if (packet->ingress < COPY_INGRESS)
		port_release(receive->port, packet->vl, packet->wire_bytes);
}

void receive_done(struct receive *receive, struct packet *packet)
{
	uint32_t wire_bytes = packet->wire_bytes, ingress = packet->ingress;
	sim_time since = packet->since;

	receive_release(receive, packet);
	packet_free(receive->blocks.packets, packet);
	if (ingress == LOOPBACK_INGRESS)
		transmit_taken_in(receive->blocks.transmit, since, wire_bytes);
}

static struct membership *find_member(struct receive *receive, uint32_t qpn, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < receive->member_count; i++)
		if (receive->members[i].qpn == qpn &&
		    memcmp(receive->members[i].gid, gid, sizeof(receive->members[i].gid)) == 0)
			return &receive->members[i];
	return NULL;
}

static void remove_member(struct receive *receive, struct membership *member)
{
	struct membership *end = &receive->members[--receive->member_count];

	memmove(member, member + 1, (size_t)((char *)end - (char *)member));
}

int receive_multicast_attach(struct receive *receive, uint32_t qpn, const uint8_t gid[16])
{
	struct membership *member = &receive->members[receive->member_count];

	if (find_member(receive, qpn, gid))
		return 0;
	if (receive->member_count == MULTICAST_GROUPS)
		return -ENOMEM;
	member->qpn = qpn;
	memcpy(member->gid, gid, sizeof(member->gid));
	receive->member_count++;
	return 0;
}

int receive_multicast_detach(struct receive *receive, uint32_t qpn, const uint8_t gid[16])
{
	struct membership *member = find_member(receive, qpn, gid);

	if (!member)
		return -EINVAL;
	remove_member(receive, member);
	return 0;
}

bool receive_has_group(const struct receive *receive, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < receive->member_count; i++)
		if (memcmp(receive->members[i].gid, gid, sizeof(receive->members[i].gid)) == 0)
			return true;
	return false;
}

void receive_forget_qp(struct receive *receive, struct qp *qp)
{
	while (qp->requests.first)
		lose(receive, pop(receive, &qp->requests), &receive->count.no_qp);
	while (qp->responses.first)
		lose(receive, pop(receive, &qp->responses), &receive->count.no_qp);
	for (uint32_t i = receive->member_count; i-- > 0;)
		if (receive->members[i].qpn == qp->number)
			remove_member(receive, &receive->members[i]);
}

void receive_connect(struct receive *receive, struct port *port)
{
	receive->port = port;
}

void receive_set_offload(struct receive *receive, struct offload *offload)
{
	receive->offload = offload;
}

void receive_set_netdev(struct receive *receive, struct netdev *netdev)
{
	receive->netdev = netdev;
}

struct port_user *receive_port_user(struct receive *receive)
{
	return &receive->user;
}

struct receive *receive_create(struct sim *sim, const char *name,
			       const struct receive_params *params,
			       const struct receive_blocks *blocks)
{
	struct receive *receive = calloc(1, sizeof(*receive));

	assert(receive);
	receive->blocks = *blocks;
	receive->params = params;
	receive->user.receive = port_receive;
	receive->user.room = port_room;
	receive->user.departs = port_departs;
	block_init(&receive->block, sim, &receive_type, name, receive->params,
		   (const uint64_t *)&receive->count);
	block_gauges(&receive->block, (struct gauge *)&receive->gauge);
	receive->gauge.pipe.capacity = 1;
	event_init(&receive->through, &receive->block, through);
	return receive;
}

void receive_destroy(struct receive *receive)
{
	sim_cancel(&receive->through);
	while (receive->first) {
		struct packet *packet = receive->first;

		receive->first = packet->next;
		packet_free(receive->blocks.packets, packet);
	}
	block_fini(&receive->block);
	free(receive);
}

const struct receive_counters *receive_counters(const struct receive *receive)
{
	return &receive->count;
}
