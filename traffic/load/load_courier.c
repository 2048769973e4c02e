/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_courier: see load_courier.h. What a step finds takes its time first, and has its effect then.
 *
 *     step: ring what was built, or carry out what was taken --> a CQE, or data? take it : a message? build its WQE : sleep
 */
#include "traffic/load/load_courier.h"

#include <assert.h>
#include <stdlib.h>

/* clang-format off */
#define COURIER_GAUGES(X) CORE_GAUGES(X, "processor core that posts and polls")
/* clang-format on */

enum courier_state { COURIER_SLEEPING, COURIER_POSTING, COURIER_TAKING, COURIER_SEEING };

struct load_courier {
	struct block block;
	struct courier_counters count;
	struct core_gauges gauge;
	struct load_thread *thread;
	struct event step;
	enum courier_state state;
	struct load_qp *posting;
	struct load_cqe taken;
	struct arrival *written_first, *written_last;
};

static const struct load_params *params_of(const struct load_courier *courier)
{
	return &courier->thread->node->load->params;
}

static void go_on(struct load_courier *courier, enum courier_state state, sim_time cost)
{
	courier->state = state;
	core_serve(&courier->gauge, sim_now(courier->thread->node->sim), cost);
	sim_schedule(&courier->step, cost);
}

static void post(struct load_courier *courier)
{
	const struct load_cpu_params *cpu = &params_of(courier)->cpu;
	struct load_target target;

	courier->posting = load_thread_take_ready(courier->thread);
	target = load_end_next(courier->posting->end);
	load_thread_build(courier->posting, &target);
	courier->count.posted++;
	go_on(courier, COURIER_POSTING, cpu->post + cpu->ring);
}

/* ---- what was taken ---- */

static sim_time cost_of(const struct load_courier *courier, const struct load_cqe *cqe)
{
	const struct load_cpu_params *cpu = &params_of(courier)->cpu;

	return load_poll_time(courier->thread->node) +
	       (cqe->opcode == CQE_RECEIVED_SEND ? cpu->receive : 0);
}

/* Each work request has a CQE. What is flushed of the receive queue told nobody of anything. */
static void carry_out(struct load_courier *courier)
{
	const struct load_cqe *cqe = &courier->taken;
	struct load_qp *qp = cqe->qp;

	switch (cqe->opcode) {
	case CQE_SENT:
	case CQE_SEND_ERROR:
		assert((uint16_t)(qp->retired * courier->thread->blocks) == cqe->counter);
		qp->retired++;
		courier->count.completed++;
		load_end_complete(qp->end, cqe->opcode == CQE_SEND_ERROR);
		load_thread_room(qp);
		return;
	case CQE_RECEIVED_SEND:
		courier->count.received++;
		load_thread_post_receive(qp);
		load_end_received(qp->end);
		return;
	}
}

static void see(struct load_courier *courier)
{
	struct arrival *arrival = courier->written_first;

	courier->written_first = arrival->next_written;
	if (!courier->written_first)
		courier->written_last = NULL;
	courier->count.seen++;
	load_end_delivered(arrival);
}

/* In the order in which CQEs and data came. */
static bool data_are_next(const struct load_courier *courier)
{
	const struct arrival *arrival = courier->written_first;

	return arrival && (int32_t)(arrival->cqes_before - courier->thread->arrived_first) <= 0;
}

static void step(struct event *event)
{
	struct load_courier *courier = container_of(event, struct load_courier, step);
	struct load_thread *thread = courier->thread;

	if (courier->state == COURIER_POSTING) {
		if (!load_thread_may_ring(thread, &courier->step))
			return;
		load_thread_ring(courier->posting);
		load_thread_room(courier->posting);
	} else if (courier->state == COURIER_TAKING) {
		carry_out(courier);
	} else if (courier->state == COURIER_SEEING) {
		see(courier);
	}
	if (data_are_next(courier)) {
		go_on(courier, COURIER_SEEING, load_poll_time(thread->node));
	} else if (load_thread_has_arrived(thread)) {
		courier->taken = load_thread_take_cqe(thread);
		go_on(courier, COURIER_TAKING, cost_of(courier, &courier->taken));
	} else if (thread->ready_count) {
		post(courier);
	} else {
		courier->state = COURIER_SLEEPING;
	}
}

void load_courier_wake(struct load_courier *courier)
{
	if (courier->state == COURIER_SLEEPING && !event_pending(&courier->step))
		sim_schedule(&courier->step, 0);
}

void load_courier_written(struct load_courier *courier, struct arrival *arrival)
{
	arrival->cqes_before = courier->thread->arrived_end;
	arrival->next_written = NULL;
	if (courier->written_last)
		courier->written_last->next_written = arrival;
	else
		courier->written_first = arrival;
	courier->written_last = arrival;
	load_courier_wake(courier);
}

/* ---- life ---- */

/* clang-format off */
static const struct block_type courier_type = {
	.name         = "core",
	.params       = load_cpu_param_list,
	.counters     = (const struct counter[]){COURIER_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){COURIER_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

void load_courier_init(struct load_thread *thread)
{
	struct load_courier *courier = calloc(1, sizeof(*courier));
	char name[LOAD_NAME_BYTES];

	assert(courier);
	thread->courier = courier;
	courier->thread = thread;
	load_thread_name(thread, "core", name);
	block_init(&courier->block, thread->node->sim, &courier_type, name,
		   &thread->node->load->params.cpu, (const uint64_t *)&courier->count);
	block_gauges(&courier->block, (struct gauge *)&courier->gauge);
	courier->gauge.core.capacity = 1;
	event_init(&courier->step, &courier->block, step);
}

void load_courier_fini(struct load_thread *thread)
{
	struct load_courier *courier = thread->courier;

	if (!courier)
		return;
	sim_cancel(&courier->step);
	block_fini(&courier->block);
	free(courier);
}
