/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cores: the core of each thread, and the time that received frames take from it. A thread stays on
 * its core. Threads on one core do not take time from each other. Frames take time from all of
 * them (sockets/softirq.c).
 *
 * As Linux without CONFIG_IRQ_TIME_ACCOUNTING, the time of a softirq counts for the thread that it
 * interrupts. On an idle core it counts for the idle task, and in ksoftirqd for ksoftirqd.
 */
#include <string.h>

#include "verbs-shim/session/state.h"

static uint32_t number_of(const struct session *session, const struct thread *thread)
{
	return (uint32_t)(thread - session->threads);
}

static bool may_run_on(const struct shim_cpus *cpus, uint32_t core)
{
	static const struct shim_cpus all;

	return memcmp(cpus, &all, sizeof(all)) == 0 || (cpus->words[core / 64] >> core % 64 & 1);
}

static bool is_on(const struct session *session, const struct thread *thread, uint32_t host,
		  uint32_t core)
{
	return thread->state != THREAD_FREE && thread->placed && thread->process->host == host &&
	       session->shared->cores[number_of(session, thread)] == core;
}

void cores_place(struct session *session, struct thread *thread)
{
	const struct shim_cpus *cpus = &session->shared->cpus[number_of(session, thread)];
	uint32_t *own = &session->shared->cores[number_of(session, thread)], fewest = UINT32_MAX;
	uint32_t chosen = 0;

	if (thread->placed && may_run_on(cpus, *own))
		return;
	thread->placed = false;
	for (uint32_t core = 0; core < session->cpu.cores; core++) {
		uint32_t count = 0;

		if (!may_run_on(cpus, core))
			continue;
		for (uint32_t i = 0; i < session->thread_count; i++)
			count += is_on(session, &session->threads[i], thread->process->host, core);
		if (count < fewest) {
			fewest = count;
			chosen = core;
		}
	}
	*own = chosen;
	thread->placed = true;
}

/* Returns true if the thread waited, and was not on its core. */
static bool has_waited(const struct thread *thread)
{
	return thread->last == OP_OS_WAIT || thread->last == OP_SLEEP || thread->last == OP_NONE;
}

sim_time cores_free_at(const struct session *session, const struct thread *thread)
{
	return session->sockets && thread->placed
		       ? sockets_core_free(session->sockets, thread->process->host,
					   session->shared->cores[number_of(session, thread)])
		       : 0;
}

bool cores_hold(struct session *session, struct thread *thread)
{
	sim_time free_at = cores_free_at(session, thread);

	if (free_at <= thread->clock)
		return false;
	if (!has_waited(thread))
		session->shared->preempted[number_of(session, thread)] += free_at - thread->clock;
	thread->clock = free_at;
	return true;
}

/* Delays what the thread does from now on. */
static void delay(struct thread *thread, sim_time now, sim_time time)
{
	struct shim_slot *slot = thread->slot;
	uint32_t count = slot->store_count <= SHIM_STORES ? slot->store_count : 0;

	if (thread->request)
		for (uint32_t i = thread->stores_served; i < count; i++)
			slot->stores[i].clock += slot->stores[i].clock >= now ? time : 0;
	slot->clock += time;
	thread->clock += time;
}

static bool works(const struct thread *thread, sim_time now)
{
	return (thread->state == THREAD_READY && thread->clock >= now) ||
	       thread->state == THREAD_VISIBLE_WRITE || thread->state == THREAD_LOAD;
}

void cores_occupy(void *context, uint32_t host, uint32_t core, const uint64_t *work, bool threaded)
{
	struct session *session = context;
	struct cpu_time *rest = &session->hosts[host].softirq[threaded];
	sim_time now = sim_now(session->sim), total = 0;
	bool charged = threaded;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		total += work[kind];
	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];

		if (!is_on(session, thread, host, core) || !works(thread, now))
			continue;
		if (charged)
			session->shared->preempted[i] += total;
		for (unsigned kind = 0; !charged && kind < CPU_KIND_COUNT; kind++)
			session->shared->charged[i][kind] += work[kind];
		charged = true;
		if (thread->state == THREAD_READY)
			delay(thread, now, total);
	}
	if (charged && !threaded)
		return;
	rest->total += total;
	session->shared->core_times[host][core].softirq += total;
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		rest->kinds[kind] += work[kind];
}

bool cores_run(void *context, uint32_t host, uint32_t core)
{
	const struct session *session = context;

	for (uint32_t i = 0; i < session->thread_count; i++)
		if (is_on(session, &session->threads[i], host, core) &&
		    works(&session->threads[i], sim_now(session->sim)))
			return true;
	return false;
}
