/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start: start times of programs. All start together, except that a client starts after its server.
 * A program is a client if it names a host of the scenario, or an address, among its arguments. It
 * waits for the earlier programs on the command line that run on that host. For an address of no
 * host, it waits for all earlier programs. It starts when they only wait for the first time,
 * because a server listens by then. `start` of a program, and session.skew for each program before
 * it, are added.
 *
 * session.c calls it before each grant of the token, and advances time no further than
 * start_next().
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-shim/session/state.h"

/* Separators of words in an argument: --host=host1, host1:4711, root@host1, sh -c "client
 * host1". */
#define SEPARATORS " \t\n=,;@:/'\"[]"

/* Returns the host with that name or IPv4 address, or NULL. A program on host `own` may also call
 * it localhost. */
static const struct session_host *host_called(const struct session *session, uint32_t own,
					      const char *word)
{
	struct in_addr address;
	bool is_address = inet_pton(AF_INET, word, &address) == 1;

	if (strcmp(word, "localhost") == 0 || strcmp(word, "127.0.0.1") == 0)
		return &session->hosts[own];
	for (uint32_t i = 0; i < session->host_count; i++)
		if (is_address ? memcmp(session->hosts[i].ipv4, &address, sizeof(address)) == 0
			       : strcmp(session->hosts[i].name, word) == 0)
			return &session->hosts[i];
	return NULL;
}

/* Returns true for the IPv6 address of one machine: neither unspecified nor multicast. */
static bool is_address(const char *text)
{
	struct in6_addr address;

	return inet_pton(AF_INET6, text, &address) == 1 && !IN6_IS_ADDR_UNSPECIFIED(&address) &&
	       !IN6_IS_ADDR_MULTICAST(&address);
}

/* Sets the flag of each host that an argument of a program on host `own` names. */
static void find_hosts(const struct session *session, uint32_t own, const char *argument,
		       bool *named)
{
	const char *value = strchr(argument, '=');
	char *words = strdup(argument), *rest = NULL;

	if (is_address(argument) || (value && is_address(value + 1)))
		memset(named, true, session->host_count * sizeof(*named));
	for (char *word = words ? strtok_r(words, SEPARATORS, &rest) : NULL; word;
	     word = strtok_r(NULL, SEPARATORS, &rest)) {
		const struct session_host *host = host_called(session, own, word);

		if (host)
			named[host->number] = true;
	}
	free(words);
}

void start_prepare(struct session *session)
{
	for (uint32_t i = 0; i < session->program_count; i++) {
		struct program *program = &session->programs[i];

		for (char *const *argument = program->argv + 1; *argument; argument++)
			find_hosts(session, program->host, *argument, program->servers);
		if (program->start < i * session->params.skew)
			program->start = i * session->params.skew;
	}
	session->unstarted = session->program_count;
}

/* Marks a host as busy if one of its threads does not wait, sleep or poll, or if such a thread
 * would find a change. */
static void mark_busy(const struct session *session, bool *busy)
{
	for (uint32_t i = 0; i < session->thread_count; i++) {
		const struct thread *thread = &session->threads[i];
		bool waits =
			thread->state == THREAD_OUTSIDE || thread->state == THREAD_ASLEEP ||
			((thread->state == THREAD_OS || thread->state == THREAD_VISIBLE_WRITE) &&
			 order_next_act(session, thread) >= thread->deadline);

		if (thread->state != THREAD_FREE && thread->process &&
		    thread->process->part_of >= 0)
			busy[thread->process->part_of] |= !waits;
	}
}

static void find_waiting(struct session *session)
{
	bool busy[SESSION_PROGRAMS] = {false};

	mark_busy(session, busy);
	for (uint32_t i = 0; i < session->program_count; i++) {
		struct program *program = &session->programs[i];

		program->waited |= program->started && (program->ended || !busy[i]);
	}
}

/* Returns the start time of a program as far as it is known, or SIM_NEVER if one of its servers has
 * not started. */
static sim_time begins_at(const struct session *session, uint32_t number)
{
	const struct program *program = &session->programs[number];
	sim_time at = program->start;

	for (uint32_t i = 0; i < number; i++) {
		const struct program *server = &session->programs[i];

		if (!program->servers[server->host] || server->waited)
			continue;
		if (!server->started)
			return SIM_NEVER;
		if (at < server->launched + session->params.head_start)
			at = server->launched + session->params.head_start;
	}
	return at;
}

sim_time start_next(const struct session *session)
{
	sim_time first = SIM_NEVER;

	if (session->unstarted == 0)
		return first;
	for (uint32_t i = 0; i < session->program_count; i++) {
		sim_time at = session->programs[i].started ? SIM_NEVER : begins_at(session, i);

		if (at < first)
			first = at;
	}
	return first;
}

bool start_program(struct session *session)
{
	if (session->unstarted == 0)
		return false;
	find_waiting(session);
	for (uint32_t i = 0; i < session->program_count; i++) {
		struct program *program = &session->programs[i];

		if (program->started || begins_at(session, i) > sim_now(session->sim))
			continue;
		session->unstarted--;
		launch_program(session, program);
		return true;
	}
	return false;
}
