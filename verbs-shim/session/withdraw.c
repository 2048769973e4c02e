/* SPDX-License-Identifier: Apache-2.0 */
/*
 * withdraw: a program can sleep in the operating system in a way that the preload library does not see (a system call made
 * directly, a futex inside libc, a descriptor of a kind we do not know). It would sleep with the token, and nobody could
 * wake it. So the token is taken away from a thread that the system shows asleep for a while; the thread comes back with its
 * next request. Such a run depends on real time: it is counted, and said.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define RETURN_LOOKS 2000 /* for a thread that was woken to come to its next request, 100 us each */

/* As /proc has it: R, S, D, T ...; 0: it is gone. */
static char thread_letter(const struct thread *thread)
{
	char path[64], text[256];
	const char *after;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", thread->process->real_pid,
		 thread->slot->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	after = strrchr(text, ')');
	return (char)(after && after[1] ? after[2] : '\0');
}

static bool has_returned(const struct thread *thread)
{
	return __atomic_load_n(&thread->slot->turn, __ATOMIC_ACQUIRE) == TURN_SIMULATOR;
}

bool withdraw_is_asleep(const struct thread *thread)
{
	return !thread->process->replacing && thread->slot->tid != 0 &&
	       thread_letter(thread) == 'S' && !has_returned(thread);
}

void withdraw(struct session *session, struct thread *thread)
{
	thread->state = THREAD_OUTSIDE;
	session->withdrawn++;
	session->outside_count++;
	session->idle = 0;
	session->unread = true;
	while (serve_store(session, thread))
		;                                /* they would wait as long as it sleeps */
	session_visible(session, thread->clock); /* what it did before is not known */
	session_note(session, thread->process->host,
		     "a thread sleeps in a call that is not followed (determinism warning: the run "
		     "goes on "
		     "without it until it comes back)");
}

bool withdraw_return(struct session *session)
{
	const struct timespec moment = {0, 100000};
	bool returned = false;
	uint32_t count = 0;

	for (uint32_t i = 0; i < session->thread_count; i++) {
		struct thread *thread = &session->threads[i];

		if (thread->state != THREAD_OUTSIDE)
			continue;
		for (uint32_t look = 0;
		     look < RETURN_LOOKS && !has_returned(thread) && thread_letter(thread) == 'R';
		     look++)
			nanosleep(&moment, NULL);
		if (!has_returned(thread)) {
			count++;
			continue;
		}
		session_returned(session, thread);
		if (thread->clock < sim_now(session->sim))
			thread->clock = sim_now(session->sim);
		if (thread->slot->clock < thread->clock)
			thread->slot->clock = thread->clock;
		session->idle = 0;
		returned = true;
	}
	session->outside_count = count; /* those that died are no longer in that state */
	return returned;
}
