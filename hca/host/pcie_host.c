/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_host: TLPs at a root complex with a host behind it (host.h). Each TLP has its own events, so
 * that it requests each unit of the host when it reaches that unit. The host translates the
 * address, the TLP waits for earlier writes that it must not pass, and memory serves it. These
 * events run first at their time, because without a host all others would know their times.
 *
 *     read:  arrived --host_translate()--> translated, and in order --host_use()--> ready
 *     write: arrived --host_translate()--> translated --host_use()--> known, and in order: visible
 *
 * PCI Express Base Specification 2.4.1 (ordering).
 */
#include <assert.h>
#include <stdlib.h>

#include "hca/host/pcie_state.h"

/* ---- reads ---- */

static void request_arrived(struct event *event);
static void request_in_order(struct pcie_order *order);
static void go_to_memory(struct request_group *group);
static void read_memory(struct event *event);
static void request_known(struct host_access *access, sim_time done_at);

void pcie_host_read(struct request_group *group, sim_time arrival)
{
	struct pcie_read *read = group->read;
	struct pcie *pcie = read->pcie;

	group->access = (struct host_access){.address = read->address + group->offset,
					     .length = group->length,
					     .known = request_known};
	group->translated_at = SIM_NEVER;
	group->order = (struct pcie_order){.known = request_in_order};
	if (!read->relaxed || !pcie->param.relaxed_ordering)
		pcie_order(pcie, &group->order);
	event_init_priority(&group->event, &pcie->block, request_arrived, PRIORITY_FIRST);
	sim_schedule_at(&group->event, arrival);
}

static void request_arrived(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);

	group->translated_at =
		host_translate(group->read->pcie->host, group->access.address, false);
	if (group->order.until != SIM_NEVER)
		go_to_memory(group);
}

static void request_in_order(struct pcie_order *order)
{
	struct request_group *group = container_of(order, struct request_group, order);

	if (group->translated_at != SIM_NEVER)
		go_to_memory(group);
}

/* Starts the memory access when both times are known: the end of the translation, and the time at
 * which the request is in order. */
static void go_to_memory(struct request_group *group)
{
	struct pcie *pcie = group->read->pcie;
	sim_time at = group->translated_at;

	if (group->order.until > at) {
		pcie->count.order_stalls++;
		pcie->count.order_stall_time += group->order.until - at;
		at = group->order.until;
	}
	pcie_train_init(&group->requests, at, 1);
	pcie_requests_accepted(group);
	pcie_await_room(pcie);
	event_init_priority(&group->event, &pcie->block, read_memory, PRIORITY_FIRST);
	if (at == pcie_now(pcie))
		read_memory(&group->event);
	else
		sim_schedule_at(&group->event, at);
}

static void read_memory(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);

	host_use(group->read->pcie->host, &group->access);
}

static void request_known(struct host_access *access, sim_time done_at)
{
	pcie_request_ready(container_of(access, struct request_group, access), done_at);
}

/* ---- writes ---- */

static void write_arrived(struct event *event);
static void write_memory(struct event *event);
static void write_known(struct host_access *access, sim_time done_at);
static void pass(struct write_packet *packet);
static void make_visible(struct pcie *pcie);
static void become_visible(struct write_packet *packet, sim_time visible_at);
static void release(struct pcie *pcie);

void pcie_host_write(struct pcie *pcie, struct pcie_write *write, uint64_t address, uint32_t length,
		     uint32_t data, sim_time arrival)
{
	struct write_packet *packet = pcie->packets_free;

	assert(packet);
	pcie->packets_free = packet->next;
	*packet = (struct write_packet){.pcie = pcie,
					.write = write,
					.left_at = pcie_now(pcie),
					.data = data,
					.serial = ++pcie->packets_sent,
					.previous = pcie->packets_last};
	packet->access = (struct host_access){
		.address = address, .length = length, .is_write = true, .known = write_known};
	if (packet->previous)
		packet->previous->next = packet;
	else
		pcie->packets_first = packet;
	pcie->packets_last = packet;
	write->unknown++;
	event_init_priority(&packet->event, &pcie->block, write_arrived, PRIORITY_FIRST);
	sim_schedule_at(&packet->event, arrival);
}

static void write_arrived(struct event *event)
{
	struct write_packet *packet = container_of(event, struct write_packet, event);
	struct pcie *pcie = packet->pcie;
	sim_time at = host_translate(pcie->host, packet->access.address, true);

	event_init_priority(&packet->event, &pcie->block, write_memory, PRIORITY_FIRST);
	if (at == pcie_now(pcie))
		write_memory(&packet->event);
	else
		sim_schedule_at(&packet->event, at);
}

static void write_memory(struct event *event)
{
	struct write_packet *packet = container_of(event, struct write_packet, event);

	host_use(packet->pcie->host, &packet->access);
}

static void write_known(struct host_access *access, sim_time done_at)
{
	struct write_packet *packet = container_of(access, struct write_packet, access);
	struct pcie *pcie = packet->pcie;

	packet->is_known = true;
	packet->at = done_at + pcie->param.write_latency;
	if (packet->previous && packet->write->relaxed && pcie->param.relaxed_ordering)
		pass(packet);
	else
		make_visible(pcie);
}

/* Makes a packet visible before earlier packets. Later packets that may not pass it must not be
 * visible before it. */
static void pass(struct write_packet *packet)
{
	sim_time floor = packet->floor > packet->at ? packet->floor : packet->at;

	if (packet->previous->floor < floor)
		packet->previous->floor = floor;
	become_visible(packet, packet->at);
}

/* Returns the time at which a write becomes visible. `at` is that time without other writes. The
 * write waits for earlier writes, unless it may pass them. It is then visible one picosecond after
 * them, because events at one time have no order of calls. */
static sim_time write_in_order(struct pcie *pcie, const struct pcie_write *write, sim_time at)
{
	if (at <= pcie->visible_at) {
		if (write->relaxed && pcie->param.relaxed_ordering)
			return at;
		pcie->count.order_stalls++;
		pcie->count.order_stall_time += pcie->visible_at - at;
		return ++pcie->visible_at;
	}
	return pcie->visible_at = at;
}

/* Makes packets visible in order, up to the first one whose time is unknown. */
static void make_visible(struct pcie *pcie)
{
	struct write_packet *packet;

	while ((packet = pcie->packets_first) && packet->is_known) {
		sim_time floor = packet->floor;

		become_visible(packet, write_in_order(pcie, packet->write, packet->at));
		if (pcie->visible_at < floor)
			pcie->visible_at = floor;
		release(pcie);
	}
}

static void become_visible(struct write_packet *packet, sim_time visible_at)
{
	struct pcie *pcie = packet->pcie;
	sim_time latency = pcie->param.credit_latency;
	struct pcie_train visible;

	if (packet->previous)
		packet->previous->next = packet->next;
	else
		pcie->packets_first = packet->next;
	if (packet->next)
		packet->next->previous = packet->previous;
	else
		pcie->packets_last = packet->previous;
	packet->next = pcie->packets_free;
	pcie->packets_free = packet;
	pcie_train_init(&visible, visible_at, 1);
	pcie_credit_ring_return(&pcie->posted, &visible, packet->data, latency);
	gauge_booked(&pcie->gauge.posted, packet->left_at, visible_at + latency, packet->data);
	pcie_write_known(pcie, packet->write, visible_at);
}

/* ---- transactions that must not pass writes ---- */

static bool is_in_order(const struct pcie *pcie, const struct pcie_order *order)
{
	return !pcie->packets_first || pcie->packets_first->serial > order->behind;
}

void pcie_order(struct pcie *pcie, struct pcie_order *order)
{
	order->behind = pcie->packets_sent;
	order->next = NULL;
	if (is_in_order(pcie, order)) {
		order->until = pcie->visible_at;
		return;
	}
	order->until = SIM_NEVER;
	*pcie->order_last = order;
	pcie->order_last = &order->next;
}

static void release(struct pcie *pcie)
{
	struct pcie_order *order;

	while ((order = pcie->order_first) && is_in_order(pcie, order)) {
		pcie->order_first = order->next;
		if (!order->next)
			pcie->order_last = &pcie->order_first;
		order->until = pcie->visible_at;
		order->known(order);
	}
}

void pcie_order_cancel(struct pcie *pcie, struct pcie_order *order)
{
	for (struct pcie_order **place = &pcie->order_first; *place; place = &(*place)->next) {
		if (*place != order)
			continue;
		*place = order->next;
		if (!order->next)
			pcie->order_last = place;
		return;
	}
}

/* ---- creation and destruction ---- */

void pcie_host_init(struct pcie *pcie)
{
	uint64_t packets = pcie->param.posted_headers;

	pcie->packets = calloc(packets, sizeof(pcie->packets[0]));
	assert(pcie->packets);
	for (uint64_t i = packets; i-- > 0;) {
		pcie->packets[i].next = pcie->packets_free;
		pcie->packets_free = &pcie->packets[i];
	}
}

void pcie_host_fini(struct pcie *pcie)
{
	if (!pcie->host)
		return;
	for (uint64_t i = 0; i < pcie->param.tags + 1; i++)
		host_access_cancel(&pcie->groups[i].access);
	for (uint64_t i = 0; i < pcie->param.posted_headers; i++) {
		if (event_pending(&pcie->packets[i].event))
			sim_cancel(&pcie->packets[i].event);
		host_access_cancel(&pcie->packets[i].access);
	}
	free(pcie->packets);
}
