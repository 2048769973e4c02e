/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer: timers that are descriptors, and waiting for a signal. A timer's descriptor is an eventfd.
 * It is filled when a thread of the process checks and the expiry is due. A waiting thread wakes up
 * in time for the expiry.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define TIMERS    256
#define PS_PER_NS UINT64_C(1000)
#define NS_PER_S  UINT64_C(1000000000)

static struct {
	bool used;
	int fd;
	clockid_t clock;
	uint64_t at, interval; /* at: SHIM_NEVER when disarmed */
} timers[TIMERS];
static uint32_t timer_count; /* highest in use + 1 */

uint64_t timer_next(void)
{
	uint64_t next = SHIM_NEVER;

	for (uint32_t i = 0; i < timer_count; i++)
		if (timers[i].used && timers[i].at < next)
			next = timers[i].at;
	return next;
}

void timer_update(void)
{
	uint64_t now = gate_now();

	for (uint32_t i = 0; i < timer_count; i++) {
		uint64_t times = 1;

		if (!timers[i].used || timers[i].at > now)
			continue;
		if (timers[i].interval)
			times += (now - timers[i].at) / timers[i].interval;
		timers[i].at =
			timers[i].interval ? timers[i].at + times * timers[i].interval : SHIM_NEVER;
		(void)!system_call(SYS_write, timers[i].fd, &times, sizeof(times));
		shim_self.slot->dirty = 1;
	}
}

void timer_forget(int fd)
{
	for (uint32_t i = 0; i < timer_count; i++)
		if (timers[i].used && timers[i].fd == fd)
			timers[i].used = false;
}

void timer_forget_all(void)
{
	timer_count = 0;
	memset(timers, 0, sizeof(timers));
}

EXPORT int timerfd_create(clockid_t clock, int flags)
{
	int fd;

	if (!shim_active())
		return REAL(timerfd_create)(clock, flags);
	for (uint32_t i = 0; i < TIMERS; i++) {
		if (timers[i].used)
			continue;
		fd = eventfd(0, (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0) |
					(flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0));
		if (fd < 0)
			return -1;
		timers[i].used = true;
		timers[i].fd = fd;
		timers[i].clock = clock;
		timers[i].at = SHIM_NEVER;
		timers[i].interval = 0;
		if (timer_count <= i)
			timer_count = i + 1;
		return fd;
	}
	errno = EMFILE;
	return -1;
}

static uint64_t ps_of(const struct timespec *time)
{
	return ((uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec) * PS_PER_NS;
}

static struct timespec timespec_of(uint64_t ps)
{
	uint64_t ns = ps / PS_PER_NS;

	return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

static void describe(uint32_t timer, struct itimerspec *value)
{
	uint64_t now = gate_now(), at = timers[timer].at;

	value->it_interval = timespec_of(timers[timer].interval);
	value->it_value = timespec_of(at == SHIM_NEVER || at <= now ? 0 : at - now);
}

static int find(int fd)
{
	for (uint32_t i = 0; i < timer_count; i++)
		if (timers[i].used && timers[i].fd == fd)
			return (int)i;
	return -1;
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	int timer = shim_active() ? find(fd) : -1;
	struct pollfd ready = {fd, POLLIN, 0};
	uint64_t value, base, count;

	if (timer < 0)
		return REAL(timerfd_settime)(fd, flags, new, old);
	timer_update();
	if (old)
		describe((uint32_t)timer, old);
	if (system_look(SYS_poll, &ready, 1UL, 0) == 1) /* earlier expirations no longer count */
		(void)!system_call(SYS_read, fd, &count, sizeof(count));
	value = ps_of(&new->it_value);
	base = (timers[timer].clock == CLOCK_REALTIME ? shim.memory->realtime_base_ns
						      : shim.memory->monotonic_base_ns) *
	       PS_PER_NS;
	if (value == 0)
		timers[timer].at = SHIM_NEVER;
	else if (flags & TFD_TIMER_ABSTIME)
		timers[timer].at = value > base ? value - base : gate_now();
	else
		timers[timer].at = gate_now() + value;
	timers[timer].interval = ps_of(&new->it_interval);
	gate_visible(); /* others of this process may wait for it */
	return 0;
}

EXPORT int timerfd_gettime(int fd, struct itimerspec *value)
{
	int timer = shim_active() ? find(fd) : -1;

	if (timer < 0)
		return REAL(timerfd_gettime)(fd, value);
	describe((uint32_t)timer, value);
	return 0;
}

static int wait_signal(const sigset_t *set, siginfo_t *info, uint64_t deadline)
{
	static const struct timespec zero = {0, 0};
	siginfo_t taken;

	if (!info)
		info = &taken;
	shim_self.interrupted = false;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	for (;;) {
		int number = (int)system_call(SYS_rt_sigtimedwait, set, info, &zero, 8L);
		bool passed = gate_now() >= deadline;

		if (number > 0)
			timer_signal_taken(info);
		if (number > 0 || errno != EAGAIN || passed)
			return number;
		if (shim_self.interrupted) { /* by another signal than those waited for */
			errno = EINTR;
			return -1;
		}
		(void)wait_visible(deadline);
	}
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			const struct timespec *restrict timeout)
{
	if (!shim_active())
		return REAL(sigtimedwait)(set, info, timeout);
	return wait_signal(set, info, timeout ? gate_now() + ps_of(timeout) : SHIM_NEVER);
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	if (!shim_active())
		return REAL(sigwaitinfo)(set, info);
	return wait_signal(set, info, SHIM_NEVER);
}

EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
	int result;

	if (!shim_active())
		return REAL(sigwait)(set, number);
	do {
		result = wait_signal(set, NULL, SHIM_NEVER);
	} while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*number = result;
	return 0;
}
