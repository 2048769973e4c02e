/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_mmio: the CPU's accesses to the HCA, see pcie.h. Stores are posted and in order, and pass
 * completions. Loads push the stores before them. A store for which the HCA has no space keeps its
 * credit. A core without credit waits with its store.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/host/pcie_state.h"

static void mmio_arrived(struct event *event);
static void load_arrived(struct pcie_mmio_read *read);
static void load_completed(struct event *event);
static void load_pushed(struct pcie_order *order);
static void load_done(struct event *event);

void pcie_mmio_attach(struct pcie *pcie, pcie_mmio_handler *handler, void *context)
{
	pcie->mmio_handler = handler;
	pcie->mmio_context = context;
}

/* Doubles the ring. It is needed for loads, and for stores of callers that do not check for
 * credits. */
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

/* Sends the next store or load, after the accesses before it have left. Returns its slot. */
static struct mmio_slot *mmio_leaves(struct pcie *pcie, uint64_t packet_bytes)
{
	struct mmio_slot *slot;

	if (pcie->mmio_count == pcie->mmio_slots)
		mmio_grow(pcie);
	slot = &pcie->mmio[(pcie->mmio_first + pcie->mmio_count++) % pcie->mmio_slots];
	pcie->mmio_left_at = pcie_pass_completions(pcie, packet_bytes);
	pcie->count.to_device_bytes += packet_bytes;
	pcie_return_dllps(pcie, TO_DEVICE, 1, true);
	slot->arrival = pcie->mmio_left_at + pcie->one_way;
	slot->is_load = false;
	slot->load = NULL;
	if (!event_pending(&pcie->mmio_event) && !pcie->mmio_refused)
		sim_schedule_at(&pcie->mmio_event, slot->arrival);
	return slot;
}

void pcie_mmio_write(struct pcie *pcie, uint64_t offset, const void *bytes, uint32_t length)
{
	struct mmio_slot *slot;

	assert(pcie->mmio_handler && length && length <= MMIO_BYTES_MAX);
	slot = mmio_leaves(pcie, tlp_bytes(&pcie->param, TLP_WRITE, 1, length));
	slot->offset = offset;
	slot->length = length;
	memcpy(slot->bytes, bytes, length);
	pcie->stores++;
	slot->since = pcie_now(pcie);
	gauge_enter(&pcie->gauge.stores, slot->since, 1);
	gauge_wait(&pcie->gauge.stores, pcie_now(pcie), false);
	pcie->count.mmio_writes++;
	pcie->count.mmio_bytes += length;
	trace(&pcie->block, TRACE_PCIE_MMIO, 0, offset, length);
}

uint64_t pcie_mmio_room(struct pcie *pcie, sim_time *ask_at)
{
	const struct mmio_slot *first = &pcie->mmio[pcie->mmio_first];

	if (pcie->stores < pcie->param.store_credits)
		return pcie->param.store_credits - pcie->stores;
	pcie->count.store_stalls += !pcie->gauge.stores.waits;
	gauge_wait(&pcie->gauge.stores, pcie_now(pcie), true);
	if (pcie->mmio_refused)
		*ask_at = SIM_NEVER;
	else
		*ask_at = first->arrival > pcie_now(pcie) ? first->arrival : pcie_now(pcie) + 1;
	return 0;
}

sim_time pcie_mmio_delay(const struct pcie *pcie)
{
	return pcie->param.mmio_latency + pcie->one_way;
}

static void mmio_next(struct pcie *pcie)
{
	sim_time at;

	pcie->mmio_first = (pcie->mmio_first + 1) % pcie->mmio_slots;
	if (!--pcie->mmio_count)
		return;
	at = pcie->mmio[pcie->mmio_first].arrival;
	sim_schedule_at(&pcie->mmio_event, at > pcie_now(pcie) ? at : pcie_now(pcie));
}

static void mmio_arrived(struct event *event)
{
	struct pcie *pcie = container_of(event, struct pcie, mmio_event);
	struct mmio_slot slot = pcie->mmio[pcie->mmio_first];

	if (slot.is_load) {
		mmio_next(pcie);
		if (slot.load)
			load_arrived(slot.load);
		return;
	}
	if (!pcie->mmio_handler(pcie->mmio_context, slot.offset, slot.bytes, slot.length)) {
		pcie->count.store_refusals++;
		pcie->mmio_refused = true;
		return;
	}
	mmio_next(pcie);
	pcie->stores--;
	gauge_left(&pcie->gauge.stores, slot.since, pcie_now(pcie), 1);
	trace(&pcie->block, TRACE_PCIE_MMIO_DONE, 0, slot.offset, slot.length);
}

void pcie_mmio_resume(struct pcie *pcie)
{
	if (!pcie->mmio_refused)
		return;
	pcie->mmio_refused = false;
	sim_schedule(&pcie->mmio_event, 0);
}

/* ---- loads ---- */

void pcie_mmio_read_attach(struct pcie *pcie, pcie_mmio_read_handler *handler, void *context)
{
	pcie->mmio_read_handler = handler;
	pcie->mmio_read_context = context;
}

void pcie_mmio_read(struct pcie *pcie, struct pcie_mmio_read *read)
{
	struct mmio_slot *slot;

	read->serial = (uint32_t)++pcie->count.mmio_read_requests;
	assert(pcie->mmio_read_handler && read->done && read->length &&
	       read->length <= MMIO_BYTES_MAX);
	read->pcie = pcie;
	slot = mmio_leaves(pcie, tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0));
	slot->is_load = true;
	slot->load = read;
}

static void load_arrived(struct pcie_mmio_read *read)
{
	struct pcie *pcie = read->pcie;

	pcie->mmio_read_handler(pcie->mmio_read_context, read->offset, read->bytes, read->length);
	event_init(&read->event, &pcie->block, load_completed);
	sim_schedule(&read->event, pcie->param.mmio_read_latency);
}

/* Sends the completion on the link to the host. It passes no write: 2.4.1. */
static void load_completed(struct event *event)
{
	struct pcie_mmio_read *read = container_of(event, struct pcie_mmio_read, event);
	struct pcie *pcie = read->pcie;
	uint64_t bytes = tlp_bytes(&pcie->param, TLP_COMPLETION, 1, read->length);
	struct pcie_train arrival;

	pcie->count.mmio_completion_bytes += bytes;
	pcie_to_host(pcie, &arrival, bytes, 1, false);
	read->completed_at = arrival.at;
	read->order.known = load_pushed;
	pcie_order(pcie, &read->order);
	if (read->order.until != SIM_NEVER)
		load_pushed(&read->order);
}

static void load_pushed(struct pcie_order *order)
{
	struct pcie_mmio_read *read = container_of(order, struct pcie_mmio_read, order);
	sim_time at = read->completed_at > order->until ? read->completed_at : order->until;

	event_init(&read->event, &read->pcie->block, load_done);
	pcie_schedule(read->pcie, &read->event, at, RANK_LOADED, read->serial);
}

static void load_done(struct event *event)
{
	struct pcie_mmio_read *read = container_of(event, struct pcie_mmio_read, event);

	read->pcie->count.mmio_reads++;
	read->done(read);
}

void pcie_mmio_read_cancel(struct pcie_mmio_read *read)
{
	struct pcie *pcie = read->pcie;

	if (event_pending(&read->event))
		sim_cancel(&read->event);
	else if (pcie)
		pcie_order_cancel(pcie, &read->order);
	for (uint64_t i = 0; pcie && i < pcie->mmio_count; i++) {
		struct mmio_slot *slot = &pcie->mmio[(pcie->mmio_first + i) % pcie->mmio_slots];

		if (slot->load == read)
			slot->load = NULL;
	}
}

void pcie_mmio_init(struct pcie *pcie)
{
	event_init(&pcie->mmio_event, &pcie->block, mmio_arrived);
	mmio_grow(pcie);
}

void pcie_mmio_fini(struct pcie *pcie)
{
	sim_cancel(&pcie->mmio_event);
	free(pcie->mmio);
}
