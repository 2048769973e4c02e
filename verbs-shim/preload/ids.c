/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids: numbers of processes and threads as programs see them. They are the same in each run. The
 * system's numbers depend on the other processes of the machine. The number of a process follows
 * from its place in shim.memory->processes, and its first thread has the same number. The numbers
 * of other threads follow from their slots, above the numbers of processes. Calls that name a
 * process or a thread convert the program's numbers to the system's.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/sockets.h"

#define FIRST_TID (SHIM_FIRST_PID + SHIM_PROCESSES)

int32_t ids_virtual(int32_t real_pid)
{
	for (uint32_t i = 0; shim.memory && real_pid > 0 && i < SHIM_PROCESSES; i++)
		if (shim.memory->processes[i].real_pid == (uint32_t)real_pid)
			return (int32_t)i + SHIM_FIRST_PID;
	return real_pid;
}

int32_t ids_real(int32_t id)
{
	uint32_t real = 0;

	if (!shim.memory)
		return id;
	if (id >= FIRST_TID && id < FIRST_TID + SHIM_SLOTS)
		real = shim.memory->slots[id - FIRST_TID].tid;
	else if (id >= SHIM_FIRST_PID && id < FIRST_TID)
		real = shim.memory->processes[id - SHIM_FIRST_PID].real_pid;
	return real ? (int32_t)real : id;
}

static int32_t own_pid(void)
{
	return (int32_t)(shim.process - shim.memory->processes) + SHIM_FIRST_PID;
}

int32_t ids_of_thread(const struct shim_slot *slot)
{
	return slot->tid == shim.process->real_pid
		       ? own_pid()
		       : (int32_t)(slot - shim.memory->slots) + FIRST_TID;
}

const struct shim_slot *ids_slot(int32_t id)
{
	uint32_t real = (uint32_t)ids_real(id);

	if (id <= 0 || system_call(SYS_tgkill, shim.process->real_pid, real, 0) != 0)
		return NULL;
	if (id >= FIRST_TID && id < FIRST_TID + SHIM_SLOTS)
		return &shim.memory->slots[id - FIRST_TID];
	for (uint32_t i = 0; i < SHIM_SLOTS; i++)
		if (shim.memory->slots[i].tid == real)
			return &shim.memory->slots[i];
	return NULL;
}

EXPORT pid_t getpid(void)
{
	return shim.process ? own_pid() : (pid_t)system_call(SYS_getpid);
}

EXPORT pid_t getppid(void)
{
	return ids_virtual((pid_t)system_call(SYS_getppid));
}

EXPORT pid_t gettid(void)
{
	return shim_self.id ? shim_self.id : (pid_t)system_call(SYS_gettid);
}

EXPORT int setpgid(pid_t pid, pid_t group)
{
	return (int)system_call(SYS_setpgid, ids_real(pid), ids_real(group));
}

EXPORT pid_t getpgid(pid_t pid)
{
	return ids_virtual((pid_t)system_call(SYS_getpgid, ids_real(pid)));
}

EXPORT pid_t getpgrp(void)
{
	return getpgid(0);
}

EXPORT pid_t getsid(pid_t pid)
{
	return ids_virtual((pid_t)system_call(SYS_getsid, ids_real(pid)));
}

/* Signals. A waiting thread checks again, and finds that its handler must run. */

static int sent(int result)
{
	if (shim_active())
		gate_visible();
	return result;
}

int ids_killed(int result)
{
	if (shim_active()) {
		shim_self.slot->dirty = 1;
		(void)gate_call(OP_KILL, NULL);
	}
	return result;
}

EXPORT int kill(pid_t pid, int number)
{
	int result = (int)system_call(SYS_kill, pid < -1 ? -ids_real(-pid) : ids_real(pid), number);

	return number == 0 ? sent(result) : ids_killed(result);
}

EXPORT int killpg(__pid_t group, int number)
{
	if (group >= 0)
		return kill(-group, number);
	errno = EINVAL;
	return -1;
}

EXPORT int tgkill(pid_t pid, pid_t thread, int number)
{
	int result = (int)system_call(SYS_tgkill, ids_real(pid), ids_real(thread), number);

	return pid == getpid() ? sent(result) : ids_killed(result);
}

EXPORT int sigqueue(pid_t pid, int number, const union sigval value)
{
	return ids_killed(REAL(sigqueue)(ids_real(pid), number, value));
}

EXPORT int pthread_kill(pthread_t thread, int number)
{
	return sent(REAL(pthread_kill)(thread, number));
}

/* Receiver of SIGIO and SIGURG of a descriptor. The simulator sends SIGURG of a modelled socket. */
static void follow_owner(int fd, int result, int32_t owner)
{
	struct shim_socket *record = result == 0 ? sockets_of(fd) : NULL;

	if (record)
		record->owner = owner;
}

bool ids_fcntl(int fd, int command, void *argument, int *result)
{
	struct f_owner_ex owner;
	int32_t id = (int32_t)(intptr_t)argument;

	switch (command) {
	case F_SETOWN:
		id = id < -1 ? -ids_real(-id) : ids_real(id);
		*result = (int)system_call(SYS_fcntl, fd, F_SETOWN, (long)id);
		follow_owner(fd, *result, id);
		return true;
	case F_GETOWN: /* a group's number is negative, which is not an error */
		if (system_call(SYS_fcntl, fd, F_GETOWN_EX, &owner) != 0) {
			*result = -1;
			return true;
		}
		id = ids_virtual(owner.pid);
		*result = owner.type == F_OWNER_PGRP ? -id : id;
		return true;
	case F_SETOWN_EX:
		owner = *(const struct f_owner_ex *)argument;
		owner.pid = ids_real(owner.pid);
		*result = (int)system_call(SYS_fcntl, fd, F_SETOWN_EX, &owner);
		follow_owner(fd, *result, owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid);
		return true;
	case F_GETOWN_EX:
		*result = (int)system_call(SYS_fcntl, fd, F_GETOWN_EX, argument);
		if (*result == 0)
			((struct f_owner_ex *)argument)->pid =
				ids_virtual(((struct f_owner_ex *)argument)->pid);
		return true;
	default:
		return false;
	}
}

/* A tracer would stop threads that have the token, and would see the traps of the library as the
 * program's. */
EXPORT long ptrace(enum __ptrace_request request, ...)
{
	static const char text[] =
		"hcasim: debuggers and tracers (gdb, strace, ltrace) cannot run in a simulated "
		"host; "
		"attach to the program from outside, or use hcasim's --trace and --pcap\n";
	long words[3];
	va_list list;

	va_start(list, request);
	for (int i = 0; i < 3; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (!shim.memory)
		return system_call(SYS_ptrace, request, words[0], words[1], words[2]);
	(void)!system_call(SYS_write, 2, text, sizeof(text) - 1);
	errno = EPERM;
	return -1;
}

/* Scheduling of a process or a thread. */

EXPORT int sched_setscheduler(pid_t id, int policy, const struct sched_param *parameters)
{
	return REAL(sched_setscheduler)(ids_real(id), policy, parameters);
}

EXPORT int sched_getscheduler(pid_t id)
{
	return REAL(sched_getscheduler)(ids_real(id));
}

EXPORT int sched_setparam(pid_t id, const struct sched_param *parameters)
{
	return REAL(sched_setparam)(ids_real(id), parameters);
}

EXPORT int sched_getparam(pid_t id, struct sched_param *parameters)
{
	return REAL(sched_getparam)(ids_real(id), parameters);
}

EXPORT int sched_rr_get_interval(pid_t id, struct timespec *interval)
{
	return REAL(sched_rr_get_interval)(ids_real(id), interval);
}

static id_t priority_of(__priority_which_t which, id_t id)
{
	return which == PRIO_USER ? id : (id_t)ids_real((int32_t)id);
}

EXPORT int getpriority(__priority_which_t which, id_t id)
{
	return REAL(getpriority)(which, priority_of(which, id));
}

EXPORT int setpriority(__priority_which_t which, id_t id, int priority)
{
	return REAL(setpriority)(which, priority_of(which, id), priority);
}
