/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state: what the files of session/ share: a run's hosts, programs, processes, threads and open device files.
 *
 *     session.c   who runs next, and until when        attach.c   processes come, fork, exec and die
 *     handover.c  gives the token, waits for it
 *     serve.c     what a thread asks for               launch.c   programs are started
 *     process_memory.c   DMA into a process            files.c    descriptors of the emulated kernel
 *     mappings.c  which memory is a process's alone
 *     peers.c     memory that processes share: who polls it, and has it changed
 *     withdraw.c  threads that sleep where nobody sees it
 *     output.c    lines of the programs                supervise.c   what is left when the simulator dies
 *     place.c     which processor all run on           order.c    who is first
 *     executable.c   which programs can be run
 */
#ifndef VERBS_SHIM_SESSION_STATE_H
#define VERBS_SHIM_SESSION_STATE_H

#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "verbs-shim/protocol.h"
#include "verbs-shim/session/session.h"

#define SESSION_HOSTS         SHIM_HOSTS
#define SESSION_PROGRAMS      256
#define SESSION_FILES         4096
#define SESSION_NOTES         64
#define SESSION_REALTIME_BASE UINT64_C(1700000000000000000) /* ns, at virtual time 0 */

enum thread_state {
	THREAD_FREE,
	THREAD_READY,   /* acts at its clock: its request is served, or it goes on */
	THREAD_RUNNING, /* has the token */
	THREAD_EFFECT,  /* polls memory: sleeps until the HCA writes to the spans in its slot */
	THREAD_OS, /* waits in the operating system; looks again when somebody did something visible */
	THREAD_ASLEEP, /* until its deadline */
	THREAD_LOAD, /* waits for the answer of a register of the adapter: as its processor does */
	THREAD_OUTSIDE, /* sleeps in the operating system where we do not see it: the token was withdrawn */
	THREAD_LEAVING, /* its process is about to be replaced, or to end */
};

struct thread {
	struct process *process;
	struct shim_slot *slot;
	enum thread_state state;
	bool request;           /* the slot holds a request that is not served yet */
	uint32_t stores_served; /* of those in the slot */
	uint32_t
		signalled; /* 1 + the timer of its process whose signal goes along with the token; 0: none */
	sim_time clock;
	sim_time deadline;
	sim_time
		patience; /* in THREAD_EFFECT: it looks again after so long; 0: it did not poll before */
	bool by_clocks;     /* in THREAD_EFFECT: it goes on at its deadline, as it reads clocks */
	uint64_t peers;     /* hash of what it found in memory that other processes may write to */
	sim_time ahead;     /* how far it may run ahead of the others */
	uint64_t looked;    /* value of session->visible when it last looked, in THREAD_OS */
	sim_time unseen_at; /* when that became more: the first thing that it has not seen */
	enum shim_op last;
	struct pcie_mmio_read load; /* in THREAD_LOAD */
};

enum shared_kind { SHARED_RING = 1, SHARED_REGION = 2, SHARED_ANY = 3 };

struct shared_range {
	uint64_t address, length, offset;
	enum shared_kind kind;
};

struct process_memory {
	struct memory base;
	struct process *process;
	struct shared_range *ranges; /* by address, not overlapping */
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
	int32_t program; /* index, -1: a child of one */
	int32_t part_of; /* the same, or that of its parent */
	struct kernel_process kernel;
	struct process_memory memory;
	struct process_timer {
		sim_time at, interval;
		uint32_t signal; /* 0: it is disarmed */
		uint32_t taker;  /* 1 + the slot whose thread takes it; 0: any */
	} timers[SHIM_TIMERS];
	uint32_t timer_count; /* highest that was set + 1 */
	uint32_t threads;
};

struct session_file {
	struct kernel_file *file; /* NULL: free */
	uint32_t host;
	enum kernel_fd_kind kind;
	int near; /* our end: the memfd, the write end of the pipe, our socket */
	int far;  /* the program's end */
	uint64_t inode;
	uint8_t holders[SHIM_PROCESSES]; /* processes that have it */
};

struct output {
	int fd, to;
	int error; /* errno of what could not be written there; 0: none, or nobody reads it */
	uint32_t host;
	uint32_t used;
	char line[4096];
};

struct program {
	uint32_t host;
	char *const *argv;
	char path[PATH_MAX]; /* of the executable, found along PATH */
	sim_time start;      /* not before */
	sim_time launched;
	bool started, waited,
		ended; /* waited: it had nothing to do but wait; its clients may start */
	bool servers[SESSION_HOSTS]; /* whose programs before it it is a client of */
	int32_t real_pid;
	int exit_code;
	struct output output[2];
};

struct session_host {
	struct kernel_host base;
	struct session *session;
	uint32_t number;
	char name[64];
	uint8_t ipv4[4];
	struct kernel *kernel;
	sim_time dma_wait; /* kernel_dma_wait() */
	char tree[128];
};

struct place {
	bool chosen;
	bool apart;                 /* the programs have a processor of their own */
	bool trying;                /* to be the other way, for a window of time */
	size_t processor, programs; /* the simulator's, and theirs */
	cpu_set_t allowed;
	uint64_t reviewed, waited; /* ns */
	uint64_t window, handoffs; /* ns, and how many there were when it began */
	uint64_t cost;             /* ns a hand-over, in the last window before the try */
	uint32_t left, patience;   /* windows until the next try */
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
	struct process processes[SHIM_PROCESSES];
	uint32_t process_count;
	struct thread threads[SHIM_SLOTS];
	uint32_t thread_count; /* highest slot in use + 1 */
	struct session_file files[SESSION_FILES];
	struct shim_memory *shared;
	int shared_fd;
	int attach_near, attach_far;
	char directory[64]; /* of the run's files */
	uint64_t visible; /* counts what programs did that others may see in the operating system */
	sim_time visible_at;
	bool in_run; /* inside sim_run() */
	bool woken;  /* a thread became ready in it */
	struct thread *running;
	uint32_t last_process; /* that had the token */
	bool unread;           /* programs may have printed something since their output was read */
	uint32_t awaiting;     /* children announced but not attached yet */
	uint32_t await_process;
	char notes[SESSION_NOTES][160];
	uint32_t note_count;
	uint64_t hash, handoffs, doorbells, spins;
	uint64_t withdrawn;
	uint32_t outside_count; /* threads in THREAD_OUTSIDE */
	uint32_t idle;          /* looks since a program last did something */
	bool outside;           /* a child runs outside of virtual time */
	bool asked_for_mad;     /* a program asked for umad, which is refused */
	bool broken;            /* the machine refuses what the run needs: it ends */
	int exit_code;
	struct place place;
	int supervisor; /* socket to it, -1: none */
};

/* session.c */
/* The HCA wrote to its memory. */
void session_visible_write(struct process *process, uint64_t address, uint64_t length);
/* It may go on, not before `at`. */
void session_wake(struct session *session, struct thread *thread, sim_time at);
void session_returned(struct session *session, struct thread *thread);
void session_poll(struct thread *thread, bool by_clocks);
/* What a thread polls has changed: it goes on. */
void session_found(struct thread *thread, sim_time at);
void session_visible(struct session *session, sim_time at);
void session_note(struct session *session, uint32_t host, const char *text);
void session_wake_signal(struct process *process, uint32_t timer);
/* Its signal, and how often it has expired again by now; the timer goes on. */
uint32_t session_timer_fired(struct process *process, uint32_t timer, sim_time now,
			     uint32_t *missed);
void session_look_around(struct session *session); /* for deaths and output */
bool session_is_ending(void);                      /* a signal told us to */
uint64_t session_real_ns(void);                    /* real time */

/* handover.c */
/* The thread runs on until its clock reaches the horizon (of its stores: theirs), or it asks for something, or dies. */
void handover_grant(struct session *session, struct thread *thread, sim_time horizon,
		    sim_time store_horizon);

/* order.c */
/* When a thread can act next; SIM_NEVER: not of itself. */
sim_time order_next_act(const struct session *session, const struct thread *thread);
/* The first to act, when, and when the second is. */
struct thread *order_pick(struct session *session, sim_time *when, sim_time *second);
/* The thread that polls and is the first that should look again, before `until`; NULL: none. */
struct thread *order_impatient(struct session *session, sim_time until);
/* Whose timer fires first, which and when; NULL: nobody's. */
struct process *order_timer(struct session *session, uint32_t *timer, sim_time *when);

/* start.c */
void start_prepare(struct session *session); /* with all programs added */
/* A program whose time has come starts; true: one did. */
bool start_program(struct session *session);
/* When one will, whatever the others do; SIM_NEVER: none is left, or all wait for another. */
sim_time start_next(const struct session *session);

/* streams.c */
void streams_report(const struct session *session); /* when all programs have ended */

/* serve.c: carries out the request in the thread's slot at the thread's clock. */
void serve_request(struct session *session, struct thread *thread);
/* The next store that came with it, which is before it; the clock is then that of what follows. false: there is none. */
bool serve_store(struct session *session, struct thread *thread);

/* attach.c */
struct process *attach_accept(struct session *session,
			      int milliseconds); /* NULL: nobody came in that time */
struct thread *attach_thread(struct session *session, struct process *process);
/* After exec: until the new image is there, or the old one goes on. */
void attach_await_image(struct session *session, struct thread *thread);
void attach_died(struct session *session, struct process *process);
/* Ends those that are dead; all: those as well that have said so, whose turn to end has not come. */
void attach_find_dead(struct session *session, bool all);
bool attach_is_dead(const struct process *process, int milliseconds);

/* withdraw.c: the token holder has slept for a while in a call that the preload library does not see. */
bool withdraw_is_asleep(const struct thread *thread);
void withdraw(struct session *session, struct thread *thread);
/* Waits for those of the withdrawn that run again; true: one of them has come back. */
bool withdraw_return(struct session *session);

/* launch.c */
bool launch_find(const char *name, char path[PATH_MAX], char *error, size_t error_bytes);
void launch_program(struct session *session, struct program *program);
void launch_clean(struct session *session);

/* limits.c */
/* Of open files, to what they may be: the simulator and its supervisor hold several of each program. What programs are given then is
 * what there was, or what Linux has. */
void limits_raise_open_files(void);
void limits_become_program(void);
/* Has the simulator address space for the memory of the programs, if none has children? false: *error says what is expected. */
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
/* false: there is no more address space (ulimit -v). */
bool process_memory_init(struct process_memory *memory, struct process *process);
void process_memory_fini(struct process_memory *memory);
/* The pages of [address, address + length) that are not shared yet become so: entered, and listed in the slot. Of a region only
 * those that are the process's alone. */
void process_memory_share(struct process_memory *memory, uint64_t address, uint64_t length,
			  bool polled, struct shim_slot *slot);
void process_memory_share_region(struct process_memory *memory, uint64_t address, uint64_t length,
				 struct shim_slot *slot);
void process_memory_forget(struct process_memory *memory, uint64_t address, uint64_t length,
			   enum shared_kind kinds);

/* mappings.c: the first part of [*address, *end) that is memory of the process's alone (private, anonymous, writable): nobody
 * can tell when its pages are replaced. false: there is none. */
bool mappings_own(int32_t real_pid, uint64_t *address, uint64_t *end);

/* peers.c */
/* Hash of what it polls in memory that other processes may write to. */
uint64_t peers_look(const struct thread *thread);
/* The thread has given back the token at that time: who polls what it has changed goes on. */
void peers_acted(struct session *session, const struct thread *thread, sim_time at);
/* Until when it may run on before others of its host that share memory see what it stored; SIM_NEVER: there are none. */
sim_time peers_bound(const struct session *session, const struct thread *thread);

/* place.c; now: real time, ns */
void place_choose(struct session *session, uint64_t now);
void place_review(struct session *session, uint64_t now);
void place_release(struct session *session);
void place_program(const struct session *session); /* the caller is going to be a program */
/* true: this process can read the time stamp counter no more, as programs cannot; false: it can again. */
void place_share_counter(bool shared);

/* output.c */
void output_drain(struct session *session);
bool output_read(struct output *output, const char *name,
		 bool color); /* false: nothing there (yet, or any more) */

/* supervise.c */
void supervise_tell(const struct session *session, const char *directory);
void supervise_output(const struct session *session, const struct output *output, const char *name);
int supervise_socket(void);
void supervise_remove_tree(const char *directory);

#endif
