/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_c11: <threads.h>. libc's own functions call its locks directly. These functions therefore
 * use the POSIX functions of the library. The types are the same in glibc.
 */
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "verbs-shim/preload/shim.h"

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "as glibc has it");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "as glibc has it");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "as glibc has it");

struct birth {
	thrd_start_t start;
	void *argument;
};

static int thread_result(int error)
{
	return error == 0           ? thrd_success
	       : error == ENOMEM    ? thrd_nomem
	       : error == ETIMEDOUT ? thrd_timedout
	       : error == EBUSY     ? thrd_busy
				    : thrd_error;
}

static void *run(void *argument)
{
	struct birth birth = *(struct birth *)argument;

	free(argument);
	return (void *)(intptr_t)birth.start(birth.argument);
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	struct birth *birth = malloc(sizeof(*birth));
	int error;

	if (!birth)
		return thrd_nomem;
	*birth = (struct birth){start, argument};
	error = pthread_create(thread, NULL, run, birth);
	if (error)
		free(birth);
	return error == EAGAIN ? thrd_nomem : thread_result(error);
}

EXPORT int thrd_join(thrd_t thread, int *result)
{
	void *value;
	int error = pthread_join(thread, &value);

	if (error == 0 && result)
		*result = (int)(intptr_t)value;
	return thread_result(error);
}

EXPORT int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);

	return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

EXPORT int mtx_lock(mtx_t *mutex)
{
	return thread_result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

EXPORT int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict time)
{
	return thread_result(pthread_mutex_timedlock((pthread_mutex_t *)mutex, time));
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
	return thread_result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return thread_result(
		pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

EXPORT int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
			 const struct timespec *restrict time)
{
	return thread_result(pthread_cond_timedwait((pthread_cond_t *)condition,
						    (pthread_mutex_t *)mutex, time));
}

EXPORT int cnd_signal(cnd_t *condition)
{
	return thread_result(pthread_cond_signal((pthread_cond_t *)condition));
}

EXPORT int cnd_broadcast(cnd_t *condition)
{
	return thread_result(pthread_cond_broadcast((pthread_cond_t *)condition));
}
