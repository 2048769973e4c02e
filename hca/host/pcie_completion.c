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

static struct completion_walk walk_begin(const struct pcie *pcie, const struct request_group *group,
					 sim_time ready)
{
	uint64_t address = group->read->address + group->offset;

	return (struct completion_walk){
		.address = address,
		.left = group->length,
		.length = tlp_first_length(address, group->length, pcie->param.mrrs),
		.ready = ready,
		.remainder = group->remainder,
	};
}

/* Advances to the next request of the group. It arrives right after this one, or both waited for
 * the same write. */
static void walk_on(const struct pcie *pcie, const struct request_group *group,
		    struct completion_walk *walk)
{
	walk->address += walk->length;
	walk->left -= walk->length;
	if (!walk->left)
		return;
	walk->length = tlp_first_length(walk->address, walk->left, pcie->param.mrrs);
	if (!group->held)
		walk->ready = pcie_link_next(&pcie->to_host, walk->ready,
					     tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0),
					     &walk->remainder);
}

static uint32_t packets_of(const struct pcie *pcie, const struct request_group *group,
			   const struct completion_walk *walk)
{
	if (group->unmapped)
		return 1;
	return tlp_completion_count(&pcie->param, walk->address, walk->length);
}

/* Books the completions of one request. Returns the arrival of the last completion at the
 * adapter. */
static sim_time book(struct pcie *pcie, const struct request_group *group,
		     const struct completion_walk *walk, uint32_t packets, uint64_t *bytes)
{
	*bytes = tlp_bytes(&pcie->param, TLP_COMPLETION, packets,
			   group->unmapped ? 0 : walk->length);
	return pcie_link_send(&pcie->to_device, walk->ready, *bytes) + pcie->one_way;
}

static void return_tag(struct pcie *pcie, sim_time left_at, sim_time at, bool group_ends)
{
	uint64_t place = pcie->tag_return_first + pcie->tag_return_count++;

	assert(pcie->tag_return_count <= pcie->param.tags);
	pcie->tag_returns[place % pcie->param.tags] = (struct tag_return){at, group_ends};
	gauge_left(&pcie->gauge.tags, left_at, at, 1);
}

static sim_time complete(struct pcie *pcie, const struct request_group *group,
			 const struct completion_walk *walk)
{
	uint32_t packets = packets_of(pcie, group, walk);
	uint64_t bytes;
	sim_time arrival = book(pcie, group, walk, packets, &bytes);

	pcie->count.to_device_bytes += bytes;
	pcie->count.completion_bytes += group->unmapped ? 0 : walk->length;
	pcie->count.completions += packets;
	pcie->count.nonposted_headers_returned++;
	pcie_return_dllps(pcie, TO_DEVICE, packets, false);
	return_tag(pcie, group->left_at, arrival, walk->left == walk->length);
	return arrival;
}

void pcie_complete_group(struct event *event)
{
	struct request_group *group = container_of(event, struct request_group, event);
	struct pcie_read *read = group->read;
	struct pcie *pcie = read->pcie;
	struct completion_walk walk = walk_begin(pcie, group, pcie_now(pcie));
	sim_time arrival;

	group->unmapped =
		read->bytes && !memory_read(read->memory, walk.address,
					    (uint8_t *)read->bytes + group->offset, group->length);
	read->failed |= group->unmapped;
	trace(&pcie->block, TRACE_PCIE_COMPLETION, read->tag, walk.address, walk.left);
	arrival = complete(pcie, group, &walk);
	walk_on(pcie, group, &walk);
	if (walk.left)
		pcie->train = (struct completion_train){
			.group = group, .next = walk, .mark = pcie_link_mark(&pcie->to_device)};
	while (walk.left) {
		pcie->train.last_ready = walk.ready;
		arrival = complete(pcie, group, &walk);
		walk_on(pcie, group, &walk);
	}
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

/* Repeats the bookings of the requests that are not ready yet, after the packet that has passed. */
static void book_again(struct pcie *pcie, struct completion_train *train)
{
	const struct request_group *group = train->group;
	struct completion_walk walk = train->next;
	uint64_t requests = 0, place, bytes;
	sim_time arrival = 0;

	for (; walk.left; walk_on(pcie, group, &walk))
		requests++;
	place = pcie->tag_return_first + pcie->tag_return_count - requests;
	for (walk = train->next; walk.left; walk_on(pcie, group, &walk)) {
		struct tag_return *tag = &pcie->tag_returns[place++ % pcie->param.tags];

		arrival = book(pcie, group, &walk, packets_of(pcie, group, &walk), &bytes);
		gauge_rebook(&pcie->gauge.tags, tag->at, arrival);
		tag->at = arrival;
	}
	sim_cancel(&train->group->event);
	pcie_schedule(pcie, &train->group->event, arrival, RANK_ARRIVED, group->serial);
	pcie_await_room(pcie);
}

sim_time pcie_pass_completions(struct pcie *pcie, uint64_t bytes)
{
	struct completion_train *train = &pcie->train;
	uint64_t completion_bytes;
	sim_time left;

	if (train->last_ready <= pcie_now(pcie))
		return pass(pcie, bytes);
	pcie_link_back(&pcie->to_device, &train->mark);
	while (train->next.ready <= pcie_now(pcie)) {
		book(pcie, train->group, &train->next, packets_of(pcie, train->group, &train->next),
		     &completion_bytes);
		walk_on(pcie, train->group, &train->next);
	}
	left = pass(pcie, bytes);
	train->mark = pcie_link_mark(&pcie->to_device);
	book_again(pcie, train);
	return left;
}
