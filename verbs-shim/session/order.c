/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: order of threads: the thread with the least (virtual time, host, process, thread) acts
 * first. It also selects the first polling thread that must read its memory again, and the first
 * timer. session.c calls these functions before each grant of the token.
 */
#include "verbs-shim/session/state.h"

sim_time order_next_act(const struct session *session, const struct thread *thread)
{
	switch (thread->state) {
	case THREAD_READY:
		return thread->clock;
	case THREAD_ASLEEP:
		return thread->deadline;
	case THREAD_VISIBLE_WRITE:
		return thread->by_clocks ? thread->deadline : SIM_NEVER;
	case THREAD_OS: {
		sim_time at = thread->deadline;
		if (thread->looked < session->visible) {
			/* after the last action of other threads; a thread that never stops must
			 * not delay it for ever */
			sim_time seen = session->visible_at + session->cpu.socket;
			sim_time latest = thread->unseen_at + 2 * session->cpu.socket;
			if (seen > latest)
				seen = latest;
			if (seen < thread->clock)
				seen = thread->clock;
			if (seen < at)
				at = seen;
		}
		return at;
	}
	default:
		return SIM_NEVER;
	}
}

static bool before(const struct thread *a, const struct thread *b)
{
	if (a->process->host != b->process->host)
		return a->process->host < b->process->host;
	return a->process->number != b->process->number ? a->process->number < b->process->number
							: a < b;
}

struct thread *order_impatient(struct session *session, sim_time until)
{
	struct thread *best = NULL;

	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];
		if (thread->state == THREAD_VISIBLE_WRITE && !thread->by_clocks &&
		    thread->process->alive && thread->deadline < until &&
		    (!best || thread->deadline < best->deadline))
			best = thread;
	}
	return best;
}

struct thread *order_pick(struct session *session, sim_time *when, sim_time *second)
{
	struct thread *best = NULL;

	*when = *second = SIM_NEVER;
	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];
		sim_time at;

		if (thread->state == THREAD_FREE || !thread->process->alive)
			continue;
		at = order_next_act(session, thread);
		if (at >= SIM_NEVER)
			continue;
		if (!best || at < *when || (at == *when && before(thread, best))) {
			*second = *when;
			*when = at;
			best = thread;
		} else if (at < *second) {
			*second = at;
		}
	}
	return best;
}

/* Returns true if a timer of the process has expired. A thread takes the signal when it gets the
 * token. */
static bool has_fired(const struct session *session, const struct process *process)
{
	for (uint32_t i = 0; i < session->thread_count; i++)
		if (session->threads[i].process == process && session->threads[i].signalled &&
		    session->threads[i].state != THREAD_FREE)
			return true;
	return false;
}

struct process *order_timer(struct session *session, uint32_t *timer, sim_time *when)
{
	struct process *best = NULL;

	*timer = 0;
	*when = SIM_NEVER;
	for (uint32_t i = 0; i < session->process_count && i < SHIM_PROCESSES; i++) {
		struct process *process = &session->processes[i];
		if (!process->alive || process->timer_count == 0 || has_fired(session, process))
			continue;
		for (uint32_t t = 0; t < process->timer_count; t++)
			if (process->timers[t].signal && process->timers[t].at < *when) {
				*when = process->timers[t].at;
				*timer = t;
				best = process;
			}
	}
	return best;
}
