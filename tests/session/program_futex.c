/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_futex: futex(2) by syscall(), as locks that are not libc's use it. Threads wake in the
 * order in which they came, and by their masks.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

#define THREADS 4

static uint32_t word;

static long futex(int operation, uint32_t value, const struct timespec *time, uint32_t mask)
{
	return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, time, NULL, mask);
}

static void *waiter(void *argument)
{
	intptr_t own = (intptr_t)argument;

	if (futex(FUTEX_WAIT_BITSET, 0, NULL, 1U << own) == 0)
		printf("%ld", (long)own);
	return NULL;
}

/* Returns the errno of a call. */
static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

static void try_errors(void)
{
	const struct timespec too_long = {0, 1000000000};

	printf("again %d ", error_of(futex(FUTEX_WAIT, 1, NULL, 0)) == EAGAIN);
	printf("invalid %d %d %d ", error_of(futex(FUTEX_WAIT_BITSET, 0, NULL, 0)) == EINVAL,
	       error_of(futex(FUTEX_WAKE_BITSET, 1, NULL, 0)) == EINVAL,
	       error_of(futex(FUTEX_WAIT, 0, &too_long, 0)) == EINVAL);
}

static void try_times(void)
{
	struct timespec until;
	uint64_t start = now_us();
	int first = error_of(futex(FUTEX_WAIT, 0, &(struct timespec){0, 2000000}, 0));
	uint64_t second = now_us();

	printf("timeout %d after %lu ", first == ETIMEDOUT, (unsigned long)(second - start) / 100);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 3000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	first = error_of(futex(FUTEX_WAIT_BITSET, 0, &until, FUTEX_BITSET_MATCH_ANY));
	printf("timeout %d after %lu ", first == ETIMEDOUT,
	       (unsigned long)(now_us() - second) / 100);
}

int part_futex(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long none, masked, one, rest;

	(void)argc;
	(void)argv;
	try_errors();
	try_times();
	printf("woken ");
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, waiter, (void *)i) != 0)
			return 1;
	usleep(1000);
	none = futex(FUTEX_WAKE_BITSET, THREADS, NULL, 1U << THREADS);
	masked = futex(FUTEX_WAKE_BITSET, THREADS, NULL, 1U << 2);
	usleep(1000);
	one = futex(FUTEX_WAKE, 1, NULL, 0);
	usleep(1000);
	rest = futex(FUTEX_WAKE, THREADS, NULL, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf(" of %ld %ld %ld %ld\n", none, masked, one, rest);
	return 0;
}
