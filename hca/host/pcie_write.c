/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_write: DMA writes, see pcie.h. A write leaves in TLPs as credits allow. It costs one event
 * when it is visible, and one more event for each wait for credits. A waiting write holds up the
 * writes and reads called after it, but not the reads called before it.
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

/* Returns the length of the write's next TLP. */
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

/* Sends the waiting writes in the order of the calls, until credits are exhausted. */
static void issue_writes(struct pcie *pcie)
{
	uint64_t taken = pcie->count.posted_data_taken;
	struct gauge *posted = &pcie->gauge.posted;
	struct pcie_write *write;

	pcie_credit_ring_reclaim(&pcie->posted, pcie_now(pcie));
	while ((write = pcie->writes_waiting.first) && send_packets(pcie, write)) {
		pcie->writes_waiting.first = write->next;
		if (!write->next)
			pcie->writes_waiting.last = &pcie->writes_waiting.first;
		pcie->writes_sent++;
		event_init(&write->event, &pcie->block, write_visible);
		if (!write->unknown)
			pcie_schedule(pcie, &write->event, write->visible_at, RANK_VISIBLE,
				      write->serial);
	}
	await_credits(pcie);
	pcie->posted_data_unseen += pcie->count.posted_data_taken - taken;
	if (posted->capacity - pcie->posted.data_free > posted->level_max)
		posted->level_max = posted->capacity - pcie->posted.data_free;
	gauge_wait(&pcie->gauge.posted, pcie_now(pcie), write);
}

/* Schedules one event for all credits of the next TLP. With a host, some return times are unknown,
 * and credits do not return in order of departure. */
static void await_credits(struct pcie *pcie)
{
	const struct pcie_write *write = pcie->writes_waiting.first;
	sim_time at;

	if (!write)
		return;
	at = pcie_credit_ring_when(&pcie->posted, data_credits(next_length(pcie, write)));
	if (event_pending(&pcie->credit_event)) {
		if (at >= event_time(&pcie->credit_event))
			return;
		sim_cancel(&pcie->credit_event);
	}
	if (at != SIM_NEVER)
		pcie_schedule(pcie, &pcie->credit_event, at, RANK_CREDIT, 0);
}

void pcie_write_known(struct pcie *pcie, struct pcie_write *write, sim_time visible_at)
{
	assert(write->unknown);
	if (visible_at > write->visible_at)
		write->visible_at = visible_at;
	if (!--write->unknown && write->sent == write->length)
		pcie_schedule(pcie, &write->event, write->visible_at, RANK_VISIBLE, write->serial);
	await_credits(pcie);
}

static void credits_back(struct event *event)
{
	struct pcie *pcie = container_of(event, struct pcie, credit_event);

	issue_writes(pcie);
	pcie_issue_reads(pcie); /* reads that waited behind this write */
}

/* Returns the number of TLPs that have the next length and credits, `data` for each. */
static uint32_t next_packets(const struct pcie *pcie, const struct pcie_write *write, uint32_t data)
{
	uint64_t packets = tlp_first_count(write->address + write->sent,
					   write->length - write->sent, pcie->param.mps);

	if (packets > pcie->posted.headers_free)
		packets = pcie->posted.headers_free;
	if (packets * data > pcie->posted.data_free)
		packets = pcie->posted.data_free / data;
	return (uint32_t)packets;
}

/* Makes packets visible in the order in which they arrive, and returns their credits. */
static void packets_visible(struct pcie *pcie, struct pcie_write *write, uint32_t data,
			    const struct pcie_train *arrivals)
{
	sim_time visible = pcie->param.write_latency, back = visible + pcie->param.credit_latency;

	write->visible_at = pcie->visible_at = arrivals->last + visible;
	pcie_credit_ring_return(&pcie->posted, arrivals, data, back);
	gauge_stay(&pcie->gauge.posted,
		   data * (arrivals->times + arrivals->packets * (back - pcie_now(pcie))),
		   arrivals->last + back);
}

/* Sends TLPs of the write. Returns false if credits were exhausted before the last TLP. */
static bool send_packets(struct pcie *pcie, struct pcie_write *write)
{
	while (write->sent < write->length) {
		uint32_t length = next_length(pcie, write);
		uint32_t data = data_credits(length);
		uint32_t packets = next_packets(pcie, write, data);
		struct pcie_train arrivals;

		if (!packets)
			return false;
		pcie_to_host(pcie, &arrivals, tlp_bytes(&pcie->param, TLP_WRITE, 1, length),
			     packets, true);
		pcie_credit_ring_take(&pcie->posted, packets, data);
		pcie->count.posted_headers_taken += packets;
		pcie->count.posted_data_taken += (uint64_t)packets * data;
		pcie->count.write_packets += packets;
		write->packets += packets;
		write->data_credits += packets * data;
		if (!pcie->host) {
			packets_visible(pcie, write, data, &arrivals);
			write->sent += packets * length;
			continue;
		}
		gauge_enter(&pcie->gauge.posted, pcie_now(pcie), packets * data);
		for (; arrivals.packets; pcie_train_next(&arrivals)) {
			pcie_host_write(pcie, write, write->address + write->sent, length, data,
					arrivals.at);
			write->sent += length;
		}
	}
	return true;
}

/* A write that may not pass earlier writes, as of a CQE, is visible after all of them. */
static void check_order(struct pcie *pcie, const struct pcie_write *write)
{
	uint32_t last = pcie->strict_serial;
	bool is_later = (int32_t)(write->serial - last) > 0;

	audit_order_expect(&pcie->write_order, pcie_now(pcie), 0,
			   is_later ? write->serial : last + 1, write->serial);
	if (is_later && !(write->relaxed && pcie->param.relaxed_ordering))
		pcie->strict_serial = write->serial;
}

static void write_visible(struct event *event)
{
	struct pcie_write *write = container_of(event, struct pcie_write, event);
	struct pcie *pcie = write->pcie;

	check_order(pcie, write);
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
	if (bytes < pcie->param.mps) /* 2.6.1: at least the credits of one packet */
		bytes = pcie->param.mps;
	pcie_credit_ring_init(&pcie->posted, pcie->param.posted_headers, bytes / CREDIT_DATA_BYTES);
	event_init(&pcie->credit_event, &pcie->block, credits_back);
}

void pcie_write_fini(struct pcie *pcie)
{
	sim_cancel(&pcie->credit_event);
	pcie_credit_ring_fini(&pcie->posted);
}
