/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_signal: timers that end in a signal or in a thread: setitimer(), alarm(), timer_create().
 * The simulator keeps the times of timers that send a signal. It passes the signal to a thread of
 * the process together with the token (gate_call()). A timer that starts threads has a thread of
 * its own, which waits for the expiry and starts them. Processor time is virtual time.
 *
 * Source: POSIX.1-2017, timer_create() and timer_getoverrun(); Linux's timer_create(2) for
 * SIGEV_THREAD_ID.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_US UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)
#define US_PER_S  UINT64_C(1000000)

static struct timer {
	bool used;
	bool pending;      /* its signal was sent, but no thread has taken it */
	int notify;        /* SIGEV_... */
	uint32_t number;   /* of the signal */
	uint32_t taker;    /* 1 + the slot of the thread that takes it; 0: any */
	uint32_t missed;   /* expirations while its signal was pending */
	uint32_t overrun;  /* the same, before the last taken signal */
	uint32_t lifetime; /* number of earlier timers in this slot */
	union sigval value;
	void (*function)(union sigval);
	clockid_t clock;
	uint64_t at, interval; /* at: SHIM_NEVER: disarmed */
} timers[SHIM_TIMERS];

void timer_signal_forget_all(void)
{
	memset(timers, 0, sizeof(timers));
}

/* Expiry. */

enum { MASK_BYTES = 8 }; /* of the kernel */

static bool is_in(uint64_t mask, uint32_t number)
{
	return mask >> (number - 1) & 1;
}

static bool is_blocked(uint32_t number)
{
	uint64_t mask = 0;

	(void)system_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, MASK_BYTES);
	return is_in(mask, number);
}

static bool is_pending(uint32_t number)
{
	uint64_t mask = 0;

	(void)system_call(SYS_rt_sigpending, &mask, MASK_BYTES);
	return is_in(mask, number);
}

/* Sends a signal to this thread, or to the process if the thread blocks it and may not take it. */
static void send(const siginfo_t *info, bool for_any)
{
	uint32_t number = (uint32_t)info->si_signo;
	long pid = system_call(SYS_getpid), thread = (long)shim_self.slot->tid;
	bool blocked = is_blocked(number);

	if (!blocked && !signal_is_ignored((int)number))
		shim_self.interrupted = true;
	if (blocked)
		shim_self.slot->dirty = 1; /* another thread may wait for it */
	if (blocked && for_any)
		(void)system_call(SYS_rt_sigqueueinfo, pid, number, info);
	else
		(void)system_call(SYS_rt_tgsigqueueinfo, pid, thread, number, info);
}

void timer_signal_raise(uint32_t number, uint32_t index, uint32_t missed)
{
	struct timer *timer = &timers[index];
	siginfo_t info;

	if (timer->pending && is_pending(number)) {
		timer->missed += 1 + missed;
		return;
	}
	timer->pending = true;
	timer->missed = missed;
	memset(&info, 0, sizeof(info));
	info.si_signo = (int)number;
	info.si_code = SI_TIMER;
	info.si_timerid = (int)index;
	info.si_value = timer->value;
	send(&info, !timer->taker);
}

void timer_signal_terminate(uint32_t number)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = (int)number;
	info.si_code = SI_USER;
	info.si_pid = 1;
	send(&info, true);
}

void timer_signal_taken(void *info)
{
	siginfo_t *taken = info;
	struct timer *timer;

	if (taken->si_code != SI_TIMER || taken->si_timerid < 0 || taken->si_timerid >= SHIM_TIMERS)
		return;
	timer = &timers[taken->si_timerid];
	taken->si_overrun = (int)timer->missed;
	timer->overrun = timer->missed;
	timer->missed = 0;
	timer->pending = false;
}

static void *call_function(void *copy)
{
	struct timer timer = *(struct timer *)copy;

	free(copy);
	timer.function(timer.value);
	return NULL;
}

static void start_detached(void *(*start)(void *), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_create(&thread, &attributes, start, argument);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *await_expiry(void *place)
{
	struct timer *timer = place;
	uint32_t lifetime = timer->lifetime;

	while (timer->used && timer->lifetime == lifetime) {
		struct timer *copy;

		if (timer->at > gate_now()) {
			(void)wait_visible(timer->at);
			continue;
		}
		timer->at = timer->interval ? timer->at + timer->interval : SHIM_NEVER;
		copy = malloc(sizeof(*copy));
		if (!copy)
			continue;
		*copy = *timer;
		start_detached(call_function, copy);
	}
	return NULL;
}

/* Setting. */

/* Returns the remaining time of timers that send a signal. */
static uint64_t arm(uint32_t index, uint64_t at, uint64_t interval)
{
	struct timer *timer = &timers[index];

	timer->at = at;
	timer->interval = interval;
	if (timer->notify == SIGEV_THREAD)
		gate_visible(); /* its thread checks again */
	if (timer->notify == SIGEV_THREAD || timer->notify == SIGEV_NONE)
		return 0;
	return (uint64_t)gate_call(OP_TIMER,
				   REQUEST(.timer = {.deadline = at,
						     .interval = interval,
						     .signal = at < SHIM_NEVER ? timer->number : 0,
						     .number = index,
						     .taker = timer->taker}));
}

static uint64_t left_of(const struct timer *timer)
{
	uint64_t now = gate_now();

	if (timer->at == SHIM_NEVER)
		return 0;
	if (timer->at > now)
		return timer->at - now;
	return timer->interval ? timer->interval - (now - timer->at) % timer->interval : 0;
}

static uint64_t ps_of(const struct timeval *time)
{
	return ((uint64_t)time->tv_sec * US_PER_S + (uint64_t)time->tv_usec) * PS_PER_US;
}

static struct timeval timeval_of(uint64_t ps)
{
	uint64_t us = ps / PS_PER_US;

	return (struct timeval){(time_t)(us / US_PER_S), (suseconds_t)(us % US_PER_S)};
}

static bool is_interval_timer(__itimer_which_t which)
{
	if ((unsigned)which < SHIM_INTERVAL_TIMERS)
		return true;
	errno = EINVAL;
	return false;
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict new,
		     struct itimerval *restrict old)
{
	static const uint32_t signals[SHIM_INTERVAL_TIMERS] = {SIGALRM, SIGVTALRM, SIGPROF};
	struct timer *timer = &timers[which];
	uint64_t first, interval, left;

	if (!shim_active())
		return REAL(setitimer)(which, new, old);
	if (!is_interval_timer(which))
		return -1;
	first = ps_of(&new->it_value);
	interval = timer->interval;
	timer->number = signals[which];
	left = arm((uint32_t)which, first ? gate_now() + first : SHIM_NEVER,
		   ps_of(&new->it_interval));
	if (old)
		*old = (struct itimerval){timeval_of(interval), timeval_of(left)};
	return 0;
}

EXPORT int getitimer(__itimer_which_t which, struct itimerval *value)
{
	if (!shim_active())
		return REAL(getitimer)(which, value);
	if (!is_interval_timer(which))
		return -1;
	*value = (struct itimerval){timeval_of(timers[which].interval),
				    timeval_of(left_of(&timers[which]))};
	return 0;
}

EXPORT unsigned alarm(unsigned seconds)
{
	struct itimerval new = {.it_value = {seconds, 0}}, old;

	if (!shim_active())
		return REAL(alarm)(seconds);
	(void)setitimer(ITIMER_REAL, &new, &old);
	return (unsigned)old.it_value.tv_sec + (old.it_value.tv_usec > 0);
}

/* Returns the value of a clock at virtual time 0, in ns. Returns SHIM_NEVER if the clock has no
 * timers. */
static uint64_t base_of(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_TAI:
		return shim.memory->realtime_base_ns;
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
		return shim.memory->monotonic_base_ns;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		return 0;
	default:
		return SHIM_NEVER;
	}
}

static bool is_event(const struct sigevent *event)
{
	switch (event->sigev_notify) {
	case SIGEV_NONE:
	case SIGEV_THREAD:
		return true;
	case SIGEV_THREAD_ID:
		if (!ids_slot(event->_sigev_un._tid))
			return false;
		break;
	case SIGEV_SIGNAL:
		break;
	default:
		return false;
	}
	return event->sigev_signo > 0 && event->sigev_signo < NSIG;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
	struct sigevent plain = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	uint32_t index = SHIM_INTERVAL_TIMERS;
	struct timer *new;

	if (!shim_active())
		return REAL(timer_create)(clock, event, timer);
	while (index < SHIM_TIMERS && timers[index].used)
		index++;
	if (index == SHIM_TIMERS || base_of(clock) == SHIM_NEVER || (event && !is_event(event))) {
		errno = index == SHIM_TIMERS ? EAGAIN : EINVAL;
		return -1;
	}
	plain.sigev_value.sival_int = (int)index;
	if (!event)
		event = &plain;
	new = &timers[index];
	*new = (struct timer){.used = true,
			      .notify = event->sigev_notify,
			      .number = (uint32_t)event->sigev_signo,
			      .lifetime = new->lifetime + 1,
			      .value = event->sigev_value,
			      .clock = clock,
			      .at = SHIM_NEVER};
	if (event->sigev_notify == SIGEV_THREAD_ID)
		new->taker = 1 + (uint32_t)(ids_slot(event->_sigev_un._tid) - shim.memory->slots);
	if (event->sigev_notify == SIGEV_THREAD) {
		new->function = event->sigev_notify_function;
		start_detached(await_expiry, new);
	}
	*timer = (timer_t)(uintptr_t)index;
	return 0;
}

/* 0: there is no such timer (errno EINVAL). */
static uint32_t find(timer_t timer)
{
	uintptr_t index = (uintptr_t)timer;

	if (index >= SHIM_INTERVAL_TIMERS && index < SHIM_TIMERS && timers[index].used)
		return (uint32_t)index;
	errno = EINVAL;
	return 0;
}

static struct itimerspec describe(const struct timer *timer)
{
	uint64_t left = left_of(timer) / PS_PER_NS, interval = timer->interval / PS_PER_NS;

	return (struct itimerspec){{(time_t)(interval / NS_PER_S), (long)(interval % NS_PER_S)},
				   {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)}};
}

static bool is_time(const struct timespec *time)
{
	return time->tv_sec >= 0 && time->tv_nsec >= 0 && (uint64_t)time->tv_nsec < NS_PER_S;
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

EXPORT int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict new,
			 struct itimerspec *restrict old)
{
	uint64_t first, base, at;
	uint32_t index;

	if (!shim_active())
		return REAL(timer_settime)(timer, flags, new, old);
	index = find(timer);
	if (!index || !is_time(&new->it_value) || !is_time(&new->it_interval)) {
		errno = EINVAL;
		return -1;
	}
	if (old)
		*old = describe(&timers[index]);
	first = ns_of(&new->it_value);
	base = base_of(timers[index].clock);
	if (first == 0)
		at = SHIM_NEVER;
	else if (!(flags & TIMER_ABSTIME))
		at = gate_now() + first * PS_PER_NS;
	else
		at = first > base ? (first - base) * PS_PER_NS : 0;
	(void)arm(index, at < gate_now() ? gate_now() : at, ns_of(&new->it_interval) * PS_PER_NS);
	return 0;
}

EXPORT int timer_gettime(timer_t timer, struct itimerspec *value)
{
	uint32_t index;

	if (!shim_active())
		return REAL(timer_gettime)(timer, value);
	index = find(timer);
	if (!index)
		return -1;
	*value = describe(&timers[index]);
	return 0;
}

EXPORT int timer_getoverrun(timer_t timer)
{
	uint32_t index;

	if (!shim_active())
		return REAL(timer_getoverrun)(timer);
	index = find(timer);
	return index ? (int)timers[index].overrun : -1;
}

EXPORT int timer_delete(timer_t timer)
{
	uint32_t index;

	if (!shim_active())
		return REAL(timer_delete)(timer);
	index = find(timer);
	if (!index)
		return -1;
	timers[index].used = false;
	(void)arm(index, SHIM_NEVER, 0);
	return 0;
}
