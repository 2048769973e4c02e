/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state: definitions for all files of session/: a run's hosts, programs, processes, threads and
 * open device files.
 *
 *     session.c     the main loop: choice of the next thread, and its horizon
 *     order.c       the thread that acts first
 *     horizon.c     the time until which a thread may run
 *     handover.c    hand-over of the token to a thread, and the wait for its return
 *     serve.c       execution of the requests of threads
 *     attach.c      start, fork, exec and end of processes
 *     cpu.c         processor time
 *     cores.c       cores of threads, and received frames that take time from them
 *     ends.c        wait for the real ends of threads and processes
 *     launch.c      creation of the programs' processes
 *     start.c       start times of programs
 *     executable.c  check that a program can run
 *     files.c       descriptors of the emulated kernel
 *     process_memory.c  DMA into a process
 *     mappings.c    private memory of a process
 *     peers.c       memory that processes share: polling threads, and changes
 *     withdraw.c    threads that sleep in calls that hcasim does not track
 *     output.c      output lines of the programs
 *     place.c       processors for simulator and programs
 *     supervise.c   cleanup when the simulator dies
 */
#ifndef VERBS_SHIM_SESSION_STATE_H
#define VERBS_SHIM_SESSION_STATE_H

#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "sim/random.h"
#include "verbs-shim/protocol.h"
#include "verbs-shim/session/session.h"

#define SESSION_HOSTS         SHIM_HOSTS
#define SESSION_PROGRAMS      256
#define SESSION_FILES         4096
#define SESSION_NOTES         64
#define SESSION_REALTIME_BASE UINT64_C(1700000000000000000) /* ns, at virtual time 0 */

enum thread_state {
	THREAD_FREE,
	THREAD_READY,   /* acts at its clock: its request is served, or it continues */
	THREAD_RUNNING, /* has the token */
	/* polls memory: sleeps until the HCA writes to the spans in its slot */
	THREAD_VISIBLE_WRITE,
	/* waits in the operating system; checks again after another thread did something visible */
	THREAD_OS,
	THREAD_ASLEEP,  /* sleeps until its deadline */
	THREAD_LOAD,    /* waits for a reply from a register of the adapter */
	THREAD_OUTSIDE, /* sleeps in an untracked system call; the token was withdrawn */
	THREAD_LEAVING, /* its process is about to be replaced, or to end */
};

struct thread {
	struct process *process;
	struct shim_slot *slot;
	enum thread_state state;
	bool request;           /* the slot holds a request that has not been served */
	uint32_t stores_served; /* stores in the slot that have been served */
	/* 1 + the timer of its process whose signal is passed with the token; 0: none */
	uint32_t signalled;
	sim_time clock;
	sim_time deadline;
	/* THREAD_VISIBLE_WRITE: interval after which it reads the memory again; 0: it did not poll
	 * before */
	sim_time patience;
	/* THREAD_VISIBLE_WRITE: it continues at its deadline, because it reads clocks */
	bool by_clocks;
	uint64_t peers;          /* hash of the contents of memory that other processes may write */
	sim_time ahead;          /* time by which it may run ahead of the others */
	uint64_t looked;         /* THREAD_OS: value of session->visible at its last check */
	sim_time unseen_at;      /* time of the first visible action that it has not checked */
	uint64_t sockets_looked; /* value of its host's sockets_ready when it last looked */
	enum shim_op last;
	struct pcie_mmio_read load; /* THREAD_LOAD */
	struct random noise;
	bool placed; /* its core is chosen */
	/* A new thread does not exist before its creator has the token. NULL: it exists. */
	struct thread *creator, *created;
	sim_time disturbed_at; /* start of the next disturbance by the host */
};

enum shared_kind { SHARED_RING = 1, SHARED_REGION = 2, SHARED_ANY = 3 };

struct shared_range {
	uint64_t address, length, offset;
	enum shared_kind kind;
};

struct process_memory {
	struct memory base;
	struct process *process;
	struct shared_range *ranges; /* sorted by address, not overlapping */
	uint32_t range_count, range_room;
	uint32_t hint;
	uint8_t *queue; /* SHIM_QUEUE_BYTES shared with the process */
	uint64_t queue_used;
	int queue_fd;
};

struct process {
	struct session *session;
	uint32_t number; /* virtual process id - SHIM_FIRST_PID */
	bool alive;
	bool replacing; /* between exec and the attach of the new image */
	uint32_t host;
	int32_t real_pid, parent;
	int socket, pidfd;
	int32_t program; /* index; -1: child of a program */
	int32_t part_of; /* index of its program, also for children */
	struct kernel_process kernel;
	struct process_memory memory;
	uint64_t visible_writes; /* number of writes of the adapter that the process can see */
	struct process_timer {
		sim_time at, interval;
		uint32_t signal;   /* 0: disarmed */
		uint32_t taker;    /* 1 + the slot of the thread that takes it; 0: any */
	} timers[SHIM_TIMERS + 1]; /* the last one: SHIM_NO_TIMER */
	uint32_t timer_count;      /* highest timer that was set, plus 1 */
	uint32_t threads;
};

struct session_file {
	struct kernel_file *file; /* NULL: free */
	uint32_t host;
	enum kernel_fd_kind kind;
	int near; /* end of the simulator: the memfd, the write end of the pipe, or the socket */
	int far;  /* the program's end */
	uint64_t inode;
	uint8_t holders[SHIM_PROCESSES]; /* processes that hold it */
};

struct output {
	int fd, to;
	int error; /* errno of a failed write; 0: none, or the reader is gone */
	uint32_t host;
	uint32_t used;
	char line[4096];
};

struct program {
	uint32_t host;
	struct cpu_time cpu; /* of its processes that have ended */
	char *const *argv;
	char path[PATH_MAX]; /* path of the executable, found along PATH */
	sim_time start;      /* earliest start */
	sim_time launched;
	bool is_server; /* it ends with the other programs */
	bool started, waited,
		ended; /* waited: the program only waited at some time, so its clients may start */
	bool servers[SESSION_HOSTS]; /* hosts whose earlier programs it is a client of */
	int32_t real_pid;
	int exit_code;
	struct output output[2];
};

/* clang-format off */
#define PROGRAMS_TRACE(X) \
	X(STORE, "thread", "bytes", "a store of a thread to a doorbell page reaches the adapter") \
	X(POLL, "thread", "address", "a thread polls, and sleeps until this memory changes") \
	X(WAIT, "thread", "", "a thread waits in the operating system, as for a socket") \
	X(SLEEP, "thread", "", "a thread sleeps until a time") \
	X(LOAD, "thread", "offset", "a thread loads a register of the adapter") \
	X(WAKE, "thread", "", "a thread continues after POLL, WAIT, SLEEP or LOAD")
/* clang-format on */

enum { PROGRAMS_TRACE(TRACE_ENUM) };

struct session_host {
	struct block block; /* of its programs */
	struct kernel_host base;
	struct session *session;
	uint32_t number;
	char name[64];
	uint8_t ipv4[4];
	struct kernel *kernel;
	sim_time dma_wait; /* kernel_dma_wait() */
	/* processor time for received frames that no program has: on idle cores, in ksoftirqd */
	struct cpu_time softirq[2];
	uint64_t sockets_ready; /* counts what happened to sockets of its programs */
	char tree[128];
};

struct place {
	bool chosen;
	bool apart;                 /* programs have their own processor */
	bool trying;                /* the other placement is being tried for one window of time */
	size_t processor, programs; /* processor of the simulator, and of the programs */
	cpu_set_t allowed;
	uint64_t reviewed, waited; /* ns */
	uint64_t window, handoffs; /* start time in ns, and number of hand-overs at that time */
	uint64_t cost;             /* ns per hand-over in the last window before the trial */
	/* programs yield from this number of hand-overs on, again after this many more */
	uint64_t yields_from, yields_pause;
	uint32_t left, patience; /* number of windows until the next trial */
};

struct session {
	struct sim *sim;
	struct cpu_params cpu;
	struct session_params params;
	bool color, verbose;
	struct session_host hosts[SESSION_HOSTS];
	uint32_t host_count;
	struct program programs[SESSION_PROGRAMS];
	uint32_t program_count, unstarted;
	bool any_ended;    /* a program has ended */
	bool asked;        /* servers were asked to end */
	sim_time ended_at; /* end of the last program that has ended */
	sim_time asked_at;
	bool overtime_noted; /* servers.c */
	struct process processes[SHIM_PROCESSES];
	uint32_t process_count;
	struct thread threads[SHIM_SLOTS];
	uint32_t thread_count; /* highest slot in use, plus 1 */
	struct session_file files[SESSION_FILES];
	struct shim_memory *shared;
	int shared_fd;
	int attach_near, attach_far;
	char directory[64]; /* folder of the run's files */
	/* number of actions of programs that others may see in the operating system */
	uint64_t visible;
	sim_time visible_at;
	bool in_run; /* inside sim_run() */
	bool woken;  /* a thread became ready in it */
	struct thread *running;
	uint32_t last_process; /* last process that had the token */
	/* Output and error output go to one file. A thread's lines are then put there when it has
	 * returned the token, so that their order does not depend on real time. */
	bool one_output;
	bool unread;       /* programs may have printed something since their output was read */
	bool untaken;      /* the same of bytes in sockets */
	uint32_t awaiting; /* children that are announced and have not attached */
	uint32_t await_process;
	char notes[SESSION_NOTES][160];
	uint32_t note_count;
	uint64_t hash, handoffs, doorbells, spins;
	uint64_t withdrawn;
	uint32_t outside_count; /* threads in THREAD_OUTSIDE */
	uint32_t idle;          /* number of checks since a program last did something */
	bool outside;           /* a child runs outside of virtual time */
	bool asked_for_mad;     /* a program asked for umad, which is refused */
	bool broken;            /* the machine lacks something that the run needs; the run ends */
	int exit_code;
	struct place place;
	int supervisor;          /* socket to the supervisor; -1: none */
	struct sockets *sockets; /* NULL: the machine's sockets */
	const struct socket_params *socket_params;
};

/* session.c */
/* Records a trace point of a thread, at the time of the run. */
void session_trace(const struct thread *thread, unsigned point, uint64_t value);
/* Reports that the HCA wrote to the memory of a process. */
void session_visible_write(struct process *process, uint64_t address, uint64_t length);
/* cpu.c */
/* Adds processor time to the clock of a thread. */
void session_charge(const struct session *session, struct thread *thread, enum cpu_kind kind,
		    sim_time time);
/* Adds the processor time of an ended process to its program. */
void session_count_process(struct session *session, const struct process *process);
/* session.c */
/* Makes a thread ready, not earlier than `at`. */
void session_wake(struct session *session, struct thread *thread, sim_time at);
void session_returned(struct session *session, struct thread *thread);
void session_poll(struct thread *thread, bool by_clocks);
/* Wakes a thread whose polled memory has changed. */
void session_found(struct thread *thread, sim_time at);
void session_visible(struct session *session, sim_time at);
void session_note(struct session *session, uint32_t host, const char *text);
void session_wake_signal(struct process *process, uint32_t timer);
/* Returns the signal of an expired timer and restarts the timer. *missed is the number of further
 * expiries until now. */
uint32_t session_timer_fired(struct process *process, uint32_t timer, sim_time now,
			     uint32_t *missed);
void session_look_around(struct session *session); /* checks for dead processes and for output */
bool session_is_ending(void);                      /* a signal requested the end of the run */
uint64_t session_real_ns(void);                    /* real time */

/* horizon.c */
/* Clocks at which a thread returns the token. */
struct horizons {
	/* Latest clock, in any case. */
	sim_time run;
	/* Clock before the thread reads or changes memory of the adapter, or calls the system. */
	sim_time exact;
	/* Clock while stores of the thread wait. */
	sim_time store;
};

/* Returns the horizons of a thread. `second` is the time of the first action of another thread.
 * Actions that another thread has not begun do not reach this thread before its exact horizon. A
 * guarded thread sees no action of other threads before that horizon. If no other thread shares the
 * thread's memory, only its own timers limit its run. */
struct horizons horizon_of(struct session *session, const struct thread *thread, sim_time second);
/* Call it after a request. A thread that only computes and reads clocks may run further ahead with
 * each call, until another thread does something else. */
void horizon_adapt(struct session *session, struct thread *thread);

/* handover.c */
/* Runs the thread until its clock reaches the horizon, it makes a request, or it dies. */
void handover_grant(struct session *session, struct thread *thread,
		    const struct horizons *horizons);
/* Gives the token to a thread that does not return it, because its process ends. */
void handover_release(struct session *session, const struct thread *thread);

/* noise.c; nothing happens without cpu.noise_interval */
void noise_begin(const struct session *session, struct thread *thread); /* a thread begins */
/* A thread is about to continue. Returns true if a disturbance is under way. The thread's clock is
 * then its end. */
bool noise_holds(const struct session *session, struct thread *thread);
/* A thread has worked from its clock to the clock of its slot. Disturbances that began meanwhile
 * delay the end, and the stores that follow them. */
void noise_worked(const struct session *session, struct thread *thread);

/* cores.c */
/* Chooses the core of a thread, unless it has one where it may run: the first of those with the
 * fewest threads. */
void cores_place(struct session *session, struct thread *thread);
/* A thread is about to continue. Returns true if its core processes frames. The thread's clock is
 * then the end of this work. */
bool cores_hold(struct session *session, struct thread *thread);
/* Returns the time until which the thread's core processes frames, or an earlier time. */
sim_time cores_free_at(const struct session *session, const struct thread *thread);
/* Functions of struct socket_services. */
void cores_occupy(void *context, uint32_t host, uint32_t core, const uint64_t *work, bool threaded);
bool cores_run(void *context, uint32_t host, uint32_t core);

/* order.c */
/* Returns the time at which a thread can act next, or SIM_NEVER if it waits for others. */
sim_time order_next_act(const struct session *session, const struct thread *thread);
/* Returns the first thread to act and the time, and the time of the second one. */
struct thread *order_pick(struct session *session, sim_time *when, sim_time *second);
/* Returns the first polling thread that must read its memory again before `until`, or NULL. */
struct thread *order_impatient(struct session *session, sim_time until);
/* Returns the process with the first timer to expire, the timer and the time, or NULL. */
struct process *order_timer(struct session *session, uint32_t *timer, sim_time *when);

/* start.c */
void start_prepare(struct session *session); /* call it after all programs are added */
/* Starts a program whose start time has come. Returns true if a program started. */
bool start_program(struct session *session);
/* Returns the time of the next start that does not depend on other programs, or SIM_NEVER. */
sim_time start_next(const struct session *session);

/* deadlock.c */
void deadlock_report(struct session *session); /* on standard error; sets the exit code */

/* servers.c */
/* Asks servers to end when all other programs have ended. Call it before a thread is picked. */
void servers_review(struct session *session);
bool servers_are_asked(const struct session *session);
void servers_name_killed(const struct session *session); /* on standard error */
/* Returns true if servers that were asked to end are to be killed before the next action, and names
 * them on standard error. */
bool servers_are_late(struct session *session, sim_time next);
/* Explains on standard error how programs that do not end can be servers. */
void servers_advise(const struct session *session);

/* streams.c */
void streams_report(const struct session *session); /* call it after all programs have ended */

/* sockets.c */
void sockets_serve(struct session *session, struct thread *thread);
/* Takes the bytes that programs wrote to sockets without a call of the library, if a program has
 * run since the last time. */
void sockets_take(struct session *session);
/* Returns true if the thread waits for a socket on which something has happened since its last
 * check. */
bool sockets_missed(const struct session *session, const struct thread *thread);
/* Returns the time of the next event, or SIM_NEVER if none can wake a thread, because only probes
 * of closed receive windows are left. */
sim_time sockets_next_event(struct session *session);
/* Names the sockets of such probes on standard error. */
void sockets_report(const struct session *session);
void sockets_close(struct session *session);

/* Executes the request in the thread's slot at the thread's clock. serve.c */
void serve_request(struct session *session, struct thread *thread);
/* Executes the next store that precedes the request. The clock is then the clock of the following
 * action. Returns false if there is none. */
bool serve_store(struct session *session, struct thread *thread);

/* Sends a descriptor to the process, which takes it by attach_receive_fd(). */
void serve_descriptor(struct process *process, int fd);

/* attach.c */
struct process *attach_accept(struct session *session,
			      /* returns NULL if no process attached in that time */
			      int milliseconds);
struct thread *attach_thread(struct session *session, struct process *process);
/* Waits after exec until the new image attaches, or the old one continues. */
void attach_await_image(struct session *session, struct thread *thread);
void attach_died(struct session *session, struct process *process, sim_time at);
/* Ends dead processes. `all`: also processes that have announced their end and are not due yet. */
void attach_find_dead(struct session *session, bool all);
bool attach_is_dead(const struct process *process, int milliseconds);

/* Waits until a thread that has announced its end has ended. ends.c */
void ends_await_thread(const struct thread *thread);
/* Waits for the ends of processes that a signal kills, and reports them. Call it after signals were
 * sent. parent: only its children; NULL: all processes. */
void ends_of_killed(struct session *session, const struct process *parent, sim_time at);
/* Waits until the parent of a dead process has its SIGCHLD. */
void ends_await_notice(void);

/* Weights of looks that show the token holder asleep. */
#define ASLEEP_CERTAINLY 100
#define ASLEEP_PERHAPS   1 /* or it waits for a processor */

/* Returns the weight of a look at the token holder, which may sleep in a call that the preload
 * library does not track; 0: it does not sleep. withdraw.c */
uint32_t withdraw_asleep(const struct thread *thread);
void withdraw(struct session *session, struct thread *thread);
/* Checks for withdrawn threads that run again. Returns true if one has returned. */
bool withdraw_return(struct session *session);

/* launch.c */
bool launch_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes);
void launch_program(struct session *session, struct program *program);
void launch_clean(struct session *session);

/* limits.c */
/* limits_raise_open_files() raises the limit of open files to its maximum, because simulator and
 * supervisor hold several per program. limits_become_program() restores the limit for a program:
 * the original limit, or the default of Linux. */
void limits_raise_open_files(void);
void limits_become_program(void);
/* Checks that the simulator has address space for the memory of the programs, without children.
 * Returns false and writes the expected limit to *error. */
bool limits_have_room(const struct session *session, char *error, size_t error_bytes);

/* files.c */
void files_init_host(struct session_host *host);
uint32_t files_add(struct session *session, uint32_t host, const struct kernel_new_file *file,
		   struct process *process);
struct session_file *files_get(struct session *session, uint64_t id);
void files_drop(struct session *session, struct process *process, struct session_file *file);
void files_process_gone(struct session *session, struct process *process);
void files_inherit(struct session *session, const struct process *from, const struct process *to);

/* process_memory.c */
/* Returns false if no address space is left (ulimit -v). */
bool process_memory_init(struct process_memory *memory, struct process *process);
void process_memory_fini(struct process_memory *memory);
/* Share the pages of [address, address + length) that are not shared yet, and list them in the
 * response. In a region, only pages private to the process are shared. */
void process_memory_share(struct process_memory *memory, uint64_t address, uint64_t length,
			  bool polled, struct shim_response *response);
void process_memory_share_region(struct process_memory *memory, uint64_t address, uint64_t length,
				 struct shim_response *response);
void process_memory_forget(struct process_memory *memory, uint64_t address, uint64_t length,
			   enum shared_kind kinds);

/* Finds the first part of [*address, *end) that is private, anonymous and writable memory of the
 * process. Its pages can be replaced unnoticed. Returns false if there is none. mappings.c */
bool mappings_own(int32_t real_pid, uint64_t *address, uint64_t *end);

/* peers.c */
/* Returns a hash of the polled memory that other processes may write. */
uint64_t peers_look(const struct thread *thread);
/* Reports that a thread returned the token at time `at`. Threads that poll memory that this thread
 * changed continue. */
void peers_acted(struct session *session, const struct thread *thread, sim_time at);
/* Returns the time until which a thread may run before others of its host that share memory must
 * see its stores, or SIM_NEVER. */
sim_time peers_bound(const struct session *session, const struct thread *thread);

/* place.c; now: real time, ns */
void place_choose(struct session *session, uint64_t now);
void place_review(struct session *session, uint64_t now);
void place_release(struct session *session);
/* A program did not return the token while the simulator spun. */
void place_late(struct session *session);
void place_program(const struct session *session); /* the caller is about to become a program */
/* With `true`, disables reading the time stamp counter in this process, as in programs. With
 * `false`, enables it. */
void place_share_counter(bool shared);

/* output.c */
void output_drain(struct session *session);
bool output_is_one(void); /* standard output and standard error are one file, and no terminal */
bool output_read(struct output *output, const char *name,
		 bool color); /* returns false if there is nothing to read now */

/* supervise.c */
void supervise_notify(const struct session *session, const char *directory);
void supervise_output(const struct session *session, const struct output *output, const char *name);
int supervise_socket(void);
void supervise_remove_tree(const char *directory);

#endif
