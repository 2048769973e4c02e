/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readiness: poll, select and epoll. As in wait.c, each function checks the descriptors, and hands
 * the token back until a descriptor may have become ready.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/epoll.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"

static uint64_t deadline_ms(int milliseconds)
{
	return milliseconds < 0 ? SHIM_NEVER
				: gate_now() + (uint64_t)milliseconds * UINT64_C(1000000000);
}

static uint64_t deadline_of(const struct timespec *time)
{
	return !time ? SHIM_NEVER
		     : gate_now() + ((uint64_t)time->tv_sec * UINT64_C(1000000000) +
				     (uint64_t)time->tv_nsec) *
					    1000;
}

static int poll_now(struct pollfd *fds, nfds_t count)
{
	int result = (int)system_look(SYS_poll, fds, count, 0);

	if (result < 0)
		return result;
	result = 0;
	for (nfds_t i = 0; i < count; i++) {
		if (fds[i].fd >= 0 && !(fds[i].revents & POLLNVAL))
			fds[i].revents =
				socket_state_events(fds[i].fd, fds[i].events, fds[i].revents);
		if (epoll_is_idle(fds[i].fd))
			fds[i].revents = 0;
		result += fds[i].revents != 0;
	}
	return result;
}

static int poll_until(struct pollfd *fds, nfds_t count, uint64_t deadline)
{
	for (;;) {
		int result = poll_now(fds, count);
		if (result != 0 || deadline <= gate_now())
			return result;
		if (wait_for_any(deadline))
			return poll_now(fds, count);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!shim_active())
		return REAL(poll)(fds, count, timeout);
	wait_begin();
	return poll_until(fds, count, deadline_ms(timeout));
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(ppoll)(fds, count, timeout, mask);

	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = poll_until(fds, count, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

/* The events of poll() that each set of select() has in Linux. */
static const short select_events[3] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

/* Adapts the result of the kernel to the states of sockets. Returns the number of descriptors in
 * all sets. */
static int select_states(int count, fd_set *sets[3], const fd_set wanted[3])
{
	static const short first_event[3] = {POLLIN, POLLOUT, POLLPRI};
	int result = 0;
	short events;

	for (int i = 0; i < 3; i++) {
		for (int fd = 0; sets[i] && fd < count; fd++) {
			if (!FD_ISSET(fd, &wanted[i]))
				continue;
			events = FD_ISSET(fd, sets[i]) ? first_event[i] : 0;
			events = socket_state_events(fd, select_events[i], events);
			if (epoll_is_idle(fd))
				events = 0;
			if (events & select_events[i])
				FD_SET(fd, sets[i]);
			else
				FD_CLR(fd, sets[i]);
			result += FD_ISSET(fd, sets[i]) != 0;
		}
	}
	return result;
}

static int select_until(int count, fd_set *in, fd_set *out, fd_set *except, uint64_t deadline)
{
	static const struct timespec now = {0, 0};
	fd_set wanted[3];
	fd_set *sets[3] = {in, out, except};

	for (int i = 0; i < 3; i++)
		if (sets[i])
			wanted[i] = *sets[i];
	for (;;) {
		struct timespec zero = now;
		int result = (int)system_look(SYS_pselect6, count, in, out, except, &zero, NULL);
		bool passed;

		if (result >= 0 && count <= FD_SETSIZE)
			result = select_states(count, sets, wanted);
		if (result != 0 || deadline <= gate_now())
			return result;
		for (int i = 0; i < 3; i++)
			if (sets[i])
				*sets[i] = wanted[i];
		passed = wait_for_any(deadline);
		if (!passed && shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
		if (passed)
			deadline = 0;
	}
}

EXPORT int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
		  struct timeval *restrict timeout)
{
	uint64_t deadline;

	if (!shim_active())
		return REAL(select)(count, in, out, except, timeout);
	wait_begin();
	deadline = timeout ? gate_now() + ((uint64_t)timeout->tv_sec * 1000000 +
					   (uint64_t)timeout->tv_usec) *
						  1000000
			   : SHIM_NEVER;
	return select_until(count, in, out, except, deadline);
}

EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
		   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(pselect)(count, in, out, except, timeout, mask);

	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = select_until(count, in, out, except, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

static int epoll_until(int fd, struct epoll_event *events, int most, uint64_t deadline)
{
	for (;;) {
		int result = epoll_look(fd, events, most);
		if (result != 0 || deadline <= gate_now())
			return result;
		if (wait_for_any(deadline))
			return epoll_look(fd, events, most);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout,
		       const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(epoll_pwait)(fd, events, most, timeout, mask);
	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = epoll_until(fd, events, most, deadline_ms(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	if (!shim_active())
		return REAL(epoll_wait)(fd, events, most, timeout);
	return epoll_pwait(fd, events, most, timeout, NULL);
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
			const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(epoll_pwait2)(fd, events, most, timeout, mask);
	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = epoll_until(fd, events, most, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}
