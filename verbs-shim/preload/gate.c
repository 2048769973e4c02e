/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate: hands the execution token to the simulator with a request, and waits for it to come back with the answer.
 */
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

__thread struct shim_self shim_self;

static void futex_wake(uint32_t *word)
{
	(void)system_call(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void ring(void)
{
	__atomic_add_fetch(&shim_memory->bell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shim_memory->sleeping, __ATOMIC_SEQ_CST))
		futex_wake(&shim_memory->bell);
}

/* The number of a slot in shim_memory->relay. */
static uint32_t relay_number(const struct shim_slot *slot)
{
	return (uint32_t)(slot - shim_memory->slots) + 1;
}

/* This thread spins no more; who was asked for runs instead. */
static void relay_pass(void)
{
	uint32_t asked = __atomic_exchange_n(&shim_memory->relay, 0, __ATOMIC_SEQ_CST);

	if (asked & RELAY_ASKED)
		futex_wake(&shim_memory->slots[(asked & ~RELAY_ASKED) - 1].turn);
}

/* true: its turn came meanwhile. */
static bool spin(const struct shim_slot *slot, uint32_t turns, bool relays)
{
	uint32_t own = relay_number(slot);

	for (uint32_t i = 0; i < turns; i++) {
		if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == TURN_PROGRAM) {
			if (relays)
				__atomic_store_n(&shim_memory->relay, 0, __ATOMIC_RELEASE);
			return true;
		}
		if (relays && __atomic_load_n(&shim_memory->relay, __ATOMIC_ACQUIRE) != own)
			break;
		__builtin_ia32_pause();
	}
	if (relays)
		relay_pass();
	return false;
}

static void await_turn(struct shim_slot *slot)
{
	__atomic_store_n(&slot->sleeping, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&slot->turn, __ATOMIC_SEQ_CST) != TURN_PROGRAM)
		(void)system_call(SYS_futex, &slot->turn, FUTEX_WAIT, TURN_SIMULATOR, NULL, NULL,
				  0);
	__atomic_store_n(&slot->sleeping, 0, __ATOMIC_RELAXED);
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

int64_t gate_call(enum shim_op op, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct shim_slot *slot = shim_self.slot;
	int saved = errno;
	uint32_t turns = __atomic_load_n(&shim_memory->spin_turns, __ATOMIC_RELAXED);
	bool relays = turns > 0 && __atomic_load_n(&shim_memory->relays, __ATOMIC_RELAXED);
	int64_t result;

	gate_enter();
	trap_before_gate(op);
	slot->op = op;
	slot->arguments[0] = a;
	slot->arguments[1] = b;
	slot->arguments[2] = c;
	slot->arguments[3] = d;
	slot->quiet = shim_self.quiet;
	if (relays)
		__atomic_store_n(&shim_memory->relay, relay_number(slot), __ATOMIC_RELEASE);
	__atomic_store_n(&slot->turn, TURN_SIMULATOR, __ATOMIC_SEQ_CST);
	ring();
	if (turns == 0 || !spin(slot, turns, relays))
		await_turn(slot);
	slot->store_count = 0;
	result = slot->result;
	trap_after_gate();
	shim_self.quiet = shim_self.carrying;
	if (slot->signal) {
		uint32_t number = slot->signal;
		shim_self.carrying = shim_self.quiet = false; /* whatever stands behind it runs */
		slot->signal = 0;
		timer_signal_raise(number, slot->timer, slot->missed);
	}
	gate_leave();
	errno = saved;
	return result;
}

void gate_last(enum shim_op op)
{
	struct shim_slot *slot = shim_self.slot;

	trap_before_gate(op);
	slot->op = op;
	slot->quiet = false;
	shim_self.ended_at = slot->clock;
	shim_self.slot = NULL;
	__atomic_store_n(&slot->turn, TURN_SIMULATOR, __ATOMIC_SEQ_CST);
	ring();
}

void gate_start(struct shim_slot *slot)
{
	slot->tid = (uint32_t)system_call(SYS_gettid);
	await_turn(slot);
	shim_self = (struct shim_self){.slot = slot, .id = ids_of_thread(slot)};
}

void gate_charge(uint64_t cost)
{
	struct shim_slot *slot = shim_self.slot;

	slot->clock += cost;
	if (slot->clock >= slot->horizon)
		(void)gate_call(OP_YIELD, 0, 0, 0, 0);
	trap_charged();
}

bool gate_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length)
{
	struct shim_slot *slot = shim_self.slot;
	struct shim_store *store = &slot->stores[slot->store_count];
	uint64_t until;

	store->clock = slot->clock;
	store->file = file;
	store->offset = offset;
	store->length = length;
	memcpy(store->bytes, bytes, length);
	__atomic_store_n(&slot->store_count, slot->store_count + 1, __ATOMIC_RELEASE);
	slot->clock += shim_memory->cost_mmio_store;
	until = slot->stores[0].clock + shim_process->store_delay;
	if (until > slot->store_horizon)
		until = slot->store_horizon;
	if (slot->horizon > until)
		slot->horizon = until;
	if (slot->clock < until && slot->store_count < SHIM_STORES && !slot->dirty)
		return true;
	(void)gate_call(OP_MMIO, 0, 0, 0, 0);
	return false;
}

void gate_visible(void)
{
	shim_self.slot->dirty = 1;
	(void)gate_call(OP_YIELD, 0, 0, 0, 0);
}
