/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover: gives the execution token to a thread and waits until it comes back, with a request. Both sides wait on words of the
 * shared memory; preload/gate.c is the other side.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define LOOK_AROUND_NS 1000000 /* real time between looks for deaths while a program runs */
#define ASLEEP_LOOKS   20 /* that show the token holder asleep, before the token is withdrawn */
#define QUANTUM_SIGNAL (SIGRTMAX - 1)
#define REVIEW_TURNS   64 /* hand-overs between reviews of the place */

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void wake(struct shim_memory *shared, struct shim_slot *slot)
{
	__atomic_store_n(&shared->relay, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&slot->sleeping, __ATOMIC_SEQ_CST))
		futex(&slot->turn, FUTEX_WAKE, 1, NULL);
}

/* The turn is the thread's. If another spins where it is to run, that one wakes it and makes room. */
static void call(struct shim_memory *shared, struct shim_slot *slot)
{
	uint32_t number = (uint32_t)(slot - shared->slots) + 1;
	uint32_t spinning = __atomic_load_n(&shared->relay, __ATOMIC_SEQ_CST);

	if (spinning == number)
		return;
	if (!spinning ||
	    !__atomic_compare_exchange_n(&shared->relay, &spinning, RELAY_ASKED | number, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		wake(shared, slot);
}

/* Waits until the thread that has the token gives it back, or its process is gone. */
static void await_turn(struct session *session, struct thread *thread)
{
	struct shim_slot *slot = thread->slot;
	struct shim_memory *shared = session->shared;
	uint64_t start = 0, quantum_end = 0;
	uint32_t asleep = 0;

	for (uint32_t i = 0; i < shared->spin_turns; i++) {
		if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == TURN_SIMULATOR)
			return;
		__builtin_ia32_pause();
	}
	if (thread->process->replacing) {
		attach_await_image(session, thread);
		return;
	}
	for (;;) {
		const struct timespec wait = {0, LOOK_AROUND_NS};
		uint32_t bell = __atomic_load_n(&shared->bell, __ATOMIC_ACQUIRE);
		uint64_t now;

		__atomic_store_n(&shared->sleeping, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) == TURN_SIMULATOR) {
			__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
			return;
		}
		if (futex(&shared->bell, FUTEX_WAIT, bell, &wait) == 0 || errno != ETIMEDOUT) {
			__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
			if (!session_is_ending())
				continue;
		}
		__atomic_store_n(&shared->sleeping, 0, __ATOMIC_RELAXED);
		wake(shared, slot); /* who was asked to do it may be dead */
		now = session_real_ns();
		if (!start) {
			start = now;
			quantum_end = now + session->params.quantum / NS;
		}
		session_look_around(session);
		if (thread->state != THREAD_RUNNING || session_is_ending())
			return;
		asleep = withdraw_is_asleep(thread) ? asleep + 1 : 0;
		if (asleep >= ASLEEP_LOOKS) {
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

void handover_grant(struct session *session, struct thread *thread, sim_time horizon,
		    sim_time store_horizon)
{
	struct shim_slot *slot = thread->slot;

	if (session->last_process != thread->process->number) {
		if (session->unread || session->outside_count > 0)
			output_drain(session);
		session->last_process = thread->process->number;
	}
	thread->stores_served = 0;
	slot->clock = thread->clock;
	slot->horizon = horizon;
	slot->store_horizon = store_horizon;
	slot->signal = 0;
	if (thread->signalled) {
		slot->timer = thread->signalled - 1;
		slot->signal = session_timer_fired(thread->process, slot->timer, thread->clock,
						   &slot->missed);
		thread->signalled = 0;
	}
	thread->state = THREAD_RUNNING;
	session->running = thread;
	session->handoffs++;
	if (session->handoffs % REVIEW_TURNS == 0)
		place_review(session, session_real_ns());
	__atomic_store_n(&slot->turn, TURN_PROGRAM, __ATOMIC_SEQ_CST);
	call(session->shared, slot);
	await_turn(session, thread);
	session->running = NULL;
	if (thread->state != THREAD_RUNNING || !thread->process->alive || session_is_ending())
		return;
	session_returned(session, thread);
}
