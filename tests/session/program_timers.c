/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_timers: timers that end in a signal, in a thread or in nothing, each kind once. It prints
 * tenths of milliseconds.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

static const struct itimerspec every = {{0, 5000000},
					{0, 10000000}}; /* after 10 ms, then every 5 ms */
static const struct itimerspec once = {{0, 0}, {0, 10000000}};
static const struct itimerspec never;

static volatile sig_atomic_t taken, last_code, last_value, last_overrun, last_thread;

static void on_timer(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	taken++;
	last_code = info->si_code;
	last_value = info->si_value.sival_int;
	last_overrun = info->si_overrun;
	last_thread = gettid();
}

static unsigned long since(uint64_t start)
{
	return (unsigned long)(now_us() - start) / 100;
}

static int make(timer_t *timer, int notify, int number, int value)
{
	struct sigevent event = {
		.sigev_notify = notify, .sigev_signo = number, .sigev_value = {.sival_int = value}};

	return timer_create(CLOCK_MONOTONIC, &event, timer);
}

/* The timer expires three times. It expires three more times while the signal is blocked, and the
 * signal is then delivered once. */
static int with_signal(void)
{
	uint64_t start = now_us();
	struct itimerspec left;
	timer_t timer;
	sigset_t set;

	if (make(&timer, SIGEV_SIGNAL, SIGUSR1, 7) != 0 ||
	    timer_settime(timer, 0, &every, NULL) != 0)
		return 1;
	while (taken < 3)
		pause();
	printf("signal %lu code %d value %d ", since(start), last_code == SI_TIMER,
	       (int)last_value);
	if (timer_gettime(timer, &left) != 0 || left.it_interval.tv_nsec != 5000000)
		return 2;
	printf("left %ld ", left.it_value.tv_nsec / 100000);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	usleep(16000);
	printf("slept %lu taken %d ", since(start), (int)taken);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("%d overrun %d %d ", (int)taken, (int)last_overrun, timer_getoverrun(timer));
	return timer_delete(timer) != 0 || timer_delete(timer) != -1 || errno != EINVAL ||
	       timer_settime(timer, 0, &every, NULL) != -1;
}

static void *take(void *unused)
{
	sigset_t set;
	siginfo_t info;

	(void)unused;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	return (void *)(intptr_t)(sigwaitinfo(&set, &info) == SIGRTMIN ? info.si_value.sival_int
								       : -1);
}

/* All threads block the signal. A thread that did not make the timer waits for it. */
static int with_waiting_thread(void)
{
	uint64_t start = now_us();
	pthread_t thread;
	timer_t timer;
	sigset_t set;
	void *value;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (make(&timer, SIGEV_SIGNAL, SIGRTMIN, 8) != 0 ||
	    pthread_create(&thread, NULL, take, NULL) != 0 ||
	    timer_settime(timer, 0, &once, NULL) != 0)
		return 1;
	pthread_join(thread, &value);
	printf("waited %lu value %d\n", since(start), (int)(intptr_t)value);
	return timer_delete(timer);
}

static void *wait_for_own(void *timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};

	event._sigev_un._tid = gettid();
	taken = 0;
	if (timer_create(CLOCK_REALTIME, &event, timer) != 0 ||
	    timer_settime(*(timer_t *)timer, 0, &once, NULL) != 0)
		return NULL;
	while (taken == 0)
		pause();
	return (void *)(intptr_t)(last_thread == gettid() && gettid() != getpid());
}

static int with_thread_id(void)
{
	uint64_t start = now_us();
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	pthread_t thread;
	timer_t timer;
	void *own;

	if (pthread_create(&thread, NULL, wait_for_own, &timer) != 0)
		return 1;
	pthread_join(thread, &own);
	printf("own thread %d %lu ", (int)(intptr_t)own, since(start));
	event._sigev_un._tid = 1; /* of another process */
	return timer_delete(timer) != 0 || timer_create(CLOCK_REALTIME, &event, &timer) != -1 ||
	       errno != EINVAL;
}

static volatile int called;
static volatile uint64_t called_at;

static void on_expiry(union sigval value)
{
	called += value.sival_int;
	called_at = now_us();
}

static int with_thread(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
				 .sigev_notify_function = on_expiry,
				 .sigev_value = {.sival_int = 10}};
	uint64_t start = now_us();
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &every, NULL) != 0)
		return 1;
	usleep(22000);
	printf("called %d %lu ", called, (unsigned long)(called_at - start) / 100);
	if (timer_settime(timer, 0, &never, NULL) != 0)
		return 2;
	usleep(20000);
	printf("%d\n", called);
	return timer_delete(timer);
}

/* Nothing is told; the date is absolute. */
static int with_nothing(void)
{
	struct itimerspec date = {{0, 0}, {0, 0}}, left;
	timer_t timer;

	clock_gettime(CLOCK_REALTIME, &date.it_value);
	date.it_value.tv_sec += 2;
	if (timer_create(CLOCK_REALTIME, &(struct sigevent){.sigev_notify = SIGEV_NONE}, &timer) !=
		    0 ||
	    timer_settime(timer, TIMER_ABSTIME, &date, NULL) != 0)
		return 1;
	usleep(500000);
	timer_gettime(timer, &left);
	printf("none %ld ", (long)left.it_value.tv_sec * 10000 + left.it_value.tv_nsec / 100000);
	sleep(2);
	timer_gettime(timer, &left);
	printf("%ld ", (long)left.it_value.tv_sec + left.it_value.tv_nsec);
	return timer_delete(timer);
}

static int with_intervals(void)
{
	const struct itimerval after = {{0, 0}, {0, 10000}};
	struct itimerval left;
	uint64_t start = now_us();

	taken = 0;
	if (setitimer(ITIMER_PROF, &after, NULL) != 0 ||
	    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {1, 0}}, NULL) != 0)
		return 1;
	while (taken == 0)
		pause();
	getitimer(ITIMER_REAL, &left);
	printf("prof %lu real %d ", since(start), (int)(left.it_value.tv_usec / 100));
	printf("alarm %u ", alarm(3));
	printf("%u\n", alarm(0));
	return 0;
}

int part_timers(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
	timer_t timer;
	int status;

	(void)argc;
	(void)argv;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	if (with_signal() != 0)
		return 1;
	if (with_waiting_thread() != 0)
		return 2;
	if (with_thread_id() != 0)
		return 3;
	if (with_thread() != 0)
		return 4;
	if (with_nothing() != 0)
		return 5;
	if (with_intervals() != 0)
		return 6;
	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) != 0 ||
	    timer_settime(timer, 0, &once, NULL) != 0)
		return 7;
	fflush(stdout);
	if (fork() == 0) /* it has no timers, so SIGALRM does not end it */
		_exit(usleep(20000) != 0 || timer_settime(timer, 0, &once, NULL) == 0);
	timer_delete(timer);
	return wait(&status) > 0 && status == 0 ? 0 : 8;
}

static volatile sig_atomic_t suspended_by;

static void on_suspended(int number)
{
	suspended_by = number;
}

/* Tests a signal that is blocked except during a wait, sigsuspend() and waitid(). Times are tenths
 * of milliseconds. */
int part_suspends(int argc, char **argv)
{
	const struct itimerval after = {.it_value = {0, 20000}};
	sigset_t blocked, none;
	siginfo_t info = {0};
	uint64_t start = now_us();
	pid_t child;

	(void)argc;
	(void)argv;
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGALRM, on_suspended);
	setitimer(ITIMER_REAL, &after, NULL);
	if (sigsuspend(&none) != -1 || suspended_by != SIGALRM)
		return 1;
	printf("signal %lu", (unsigned long)(now_us() - start) / 100);
	start = now_us();
	child = fork();
	if (child == 0) {
		usleep(5000);
		_exit(7);
	}
	if (waitid(P_PID, (id_t)child, &info, WEXITED) != 0 || info.si_pid != child)
		return 2;
	printf(" child %d %lu\n", info.si_status, (unsigned long)(now_us() - start) / 100);
	return waitid(P_ALL, 0, &info, WEXITED) != -1 || errno != ECHILD;
}
