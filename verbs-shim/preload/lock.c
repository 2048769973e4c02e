/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock: locks of files, as flock() and fcntl() have them. No thread waits for a lock in the
 * operating system while it has the token. A thread that finds the lock taken checks again after
 * another thread did something visible, such as a release.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

/* Returns true if a failed attempt may be repeated. Returns false if it would fail again, or a
 * signal arrived (errno). */
static bool wait_for_lock(void)
{
	if (errno != EAGAIN && errno != EACCES)
		return false;
	(void)wait_visible(SHIM_NEVER);
	if (shim_self.interrupted)
		errno = EINTR;
	return !shim_self.interrupted;
}

/* Reports a released or shared lock, for which other threads may wait. */
static int changed(int result, bool gives)
{
	if (result == 0 && gives)
		gate_visible();
	return result;
}

EXPORT int flock(int fd, int operation)
{
	int result;

	if (!shim_active())
		return REAL(flock)(fd, operation);
	wait_begin();
	do
		result = (int)system_call(SYS_flock, fd, operation | LOCK_NB);
	while (result < 0 && !(operation & LOCK_NB) && wait_for_lock());
	return changed(result, !(operation & LOCK_EX));
}

bool lock_is_command(int command)
{
	switch (command) {
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return true;
	default:
		return false;
	}
}

static int ask_holder(int fd, int command, struct flock *record)
{
	int result = (int)system_call(SYS_fcntl, fd, command, record);

	if (result == 0 && record->l_type != F_UNLCK)
		record->l_pid = ids_virtual(record->l_pid);
	return result;
}

int lock_record(int fd, int command, struct flock *record)
{
	bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
	int result;

	wait_begin();
	if (command == F_GETLK || command == F_OFD_GETLK)
		return ask_holder(fd, command, record);
	if (waits)
		command = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
	do
		result = (int)system_call(SYS_fcntl, fd, command, record);
	while (result < 0 && waits && wait_for_lock());
	return changed(result, record->l_type != F_WRLCK);
}

EXPORT int lockf(int fd, int command, off_t length)
{
	struct flock record = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};

	switch (command) {
	case F_TEST:
		record.l_type = F_RDLCK;
		if (fcntl(fd, F_GETLK, &record) < 0)
			return -1;
		if (record.l_type == F_UNLCK || record.l_pid == getpid())
			return 0;
		errno = EACCES;
		return -1;
	case F_ULOCK:
		record.l_type = F_UNLCK;
		return fcntl(fd, F_SETLK, &record);
	case F_LOCK:
		return fcntl(fd, F_SETLKW, &record);
	case F_TLOCK:
		return fcntl(fd, F_SETLK, &record);
	default:
		errno = EINVAL;
		return -1;
	}
}

EXPORT int lockf64(int fd, int command, off_t length)
{
	return lockf(fd, command, length);
}
