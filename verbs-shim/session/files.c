/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: descriptors of the emulated kernel in programs. A device is a memfd, which the program
 * maps for its doorbell pages. A channel is a pipe, whose unread events can be counted. rdma_cm is
 * a message socket.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

#define COMMAND_BYTES ((off_t)1 << 44) /* offsets of doorbell pages are sparse */

static struct session_file *file_find(struct kernel_host *base, const struct kernel_file *file)
{
	struct session *session = container_of(base, struct session_host, base)->session;

	for (uint32_t i = 0; i < SESSION_FILES; i++)
		if (session->files[i].file == file)
			return &session->files[i];
	return NULL;
}

static void channel_write(struct kernel_host *base, struct kernel_file *file, const void *bytes,
			  uint32_t length)
{
	struct session *session = container_of(base, struct session_host, base)->session;
	const struct session_file *record = file_find(base, file);

	if (!record)
		return; /* its last descriptor is gone */
	if (write(record->near, bytes, length) != (ssize_t)length)
		session_note(session, record->host, "an event channel is full; an event was lost");
	session_visible(session, sim_now(session->sim));
}

static uint32_t channel_unread(struct kernel_host *base, struct kernel_file *file)
{
	const struct session_file *record = file_find(base, file);
	int bytes = 0;

	if (record && ioctl(record->far, FIONREAD, &bytes) != 0)
		bytes = 0;
	return (uint32_t)bytes;
}

static void channel_discard(struct kernel_host *base, struct kernel_file *file)
{
	const struct session_file *record = file_find(base, file);
	uint32_t left = channel_unread(base, file);
	char bytes[4096];

	while (record && left > 0) {
		ssize_t got = read(record->far, bytes, left < sizeof(bytes) ? left : sizeof(bytes));
		if (got <= 0)
			return;
		left -= (uint32_t)got;
	}
}

static uint64_t inode_of(struct session *session, struct kernel_process *kernel, int32_t number)
{
	struct process *process = container_of(kernel, struct process, kernel);
	char path[64];
	struct stat status;

	(void)session;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", process->real_pid, number);
	if (number < 0 || stat(path, &status) != 0)
		return 0;
	return (uint64_t)status.st_dev << 40 ^ (uint64_t)status.st_ino;
}

static struct kernel_file *file_of(struct kernel_host *base, struct kernel_process *process,
				   int32_t number)
{
	struct session *session = container_of(base, struct session_host, base)->session;
	uint64_t inode = inode_of(session, process, number);

	for (uint32_t i = 0; inode != 0 && i < SESSION_FILES; i++)
		if (session->files[i].file && session->files[i].inode == inode)
			return session->files[i].file;
	return NULL;
}

static uint64_t file_identity(struct kernel_host *base, struct kernel_process *process,
			      int32_t number)
{
	return inode_of(container_of(base, struct session_host, base)->session, process, number);
}

static void not_modelled(struct kernel_host *base, const char *what, int error)
{
	struct session_host *host = container_of(base, struct session_host, base);
	char text[160];

	snprintf(text, sizeof(text), "not modelled: %s (answered: %s)", what,
		 strerror(error < 0 ? -error : error));
	session_note(host->session, host->number, text);
}

void files_init_host(struct session_host *host)
{
	host->base =
		(struct kernel_host){channel_write, channel_unread, channel_discard,      file_of,
				     file_identity, not_modelled,   SESSION_REALTIME_BASE};
}

uint32_t files_add(struct session *session, uint32_t host, const struct kernel_new_file *new_file,
		   struct process *process)
{
	int ends[2] = {-1, -1};
	struct stat status;

	for (uint32_t i = 0; i < SESSION_FILES; i++) {
		struct session_file *file = &session->files[i];

		if (file->file)
			continue;
		switch (new_file->kind) {
		case KERNEL_FD_COMMAND:
			ends[0] = memfd_create("hcasim-device", MFD_CLOEXEC);
			if (ends[0] < 0 || ftruncate(ends[0], COMMAND_BYTES) != 0)
				return 0;
			ends[1] = ends[0];
			break;
		case KERNEL_FD_CHANNEL:
			if (pipe2(ends, O_CLOEXEC) != 0)
				return 0;
			(void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
			(void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
			break;
		case KERNEL_FD_MESSAGE:
		case KERNEL_FD_NETLINK:
			if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
				return 0;
			(void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
			break;
		}
		if (fstat(ends[0], &status) != 0)
			return 0;
		*file = (struct session_file){.file = new_file->file,
					      .host = host,
					      .kind = new_file->kind,
					      .far = ends[0],
					      .near = ends[1],
					      .inode = (uint64_t)status.st_dev << 40 ^
						       (uint64_t)status.st_ino};
		file->holders[process->number] = 1;
		return i + 1;
	}
	return 0;
}

struct session_file *files_get(struct session *session, uint64_t id)
{
	if (id < 1 || id > SESSION_FILES || !session->files[id - 1].file)
		return NULL;
	return &session->files[id - 1];
}

static void release(struct session_file *file)
{
	close(file->far);
	if (file->near != file->far)
		close(file->near);
	*file = (struct session_file){.file = NULL};
}

void files_drop(struct session *session, struct process *process, struct session_file *file)
{
	struct kernel_call call = {.process = &process->kernel};

	(void)session;
	file->holders[process->number] = 0;
	for (uint32_t i = 0; i < SHIM_PROCESSES; i++)
		if (file->holders[i])
			return;
	kernel_close(file->file, &call);
	release(file);
}

void files_process_gone(struct session *session, struct process *process)
{
	for (uint32_t i = 0; i < SESSION_FILES; i++) {
		struct session_file *file = &session->files[i];
		bool held = false;

		if (!file->file || !file->holders[process->number])
			continue;
		file->holders[process->number] = 0;
		for (uint32_t other = 0; other < SHIM_PROCESSES; other++)
			held |= file->holders[other] != 0;
		if (!held)
			release(file); /* the kernel released it in kernel_process_exit() */
	}
}

void files_inherit(struct session *session, const struct process *from, const struct process *to)
{
	for (uint32_t i = 0; i < SESSION_FILES; i++)
		if (session->files[i].file && session->files[i].holders[from->number])
			session->files[i].holders[to->number] = 1;
}
