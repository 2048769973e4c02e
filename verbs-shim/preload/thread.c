/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread: threads, locks and conditions. Only one thread runs at a time, so no thread may sleep
 * inside libc for another thread. A thread that waits for a lock, a condition or the end of a
 * thread hands over the token.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/host.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap_stack.h"

#define WAITERS 1024
#define THREADS 1024

struct birth {
	void *(*start)(void *);
	void *argument;
	struct shim_slot *slot;
};

/* Threads that wait on a condition of this process, in the order in which they came. */
static struct waiter {
	const pthread_cond_t *condition; /* NULL: free */
	uint64_t order;
	bool signalled;
} waiters[WAITERS];
static uint64_t waiter_order;

static struct {
	pthread_t thread;
	const struct shim_slot *slot;
	bool used, ended;
} threads[THREADS];

static uint32_t sleepers; /* threads of this process that wait for another thread of the process */

static bool wait_here(uint64_t deadline, bool cancellable)
{
	bool passed;

	sleepers++;
	passed = cancellable
			 ? wait_visible(deadline)
			 : gate_call(OP_OS_WAIT, REQUEST(.os_wait = {.deadline = deadline})) != 0;
	sleepers--;
	return passed;
}

/* Reports a change that another thread may wait for. A shared object may have waiters in other
 * processes. */
static void released(bool shared)
{
	if ((sleepers || shared) && shim_self.slot)
		shim_self.slot->dirty = 1;
}

/* Return true if libc's object is shared between processes (pthread_..._setpshared(),
 * sem_init()). */
static bool mutex_is_shared(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & 128;
}

static bool condition_is_shared(const pthread_cond_t *condition)
{
	return condition->__data.__wrefs & 1;
}

static bool semaphore_is_shared(const sem_t *semaphore)
{
	return ((const int *)(const void *)semaphore)[2] != 0;
}

static void on_end(void *slot)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (threads[i].used && pthread_equal(threads[i].thread, pthread_self()))
			threads[i].ended = true;
	(void)slot;
	if (shim_self.slot)
		gate_last(OP_THREAD_EXIT);
}

static void *run(void *argument)
{
	struct birth birth = *(struct birth *)argument;
	void *result;

	trap_stack_install(birth.slot);
	gate_start(birth.slot);
	clock_begin_thread();
	free(argument);
	pthread_cleanup_push(on_end, NULL);
	result = birth.start(birth.argument);
	pthread_cleanup_pop(1);
	return result;
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
			  void *(*start)(void *), void *restrict argument)
{
	struct birth *birth;
	cpu_set_t cpus;
	int64_t slot;
	int error;

	if (!shim_active())
		return REAL(pthread_create)(thread, attributes, start, argument);
	birth = malloc(sizeof(*birth));
	slot = birth ? gate_call(OP_THREAD_NEW, NULL) : -ENOMEM;
	if (slot < 0) {
		free(birth);
		return EAGAIN;
	}
	*birth = (struct birth){start, argument, &shim.memory->slots[slot]};
	host_begin_thread((uint32_t)slot, attributes, &cpus);
	error = REAL(pthread_create)(thread, attributes, run, birth);
	host_end_thread(attributes, &cpus);
	if (error) {
		free(birth);
		(void)gate_call(OP_THREAD_FAILED, REQUEST(.thread_failed = {(uint64_t)slot}));
		return error;
	}
	while (!__atomic_load_n(&shim.memory->slots[slot].tid, __ATOMIC_ACQUIRE))
		(void)system_call(SYS_sched_yield); /* it starts in libc without the token */
	for (uint32_t i = 0; i < THREADS; i++) {
		if (threads[i].used && !pthread_equal(threads[i].thread, *thread))
			continue;
		threads[i].thread = *thread;
		threads[i].slot = &shim.memory->slots[slot];
		threads[i].used = true;
		threads[i].ended = false;
		break;
	}
	return 0;
}

const struct shim_slot *thread_slot(pthread_t thread)
{
	if (pthread_equal(thread, pthread_self()))
		return shim_self.slot;
	for (uint32_t i = 0; i < THREADS; i++)
		if (threads[i].used && pthread_equal(threads[i].thread, thread))
			return threads[i].slot;
	for (uint32_t i = 0; i < SHIM_SLOTS; i++)
		if (shim.memory->slots[i].tid == shim.process->real_pid)
			return &shim.memory->slots[i];
	return NULL;
}

static int join(pthread_t thread, void **result, uint64_t deadline)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		if (!threads[i].used || !pthread_equal(threads[i].thread, thread))
			continue;
		while (!threads[i].ended)
			if (wait_here(deadline, true) && !threads[i].ended)
				return ETIMEDOUT;
		threads[i].used = false;
		break;
	}
	return REAL(pthread_join)(thread, result);
}

EXPORT int pthread_join(pthread_t thread, void **result)
{
	if (!shim_active())
		return REAL(pthread_join)(thread, result);
	return join(thread, result, SHIM_NEVER);
}

EXPORT int pthread_cancel(pthread_t thread)
{
	int error = REAL(pthread_cancel)(thread);

	if (shim_active())
		gate_visible();
	return error;
}

static uint64_t deadline_at(clockid_t id, const struct timespec *time)
{
	uint64_t base = id == CLOCK_REALTIME ? shim.memory->realtime_base_ns
					     : shim.memory->monotonic_base_ns;
	uint64_t ns = (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;

	return ns > base ? (ns - base) * 1000 : 0;
}

static int lock_until(pthread_mutex_t *mutex, uint64_t deadline)
{
	for (;;) {
		int error = REAL(pthread_mutex_trylock)(mutex);
		if (error != EBUSY)
			return error;
		if (wait_here(deadline, false)) {
			error = REAL(pthread_mutex_trylock)(mutex);
			return error == EBUSY ? ETIMEDOUT : error;
		}
	}
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return shim_active() ? lock_until(mutex, SHIM_NEVER) : REAL(pthread_mutex_lock)(mutex);
}

EXPORT int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
				   const struct timespec *restrict time)
{
	return shim_active() ? lock_until(mutex, deadline_at(CLOCK_REALTIME, time))
			     : REAL(pthread_mutex_timedlock)(mutex, time);
}

EXPORT int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t id,
				   const struct timespec *restrict time)
{
	return shim_active() ? lock_until(mutex, deadline_at(id, time))
			     : REAL(pthread_mutex_clocklock)(mutex, id, time);
}

/* Waits for the end of a thread until a time of that clock. No time limit if `time` is NULL. */
static int join_until(pthread_t thread, void **result, clockid_t id, const struct timespec *time)
{
	return join(thread, result, time ? deadline_at(id, time) : SHIM_NEVER);
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
	return shim_active() ? join_until(thread, result, CLOCK_REALTIME, time)
			     : REAL(pthread_timedjoin_np)(thread, result, time);
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t id,
				const struct timespec *time)
{
	return shim_active() ? join_until(thread, result, id, time)
			     : REAL(pthread_clockjoin_np)(thread, result, id, time);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	bool shared = mutex_is_shared(mutex); /* it may be gone when it is free */
	int error = REAL(pthread_mutex_unlock)(mutex);

	released(shared);
	return error;
}

/*
 * A thread that polls memory of the HCA is parked at one place of its loop. It may hold a spin lock
 * there that each iteration releases and takes again. Another thread would never find the lock
 * free. A thread that releases a contended lock therefore sleeps for cpu.lock_handoff. Two such
 * locks may have the same place in the table. One of them is then forgotten.
 */
#define SPIN_LOCKS 16

static struct {
	const volatile void *lock;
	uint64_t clock;
} spin_wanted[SPIN_LOCKS];

static unsigned spin_place(const volatile void *lock)
{
	return (unsigned)((uintptr_t)lock >> 4) % SPIN_LOCKS;
}

static int spin_try(pthread_spinlock_t *lock)
{
	int error = REAL(pthread_spin_trylock)(lock);

	if (error && shim_active()) {
		spin_wanted[spin_place(lock)].lock = lock;
		spin_wanted[spin_place(lock)].clock = gate_now();
	}
	return error;
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	return spin_try(lock);
}

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	if (!shim_active())
		return REAL(pthread_spin_lock)(lock);
	while (spin_try(lock) != 0)
		(void)wait_here(SHIM_NEVER, false);
	return 0;
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	int error = REAL(pthread_spin_unlock)(lock);
	unsigned place = spin_place(lock);
	uint64_t from = spin_wanted[place].clock;

	released(false);
	if (spin_wanted[place].lock != lock || !shim_active())
		return error;
	spin_wanted[place].lock = NULL;
	from = (from > gate_now() ? from : gate_now()) + shim.memory->lock_handoff;
	(void)gate_call(OP_SLEEP, REQUEST(.sleep = {from}));
	return error;
}

static int rwlock_until(pthread_rwlock_t *lock, bool writes, uint64_t deadline)
{
	for (bool passed = false;; passed = wait_here(deadline, false)) {
		int error = writes ? REAL(pthread_rwlock_trywrlock)(lock)
				   : REAL(pthread_rwlock_tryrdlock)(lock);
		if (error != EBUSY)
			return error;
		if (passed)
			return ETIMEDOUT;
	}
}

#define RWLOCK_FUNCTION(name, writes, deadline, parameters, ...)            \
	EXPORT int name parameters                                          \
	{                                                                   \
		return shim_active() ? rwlock_until(lock, writes, deadline) \
				     : REAL(name)(__VA_ARGS__);             \
	}

RWLOCK_FUNCTION(pthread_rwlock_rdlock, false, SHIM_NEVER, (pthread_rwlock_t * lock), lock)
RWLOCK_FUNCTION(pthread_rwlock_wrlock, true, SHIM_NEVER, (pthread_rwlock_t * lock), lock)
RWLOCK_FUNCTION(pthread_rwlock_timedrdlock, false, deadline_at(CLOCK_REALTIME, time),
		(pthread_rwlock_t *restrict lock, const struct timespec *restrict time), lock, time)
RWLOCK_FUNCTION(pthread_rwlock_timedwrlock, true, deadline_at(CLOCK_REALTIME, time),
		(pthread_rwlock_t *restrict lock, const struct timespec *restrict time), lock, time)
RWLOCK_FUNCTION(pthread_rwlock_clockrdlock, false, deadline_at(id, time),
		(pthread_rwlock_t *restrict lock, clockid_t id,
		 const struct timespec *restrict time),
		lock, id, time)
RWLOCK_FUNCTION(pthread_rwlock_clockwrlock, true, deadline_at(id, time),
		(pthread_rwlock_t *restrict lock, clockid_t id,
		 const struct timespec *restrict time),
		lock, id, time)

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	bool shared = lock->__data.__shared != 0;
	int error = REAL(pthread_rwlock_unlock)(lock);

	released(shared);
	return error;
}

/*
 * A condition shared by processes counts its signals in its own memory, where libc would count
 * waiters. No thread waits in libc. Each signal wakes all waiting threads, as POSIX permits. Their
 * processes need not know of each other.
 */
static uint64_t *rounds_of(pthread_cond_t *condition)
{
	return (uint64_t *)(void *)&condition->__data.__wseq;
}

struct wait {
	pthread_cond_t *condition;
	pthread_mutex_t *mutex;
	struct waiter *waiter; /* NULL: a shared condition */
	uint64_t round;
};

static bool is_signalled(const struct wait *wait)
{
	return wait->waiter ? wait->waiter->signalled : *rounds_of(wait->condition) != wait->round;
}

static void stop_waiting(void *argument)
{
	const struct wait *wait = argument;

	if (wait->waiter)
		wait->waiter->condition = NULL;
	if (shim_active())
		(void)lock_until(wait->mutex, SHIM_NEVER);
}

static struct waiter *waiter_new(void)
{
	for (uint32_t i = 0; i < WAITERS; i++)
		if (!waiters[i].condition)
			return &waiters[i];
	return NULL;
}

static int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline)
{
	bool shared = condition_is_shared(condition);
	struct wait wait = {condition, mutex, shared ? NULL : waiter_new(),
			    shared ? *rounds_of(condition) : 0};
	volatile bool passed = false;
	int error;

	if (!shared && !wait.waiter)
		return EINVAL;
	if (wait.waiter)
		*wait.waiter = (struct waiter){condition, ++waiter_order, false};
	error = pthread_mutex_unlock(mutex);
	if (error) {
		if (wait.waiter)
			wait.waiter->condition = NULL;
		return error;
	}
	pthread_cleanup_push(stop_waiting, &wait);
	while (!is_signalled(&wait) && !passed)
		passed = wait_here(deadline, true);
	pthread_cleanup_pop(0);
	passed = !is_signalled(&wait);
	if (wait.waiter)
		wait.waiter->condition = NULL;
	error = lock_until(mutex, SHIM_NEVER);
	return error ? error : passed ? ETIMEDOUT : 0;
}

/* The clock that pthread_condattr_setclock() chose is kept in the condition's second bit of flags
 * by libc. */
static clockid_t condition_clock(const pthread_cond_t *condition)
{
	return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
	return shim_active() ? condition_wait(condition, mutex, SHIM_NEVER)
			     : REAL(pthread_cond_wait)(condition, mutex);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
				  pthread_mutex_t *restrict mutex,
				  const struct timespec *restrict time)
{
	return shim_active() ? condition_wait(condition, mutex,
					      deadline_at(condition_clock(condition), time))
			     : REAL(pthread_cond_timedwait)(condition, mutex, time);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
				  pthread_mutex_t *restrict mutex, clockid_t id,
				  const struct timespec *restrict time)
{
	return shim_active() ? condition_wait(condition, mutex, deadline_at(id, time))
			     : REAL(pthread_cond_clockwait)(condition, mutex, id, time);
}

static void signal_waiters(pthread_cond_t *condition, bool all)
{
	bool shared = condition_is_shared(condition);
	struct waiter *first;

	if (shared)
		++*rounds_of(condition);
	do {
		first = NULL;
		for (uint32_t i = 0; i < WAITERS; i++)
			if (waiters[i].condition == condition && !waiters[i].signalled &&
			    (!first || waiters[i].order < first->order))
				first = &waiters[i];
		if (first)
			first->signalled = true;
	} while (all && first);
	released(shared);
}

EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
	if (shim_active())
		signal_waiters(condition, false);
	return REAL(pthread_cond_signal)(condition);
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
	if (shim_active())
		signal_waiters(condition, true);
	return REAL(pthread_cond_broadcast)(condition);
}

static int semaphore_wait(sem_t *semaphore, uint64_t deadline)
{
	shim_self.interrupted = false;
	while (REAL(sem_trywait)(semaphore) != 0) {
		if (errno != EAGAIN)
			return -1;
		if (wait_here(deadline, true)) {
			if (REAL(sem_trywait)(semaphore) == 0)
				return 0;
			errno = ETIMEDOUT;
			return -1;
		}
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
	return 0;
}

EXPORT int sem_wait(sem_t *semaphore)
{
	return shim_active() ? semaphore_wait(semaphore, SHIM_NEVER) : REAL(sem_wait)(semaphore);
}

EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict time)
{
	return shim_active() ? semaphore_wait(semaphore, deadline_at(CLOCK_REALTIME, time))
			     : REAL(sem_timedwait)(semaphore, time);
}

EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t id,
			 const struct timespec *restrict time)
{
	return shim_active() ? semaphore_wait(semaphore, deadline_at(id, time))
			     : REAL(sem_clockwait)(semaphore, id, time);
}

EXPORT int sem_post(sem_t *semaphore)
{
	bool shared = semaphore_is_shared(semaphore);
	int result = REAL(sem_post)(semaphore);

	released(shared);
	return result;
}

/* State in the barrier's memory, in libc's 32-bit words: threads inside, round, number of threads
 * to wait for, shared by processes or not, threads that left. */
EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	enum { ROUND = 1, COUNT = 2, SHARED = 3, INSIDE = 4 };
	uint32_t *const words = (uint32_t *)(void *)barrier;
	uint32_t round;

	if (!shim_active())
		return REAL(pthread_barrier_wait)(barrier);
	round = words[ROUND];
	if (++words[INSIDE] == words[COUNT]) {
		words[INSIDE] = 0;
		words[ROUND]++;
		released(words[SHARED] != 0);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	while (__atomic_load_n(&words[ROUND], __ATOMIC_RELAXED) == round)
		(void)wait_here(SHIM_NEVER, false);
	return 0;
}

EXPORT int sched_yield(void)
{
	if (!shim_active())
		return REAL(sched_yield)();
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	return 0;
}
