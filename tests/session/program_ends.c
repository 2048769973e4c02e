/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_ends: ends that take real time. A process that a signal kills has much memory to return.
 * A thread that has ended runs a slow destructor.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/session/program.h"

enum { ROUNDS = 20, THREADS = 3, MEMORY = 32 << 20, STEPS = 2000000 };

static void *pauses(void *argument)
{
	pause();
	return argument;
}

/* Returns true if the child that was killed is no child any more at once. The signal goes to the
 * child or to its group. */
static bool is_gone(bool group)
{
	int ready[2], status;
	pid_t child;
	char byte;

	if (pipe(ready) != 0)
		exit(1);
	child = fork();
	if (child == 0) {
		char *memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_t threads[THREADS];

		if (memory == MAP_FAILED || setpgid(0, 0) != 0)
			_exit(1);
		memset(memory, 1, MEMORY);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, pauses, NULL);
		(void)!write(ready[1], "r", 1);
		pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	close(ready[1]);
	if ((group ? killpg(child, SIGTERM) : kill(child, SIGTERM)) != 0)
		return false;
	return waitpid(child, &status, WNOHANG) == child && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGTERM;
}

static pthread_key_t key;
static volatile bool destroyed;
static sem_t ended;

static void destroy(void *value)
{
	(void)value;
	for (volatile int i = 0; i < STEPS; i++)
		;
	destroyed = true;
}

static void *ends(void *argument)
{
	pthread_setspecific(key, &ended);
	sem_post(&ended);
	return argument;
}

/* Returns true if the destructor of a thread has run a moment after the thread has ended. */
static bool is_destroyed(void)
{
	pthread_attr_t detached;
	pthread_t thread;

	destroyed = false;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_create(&thread, &detached, ends, NULL);
	pthread_attr_destroy(&detached);
	sem_wait(&ended);
	usleep(1);
	return destroyed;
}

int part_ended(int argc, char **argv)
{
	int gone = 0, destructors = 0;

	(void)argc;
	(void)argv;
	pthread_key_create(&key, destroy);
	sem_init(&ended, 0, 0);
	for (int round = 0; round < ROUNDS; round++) {
		gone += is_gone(round % 2);
		destructors += is_destroyed();
	}
	printf("gone %d destroyed %d of %d\n", gone, destructors, ROUNDS);
	return 0;
}
