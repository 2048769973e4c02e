/* SPDX-License-Identifier: Apache-2.0 */
/* input: see input.h. */
#include "sim/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Thread_local bool is_no_file;

FILE *input_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;

	is_no_file = false;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && !S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode))
		return fdopen(fd, "rb");
	is_no_file = true;
	close(fd);
	errno = EINVAL;
	return NULL;
}

const char *input_error(void)
{
	return is_no_file && errno == EINVAL ? "it is a FIFO or a socket; expected a file"
					     : strerror(errno);
}
