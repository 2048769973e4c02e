/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process: children and ends of processes, and their random bytes. A forked child attaches again. A
 * new image attaches when it starts.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/host.h"
#include "verbs-shim/preload/image.h"
#include "verbs-shim/preload/shim.h"

#define RANDOM_BYTES 65536 /* of /dev/urandom each time that it is opened */
#define RANDOM_MODE  01124 /* of no other process, without a link */

extern char **environ;

/* Returns the virtual process id of a child, or 0 if it has none. real_pid: 0 if there is no
 * child. */
static pid_t report_child(pid_t real_pid)
{
	return (pid_t)gate_call(OP_SPAWNED, REQUEST(.spawned = {(uint64_t)real_pid}));
}

EXPORT pid_t fork(void)
{
	pid_t pid, found;

	if (!shim_active())
		return REAL(fork)();
	shim.process->cpus = host_cpus();
	(void)gate_call(OP_SPAWN, REQUEST(.image = {OUTSIDE_NOT, 0}));
	pid = REAL(fork)();
	if (pid == 0) {
		shim_self.slot = NULL;
		timer_forget_all();
		timer_signal_forget_all();
		attach_again(ATTACH_FORK);
		(void)gate_call(OP_START, NULL);
		return 0;
	}
	found = report_child(pid > 0 ? pid : 0);
	return pid > 0 ? found : -1;
}

/* A child of vfork may only call exec or exit. A full copy serves the same purpose. */
EXPORT pid_t vfork(void)
{
	return fork();
}

/* A starting image must be able to read the time stamp counter before its own library intercepts
 * it. */
static void before_exec(uint32_t outside, const char *path)
{
	if (shim_active()) {
		shim.process->cpus = host_cpus();
		(void)gate_call(OP_EXEC, REQUEST(.image = {outside, (uint64_t)(uintptr_t)path}));
	}
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
}

static int exec_failed(int result)
{
	int error = errno;

	if (shim.memory)
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	if (shim_active())
		(void)gate_call(OP_EXEC_FAILED, NULL);
	errno = error;
	return result;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	before_exec(image_check(path, envp), path);
	return exec_failed(REAL(execve)(path, argv, envp));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	char found[PATH_MAX];
	const char *path = image_find(file, found, sizeof(found));

	before_exec(image_check(path, envp), path);
	return exec_failed(REAL(execvpe)(file, argv, envp));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	before_exec(image_check_fd(fd, envp), "a program");
	return exec_failed(REAL(fexecve)(fd, argv, envp));
}

#define GATHER(first)                                                                        \
	const char *arguments[1024] = {first};                                               \
	size_t count = 1;                                                                    \
	va_list list;                                                                        \
	va_start(list, first);                                                               \
	while (arguments[count - 1] && count < 1023 &&                                       \
	       (arguments[count] = va_arg(list, const char *)) != NULL) /* ends with NULL */ \
		count++;

EXPORT int execl(const char *path, const char *first, ...)
{
	GATHER(first)
	va_end(list);
	return execve(path, (char *const *)(uintptr_t)arguments, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	GATHER(first)
	va_end(list);
	return execvpe(file, (char *const *)(uintptr_t)arguments, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *envp;
	GATHER(first)
	envp = va_arg(list, char *const *);
	va_end(list);
	return execve(path, (char *const *)(uintptr_t)arguments, envp);
}

/* libc's own children (posix_spawn, system, popen) start an image at once. */
static int spawned(int result, pid_t *pid)
{
	pid_t real = *pid;

	if (shim.memory)
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	*pid = report_child(result == 0 ? real : 0);
	if (*pid == 0)
		*pid = real;
	return result;
}

static void before_spawn(const char *path, char *const environment[])
{
	shim.process->cpus = host_cpus();
	(void)gate_call(OP_SPAWN, REQUEST(.image = {image_check(path, environment),
						    (uint64_t)(uintptr_t)path}));
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *restrict attributes, char *const argv[],
		       char *const envp[])
{
	pid_t child = 0;
	int result;

	if (!shim_active())
		return REAL(posix_spawn)(pid, path, actions, attributes, argv, envp);
	before_spawn(path, envp);
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	result = spawned(REAL(posix_spawn)(&child, path, actions, attributes, argv, envp), &child);
	if (pid)
		*pid = child;
	return result;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	char found[PATH_MAX];
	pid_t child = 0;
	int result;

	if (!shim_active())
		return REAL(posix_spawnp)(pid, file, actions, attributes, argv, envp);
	before_spawn(image_find(file, found, sizeof(found)), envp);
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	result = spawned(REAL(posix_spawnp)(&child, file, actions, attributes, argv, envp), &child);
	if (pid)
		*pid = child;
	return result;
}

/* Counts the processor time of a child that has ended. */
static void count_child(pid_t pid, struct rusage *usage)
{
	uint32_t number = (uint32_t)(pid - SHIM_FIRST_PID);
	struct cpu_time sum;

	if (number >= SHIM_PROCESSES) /* outside of virtual time */
		return;
	sum = shim.memory->processes[number].cpu;
	cpu_time_add(&sum, &shim.memory->processes[number].children);
	cpu_time_add(&shim.process->children, &sum);
	if (usage)
		*usage = clock_usage(&sum);
}

static pid_t wait_child(idtype_t kind, pid_t pid, int *status, int options, struct rusage *usage)
{
	int how = 0;

	(void)kind;
	shim_self.interrupted = false;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	for (;;) {
		pid_t found = (pid_t)system_call(SYS_wait4, pid > 0 ? ids_real(pid) : pid, &how,
						 options | WNOHANG, usage);

		if (found > 0) {
			found = ids_virtual(found);
			if (status)
				*status = how;
			if (WIFEXITED(how) || WIFSIGNALED(how))
				count_child(found, usage);
		}
		if (found != 0 || (options & WNOHANG))
			return found;
		(void)wait_visible(SHIM_NEVER);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	if (!shim_active())
		return REAL(wait4)(pid > 0 ? ids_real(pid) : pid, status, options, usage);
	return wait_child(P_ALL, pid, status, options, usage);
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	if (!shim_active())
		return REAL(waitpid)(pid > 0 ? ids_real(pid) : pid, status, options);
	return wait_child(P_ALL, pid, status, options, NULL);
}

EXPORT pid_t wait(int *status)
{
	return waitpid(-1, status, 0);
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

static int wait_id(idtype_t kind, id_t id, siginfo_t *info, int options)
{
	siginfo_t found = {0};
	int result;

	shim_self.interrupted = false;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	for (;;) {
		result = (int)system_call(SYS_waitid, kind,
					  kind == P_PID ? (id_t)ids_real((int32_t)id) : id, &found,
					  options | WNOHANG, NULL);
		if (result != 0 || found.si_pid != 0 || (options & WNOHANG))
			break;
		(void)wait_visible(SHIM_NEVER);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
	if (found.si_pid != 0) {
		found.si_pid = ids_virtual(found.si_pid);
		if (!(options & WNOWAIT) &&
		    (found.si_code == CLD_EXITED || found.si_code == CLD_KILLED ||
		     found.si_code == CLD_DUMPED))
			count_child(found.si_pid, NULL);
	}
	if (result == 0 && info)
		*info = found;
	return result;
}

EXPORT int waitid(idtype_t kind, id_t id, siginfo_t *info, int options)
{
	if (!shim_active())
		return REAL(waitid)(kind, id, info, options);
	return wait_id(kind, id, info, options);
}

EXPORT int system(const char *command)
{
	char *const argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
			      (char *)(uintptr_t)command, NULL};
	pid_t pid;
	int status;

	if (!shim_active() || !command)
		return REAL(system)(command);
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
		return -1;
	return waitpid(pid, &status, 0) < 0 ? -1 : status;
}

EXPORT void _exit(int code)
{
	if (shim_active())
		gate_last(OP_EXIT);
	system_call(SYS_exit_group, code);
	__builtin_unreachable();
}

EXPORT void _Exit(int code)
{
	_exit(code);
}

#define STEP UINT64_C(0x9e3779b97f4a7c15)

/* Random numbers that are the same in each run (splitmix64). */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t value = (*state += STEP);

	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* Returns random bytes of the emulated operating system, from a stream of this process. */
static uint64_t random_next(void)
{
	static uint64_t state;

	if (state == 0)
		state = shim.memory->seed * STEP + (uint64_t)getpid();
	return splitmix(&state);
}

void process_seed_image(void)
{
	uint64_t *words = (uint64_t *)getauxval(AT_RANDOM);
	uint64_t state = ~(shim.memory->seed * STEP + (uint64_t)getpid()); /* another stream */

	for (int i = 0; words && i < 2; i++)
		words[i] = splitmix(&state);
}

EXPORT ssize_t getrandom(void *bytes, size_t length, unsigned flags)
{
	if (!shim_active())
		return REAL(getrandom)(bytes, length, flags);
	for (size_t i = 0; i < length; i++)
		((uint8_t *)bytes)[i] = (uint8_t)(random_next() >> 56);
	return (ssize_t)length;
}

static void random_fill(uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(random_next() >> 56);
}

/* Opens /dev/urandom as a file that holds the beginning of the stream, for reads within libc. The
 * mode of the file identifies it. */
int process_random_file(int flags)
{
	uint8_t bytes[4096];
	int fd = (int)system_call(SYS_memfd_create, "random", flags & O_CLOEXEC ? MFD_CLOEXEC : 0U);

	for (uint32_t done = 0; fd >= 0 && done < RANDOM_BYTES; done += sizeof(bytes)) {
		random_fill(bytes, sizeof(bytes));
		(void)!system_call(SYS_pwrite64, fd, bytes, sizeof(bytes), (long)done);
	}
	if (fd >= 0)
		(void)system_call(SYS_fchmod, fd, RANDOM_MODE);
	return fd;
}

/* Opens the file of a random UUID, with a new value for each open, as in Linux (RFC 4122, version
 * 4). */
int process_uuid_file(int flags)
{
	uint64_t high = random_next(), low = random_next();
	char text[64];
	int length = snprintf(text, sizeof(text), "%08x-%04x-4%03x-%04x-%012llx\n",
			      (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff),
			      (unsigned)(high & 0xfff), (unsigned)(low >> 48 & 0x3fff) | 0x8000,
			      (unsigned long long)(low & UINT64_C(0xffffffffffff)));

	return files_of_text("uuid", text, length, flags);
}

bool process_random_is(const struct stat *status)
{
	return status->st_nlink == 0 && status->st_mode == (S_IFREG | RANDOM_MODE) &&
	       status->st_size == RANDOM_BYTES;
}

ssize_t process_random_more(int fd, void *bytes, size_t length, ssize_t result)
{
	struct stat status;

	if (result < 0 || (size_t)result == length || system_call(SYS_fstat, fd, &status) != 0 ||
	    !process_random_is(&status))
		return result;
	random_fill((uint8_t *)bytes + result, length - (size_t)result);
	return (ssize_t)length;
}

static ssize_t stream_read(void *cookie, char *bytes, size_t length)
{
	int fd = (int)(intptr_t)cookie;

	return process_random_more(fd, bytes, length, system_call(SYS_read, fd, bytes, length));
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t length)
{
	(void)cookie;
	(void)bytes;
	return (ssize_t)length;
}

static int stream_close(void *cookie)
{
	return (int)system_call(SYS_close, (int)(intptr_t)cookie);
}

FILE *process_random_stream(const char *mode)
{
	const cookie_io_functions_t functions = {stream_read, stream_write, NULL, stream_close};
	int fd = process_random_file(strchr(mode, 'e') ? O_CLOEXEC : 0);

	return fd < 0 ? NULL : fopencookie((void *)(intptr_t)fd, mode, functions);
}

EXPORT int getentropy(void *bytes, size_t length)
{
	if (!shim_active())
		return REAL(getentropy)(bytes, length);
	return getrandom(bytes, length, 0) == (ssize_t)length ? 0 : -1;
}

/* Since glibc 2.36, which draws these numbers inside libc. */
uint32_t arc4random(void);
void arc4random_buf(void *bytes, size_t length);
uint32_t arc4random_uniform(uint32_t limit);

EXPORT void arc4random_buf(void *bytes, size_t length)
{
	if (shim_active())
		(void)getrandom(bytes, length, 0);
	else
		REAL(arc4random_buf)(bytes, length);
}

EXPORT uint32_t arc4random(void)
{
	uint32_t number;

	arc4random_buf(&number, sizeof(number));
	return number;
}

/* Numbers below 2^32 modulo `limit` would make small results more probable. */
EXPORT uint32_t arc4random_uniform(uint32_t limit)
{
	uint32_t number = 0;

	if (limit < 2)
		return 0;
	do
		number = arc4random();
	while (number < -limit % limit);
	return number % limit;
}

/* A program cannot install a filter of system calls. The filter does not know the calls of the
 * library, and would end the process. The run ends with a warning. */
static int ignore_filter(void)
{
	__atomic_store_n(&shim.memory->filters_ignored, 1, __ATOMIC_RELAXED);
	return 0;
}

long process_seccomp(unsigned operation, unsigned flags, void *arguments)
{
	if (operation != SECCOMP_SET_MODE_STRICT && operation != SECCOMP_SET_MODE_FILTER)
		return system_call(SYS_seccomp, operation, flags, arguments);
	if (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) { /* no descriptor can be returned */
		errno = EINVAL;
		return -1;
	}
	return ignore_filter();
}

EXPORT int prctl(int option, ...)
{
	unsigned long words[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		words[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_SECCOMP && shim.memory)
		return ignore_filter();
	return (int)system_call(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}
