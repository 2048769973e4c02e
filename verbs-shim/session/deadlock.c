/* SPDX-License-Identifier: Apache-2.0 */
/* deadlock: names what each thread waits for when none can continue. */
#include <stdio.h>

#include "verbs-shim/session/state.h"

/* clang-format off */
static const char *const op_names[] = {
#define OP_NAME(name, meaning) #name,
	SHIM_OPS(OP_NAME)
};
/* clang-format on */

void deadlock_report(struct session *session)
{
	fprintf(stderr,
		"hcasim: virtual deadlock at %.3f us: no thread can continue and no event is left, "
		"and\n",
		(double)sim_now(session->sim) / (double)US);
	sockets_report(session);
	for (uint32_t i = 0; i < session->thread_count; i++) {
		const struct thread *thread = &session->threads[i];
		if (thread->state == THREAD_FREE)
			continue;
		fprintf(stderr, "hcasim:   %s: process %u, thread %u waits since %.3f us in %s\n",
			session->hosts[thread->process->host].name,
			thread->process->number + SHIM_FIRST_PID, i,
			(double)thread->clock / (double)US,
			thread->state == THREAD_OUTSIDE ? "an untracked system call"
							: op_names[thread->last]);
	}
	servers_advise(session);
	if (session->exit_code == 0)
		session->exit_code = 3;
}
