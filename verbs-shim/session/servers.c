/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers: programs that do not end by themselves, as daemons. When all other programs have ended,
 * each process of a server gets SIGTERM. Processes that then run for longer than session.server_end
 * are killed. The exit code of a server counts only if the server ended before.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "verbs-shim/session/state.h"

/* Virtual time after the end of a program, after which a run names the programs that are left. */
#define OVERTIME (60 * SEC)

bool servers_are_asked(const struct session *session)
{
	return session->asked;
}

/* Returns true if at least one program has ended, and only servers are left. */
static bool are_alone(const struct session *session)
{
	if (!session->any_ended)
		return false;
	for (uint32_t i = 0; i < session->program_count; i++)
		if (!session->programs[i].ended && !session->programs[i].is_server)
			return false;
	return true;
}

static void ask(struct process *process, sim_time at)
{
	while (process->timer_count <= SHIM_NO_TIMER)
		process->timers[process->timer_count++] = (struct process_timer){0};
	process->timers[SHIM_NO_TIMER] = (struct process_timer){.at = at, .signal = SIGTERM};
}

static void ask_all(struct session *session)
{
	session->asked = true;
	session->asked_at = sim_now(session->sim);
	if (session->asked_at < session->ended_at)
		session->asked_at = session->ended_at;
	for (uint32_t i = 0; i < session->program_count; i++) {
		struct program *program = &session->programs[i];

		if (!program->started) { /* nobody is left for it */
			program->started = program->ended = true;
			session->unstarted--;
		}
	}
	for (uint32_t i = 0; i < session->process_count && i < SHIM_PROCESSES; i++) {
		struct process *process = &session->processes[i];

		if (process->alive && process->part_of >= 0 &&
		    session->programs[process->part_of].is_server)
			ask(process, session->asked_at);
	}
}

void servers_name_killed(const struct session *session)
{
	for (uint32_t i = 0; i < session->program_count; i++) {
		const struct program *program = &session->programs[i];

		if (!program->ended)
			fprintf(stderr,
				"hcasim: %s: %s does not end within %g s after SIGTERM, and is "
				"killed\n",
				session->hosts[program->host].name, program->argv[0],
				(double)session->params.server_end / (double)SEC);
	}
}

void servers_advise(const struct session *session)
{
	if (!session->any_ended)
		return;
	for (uint32_t i = 0; i < session->program_count; i++) {
		const struct program *program = &session->programs[i];
		const char *host = session->hosts[program->host].name;

		if (!program->ended && !program->is_server)
			fprintf(stderr,
				"hcasim: %s: %s has not ended; \"server %s: %s\" ends it with the "
				"other programs\n",
				host, program->argv[0], host, program->argv[0]);
	}
}

void servers_review(struct session *session)
{
	if (!servers_are_asked(session) && are_alone(session))
		ask_all(session);
}

/* A program that never ends and wakes now and then would keep the run alive without a message. */
static void note_overtime(struct session *session, sim_time next)
{
	if (session->overtime_noted || !session->any_ended || next < session->ended_at + OVERTIME)
		return;
	session->overtime_noted = true;
	fprintf(stderr,
		"hcasim: programs still run %" PRIu64
		" s of virtual time after the last one has ended\n",
		OVERTIME / SEC);
	servers_advise(session);
}

bool servers_are_late(struct session *session, sim_time next)
{
	if (next >= SIM_NEVER)
		return false;
	note_overtime(session, next);
	if (!servers_are_asked(session) || next <= session->asked_at + session->params.server_end)
		return false;
	servers_name_killed(session);
	return true;
}
