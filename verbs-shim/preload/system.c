/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system: system calls. The library calls the system by system_call(). Calls by syscall() use the
 * library's function of that name if the machine's result would differ between runs. In other
 * calls, numbers of processes and threads are converted to the machine's.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/futex.h"
#include "verbs-shim/preload/host.h"
#include "verbs-shim/preload/memory.h"
#include "verbs-shim/preload/shim.h"

enum { WORDS = 6 };

/* Linux returns an error as -errno, at least -4095. */
#define ERRORS_FROM (~0UL - 4094)

static long enter(long number, const long words[WORDS])
{
	register long fourth __asm__("r10") = words[3];
	register long fifth __asm__("r8") = words[4];
	register long sixth __asm__("r9") = words[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(fourth),
			   "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	if ((unsigned long)result < ERRORS_FROM)
		return result;
	errno = (int)-result;
	return -1;
}

/* The maximum number of words of a call. Missing words are ignored. */
#define GATHER(words, last)                              \
	do {                                             \
		va_list list;                            \
		va_start(list, last);                    \
		for (int i = 0; i < WORDS; i++)          \
			(words)[i] = va_arg(list, long); \
		va_end(list);                            \
	} while (0)

long system_call(long number, ...)
{
	long words[WORDS];

	GATHER(words, number);
	return enter(number, words);
}

long system_look(long number, ...)
{
	long words[WORDS], result;

	GATHER(words, number);
	do
		result = enter(number, words);
	while (result < 0 && errno == EINTR && !shim_self.interrupted);
	return result;
}

/* Which words of a call are numbers of processes or threads: a bit each. */
static unsigned ids_in(long number, const long words[WORDS])
{
	switch (number) {
	case SYS_tkill:
	case SYS_rt_sigqueueinfo:
	case SYS_sched_setscheduler:
	case SYS_sched_getscheduler:
	case SYS_sched_setparam:
	case SYS_sched_getparam:
	case SYS_sched_setattr:
	case SYS_sched_getattr:
	case SYS_sched_rr_get_interval:
	case SYS_pidfd_open:
		return 1U << 0;
	case SYS_rt_tgsigqueueinfo:
		return 1U << 0 | 1U << 1;
	case SYS_getpriority:
	case SYS_setpriority:
		return words[0] == PRIO_USER ? 0 : 1U << 1;
	case SYS_ioprio_get: /* its kinds count from 1 */
	case SYS_ioprio_set:
		return words[0] == PRIO_USER + 1 ? 0 : 1U << 1;
	default:
		return 0;
	}
}

EXPORT long syscall(long number, ...)
{
	long words[WORDS], result;
	unsigned ids;

	GATHER(words, number);
	if (!shim.memory)
		return enter(number, words);
	switch (number) {
	case SYS_getpid:
		return getpid();
	case SYS_getppid:
		return getppid();
	case SYS_gettid:
		return gettid();
	case SYS_kill:
		return kill((pid_t)words[0], (int)words[1]);
	case SYS_tgkill:
		return tgkill((pid_t)words[0], (pid_t)words[1], (int)words[2]);
	case SYS_getpgid:
		return getpgid((pid_t)words[0]);
	case SYS_getpgrp:
		return getpgrp();
	case SYS_setpgid:
		return setpgid((pid_t)words[0], (pid_t)words[1]);
	case SYS_getrandom:
		return getrandom((void *)words[0], (size_t)words[1], (unsigned)words[2]);
	case SYS_clock_gettime:
		return clock_gettime((clockid_t)words[0], (struct timespec *)words[1]);
	case SYS_sched_yield:
		return sched_yield();
	case SYS_sched_setaffinity:
		return sched_setaffinity((pid_t)words[0], (size_t)words[1],
					 (const cpu_set_t *)words[2]);
	case SYS_sched_getaffinity:
		return host_affinity((pid_t)words[0], (size_t)words[1], (void *)words[2]);
	case SYS_getcpu:
		return getcpu((unsigned *)words[0], (unsigned *)words[1]);
	case SYS_uname:
		return uname((struct utsname *)words[0]);
	case SYS_sysinfo:
		return sysinfo((struct sysinfo *)words[0]);
	case SYS_getrlimit:
		return getrlimit((__rlimit_resource_t)words[0], (struct rlimit *)words[1]);
	case SYS_setrlimit:
		return setrlimit((__rlimit_resource_t)words[0], (const struct rlimit *)words[1]);
	case SYS_prlimit64:
		return prlimit((pid_t)words[0], (enum __rlimit_resource)words[1],
			       (const struct rlimit *)words[2], (struct rlimit *)words[3]);
	case SYS_shmget:
		return shmget((key_t)words[0], (size_t)words[1], (int)words[2]);
	case SYS_flock:
		return flock((int)words[0], (int)words[1]);
	case SYS_fcntl:
		return fcntl((int)words[0], (int)words[1], words[2]);
	case SYS_mmap:
		return (long)memory_map((void *)words[0], (size_t)words[1], (int)words[2],
					(int)words[3], (int)words[4], words[5]);
	case SYS_munmap:
		return memory_unmap((void *)words[0], (size_t)words[1]);
	case SYS_mremap:
		return (long)memory_remap((void *)words[0], (size_t)words[1], (size_t)words[2],
					  (int)words[3], (void *)words[4]);
	case SYS_shmat:
		return (long)memory_attach((int)words[0], (const void *)words[1], (int)words[2]);
	case SYS_shmdt:
		return memory_detach((const void *)words[0]);
	case SYS_process_vm_readv:
		return process_vm_readv((pid_t)words[0], (const struct iovec *)words[1],
					(unsigned long)words[2], (const struct iovec *)words[3],
					(unsigned long)words[4], (unsigned long)words[5]);
	case SYS_process_vm_writev:
		return process_vm_writev((pid_t)words[0], (const struct iovec *)words[1],
					 (unsigned long)words[2], (const struct iovec *)words[3],
					 (unsigned long)words[4], (unsigned long)words[5]);
	case SYS_io_uring_setup: /* its calls would run by themselves, unseen */
		errno = ENOSYS;
		return -1;
	case SYS_prctl:
		return prctl((int)words[0], words[1], words[2], words[3], words[4]);
	case SYS_seccomp:
		return process_seccomp((unsigned)words[0], (unsigned)words[1], (void *)words[2]);
	case SYS_futex:
		if (shim_active() && futex_call(words, &result))
			return result;
		break;
	case SYS_read:
		return read((int)words[0], (void *)words[1], (size_t)words[2]);
	case SYS_write:
		return write((int)words[0], (const void *)words[1], (size_t)words[2]);
	case SYS_poll:
		return poll((struct pollfd *)words[0], (nfds_t)words[1], (int)words[2]);
	case SYS_nanosleep:
		return nanosleep((const struct timespec *)words[0], (struct timespec *)words[1]);
	case SYS_epoll_wait:
		return epoll_wait((int)words[0], (struct epoll_event *)words[1], (int)words[2],
				  (int)words[3]);
	default:
		break;
	}
	ids = ids_in(number, words);
	for (int i = 0; i < WORDS; i++)
		if (ids & 1U << i)
			words[i] = ids_real((int32_t)words[i]);
	result = enter(number, words);
	return number == SYS_rt_sigqueueinfo || number == SYS_pidfd_send_signal
		       ? ids_killed((int)result)
		       : result;
}
