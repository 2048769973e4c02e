/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach: the first step of a process. It finds the simulator by the inherited descriptors,
 * identifies itself, and waits for its first window of virtual time. The socket stays open as a
 * lifeline: when the simulator ends, the process ends.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/host.h"
#include "verbs-shim/preload/names.h"
#include "verbs-shim/preload/processor.h"
#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/trap.h"
#include "verbs-shim/preload/trap_stack.h"

#define LIFELINE_SIGNAL (SIGRTMAX - 2)
#define START_BYTES     (64 << 10) /* of the stack: the start of a process uses fewer */

static const char *wanted_host; /* path of a new image; NULL: unchanged */

void attach_lost(void)
{
	static const char text[] = "hcasim: the simulator is gone; this program ends\n";

	(void)!system_call(SYS_write, 2, text, sizeof(text) - 1);
	system_call(SYS_exit_group, SHIM_EXIT_LOST);
	__builtin_unreachable();
}

void attach_give_up(const char *error)
{
	static const char before[] = "hcasim: ", after[] = "; this program ends\n";

	(void)!system_call(SYS_write, 2, before, sizeof(before) - 1);
	(void)!system_call(SYS_write, 2, error, strlen(error));
	(void)!system_call(SYS_write, 2, after, sizeof(after) - 1);
	system_call(SYS_exit_group, SHIM_EXIT_REFUSED);
	__builtin_unreachable();
}

static void lifeline_check(void)
{
	char byte;

	if (system_call(SYS_recvfrom, shim.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) ==
	    0)
		attach_lost();
}

static void on_lifeline(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	lifeline_check();
}

/* Keeps the library's descriptors above the numbers that the program expects to get. */
static int move_up(int fd)
{
	int moved = (int)system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, SHIM_FIRST_FD);

	if (moved < 0)
		return fd;
	system_call(SYS_close, fd);
	return moved;
}

int attach_receive_fd(void)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header;
	int fd = -1;

	while (system_call(SYS_recvmsg, shim.socket, &message, MSG_CMSG_CLOEXEC) < 0 &&
	       errno == EINTR)
		;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static struct shim_slot *greet(uint32_t kind, struct shim_welcome *reply)
{
	struct shim_attach hello = {SHIM_MAGIC, kind, shim.host, (int32_t)system_call(SYS_getpid),
				    ""};
	size_t name_bytes = kind == ATTACH_IMAGE && wanted_host
				    ? strnlen(wanted_host, sizeof(hello.host_name) - 1)
				    : 0;
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&hello, sizeof(hello)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int pair[2];

	if (name_bytes)
		memcpy(hello.host_name, wanted_host, name_bytes);
	if (system_call(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return NULL;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &pair[1], sizeof(int));
	if (system_call(SYS_sendmsg, shim.attach_fd, &message, MSG_NOSIGNAL) != (long)sizeof(hello))
		return NULL;
	system_call(SYS_close, pair[1]);
	shim.socket = move_up(pair[0]);
	part = (struct iovec){reply, sizeof(*reply)};
	message.msg_controllen = sizeof(control);
	if (system_call(SYS_recvmsg, shim.socket, &message, MSG_CMSG_CLOEXEC) !=
	    (long)sizeof(*reply))
		return NULL;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return NULL;
	memcpy(&shim.queue_fd, CMSG_DATA(header), sizeof(int));
	shim.queue_fd = move_up(shim.queue_fd);
	shim.process = &shim.memory->processes[reply->process];
	memcpy(shim.tree, reply->tree, sizeof(shim.tree));
	return &shim.memory->slots[reply->slot];
}

/* The handler runs on the stack of traps, which the thread must have. The signal arrives at real
 * times. Its frame on the program's stack would change bytes that a program sends without having
 * written them, as perftest's server does. */
static void watch_lifeline(void)
{
	struct sigaction action = {.sa_sigaction = on_lifeline,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigset_t set;

	REAL(sigaction)(LIFELINE_SIGNAL, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, LIFELINE_SIGNAL);
	sigaddset(&set, SIGRTMAX - 1);
	REAL(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
	(void)system_call(SYS_fcntl, shim.socket, F_SETSIG, LIFELINE_SIGNAL);
	(void)system_call(SYS_fcntl, shim.socket, F_SETOWN, (int)system_call(SYS_getpid));
	(void)system_call(SYS_fcntl, shim.socket, F_SETFL, O_ASYNC);
	lifeline_check(); /* the simulator may have ended before */
}

static bool map_queue(void)
{
	/* MAP_NORESERVE: unused pages cost no memory. */
	shim.queue =
		(uint8_t *)system_call(SYS_mmap, NULL, SHIM_QUEUE_BYTES, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_NORESERVE, shim.queue_fd, 0L);
	if (shim.queue == MAP_FAILED)
		return false;
	(void)system_call(SYS_madvise, shim.queue, SHIM_QUEUE_BYTES, MADV_DONTDUMP);
	return true;
}

void attach_again(uint32_t kind)
{
	static struct shim_welcome reply;
	struct shim_slot *slot;

	system_call(SYS_close, shim.socket);
	system_call(SYS_close, shim.queue_fd);
	system_call(SYS_munmap, shim.queue, SHIM_QUEUE_BYTES);
	slot = greet(kind, &reply);
	if (!slot || !map_queue())
		attach_lost();
	trap_stack_install(slot);
	watch_lifeline();
	shim.memory->cpus[slot - shim.memory->slots] = shim.process->cpus;
	gate_start(slot);
}

/* getenv() does not work yet: libc itself comes later. */
static const char *from_environment(char **environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

/* /dev/shm belongs to the host. A program that was started from another host's program still has
 * the /dev/shm of that host. The mount remains unchanged without namespaces, without permission to
 * mount, and if the program sees the machine's /dev/shm. */
static void take_shared_memory(void)
{
	char folder[sizeof(shim.tree) + sizeof("/" SHIM_SHARED_FOLDER)];
	struct stat seen, own;

	snprintf(folder, sizeof(folder), "%s/" SHIM_SHARED_FOLDER, shim.tree);
	if (system_call(SYS_stat, SHIM_SHARED_MEMORY, &seen) != 0 ||
	    system_call(SYS_stat, folder, &own) != 0 || seen.st_dev != own.st_dev ||
	    seen.st_ino == own.st_ino || system_call(SYS_unshare, CLONE_NEWNS) != 0)
		return;
	(void)system_call(SYS_mount, folder, SHIM_SHARED_MEMORY, NULL, MS_BIND, NULL);
}

/* Clears the stack below the caller, as forget_waiting() of gate.c does after each request. The
 * dynamic linker has left times of the machine there, this file numbers of the machine's files, and
 * signals their frames. A program such as perftest sends bytes that it never wrote. */
static void __attribute__((noinline)) forget_start(void)
{
	unsigned char used[START_BYTES];

	memset(used, 0, sizeof(used));
	__asm__ volatile("" : : "r"(used) : "memory"); /* the bytes are needed */
}

/* The first constructor of the process. */
static void __attribute__((constructor)) attach(int count, char **arguments, char **environment)
{
	static struct shim_welcome reply;
	const char *text = from_environment(environment, SHIM_ENVIRONMENT);
	struct shim_slot *slot;
	void *memory;

	(void)count;
	(void)arguments;
	if (!text || sscanf(text, "%d,%d,%u,%lx,%lx", &shim.attach_fd, &shim.memory_fd, &shim.host,
			    &shim.output[0], &shim.output[1]) != 5)
		return;
	memory = (void *)system_call(SYS_mmap, NULL, sizeof(struct shim_memory),
				     PROT_READ | PROT_WRITE, MAP_SHARED, shim.memory_fd, 0L);
	if (memory == MAP_FAILED || ((struct shim_memory *)memory)->magic != SHIM_MAGIC)
		/* the descriptors were closed before attachment: this program runs outside the
		 * simulation */
		return;
	shim.memory = memory;
	wanted_host = from_environment(environment, SHIM_HOST_VARIABLE);
	slot = greet(ATTACH_IMAGE, &reply);
	if (!slot || !map_queue()) {
		shim.memory = NULL;
		return;
	}
	if (reply.host == SHIM_NO_HOST) {
		dprintf(2, "hcasim: %s=%s: no host of the scenario has that name\n",
			SHIM_HOST_VARIABLE, wanted_host);
		_exit(127);
	}
	shim.host = reply.host;
	take_shared_memory();
	/* Rings are shared page by page with the simulator: their pages must not go back to the
	 * operating system unseen. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_ARENA_MAX, 1);
	files_init(shim.tree);
	names_init(reply.hosts, shim.host);
	signal_init();
	trap_init();
	trap_stack_install(slot);
	watch_lifeline();
	shim.memory->cpus[slot - shim.memory->slots] = shim.process->cpus;
	pthread_atfork(NULL, NULL, range_forked);
	gate_start(slot);
	clock_init();
	stdio_init();
	process_seed_image();
	processor_init();
	clock_begin_thread();
	(void)gate_call(OP_START, NULL);
	forget_start();
}

static void __attribute__((destructor)) detach(void)
{
	if (shim_self.slot)
		gate_last(OP_EXIT);
}
