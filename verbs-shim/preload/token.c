/* SPDX-License-Identifier: Apache-2.0 */
/* token: see token.h. The other side is session/handover.c. */
#include "verbs-shim/preload/token.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"

/* Number of times that a thread yields in vain before it sleeps. */
#define YIELDS 64

static void futex_wake(uint32_t *word)
{
	(void)system_call(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool has_token(const struct shim_slot *slot)
{
	return __atomic_load_n(&slot->token, __ATOMIC_ACQUIRE) == TOKEN_PROGRAM;
}

/* Returns the number of a slot in shim.memory->relay. */
static uint32_t relay_number(const struct shim_slot *slot)
{
	return (uint32_t)(slot - shim.memory->slots) + 1;
}

/* Wakes the thread that the simulator asked for. */
static void wake_asked(uint32_t asked)
{
	struct shim_slot *next = &shim.memory->slots[(asked & ~RELAY_ASKED) - 1];

	if (__atomic_load_n(&next->sleeping, __ATOMIC_SEQ_CST))
		futex_wake(&next->token);
}

/* Returns true if the thread got the token. */
static bool yield(const struct shim_slot *slot, uint32_t own)
{
	for (uint32_t i = 0; i < YIELDS; i++) {
		if (__atomic_load_n(&shim.memory->yielder, __ATOMIC_RELAXED) != own)
			return false;
		(void)system_call(SYS_sched_yield);
		if (has_token(slot))
			return true;
	}
	return false;
}

/* Releases the processor of the programs. Yields if the next thread is the one that had the
 * processor before this thread. Returns true if the thread got the token meanwhile. */
static bool relay_pass(const struct shim_slot *slot)
{
	struct shim_memory *memory = shim.memory;
	uint32_t own = relay_number(slot);
	uint32_t asked = __atomic_exchange_n(&memory->relay, 0, __ATOMIC_SEQ_CST);
	bool yields;

	if (!(asked & RELAY_ASKED))
		return false;
	yields = (asked & ~RELAY_ASKED) == memory->relay_before &&
		 __atomic_load_n(&memory->yields, __ATOMIC_RELAXED);
	memory->relay_before = own;
	__atomic_store_n(&memory->yielder, yields ? own : 0, __ATOMIC_RELAXED);
	wake_asked(asked);
	return yields && yield(slot, own);
}

/* Returns true if the thread got the token meanwhile. */
static bool spin(const struct shim_slot *slot, uint32_t iterations, bool relays)
{
	uint32_t own = relay_number(slot);

	for (uint32_t i = 0; i < iterations; i++) {
		if (has_token(slot))
			return true;
		if (relays && __atomic_load_n(&shim.memory->relay, __ATOMIC_ACQUIRE) != own)
			break;
		__builtin_ia32_pause();
	}
	return relays && relay_pass(slot);
}

/* This thread does not spin. */
static void relay_leave(const struct shim_slot *slot)
{
	uint32_t own = relay_number(slot);

	(void)__atomic_compare_exchange_n(&shim.memory->relay, &own, 0, false, __ATOMIC_SEQ_CST,
					  __ATOMIC_SEQ_CST);
}

static void give(struct shim_slot *slot)
{
	__atomic_store_n(&slot->token, TOKEN_SIMULATOR, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&shim.memory->sleeping, __ATOMIC_SEQ_CST))
		return;
	__atomic_add_fetch(&shim.memory->bell, 1, __ATOMIC_SEQ_CST);
	futex_wake(&shim.memory->bell);
}

void token_give(struct shim_slot *slot)
{
	relay_leave(slot);
	give(slot);
}

__attribute__((noinline)) void token_await(struct shim_slot *slot)
{
	__atomic_store_n(&slot->sleeping, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&slot->token, __ATOMIC_SEQ_CST) != TOKEN_PROGRAM)
		(void)system_call(SYS_futex, &slot->token, FUTEX_WAIT, TOKEN_SIMULATOR, NULL, NULL,
				  0);
	__atomic_store_n(&slot->sleeping, 0, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void token_pass(struct shim_slot *slot)
{
	uint32_t iterations = __atomic_load_n(&shim.memory->spin_iterations, __ATOMIC_RELAXED);
	uint32_t own = relay_number(slot);
	bool relays = iterations > 0 && __atomic_load_n(&shim.memory->relays, __ATOMIC_RELAXED);

	if (!relays)
		relay_leave(slot);
	else if (__atomic_load_n(&shim.memory->relay, __ATOMIC_RELAXED) != own)
		__atomic_store_n(&shim.memory->relay, own, __ATOMIC_RELEASE);
	give(slot);
	if (iterations == 0 || !spin(slot, iterations, relays))
		token_await(slot);
}
