/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu: processor time of programs. The preloaded library counts the time of each thread. The
 * simulator charges the time of requests to threads, and sums the time of ended processes.
 */
#include <inttypes.h>

#include "verbs-shim/session/state.h"

void session_charge(const struct session *session, struct thread *thread, enum cpu_kind kind,
		    sim_time time)
{
	session->shared->charged[thread - session->threads][kind] += time;
	thread->clock += time;
}

void session_count_process(struct session *session, const struct process *process)
{
	if (process->part_of >= 0)
		cpu_time_add(&session->programs[process->part_of].cpu,
			     &session->shared->processes[process->number].cpu);
}

uint32_t session_cpu_count(const struct session *session)
{
	return session->program_count ? session->program_count + 2 * session->host_count : 0;
}

struct session_cpu session_cpu_of(const struct session *session, uint32_t number)
{
	const struct program *counted = &session->programs[number];
	uint32_t kernel = number - session->program_count;

	if (number >= session->program_count)
		return (struct session_cpu){
			.host = kernel / 2,
			.program = kernel % 2 ? "[ksoftirqd]" : "[swapper]",
			.time = &session->hosts[kernel / 2].softirq[kernel % 2]};

	return (struct session_cpu){
		.host = counted->host, .program = counted->argv[0], .time = &counted->cpu};
}

unsigned session_check_cpu(const struct session *session, FILE *out)
{
	unsigned wrong = 0;

	for (uint32_t i = 0; i < session->program_count; i++) {
		const struct program *program = &session->programs[i];
		uint64_t sum = 0;

		for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
			sum += program->cpu.kinds[kind];
		/* more charged than passed makes the untracked rest negative */
		if (sum == program->cpu.total && (int64_t)program->cpu.kinds[CPU_untracked] >= 0)
			continue;
		wrong++;
		fprintf(out,
			"%s: %s: the kinds of processor time sum to %" PRIu64
			" ps, of which %" PRId64 " ps untracked; the threads had %" PRIu64 " ps\n",
			session->hosts[program->host].name, program->argv[0], sum,
			(int64_t)program->cpu.kinds[CPU_untracked], program->cpu.total);
	}
	return wrong;
}
