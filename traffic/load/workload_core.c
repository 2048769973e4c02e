/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_core: see workload_core.h. Each action takes its time first, and then takes effect.
 *
 *     step: ring for built WQEs, or carry out the action taken
 *           --> a CQE, or data?  take it
 *               else a message?  build its WQE
 *               else             sleep
 */
#include "traffic/load/workload_core.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
#define WORKLOAD_CORE_GAUGES(X) CORE_GAUGES(X, "processor core that posts and polls")
/* clang-format on */

enum workload_core_state {
	WORKLOAD_CORE_SLEEPING,
	WORKLOAD_CORE_POSTING,
	WORKLOAD_CORE_TAKING,
	WORKLOAD_CORE_SEEING
};

struct workload_core {
	struct block block;
	struct workload_core_counters count;
	struct core_gauges gauge;
	struct load_thread *thread;
	struct event step;
	enum workload_core_state state;
	struct load_qp *posting;
	struct load_cqe taken;
	struct expected_message *written_first, *written_last;
};

static const struct load_params *params_of(const struct workload_core *core)
{
	return &core->thread->node->load->params;
}

static void go_on(struct workload_core *core, enum workload_core_state state, sim_time cost)
{
	core->state = state;
	core_serve(&core->gauge, sim_now(core->thread->node->sim), cost);
	sim_schedule(&core->step, cost);
}

static void post(struct workload_core *core)
{
	const struct load_cpu_params *cpu = &params_of(core)->cpu;
	struct load_target target;

	core->posting = load_thread_take_ready(core->thread);
	target = load_end_next(core->posting->end);
	load_thread_build(core->posting, &target);
	core->count.posted++;
	go_on(core, WORKLOAD_CORE_POSTING, cpu->post + cpu->ring);
}

/* ---- actions taken ---- */

static sim_time cost_of(const struct workload_core *core, const struct load_cqe *cqe)
{
	const struct load_cpu_params *cpu = &params_of(core)->cpu;

	return load_poll_time(core->thread->node) +
	       (cqe->opcode == CQE_RECEIVED_SEND ? cpu->receive : 0);
}

/* Carries out the action. Each work request has a CQE. Flushed receive work requests are
 * ignored. */
static void carry_out(struct workload_core *core)
{
	const struct load_cqe *cqe = &core->taken;
	struct load_qp *qp = cqe->qp;

	switch (cqe->opcode) {
	case CQE_SENT:
	case CQE_SEND_ERROR:
		assert((uint16_t)load_qp_block(qp, qp->retired) == cqe->counter);
		qp->retired++;
		core->count.completed++;
		load_end_complete(qp->end, cqe->opcode == CQE_SEND_ERROR);
		load_thread_room(qp);
		return;
	case CQE_RECEIVED_SEND:
		core->count.received++;
		load_thread_post_receive(qp);
		load_end_received(qp->end);
		return;
	}
}

static void see(struct workload_core *core)
{
	struct expected_message *message = core->written_first;

	core->written_first = message->next_written;
	if (!core->written_first)
		core->written_last = NULL;
	core->count.seen++;
	load_end_delivered(message);
}

/* Returns true if data came before the next CQE. */
static bool data_are_next(const struct workload_core *core)
{
	const struct expected_message *message = core->written_first;

	return message && (int32_t)(message->cqes_before - core->thread->arrived_first) <= 0;
}

static void step(struct event *event)
{
	struct workload_core *core = container_of(event, struct workload_core, step);
	struct load_thread *thread = core->thread;

	if (core->state == WORKLOAD_CORE_POSTING) {
		if (!load_thread_may_ring(thread, &core->step))
			return;
		load_thread_ring(core->posting);
		load_thread_room(core->posting);
	} else if (core->state == WORKLOAD_CORE_TAKING) {
		carry_out(core);
	} else if (core->state == WORKLOAD_CORE_SEEING) {
		see(core);
	}
	if (data_are_next(core)) {
		go_on(core, WORKLOAD_CORE_SEEING, load_poll_time(thread->node));
	} else if (load_thread_has_arrived(thread)) {
		core->taken = load_thread_take_cqe(thread);
		go_on(core, WORKLOAD_CORE_TAKING, cost_of(core, &core->taken));
	} else if (thread->ready_count) {
		post(core);
	} else {
		core->state = WORKLOAD_CORE_SLEEPING;
	}
}

void workload_core_wake(struct workload_core *core)
{
	if (core->state == WORKLOAD_CORE_SLEEPING && !event_pending(&core->step))
		sim_schedule(&core->step, 0);
}

void workload_core_written(struct workload_core *core, struct expected_message *message)
{
	message->cqes_before = core->thread->arrived_end;
	message->next_written = NULL;
	if (core->written_last)
		core->written_last->next_written = message;
	else
		core->written_first = message;
	core->written_last = message;
	workload_core_wake(core);
}

/* ---- life ---- */

/* clang-format off */
static const struct block_type workload_core_type = {
	.name         = "core",
	.params       = load_cpu_param_list,
	.counters     = (const struct counter[]){WORKLOAD_CORE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){WORKLOAD_CORE_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

void workload_core_init(struct load_thread *thread)
{
	struct workload_core *core = calloc(1, sizeof(*core));
	char name[LOAD_NAME_BYTES];

	assert(core);
	thread->core = core;
	core->thread = thread;
	load_thread_name(thread, "core", name);
	block_init(&core->block, thread->node->sim, &workload_core_type, name,
		   &thread->node->load->params.cpu, (const uint64_t *)&core->count);
	block_gauges(&core->block, (struct gauge *)&core->gauge);
	core->gauge.core.capacity = 1;
	event_init(&core->step, &core->block, step);
}

void workload_core_fini(struct load_thread *thread)
{
	struct workload_core *core = thread->core;

	if (!core)
		return;
	sim_cancel(&core->step);
	block_fini(&core->block);
	free(core);
}
