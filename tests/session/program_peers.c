/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_peers: communication between two processes of a host: memory that both poll, and signals
 * with values.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

enum { ROUNDS = 100 };

struct board {
	volatile uint32_t asked, answered;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_for(const volatile uint32_t *word, uint32_t value, bool by_clock)
{
	while (*word != value)
		if (by_clock)
			(void)now_ns();
}

/* Returns the duration of a round trip after the first one. */
static uint64_t rally(struct board *board, bool by_clock)
{
	uint64_t begun = 0;
	pid_t child;

	*board = (struct board){0, 0};
	child = fork();
	if (child == 0) {
		for (uint32_t round = 1; round <= ROUNDS + 1; round++) {
			wait_for(&board->asked, round, by_clock);
			board->answered = round;
		}
		_exit(0);
	}
	for (uint32_t round = 1; round <= ROUNDS + 1; round++) {
		board->asked = round;
		wait_for(&board->answered, round, by_clock);
		if (round == 1)
			begun = now_ns();
	}
	begun = now_ns() - begun;
	(void)waitpid(child, NULL, 0);
	return begun / ROUNDS;
}

int part_peers(int argc, char **argv)
{
	struct board *mapped =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	struct board *attached = shmat(segment, NULL, 0);

	(void)argc;
	(void)argv;
	shmctl(segment, IPC_RMID, NULL);
	if (mapped == MAP_FAILED || attached == (void *)-1)
		return 1;
	printf("mapped %lu ", (unsigned long)rally(mapped, false));
	printf("attached %lu ", (unsigned long)rally(attached, false));
	printf("by clocks %lu\n", (unsigned long)rally(mapped, true));
	return shmdt(attached) != 0 || munmap(mapped, 4096) != 0;
}

static volatile sig_atomic_t values[8], taken;

static void on_value(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (taken < 8)
		values[taken] = info->si_value.sival_int;
	taken = taken + 1;
}

/* All instances of a real-time signal arrive, in their order. Only one instance of another signal
 * arrives. */
int part_queues(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
	pid_t child;

	(void)argc;
	(void)argv;
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	child = fork();
	if (child == 0) {
		usleep(1000);
		for (int value = 1; value <= 3; value++)
			sigqueue(getppid(), SIGRTMIN, (union sigval){.sival_int = value});
		for (int value = 4; value <= 6; value++)
			sigqueue(getppid(), SIGUSR1, (union sigval){.sival_int = value});
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0)
		;
	printf("taken %d:", (int)taken);
	for (int i = 0; i < taken && i < 8; i++)
		printf(" %d", (int)values[i]);
	printf("\n");
	return 0;
}
