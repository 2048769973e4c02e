/* SPDX-License-Identifier: Apache-2.0 */
/* noise: disturbances of threads by their host, such as timer interrupts. Each thread has a core
 * of its own, and each core its own disturbances. */
#include <gsl/gsl_randist.h>
#include <stdio.h>

#include "verbs-shim/session/state.h"

/* Draws the start of the disturbance that follows one that ends at `end`. */
static void draw(const struct session *session, struct thread *thread, sim_time end)
{
	thread->disturbed_at =
		end + (sim_time)gsl_ran_exponential(&thread->noise.gsl,
						    (double)session->cpu.noise_interval);
}

void noise_begin(const struct session *session, struct thread *thread)
{
	char purpose[32];

	if (!session->cpu.noise_interval)
		return;
	snprintf(purpose, sizeof(purpose), "noise%u", (unsigned)(thread - session->threads));
	random_init_named(&thread->noise, sim_seed(session->sim),
			  session->hosts[thread->process->host].name, purpose);
	draw(session, thread, 0);
}

/* Delays a thread. A thread that waited is not on its core yet. */
static void hold(const struct session *session, struct thread *thread, sim_time time)
{
	if (thread->last == OP_OS_WAIT || thread->last == OP_SLEEP)
		thread->clock += time;
	else
		session_charge(session, thread, CPU_noise, time);
}

bool noise_holds(const struct session *session, struct thread *thread)
{
	bool holds = false;

	while (session->cpu.noise_interval && thread->disturbed_at <= thread->clock) {
		sim_time end = thread->disturbed_at + session->cpu.noise;

		if (end > thread->clock) {
			hold(session, thread, end - thread->clock);
			holds = true;
		}
		draw(session, thread, end);
	}
	return holds;
}

void noise_worked(const struct session *session, struct thread *thread)
{
	struct shim_slot *slot = thread->slot;
	uint32_t count = slot->store_count <= SHIM_STORES ? slot->store_count : 0;

	while (session->cpu.noise_interval && thread->disturbed_at < slot->clock) {
		sim_time end = thread->disturbed_at + session->cpu.noise;

		for (uint32_t i = thread->stores_served; i < count; i++) {
			if (slot->stores[i].clock > thread->disturbed_at)
				slot->stores[i].clock += session->cpu.noise;
		}
		slot->clock += session->cpu.noise;
		session->shared->charged[thread - session->threads][CPU_noise] +=
			session->cpu.noise;
		draw(session, thread, end);
	}
}
