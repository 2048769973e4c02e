/* SPDX-License-Identifier: Apache-2.0 */
/* token: see token.h. The other side is session/handover.c. */
#include "verbs-shim/preload/token.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"

/* Number of times that a thread yields in vain before it sleeps. */
#define YIELDS 64

/* Number of hand-overs that a thread remembers. */
#define REMEMBERED 4

/* Number of times in a row that another thread was next after the same remembered hand-overs. */
#define CERTAIN 3

/* How a thread waits for the token. */
enum wait { WAIT_ENDED, WAIT_SPIN, WAIT_YIELD, WAIT_SLEEP };

/* Whether another thread had the token between two hand-overs of this thread. */
static __thread struct {
	uint8_t last; /* bit i: the hand-over i + 1 before this one */
	uint8_t certainty[1 << REMEMBERED];
} handovers;

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

/* Releases the processor of the programs. Yields if the next thread is the one that had the
 * processor before this thread. */
static enum wait relay_pass(const struct shim_slot *slot)
{
	struct shim_memory *memory = shim.memory;
	uint32_t asked = __atomic_exchange_n(&memory->relay, 0, __ATOMIC_SEQ_CST);
	bool yields;

	if (!(asked & RELAY_ASKED))
		return WAIT_SLEEP;
	yields = (asked & ~RELAY_ASKED) == memory->relay_before &&
		 __atomic_load_n(&memory->yields, __ATOMIC_RELAXED);
	if (!yields) {
		memory->relay_before = relay_number(slot);
		__atomic_store_n(&memory->yielder, 0, __ATOMIC_RELAXED);
	}
	wake_asked(asked);
	return yields ? WAIT_YIELD : WAIT_SLEEP;
}

static enum wait spin(const struct shim_slot *slot, uint32_t iterations, bool relays)
{
	uint32_t own = relay_number(slot);

	for (uint32_t i = 0; i < iterations; i++) {
		if (has_token(slot))
			return WAIT_ENDED;
		if (relays && __atomic_load_n(&shim.memory->relay, __ATOMIC_ACQUIRE) != own)
			break;
		__builtin_ia32_pause();
	}
	return relays ? relay_pass(slot) : WAIT_SLEEP;
}

/* The thread was expected to be next, and has the processor. From now on the simulator asks this
 * thread to release it, and not the thread that yielded. That one may have the token already. */
static enum wait take_processor(const struct shim_slot *slot)
{
	struct shim_memory *memory = shim.memory;
	uint32_t before = memory->relay_before;

	if (!__atomic_compare_exchange_n(&memory->relay, &before, relay_number(slot), false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return relay_pass(slot); /* it has asked for a thread */
	return has_token(&memory->slots[before - 1]) ? WAIT_YIELD : WAIT_SPIN;
}

/* Yields to the thread that had the processor before. */
static enum wait yield(const struct shim_slot *slot)
{
	struct shim_memory *memory = shim.memory;
	uint32_t own = relay_number(slot);

	memory->relay_before = own;
	__atomic_store_n(&memory->yielder, own, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < YIELDS; i++) {
		uint32_t this = own;
		bool expected;

		(void)system_call(SYS_sched_yield);
		expected = __atomic_compare_exchange_n(&memory->expected, &this, 0, false,
						       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (has_token(slot))
			return WAIT_ENDED;
		if (expected)
			return take_processor(slot);
		if (__atomic_load_n(&memory->yielder, __ATOMIC_RELAXED) != own)
			return WAIT_SLEEP;
	}
	return WAIT_SLEEP;
}

/* Returns true if the thread that had the processor before is ready and certain to be next. To
 * yield to it at once takes no time, because the simulator works meanwhile. */
static bool expects_other(void)
{
	struct shim_memory *memory = shim.memory;

	if (handovers.certainty[handovers.last] < CERTAIN || !memory->relay_before ||
	    __atomic_load_n(&memory->yielder, __ATOMIC_RELAXED) != memory->relay_before ||
	    !__atomic_load_n(&memory->yields, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&memory->expected, memory->relay_before, __ATOMIC_RELAXED);
	return true;
}

/* The thread has the token again. */
static void note_handover(uint32_t own)
{
	uint8_t *certainty = &handovers.certainty[handovers.last];
	bool other = shim.memory->holder != own;

	*certainty = !other ? 0 : *certainty < CERTAIN ? *certainty + 1 : CERTAIN;
	handovers.last = (uint8_t)((handovers.last << 1 | other) % (1 << REMEMBERED));
	if (other)
		shim.memory->holder = own;
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
	enum wait wait;

	if (!relays)
		relay_leave(slot);
	else if (__atomic_load_n(&shim.memory->relay, __ATOMIC_RELAXED) != own)
		__atomic_store_n(&shim.memory->relay, own, __ATOMIC_RELEASE);
	give(slot);
	wait = relays && expects_other() ? WAIT_YIELD : WAIT_SPIN;
	while (wait == WAIT_SPIN || wait == WAIT_YIELD)
		wait = wait == WAIT_SPIN ? spin(slot, iterations, relays) : yield(slot);
	if (wait == WAIT_SLEEP) {
		relay_leave(slot);
		token_await(slot);
	}
	note_handover(own);
}
