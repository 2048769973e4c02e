/* SPDX-License-Identifier: Apache-2.0 */
/* trap_watch: see trap_watch.h. */
#include "verbs-shim/preload/trap_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_poll.h"
#include "verbs-shim/preload/trap_stack.h"

/* A program that reads clocks repeatedly may also be polling. Its memory is watched after this many
 * reads. The number is the same in each run, and so is the state of a loop that counts its
 * iterations. */
#define CLOCK_READS 16

/* Number of yields of a program that only reads clocks, after which its memory is guarded. A
 * polling loop never reaches this state, so its rings need no protection. */
#define CALM_YIELDS 4

/* Processor time that a thread must have had since the last quantum before it is watched. */
#define LEAST_WORK_NS 1000000

/* Faults on watched memory between two hand-offs after which a range stays accessible. */
#define FAULTS_ALLOWED 200

struct trap_watch trap_watch;

static void unguard(void)
{
	trap_watch.calm = 0;
	if (trap_watch.guarded)
		range_guard(false);
	trap_watch.guarded = false;
}

void trap_watch_before_gate(enum shim_op op)
{
	bool acted = op != OP_SPIN && (op != OP_YIELD || shim_self.slot->dirty);
	/* The watching continues when the token comes back. */
	bool goes_on = op == OP_YIELD && !acted && trap_watch.by_clocks;

	if (!goes_on)
		trap_poll_restart();
	if (acted) {
		trap_poll_acted();
		trap_watch.clock_reads = 0;
	}
	if (!goes_on)
		unguard();
	else if (trap_watch.calm < CALM_YIELDS)
		trap_watch.calm++;
	else
		trap_watch.guarded = range_can_guard();
	shim_self.slot->guarded = trap_watch.guarded;
	trap_watch.by_clocks = goes_on;
	trap_watch.ran_last = shim_self.slot;
	shim_self.reaches = false;
	trap_watch.faults[0] = trap_watch.faults[1] = 0;
	trap_poll_quantum(false);
	range_release(!goes_on);
	trap_watch.hot = false;
}

bool trap_watch_touch(void)
{
	struct shim_slot *slot = shim_self.slot;
	bool guarded = trap_watch.guarded;

	unguard();
	if (!guarded)
		return false;
	if (slot->horizon > slot->exact_horizon)
		slot->horizon = slot->exact_horizon;
	if (slot->clock >= slot->exact_horizon)
		(void)gate_call(OP_YIELD, NULL);
	return true;
}

/* Removes all protection, because the system refuses protected memory (EFAULT). If the next quantum
 * ends before the call begins, its handler protects nothing. */
void trap_watch_before_call(void)
{
	(void)trap_watch_touch();
	range_release(true);
	trap_watch.hot = false;
	shim_self.reaches = true;
	trap_watch.clock_reads = 0;
	trap_watch.by_clocks = false;
}

void trap_watch_charged(void)
{
	trap_watch.signs++;
	if (trap_watch.clock_reads < CLOCK_READS) {
		trap_watch.clock_reads++;
	} else if (!trap_watch.by_clocks) {
		range_arm_watched(false);
		trap_poll_restart(); /* some reads were not seen before */
		trap_watch.by_clocks = true;
	}
}

void trap_watch_after_gate(void)
{
	if (trap_watch.ran_last != shim_self.slot) {
		insn_distrust(); /* another thread may have loaded or unloaded code */
		range_release(true);
		trap_poll_restart();
		trap_watch.by_clocks = false;
		unguard();
	}
	if (trap_watch.by_clocks)
		range_arm_watched(false);
	if (trap_watch.guarded)
		range_guard(true);
	trap_watch.ran_last = shim_self.slot;
	trap_watch.hot = shim_self.slot->op == OP_MMIO || shim_self.slot->op == OP_SPIN;
	if (trap_watch.hot && !trap_watch.in_trap)
		range_set_hot(true);
}

/* Resets the state as after a hand-over, because a program that has stored may begin to poll. */
void trap_watch_stored(void)
{
	trap_poll_restart();
	trap_poll_acted();
	trap_watch.clock_reads = 0;
	trap_watch.hot = true;
}

void trap_watch_slept(bool by_clocks, uint64_t since)
{
	if (by_clocks)
		trap_poll_slept(gate_now() - since);
	else
		trap_watch.clock_reads = 0;
}

bool trap_watch_fault(bool is_asked)
{
	return ++trap_watch.faults[is_asked] <= FAULTS_ALLOWED;
}

void trap_watch_unfault(bool is_asked)
{
	trap_watch.faults[is_asked] -= trap_watch.faults[is_asked] > 0;
}

/* Returns true if this thread has read a clock or polled memory since the last quantum, or had too
 * little processor time to do so. Such reads, and not the quantum, then decide when more memory is
 * watched. */
static bool shows_itself(void)
{
	static const struct shim_slot *slot;
	static uint64_t signs_before, worked_before;
	struct timespec time;
	uint64_t worked;

	(void)system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
	worked = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	if (slot == shim_self.slot && signs_before == trap_watch.signs)
		return worked - worked_before < LEAST_WORK_NS;
	slot = shim_self.slot;
	signs_before = trap_watch.signs;
	worked_before = worked;
	return true;
}

/* Handles the end of a quantum without a hand-over. The program may be polling. The handler has its
 * own stack because it runs at an arbitrary real time. The program might read the handler's bytes
 * on its stack as an uninitialised variable. */
static void on_quantum(int number, siginfo_t *info, void *where)
{
	const ucontext_t *context = where;

	(void)number;
	(void)info;
	if (shim_self.reaches) {
		shim_self.reaches = false;
		return;
	}
	if (!shim_active() || shim_self.carrying ||
	    trap_stack_holds((uint64_t)context->uc_mcontext.gregs[REG_RSP]))
		return;
	if (shows_itself())
		return;
	range_arm_watched(true);
	trap_poll_quantum(true);
}

void trap_watch_init(void)
{
	struct sigaction action = {.sa_sigaction = on_quantum,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	sigfillset(&action.sa_mask);
	(void)REAL(sigaction)(SIGRTMAX - 1, &action, NULL);
}
