/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program_locks: processes that wait for each other's locks of one file: flock(), records of
 * fcntl() and lockf(), and locks of open file descriptions. The calls go through libc and through
 * syscall().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/session/program.h"

static int of_record(int fd, int command, short type)
{
	struct flock record = {.l_type = type, .l_whence = SEEK_SET, .l_start = 100, .l_len = 8};

	return fcntl(fd, command, &record);
}

static int lock_whole(int fd)
{
	return flock(fd, LOCK_EX);
}

static int unlock_whole(int fd)
{
	return flock(fd, LOCK_UN);
}

static int share_whole(int fd)
{
	return flock(fd, LOCK_SH);
}

static int lock_record(int fd)
{
	return of_record(fd, F_SETLKW, F_WRLCK);
}

static int unlock_record(int fd)
{
	return of_record(fd, F_SETLK, F_UNLCK);
}

static int lock_open(int fd)
{
	return of_record(fd, F_OFD_SETLKW, F_WRLCK);
}

static int unlock_open(int fd)
{
	return of_record(fd, F_OFD_SETLK, F_UNLCK);
}

static int lock_rest(int fd)
{
	return lockf(fd, F_LOCK, 0);
}

static int unlock_rest(int fd)
{
	return lockf(fd, F_ULOCK, 0);
}

static int lock_by_number(int fd)
{
	return (int)syscall(SYS_flock, fd, LOCK_EX);
}

static int keep(int fd) /* until the process ends */
{
	(void)fd;
	return 0;
}

static const struct kind {
	const char *name;
	int (*lock)(int fd);
	int (*wait)(int fd);
	int (*unlock)(int fd);
} kinds[] = {
	{"whole", lock_whole, lock_whole, unlock_whole},
	{"shared", lock_whole, share_whole, share_whole},
	{"record", lock_record, lock_record, unlock_record},
	{"open", lock_open, lock_open, unlock_open},
	{"lockf", lock_rest, lock_rest, unlock_rest},
	{"number", lock_by_number, lock_by_number, unlock_whole},
	{"end", lock_record, lock_record, keep},
	{"close", lock_whole, lock_whole, close},
};

/* A child takes the lock and releases it after 5 ms. Returns the tenths of milliseconds until the
 * parent has the lock. */
static bool meet(const struct kind *kind, const char *path)
{
	uint64_t start = now_us();
	pid_t child = fork();
	int fd = open(path, O_RDWR | O_CREAT, 0600), status;

	if (fd < 0)
		return false;
	if (child == 0) {
		if (kind->lock(fd) != 0)
			_exit(1);
		usleep(5000);
		if (kind->unlock(fd) != 0)
			_exit(2);
		usleep(kind->unlock == keep ? 0 : 5000);
		_exit(0);
	}
	usleep(1000);
	if (kind->wait(fd) != 0)
		return false;
	printf("%s %lu ", kind->name, (unsigned long)(now_us() - start) / 100);
	close(fd);
	return waitpid(child, &status, 0) == child && status == 0;
}

/* Tests the owner of the lock, by its number in the run. Also tests calls that do not wait. */
static bool ask(const char *path)
{
	struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR), status;
	pid_t child = fork();

	if (child == 0) {
		usleep(lock_rest(fd) == 0 ? 3000 : 0);
		_exit(0);
	}
	usleep(1000);
	if (fcntl(fd, F_GETLK, &record) != 0 || record.l_pid != child)
		return false;
	printf("holder %d tries", record.l_pid == child);
	printf(" %d", lockf(fd, F_TEST, 0) == -1 && errno == EACCES);
	printf(" %d", lockf(fd, F_TLOCK, 0) == -1 && errno == EAGAIN);
	printf(" %d\n", of_record(fd, F_SETLK, F_WRLCK) == -1 && errno == EAGAIN);
	return waitpid(child, &status, 0) == child;
}

int part_locks(int argc, char **argv)
{
	char path[] = "/tmp/hcasim-locks-XXXXXX";
	int fd = mkstemp(path);
	bool good = fd >= 0;

	(void)argc;
	(void)argv;
	close(fd);
	for (size_t i = 0; good && i < sizeof(kinds) / sizeof(*kinds); i++)
		good = meet(&kinds[i], path);
	good = good && ask(path);
	unlink(path);
	return !good;
}
