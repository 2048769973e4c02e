/* SPDX-License-Identifier: Apache-2.0 */
/* futex: see futex.h. */
#include "verbs-shim/preload/futex.h"

#include <linux/futex.h>
#include <string.h>
#include <time.h>

#include "verbs-shim/preload/shim.h"

#define WAITERS 1024

/* Threads of this process that wait, in the order in which they came. */
static struct waiter {
	const uint32_t *word; /* NULL: free */
	uint64_t order;
	uint32_t bits;
	bool woken;
} waiters[WAITERS];
static uint64_t waiter_order;
static const struct shim_process *owner; /* a forked child has no waiters */

static long fail(int error)
{
	errno = error;
	return -1;
}

static uint64_t deadline_of(const struct timespec *time, int operation)
{
	uint64_t ns;

	if (!time)
		return SHIM_NEVER;
	ns = (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;
	if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) /* relative */
		return gate_now() + ns * 1000;
	ns -= operation & FUTEX_CLOCK_REALTIME ? shim.memory->realtime_base_ns
					       : shim.memory->monotonic_base_ns;
	return (int64_t)ns < 0 ? 0 : ns * 1000;
}

static bool is_valid(const struct timespec *time)
{
	return !time || (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

static long wait_until(const uint32_t *word, uint32_t value, uint32_t bits, uint64_t deadline)
{
	struct waiter *waiter = waiters;
	bool passed = false, woken;

	wait_begin();
	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
		return fail(EAGAIN);
	while (waiter < waiters + WAITERS && waiter->word)
		waiter++;
	if (waiter == waiters + WAITERS)
		return fail(ENOMEM);
	*waiter = (struct waiter){word, ++waiter_order, bits, false};
	while (!waiter->woken && !passed && !shim_self.interrupted)
		passed = wait_visible(deadline);
	woken = waiter->woken;
	waiter->word = NULL;
	return woken ? 0 : fail(passed ? ETIMEDOUT : EINTR);
}

static struct waiter *first_of(const uint32_t *word, uint32_t bits)
{
	struct waiter *first = NULL;

	for (struct waiter *waiter = waiters; waiter < waiters + WAITERS; waiter++)
		if (waiter->word == word && !waiter->woken && waiter->bits & bits &&
		    (!first || waiter->order < first->order))
			first = waiter;
	return first;
}

static long wake(const uint32_t *word, long most, uint32_t bits)
{
	struct waiter *waiter;
	long count = 0;

	do { /* as in Linux, at least one */
		waiter = first_of(word, bits);
		if (!waiter)
			break;
		waiter->woken = true;
	} while (++count < most);
	if (count > 0)
		shim_self.slot->dirty = 1;
	return count;
}

bool futex_call(const long words[6], long *result)
{
	const uint32_t *word = (const uint32_t *)words[0];
	const struct timespec *time = (const struct timespec *)words[3];
	int operation = (int)words[1], command = operation & FUTEX_CMD_MASK;
	uint32_t bits = (uint32_t)words[5];
	bool waits;

	if (!(operation & FUTEX_PRIVATE_FLAG))
		return false;
	if (owner != shim.process)
		memset(waiters, 0, sizeof(waiters));
	owner = shim.process;
	if (command == FUTEX_WAIT || command == FUTEX_WAKE)
		bits = FUTEX_BITSET_MATCH_ANY;
	waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	if (!waits && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET)
		return false;
	if (!bits || (waits && !is_valid(time)))
		*result = fail(EINVAL);
	else if (waits)
		*result = wait_until(word, (uint32_t)words[2], bits, deadline_of(time, operation));
	else
		*result = wake(word, (int)words[2], bits);
	return true;
}
