/* SPDX-License-Identifier: Apache-2.0 */
/* doorbell: see doorbell.h. */
#include "hca/work/doorbell.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/bytes.h"
#include "hca/module/module_host.h"
#include "hca/work/completion.h"
#include "hca/work/doorbell_module.h"
#include "hca/work/wqe_fetch.h"

#define ROW(...)      PARAM_ROW(struct doorbell_params, __VA_ARGS__)
#define STORE_BYTES   8
#define FIRST_STORES  64
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

struct doorbell {
	struct block block;
	struct doorbell_counters count;
	struct doorbell_gauges gauge;
	struct pcie *pcie;
	const struct number_table *cqs;
	const struct doorbell_user *user;
	const struct doorbell_params *params;
	const struct doorbell_module *decoder;
	struct module_host host; /* of the decoder */
	struct event due;
	/* stores on their way over PCIe, in a growing ring */
	sim_time *stores;
	uint32_t stores_first, stores_count, stores_size;
};

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

bool doorbell_has_room(struct doorbell *doorbell, sim_time *ask_at)
{
	if (pcie_mmio_room(doorbell->pcie, ask_at))
		return true;
	if (*ask_at == SIM_NEVER) /* a refused store is presented again at the decoder's event */
		*ask_at = event_time(&doorbell->due);
	if (*ask_at == sim_now(doorbell->block.sim))
		++*ask_at; /* other blocks have events at this time */
	return false;
}

/* ---- to the decoder ---- */

/* Passes a store to the decoder. Returns false if the decoder refuses it; the store then waits. */
static bool arrive(void *context, uint64_t offset, const void *data, uint32_t length)
{
	struct doorbell *doorbell = context;
	const struct doorbell_store store = {
		.offset = offset,
		.length = length,
		.bytes = data,
		.stored_at = doorbell->stores[doorbell->stores_first],
	};
	bool taken;

	assert(doorbell->stores_count);
	module_host_enter(&doorbell->host);
	taken = doorbell->decoder->store(doorbell->host.module, &store,
					 sim_now(doorbell->block.sim));
	module_host_leave(&doorbell->host);
	if (!taken) {
		if (!event_pending(&doorbell->due))
			module_broke(doorbell->block.name,
				     "refuses a store without an outstanding due(); "
				     "expected a call of due_at() before");
		return false;
	}
	doorbell->stores_first = (doorbell->stores_first + 1) % doorbell->stores_size;
	doorbell->stores_count--;
	return true;
}

static void due(struct event *event)
{
	struct doorbell *doorbell = container_of(event, struct doorbell, due);

	module_host_enter(&doorbell->host);
	doorbell->decoder->due(doorbell->host.module, sim_now(doorbell->block.sim));
	module_host_leave(&doorbell->host);
}

/* ---- from the decoder ---- */

static void arm(struct doorbell *doorbell, const uint8_t *bytes)
{
	uint32_t command = be32_get(bytes);
	uint32_t cqn = be32_get(bytes + 4) & MASK_24;
	struct completion_queue *cq = number_table_find(doorbell->cqs, cqn);

	trace(&doorbell->block, TRACE_CQ_ARM, 0, cqn, command);
	if (cq)
		completion_arm(cq, command & MASK_24, command & ARM_SOLICITED);
	else
		doorbell->count.unknown++;
}

static void ring(struct doorbell *doorbell, const struct doorbell_command *command)
{
	const uint8_t *bytes = command->bytes;
	struct send_queue *sq = doorbell->user->find(doorbell->user, wqe_qpn(bytes));
	uint16_t producer = (uint16_t)(wqe_index(bytes) + wqe_blocks(bytes));

	if (!sq || !sq->attr->sq_blocks) {
		doorbell->count.unknown++;
		return;
	}
	if (!wqe_fetch_rung(sq, producer, command->stored_at)) {
		doorbell->count.implausible++;
		return;
	}
	trace(&doorbell->block, TRACE_DOORBELL, 0, sq->number, producer);
	if (command->length > STORE_BYTES)
		wqe_fetch_blueflame(sq, bytes);
	wqe_fetch_kick(sq);
	doorbell->user->rung(sq);
}

static void service_execute(struct doorbell *doorbell, const struct doorbell_command *command)
{
	bool is_wqe = !command->is_arm && wqe_blocks(command->bytes) &&
		      command->length == wqe_blocks(command->bytes) * WQE_BLOCK_BYTES;

	module_host_must_be_inside(&doorbell->host);
	if (command->length != STORE_BYTES && !is_wqe)
		module_broke(doorbell->block.name, "executes a command of a wrong length; expected "
						   "8 bytes, or the length of a WQE");
	if (command->is_arm)
		arm(doorbell, command->bytes);
	else
		ring(doorbell, command);
}

static void service_due_at(struct doorbell *doorbell, sim_time at)
{
	if (event_pending(&doorbell->due))
		module_broke(doorbell->block.name,
			     "requests due() while a call of due() is outstanding");
	module_host_schedule(&doorbell->host, &doorbell->due, &doorbell->block, due, at);
}

static void service_resume(struct doorbell *doorbell)
{
	module_host_must_be_inside(&doorbell->host);
	pcie_mmio_resume(doorbell->pcie);
}

static const struct doorbell_services services = {
	.execute = service_execute,
	.due_at = service_due_at,
	.resume = service_resume,
};

/* ---- creation and destruction ---- */

static void *create_decoder(void *argument)
{
	struct doorbell *doorbell = argument;

	return doorbell->decoder->create(&(const struct doorbell_setup){
		.name = doorbell->block.name,
		.params = doorbell->params,
		.services = &services,
		.doorbell = doorbell,
		.counters = &doorbell->count,
		.gauges = &doorbell->gauge,
	});
}

struct doorbell *doorbell_create(struct sim *sim, const char *name,
				 const struct doorbell_params *params, struct pcie *pcie,
				 const struct number_table *cqs, const struct doorbell_user *user)
{
	struct doorbell *doorbell = calloc(1, sizeof(*doorbell));

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
	event_init(&doorbell->due, &doorbell->block, due);
	doorbell->decoder = module_host_table(MODULE_DOORBELL, sizeof(*doorbell->decoder), name,
					      &params->module, &doorbell_decoder);
	module_host_fill(&doorbell->host, &doorbell->block, !*params->module.text, create_decoder,
			 doorbell, doorbell->decoder->destroy, doorbell->decoder->trace);
	pcie_mmio_attach(pcie, arrive, doorbell);
	return doorbell;
}

void doorbell_destroy(struct doorbell *doorbell)
{
	sim_cancel(&doorbell->due);
	module_host_clear(&doorbell->host);
	block_fini(&doorbell->block);
	free(doorbell->stores);
	free(doorbell);
}

const struct doorbell_counters *doorbell_counters(const struct doorbell *doorbell)
{
	return &doorbell->count;
}
