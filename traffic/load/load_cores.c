/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_cores: processor cores of a thread. Each posts to a queue pair that has room, polls the CQ,
 * and sleeps when there is nothing to do. Cores that share a thread hold the lock of a queue pair
 * or CQ while they use it, and wait for it in turn. All cores of a node do the same for the lock of
 * a doorbell register.
 *
 *     step: WQEs built?             request the register --> ring
 *           else CQEs to poll?      take them
 *           else room in a queue pair?  build its WQEs
 *           else                    sleep
 */
#include <assert.h>
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>

#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"

static sim_time poll_cqs(struct load_thread *thread)
{
	sim_time cost = 0;

	for (unsigned i = 0; i < LOAD_POLL_LIST && load_thread_has_arrived(thread); i++)
		cost += load_thread_take(thread);
	return cost;
}

static bool may_post(const struct load_thread *thread)
{
	const struct load_params *params = thread->params;

	return thread->ready_count && !load_is_over(thread->node->load) &&
	       (!params->outstanding ||
		thread->under_way + params->post_list <= params->outstanding);
}

/* Returns the time at which the core gets the lock, which it keeps for `held`. It waits for the
 * holder, and for the other waiting cores, each of which fetches the line. */
static sim_time take_lock(const struct load_core *core, struct load_lock *lock, sim_time held)
{
	const struct load_node *node = core->thread->node;
	sim_time now = sim_now(node->sim), start = lock->free_at > now ? lock->free_at : now;

	lock->busy += held;
	if (lock->last && lock->last != core) {
		sim_time taken =
			node->load->params.cpu.lock_handoff * (lock->users ? lock->users : 1);

		start += taken;
		lock->busy += taken;
	}
	lock->last = core;
	lock->free_at = start + held;
	return start;
}

/* Returns the duration of work of length `held` that starts now. Disturbances that overlap it are
 * added. */
static sim_time disturb(struct load_core *core, sim_time held)
{
	const struct load_cpu_params *cpu = &core->thread->node->load->params.cpu;
	sim_time now = sim_now(core->thread->node->sim), end = now + held;

	while (cpu->noise_interval && core->disturbed_at < end) {
		sim_time from = core->disturbed_at > now ? core->disturbed_at : now;
		sim_time over = core->disturbed_at + cpu->noise;

		if (over > from)
			end += over - from;
		core->disturbed_at = over + (sim_time)gsl_ran_exponential(
						    &core->noise.gsl, (double)cpu->noise_interval);
	}
	return end - now;
}

static bool wake_one(struct load_thread *thread)
{
	for (uint32_t i = 0; i < thread->node->load->params.cores_per_thread; i++) {
		struct load_core *core = &thread->cores[i];

		if (core->awake)
			continue;
		core->awake = true;
		sim_schedule(&core->step, disturb(core, 0));
		return true;
	}
	return false;
}

/* Returns true if the core must wait, because another core waits for the lock. */
static bool yields(struct load_core *core)
{
	if (!may_post(core->thread) || !wake_one(core->thread))
		return false;
	sim_schedule(&core->step, 0);
	return true;
}

/* Returns the lock that a core holds while it rings: of a shared register, or of a queue pair. */
static struct load_lock *posting_lock(struct load_qp *qp)
{
	return qp->doorbell ? qp->doorbell : &qp->lock;
}

static void hold(struct load_core *core, sim_time held)
{
	struct load_lock *lock = posting_lock(core->posting);
	sim_time start = take_lock(core, lock, held);

	lock->users++;
	sim_schedule_at(&core->step, start + held);
}

static void start_posting(struct load_core *core)
{
	struct load_thread *thread = core->thread;
	const struct load_params *params = thread->params;
	sim_time build = params->cpu.post * params->post_list;

	core->busy += build + params->cpu.ring;
	core->posting = load_thread_take_ready(thread);
	thread->under_way += (uint32_t)params->post_list;
	for (uint64_t i = 0; i < params->post_list; i++) {
		struct load_target target = load_thread_choose(core->posting);

		load_thread_build(core->posting, &target);
	}
	if (may_post(thread))
		wake_one(thread);
	core->building = core->posting->doorbell;
	if (core->building)
		sim_schedule(&core->step, disturb(core, build));
	else
		hold(core, disturb(core, build + params->cpu.ring));
}

static void start_polling(struct load_core *core)
{
	struct load_thread *thread = core->thread;
	struct load_lock *lock = &thread->cq_lock;
	sim_time held;

	if (lock->free_at > sim_now(thread->node->sim)) {
		sim_schedule_at(&core->step, lock->free_at);
		return;
	}
	held = poll_cqs(thread);
	core->busy += held;
	held = disturb(core, held);
	if (may_post(thread))
		wake_one(thread);
	sim_schedule_at(&core->step, take_lock(core, lock, held) + held);
}

static void step(struct event *event)
{
	struct load_core *core = container_of(event, struct load_core, step);
	struct load_thread *thread = core->thread;

	if (core->building) {
		core->building = false;
		hold(core, disturb(core, thread->params->cpu.ring));
		return;
	}
	if (core->posting) {
		if (!load_thread_may_ring(thread, &core->step))
			return;
		posting_lock(core->posting)->users--;
		load_thread_ring(core->posting);
		load_thread_room(core->posting);
		core->posting = NULL;
		if (yields(core))
			return;
	}
	if (load_thread_has_arrived(thread))
		start_polling(core);
	else if (may_post(thread))
		start_posting(core);
	else
		core->awake = false;
}

static bool is_awake(const struct load_thread *thread)
{
	for (uint32_t i = 0; i < thread->node->load->params.cores_per_thread; i++)
		if (thread->cores[i].awake)
			return true;
	return false;
}

void load_cores_wake(struct load_thread *thread, uint32_t cq)
{
	thread->arrived[thread->arrived_end++ & thread->arrived_mask] = cq;
	if (thread->server)
		load_server_wake(thread->server);
	else if (thread->core)
		workload_core_wake(thread->core);
	else if (!is_awake(thread))
		wake_one(thread);
}

void load_cores_init(struct load_thread *thread, const char *name)
{
	struct load *load = thread->node->load;
	char purpose[32];

	thread->cores = calloc(load->params.cores_per_thread, sizeof(thread->cores[0]));
	assert(thread->cores);
	for (uint32_t i = 0; i < load->params.cores_per_thread; i++) {
		thread->cores[i].thread = thread;
		event_init(&thread->cores[i].step, &thread->node->block, step);
		snprintf(purpose, sizeof(purpose), "noise%u", i);
		random_init_named(&thread->cores[i].noise, sim_seed(load->sim), name, purpose);
	}
}

void load_cores_fini(struct load_thread *thread)
{
	for (uint32_t i = 0; i < thread->node->load->params.cores_per_thread; i++)
		sim_cancel(&thread->cores[i].step);
	free(thread->cores);
}

void load_cores_start(struct load_thread *thread)
{
	if (thread->server)
		return; /* it polls for requests */
	for (uint32_t i = 0; i < thread->qp_count; i++)
		load_thread_room(&thread->qps[i]);
	for (uint32_t i = 0; i < thread->node->load->params.cores_per_thread; i++)
		wake_one(thread);
}
