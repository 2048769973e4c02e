/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_write: DMA writes, see pcie.h. A write leaves TLP by TLP as far as credits reach and costs one event, when it is
 * visible; one more for each time that it waits for credits. A write that waits holds up the writes and reads called
 * after it, not the reads called before it.
 */
#include <assert.h>

#include "hca/host/pcie_state.h"

static void issue_writes(struct pcie *pcie);
static void await_credits(struct pcie *pcie);
static bool send_packets(struct pcie *pcie, struct pcie_write *write);
static void credits_back(struct event *event);
static void write_visible(struct event *event);
static void write_empty(struct event *event);

static uint32_t data_credits(uint32_t bytes)
{
	return (bytes + CREDIT_DATA_BYTES - 1) / CREDIT_DATA_BYTES;
}

/* Of its next TLP. */
static uint32_t next_length(const struct pcie *pcie, const struct pcie_write *write)
{
	return tlp_first_length(write->address + write->sent, write->length - write->sent,
				pcie->param.mps);
}

void pcie_write(struct pcie *pcie, struct pcie_write *write)
{
	assert(write->done && write->memory && write->address + write->length >= write->address);
	write->pcie = pcie;
	write->failed = false;
	write->next = NULL;
	write->sent = write->packets = write->data_credits = write->unknown = 0;
	write->visible_at = 0;
	pcie->count.writes++;
	pcie->count.write_bytes += write->length;
	trace(&pcie->block, TRACE_PCIE_WRITE, write->tag, write->address, write->length);
	if (!write->length) {
		event_init(&write->event, &pcie->block, write_empty);
		sim_schedule(&write->event, 0);
		return;
	}
	write->serial = (uint32_t)++pcie->writes_called;
	*pcie->writes_waiting.last = write;
	pcie->writes_waiting.last = &write->next;
	issue_writes(pcie);
	if (write->sent < write->length) {
		pcie->count.write_stalls++;
		trace(&pcie->block, TRACE_PCIE_WRITE_STALL, write->tag, write->address,
		      write->length);
	}
}

/* In the order of the calls, as far as credits reach. */
static void issue_writes(struct pcie *pcie)
{
	uint64_t taken = pcie->count.posted_data_taken;
	struct gauge *posted = &pcie->gauge.posted;
	struct pcie_write *write;

	credit_ring_reclaim(&pcie->posted, pcie_now(pcie));
	while ((write = pcie->writes_waiting.first) && send_packets(pcie, write)) {
		pcie->writes_waiting.first = write->next;
		if (!write->next)
			pcie->writes_waiting.last = &pcie->writes_waiting.first;
		pcie->writes_sent++;
		event_init(&write->event, &pcie->block, write_visible);
		if (!write->unknown)
			pcie_schedule(pcie, &write->event, write->visible_at, TURN_VISIBLE,
				      write->serial);
	}
	await_credits(pcie);
	pcie->posted_data_unseen += pcie->count.posted_data_taken - taken;
	if (posted->capacity - pcie->posted.data_free > posted->level_max)
		posted->level_max = posted->capacity - pcie->posted.data_free;
	gauge_wait(&pcie->gauge.posted, pcie_now(pcie), write);
}

/* One event for all that the next TLP needs. With a host the times of some are not known yet, and what comes back is not in the
 * order of departure. */
static void await_credits(struct pcie *pcie)
{
	const struct pcie_write *write = pcie->writes_waiting.first;
	sim_time at;

	if (!write)
		return;
	at = credit_ring_when(&pcie->posted, 1, data_credits(next_length(pcie, write)));
	if (event_pending(&pcie->credit_event)) {
		if (at >= event_time(&pcie->credit_event))
			return;
		sim_cancel(&pcie->credit_event);
	}
	if (at != SIM_NEVER)
		pcie_schedule(pcie, &pcie->credit_event, at, TURN_CREDIT, 0);
}

void pcie_posted_return(struct pcie *pcie, uint32_t data, sim_time visible_at)
{
	sim_time back_at = visible_at + pcie->param.credit_latency;

	credit_ring_return(&pcie->posted, 1, data, back_at);
	gauge_leave(&pcie->gauge.posted, back_at, data);
	gauge_serve(&pcie->gauge.posted, back_at, 0); /* it is occupied until then */
}

void pcie_write_known(struct pcie *pcie, struct pcie_write *write, sim_time visible_at)
{
	assert(write->unknown);
	if (visible_at > write->visible_at)
		write->visible_at = visible_at;
	if (!--write->unknown && write->sent == write->length)
		pcie_schedule(pcie, &write->event, write->visible_at, TURN_VISIBLE, write->serial);
	await_credits(pcie);
}

static void credits_back(struct event *event)
{
	struct pcie *pcie = container_of(event, struct pcie, credit_event);

	issue_writes(pcie);
	pcie_issue_reads(pcie); /* those behind it */
}

/* When the root complex makes visible what would be at `at`, were it alone: behind the writes before it, unless it may pass them.
 * One picosecond behind, since what happens at the same instant has no order of calls. */
sim_time pcie_write_in_order(struct pcie *pcie, const struct pcie_write *write, sim_time at)
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

/* false: for lack of credits some of it has not left. */
static bool send_packets(struct pcie *pcie, struct pcie_write *write)
{
	while (write->sent < write->length) {
		uint64_t address = write->address + write->sent;
		uint32_t length = next_length(pcie, write);
		uint32_t data = data_credits(length);
		sim_time arrival, visible;

		if (!credit_ring_has(&pcie->posted, 1, data))
			return false;
		arrival =
			pcie_to_host(pcie, 1, tlp_bytes(&pcie->param, TLP_WRITE, 1, length), true) +
			pcie->one_way;
		credit_ring_take(&pcie->posted, 1, data);
		gauge_enter(&pcie->gauge.posted, pcie_now(pcie), data);
		pcie->count.posted_headers_taken++;
		pcie->count.posted_data_taken += data;
		pcie->count.write_packets++;
		write->sent += length;
		write->packets++;
		write->data_credits += data;
		if (pcie->host) {
			pcie_host_write(pcie, write, address, length, data, arrival);
			continue;
		}
		visible = pcie_write_in_order(pcie, write, arrival + pcie->param.write_latency);
		pcie_posted_return(pcie, data, visible);
		if (visible > write->visible_at)
			write->visible_at = visible;
	}
	return true;
}

static void write_visible(struct event *event)
{
	struct pcie_write *write = container_of(event, struct pcie_write, event);
	struct pcie *pcie = write->pcie;

	if (write->bytes)
		write->failed =
			!memory_write(write->memory, write->address, write->bytes, write->length);
	pcie->posted_data_unseen -= write->data_credits;
	pcie->count.posted_headers_returned += write->packets;
	pcie->count.posted_data_returned += write->data_credits;
	pcie->count.writes_done++;
	pcie->count.faults += write->failed;
	trace(&pcie->block, TRACE_PCIE_WRITE_DONE, write->tag, write->address, write->length);
	write->done(write);
}

static void write_empty(struct event *event)
{
	struct pcie_write *write = container_of(event, struct pcie_write, event);

	write->pcie->count.writes_done++;
	write->done(write);
}

void pcie_write_init(struct pcie *pcie)
{
	uint64_t bytes = pcie->param.posted_data_credits;

	pcie->writes_waiting.last = &pcie->writes_waiting.first;
	if (bytes < pcie->param.mps) /* 2.6.1: never less than one packet's */
		bytes = pcie->param.mps;
	credit_ring_init(&pcie->posted, pcie->param.posted_headers, bytes / CREDIT_DATA_BYTES);
	event_init(&pcie->credit_event, &pcie->block, credits_back);
}

void pcie_write_fini(struct pcie *pcie)
{
	sim_cancel(&pcie->credit_event);
	credit_ring_fini(&pcie->posted);
}
