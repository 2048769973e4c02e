/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim: definitions for all files of the preloaded library. It sits between a program and libc. It
 * handles files, memory, clocks, waits, threads and processes, but not verbs.
 *
 *     attach.c     connection to the simulator, at the start of each process
 *     gate.c       hand-over and return of the execution token, with a request
 *     token.c      wait for the token
 *     clock.c      clocks and sleeps
 *     timer.c      timerfd, and waits for a signal
 *     timer_signal.c  setitimer(), timer_create()
 *     wait.c       calls that block in the operating system
 *     stdio.c      blocking calls that libc makes for its streams
 *     sockets.c    modelled TCP sockets
 *     transfer.c   other calls that may block: vectors, splice(), message queues
 *     device.c     files of the emulated kernel
 *     files.c      paths of the simulated host
 *     lock.c       locks of files
 *     memory.c     mapped memory, and memory that processes share
 *     trap*.c      doorbell stores, polled memory, rdtsc
 *     range.c      memory whose accesses trap
 *     thread.c     threads, locks, conditions
 *     thread_c11.c <threads.h>
 *     process.c    fork, exec, exit
 *     ids.c        numbers of processes and threads
 *     image.c      check that a program can load the library
 *     signal.c     handlers of the program
 *     system.c     system calls of the program and of the library
 *     checked.c    names that _FORTIFY_SOURCE and libc itself use
 *
 * A thread without a slot gets plain libc behaviour: the library is not attached, or the thread is
 * not part of the run.
 */
#ifndef VERBS_SHIM_PRELOAD_SHIM_H
#define VERBS_SHIM_PRELOAD_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

#include "verbs-shim/protocol.h"

#define EXPORT __attribute__((visibility("default")))

/* Returns libc's own function of that name. */
#define REAL(name)                                                          \
	({                                                                  \
		static __typeof__(&name) real_;                             \
		if (!real_)                                                 \
			real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		real_;                                                      \
	})

/* State of this process. */
struct shim {
	/* Memory that all processes share with the simulator. NULL: this process is not
	 * attached. */
	struct shim_memory *memory;
	/* Entry of this process in it. */
	struct shim_process *process;
	/* Number of the host. */
	uint32_t host;
	/* The simulator's end closes when the simulator dies. */
	int socket;
	/* Queue memory. It is always readable and writable. */
	uint8_t *queue;
	int queue_fd;
	/* Descriptors by which a new image attaches. -1: none. */
	int attach_fd, memory_fd;
	/* The directory that stands for /. */
	char tree[160];
	/* Inodes of the pipes that take the output of the program. */
	ino_t output[2];
};

/* State of a thread. */
struct shim_self {
	/* NULL: the thread runs with plain libc. */
	struct shim_slot *slot;
	/* Thread id as programs see it. 0: the library does not know this thread. */
	int32_t id;
	/* Clock at which it gave up its slot. */
	uint64_t ended_at;
	/* Clock from which it may post again. */
	uint64_t posts_from;
	/* Processor time, and the clock until which it is counted, ps. */
	struct cpu_time cpu;
	uint64_t counted;
	/* Parts of the time after `counted`. */
	uint64_t charges[CPU_KIND_COUNT];
	/* Depth of calls in the library. Signals that arrive then must not enter it again. */
	uint32_t inside;
	/* A handler of the program ran since the last wait began. */
	bool interrupted;
	/* Signals that wait until this thread has the token. */
	uint32_t deferred;
	/* The thread is about to pass memory to a system call. The memory must not be protected. */
	bool reaches;
	/* In a trap: the library executes the program's instructions. */
	bool carrying;
	/* The program itself has not run since the token came, so it has printed nothing. */
	bool quiet;
};

extern struct shim shim;
extern __thread struct shim_self shim_self;

static inline bool shim_active(void)
{
	return shim_self.slot && !shim_self.inside;
}

/* gate.c */
/* Arguments of a request, as gate_call() takes them: REQUEST(.sleep = {deadline}). */
#define REQUEST(...) (&(union shim_request){__VA_ARGS__})
/* Hands over a request and waits for the reply. Returns its result. request: NULL if the operation
 * has no arguments. */
int64_t gate_call(enum shim_op op, const union shim_request *request);
/* Hands over a request without a reply. OP_EXIT returns at the virtual time of the end. Only then
 * are the descriptors closed, and only then does the parent get SIGCHLD. */
void gate_last(enum shim_op op);
/* Enclose a section that no signal may interrupt: pages that move, ranges that change. Handlers of
 * the program wait. No quantum ends, because it would protect pages that are being released. */
void gate_enter(void);
void gate_leave(void);
void gate_start(struct shim_slot *slot);
/* Adds processor time of a kind. gate_charge() then returns the token if the clock has reached the
 * horizon. After gate_add() the caller makes a request. */
void gate_add(enum cpu_kind kind, uint64_t cost);
void gate_charge(enum cpu_kind kind, uint64_t cost);
/* Stores at most SHIM_BYTES to a doorbell page at the current time. Returns true if the store waits
 * for the next request, false if it was handed over. */
bool gate_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length);
/* other programs may now see the actions of this program in the operating system */
void gate_visible(void);
void gate_count(void); /* processor time until now: of thread, process and core */
static inline uint64_t gate_now(void)
{
	return shim_self.slot->clock;
}

/* attach.c */
void attach_again(uint32_t kind); /* for a forked child */
void attach_lost(void) __attribute__((noreturn));
/* Prints the reason and ends the program, which cannot continue. */
void attach_give_up(const char *error) __attribute__((noreturn));
int attach_receive_fd(void);

/* wait.c */
void wait_begin(void);                /* before a system call that may wait */
bool wait_visible(uint64_t deadline); /* true: the deadline has passed */
bool wait_for_any(uint64_t deadline); /* also for any modelled socket */
/* Waits until something happens to that socket. Returns true when the socket's timeout for the
 * events ends. */
bool wait_for_socket(int fd, short events);
/* Waits for events of poll(2). Returns false with errno EINTR for a signal, or EAGAIN when the
 * socket's timeout ends. */
bool wait_for(int fd, short events);
bool wait_is_plain(
	/* the descriptor never blocks, and no other program of the run has its other end */
	int fd);
/* Writes to such a descriptor. Output of the run always has room. */
ssize_t wait_write_plain(int fd, const void *bytes, size_t length);
bool wait_is_blocking(int fd);
bool wait_is_ready(int fd, short events); /* poll(2) without waiting */ /* no O_NONBLOCK */

/* stdio.c */
void stdio_init(void);

/* lock.c */
struct flock;
bool lock_is_command(int command); /* of fcntl() */
int lock_record(int fd, int command, struct flock *record);

/* Executes rdtsc or rdtscp in virtual time, if the program is at one. Otherwise returns false.
 * clock.c */
bool clock_rdtsc(ucontext_t *context);
void clock_init(void);

/* Makes this thread's reads of the time stamp counter trap. Call it after gate_start(). */
void clock_begin_thread(void);
struct msghdr;
/* adds the current time as arrival time, as SO_TIMESTAMP requests */
void clock_stamp(struct msghdr *message);
struct rusage clock_usage(const struct cpu_time *cpu); /* of that processor time */
/* opens /proc/uptime; returns a descriptor, or -1 with errno */
int clock_uptime_file(int flags);
int statistics_file(int flags); /* the same for /proc/stat */

/* signal_init() directs SIGSEGV to the traps. signal_chain() passes a signal that is not a trap to
 * the program's own handler, or ends the program. `info` and `context` are the arguments of the
 * handler. signal.c */
void signal_init(void);
void signal_chain(int number, void *info, void *context);

/* Returns true if the signal is ignored, by the program or by default. */
bool signal_is_ignored(int number);

/* Stores a siginfo_t until the thread has the token and its handler can run. Returns false if there
 * is no room. */
bool signal_defer(int number, const void *info);
void signal_deferred(void); /* runs the handlers of all stored signals */

/* Begins a call that waits with other signals blocked. `mask` and `old` are sigset_t. Returns false
 * if `mask` is NULL. There is then nothing to undo. */
bool signal_begin_mask(const void *mask, void *old);
void signal_end_mask(const void *old);

/* timer.c */
uint64_t timer_next(void);   /* time of the next expiry of a timer of this process, or SHIM_NEVER */
void timer_update(void);     /* makes expired timers readable, or restarts them */
void timer_forget(int fd);   /* the descriptor was closed */
void timer_forget_all(void); /* for a forked child */

/* timer_signal.c */
/* Raises the signal of a timer in the thread that takes it. `missed` is the number of further
 * expiries. */
void timer_signal_raise(uint32_t number, uint32_t timer, uint32_t missed);
/* Raises the signal with which the simulator asks this process to end. */
void timer_signal_terminate(uint32_t number);
void timer_signal_taken(void *info); /* before a handler or a wait takes the signal */
void timer_signal_forget_all(void);

/* Opens /dev/urandom with the run's seed; flags as of open(2). Returns a descriptor, or -1 with
 * errno. process.c */
int process_random_file(int flags);
int process_uuid_file(int flags);
/* Replaces the random bytes that the system gives to a new image (AT_RANDOM) by bytes drawn from
 * the run's seed. libc has already read the system's bytes. */
void process_seed_image(void);
/* Completes a read of `length` bytes that ended with `result`: a read of /dev/urandom continues
 * until all bytes are read. Returns the result of the whole read. */
ssize_t process_random_more(int fd, void *bytes, size_t length, ssize_t result);
/* Makes a call of seccomp(2), without installing a filter. */
long process_seccomp(unsigned operation, unsigned flags, void *arguments);
struct stat;
bool process_random_is(const struct stat *status);
struct _IO_FILE *process_random_stream(const char *mode); /* as fopen() */

/* Convert process and thread ids between the program's ids and the system's ids. Ids that are not
 * of the run, and 0, are returned unchanged. ids.c */
int32_t ids_virtual(int32_t real_pid);
int32_t ids_real(int32_t id);
/* Call it after signals were sent to other processes. Processes that they kill end before another
 * thread runs. Returns `result`. */
int ids_killed(int result);
/* Handles fcntl(2) commands about the owner of a descriptor. Returns false for other commands. */
bool ids_fcntl(int fd, int command, void *argument, int *result);
int32_t ids_of_thread(const struct shim_slot *slot); /* a thread of this process */
/* a thread of this process; NULL: there is none */
const struct shim_slot *ids_slot(int32_t id);

/* system.c */
/* for the library itself: returns -1 with errno on failure, as syscall() does */
long system_call(long number, ...);
/* Makes a system call that does not wait. The simulator's own signal interrupts poll() and
 * select(); this is not reported as EINTR. */
long system_look(long number, ...);

#endif
