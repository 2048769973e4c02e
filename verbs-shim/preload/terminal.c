/* SPDX-License-Identifier: Apache-2.0 */
/* terminal: see terminal.h. */
#include "verbs-shim/preload/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "verbs-shim/preload/shim.h"

/* Returns true for the master side of a pseudo terminal that is not in packet mode. */
static bool is_terminal_master(int fd)
{
	struct stat status;
	int packets = 0;

	return system_call(SYS_fstat, fd, &status) == 0 && S_ISCHR(status.st_mode) &&
	       status.st_rdev == makedev(5, 2) /* Linux: /dev/ptmx */ &&
	       system_call(SYS_ioctl, fd, TIOCGPKT, &packets) == 0 && !packets;
}

ssize_t terminal_rest(int fd, uint8_t *bytes, size_t length, ssize_t result)
{
	size_t done;

	if (result <= 0 || (size_t)result == length || !is_terminal_master(fd))
		return result;
	done = (size_t)result;
	while (done < length && wait_is_ready(fd, POLLIN)) {
		result = system_call(SYS_read, fd, bytes + done, length - done);
		if (result <= 0)
			break;
		done += (size_t)result;
	}
	return (ssize_t)done;
}
