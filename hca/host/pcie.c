/*
 * pcie: see pcie.h. Departure times are computed when a packet is given to its direction of the link (pcie_link.h), so
 * a read costs two events for all requests that left together: one at the root complex, where it takes its bytes, and
 * one at its last byte's arrival. A write costs one, when it becomes visible.
 *
 * Reads top-down: reads, then writes, then MMIO. Tags come back one by one, at the last byte of their completions; that
 * needs no event unless somebody waits for one.
 */
#include "hca/host/pcie.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "hca/host/tlp.h"

enum { PCIE_TRACE(TRACE_ENUM) };

enum { MMIO_BYTES_MAX = 64, MMIO_SLOTS_FIRST = 64 };

/* Requests of one read that left at the same instant. */
struct request_group {
	struct event event; /* the first one's answer, then the last one's arrival */
	struct pcie_read *read;
	uint32_t offset, length; /* of the read's bytes */
	struct request_group *next_free;
};

struct tag_return {
	sim_time at;
	bool group_ends; /* at the same instant: group_arrived() will look for reads that wait */
};

struct mmio_slot {
	sim_time arrival;
	uint64_t offset;
	uint32_t length;
	uint8_t bytes[MMIO_BYTES_MAX];
};

struct read_queue {
	struct pcie_read *first, **last;
};

struct write_queue {
	struct pcie_write *first, **last;
};

struct pcie {
	struct block block;
	struct pcie_params param;
	struct pcie_counters count;
	struct pcie_link to_host, to_device;

	struct read_queue reads_waiting;
	struct request_group *groups,
		*groups_free; /* [tags + 1]: the last tag may return just before its group */
	uint64_t tags_free;
	struct tag_return
		*tag_returns; /* [tags]: a ring of the tags that are answered, ascending */
	uint64_t tag_return_first, tag_return_count;
	struct event tag_event; /* pending: a read waits for the first of these */

	struct write_queue writes_waiting;
	uint64_t writes_called, writes_sent; /* those that have bytes */
	uint64_t credits_used;               /* bytes of writes that are not visible yet */
	sim_time visible_at;                 /* of the last write sent */

	struct mmio_slot *mmio; /* a ring; [mmio_slots], a power of two */
	uint64_t mmio_slots, mmio_first, mmio_count;
	sim_time mmio_left_at; /* when the last one was on the link */
	struct event mmio_event;
	pcie_mmio_handler *mmio_handler;
	void *mmio_context;
};

static void read_empty(struct event *event);
static void issue_reads(struct pcie *pcie);
static void issue_group(struct pcie *pcie, struct pcie_read *read);
static void reclaim_tags(struct pcie *pcie);
static void await_tag(struct pcie *pcie);
static void tag_returned(struct event *event);
static void answer_group(struct event *event);
static void group_arrived(struct event *event);
static void send_write(struct pcie *pcie, struct pcie_write *write);
static void write_visible(struct event *event);
static void write_empty(struct event *event);
static void mmio_arrived(struct event *event);

static sim_time now(const struct pcie *pcie)
{
	return sim_now(pcie->block.sim);
}

static sim_time send_to_host(struct pcie *pcie, uint64_t bytes)
{
	pcie->count.to_host_bytes += bytes;
	return pcie_link_send(&pcie->to_host, now(pcie), bytes);
}

/* ---- DMA reads ---- */

void pcie_read(struct pcie *pcie, struct pcie_read *read)
{
	assert(read->done && read->memory && read->address + read->length >= read->address);
	read->pcie = pcie;
	read->failed = false;
	read->requested = 0;
	read->completed = 0;
	read->writes_before = pcie->writes_called;
	read->next = NULL;
	pcie->count.reads++;
	pcie->count.read_bytes += read->length;
	trace(&pcie->block, TRACE_PCIE_READ, read->tag, read->address, read->length);
	if (!read->length) {
		event_init(&read->event, &pcie->block, read_empty);
		sim_schedule(&read->event, 0);
		return;
	}
	*pcie->reads_waiting.last = read;
	pcie->reads_waiting.last = &read->next;
	issue_reads(pcie);
	if (read->requested < read->length) {
		pcie->count.read_stalls++;
		trace(&pcie->block, TRACE_PCIE_READ_STALL, read->tag, read->address, read->length);
	}
}

static void read_empty(struct event *event)
{
	struct pcie_read *read = container_of(event, struct pcie_read, event);

	read->pcie->count.reads_done++;
	read->done(read);
}

/* In the order of the calls, as far as tags reach; behind writes of before that were held back. */
static void issue_reads(struct pcie *pcie)
{
	struct pcie_read *read;

	reclaim_tags(pcie);
	while ((read = pcie->reads_waiting.first) && pcie->tags_free &&
	       pcie->writes_sent >= read->writes_before) {
		issue_group(pcie, read);
		if (read->requested == read->length) {
			pcie->reads_waiting.first = read->next;
			if (!read->next)
				pcie->reads_waiting.last = &pcie->reads_waiting.first;
		}
	}
	await_tag(pcie);
}

static void issue_group(struct pcie *pcie, struct pcie_read *read)
{
	struct request_group *group = pcie->groups_free;
	sim_time at_host = 0;
	uint64_t used;

	assert(group);
	pcie->groups_free = group->next_free;
	group->read = read;
	group->offset = read->requested;
	while (pcie->tags_free && read->requested < read->length) {
		sim_time left = send_to_host(pcie, tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0));

		if (!at_host)
			at_host = left + pcie->param.link_latency;
		read->requested +=
			tlp_first_length(read->address + read->requested,
					 read->length - read->requested, pcie->param.request_max);
		pcie->tags_free--;
		pcie->count.read_requests++;
	}
	group->length = read->requested - group->offset;
	used = pcie->param.tags - pcie->tags_free;
	if (used > pcie->count.tags_used_max)
		pcie->count.tags_used_max = used;
	if (at_host < pcie->visible_at) /* a read pushes the writes before it: 2.4.1, rows B */
		at_host = pcie->visible_at;
	event_init(&group->event, &pcie->block, answer_group);
	sim_schedule_at(&group->event, at_host + pcie->param.read_latency);
}

/* The root complex has the bytes of the first request; those of the others are there when it comes to them. */
static void answer_group(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);
	struct pcie_read *read = group->read;
	struct pcie *pcie = read->pcie;
	uint64_t address = read->address + group->offset;
	uint32_t left = group->length;
	sim_time ready = now(pcie), arrival = ready;
	sim_time request_duration =
		pcie_link_duration(&pcie->to_host, tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0));
	bool mapped = true;

	if (read->bytes)
		mapped = memory_read(read->memory, address, (uint8_t *)read->bytes + group->offset,
				     left);
	trace(&pcie->block, TRACE_PCIE_READ_ANSWER, read->tag, address, left);
	while (left) {
		uint32_t length = tlp_first_length(address, left, pcie->param.request_max);
		uint32_t packets = mapped ? tlp_completion_count(&pcie->param, address, length) : 1;
		uint64_t bytes =
			tlp_bytes(&pcie->param, TLP_COMPLETION, packets, mapped ? length : 0);
		uint64_t place = pcie->tag_return_first + pcie->tag_return_count;

		arrival = pcie_link_send(&pcie->to_device, ready, bytes) + pcie->param.link_latency;
		pcie->count.to_device_bytes += bytes;
		assert(pcie->tag_return_count < pcie->param.tags);
		pcie->tag_returns[place % pcie->param.tags] =
			(struct tag_return){arrival, left == length};
		pcie->tag_return_count++;
		pcie->count.completions += packets;
		ready += request_duration;
		address += length;
		left -= length;
	}
	read->failed |= !mapped;
	event_init(&group->event, &pcie->block, group_arrived);
	sim_schedule_at(&group->event, arrival);
	await_tag(pcie);
}

static void group_arrived(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);
	struct pcie_read *read = group->read;
	struct pcie *pcie = read->pcie;

	read->completed += group->length;
	group->next_free = pcie->groups_free;
	pcie->groups_free = group;
	if (read->completed == read->length) {
		pcie->count.reads_done++;
		pcie->count.faults += read->failed;
		trace(&pcie->block, TRACE_PCIE_READ_DONE, read->tag, read->address, read->length);
		read->done(read);
	}
	issue_reads(pcie); /* a group is free again, with all its tags */
}

static void reclaim_tags(struct pcie *pcie)
{
	while (pcie->tag_return_count &&
	       pcie->tag_returns[pcie->tag_return_first].at <= now(pcie)) {
		pcie->tag_return_first = (pcie->tag_return_first + 1) % pcie->param.tags;
		pcie->tag_return_count--;
		pcie->tags_free++;
		assert(pcie->tags_free <= pcie->param.tags);
	}
}

static void await_tag(struct pcie *pcie)
{
	const struct tag_return *next = &pcie->tag_returns[pcie->tag_return_first];

	if (pcie->reads_waiting.first && !pcie->tags_free && pcie->tag_return_count &&
	    !next->group_ends && !event_pending(&pcie->tag_event))
		sim_schedule_at(&pcie->tag_event, next->at);
}

static void tag_returned(struct event *event)
{
	issue_reads(container_of(event, struct pcie, tag_event));
}

/* ---- DMA writes ---- */

void pcie_write(struct pcie *pcie, struct pcie_write *write)
{
	assert(write->done && write->memory && write->address + write->length >= write->address);
	write->pcie = pcie;
	write->failed = false;
	write->next = NULL;
	pcie->count.writes++;
	pcie->count.write_bytes += write->length;
	trace(&pcie->block, TRACE_PCIE_WRITE, write->tag, write->address, write->length);
	if (!write->length) {
		event_init(&write->event, &pcie->block, write_empty);
		sim_schedule(&write->event, 0);
		return;
	}
	pcie->writes_called++;
	if (pcie->writes_waiting.first ||
	    (pcie->credits_used &&
	     pcie->credits_used + write->length > pcie->param.write_credits)) {
		pcie->count.write_stalls++;
		trace(&pcie->block, TRACE_PCIE_WRITE_STALL, write->tag, write->address,
		      write->length);
		*pcie->writes_waiting.last = write;
		pcie->writes_waiting.last = &write->next;
	} else {
		send_write(pcie, write);
	}
}

static void send_write(struct pcie *pcie, struct pcie_write *write)
{
	uint64_t packets = 0;

	for (uint32_t sent = 0; sent < write->length; packets++)
		sent += tlp_first_length(write->address + sent, write->length - sent,
					 pcie->param.payload_max);
	pcie->count.write_packets += packets;
	pcie->writes_sent++;
	pcie->credits_used += write->length;
	pcie->visible_at =
		send_to_host(pcie, tlp_bytes(&pcie->param, TLP_WRITE, packets, write->length)) +
		pcie->param.link_latency + pcie->param.write_latency;
	event_init(&write->event, &pcie->block, write_visible);
	sim_schedule_at(&write->event, pcie->visible_at);
}

static void write_visible(struct event *event)
{
	struct pcie_write *write = container_of(event, struct pcie_write, event);
	struct pcie *pcie = write->pcie;
	struct pcie_write *next;

	if (write->bytes)
		write->failed =
			!memory_write(write->memory, write->address, write->bytes, write->length);
	assert(pcie->credits_used >= write->length);
	pcie->credits_used -= write->length;
	pcie->count.writes_done++;
	pcie->count.faults += write->failed;
	trace(&pcie->block, TRACE_PCIE_WRITE_DONE, write->tag, write->address, write->length);
	while ((next = pcie->writes_waiting.first) &&
	       (!pcie->credits_used ||
		pcie->credits_used + next->length <= pcie->param.write_credits)) {
		pcie->writes_waiting.first = next->next;
		if (!next->next)
			pcie->writes_waiting.last = &pcie->writes_waiting.first;
		send_write(pcie, next);
	}
	issue_reads(pcie);
	write->done(write);
}

static void write_empty(struct event *event)
{
	struct pcie_write *write = container_of(event, struct pcie_write, event);

	write->pcie->count.writes_done++;
	write->done(write);
}

/* ---- MMIO: the CPU's stores ---- */

void pcie_mmio_attach(struct pcie *pcie, pcie_mmio_handler *handler, void *context)
{
	pcie->mmio_handler = handler;
	pcie->mmio_context = context;
}

/* A CPU that stores faster than the link takes it would stall; here the ring grows instead, outside of the HCA's path. */
static void mmio_grow(struct pcie *pcie)
{
	uint64_t slots = pcie->mmio_slots ? 2 * pcie->mmio_slots : MMIO_SLOTS_FIRST;
	struct mmio_slot *ring = calloc(slots, sizeof(*ring));

	assert(ring);
	for (uint64_t i = 0; i < pcie->mmio_count; i++)
		ring[i] = pcie->mmio[(pcie->mmio_first + i) % pcie->mmio_slots];
	free(pcie->mmio);
	pcie->mmio = ring;
	pcie->mmio_slots = slots;
	pcie->mmio_first = 0;
}

void pcie_mmio_write(struct pcie *pcie, uint64_t offset, const void *bytes, uint32_t length)
{
	uint64_t packet_bytes = tlp_bytes(&pcie->param, TLP_WRITE, 1, length);
	struct mmio_slot *slot;

	assert(pcie->mmio_handler && length && length <= MMIO_BYTES_MAX);
	if (pcie->mmio_count == pcie->mmio_slots)
		mmio_grow(pcie);
	slot = &pcie->mmio[(pcie->mmio_first + pcie->mmio_count++) % pcie->mmio_slots];
	slot->offset = offset;
	slot->length = length;
	memcpy(slot->bytes, bytes, length);
	pcie->mmio_left_at = pcie_link_pass(&pcie->to_device, now(pcie) + pcie->param.mmio_latency,
					    pcie->mmio_left_at, packet_bytes);
	pcie->count.to_device_bytes += packet_bytes;
	slot->arrival = pcie->mmio_left_at + pcie->param.link_latency;
	pcie->count.mmio_writes++;
	pcie->count.mmio_bytes += length;
	trace(&pcie->block, TRACE_PCIE_MMIO, 0, offset, length);
	if (!event_pending(&pcie->mmio_event))
		sim_schedule_at(&pcie->mmio_event, slot->arrival);
}

static void mmio_arrived(struct event *event)
{
	struct pcie *pcie = container_of(event, struct pcie, mmio_event);
	struct mmio_slot slot = pcie->mmio[pcie->mmio_first];

	pcie->mmio_first = (pcie->mmio_first + 1) % pcie->mmio_slots;
	if (--pcie->mmio_count)
		sim_schedule_at(&pcie->mmio_event, pcie->mmio[pcie->mmio_first].arrival);
	trace(&pcie->block, TRACE_PCIE_MMIO_DONE, 0, slot.offset, slot.length);
	pcie->mmio_handler(pcie->mmio_context, slot.offset, slot.bytes, slot.length);
}

/* ---- life ---- */

#define ROW(...) PARAM_ROW(struct pcie_params, __VA_ARGS__)
/* clang-format off */
const struct param pcie_param_list[] = { PCIE_PARAMS(ROW) { 0 } };

static const struct block_type pcie_type = {
	.name = "pcie",
	.params = pcie_param_list,
	.counters = (const struct counter[]){ PCIE_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ PCIE_TRACE(TRACE_ENTRY) { 0 } },
};
/* clang-format on */

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

struct pcie *pcie_create(struct sim *sim, const char *name, const struct pcie_params *params)
{
	struct pcie *pcie = calloc(1, sizeof(*pcie));

	assert(pcie && power_of_two(params->payload_max) && power_of_two(params->request_max) &&
	       power_of_two(params->completion_max) && power_of_two(params->read_boundary) &&
	       params->completion_max >= params->read_boundary && params->tags);
	pcie->param = *params;
	block_init(&pcie->block, sim, &pcie_type, name, &pcie->param,
		   (const uint64_t *)&pcie->count);
	pcie_link_init(&pcie->to_host, params->generation + 1, params->lanes, params->dllp_share);
	pcie_link_init(&pcie->to_device, params->generation + 1, params->lanes, params->dllp_share);
	pcie->reads_waiting.last = &pcie->reads_waiting.first;
	pcie->writes_waiting.last = &pcie->writes_waiting.first;
	pcie->tags_free = params->tags;
	pcie->tag_returns = calloc(params->tags, sizeof(pcie->tag_returns[0]));
	pcie->groups = calloc(params->tags + 1, sizeof(pcie->groups[0]));
	assert(pcie->tag_returns && pcie->groups);
	for (uint64_t i = params->tags + 1; i-- > 0;) {
		pcie->groups[i].next_free = pcie->groups_free;
		pcie->groups_free = &pcie->groups[i];
	}
	event_init(&pcie->tag_event, &pcie->block, tag_returned);
	event_init(&pcie->mmio_event, &pcie->block, mmio_arrived);
	mmio_grow(pcie);
	return pcie;
}

void pcie_destroy(struct pcie *pcie)
{
	if (!pcie)
		return;
	sim_cancel(&pcie->tag_event);
	sim_cancel(&pcie->mmio_event);
	for (uint64_t i = 0; i < pcie->param.tags + 1; i++)
		if (pcie->groups[i].read)
			sim_cancel(&pcie->groups[i].event);
	block_fini(&pcie->block);
	free(pcie->tag_returns);
	free(pcie->groups);
	free(pcie->mmio);
	free(pcie);
}

const struct pcie_counters *pcie_counters(const struct pcie *pcie)
{
	return &pcie->count;
}
