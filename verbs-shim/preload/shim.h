/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim: what the files of the preloaded library share. It stands between a program and libc: it knows files, memory, clocks,
 * waits, threads and processes, and nothing of verbs.
 *
 *     attach.c  says hello to the simulator      gate.c     hands over the execution token and gets it back
 *     clock.c   clocks and sleeps                wait.c     calls that block in the operating system
 *     device.c  files of the emulated kernel     trap.c     doorbell stores, polled memory, rdtsc
 *     files.c   paths of the simulated host      thread.c   threads, locks, conditions
 *     image.c   may the library be in a program?
 *     process.c fork, exec, exit, process ids    signal.c   handlers of the program
 *     timer.c   timerfd, waiting for a signal    trap_ranges.c, trap_poll.c  which memory traps, what is polled
 *                                                trap_stack.c  stacks for traps
 *     timer_signal.c  setitimer(), timer_create()
 *     memory.c  what is mapped, and shared with other processes
 *     ids.c     numbers of processes, threads    system.c   system calls: the program's, and the library's own
 *     lock.c    locks of files                   transfer.c what else may block: vectors, splice(), queues
 *     checked.c _FORTIFY_SOURCE's and libc's own names     thread_c11.c <threads.h>
 *
 * A thread without a slot (the library is not attached, or the thread is not ours) gets plain libc behaviour everywhere.
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

/* libc's own function of that name. */
#define REAL(name)                                                          \
	({                                                                  \
		static __typeof__(&name) real_;                             \
		if (!real_)                                                 \
			real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		real_;                                                      \
	})

struct shim_self {
	struct shim_slot *slot;
	int32_t id;        /* as programs see it; 0: the library does not know this thread */
	uint64_t ended_at; /* its clock when it gave up its slot */
	uint32_t inside;   /* in the library: signals arriving now must not enter it again */
	bool interrupted;  /* a handler of the program ran since the last wait began */
	uint32_t deferred; /* signals kept until this thread has the token */
	bool reaches; /* a system call is about to be given memory that must not be protected now */
	bool carrying; /* in a trap: what the program does next is carried out, it does not run */
	bool quiet; /* nothing but that since the token came: the program can have printed nothing */
};

extern __thread struct shim_self shim_self;
extern struct shim_memory *shim_memory; /* NULL: not attached */
extern struct shim_process *shim_process;
extern int shim_socket;
extern uint8_t *shim_queue; /* this process's queue memory, always readable and writable */
extern int shim_queue_fd;
extern int shim_attach_fd, shim_memory_fd; /* what a new image attaches by; -1: none */
extern char shim_tree[160];
extern ino_t shim_output[2]; /* pipes that take what the program of the run prints */

static inline bool shim_active(void)
{
	return shim_self.slot && !shim_self.inside;
}

/* gate.c */
int64_t gate_call(enum shim_op op, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void gate_last(enum shim_op op); /* a request that is not answered */
/* Around what no signal may see half done: pages that move, ranges that change. Handlers of the program wait, and no quantum
 * ends: it would protect pages that are just being given back. */
void gate_enter(void);
void gate_leave(void);
void gate_start(struct shim_slot *slot);
void gate_charge(uint64_t cost);
/* A store to a doorbell page, now; at most SHIM_BYTES. true: it waits for the next request; false: it was handed over. */
bool gate_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length);
void gate_visible(void); /* others may see in the operating system what was just done */
static inline uint64_t gate_now(void)
{
	return shim_self.slot->clock;
}

/* attach.c */
void attach_again(uint32_t kind); /* a forked child */
void attach_lost(void) __attribute__((noreturn));
/* Ends the program, which cannot go on: says why. */
void attach_give_up(const char *error) __attribute__((noreturn));
int attach_receive_fd(void);

/* wait.c */
void wait_begin(void);                /* before a call of the system that may wait */
bool wait_visible(uint64_t deadline); /* true: the deadline has passed */
/* For events of poll(2). false: a signal came (errno EINTR), or the socket's time is over (EAGAIN). */
bool wait_for(int fd, short events);
bool wait_is_plain(
	int fd); /* it never blocks, and no other program of the run is at its other end */
bool wait_is_blocking(int fd); /* no O_NONBLOCK */

/* lock.c */
struct flock;
bool lock_is_command(int command); /* of fcntl() */
int lock_record(int fd, int command, struct flock *record);

/* trap.c */
void trap_init(void);
bool trap_segv(int number, void *info, void *context); /* false: not ours */
void trap_before_gate(enum shim_op op);
void trap_charged(void);     /* the program has read a clock, or the like: its time went on */
void trap_before_call(void); /* of the system, which is given memory of the program */
void trap_after_gate(void);

/* trap_stack.c */
void trap_thread(void); /* what a new thread needs that has a slot */
void trap_stack(void);  /* of it: a stack for its traps; anew in a forked child */

/* trap_ranges.c */
void trap_add_registers(uint64_t address, uint64_t length, uint32_t file, uint64_t offset);
/* Pages are no longer what they were; *file: whose doorbells went, or 0. false: nothing was known of them. */
bool trap_remove(uint64_t address, uint64_t length, uint32_t *file);
void trap_add_ring(uint64_t address, uint64_t length, uint64_t offset, bool polled);
void trap_add_watched(uint64_t address, uint64_t length);
/* Before trap_add_watched(): these pages of it were moved to the queue memory. */
void trap_add_region(uint64_t address, uint64_t length, uint64_t offset);
/* Pages that other processes may write to. */
void trap_add_peers(uint64_t address, uint64_t length);
bool trap_is_peers(uint64_t address);
/* Rings, and regions, become the program's own memory again. */
void trap_retire(uint64_t address, uint64_t length);
void trap_unwatch(uint64_t address, uint64_t length);
/* In a forked child, before it attaches: what it has is its own, and concerns no HCA. */
void trap_forked(void);

/* clock.c: carries out rdtsc or rdtscp in virtual time, if that is what the program stands at; vDSO's clocks are ours from clock_init() on. */
bool clock_rdtsc(ucontext_t *context);
void clock_init(void);
struct msghdr;
void clock_stamp(struct msghdr *message); /* times of arrival, as SO_TIMESTAMP asks for them: now */
int clock_uptime_file(int flags);         /* /proc/uptime; a descriptor, or -1 and errno */

/* signal.c: SIGSEGV comes to the traps from signal_init() on. What is not theirs, info and context those of the handler, goes to the
 * program's own handler, or ends it. */
void signal_init(void);
void signal_chain(int number, void *info, void *context);

/* Is nothing done about it, as the program says, or by default? */
bool signal_is_ignored(int number);

/* A handler runs when its thread has the token: keeps the siginfo_t till then. false: there is no room for one more. */
bool signal_defer(int number, const void *info);
void signal_deferred(void); /* runs the handlers of all that were kept */

/* For a call that waits with other signals blocked: mask and old are sigset_t. false: no mask, and nothing to end. */
bool signal_begin_mask(const void *mask, void *old);
void signal_end_mask(const void *old);

/* timer.c */
uint64_t timer_next(void);   /* when the next timer of this process expires; SHIM_NEVER: none */
void timer_update(void);     /* those that have expired by now are readable, or begin anew */
void timer_forget(int fd);   /* that descriptor is closed */
void timer_forget_all(void); /* in a forked child */

/* timer_signal.c */
/* In the thread that is to take it; missed: times that the timer expired once more. */
void timer_signal_raise(uint32_t number, uint32_t timer, uint32_t missed);
void timer_signal_taken(void *info); /* a handler is about to run, or a wait for it to end */
void timer_signal_forget_all(void);

/* process.c: /dev/urandom, of the run's seed; flags as of open(2). A descriptor; -1 and errno: none. */
int process_random_file(int flags);
/* A read of `length` bytes ended with `result`: of /dev/urandom it goes on for ever. Returns what the read returns. */
ssize_t process_random_more(int fd, void *bytes, size_t length, ssize_t result);
struct stat;
bool process_random_is(const struct stat *status);
struct _IO_FILE *process_random_stream(const char *mode); /* as fopen() */

/* ids.c: numbers of processes and threads, as programs see them, and the system's. Others than those of the run, and 0: as they are. */
int32_t ids_virtual(int32_t real_pid);
int32_t ids_real(int32_t id);
/* fcntl(2) of the owner of a descriptor. false: it is another command. */
bool ids_fcntl(int fd, int command, void *argument, int *result);
int32_t ids_of_thread(const struct shim_slot *slot); /* a thread of this process */
const struct shim_slot *ids_slot(int32_t id);        /* of it; NULL: it has no such thread */

/* system.c */
long system_call(long number, ...); /* of the library itself: errno and -1, as syscall() */
/* One that looks and does not wait: the simulator's own signal, for which the system ends poll() and select(), is no EINTR. */
long system_look(long number, ...);

#endif
