/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program: programs that the tests run under a session; argv[1] selects one. Built without
 * sanitizers, because both their run time and the preload library must be the first library of a
 * process.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int number_of(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int part_sleeps(int argc, char **argv)
{
	useconds_t first = (useconds_t)number_of(argv[2]);

	(void)argc;
	usleep(first);
	printf("first\n");
	fflush(stdout);
	usleep(20000);
	printf("second\n");
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void *taker(void *argument)
{
	int own = (int)(intptr_t)argument;

	for (int round = 0; round < 3; round++) {
		pthread_mutex_lock(&mutex);
		while (turn % 4 != own)
			pthread_cond_wait(&condition, &mutex);
		printf("%d", own);
		turn++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return (void *)(intptr_t)(own * 10);
}

static int part_threads(int argc, char **argv)
{
	pthread_t threads[4];
	struct timespec until;
	intptr_t sum = 0;
	void *result;

	(void)argc;
	(void)argv;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, taker, (void *)(intptr_t)i);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		sum += (intptr_t)result;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&mutex);
	uint64_t start = now_us();
	int error = pthread_cond_timedwait(&condition, &mutex, &until);
	uint64_t waited = now_us() - start;
	printf("\nsum %ld %s %d\n", (long)sum, error == ETIMEDOUT ? "timeout" : "?",
	       waited >= 4999000 && waited < 5001000);
	return 0;
}

static int part_fork(int argc, char **argv)
{
	int ends[2], status;
	char text[32] = "";
	pid_t child;

	(void)argc;
	if (pipe(ends) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		usleep(1000);
		if (write(ends[1], "hello", 5) != 5)
			_exit(1);
		execl(argv[0], argv[0], "exit", "7", (char *)NULL);
		_exit(1);
	}
	if (read(ends[0], text, sizeof(text) - 1) < 0)
		return 1;
	if (waitpid(child, &status, 0) != child)
		return 1;
	printf("%s %d from %d, system says %d\n", text, WEXITSTATUS(status), (int)child,
	       WEXITSTATUS(system("exit 5")));
	return 0;
}

static int part_exit(int argc, char **argv)
{
	(void)argc;
	return number_of(argv[2]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static int part_signals(int argc, char **argv)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	uint64_t start = now_us();

	(void)argc;
	(void)argv;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	while (alarms < 3)
		pause();
	uint64_t waited = now_us() - start;
	printf("3 alarms %d\n", waited >= 30000 && waited < 31000);
	return 0;
}

static int part_random(int argc, char **argv)
{
	uint64_t bytes, more;
	struct timespec now;

	(void)argc;
	(void)argv;
	if (getrandom(&bytes, sizeof(bytes), 0) != sizeof(bytes) ||
	    syscall(SYS_getrandom, &more, sizeof(more), 0) != sizeof(more) ||
	    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) != 0)
		return 1;
	printf("%d %lx %lx %lx %lx %ld\n", (int)getpid(), (unsigned long)bytes, (unsigned long)more,
	       (unsigned long)__builtin_ia32_rdtsc(), (unsigned long)time(NULL), now.tv_nsec);
	return 0;
}

/* Every caller sees the run's numbers of processes and threads. They are valid in calls that name a
 * process or a thread. */
static volatile sig_atomic_t pokes;

static void on_poke(int number)
{
	(void)number;
	pokes++;
}

static void *poked(void *id)
{
	*(pid_t *)id = gettid();
	while (pokes == 0)
		pause();
	return (void *)(intptr_t)(gettid() == *(pid_t *)id && syscall(SYS_gettid) == gettid());
}

static bool works(pid_t id)
{
	struct sched_param parameters = {.sched_priority = 1};
	cpu_set_t processors;
	struct timespec interval;

	return sched_getaffinity(id, sizeof(processors), &processors) == 0 &&
	       sched_setaffinity(id, sizeof(processors), &processors) == 0 &&
	       syscall(SYS_sched_getaffinity, id, sizeof(processors), &processors) > 0 &&
	       sched_getscheduler(id) == SCHED_OTHER && sched_getparam(id, &parameters) == 0 &&
	       parameters.sched_priority == 0 && sched_setparam(id, &parameters) == 0 &&
	       sched_setscheduler(id, SCHED_OTHER, &parameters) == 0 &&
	       sched_rr_get_interval(id, &interval) == 0 &&
	       setpriority(PRIO_PROCESS, (id_t)id, 1) == 0 &&
	       getpriority(PRIO_PROCESS, (id_t)id) == 1 &&
	       syscall(SYS_getpriority, PRIO_PROCESS, id) == 20 - 1;
}

static int part_ids(int argc, char **argv)
{
	pid_t own = getpid(), thread_id = 0;
	pthread_t thread;
	void *result;

	(void)argc;
	(void)argv;
	if (gettid() != own || syscall(SYS_gettid) != own || syscall(SYS_getpid) != own)
		return 1;
	errno = 0;
	if (syscall(SYS_dup, -1) != -1 || errno != EBADF)
		return 2;
	signal(SIGUSR1, on_poke);
	if (pthread_create(&thread, NULL, poked, &thread_id) != 0)
		return 3;
	while (thread_id == 0)
		usleep(1000);
	printf("process %d thread %d works %d %d ", (int)own, (int)thread_id, works(own),
	       works(thread_id));
	if (tgkill(own, thread_id, 0) != 0 || tgkill(own, own + 100, 0) != -1 || errno != ESRCH)
		return 4;
	if (syscall(SYS_tgkill, own, thread_id, SIGUSR1) != 0)
		return 5;
	pthread_join(thread, &result);
	printf("poked %d %d ", (int)pokes, (int)(intptr_t)result);
	fflush(stdout);
	if (fork() == 0) {
		printf("child %d %d of %d\n", gettid(), syscall(SYS_gettid) == getpid(), getppid());
		return 0;
	}
	return wait(NULL) > 0 ? 0 : 6;
}

static pthread_spinlock_t spin;

static void *try_spin(void *unused)
{
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	return unused;
}

/* Returns the time to release a contended lock, less the time to release an uncontended lock, in
 * ns. */
static int part_spin(int argc, char **argv)
{
	struct timespec times[4];
	pthread_t thread;

	(void)argc;
	(void)argv;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_lock(&spin);
	clock_gettime(CLOCK_MONOTONIC, &times[0]);
	pthread_spin_unlock(&spin);
	clock_gettime(CLOCK_MONOTONIC, &times[1]);
	pthread_spin_lock(&spin);
	if (pthread_create(&thread, NULL, try_spin, NULL) != 0)
		return 1;
	usleep(1000);
	clock_gettime(CLOCK_MONOTONIC, &times[2]);
	pthread_spin_unlock(&spin);
	clock_gettime(CLOCK_MONOTONIC, &times[3]);
	printf("turn %ld\n",
	       (times[3].tv_nsec - times[2].tv_nsec) - (times[1].tv_nsec - times[0].tv_nsec));
	return pthread_join(thread, NULL);
}

static pthread_key_t key;
static uint64_t last_clock, last_tsc;

/* Runs when its thread has ended. */
static void on_end(void *start)
{
	last_clock = now_us() - *(uint64_t *)start;
	last_tsc = __builtin_ia32_rdtsc();
}

static void *ends(void *start)
{
	pthread_setspecific(key, start);
	usleep(3000);
	return NULL;
}

static int part_ends(int argc, char **argv)
{
	uint64_t start = now_us(), tsc = __builtin_ia32_rdtsc();
	pthread_t thread;

	(void)argc;
	(void)argv;
	if (pthread_key_create(&key, on_end) != 0 ||
	    pthread_create(&thread, NULL, ends, &start) != 0)
		return 1;
	pthread_join(thread, NULL);
	printf("ended after %d us, %d us\n", (int)last_clock, (int)((last_tsc - tsc) / 2000));
	return 0;
}

static int part_stuck(int argc, char **argv)
{
	int ends[2];
	char byte;

	(void)argc;
	(void)argv;
	return pipe(ends) == 0 && read(ends[0], &byte, 1) == 1;
}

static int hidden[2];

static void *hidden_reader(void *argument)
{
	char byte;

	(void)argument;
	return (void *)(intptr_t)syscall(SYS_read, hidden[0], &byte, 1L); /* past the library */
}

static int part_hidden(int argc, char **argv)
{
	pthread_t thread;
	void *result;

	(void)argc;
	(void)argv;
	if (pipe(hidden) != 0 || pthread_create(&thread, NULL, hidden_reader, NULL) != 0)
		return 1;
	usleep(1000);
	if (argc == 2 && write(hidden[1], "x", 1) != 1)
		return 1;
	pthread_join(thread, &result);
	printf("read %ld\n", (long)(intptr_t)result);
	return 0;
}

/* Tests a timer descriptor in epoll beside a pipe, a signal that the program waits for, and a
 * signal from a child, whose handler writes. */
static int woken[2];

static void on_child(int number)
{
	(void)number;
	if (write(woken[1], "c", 1) != 1)
		_exit(1);
}

static int part_events(int argc, char **argv)
{
	struct itimerspec every = {{0, 5000000}, {0, 10000000}}; /* after 10 ms, then every 5 ms */
	struct epoll_event event = {.events = EPOLLIN};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), poller = epoll_create1(0), number;
	uint64_t start = now_us(), expired = 0, seed[2];
	struct itimerval once = {{0, 0}, {0, 20000}};
	sigset_t set;
	char byte;
	FILE *file;

	(void)argc;
	(void)argv;
	timerfd_settime(fd, 0, &every, NULL);
	epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
	for (int i = 0; i < 3; i++) {
		if (epoll_wait(poller, &event, 1, -1) != 1 ||
		    read(fd, &expired, sizeof(expired)) != sizeof(expired) || expired != 1)
			return 1;
	}
	printf("timer %lu ", (unsigned long)(now_us() - start) / 100);
	usleep(16000);
	if (read(fd, &expired, sizeof(expired)) != sizeof(expired))
		return 2;
	printf("%lu ", (unsigned long)expired);
	close(fd);

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	start = now_us();
	setitimer(ITIMER_REAL, &once, NULL);
	if (sigwait(&set, &number) != 0)
		return 3;
	printf("signal %d %lu ", number, (unsigned long)(now_us() - start) / 100);
	const struct timespec short_time = {0, 1000000};
	printf("%d ", sigtimedwait(&set, NULL, &short_time) == -1 && errno == EAGAIN);

	signal(SIGCHLD, on_child);
	if (pipe(woken) != 0)
		return 4;
	if (fork() == 0) {
		usleep(3000);
		_exit(0);
	}
	if (read(woken[0], &byte, 1) != 1 && (errno != EINTR || read(woken[0], &byte, 1) != 1))
		return 5;
	printf("child %c ", byte);

	const struct timeval limit = {0, 20000}; /* whole ticks of any kernel */
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 7;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	start = now_us();
	if (recv(ends[0], &byte, 1, 0) != -1 || errno != EAGAIN)
		return 8;
	printf("limit %lu ", (unsigned long)(now_us() - start) / 100);

	file = fopen("/dev/urandom", "r");
	if (!file || fread(seed, sizeof(seed), 1, file) != 1)
		return 6;
	fclose(file);
	printf("random %016lx\n", (unsigned long)(seed[0] ^ seed[1]));
	return 0;
}

/* Two processes share one object of each kind. The parent waits for the child with each object. */
struct together {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
	pthread_barrier_t barrier;
	sem_t semaphore;
	int turn;
};

static void take_turns(struct together *together, int own, int peers)
{
	pthread_mutex_lock(&together->mutex);
	while (together->turn % peers != own)
		pthread_cond_wait(&together->condition, &together->mutex);
	together->turn++;
	pthread_cond_signal(&together->condition);
	pthread_mutex_unlock(&together->mutex);
}

static int part_shared(int argc, char **argv)
{
	enum { CHILDREN = 2 };
	struct together *together = mmap(NULL, sizeof(*together), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t mutex_attribute;
	pthread_condattr_t condition_attribute;
	pthread_barrierattr_t barrier_attribute;
	struct timespec until;
	uint64_t start = now_us();

	(void)argc;
	(void)argv;
	pthread_mutexattr_init(&mutex_attribute);
	pthread_condattr_init(&condition_attribute);
	pthread_barrierattr_init(&barrier_attribute);
	if (together == MAP_FAILED ||
	    pthread_mutexattr_setpshared(&mutex_attribute, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_condattr_setpshared(&condition_attribute, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_barrierattr_setpshared(&barrier_attribute, PTHREAD_PROCESS_SHARED) != 0 ||
	    pthread_mutex_init(&together->mutex, &mutex_attribute) != 0 ||
	    pthread_cond_init(&together->condition, &condition_attribute) != 0 ||
	    pthread_barrier_init(&together->barrier, &barrier_attribute, CHILDREN + 1) != 0 ||
	    sem_init(&together->semaphore, 1, 0) != 0)
		return 1;
	for (int child = 1; child <= CHILDREN; child++)
		if (fork() == 0) {
			for (int round = 0; round < 5; round++)
				take_turns(together, child, CHILDREN + 1);
			pthread_barrier_wait(&together->barrier);
			usleep(1000);
			sem_post(&together->semaphore);
			pthread_mutex_lock(&together->mutex);
			usleep(2000);
			pthread_mutex_unlock(&together->mutex);
			_exit(0);
		}
	for (int round = 0; round < 5; round++)
		take_turns(together, 0, CHILDREN + 1);
	pthread_barrier_wait(&together->barrier);
	for (int child = 0; child < CHILDREN; child++)
		sem_wait(&together->semaphore);
	usleep(100);
	pthread_mutex_lock(&together->mutex); /* a child has it for a while */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	printf("timeout %d ",
	       pthread_cond_timedwait(&together->condition, &together->mutex, &until) == ETIMEDOUT);
	pthread_mutex_unlock(&together->mutex);
	while (wait(NULL) > 0)
		continue;
	printf("turns %d after %d ms\n", together->turn, (int)((now_us() - start) / 1000));
	return pthread_barrier_destroy(&together->barrier) ||
	       pthread_cond_destroy(&together->condition);
}

/* Checks repeatedly for readiness and never waits. Nothing is ready. */
static int part_asks(int argc, char **argv)
{
	unsigned asked = 0, answered = 0;
	int ends[2], wait = epoll_create1(0);
	struct pollfd one;

	(void)argc;
	(void)argv;
	if (pipe(ends) != 0)
		return 1;
	one = (struct pollfd){.fd = ends[0], .events = POLLIN};
	epoll_ctl(wait, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	for (; asked < 300000; asked++) {
		struct timeval now = {0, 0};
		struct epoll_event event;
		fd_set set;

		FD_ZERO(&set);
		FD_SET(ends[0], &set);
		answered += poll(&one, 1, 0) != 0;
		answered += select(ends[0] + 1, &set, NULL, NULL, &now) != 0;
		answered += epoll_wait(wait, &event, 1, 0) != 0;
	}
	printf("asked %u times, %u answers\n", asked, answered);
	return 0;
}

static const struct part {
	const char *name;
	int (*run)(int argc, char **argv);
} parts[] = {{"sleeps", part_sleeps},   {"threads", part_threads},   {"fork", part_fork},
	     {"exit", part_exit},       {"signals", part_signals},   {"server", part_server},
	     {"client", part_client},   {"random", part_random},     {"hidden", part_hidden},
	     {"events", part_events},   {"stuck", part_stuck},       {"shared", part_shared},
	     {"looks", part_looks},     {"tells", part_tells},       {"ids", part_ids},
	     {"timers", part_timers},   {"spin", part_spin},         {"chats", part_chats},
	     {"answers", part_answers}, {"asks", part_asks},         {"ends", part_ends},
	     {"peers", part_peers},     {"children", part_children}, {"ended", part_ended},
	     {"queues", part_queues},   {"locks", part_locks},       {"suspends", part_suspends},
	     {"calls", part_calls},     {"times", part_times},       {"futex", part_futex}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (strcmp(parts[i].name, argv[1]) == 0)
			return parts[i].run(argc, argv);
	return 99;
}
