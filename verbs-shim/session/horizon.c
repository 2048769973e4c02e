/* SPDX-License-Identifier: Apache-2.0 */
/*
 * horizon: how far a thread may run before it returns the token. No other thread may act before the
 * horizon, unless the thread cannot notice it. session.c requests a horizon for each grant.
 */
#include "verbs-shim/session/state.h"

/* Maximum time by which a thread runs ahead of the others, in session.lookahead. */
#define LOOKAHEAD_GROWTH 64

void horizon_adapt(struct session *session, struct thread *thread)
{
	const struct shim_slot *slot = thread->slot;

	if (slot->op == OP_YIELD && !slot->dirty && !slot->store_count) {
		if (thread->ahead < LOOKAHEAD_GROWTH * session->params.lookahead)
			thread->ahead *= 2;
		return;
	}
	for (uint32_t i = 0; i < session->thread_count; i++)
		session->threads[i].ahead = session->params.lookahead;
}

struct horizons horizon_of(struct session *session, const struct thread *thread, sim_time second)
{
	sim_time others = second + thread->ahead, next = sim_next(session->sim), timer;
	sim_time start = start_next(session), bound = peers_bound(session, thread);
	struct horizons horizons;
	uint32_t number;

	order_timer(session, &number, &timer);
	if (timer < others)
		others = timer;
	if (start < others)
		others = start;
	if (bound < others)
		others = bound;
	horizons.store = others;
	horizons.exact = horizons.run = next < others ? next : others;
	if (thread->slot->op == OP_YIELD && thread->slot->guarded &&
	    thread->process->threads == 1 && bound >= SIM_NEVER) {
		sim_time guarded = thread->clock + LOOKAHEAD_GROWTH * session->params.lookahead;

		if (guarded > timer)
			guarded = timer;
		if (horizons.run < guarded)
			horizons.run = guarded;
	}
	return horizons;
}
