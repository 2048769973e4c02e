/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_calls: blocking calls, one at a time. A child does something 5 ms after its creation, and
 * its parent waits for it. It prints the waiting time in tenths of milliseconds: 55, because
 * creating a child takes 0.5 ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

/* _FORTIFY_SOURCE substitutes these names for calls. This program is built without it. */
ssize_t __read_chk(int fd, void *bytes, size_t length, size_t room);
ssize_t __recv_chk(int fd, void *bytes, size_t length, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *bytes, size_t length, size_t room, int flags,
		       struct sockaddr *from, socklen_t *from_length);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);

enum { WORD = 4 };

static int ends[2], others[2], queue, set, file; /* of this try */
static mqd_t messages;
static char bytes[64];
static struct iovec part = {bytes, WORD};
static struct {
	long kind;
	char text[WORD];
} mail = {1, "mail"};

#define CALLS(CALL)                                                                          \
	CALL(read, write(ends[1], "word", WORD), __read_chk(ends[0], bytes, WORD, 64))       \
	CALL(recv, send(ends[1], "word", WORD, 0), __recv_chk(ends[0], bytes, WORD, 64, 0))  \
	CALL(recvfrom, send(ends[1], "word", WORD, 0),                                       \
	     __recvfrom_chk(ends[0], bytes, WORD, 64, 0, NULL, NULL))                        \
	CALL(poll, write(ends[1], "word", WORD),                                             \
	     __poll_chk(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1, sizeof(struct pollfd))) \
	CALL(ppoll, write(ends[1], "word", WORD),                                            \
	     __ppoll_chk(&(struct pollfd){ends[0], POLLIN, 0}, 1, NULL, NULL,                \
			 sizeof(struct pollfd)))                                             \
	CALL(preadv2, vmsplice(others[1], &part, 1, 0), preadv2(others[0], &part, 1, -1, 0)) \
	CALL(splice, sendfile(ends[1], file, &(off_t){0}, WORD),                             \
	     splice(ends[0], NULL, others[1], NULL, WORD, 0))                                \
	CALL(tee, pwritev2(others[1], &part, 1, -1, 0), tee_others())                        \
	CALL(recvmmsg, sendmmsg(ends[1], &one_message, 1, 0),                                \
	     recvmmsg(ends[0], &one_message, 1, 0, NULL))                                    \
	CALL(epoll, write(ends[1], "word", WORD), epoll_others())                            \
	CALL(msgrcv, msgsnd(queue, &mail, WORD, 0), msgrcv(queue, &mail, WORD, 0, 0))        \
	CALL(semop, semop(set, &(struct sembuf){0, 1, 0}, 1),                                \
	     semop(set, &(struct sembuf){0, -1, 0}, 1))                                      \
	CALL(mq, mq_send(messages, "word", WORD, 0), mq_receive(messages, bytes, 64, NULL))  \
	CALL(signal, write(ends[1], "word", WORD), await_signal())

static struct mmsghdr one_message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

static ssize_t tee_others(void)
{
	int more[2];

	return pipe(more) == 0 ? tee(others[0], more[1], WORD, 0) : -1;
}

static int epoll_others(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int wait = epoll_create1(0);

	return epoll_ctl(wait, EPOLL_CTL_ADD, ends[0], &event) == 0
		       ? epoll_pwait2(wait, &event, 1, NULL, NULL)
		       : -1;
}

static volatile sig_atomic_t signalled;

static void on_io(int number)
{
	signalled = number;
}

/* Returns true if the descriptor names this process, by its number in the run. */
static int await_signal(void)
{
	if (fcntl(ends[0], F_GETOWN) != getpid())
		return -1;
	while (!signalled)
		pause();
	return signalled == SIGIO ? 1 : -1;
}

static int prepare(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 64};
	FILE *temporary = tmpfile();

	signal(SIGIO, on_io);
	file = temporary ? fileno(temporary) : -1;
	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	messages = mq_open("/calls", O_CREAT | O_RDWR, 0600, &attributes);
	mq_unlink("/calls");
	return file < 0 || write(file, "word", WORD) != WORD || queue < 0 || set < 0 ||
	       messages < 0;
}

static int begin(void)
{
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0 || pipe(others) != 0)
		return 1;
	if (read(others[0], bytes, 0) != 0) /* waits for nothing: it asks whether that is a file */
		return 1;
	return fcntl(ends[0], F_SETOWN, getpid()) != 0 || fcntl(ends[0], F_SETFL, O_ASYNC) != 0;
}

int part_calls(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (prepare() != 0)
		return 1;
#define TRY(name, give, take)                                                       \
	{                                                                           \
		uint64_t start = now_us();                                          \
		long result;                                                        \
		int status;                                                         \
		if (begin() != 0)                                                   \
			return 2;                                                   \
		if (fork() == 0) {                                                  \
			usleep(5000);                                               \
			_exit(give < 0);                                            \
		}                                                                   \
		signalled = 0;                                                      \
		do                                                                  \
			result = take;                                              \
		while (result < 0 && errno == EINTR);                               \
		printf(#name " %lu%s ", (unsigned long)(now_us() - start) / 100,    \
		       result < 0 ? "!" : "");                                      \
		wait(&status);                                                      \
		if (status != 0)                                                    \
			return 3;                                                   \
		close(ends[0]), close(ends[1]), close(others[0]), close(others[1]); \
	}
	CALLS(TRY)
	printf("\n");
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	return 0;
}

static mtx_t mutex;
static cnd_t condition;
static int turns;

static int turn(void *unused)
{
	(void)unused;
	thrd_sleep(&(struct timespec){0, 3000000}, NULL);
	mtx_lock(&mutex);
	turns++;
	cnd_signal(&condition);
	mtx_unlock(&mutex);
	return 7;
}

/* Tests the time stamp of a message that came 5 ms ago, and the time since the host's start. */
static void try_stamps(void)
{
	char control[CMSG_SPACE(sizeof(struct timeval))];
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct timeval stamp = {0, 0}, now;
	FILE *uptime = fopen("/proc/uptime", "r");
	struct timespec since;
	double seconds = 0;
	int pair[2];

	if (!uptime || fscanf(uptime, "%lf", &seconds) != 1 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 ||
	    setsockopt(pair[0], SOL_SOCKET, SO_TIMESTAMP, &(int){1}, sizeof(int)) != 0 ||
	    send(pair[1], "word", WORD, 0) != WORD || recvmsg(pair[0], &message, 0) != WORD)
		return;
	gettimeofday(&now, NULL);
	clock_gettime(CLOCK_BOOTTIME, &since);
	if (CMSG_FIRSTHDR(&message))
		memcpy(&stamp, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(stamp));
	printf("stamp %d up %d ",
	       (now.tv_sec - stamp.tv_sec) * 1000000 + now.tv_usec - stamp.tv_usec < 1000,
	       (double)since.tv_sec - seconds < 1.1 && seconds - (double)since.tv_sec < 1.1);
}

/* Locks and threads with absolute times of a clock, and <threads.h>. Random bytes beyond the size
 * of a seed. */
int part_times(int argc, char **argv)
{
	static uint8_t random[200000];
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	int result = 0, fd = open("/dev/urandom", O_RDONLY), kinds = 0;
	uint64_t start = now_us();
	struct timespec until;
	struct stat status;
	size_t different = 0;
	thrd_t thread;
	FILE *stream;

	(void)argc;
	(void)argv;
	if (mtx_init(&mutex, mtx_plain) != thrd_success || cnd_init(&condition) != thrd_success ||
	    thrd_create(&thread, turn, NULL) != thrd_success)
		return 1;
	mtx_lock(&mutex);
	while (turns == 0)
		cnd_wait(&condition, &mutex);
	mtx_unlock(&mutex);
	if (thrd_join(thread, &result) != thrd_success)
		return 2;
	printf("threads %d after %lu ", result, (unsigned long)(now_us() - start) / 100);
	pthread_rwlock_wrlock(&lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += 2000000;
	start = now_us();
	result = pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &until);
	printf("lock %d after %lu ", result == ETIMEDOUT, (unsigned long)(now_us() - start) / 100);
	try_stamps();
	if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode))
		return 3;
	if (read(fd, random, sizeof(random)) != sizeof(random))
		return 4;
	for (size_t i = 0; i < sizeof(random) / 2; i++)
		different += random[i] != random[i + sizeof(random) / 2];
	kinds += different > sizeof(random) / 4;
	stream = fopen("/dev/urandom", "rb");
	kinds += stream && fread(random, 1, sizeof(random), stream) == sizeof(random);
	printf("random %d ring %d\n", kinds,
	       syscall(SYS_io_uring_setup, 4, random) == -1 && errno == ENOSYS);
	return 0;
}
