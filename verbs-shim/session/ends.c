/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends: the real ends of threads and processes. A thread that has announced its end still runs its
 * destructors and returns its memory. A process that a signal kills dies some time after kill() has
 * returned. Both take real time without the token. The simulator waits for them before another
 * thread runs, so that no thread sees the moment of the end.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define MOMENT_NS    50000 /* between two looks */
#define ASLEEP_LOOKS 400   /* 20 ms: the thread waits for one that waits for the token */
#define SETTLE_NS    UINT64_C(5000000000)  /* of a thread that neither sleeps nor ends */
#define END_NS       UINT64_C(60000000000) /* of a process that ends, beside other work */
/* PF_EXITING of Linux, in the flags of /proc/PID/stat. */
#define EXITING 0x4

/* What the system shows of a thread. */
struct look {
	char letter; /* state: R, S, D, T, Z ...; 0: there is no such thread */
	bool exits;
	bool is_killed; /* a signal that ends its process waits for it */
};

static void pause_for_a_moment(void)
{
	const struct timespec moment = {0, MOMENT_NS};

	nanosleep(&moment, NULL);
}

/* Returns true if waiting is useless: the time is over, or a signal has ended the run, after which
 * programs run freely. */
static bool is_over(uint64_t until)
{
	return session_is_ending() || session_real_ns() >= until;
}

static bool read_file(int32_t pid, uint32_t tid, const char *name, char *text, size_t room)
{
	char path[64];
	size_t used;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/%s", pid, tid, name);
	file = fopen(path, "re");
	used = file ? fread(text, 1, room - 1, file) : 0;
	if (file)
		fclose(file);
	text[used] = '\0';
	return used > 0;
}

/* Returns a set of signals of /proc/PID/status: bit number - 1. */
static uint64_t signals_of(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

static uint64_t bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

/* Signals that end no process by default. Linux: kernel/signal.c. */
static uint64_t harmless(void)
{
	return bit(SIGCHLD) | bit(SIGURG) | bit(SIGWINCH) | bit(SIGCONT) | bit(SIGSTOP) |
	       bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);
}

static struct look look_at(int32_t pid, uint32_t tid)
{
	struct look look = {.letter = '\0'};
	unsigned long flags = 0;
	const char *after;
	char text[4096];

	if (!read_file(pid, tid, "stat", text, sizeof(text)))
		return look;
	after = strrchr(text, ')');
	if (!after || sscanf(after, ") %c %*d %*d %*d %*d %*d %lu", &look.letter, &flags) != 2)
		return look;
	look.exits = flags & EXITING;
	if (!read_file(pid, tid, "status", text, sizeof(text)))
		return look;
	/* Linux passes SIGKILL to each thread of a process that another signal kills. */
	look.is_killed = ((signals_of(text, "SigPnd:") | signals_of(text, "ShdPnd:")) &
			  ~(signals_of(text, "SigBlk:") | signals_of(text, "SigIgn:") |
			    signals_of(text, "SigCgt:") | harmless())) != 0;
	return look;
}

void ends_await_thread(const struct thread *thread)
{
	int32_t pid = thread->process->real_pid;
	uint64_t until = session_real_ns() + SETTLE_NS;
	uint32_t tid = thread->slot->tid, asleep = 0;

	while (asleep < ASLEEP_LOOKS && !is_over(until)) {
		char letter;

		if (syscall(SYS_tgkill, pid, tid, 0) != 0)
			return;
		letter = look_at(pid, tid).letter;
		if (letter == 'Z') /* the first thread, before the others */
			return;
		asleep = letter == 'S' ? asleep + 1 : 0;
		pause_for_a_moment();
	}
}

/* Returns true if the process ends, although it has not announced its end. Waits until it is known:
 * each thread without the token sleeps, unless it ends. */
static bool is_ending(const struct session *session, const struct process *process)
{
	uint64_t until = session_real_ns() + SETTLE_NS;

	while (!is_over(until)) {
		bool settled = true;

		if (attach_is_dead(process, 0))
			return true;
		for (uint32_t i = 0; i < session->thread_count; i++) {
			const struct thread *thread = &session->threads[i];
			struct look look;

			if (thread->state == THREAD_FREE || thread->process != process ||
			    !thread->slot->tid)
				continue;
			look = look_at(process->real_pid, thread->slot->tid);
			if (look.exits || look.is_killed)
				return true;
			settled &= look.letter != 'R' || thread->state == THREAD_OUTSIDE;
		}
		if (settled)
			return false;
		pause_for_a_moment();
	}
	return false;
}

void ends_of_killed(struct session *session, const struct process *parent, sim_time at)
{
	for (uint32_t i = 0; i < session->process_count && i < SHIM_PROCESSES; i++) {
		struct process *process = &session->processes[i];
		uint64_t until;

		if (!process->alive || process->replacing ||
		    (parent && process->parent != (int32_t)parent->number + SHIM_FIRST_PID) ||
		    !is_ending(session, process))
			continue;
		until = session_real_ns() + END_NS;
		while (!attach_is_dead(process, 1) && !is_over(until))
			output_drain(session);
		if (attach_is_dead(process, 0))
			attach_died(session, process, at);
	}
}

void ends_await_notice(void)
{
	siginfo_t info;

	/* Linux tells the parent while it holds a lock that this call needs. */
	(void)waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
}
