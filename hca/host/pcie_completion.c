/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_completion: completions of DMA reads, from the root complex to the adapter. One event
 * completes all requests of a group. Each request is ready at its own time, and its completions are
 * booked on the link ahead of that time. A store that passes meanwhile takes the link before the
 * completions that are not ready yet. Their bookings are then undone and repeated after the store,
 * as if each request had its own event.
 */
#include "hca/host/pcie_state.h"

static void group_arrived(struct event *event);

/* Determines the completions of the next requests. */
static void walk_measure(const struct pcie *pcie, const struct request_group *group,
			 struct completion_walk *walk)
{
	uint32_t length = tlp_first_length(walk->address, walk->length, pcie->param.mrrs);

	walk->equal = tlp_first_count(walk->address, walk->length, pcie->param.mrrs);
	walk->packets =
		group->unmapped ? 1 : tlp_completion_count(&pcie->param, walk->address, length);
	walk->bytes = tlp_bytes(&pcie->param, TLP_COMPLETION, walk->packets,
				group->unmapped ? 0 : length);
	walk->address += walk->equal * length;
	walk->length -= walk->equal * length;
}

static void walk_begin(const struct pcie *pcie, const struct request_group *group,
		       struct completion_walk *walk)
{
	uint64_t place = pcie->tag_return_first + pcie->tag_return_count;

	walk->ready = group->requests;
	pcie_train_delay(&walk->ready, pcie_now(pcie) - walk->ready.at);
	walk->address = group->read->address + group->offset;
	walk->length = group->length;
	walk->place = place < pcie->param.tags ? place : place - pcie->param.tags;
	walk->booked = walk->arrivals = 0;
	walk_measure(pcie, group, walk);
}

/* Books the completions of the requests that are ready until `until`, which return their tags. */
static void book(struct pcie *pcie, const struct request_group *group, struct completion_walk *walk,
		 sim_time until)
{
	struct pcie_train *ready = &walk->ready;

	while (ready->packets && ready->at <= until) {
		struct pcie_train arrivals;

		pcie_link_send_train(&pcie->to_device, &arrivals, ready->at, ready->duration,
				     walk->bytes, ready->last <= until ? walk->equal : 1);
		pcie_train_delay(&arrivals, pcie->one_way);
		pcie_train_skip(ready, arrivals.packets);
		walk->arrival = arrivals.last;
		walk->arrivals += arrivals.times;
		walk->booked += arrivals.packets * walk->packets;
		walk->equal -= arrivals.packets;
		for (struct pcie_train next = arrivals; next.packets; pcie_train_next(&next)) {
			bool group_ends = next.packets + ready->packets == 1;

			pcie->tag_returns[walk->place] = (struct tag_return){next.at, group_ends};
			if (++walk->place == pcie->param.tags)
				walk->place = 0;
		}
		if (!walk->equal && ready->packets)
			walk_measure(pcie, group, walk);
	}
}

/* Books the completions of all requests of a group. Returns the arrival of the last completion. */
static sim_time complete(struct pcie *pcie, struct request_group *group)
{
	uint32_t requests = group->requests.packets, data = group->unmapped ? 0 : group->length;
	struct completion_walk walk;

	walk_begin(pcie, group, &walk);
	if (requests > 1)
		pcie->train =
			(struct completion_train){group, walk, 0, pcie_link_mark(&pcie->to_device)};
	book(pcie, group, &walk, SIM_NEVER);
	pcie->train.arrivals = walk.arrivals;
	pcie->tag_return_count += requests;
	assert(pcie->tag_return_count <= pcie->param.tags);
	pcie->count.to_device_bytes += tlp_bytes(&pcie->param, TLP_COMPLETION, walk.booked, data);
	pcie->count.completion_bytes += data;
	pcie->count.completions += walk.booked;
	pcie->count.nonposted_headers_returned += requests;
	pcie_return_dllps(pcie, TO_DEVICE, walk.booked, false);
	gauge_left_each(&pcie->gauge.tags, group->left_at, walk.arrivals, requests);
	return walk.arrival;
}

void pcie_complete_group(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);
	struct pcie_read *read = group->read;
	struct pcie *pcie = read->pcie;
	uint64_t address = read->address + group->offset;
	sim_time arrival;

	group->unmapped =
		read->bytes && !memory_read(read->memory, address,
					    (uint8_t *)read->bytes + group->offset, group->length);
	read->failed |= group->unmapped;
	trace(&pcie->block, TRACE_PCIE_COMPLETION, read->tag, address, group->length);
	arrival = complete(pcie, group);
	event_init(&group->event, &pcie->block, group_arrived);
	pcie_schedule(pcie, &group->event, arrival, RANK_ARRIVED, group->serial);
	pcie_await_room(pcie);
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
	pcie_issue_reads(pcie); /* a group is free again, with all its tags */
}

/* ---- passing stores and loads ---- */

static sim_time pass(struct pcie *pcie, uint64_t bytes)
{
	return pcie_link_pass(&pcie->to_device, pcie_now(pcie) + pcie->param.mmio_latency,
			      pcie->mmio_left_at, bytes);
}

/* Returns to the first booking of the last group, and repeats the bookings of the requests that are
 * ready. The bookings of the later requests follow the packet that passes. */
sim_time pcie_pass_completions(struct pcie *pcie, uint64_t bytes)
{
	struct completion_train *train = &pcie->train;
	struct completion_walk walk;
	sim_time left;

	if (train->next.ready.last <= pcie_now(pcie))
		return pass(pcie, bytes);
	pcie_link_back(&pcie->to_device, &train->mark);
	book(pcie, train->group, &train->next, pcie_now(pcie));
	left = pass(pcie, bytes);
	train->mark = pcie_link_mark(&pcie->to_device);
	walk = train->next;
	book(pcie, train->group, &walk, SIM_NEVER);
	gauge_rebook(&pcie->gauge.tags, train->arrivals, walk.arrivals);
	train->arrivals = walk.arrivals;
	sim_cancel(&train->group->event);
	pcie_schedule(pcie, &train->group->event, walk.arrival, RANK_ARRIVED, train->group->serial);
	pcie_await_room(pcie);
	return left;
}
