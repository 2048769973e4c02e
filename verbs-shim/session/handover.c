/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover: gives the execution token to a thread and waits until it comes back, with a request.
 * Both sides wait on words of the shared memory; preload/gate.c is the other side.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define LOOK_AROUND_NS 1000000 /* real time between looks for deaths while a program runs */
#define ASLEEP_WEIGHT \
	2000 /* of looks that show the token holder asleep, before it loses the token */
#define QUANTUM_SIGNAL  (SIGRTMAX - 1)
#define REVIEW_HANDOFFS 64 /* hand-offs between reviews of the place */

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void wake(struct shim_memory *shared, struct shim_slot *slot)
{
	__atomic_store_n(&shared->relay, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&slot->sleeping, __ATOMIC_SEQ_CST))
		futex(&slot->token, FUTEX_WAKE, 1, NULL);
}

/* Gives the token to the thread. If another thread spins on its processor, that one wakes it and
 * makes room. */
static void call(struct shim_memory *shared, struct shim_slot *slot)
{
	uint32_t number = (uint32_t)(slot - shared->slots) + 1;
	uint32_t spinning = __atomic_load_n(&shared->relay, __ATOMIC_SEQ_CST);

	if (spinning == number)
		return;
	/* A thread that was asked before may be dead. A thread whose process runs another program
	 * does not spin. */
	if (!spinning || spinning & RELAY_ASKED ||
	    shared->slots[spinning - 1].token != TOKEN_SIMULATOR ||
	    !__atomic_compare_exchange_n(&shared->relay, &spinning, RELAY_ASKED | number, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		wake(shared, slot);
}

/* A program that polls its own memory waits for threads that cannot run. Such a run would hang
 * without a message. */
static void name_silent(struct session *session, const struct thread *thread)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "process %u runs without a request for %g s of real time: it computes, or polls "
		 "its own memory, in which case the run does not end",
		 thread->process->number + SHIM_FIRST_PID,
		 (double)session->params.silence / (double)SEC);
	session_note(session, thread->process->host, text);
}

/* Waits until the thread with the token returns it, or its process has ended. */
static void await_token(struct session *session, struct thread *thread)
{
	struct shim_slot *slot = thread->slot;
	struct shim_memory *shared = session->shared;
	uint64_t start = 0, quantum_end = 0, silence = session->params.silence / NS;
	uint32_t asleep = 0, weight, iterations = shared->spin_iterations;

	for (uint32_t i = 0; i < iterations; i++) {
		if (__atomic_load_n(&slot->token, __ATOMIC_ACQUIRE) == TOKEN_SIMULATOR)
			return;
		__builtin_ia32_pause();
	}
	place_late(session);
	if (thread->process->replacing) {
		attach_await_image(session, thread);
		return;
	}
	for (;;) {
		const struct timespec wait = {0, LOOK_AROUND_NS};
		uint32_t bell = __atomic_load_n(&shared->bell, __ATOMIC_ACQUIRE);
		uint64_t now;

		__atomic_store_n(&shared->sleeping, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&slot->token, __ATOMIC_SEQ_CST) == TOKEN_SIMULATOR) {
			__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
			return;
		}
		if (futex(&shared->bell, FUTEX_WAIT, bell, &wait) == 0 || errno != ETIMEDOUT) {
			__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
			if (!session_is_ending())
				continue;
		}
		__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
		wake(shared, slot); /* the thread that should have done this may be dead */
		now = session_real_ns();
		if (!start) {
			start = now;
			quantum_end = now + session->params.quantum / NS;
		}
		weight = withdraw_asleep(thread);
		if (weight > 0 || !session->one_output)
			output_drain(session);
		attach_find_dead(session, false);
		if (thread->state != THREAD_RUNNING || session_is_ending())
			return;
		if (silence > 0 && now - start >= silence) {
			name_silent(session, thread);
			silence = 0;
		}
		asleep = weight > 0 ? asleep + weight : 0;
		if (asleep >= ASLEEP_WEIGHT) {
			withdraw(session, thread);
			return;
		}
		if (now >= quantum_end && asleep == 0) {
			quantum_end = now + session->params.quantum / NS;
			(void)syscall(SYS_tgkill, thread->process->real_pid, slot->tid,
				      QUANTUM_SIGNAL);
		}
	}
}

void handover_release(struct session *session, const struct thread *thread)
{
	__atomic_store_n(&thread->slot->token, TOKEN_PROGRAM, __ATOMIC_SEQ_CST);
	wake(session->shared, thread->slot);
}

void handover_grant(struct session *session, struct thread *thread, const struct horizons *horizons)
{
	struct shim_slot *slot = thread->slot;

	if (thread->creator) { /* something has delayed it */
		if (thread->clock <= thread->creator->clock)
			thread->clock = thread->creator->clock + 1;
		return;
	}
	cores_place(session, thread);
	if (cores_hold(session, thread) || noise_holds(session, thread))
		return; /* its place in the order has changed */
	if (session->last_process != thread->process->number) {
		if (session->unread || session->outside_count > 0)
			output_drain(session);
		session->last_process = thread->process->number;
	}
	if (thread->created)
		thread->created->creator = NULL;
	thread->created = NULL;
	thread->stores_served = 0;
	slot->clock = thread->clock;
	slot->horizon = horizons->run;
	slot->exact_horizon = horizons->exact;
	slot->store_horizon = horizons->store;
	slot->visible_writes = thread->process->visible_writes;
	slot->signal = 0;
	if (thread->signalled) {
		slot->timer = thread->signalled - 1;
		slot->signal = (uint8_t)session_timer_fired(thread->process, slot->timer,
							    thread->clock, &slot->missed);
		thread->signalled = 0;
	}
	thread->state = THREAD_RUNNING;
	session->running = thread;
	session->handoffs++;
	if (session->handoffs % REVIEW_HANDOFFS == 0)
		place_review(session, session_real_ns());
	__atomic_store_n(&slot->token, TOKEN_PROGRAM, __ATOMIC_SEQ_CST);
	call(session->shared, slot);
	await_token(session, thread);
	session->running = NULL;
	if (thread->state != THREAD_RUNNING || !thread->process->alive || session_is_ending())
		return;
	noise_worked(session, thread);
	session_returned(session, thread);
}
