/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate: hands the execution token to the simulator with a request, and waits for the token and the
 * reply.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/token.h"
#include "verbs-shim/preload/trap_watch.h"

/* Bytes of the stack that are cleared. The functions of the token use fewer. */
#define FORGOTTEN_BYTES 512

/* Clears the part of the stack that the functions of the token have used, and the registers that
 * they may change. These functions leave values that depend on real time, such as how long they
 * waited. The program may read these bytes in a variable that it has not set, and trap_poll.c
 * compares them. The caller calls this function at the same stack depth as the functions of the
 * token. */
static __attribute__((noinline)) void forget_waiting(void)
{
	uint64_t used[FORGOTTEN_BYTES / sizeof(uint64_t)];

	memset(used, 0, sizeof(used));
	__asm__ volatile(
		"xor %%ecx, %%ecx; xor %%edx, %%edx; xor %%esi, %%esi; xor %%edi, %%edi;"
		"xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d"
		:
		: "a"(used)
		: "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
}

void gate_enter(void)
{
	shim_self.inside++;
}

void gate_leave(void)
{
	shim_self.inside--;
	if (shim_self.deferred && !shim_self.inside)
		signal_deferred();
}

static void count(struct cpu_time *cpu, uint64_t total)
{
	cpu->total += total;
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		cpu->kinds[kind] += shim_self.charges[kind];
}

/* Adds the charges of this thread to its core. */
static void count_core(uint64_t total)
{
	uint32_t number = shim.memory->cores[shim_self.slot - shim.memory->slots];
	struct shim_core_time *core = &shim.memory->core_times[shim.process->host][number];
	uint64_t system = 0;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		system += cpu_kind_is_system((enum cpu_kind)kind) ? shim_self.charges[kind] : 0;
	core->system += system;
	core->user += total - system;
}

void gate_count(void)
{
	uint64_t now = shim_self.slot->clock, total = now - shim_self.counted, known = 0;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		known += shim_self.charges[kind];
	shim_self.charges[CPU_untracked] += total - known;
	count(&shim_self.cpu, total);
	count(&shim.process->cpu, total);
	count_core(total);
	memset(shim_self.charges, 0, sizeof(shim_self.charges));
	shim_self.counted = now;
}

/* Counts the processor time that passed during a request. Time that the simulator did not charge is
 * a wait, or time in which the thread keeps its core. */
static void count_request(const struct shim_slot *slot, enum shim_op op)
{
	uint64_t *charged = shim.memory->charged[slot - shim.memory->slots];
	uint64_t *preempted = &shim.memory->preempted[slot - shim.memory->slots];
	uint64_t passed, known = 0;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++) {
		if (!charged[kind])
			continue; /* and the line of the cache stays where it is */
		shim_self.charges[kind] += charged[kind];
		known += charged[kind];
		charged[kind] = 0;
	}
	if (*preempted)
		shim_self.counted += *preempted;
	if (*preempted)
		*preempted = 0;
	passed = slot->clock - shim_self.counted;
	if (op == OP_OS_WAIT || op == OP_SLEEP)
		shim_self.counted = slot->clock - known;
	else if (op == OP_SPIN)
		shim_self.charges[CPU_polling] += passed - known;
	else if (op == OP_LOAD)
		shim_self.charges[CPU_register_load] += passed - known;
	else /* stores that wait for room */
		shim_self.charges[CPU_posting] += passed - known;
}

int64_t gate_call(enum shim_op op, const union shim_request *request)
{
	struct shim_slot *slot = shim_self.slot;
	int saved = errno;
	int64_t result;

	gate_enter();
	gate_count();
	trap_watch_before_gate(op);
	slot->op = op;
	if (request)
		slot->request = *request;
	slot->quiet = shim_self.quiet;
	token_pass(slot);
	forget_waiting();
	slot->store_count = 0;
	count_request(slot, op);
	result = slot->result;
	trap_watch_after_gate();
	shim_self.quiet = shim_self.carrying;
	if (slot->signal) {
		uint32_t number = slot->signal;
		shim_self.carrying = shim_self.quiet = false; /* the next thread in line runs */
		slot->signal = 0;
		if (slot->timer == SHIM_NO_TIMER)
			timer_signal_terminate(number);
		else
			timer_signal_raise(number, slot->timer, slot->missed);
	}
	gate_leave();
	errno = saved;
	return result;
}

void gate_last(enum shim_op op)
{
	struct shim_slot *slot = shim_self.slot;
	sigset_t all, before;

	gate_count();
	trap_watch_before_gate(op);
	slot->op = op;
	slot->quiet = false;
	shim_self.ended_at = slot->clock;
	shim_self.slot = NULL;
	if (op == OP_EXIT) { /* no handler runs from now on */
		sigfillset(&all);
		(void)system_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(uint64_t));
	}
	token_give(slot);
	if (op != OP_EXIT)
		return;
	token_await(slot);
	(void)system_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(uint64_t));
}

void gate_start(struct shim_slot *slot)
{
	__atomic_store_n(&slot->tid, (uint32_t)system_call(SYS_gettid), __ATOMIC_RELEASE);
	token_await(slot);
	forget_waiting();
	shim_self =
		(struct shim_self){.slot = slot, .id = ids_of_thread(slot), .counted = slot->clock};
}

void gate_add(enum cpu_kind kind, uint64_t cost)
{
	shim_self.slot->clock += cost;
	shim_self.charges[kind] += cost;
}

void gate_charge(enum cpu_kind kind, uint64_t cost)
{
	struct shim_slot *slot = shim_self.slot;

	gate_add(kind, cost);
	if (slot->clock >= slot->horizon)
		(void)gate_call(OP_YIELD, NULL);
	trap_watch_charged();
}

/* A post begins, at least post_interval after the previous post of this core began. */
static void post(struct shim_slot *slot)
{
	if (slot->clock < shim_self.posts_from) {
		gate_add(CPU_posting, shim_self.posts_from - slot->clock);
		if (slot->clock >= slot->horizon)
			(void)gate_call(OP_YIELD, NULL);
	}
	shim_self.posts_from = slot->clock + shim.memory->post_interval;
}

bool gate_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length)
{
	struct shim_slot *slot = shim_self.slot;
	struct shim_store *store;
	uint64_t until;

	if (offset % SHIM_POST_BYTES == 0)
		post(slot);
	store = &slot->stores[slot->store_count];
	store->clock = slot->clock;
	store->file = file;
	store->offset = offset;
	store->length = length;
	memcpy(store->bytes, bytes, length);
	__atomic_store_n(&slot->store_count, slot->store_count + 1, __ATOMIC_RELEASE);
	gate_add(CPU_posting, shim.memory->cost_mmio_store);
	until = slot->stores[0].clock + shim.process->store_delay;
	if (until > slot->store_horizon)
		until = slot->store_horizon;
	if (slot->horizon > until)
		slot->horizon = until;
	if (slot->clock < until && slot->store_count < SHIM_STORES && !slot->dirty)
		return true;
	(void)gate_call(OP_MMIO, NULL);
	return false;
}

void gate_visible(void)
{
	shim_self.slot->dirty = 1;
	(void)gate_call(OP_YIELD, NULL);
}
