/*
 * pcie_mmio: what the CPU does to the HCA: stores (posted, in order; they pass completions) and loads, see pcie.h.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hca/host/pcie_state.h"

static void mmio_arrived(struct event *event);
static void load_arrived(struct event *event);
static void load_completed(struct event *event);
static void load_pushed(struct pcie_order *order);
static void load_done(struct event *event);

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
	pcie->mmio_left_at =
		pcie_link_pass(&pcie->to_device, pcie_now(pcie) + pcie->param.mmio_latency,
			       pcie->mmio_left_at, packet_bytes);
	pcie->count.to_device_bytes += packet_bytes;
	slot->arrival = pcie->mmio_left_at + pcie->one_way;
	pcie_return_dllps(pcie, TO_DEVICE, 1, true);
	gauge_enter(&pcie->gauge.stores, pcie_now(pcie), 1);
	pcie->count.mmio_writes++;
	pcie->count.mmio_bytes += length;
	trace(&pcie->block, TRACE_PCIE_MMIO, 0, offset, length);
	if (!event_pending(&pcie->mmio_event))
		sim_schedule_at(&pcie->mmio_event, slot->arrival);
}

sim_time pcie_mmio_delay(const struct pcie *pcie)
{
	return pcie->param.mmio_latency + pcie->one_way;
}

static void mmio_arrived(struct event *event)
{
	struct pcie *pcie = container_of(event, struct pcie, mmio_event);
	struct mmio_slot slot = pcie->mmio[pcie->mmio_first];

	pcie->mmio_first = (pcie->mmio_first + 1) % pcie->mmio_slots;
	if (--pcie->mmio_count)
		sim_schedule_at(&pcie->mmio_event, pcie->mmio[pcie->mmio_first].arrival);
	gauge_leave(&pcie->gauge.stores, pcie_now(pcie), 1);
	trace(&pcie->block, TRACE_PCIE_MMIO_DONE, 0, slot.offset, slot.length);
	pcie->mmio_handler(pcie->mmio_context, slot.offset, slot.bytes, slot.length);
}

/* ---- loads ---- */

void pcie_mmio_read_attach(struct pcie *pcie, pcie_mmio_read_handler *handler, void *context)
{
	pcie->mmio_read_handler = handler;
	pcie->mmio_read_context = context;
}

void pcie_mmio_read(struct pcie *pcie, struct pcie_mmio_read *read)
{
	uint64_t packet_bytes = tlp_bytes(&pcie->param, TLP_REQUEST, 1, 0);

	pcie->count.mmio_read_requests++;
	assert(pcie->mmio_read_handler && read->done && read->length &&
	       read->length <= MMIO_BYTES_MAX);
	read->pcie = pcie;
	pcie->mmio_left_at =
		pcie_link_pass(&pcie->to_device, pcie_now(pcie) + pcie->param.mmio_latency,
			       pcie->mmio_left_at, packet_bytes);
	pcie->count.to_device_bytes += packet_bytes;
	pcie_return_dllps(pcie, TO_DEVICE, 1, true);
	event_init(&read->event, &pcie->block, load_arrived);
	sim_schedule_at(&read->event, pcie->mmio_left_at + pcie->one_way);
}

static void load_arrived(struct event *event)
{
	struct pcie_mmio_read *read = container_of(event, struct pcie_mmio_read, event);
	struct pcie *pcie = read->pcie;

	pcie->mmio_read_handler(pcie->mmio_read_context, read->offset, read->bytes, read->length);
	event_init(&read->event, &pcie->block, load_completed);
	sim_schedule(&read->event, pcie->param.mmio_read_latency);
}

/* The completion takes its turn on the link to the host, and passes no write: 2.4.1. */
static void load_completed(struct event *event)
{
	struct pcie_mmio_read *read = container_of(event, struct pcie_mmio_read, event);
	struct pcie *pcie = read->pcie;
	uint64_t bytes = tlp_bytes(&pcie->param, TLP_COMPLETION, 1, read->length);

	pcie->count.mmio_completion_bytes += bytes;
	read->completed_at = pcie_to_host(pcie, 1, bytes, false) + pcie->one_way;
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
	sim_schedule_at(&read->event, at);
}

static void load_done(struct event *event)
{
	struct pcie_mmio_read *read = container_of(event, struct pcie_mmio_read, event);

	read->pcie->count.mmio_reads++;
	read->done(read);
}

void pcie_mmio_read_cancel(struct pcie_mmio_read *read)
{
	if (event_pending(&read->event))
		sim_cancel(&read->event);
	else if (read->pcie)
		pcie_order_cancel(read->pcie, &read->order);
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
