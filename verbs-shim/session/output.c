/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: prints the output of programs line by line, with the name of the host first. The pipes
 * are emptied whenever the token moves to another process after a program ran. Lines of different
 * programs therefore appear in the order of virtual time.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

static void put(struct output *output, const char *name, bool color, const char *text,
		size_t length)
{
	static const int colors[] = {36, 33, 35, 32, 34, 31};
	char line[sizeof(output->line) + 128];
	int used =
		color ? snprintf(line, sizeof(line), "\033[%dm%s|\033[0m %.*s\n",
				 colors[output->host % ARRAY_SIZE(colors)], name, (int)length, text)
		      : snprintf(line, sizeof(line), "%s| %.*s\n", name, (int)length, text);

	for (int written = 0; written < used;) {
		ssize_t count = write(output->to, line + written, (size_t)(used - written));
		if (count < 0 && errno == EAGAIN) {
			struct pollfd room = {output->to, POLLOUT, 0};
			(void)poll(&room, 1, -1);
			continue;
		}
		if (count < 0 && errno != EINTR) {
			output->error = errno == EPIPE ? output->error : errno;
			return;
		}
		written += count > 0 ? (int)count : 0;
	}
}

bool output_read(struct output *output, const char *name, bool color)
{
	ssize_t got =
		read(output->fd, output->line + output->used, sizeof(output->line) - output->used);
	char *start = output->line, *end;

	if (got < 0)
		return false;
	if (got == 0) { /* the last writer is gone */
		if (output->used)
			put(output, name, color, output->line, output->used);
		output->used = 0;
		close(output->fd);
		output->fd = -1;
		return false;
	}
	output->used += (uint32_t)got;
	while ((end = memchr(start, '\n', output->used - (size_t)(start - output->line))) != NULL) {
		put(output, name, color, start, (size_t)(end - start));
		start = end + 1;
	}
	output->used -= (uint32_t)(start - output->line);
	memmove(output->line, start, output->used);
	if (output->used == sizeof(output->line)) { /* a very long line */
		put(output, name, color, output->line, output->used);
		output->used = 0;
	}
	return true;
}

bool output_is_one(void)
{
	struct stat output, error;

	return fstat(1, &output) == 0 && fstat(2, &error) == 0 && output.st_dev == error.st_dev &&
	       output.st_ino == error.st_ino && !isatty(1);
}

void output_drain(struct session *session)
{
	static struct pollfd pipes[2 * SESSION_PROGRAMS];
	uint32_t count = 0;

	session->unread = false;
	for (uint32_t i = 0; i < session->program_count; i++)
		for (int which = 0; which < 2; which++) {
			const struct output *output = &session->programs[i].output[which];
			pipes[count].fd = output->fd > 0 ? output->fd : -1; /* passed over */
			pipes[count].revents = 0;
			pipes[count++].events = POLLIN;
		}
	if (poll(pipes, count, 0) <= 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct program *program = &session->programs[i / 2];
		while (pipes[i].revents && program->output[i % 2].fd > 0 &&
		       output_read(&program->output[i % 2], session->hosts[program->host].name,
				   session->color))
			;
	}
}

int session_output_error(const struct session *session)
{
	int error = 0;

	for (uint32_t i = 0; i < session->program_count; i++)
		for (int which = 0; which < 2; which++)
			error = error ? error : session->programs[i].output[which].error;
	return error;
}
