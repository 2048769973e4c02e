/* SPDX-License-Identifier: Apache-2.0 */
/* transmit: see transmit.h. One pending event, for the packet at the pipeline's end. */
#include "hca/port/transmit.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/groups.h"
#include "fabric/wire/opcode.h"
#include "hca/formats/services.h"
#include "hca/port/netdev.h"
#include "hca/port/offload.h"
#include "hca/port/receive.h"
#include "hca/transport/qp.h"
#include "hca/transport/requester.h"
#include "hca/work/scheduler.h"
#include "sim/audit.h"
#include "sim/gauge.h"

#define ROW(...)   PARAM_ROW(struct transmit_params, __VA_ARGS__)
#define LOOPBACK   PORT_VLS /* index of loopback packets, which are watched apart from the VLs */
#define SLAB_WATCH 64

/* clang-format off */
const struct param transmit_param_list[] = {TRANSMIT_PARAMS(ROW) {0}};
enum { TRANSMIT_TRACE(TRACE_ENUM) };

static void audit(struct block *block, FILE *out);

static const struct block_type transmit_type = {
	.name         = "transmit",
	.params       = transmit_param_list,
	.counters     = (const struct counter[]){TRANSMIT_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){TRANSMIT_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){TRANSMIT_GAUGES(GAUGE_ENTRY) {0}},
	.audit        = audit,
};
/* clang-format on */

struct packet_queue {
	struct packet *first, *last;
};

struct watch { /* watch of a message's last packet */
	struct watch *next;
	struct qp *qp;
	struct send_slot *slot;
	uint64_t serial;
	sim_time until;
};

struct watch_queue {
	struct watch *first, *last;
};

struct transmit_gauges {
	TRANSMIT_GAUGES(GAUGE_FIELD)
};

struct transmit {
	struct block block;
	struct transmit_counters count;
	struct transmit_gauges gauge;
	struct transmit_blocks blocks;
	struct port *port;
	struct receive *receive;
	struct netdev *netdev;       /* NULL if the host's stack does not use the adapter */
	struct offload *offload;     /* NULL without one */
	struct hca_watcher *watcher; /* NULL without an observer */
	uint64_t next_serial;
	uint64_t notified; /* serials of packets that bypassed the pipeline */
	const struct transmit_params *params;
	/* packet->head_at is the entry into the pipeline, packet->sent_at the end of it */
	struct packet_queue pipeline;
	struct packet_queue vls[PORT_VLS + 1]; /* the last queue is for loopback packets */
	uint64_t loopback_bytes;               /* looped back and not accepted yet */
	struct event through;
	sim_time free_at, loopback_free_at;
	struct pool watches;
	struct watch_queue watched[PORT_VLS + 1]; /* in the order of departure */
	struct watch *departing;                  /* by `until` */
	struct event departed;
};

static void append(struct packet_queue *queue, struct packet *packet)
{
	packet->next = NULL;
	if (queue->last)
		queue->last->next = packet;
	else
		queue->first = packet;
	queue->last = packet;
}

static struct packet *pop(struct packet_queue *queue)
{
	struct packet *packet = queue->first;

	queue->first = packet->next;
	if (!queue->first)
		queue->last = NULL;
	packet->next = NULL;
	return packet;
}

void transmit_push(struct transmit *transmit, struct packet *packet)
{
	const struct transmit_params *params = transmit->params;
	sim_time now = sim_now(transmit->block.sim);
	sim_time due = now + params->latency, interval = params->interval;

	if (params->send_interval && packet->kind == PACKET_DATA &&
	    opcode_info[packet->opcode].operation == OP_SEND)
		interval = params->send_interval;
	if (due < transmit->free_at)
		due = transmit->free_at;
	transmit->free_at = due + interval;
	gauge_serve(&transmit->gauge.pipe, due, interval);
	gauge_enter(&transmit->gauge.pipeline, now, 1);
	packet->head_at = now;
	packet->sent_at = due;
	packet->serial = ++transmit->next_serial;
	append(&transmit->pipeline, packet);
	if (!event_pending(&transmit->through))
		sim_schedule_at(&transmit->through, due);
}

void transmit_notify(struct transmit *transmit, struct packet *cnp)
{
	sim_time now = sim_now(transmit->block.sim);

	cnp->sent_at = now;
	cnp->serial = ++transmit->next_serial;
	transmit->notified++;
	port_send_at(transmit->port, cnp, now);
}

/* ---- watches of departures ---- */

static unsigned watch_vl(const struct packet *packet)
{
	return packet->path->destination == packet->path->source ? LOOPBACK : packet->vl;
}

void transmit_watch(struct transmit *transmit, struct qp *qp, struct send_slot *slot,
		    const struct packet *packet)
{
	struct watch_queue *queue = &transmit->watched[watch_vl(packet)];
	struct watch *watch = pool_take(&transmit->watches);

	*watch = (struct watch){.qp = qp, .slot = slot, .serial = packet->serial};
	if (queue->last)
		queue->last->next = watch;
	else
		queue->first = watch;
	queue->last = watch;
	slot->departures++;
	qp_hold(qp);
}

static void forget(struct transmit *transmit, struct watch *watch)
{
	struct qp *qp = watch->qp;

	requester_departure_over(qp, watch->slot);
	pool_give(&transmit->watches, watch);
	qp_drop(qp);
}

static void wait_until_out(struct transmit *transmit, struct watch *watch)
{
	struct watch **at = &transmit->departing;

	while (*at && (*at)->until <= watch->until)
		at = &(*at)->next;
	watch->next = *at;
	*at = watch;
	if (transmit->departing != watch)
		return;
	sim_cancel(&transmit->departed);
	sim_schedule_at(&transmit->departed, watch->until);
}

void transmit_departs(struct transmit *transmit, const struct packet *packet, sim_time starts_at,
		      sim_time until)
{
	struct watch_queue *queue = &transmit->watched[watch_vl(packet)];
	struct watch *watch = queue->first;

	if (!watch || watch->serial != packet->serial)
		return;
	queue->first = watch->next;
	if (!queue->first)
		queue->last = NULL;
	requester_departs(watch->qp, watch->slot, packet, starts_at, until);
	if (qp_is_reliable(watch->qp)) {
		forget(transmit, watch);
		return;
	}
	watch->until = until;
	wait_until_out(transmit, watch);
}

static void departed(struct event *event)
{
	struct transmit *transmit = container_of(event, struct transmit, departed);
	struct watch *watch = transmit->departing;

	transmit->departing = watch->next;
	if (transmit->departing)
		sim_schedule_at(&transmit->departed, transmit->departing->until);
	requester_departed(watch->qp, watch->slot);
	forget(transmit, watch);
}

/* ---- packets ---- */

static void report(struct transmit *transmit, const struct packet *packet)
{
	transmit->count.payload_bytes += packet->payload_bytes;
	trace(&transmit->block, TRACE_SEND, packet->tag, packet->psn, packet->opcode);
	if (__builtin_expect(!!transmit->watcher, 0))
		transmit->watcher->sent(transmit->watcher, packet);
}

static void send_packet(struct transmit *transmit, struct packet *packet)
{
	uint32_t wire_bytes = packet->wire_bytes;
	sim_time granted_at = packet->since;

	packet->sent_at = sim_now(transmit->block.sim);
	transmit->count.packets++;
	if (__builtin_expect(packet->kind != PACKET_DATA, 0)) {
		unsigned priority = packet->path->service_level;
		bool of_offload = packet->dest_qp;

		port_send(transmit->port, packet);
		if (of_offload)
			transmit->offload->left(transmit->offload, wire_bytes);
		else
			netdev_left(transmit->netdev, priority, wire_bytes);
		return;
	}
	report(transmit, packet);
	port_send(transmit->port, packet);
	scheduler_release(transmit->blocks.scheduler, granted_at, wire_bytes);
}

/* Reserves the loopback path for the packet. */
static void occupy_loopback(struct transmit *transmit, struct packet *packet)
{
	uint64_t rate = transmit->params->loopback_rate;
	uint64_t bits = packet->wire_bytes * UINT64_C(8);
	sim_time now = sim_now(transmit->block.sim);

	packet->sent_at = now;
	packet->head_at = transmit->loopback_free_at > now ? transmit->loopback_free_at : now;
	packet->tail_at = packet->head_at + (rate ? bits * SEC / rate : 0);
	transmit->loopback_free_at = packet->tail_at;
	transmit->count.loopback++;
	transmit->count.loopback_bytes += packet->wire_bytes;
}

static bool may_loop_back(const struct transmit *transmit, const struct packet *packet)
{
	return transmit->loopback_bytes + packet->wire_bytes <= transmit->params->loopback_bytes;
}

static void loop_back(struct transmit *transmit, struct packet *packet)
{
	uint32_t wire_bytes = packet->wire_bytes;
	sim_time granted_at = packet->since;

	packet->ingress = LOOPBACK_INGRESS;
	transmit->loopback_bytes += wire_bytes;
	gauge_enter(&transmit->gauge.loopback, sim_now(transmit->block.sim), wire_bytes);
	occupy_loopback(transmit, packet);
	transmit_departs(transmit, packet, packet->head_at, packet->tail_at);
	receive_packet(transmit->receive, packet);
	scheduler_release(transmit->blocks.scheduler, granted_at, wire_bytes);
}

void transmit_taken_in(struct transmit *transmit, sim_time since, uint32_t wire_bytes)
{
	struct packet_queue *queue = &transmit->vls[LOOPBACK];
	sim_time now = sim_now(transmit->block.sim);

	assert(transmit->loopback_bytes >= wire_bytes);
	transmit->loopback_bytes -= wire_bytes;
	gauge_left(&transmit->gauge.loopback, since, now, wire_bytes);
	while (queue->first && may_loop_back(transmit, queue->first))
		loop_back(transmit, pop(queue));
	gauge_wait(&transmit->gauge.loopback, now, queue->first);
}

/* Copies a multicast packet to the members on this adapter, including the sender. A switch does not
 * send it back. Verbs refuse the flag that disables the copy. */
static void loop_back_copy(struct transmit *transmit, const struct packet *packet)
{
	struct packet *copy;

	if (packet->dest_qp != MULTICAST_QPN ||
	    !receive_has_group(transmit->receive, packet->path->dgid))
		return;
	copy = packet_copy(transmit->blocks.packets, packet);
	copy->ingress = COPY_INGRESS;
	occupy_loopback(transmit, copy);
	receive_packet(transmit->receive, copy);
}

static void loop_back_in_order(struct transmit *transmit, struct packet *packet)
{
	struct packet_queue *queue = &transmit->vls[LOOPBACK];

	if (!queue->first && may_loop_back(transmit, packet)) {
		loop_back(transmit, packet);
		return;
	}
	transmit->count.loopback_waits++;
	gauge_wait(&transmit->gauge.loopback, sim_now(transmit->block.sim), true);
	append(queue, packet);
}

static void through(struct event *event)
{
	struct transmit *transmit = container_of(event, struct transmit, through);
	struct packet *packet = pop(&transmit->pipeline);
	struct packet_queue *vl = &transmit->vls[packet->vl];

	gauge_left(&transmit->gauge.pipeline, packet->head_at, sim_now(transmit->block.sim), 1);
	if (transmit->pipeline.first)
		sim_schedule_at(&transmit->through, transmit->pipeline.first->sent_at);
	if (__builtin_expect(packet->path->destination >= GROUP_ADDRESS, 0))
		loop_back_copy(transmit, packet);
	if (packet->path->destination == packet->path->source) {
		loop_back_in_order(transmit, packet);
	} else if (!vl->first && port_has_room(transmit->port, packet->vl)) {
		send_packet(transmit, packet);
	} else {
		transmit->count.waits++;
		gauge_enter(&transmit->gauge.vls, sim_now(transmit->block.sim), 1);
		append(vl, packet);
	}
}

void transmit_room(struct transmit *transmit, unsigned vl)
{
	struct packet_queue *queue = &transmit->vls[vl];

	while (queue->first && port_has_room(transmit->port, vl)) {
		gauge_left(&transmit->gauge.vls, queue->first->sent_at,
			   sim_now(transmit->block.sim), 1);
		send_packet(transmit, pop(queue));
	}
}

/* SENDs may have another interval, and their number is not counted, so the audit skips such
 * runs. */
static void audit(struct block *block, FILE *out)
{
	const struct transmit *transmit = container_of(block, struct transmit, block);

	if (!transmit->params->send_interval)
		audit_service(block, out, &transmit->gauge.pipe,
			      transmit->next_serial - transmit->notified,
			      transmit->params->interval);
}

void transmit_connect(struct transmit *transmit, struct port *port, struct receive *receive)
{
	transmit->port = port;
	transmit->receive = receive;
}

void transmit_set_netdev(struct transmit *transmit, struct netdev *netdev)
{
	transmit->netdev = netdev;
}

void transmit_set_offload(struct transmit *transmit, struct offload *offload)
{
	transmit->offload = offload;
}

void transmit_set_watcher(struct transmit *transmit, struct hca_watcher *watcher)
{
	transmit->watcher = watcher;
}

struct transmit *transmit_create(struct sim *sim, const char *name,
				 const struct transmit_params *params,
				 const struct transmit_blocks *blocks)
{
	struct transmit *transmit = calloc(1, sizeof(*transmit));

	assert(transmit);
	transmit->blocks = *blocks;
	transmit->params = params;
	block_init(&transmit->block, sim, &transmit_type, name, transmit->params,
		   (const uint64_t *)&transmit->count);
	block_gauges(&transmit->block, (struct gauge *)&transmit->gauge);
	transmit->gauge.pipe.capacity = 1;
	transmit->gauge.loopback.capacity = transmit->params->loopback_bytes;
	pool_init(&transmit->watches, sizeof(struct watch), SLAB_WATCH);
	event_init(&transmit->through, &transmit->block, through);
	event_init(&transmit->departed, &transmit->block, departed);
	return transmit;
}

static void empty(struct transmit *transmit, struct packet_queue *queue)
{
	while (queue->first) {
		struct packet *packet = pop(queue);

		if (packet->kind == PACKET_DATA)
			scheduler_release(transmit->blocks.scheduler, packet->since,
					  packet->wire_bytes);
		packet_free(transmit->blocks.packets, packet);
	}
}

static void forget_all(struct transmit *transmit, struct watch *watch)
{
	while (watch) {
		struct watch *next = watch->next;

		forget(transmit, watch);
		watch = next;
	}
}

void transmit_destroy(struct transmit *transmit)
{
	sim_cancel(&transmit->through);
	sim_cancel(&transmit->departed);
	forget_all(transmit, transmit->departing);
	for (unsigned vl = 0; vl < ARRAY_SIZE(transmit->watched); vl++)
		forget_all(transmit, transmit->watched[vl].first);
	pool_fini(&transmit->watches);
	empty(transmit, &transmit->pipeline);
	for (unsigned vl = 0; vl < ARRAY_SIZE(transmit->vls); vl++)
		empty(transmit, &transmit->vls[vl]);
	block_fini(&transmit->block);
	free(transmit);
}

const struct transmit_counters *transmit_counters(const struct transmit *transmit)
{
	return &transmit->count;
}
