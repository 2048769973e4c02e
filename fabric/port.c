/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port: see port.h. This file has the interfaces to the user and to the other end, creation and
 * destruction.
 */
#include "fabric/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/encoding.h"
#include "fabric/fault.h"
#include "fabric/lp_link.h"
#include "fabric/port_carry.h"
#include "fabric/port_fold.h"
#include "fabric/port_state.h"

bool port_has_room(const struct port *port, unsigned vl)
{
	return port->vls[vl].queued < port->vls[vl].depth;
}

void port_send(struct port *port, struct packet *packet)
{
	assert(port_has_room(port, packet->vl));
	port_send_at(port, packet, sim_now(port->block.sim));
}

void port_drop_at(struct port *port, struct packet *packet, enum drop_reason reason, sim_time at)
{
#define PLACE(X, error, value, where, counter, name, meaning) [DROP_##error] = &port->count.counter,
	uint64_t *counts[] = {PORT_DROPS(PLACE, )};
#undef PLACE

	if (packet->kind == PACKET_FLOW_CONTROL || packet->kind == PACKET_PFC) {
		port->count.control_drops++;
	} else {
		++*counts[reason];
		sim_note_loss(port->block.sim, at);
	}
	trace(&port->block, TRACE_PORT_DROP, packet->tag, reason, packet->wire_bytes);
	packet_free(port->pool, packet);
}

void port_drop(struct port *port, struct packet *packet, enum drop_reason reason)
{
	port_drop_at(port, packet, reason, sim_now(port->block.sim));
}

/* Drops an arriving packet. It holds its space until its last bit has arrived. */
static void discard(struct port *port, struct packet *packet, enum drop_reason reason)
{
	if (input_space_take(port, packet) && !port->shared_input)
		port_release_at(port, packet->vl, packet->wire_bytes, packet->tail_at);
	port_drop(port, packet, reason);
}

static void receive_data(struct port *port, struct packet *packet)
{
	port->arriving_until = packet->tail_at;
	port->arriving_bytes = packet->wire_bytes;
	if (__builtin_expect(port->receive_fault != NULL, 0) &&
	    !fault_judge(port->receive_fault, packet)) {
		discard(port, packet, DROP_FAULT);
		return;
	}
	if (__builtin_expect(packet->damage & port->refuses, 0)) {
		discard(port, packet, packet->damage & DAMAGE_VCRC ? DROP_DAMAGED : DROP_WRONG_MAC);
		return;
	}
	if (!input_space_take(port, packet)) {
		port_drop(port, packet, DROP_NO_SPACE);
		return;
	}
	port->count.packets_received++;
	port->count.bytes_received += packet->wire_bytes;
	trace(&port->block, TRACE_PORT_ARRIVES, packet->tag, packet->tail_at, packet->wire_bytes);
	port->user->receive(port->user, port, packet);
}

static void receive_control(struct port *port, struct packet *packet)
{
	enum drop_reason reason = DROP_DAMAGED;
	bool lost = packet->damage != 0;

	if (port->receive_fault && !fault_judge(port->receive_fault, packet)) {
		reason = DROP_FAULT;
		lost = true;
	}
	lost = lost || packet->damage;
	if (lost) {
		if (packet->kind == PACKET_FLOW_CONTROL)
			credits_lost(port->peer, packet->vl);
		port_drop(port, packet, reason);
	} else if (packet->kind == PACKET_FLOW_CONTROL) {
		credits_receive(port, packet);
		packet_free(port->pool, packet);
	} else {
		pause_receive(port, packet);
	}
}

static void arrive_fire(struct event *event)
{
	struct port *port = container_of(event, struct port, arrive);
	struct packet *packet = packet_queue_pop(&port->flying);

	if (port->flying.head)
		sim_schedule_last(port->block.sim, &port->arrive, port->flying.head->head_at);
	if (packet->kind == PACKET_FLOW_CONTROL || packet->kind == PACKET_PFC)
		receive_control(port, packet);
	else
		receive_data(port, packet);
}

static void refresh_fire(struct event *event)
{
	struct port *port = container_of(event, struct port, refresh);

	if (port->ethernet)
		pause_refresh(port);
	else
		credits_refresh(port);
}

sim_time port_free_at(const struct port *port, unsigned vl)
{
	sim_time now = sim_now(port->block.sim);
	sim_time at = port->busy_until > now ? port->busy_until : now;

	if (port->ethernet && at < port->vls[vl].paused_until)
		at = port->vls[vl].paused_until;
	return at + transmit_duration(port, port->waiting_bytes);
}

sim_time port_busy_until(const struct port *port)
{
	return port->busy_until;
}

void port_tap(struct port *port, port_tap_function *function, void *context)
{
	port->tap = function;
	port->watched = function != NULL;
	port->tap_context = context;
}

void port_set_transmit_fault(struct port *port, struct fault *fault)
{
	assert(!fault || port->ethernet ||
	       !fault_reorders(fault)); /* credits would count a reordered packet as lost */
	port->transmit_fault = fault;
	port->faulty = fault != NULL;
	port->reorders = fault && fault_reorders(fault);
}

void port_set_receive_fault(struct port *port, struct fault *fault)
{
	/* a packet that has arrived cannot arrive later */
	assert(!fault || (!fault_delays(fault) && !fault_reorders(fault)));
	port->receive_fault = fault;
}

void port_count_carried(struct port *port, uint64_t packets, uint64_t bytes)
{
	port->count.packets_sent += packets;
	port->count.bytes_sent += bytes;
	port->peer->count.packets_received += packets;
	port->peer->count.bytes_received += bytes;
}

const char *port_name(const struct port *port)
{
	return port->block.name;
}

uint32_t port_number(const struct port *port)
{
	return port->block.id;
}

struct sim *port_sim(const struct port *port)
{
	return port->block.sim;
}

uint64_t port_rate_bps(const struct port *port)
{
	return port->rate_bps;
}

bool port_is_faster(const struct port *one, const struct port *other)
{
	if (one->ps_per_byte && other->ps_per_byte) /* avoids two cache lines */
		return one->ps_per_byte < other->ps_per_byte;
	return one->rate_bps > other->rate_bps;
}

sim_time port_latency(const struct port *port)
{
	return port->latency;
}

sim_time port_serialization(const struct port *port, uint32_t bytes)
{
	return transmit_duration(port, bytes);
}

struct port *port_peer(const struct port *port)
{
	return port->peer;
}

uint32_t port_gap_bytes(const struct port *port)
{
	return (uint32_t)port->preamble_bytes + port->gap_bytes;
}

enum link_layer port_link_layer(const struct port *port)
{
	return port->ethernet ? LINK_ETHERNET : LINK_INFINIBAND;
}

const struct port_params *port_params(const struct port *port)
{
	return &port->params;
}

unsigned port_vls(const struct port *port)
{
	return port->vl_count;
}

uint32_t port_mtu(const struct port *port)
{
	return port->mtu;
}

unsigned port_vl(const struct port *port, unsigned service_level)
{
	return service_level % (unsigned)port->params.vls;
}

unsigned port_queued(const struct port *port, unsigned vl)
{
	return port->vls[vl].queued;
}

uint64_t port_queued_bytes(const struct port *port, unsigned vl)
{
	return port->vls[vl].queued_bytes;
}

uint64_t port_leaving_bytes(const struct port *port)
{
	sim_time now = sim_now(port->block.sim);
	sim_time left = port->busy_until > now ? port->busy_until - now : 0;

	if (port->ps_per_byte)
		return left / port->ps_per_byte;
	return (uint64_t)((double)left * (double)port->rate_bps / (double)ENCODED_BITS_A_BYTE);
}

bool port_is_up(const struct port *port)
{
	return !port->down;
}

uint64_t port_flying_bytes(const struct port *port)
{
	uint64_t bytes = 0;

	for (const struct packet *packet = port->flying.head; packet; packet = packet->next)
		if (packet->kind != PACKET_FLOW_CONTROL && packet->kind != PACKET_PFC)
			bytes += packet->wire_bytes;
	return bytes;
}

const struct port_counters *port_counters(const struct port *port)
{
	return &port->count;
}

/* The queues of a VL are allocated with its first waiting packet, because most VLs carry none. */
static void configure_queues(struct port *port)
{
	free(port->wide);
	port->wide = NULL;
	if (port->sources > 64) {
		port->wide = calloc(PORT_VLS, sizeof(port->wide[0]));
		assert(port->wide);
	}
}

/* Computes all values that depend on the parameters. */
static void configure(struct port *port)
{
	const struct port_params *params = &port->params;

	assert(!port->peer);
	if (port->ethernet && params->vls > ETHERNET_VLS)
		port->params.vls = ETHERNET_VLS;
	if (!port->has_tables) {
		schedule_destroy(port->schedule);
		port->schedule = schedule_create(params);
		port->scheduled = port->schedule != NULL;
	}
	port->vl_count = (uint8_t)port->params.vls;
	assert(params->mtu <= UINT16_MAX);
	port->mtu = (uint16_t)params->mtu;
	configure_queues(port);
	transmit_configure(port);
	hoq_timeout_configure(port);
	input_space_configure(port);
	if (port->ethernet)
		pause_configure(port);
	else
		credits_configure(port);
}

void port_set_params(struct port *port, const struct port_params *params)
{
	port->params = *params;
	configure(port);
}

void port_set_length(struct port *port, double metres)
{
	port->params.length = metres;
	configure(port);
}

void port_set_rate(struct port *port, uint64_t rate_bps)
{
	port->params.rate = rate_bps;
	port->params.speed = SPEED_EXPLICIT;
	configure(port);
}

static bool holds_a_packet(const struct port *port)
{
	uint64_t bytes = port->params.mtu + HEADERS_MAX;

	return port->capacity >= (port->ethernet ? bytes : credit_blocks((uint32_t)bytes));
}

bool port_fits(const struct port *one, const struct port *other, char *error, size_t error_bytes)
{
	const struct port *ends[] = {one, other};
	const char *differs = NULL;

	if (one->ethernet != other->ethernet)
		differs = "link layer";
	else if (one->rate_bps != other->rate_bps)
		differs = "rate";
	else if (one->params.vls != other->params.vls)
		differs = "number of VLs";
	else if (one->params.mtu != other->params.mtu)
		differs = "mtu";
	if (differs) {
		snprintf(error, error_bytes, "%s and %s differ in %s", one->block.name,
			 other->block.name, differs);
		return false;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		if (!holds_a_packet(ends[i])) {
			snprintf(error, error_bytes,
				 "%s: input_buffer is smaller than a packet of the MTU",
				 ends[i]->block.name);
			return false;
		}
	}
	return true;
}

void port_connect(struct port *one, struct port *other)
{
	assert(one != other && !one->peer && !other->peer && one->ethernet == other->ethernet);
	assert(one->rate_bps == other->rate_bps && one->params.vls == other->params.vls);
	one->peer = other;
	other->peer = one;
	if (!one->ethernet) {
		credits_start(one);
		credits_start(other);
	}
	if (one->block.sim != other->block.sim) {
		one->lp_link = lp_link_create(one);
		other->lp_link = lp_link_create(other);
		one->between_lps = other->between_lps = true;
	}
}

void port_set_vl_arbitration(struct port *port, const struct vl_arbitration *tables)
{
	assert(!port->ethernet);
	schedule_destroy(port->schedule);
	port->schedule = schedule_create_tables(tables);
	port->scheduled = true;
	port->has_tables = true;
}

void port_set_scheduler(struct port *port, const struct port_scheduler *scheduler)
{
	schedule_destroy(port->schedule);
	port->schedule = schedule_create_custom(scheduler, port);
	port->scheduled = true;
}

void port_share_input(struct port *port)
{
	assert(port->ethernet && !port->peer);
	port->shared_input = true;
}

void port_set_aside(struct port *port)
{
	port->block.aside = true;
}

bool port_is_aside(const struct port *port)
{
	return port->block.aside;
}

void port_refuse_wrong_mac(struct port *port)
{
	port->refuses |= WRONG_MAC;
}

void port_set_sources(struct port *port, unsigned sources)
{
	assert(sources >= 1 && sources <= PORT_SET_PORTS && !port->waiting);
	port->sources = (uint16_t)sources;
	configure(port);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct port_params, __VA_ARGS__)
const struct param port_param_list[] = { PORT_PARAMS(ROW) { 0 } };

/* Updates the gauges by the bytes that were sent, including the departing packet. */
static void settle(struct block *block)
{
	struct port *port = container_of(block, struct port, block);
	uint64_t between = (uint64_t)port->preamble_bytes + port->gap_bytes;

	port->gauge.link.area =
		(uint64_t)((double)(port->count.bytes_sent + port->count.packets_sent * between) *
			   (double)ENCODED_BITS_A_BYTE / (double)port->rate_bps);
	port->gauge.link.until = port->busy_until;
}

/* A port is blocked only while a priority is paused. */
static void audit(struct block *block, FILE *out)
{
	const struct port *port = container_of(block, struct port, block);
	sim_time blocked = gauge_stalled(&port->gauge.blocked, sim_now(block->sim)), paused = 0;

	for (unsigned vl = 0; port->ethernet && vl < ETHERNET_VLS; vl++)
		paused += port_paused_time(port, vl);
	if (port->ethernet && blocked > paused)
		block_equal(block, out, "time blocked = time paused, of all priorities", blocked,
			    paused);
}

static const struct block_type port_type = {
	.name         = "port",
	.params       = port_param_list,
	.counters     = (const struct counter[]){ PORT_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ PORT_TRACE(TRACE_ENTRY) { 0 } },
	.gauges       = (const struct gauge_info[]){ PORT_GAUGES(GAUGE_ENTRY) { 0 } },
	.settle       = settle,
	.fold         = port_fold,
	.carry        = port_carry,
	.audit        = audit,
};
/* clang-format on */

struct port *port_create(struct sim *sim, const char *name, const struct port_params *params,
			 enum link_layer link_layer, struct packet_pool *pool,
			 struct port_user *user)
{
	unsigned vls = link_layer == LINK_ETHERNET ? ETHERNET_VLS : PORT_VLS;
	struct port *port = sim_arena(sim, sizeof(*port) + vls * sizeof(port->vls[0]));

	assert(user->receive);
	port->params = *params;
	port->ethernet = link_layer == LINK_ETHERNET;
	port->pool = pool;
	port->user = user;
	port->refuses = DAMAGE_VCRC;
	block_init(&port->block, sim, &port_type, name, &port->params, &port->count);
	block_gauges(&port->block, (struct gauge *)&port->gauge);
	port->gauge.link.capacity = 1;
	port->sources = 1;
	transmit_init(port);
	hoq_timeout_init(port);
	input_space_init(port);
	if (port->ethernet)
		pause_init(port);
	configure(port);
	event_init_last(&port->arrive, &port->block, arrive_fire);
	port_fetch_init(port);
	event_init(&port->refresh, &port->block, refresh_fire);
	return port;
}

static void free_queue(struct port *port, struct packet_queue *queue)
{
	while (queue->head)
		packet_free(port->pool, packet_queue_pop(queue));
}

/* Returns packets that are queued or in flight to this port to the pool. */
void port_destroy(struct port *port)
{
	struct event *events[] = {&port->transmit, &port->arrive,  &port->release,
				  &port->refresh,  &port->give_up, &port->react};

	for (unsigned i = 0; i < ARRAY_SIZE(events) - !port->ethernet; i++)
		sim_cancel(events[i]);
	free_queue(port, &port->flying);
	free_queue(port, &port->reacting);
	for (unsigned vl = 0; vl < port_vl_room(port); vl++)
		for (unsigned i = 0; port->vls[vl].queues && i < port->sources; i++)
			free_queue(port, &port->vls[vl].queues[i]);
	lp_link_destroy(port->lp_link);
	if (port->peer) {
		port->peer->peer = NULL;
		port->peer->down = true; /* packets that it still sends are discarded */
	}
	input_space_fini(port);
	bytes_out_fini(port);
	schedule_destroy(port->schedule);
	block_fini(&port->block);
	free(port->wide);
}
