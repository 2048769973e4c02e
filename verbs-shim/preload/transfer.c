/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer: blocking calls besides those of wait.c: vectors, several messages in a call, transfers
 * between descriptors, and System V and POSIX queues and semaphores. As in wait.c, each thread
 * checks, and hands back the token until it can continue.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/streams.h"

#define PIECE      4096 /* PIPE_BUF: bytes that a writable pipe accepts without blocking */
#define OPERATIONS 500  /* Linux: SEMOPM */

static ssize_t moved(ssize_t result)
{
	if (result > 0)
		gate_visible();
	return result;
}

/* Waits until another thread did something visible. Returns false and sets errno if a signal
 * arrived. */
static bool again(uint64_t deadline)
{
	if (wait_visible(deadline)) {
		errno = ETIMEDOUT;
		return false;
	}
	if (shim_self.interrupted)
		errno = EINTR;
	return !shim_self.interrupted;
}

/* Vectors. A transfer with a file offset never blocks. An offset of -1 is the descriptor's own
 * offset. */

EXPORT ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
	if (!shim_active())
		return REAL(pread)(fd, bytes, length, at);
	wait_begin();
	return process_random_more(fd, bytes, length, REAL(pread)(fd, bytes, length, at));
}

EXPORT ssize_t pread64(int fd, void *bytes, size_t length, off_t at)
{
	return pread(fd, bytes, length, at);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	if (shim_active())
		wait_begin();
	return REAL(pwrite)(fd, bytes, length, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
	return pwrite(fd, bytes, length, at);
}

#define AT_PLACE(name)                                                              \
	EXPORT ssize_t name(int fd, const struct iovec *parts, int count, off_t at) \
	{                                                                           \
		if (shim_active())                                                  \
			wait_begin();                                               \
		return REAL(name)(fd, parts, count, at);                            \
	}

AT_PLACE(preadv)
AT_PLACE(preadv64)
AT_PLACE(pwritev)
AT_PLACE(pwritev64)

EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
	if (!shim_active())
		return REAL(preadv2)(fd, parts, count, at, flags);
	wait_begin();
	if (at == -1 && !(flags & RWF_NOWAIT) && !wait_is_plain(fd) && wait_is_blocking(fd) &&
	    !wait_for(fd, POLLIN))
		return -1;
	return moved(REAL(preadv2)(fd, parts, count, at, flags));
}

EXPORT ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags)
{
	return preadv2(fd, parts, count, at, flags);
}

EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags)
{
	if (!shim_active())
		return REAL(pwritev2)(fd, parts, count, at, flags);
	if (at == -1 && !(flags & RWF_NOWAIT) && !wait_is_plain(fd) && wait_is_blocking(fd))
		return writev(fd, parts, count);
	wait_begin();
	return moved(REAL(pwritev2)(fd, parts, count, at, flags));
}

EXPORT ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags)
{
	return pwritev2(fd, parts, count, at, flags);
}

/* Several messages. */

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	if (!shim_active())
		return REAL(sendmmsg)(fd, messages, count, flags);
	for (unsigned i = 0; i < count; i++) {
		ssize_t sent = sendmsg(fd, &messages[i].msg_hdr, flags);

		if (sent < 0)
			return i > 0 ? (int)i : -1;
		messages[i].msg_len = (unsigned)sent;
	}
	return (int)count;
}

/* As in Linux, the time is checked only after each message. */
EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
		    struct timespec *timeout)
{
	uint64_t until = SHIM_NEVER;

	if (!shim_active())
		return REAL(recvmmsg)(fd, messages, count, flags, timeout);
	if (timeout)
		until = gate_now() + ((uint64_t)timeout->tv_sec * UINT64_C(1000000000) +
				      (uint64_t)timeout->tv_nsec) *
					     1000;
	for (unsigned i = 0; i < count; i++) {
		ssize_t got = recvmsg(fd, &messages[i].msg_hdr, flags & ~MSG_WAITFORONE);

		if (got < 0)
			return i > 0 ? (int)i : -1;
		messages[i].msg_len = (unsigned)got;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		if (gate_now() >= until)
			return (int)i + 1;
	}
	return (int)count;
}

/* From one descriptor to another. */

static bool may_block(int fd)
{
	return !wait_is_plain(fd) && wait_is_blocking(fd);
}

EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t length)
{
	size_t done = 0;

	if (!shim_active())
		return REAL(sendfile)(out, in, offset, length);
	wait_begin();
	if (!may_block(out))
		return moved(REAL(sendfile)(out, in, offset, length));
	while (done < length) {
		size_t piece = length - done < PIECE ? length - done : PIECE;
		ssize_t result;

		if (!wait_for(out, POLLOUT))
			break;
		result = REAL(sendfile)(out, in, offset, piece);
		if (result > 0)
			done += (size_t)result;
		if (result <= 0 && done == 0)
			return result;
		if (result <= 0)
			break;
		streams_sent(out, NULL, result);
		gate_visible();
	}
	return done > 0 || length == 0 ? (ssize_t)done : -1;
}

EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t length)
{
	return sendfile(out, in, offset, length);
}

/* Repeats the call while there is nothing to move, unless the descriptor is non-blocking. */
#define MOVE(call, flags, in, out)                                                             \
	({                                                                                     \
		ssize_t result_ = -1;                                                          \
		bool waits_ = !((flags)&SPLICE_F_NONBLOCK);                                    \
		wait_begin();                                                                  \
		do {                                                                           \
			if (waits_ && (in) >= 0 && may_block(in) && !wait_for(in, POLLIN))     \
				break;                                                         \
			if (waits_ && (out) >= 0 && may_block(out) && !wait_for(out, POLLOUT)) \
				break;                                                         \
			result_ = call;                                                        \
		} while (result_ < 0 && errno == EAGAIN && waits_ && again(SHIM_NEVER));       \
		moved(result_);                                                                \
	})

EXPORT ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t length,
		      unsigned flags)
{
	ssize_t result;

	if (!shim_active())
		return REAL(splice)(in, in_at, out, out_at, length, flags);
	result = MOVE(REAL(splice)(in, in_at, out, out_at, length, flags | SPLICE_F_NONBLOCK),
		      flags, in, out);
	streams_sent(out, NULL, result);
	return result;
}

EXPORT ssize_t tee(int in, int out, size_t length, unsigned flags)
{
	if (!shim_active())
		return REAL(tee)(in, out, length, flags);
	return MOVE(REAL(tee)(in, out, length, flags | SPLICE_F_NONBLOCK), flags, in, out);
}

EXPORT ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags)
{
	bool writes;

	if (!shim_active())
		return REAL(vmsplice)(fd, parts, count, flags);
	writes = ((int)system_call(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
	return MOVE(REAL(vmsplice)(fd, parts, count, flags | SPLICE_F_NONBLOCK), flags,
		    writes ? -1 : fd, writes ? fd : -1);
}

/* Queues of messages, and semaphores, of System V. */

EXPORT int msgsnd(int queue, const void *message, size_t bytes, int flags)
{
	int result;

	if (!shim_active())
		return REAL(msgsnd)(queue, message, bytes, flags);
	wait_begin();
	do
		result = REAL(msgsnd)(queue, message, bytes, flags | IPC_NOWAIT);
	while (result != 0 && errno == EAGAIN && !(flags & IPC_NOWAIT) && again(SHIM_NEVER));
	if (result == 0)
		gate_visible();
	return result;
}

EXPORT ssize_t msgrcv(int queue, void *message, size_t bytes, long kind, int flags)
{
	ssize_t result;

	if (!shim_active())
		return REAL(msgrcv)(queue, message, bytes, kind, flags);
	wait_begin();
	do
		result = REAL(msgrcv)(queue, message, bytes, kind, flags | IPC_NOWAIT);
	while (result < 0 && errno == ENOMSG && !(flags & IPC_NOWAIT) && again(SHIM_NEVER));
	if (result >= 0)
		gate_visible();
	return result;
}

static int operate(int set, const struct sembuf *operations, size_t count, uint64_t deadline)
{
	struct sembuf looks[OPERATIONS];
	bool waits = true;
	int result;

	if (count > OPERATIONS) {
		errno = E2BIG;
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		looks[i] = operations[i];
		waits &= !(operations[i].sem_flg & IPC_NOWAIT);
		looks[i].sem_flg |= IPC_NOWAIT;
	}
	wait_begin();
	do
		result = REAL(semop)(set, looks, count);
	while (result != 0 && errno == EAGAIN && waits && again(deadline));
	if (result != 0 && errno == ETIMEDOUT)
		errno = EAGAIN; /* as Linux reports it */
	if (result == 0)
		gate_visible();
	return result;
}

EXPORT int semop(int set, struct sembuf *operations, size_t count)
{
	return shim_active() ? operate(set, operations, count, SHIM_NEVER)
			     : REAL(semop)(set, operations, count);
}

EXPORT int semtimedop(int set, struct sembuf *operations, size_t count,
		      const struct timespec *timeout)
{
	uint64_t deadline = SHIM_NEVER;

	if (!shim_active())
		return REAL(semtimedop)(set, operations, count, timeout);
	if (timeout)
		deadline = gate_now() + ((uint64_t)timeout->tv_sec * UINT64_C(1000000000) +
					 (uint64_t)timeout->tv_nsec) *
						1000;
	return operate(set, operations, count, deadline);
}

/* Queues of messages of POSIX are descriptors. */

static bool queue_is_ready(mqd_t queue, short events)
{
	struct pollfd one = {queue, events, 0};

	return system_look(SYS_poll, &one, 1UL, 0) != 0;
}

/* Waits until the queue is ready. The timeout is a time of CLOCK_REALTIME. */
static bool await_queue(mqd_t queue, short events, const struct timespec *time)
{
	uint64_t deadline = SHIM_NEVER;

	wait_begin();
	if (time) {
		uint64_t ns =
			(uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_nsec;

		deadline = ns > shim.memory->realtime_base_ns
				   ? (ns - shim.memory->realtime_base_ns) * 1000
				   : 0;
	}
	while (wait_is_blocking(queue) && !queue_is_ready(queue, events))
		if (!again(deadline))
			return false;
	return true;
}

static ssize_t take_from_queue(mqd_t queue, char *bytes, size_t room, unsigned *priority,
			       const struct timespec *time)
{
	return await_queue(queue, POLLIN, time)
		       ? moved(REAL(mq_receive)(queue, bytes, room, priority))
		       : -1;
}

static int put_in_queue(mqd_t queue, const char *bytes, size_t length, unsigned priority,
			const struct timespec *time)
{
	int result = await_queue(queue, POLLOUT, time)
			     ? REAL(mq_send)(queue, bytes, length, priority)
			     : -1;

	if (result == 0)
		gate_visible();
	return result;
}

EXPORT ssize_t mq_timedreceive(mqd_t queue, char *restrict bytes, size_t room,
			       unsigned *restrict priority, const struct timespec *restrict time)
{
	return shim_active() ? take_from_queue(queue, bytes, room, priority, time)
			     : REAL(mq_timedreceive)(queue, bytes, room, priority, time);
}

EXPORT ssize_t mq_receive(mqd_t queue, char *bytes, size_t room, unsigned *priority)
{
	return shim_active() ? take_from_queue(queue, bytes, room, priority, NULL)
			     : REAL(mq_receive)(queue, bytes, room, priority);
}

EXPORT int mq_timedsend(mqd_t queue, const char *bytes, size_t length, unsigned priority,
			const struct timespec *time)
{
	return shim_active() ? put_in_queue(queue, bytes, length, priority, time)
			     : REAL(mq_timedsend)(queue, bytes, length, priority, time);
}

EXPORT int mq_send(mqd_t queue, const char *bytes, size_t length, unsigned priority)
{
	return shim_active() ? put_in_queue(queue, bytes, length, priority, NULL)
			     : REAL(mq_send)(queue, bytes, length, priority);
}
