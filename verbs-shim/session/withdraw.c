/* SPDX-License-Identifier: Apache-2.0 */
/*
 * withdraw: takes the token from threads in untracked system calls. A program can sleep in system
 * calls that the preload library does not intercept: a direct system call, a futex inside libc, an
 * unknown kind of descriptor. It would sleep with the token, and no other thread could wake it. The
 * token is taken from a thread that the system shows asleep for a while. The thread returns with
 * its next request. Such a run depends on real time, so it is counted and reported.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

/* number of checks, 100 us each, for a woken thread to send its next request */
#define RETURN_LOOKS 2000

/* Returns the state letter of /proc (R, S, D, T ...), or 0 if the thread has ended. */
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
	return __atomic_load_n(&thread->slot->token, __ATOMIC_ACQUIRE) == TOKEN_SIMULATOR;
}

/* Returns true if the system names the function in which the thread waits. A thread that waits for
 * a processor shows S too, if it lost the processor on its way through wait4(). */
static bool has_place(const struct thread *thread)
{
	char path[64], text[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/wchan", thread->process->real_pid,
		 thread->slot->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	if (fd >= 0)
		close(fd);
	return length > 0 && text[0] != '0';
}

uint32_t withdraw_asleep(const struct thread *thread)
{
	if (thread->process->replacing || thread->slot->tid == 0 || thread_letter(thread) != 'S' ||
	    has_returned(thread))
		return 0;
	return has_place(thread) ? ASLEEP_CERTAINLY : ASLEEP_PERHAPS;
}

/* Returns the number of the system call that the thread sleeps in; -1 if it cannot be read. */
static long sleeping_call(const struct thread *thread)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/syscall", thread->process->real_pid,
		 thread->slot->tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

void withdraw(struct session *session, struct thread *thread)
{
	char text[160];

	thread->state = THREAD_OUTSIDE;
	session->withdrawn++;
	session->outside_count++;
	session->idle = 0;
	session->unread = true;
	while (serve_store(session, thread))
		;                                /* they would wait as long as this thread sleeps */
	session_visible(session, thread->clock); /* its earlier actions are unknown */
	snprintf(text, sizeof(text),
		 "a thread sleeps in an untracked system call, number %ld (determinism warning: "
		 "the run continues without it until it returns)",
		 sleeping_call(thread));
	session_note(session, thread->process->host, text);
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
	session->outside_count = count; /* dead threads are no longer in that state */
	return returned;
}
