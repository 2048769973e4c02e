/* SPDX-License-Identifier: Apache-2.0 */
/* doorbell: see doorbell.h. */
#include "hca/work/doorbell.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/work/completion.h"
#include "hca/work/wqe_fetch.h"
#include "sim/gauge.h"

#define ROW(...)      PARAM_ROW(struct doorbell_params, __VA_ARGS__)
#define STORE_BYTES   8
#define FIRST_STORES  64
#define NUMBER_MASK   UINT32_C(0xffffff)
#define ARM_SOLICITED (UINT32_C(1) << 24)

/* clang-format off */
const struct param doorbell_param_list[] = {DOORBELL_PARAMS(ROW) {0}};
enum { DOORBELL_TRACE(TRACE_ENUM) };

static const struct block_type doorbell_type = {
	.name         = "doorbell",
	.params       = doorbell_param_list,
	.counters     = (const struct counter[]){DOORBELL_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){DOORBELL_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){DOORBELL_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

struct ring_request {
	sim_time due;
	sim_time stored_at, since;
	bool is_arm;
	bool has_wqe;
	uint8_t bytes[WQE_BYTES_MAX];
};

struct doorbell_gauges {
	DOORBELL_GAUGES(GAUGE_FIELD)
};

struct doorbell {
	struct block block;
	struct doorbell_counters count;
	struct doorbell_gauges gauge;
	struct pcie *pcie;
	const struct number_table *cqs;
	const struct doorbell_user *user;
	const struct doorbell_params *params;
	struct event process;
	sim_time last_due;
	/* a WQE that comes in several stores */
	uint8_t gathered[WQE_BYTES_MAX];
	uint32_t gathered_bytes, wanted_bytes;
	uint64_t next_offset;
	/* stores on their way over PCIe: a ring that grows */
	sim_time *stores;
	uint32_t stores_first, stores_count, stores_size;
	sim_time stored_at;   /* of the store being decoded */
	sim_time gathered_at; /* of the first of those gathered */
	uint32_t first, queued;
	bool stalled; /* the store that came waits for the queue */
	struct ring_request queue[];
};

static bool is_full(const struct doorbell *doorbell)
{
	return doorbell->queued == doorbell->params->queue;
}

static void enqueue(struct doorbell *doorbell, bool is_arm, sim_time stored_at,
		    const uint8_t *bytes, uint32_t length)
{
	const struct doorbell_params *params = doorbell->params;
	sim_time due = sim_now(doorbell->block.sim) + params->latency;
	sim_time taken = length / WQE_BLOCK_BYTES * params->line_interval;
	struct ring_request *request =
		&doorbell->queue[(doorbell->first + doorbell->queued) % params->queue];

	assert(!is_full(doorbell));
	request->is_arm = is_arm;
	request->stored_at = stored_at;
	request->has_wqe = length > STORE_BYTES;
	memcpy(request->bytes, bytes, length);
	if (taken < params->interval)
		taken = params->interval;
	if (due < doorbell->last_due + taken)
		due = doorbell->last_due + taken;
	doorbell->last_due = due;
	request->due = due;
	doorbell->queued++;
	gauge_serve(&doorbell->gauge.decoder, due, taken);
	request->since = sim_now(doorbell->block.sim);
	gauge_enter(&doorbell->gauge.queue, request->since, 1);
	if (!event_pending(&doorbell->process))
		sim_schedule_at(&doorbell->process, due);
}

void doorbell_stored(struct doorbell *doorbell)
{
	if (doorbell->stores_count == doorbell->stores_size) {
		uint32_t size = doorbell->stores_size ? 2 * doorbell->stores_size : FIRST_STORES;
		sim_time *stores = calloc(size, sizeof(*stores));

		assert(stores);
		for (uint32_t i = 0; i < doorbell->stores_count; i++)
			stores[i] = doorbell->stores[(doorbell->stores_first + i) %
						     doorbell->stores_size];
		free(doorbell->stores);
		doorbell->stores = stores;
		doorbell->stores_size = size;
		doorbell->stores_first = 0;
	}
	doorbell->stores[(doorbell->stores_first + doorbell->stores_count++) %
			 doorbell->stores_size] = sim_now(doorbell->block.sim);
}

static void take_store(struct doorbell *doorbell)
{
	doorbell->stalled = false;
	assert(doorbell->stores_count);
	doorbell->stored_at = doorbell->stores[doorbell->stores_first];
	doorbell->stores_first = (doorbell->stores_first + 1) % doorbell->stores_size;
	doorbell->stores_count--;
}

static void give_up_gathering(struct doorbell *doorbell)
{
	if (!doorbell->wanted_bytes)
		return;
	doorbell->wanted_bytes = 0;
	doorbell->count.doorbells++;
	enqueue(doorbell, false, doorbell->gathered_at, doorbell->gathered, STORE_BYTES);
}

static void gather(struct doorbell *doorbell, uint64_t offset, const uint8_t *bytes)
{
	memcpy(doorbell->gathered + doorbell->gathered_bytes, bytes, WQE_BLOCK_BYTES);
	doorbell->gathered_bytes += WQE_BLOCK_BYTES;
	doorbell->next_offset = offset + WQE_BLOCK_BYTES;
	if (doorbell->gathered_bytes < doorbell->wanted_bytes)
		return;
	doorbell->wanted_bytes = 0;
	doorbell->count.blueflame++;
	enqueue(doorbell, false, doorbell->gathered_at, doorbell->gathered,
		doorbell->gathered_bytes);
}

bool doorbell_has_room(struct doorbell *doorbell, sim_time *ask_at)
{
	if (pcie_mmio_room(doorbell->pcie, ask_at))
		return true;
	if (*ask_at == SIM_NEVER) /* the queue is full: the next one leaves it then */
		*ask_at = event_time(&doorbell->process);
	if (*ask_at == sim_now(doorbell->block.sim))
		++*ask_at; /* others act at this instant */
	return false;
}

/* A store waits before the queue: once is counted. */
static bool stall(struct doorbell *doorbell)
{
	doorbell->count.stalls += !doorbell->stalled;
	doorbell->stalled = true;
	return false;
}

/* false: the queue is full. */
static bool decode(void *context, uint64_t offset, const void *data, uint32_t length)
{
	struct doorbell *doorbell = context;
	uint32_t within = (uint32_t)(offset % UAR_PAGE_BYTES);
	bool starts = within >= UAR_BLUEFLAME && within < UAR_BLUEFLAME_END &&
		      within % UAR_BLUEFLAME_BUFFER == 0;
	const uint8_t *bytes = data;

	if (doorbell->wanted_bytes && offset == doorbell->next_offset &&
	    length == WQE_BLOCK_BYTES) {
		if (is_full(doorbell) &&
		    doorbell->gathered_bytes + WQE_BLOCK_BYTES >= doorbell->wanted_bytes)
			return stall(doorbell);
		take_store(doorbell);
		gather(doorbell, offset, bytes);
		return true;
	}
	if (is_full(doorbell))
		return stall(doorbell);
	give_up_gathering(doorbell);
	if (is_full(doorbell))
		return stall(doorbell);
	take_store(doorbell);
	if (within == UAR_CQ_ARM && length == STORE_BYTES) {
		doorbell->count.arms++;
		enqueue(doorbell, true, doorbell->stored_at, bytes, length);
	} else if (starts && length == STORE_BYTES) {
		doorbell->count.doorbells++;
		enqueue(doorbell, false, doorbell->stored_at, bytes, length);
	} else if (starts && length == WQE_BLOCK_BYTES && wqe_blocks(bytes)) {
		doorbell->gathered_bytes = 0;
		doorbell->gathered_at = doorbell->stored_at;
		doorbell->wanted_bytes = wqe_blocks(bytes) * WQE_BLOCK_BYTES;
		gather(doorbell, offset, bytes);
	} else {
		doorbell->count.unknown++;
	}
	return true;
}

static void execute(struct doorbell *doorbell, const struct ring_request *request);

static void process(struct event *event)
{
	struct doorbell *doorbell = container_of(event, struct doorbell, process);
	struct ring_request *request = &doorbell->queue[doorbell->first];

	doorbell->first = (doorbell->first + 1) % (uint32_t)doorbell->params->queue;
	doorbell->queued--;
	gauge_left(&doorbell->gauge.queue, request->since, sim_now(doorbell->block.sim), 1);
	if (doorbell->queued)
		sim_schedule_at(&doorbell->process, doorbell->queue[doorbell->first].due);
	execute(doorbell, request);
	pcie_mmio_resume(doorbell->pcie);
}

static void arm(struct doorbell *doorbell, const uint8_t *bytes)
{
	uint32_t command = be32_get(bytes);
	uint32_t cqn = be32_get(bytes + 4) & NUMBER_MASK;
	struct completion_queue *cq = number_table_find(doorbell->cqs, cqn);

	trace(&doorbell->block, TRACE_CQ_ARM, 0, cqn, command);
	if (cq)
		completion_arm(cq, command & NUMBER_MASK, command & ARM_SOLICITED);
	else
		doorbell->count.unknown++;
}

static void execute(struct doorbell *doorbell, const struct ring_request *request)
{
	const uint8_t *bytes = request->bytes;
	struct send_queue *sq;
	uint16_t producer, ahead;

	if (request->is_arm) {
		arm(doorbell, bytes);
		return;
	}
	sq = doorbell->user->find(doorbell->user, wqe_qpn(bytes));
	if (!sq || !sq->attr->sq_blocks) {
		doorbell->count.unknown++;
		return;
	}
	producer = (uint16_t)(wqe_index(bytes) + wqe_blocks(bytes));
	ahead = (uint16_t)(producer - (uint16_t)sq->producer);
	if (sq->producer + ahead - sq->parsed > sq->attr->sq_blocks) {
		doorbell->count.implausible++;
		return;
	}
	trace(&doorbell->block, TRACE_DOORBELL, 0, sq->number, producer);
	sq->producer += ahead;
	if (ahead)
		wqe_fetch_rung(sq, request->stored_at);
	if (request->has_wqe)
		wqe_fetch_blueflame(sq, bytes);
	wqe_fetch_kick(sq);
	doorbell->user->rung(sq);
}

struct doorbell *doorbell_create(struct sim *sim, const char *name,
				 const struct doorbell_params *params, struct pcie *pcie,
				 const struct number_table *cqs, const struct doorbell_user *user)
{
	struct doorbell *doorbell =
		calloc(1, sizeof(*doorbell) + params->queue * sizeof(doorbell->queue[0]));

	assert(doorbell);
	doorbell->pcie = pcie;
	doorbell->cqs = cqs;
	doorbell->user = user;
	doorbell->params = params;
	block_init(&doorbell->block, sim, &doorbell_type, name, params,
		   (const uint64_t *)&doorbell->count);
	block_gauges(&doorbell->block, (struct gauge *)&doorbell->gauge);
	doorbell->gauge.decoder.capacity = 1;
	doorbell->gauge.queue.capacity = params->queue;
	event_init(&doorbell->process, &doorbell->block, process);
	pcie_mmio_attach(pcie, decode, doorbell);
	return doorbell;
}

void doorbell_destroy(struct doorbell *doorbell)
{
	sim_cancel(&doorbell->process);
	block_fini(&doorbell->block);
	free(doorbell->stores);
	free(doorbell);
}

const struct doorbell_counters *doorbell_counters(const struct doorbell *doorbell)
{
	return &doorbell->count;
}
