/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_children: a parent's view of its children. A child is ahead of its parent when it ends,
 * and the parent must not see that before. A child writes lines to a pseudo terminal, and the
 * parent reads them all at once.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/session/program.h"

enum { ROUNDS = 40, CLOCK_READS = 100, LINES = 8 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Takes some real time and no virtual time. */
static void compute(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

/* Returns the time in ns from the child's last clock read to the close of the pipe. The parent
 * reads the clock `reads` times between two checks, so that the times of the checks vary. */
static long long close_of_child(int reads)
{
	volatile uint64_t *last = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pollfd end = {.events = POLLIN};
	int ends[2], status;
	uint64_t seen = 0;

	if (last == MAP_FAILED || pipe(ends) != 0)
		exit(1);
	if (fork() == 0) {
		for (int i = 0; i < CLOCK_READS; i++)
			*last = now_ns();
		_exit(0);
	}
	close(ends[1]);
	end.fd = ends[0];
	while (poll(&end, 1, 0) == 0) {
		compute();
		for (int i = 0; i < reads; i++)
			(void)now_ns();
	}
	seen = now_ns();
	close(ends[0]);
	wait(&status);
	return (long long)seen - (long long)*last;
}

/* Returns how many bytes of LINES lines the first read returns. */
static ssize_t read_terminal(void)
{
	char text[4096], name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY), go[2], done[2], status;
	ssize_t got;

	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
	    ptsname_r(master, name, sizeof(name)) != 0 || pipe(go) != 0 || pipe(done) != 0)
		exit(1);
	if (fork() == 0) {
		int slave = open(name, O_RDWR | O_NOCTTY);

		for (int line = 0; line < LINES; line++)
			if (write(slave, "a line of text\n", 15) != 15)
				_exit(1);
		if (write(done[1], "d", 1) != 1 || read(go[0], text, 1) != 1)
			_exit(1);
		_exit(0);
	}
	if (read(done[0], text, 1) != 1)
		exit(1);
	got = read(master, text, sizeof(text));
	if (write(go[1], "g", 1) != 1)
		exit(1);
	wait(&status);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
	close(master);
	return got;
}

static long microseconds(struct timeval time)
{
	return time.tv_sec * 1000000 + time.tv_usec;
}

/* Prints the user time of a child and of its child, in us, by wait4() and getrusage(). */
static void print_usage(void)
{
	struct rusage before, usage, after;

	getrusage(RUSAGE_CHILDREN, &before);
	if (fork() == 0) {
		if (fork() == 0) {
			for (int i = 0; i < 50 * CLOCK_READS; i++) /* 20 ns each */
				(void)now_ns();
			_exit(0);
		}
		for (int i = 0; i < 100 * CLOCK_READS; i++)
			(void)now_ns();
		waitid(P_ALL, 0, NULL, WEXITED);
		_exit(0);
	}
	wait4(-1, NULL, 0, &usage);
	getrusage(RUSAGE_CHILDREN, &after);
	printf(" usage %ld %ld", microseconds(usage.ru_utime),
	       microseconds(after.ru_utime) - microseconds(before.ru_utime));
}

int part_children(int argc, char **argv)
{
	int early = 0, partial = 0;

	(void)argc;
	(void)argv;
	for (int round = 0; round < ROUNDS; round++) {
		early += close_of_child(round) < 0;
		partial += read_terminal() != LINES * 16; /* CR LF */
	}
	printf("early %d partial %d", early, partial);
	fflush(stdout); /* before fork() */
	print_usage();
	printf("\n");
	return 0;
}
