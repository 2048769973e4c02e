/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers: see leftovers.h. */
#include "hcasim/record/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "sim/block.h"
#include "sim/memory.h"

/* A lock is tried again for this time. The processes of a sweep that was killed hold it for a
 * moment. */
#define PATIENCE_NS    2000000000L
#define PATIENCE_TRIES 100

static const char *watched, *watched_folder;
static volatile size_t watched_count;
static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* Removes the registered files. Calls only functions that are safe in a signal handler. */
static void remove_all(void)
{
	for (size_t i = 0; i < watched_count; i++)
		if (watched[i * PATH_MAX] != '\0')
			unlink(&watched[i * PATH_MAX]);
	if (watched_count > 0 && watched_folder)
		rmdir(watched_folder);
}

static void end_by_signal(int number)
{
	remove_all();
	signal(number, SIG_DFL);
	raise(number);
}

/* Signals with a handler are skipped, because such handlers end in good order. */
void leftovers_watch(const char *paths, size_t count, const char *folder)
{
	watched = paths;
	watched_folder = folder;
	watched_count = count;
	memory_before_end = remove_all;
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++) {
		struct sigaction now;
		if (sigaction(end_signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			signal(end_signals[i], end_by_signal);
	}
}

void leftovers_leave(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++) {
		struct sigaction now;
		if (sigaction(end_signals[i], NULL, &now) == 0 && now.sa_handler == end_by_signal)
			signal(end_signals[i], SIG_DFL);
	}
	memory_before_end = NULL;
	watched_count = 0;
}

static int lock(const char *folder, int kind, char *error, size_t error_bytes)
{
	const struct timespec pause = {.tv_nsec = PATIENCE_NS / PATIENCE_TRIES};
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < PATIENCE_TRIES; i++) {
		if (flock(fd, kind | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0 && errno != EWOULDBLOCK) /* a file system without locks */
		return fd;
	if (fd < 0) {
		snprintf(error, error_bytes, "%s: %s", folder, strerror(errno));
		return -1;
	}
	snprintf(error, error_bytes,
		 "%s: another hcasim is writing to this folder; expected another folder", folder);
	close(fd);
	return -1;
}

int leftovers_lock(const char *folder, char *error, size_t error_bytes)
{
	return lock(folder, LOCK_EX, error, error_bytes);
}

int leftovers_share(const char *folder, char *error, size_t error_bytes)
{
	return lock(folder, LOCK_SH, error, error_bytes);
}
