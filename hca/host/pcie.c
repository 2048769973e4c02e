/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie: see pcie.h. The link computes the departure time of a packet when it accepts the packet
 * (pcie_link.h). A read therefore costs two events for all requests that left together. The first
 * event is at the root complex, where the bytes are copied. The second event is the arrival of the
 * last byte. A write costs one event, when it becomes visible.
 *
 * This file has the read requests and the shared functions. Completions are in pcie_completion.c,
 * writes in pcie_write.c, the CPU's stores and loads in pcie_mmio.c. pcie_host.c serves a root
 * complex with a host: each TLP then has its own events. A tag returns at the last byte of its
 * completions. The return needs no event unless a read waits for a tag.
 */
#include <assert.h>
#include <stdlib.h>

#include "hca/host/pcie_state.h"

enum dllp_choice { DLLP_SHARE, DLLP_GUIDE, DLLP_COUNTED }; /* values of the parameter dllp */

static void read_empty(struct event *event);
static void issue_requests(struct pcie *pcie, struct pcie_read *read);
static void reclaim_tags(struct pcie *pcie);
static void note_wait(struct pcie *pcie);
static void tag_returned(struct event *event);

/* ---- the link ---- */

/* Adds `packets` packets to `*due`. Returns the number of DLLPs that are due, one per `every`
 * packets. */
static uint64_t dllps_due(uint64_t *due, uint64_t packets, uint64_t every)
{
	uint64_t count;

	*due += packets;
	count = *due / every;
	*due -= count * every;
	return count;
}

void pcie_count_dllps(struct pcie *pcie, enum direction direction, uint64_t packets,
		      bool flow_controlled)
{
	uint64_t count = dllps_due(&pcie->acks_due[direction], packets, pcie->param.ack_every);

	if (flow_controlled)
		count += dllps_due(&pcie->updates_due[direction], packets,
				   pcie->param.credit_update_every);
	if (direction == TO_HOST) {
		pcie->count.dllps_to_device += count;
		pcie_link_owe(&pcie->to_device, count);
	} else {
		pcie->count.dllps_to_host += count;
		pcie_link_owe(&pcie->to_host, count);
	}
}

/* ---- DMA reads ---- */

void pcie_read(struct pcie *pcie, struct pcie_read *read)
{
	assert(read->done && read->memory && read->address + read->length >= read->address);
	read->pcie = pcie;
	read->failed = false;
	read->requested = 0;
	read->completed = 0;
	read->writes_before = read->passes && pcie->param.reads_pass ? 0 : pcie->writes_called;
	read->next = NULL;
	read->behind_since = SIM_NEVER;
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
	if (pcie->writes_sent < read->writes_before) {
		read->behind_since = pcie_now(pcie);
		gauge_enter(&pcie->gauge.behind_writes, read->behind_since, 1);
	}
	pcie_issue_reads(pcie);
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

static bool may_request(const struct pcie *pcie)
{
	return pcie->tags_free && pcie->nonposted.headers_free;
}

/* Returns true if the earlier writes have left, behind which the first waiting read waited. */
static bool is_past_writes(struct pcie *pcie, struct pcie_read *read)
{
	if (pcie->writes_sent < read->writes_before)
		return false;
	if (read->behind_since != SIM_NEVER)
		gauge_left(&pcie->gauge.behind_writes, read->behind_since, pcie_now(pcie), 1);
	read->behind_since = SIM_NEVER;
	return true;
}

/* Issues the waiting reads in the order of the calls, until tags or credits are exhausted. A read
 * waits behind earlier writes that have not left. */
void pcie_issue_reads(struct pcie *pcie)
{
	struct pcie_read *read;

	if (!pcie->reads_waiting.first)
		return;
	reclaim_tags(pcie);
	pcie_credit_ring_reclaim(&pcie->nonposted, pcie_now(pcie));
	pcie->request_short &= !pcie->nonposted.headers_free;
	while ((read = pcie->reads_waiting.first) && is_past_writes(pcie, read) &&
	       may_request(pcie)) {
		issue_requests(pcie, read);
		if (read->requested == read->length) {
			pcie->reads_waiting.first = read->next;
			if (!read->next)
				pcie->reads_waiting.last = &pcie->reads_waiting.first;
		}
	}
	pcie_await_room(pcie);
	note_wait(pcie);
}

/* Updates the gauges with the resource that the first waiting read waits for. */
static void note_wait(struct pcie *pcie)
{
	struct pcie_gauges *gauge = &pcie->gauge;
	const struct pcie_read *read = pcie->reads_waiting.first;
	sim_time now = pcie_now(pcie);
	bool behind = read && pcie->writes_sent < read->writes_before;
	bool no_tag = read && !behind && !pcie->tags_free;

	gauge_wait(&gauge->behind_writes, now, behind);
	gauge_wait(&gauge->tags, now, no_tag);
	gauge_wait(&gauge->nonposted, now, read && !behind && !no_tag);
}

void pcie_requests_accepted(const struct request_group *group)
{
	struct pcie *pcie = group->read->pcie;
	const struct pcie_train *requests = &group->requests;
	sim_time latency = pcie->param.credit_latency;

	pcie_credit_ring_return(&pcie->nonposted, requests, 0, latency);
	if (pcie->host)
		gauge_booked(&pcie->gauge.nonposted, group->left_at, requests->at + latency, 1);
	else
		gauge_stay(&pcie->gauge.nonposted,
			   requests->times + requests->packets * (latency - group->left_at),
			   requests->last + latency);
}

void pcie_request_ready(struct request_group *group, sim_time ready)
{
	struct pcie *pcie = group->read->pcie;

	event_init(&group->event, &pcie->block, pcie_complete_group);
	pcie_schedule(pcie, &group->event, ready + pcie->param.read_latency, RANK_COMPLETED,
		      group->serial);
}

/* Delays requests that arrive before the earlier writes are visible. Either all requests of the
 * train do so, or none. A read pushes the writes before it: 2.4.1, rows B. */
static void put_in_order(struct pcie *pcie, const struct pcie_read *read,
			 struct pcie_train *requests)
{
	uint32_t packets = requests->packets;

	if (requests->at >= pcie->visible_at || (read->relaxed && pcie->param.relaxed_ordering))
		return;
	pcie->count.order_stalls += packets - (requests->last == pcie->visible_at);
	pcie->count.order_stall_time += packets * pcie->visible_at - requests->times;
	pcie_train_init(requests, pcie->visible_at, packets);
}

/* Takes a group for requests of a read that are about to leave. */
static struct request_group *group_take(struct pcie *pcie, struct pcie_read *read)
{
	struct request_group *group = pcie->groups_free;

	assert(group);
	pcie->groups_free = group->next_free;
	group->read = read;
	group->left_at = pcie_now(pcie);
	return group;
}

/* Starts a group whose requests arrive at the times group->requests. */
static void group_start(struct pcie *pcie, struct request_group *group)
{
	struct pcie_read *read = group->read;

	group->serial = pcie->count.read_requests;
	group->offset = read->requested;
	group->length = tlp_span(read->address + read->requested, read->length - read->requested,
				 pcie->param.mrrs, group->requests.packets);
	read->requested += group->length;
	pcie->count.read_requests += group->requests.packets;
	if (pcie->host) {
		pcie_host_read(group, group->requests.at);
		return;
	}
	put_in_order(pcie, read, &group->requests);
	pcie_requests_accepted(group);
	pcie_request_ready(group, group->requests.at);
}

/* Returns the time until which the requests of a train form a group. Requests that are all held by
 * writes, or all not held, travel as one group. Each request travels alone if requests of other
 * reads may be ready in between. This is possible if a host gives each request its own time, or if
 * some requests pass the writes that hold up others. */
static sim_time group_until(const struct pcie *pcie, const struct pcie_train *arrivals)
{
	if (pcie->host || pcie->param.relaxed_ordering || pcie->dllps_counted)
		return arrivals->at;
	return arrivals->at > pcie->visible_at ? SIM_NEVER : pcie->visible_at;
}

/* Sends the requests of a read that have tags and credits. */
static void issue_requests(struct pcie *pcie, struct pcie_read *read)
{
	uint64_t requests = tlp_count(read->address + read->requested,
				      read->length - read->requested, pcie->param.mrrs);
	struct request_group *group = group_take(pcie, read), *rest;
	uint64_t used;

	if (requests > pcie->tags_free)
		requests = pcie->tags_free;
	if (requests > pcie->nonposted.headers_free)
		requests = pcie->nonposted.headers_free;
	pcie_credit_ring_take(&pcie->nonposted, (uint32_t)requests, 0);
	pcie->count.nonposted_headers_taken += requests;
	pcie->tags_free -= requests;
	gauge_enter(&pcie->gauge.tags, pcie_now(pcie), requests);
	if (pcie->host)
		gauge_enter(&pcie->gauge.nonposted, pcie_now(pcie), requests);
	pcie_to_host(pcie, &group->requests, tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0),
		     (uint32_t)requests, true);
	for (sim_time until; (until = group_until(pcie, &group->requests)) < group->requests.last;
	     group = rest) {
		rest = group_take(pcie, read);
		rest->requests = group->requests;
		group->requests = pcie_train_split(&rest->requests, until);
		group_start(pcie, group);
	}
	group_start(pcie, group);
	used = pcie->param.tags - pcie->tags_free;
	if (used > pcie->count.tags_used_max)
		pcie->count.tags_used_max = used;
	used = pcie->param.nonposted_headers - pcie->nonposted.headers_free;
	if (used > pcie->gauge.nonposted.level_max)
		pcie->gauge.nonposted.level_max = used;
}

static void reclaim_tags(struct pcie *pcie)
{
	uint64_t first = pcie->tag_return_first, left = pcie->tag_return_count;
	sim_time now = pcie_now(pcie);

	for (; left && pcie->tag_returns[first].at <= now; left--)
		if (++first == pcie->param.tags)
			first = 0;
	pcie->tags_free += pcie->tag_return_count - left;
	pcie->tag_return_count = left;
	pcie->tag_return_first = first;
	assert(pcie->tags_free <= pcie->param.tags);
}

/* Schedules an event for the first waiting read. A tag returns alone or at its group's arrival. The
 * arrival has its own event. Credits return without an event. With a host, the next time may be
 * unknown. It may also become earlier, because a later request is accepted before another one. */
void pcie_await_room(struct pcie *pcie)
{
	const struct tag_return *next = &pcie->tag_returns[pcie->tag_return_first];
	sim_time at = SIM_NEVER;

	if (!pcie->reads_waiting.first)
		return;
	if (!pcie->tags_free) {
		if (pcie->tag_return_count && !next->group_ends)
			at = next->at;
	} else if (!pcie->nonposted.headers_free) {
		pcie->count.request_credit_stalls += !pcie->request_short;
		pcie->request_short = true;
		at = credit_ring_next(&pcie->nonposted);
	}
	if (event_pending(&pcie->tag_event)) {
		if (at >= event_time(&pcie->tag_event))
			return;
		sim_cancel(&pcie->tag_event);
	}
	if (at != SIM_NEVER)
		pcie_schedule(pcie, &pcie->tag_event, at, RANK_TAG, 0);
}

static void tag_returned(struct event *event)
{
	pcie_issue_reads(container_of(event, struct pcie, tag_event));
}

/* ---- creation and destruction ---- */

static sim_time busy_time(const struct pcie_link *link, uint64_t bytes)
{
	return (sim_time)((double)bytes * (double)link->ps_numerator /
			  (double)link->ps_denominator);
}

static sim_time last_tag(const struct pcie *pcie)
{
	uint64_t last = pcie->tag_return_first + pcie->tag_return_count - 1;

	return pcie->tag_returns[last % pcie->param.tags].at;
}

static void audit(struct block *block, FILE *out)
{
	const struct pcie *pcie = container_of(block, struct pcie, block);

	audit_order(block, out, &pcie->write_order, "writes to host memory");
}

static void settle(struct block *block)
{
	struct pcie *pcie = container_of(block, struct pcie, block);
	const struct pcie_counters *count = &pcie->count;

	pcie->gauge.to_host.area = busy_time(
		&pcie->to_host, count->to_host_bytes + count->dllps_to_host * PCIE_DLLP_BYTES);
	pcie->gauge.to_device.area =
		busy_time(&pcie->to_device,
			  count->to_device_bytes + count->dllps_to_device * PCIE_DLLP_BYTES);
	pcie->gauge.to_host.until = pcie->to_host.free_at + 1;
	pcie->gauge.to_device.until = pcie->to_device.free_at + 1;
	pcie->gauge.tags.level_max = pcie->count.tags_used_max;
	if (pcie->tag_return_count)
		pcie->gauge.tags.until = last_tag(pcie);
}

/* Returns the bytes of waiting writes that have not left. */
static uint64_t unsent_bytes(const struct pcie *pcie)
{
	uint64_t bytes = 0;

	for (const struct pcie_write *write = pcie->writes_waiting.first; write;
	     write = write->next)
		bytes += write->length - write->sent;
	return bytes;
}

static void check(struct block *block, FILE *out)
{
	struct pcie *pcie = container_of(block, struct pcie, block);
	const struct pcie_counters *count = &pcie->count;
	const struct pcie_params *param = &pcie->param;
	const struct pcie_gauges *gauge = &pcie->gauge;

	block_equal(block, out, "bytes to the host = bytes of its TLPs", count->to_host_bytes,
		    count->read_requests * param->request_overhead +
			    count->write_packets * param->write_overhead + count->write_bytes -
			    unsent_bytes(pcie) + count->mmio_completion_bytes);
	block_equal(block, out, "bytes to the HCA = bytes of its TLPs", count->to_device_bytes,
		    count->completions * param->completion_overhead + count->completion_bytes +
			    count->mmio_writes * param->write_overhead + count->mmio_bytes +
			    count->mmio_read_requests * param->request_overhead);
	block_equal(block, out, "tags = free + taken + returning", param->tags,
		    pcie->tags_free + gauge->tags.level + pcie->tag_return_count);
	block_equal(block, out, "NPH taken = read requests", count->nonposted_headers_taken,
		    count->read_requests);
	block_equal(block, out, "NPH taken = returned + of requests not completed",
		    count->nonposted_headers_taken,
		    count->nonposted_headers_returned + gauge->tags.level);
	block_equal(block, out, "NPH = free + taken", param->nonposted_headers,
		    pcie_credit_ring_headers(&pcie->nonposted));
	block_equal(block, out, "PH = free + taken", param->posted_headers,
		    pcie_credit_ring_headers(&pcie->posted));
	block_equal(block, out, "PD taken = returned + of writes not visible",
		    count->posted_data_taken,
		    count->posted_data_returned + pcie->posted_data_unseen);
}

static void gauges_init(struct pcie *pcie)
{
	block_gauges(&pcie->block, (struct gauge *)&pcie->gauge);
	pcie->gauge.to_host.capacity = pcie->gauge.to_device.capacity = 1;
	pcie->gauge.tags.capacity = pcie->param.tags;
	pcie->gauge.nonposted.capacity = pcie->param.nonposted_headers;
	pcie->gauge.stores.capacity = pcie->param.store_credits;
	pcie->gauge.stores.beyond =
		STORES_A_WQE - 1; /* a core with space for its first store writes the whole WQE */
	pcie->gauge.posted.capacity = pcie->param.posted_data_credits / CREDIT_DATA_BYTES;
}

#define ROW(...) PARAM_ROW(struct pcie_params, __VA_ARGS__)
/* clang-format off */
const struct param pcie_param_list[] = { PCIE_PARAMS(ROW) { 0 } };

static const struct block_type pcie_type = {
	.name = "pcie",
	.params = pcie_param_list,
	.counters = (const struct counter[]){ PCIE_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ PCIE_TRACE(TRACE_ENTRY) { 0 } },
	.gauges = (const struct gauge_info[]){ PCIE_GAUGES(GAUGE_ENTRY) { 0 } },
	.check = check,
	.audit = audit,
	.settle = settle,
};
/* clang-format on */

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static void link_init(const struct pcie_params *params, struct pcie_link *link)
{
	uint32_t generation = params->generation + 1;

	if (params->dllp == DLLP_GUIDE)
		pcie_link_init_guide(link, generation, params->lanes, params->mps);
	else if (params->dllp == DLLP_COUNTED)
		pcie_link_init_counted(link, generation, params->lanes);
	else
		pcie_link_init(link, generation, params->lanes, params->dllp_share);
}

static void links_init(struct pcie *pcie)
{
	link_init(&pcie->param, &pcie->to_host);
	link_init(&pcie->param, &pcie->to_device);
	pcie->dllps_counted = pcie->param.dllp == DLLP_COUNTED && !pcie->to_host.flit_time;
	pcie->one_way =
		pcie->param.link_latency + pcie->param.switch_latency + pcie->to_host.flit_time;
}

void pcie_host_attach(struct pcie *pcie, struct host *host)
{
	assert(!pcie->count.reads && !pcie->count.writes && !pcie->host);
	pcie->host = host;
	pcie_host_init(pcie);
}

struct pcie *pcie_create(struct sim *sim, const char *name, const struct pcie_params *params)
{
	struct pcie *pcie = calloc(1, sizeof(*pcie));

	assert(pcie && power_of_two(params->mps) && power_of_two(params->mrrs) &&
	       power_of_two(params->completion_max) && power_of_two(params->rcb) &&
	       params->completion_max >= params->rcb && params->tags);
	pcie->param = *params;
	block_init(&pcie->block, sim, &pcie_type, name, &pcie->param,
		   (const uint64_t *)&pcie->count);
	gauges_init(pcie);
	links_init(pcie);
	pcie->reads_waiting.last = &pcie->reads_waiting.first;
	pcie->order_last = &pcie->order_first;
	pcie->tags_free = params->tags;
	pcie->tag_returns = calloc(params->tags, sizeof(pcie->tag_returns[0]));
	pcie->groups = calloc(params->tags + 1, sizeof(pcie->groups[0]));
	assert(pcie->tag_returns && pcie->groups);
	for (uint64_t i = params->tags + 1; i-- > 0;) {
		pcie->groups[i].next_free = pcie->groups_free;
		pcie->groups_free = &pcie->groups[i];
	}
	event_init(&pcie->tag_event, &pcie->block, tag_returned);
	pcie_credit_ring_init(&pcie->nonposted, params->nonposted_headers, 0);
	pcie_write_init(pcie);
	pcie_mmio_init(pcie);
	return pcie;
}

void pcie_destroy(struct pcie *pcie)
{
	if (!pcie)
		return;
	sim_cancel(&pcie->tag_event);
	pcie_write_fini(pcie);
	pcie_mmio_fini(pcie);
	pcie_credit_ring_fini(&pcie->nonposted);
	for (uint64_t i = 0; i < pcie->param.tags + 1; i++)
		if (pcie->groups[i].read)
			sim_cancel(&pcie->groups[i].event);
	pcie_host_fini(pcie);
	block_fini(&pcie->block);
	free(pcie->tag_returns);
	free(pcie->groups);
	free(pcie);
}

const struct pcie_counters *pcie_counters(const struct pcie *pcie)
{
	return &pcie->count;
}
