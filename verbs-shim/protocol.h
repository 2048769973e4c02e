/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol: what the preloaded library and the simulator say to each other.
 *
 *     program thread --slot (shared memory): request, clock--> simulator
 *                    <--slot: result, clock, horizon---------'
 *     program        --seqpacket socket: attach--------------> simulator, which passes descriptors back on it
 *
 * A slot belongs to one thread. slot->turn says whose it is; the rest of it is written by the one whose turn it is. As one
 * thread at most holds the execution token, at most one slot of all has the turn TURN_PROGRAM.
 * The socket is the lifeline as well: its end means the death of the other side.
 */
#ifndef VERBS_SHIM_PROTOCOL_H
#define VERBS_SHIM_PROTOCOL_H

#include <stdint.h>

#define SHIM_MAGIC UINT64_C(0x68636173696d000e) /* changes with each change of this file */
#define SHIM_ENVIRONMENT \
	"HCASIM_SHIM" /* "attach socket,memory descriptor,host,inodes of its output" */
#define SHIM_HOST_VARIABLE "HCASIM_HOST" /* the host on which a new image is to run, by its name */
#define SHIM_HOST_NAME     64
#define SHIM_NO_HOST       UINT32_MAX
#define SHIM_SHARED_MEMORY "/dev/shm" /* where libc has what shm_open() and sem_open() name */
#define SHIM_SHARED_FOLDER \
	"shm" /* in the directory of a host's files: what its programs find there */
#define SHIM_FIRST_FD        900 /* our descriptors in a program stay above this number */
#define SHIM_SLOTS           1024
#define SHIM_PROCESSES       256
#define SHIM_HOSTS           256
#define SHIM_FIRST_PID       1000 /* virtual process ids count from here */
#define SHIM_BYTES           64
#define SHIM_TIMERS          64 /* of a process: those of setitimer(), then those of timer_create() */
#define SHIM_INTERVAL_TIMERS 3 /* real time, and two of processor time, which is the same */
#define SHIM_RANGES          4
#define SHIM_SPANS           16
#define SHIM_STORES          4
#define SHIM_QUEUE_BYTES     (UINT64_C(1) << 34) /* of address space for memory of a process; sparse */
#define SHIM_LEAVES          32                  /* of cpuid */
#define SHIM_LEAF_STATE \
	0xd /* and that of the processor's state, which is the machine's: the last of the basic ones */
#define SHIM_EXIT_LOST    98 /* exit code of a program whose simulator is gone */
#define SHIM_EXIT_REFUSED 2  /* and of one that asks for more than there can be */
#define SHIM_NEVER        (UINT64_MAX >> 3)

/* clang-format off */
/*        name         arguments -> result */
#define SHIM_OPS(X)                                                                                      \
	X(NONE,        "")                                                                                   \
	X(START,       "a thread's first words")                                                             \
	X(YIELD,       "nothing; the clock has reached the horizon")                                         \
	X(OPEN,        "path, flags -> error or 0, file")                                                    \
	X(IOCTL,       "file, request, argument -> result, files, ranges")                                   \
	X(WRITE,       "file, bytes, length -> result, files, ranges")                                       \
	X(MMAP,        "file, offset, length, protection -> file offset or error")                           \
	X(LOAD,        "file, file offset, length, 8 at most -> what a register of the adapter holds, and its time")  \
	X(MAPPED,      "address, length: these pages are no longer what they were")                          \
	X(CLOSE,       "file: its last descriptor and mapping here are gone")                                \
	X(MMIO,        "nothing but the stores in the slot")                                                 \
	X(SPIN,        "address, visible writes seen, 1: it reads clocks, spans: sleep until the next write to these") \
	X(OS_WAIT,     "deadline: sleep until another thread did something visible -> 1: deadline passed")   \
	X(SLEEP,       "deadline -> 1: interrupted by a signal")                                             \
	X(THREAD_NEW,  "-> slot of the thread about to be created, or error")                                \
	X(THREAD_EXIT, "no answer")                                                                          \
	X(THREAD_FAILED, "slot: it could not be created")                                                    \
	X(SPAWN,       "enum shim_outside, path: a child process will attach; or not, and that is why")                                                        \
	X(SPAWNED,     "its real process id (0: failed), 1: it is a forked copy -> its virtual process id")  \
	X(EXEC,        "enum shim_outside, path: this process will attach again; or not, and that is why")                                                     \
	X(EXEC_FAILED, "")                                                                                   \
	X(EXIT,        "no answer")                                                                          \
	X(TIMER,       "deadline, interval, signal: 0 disarms; the timer, and from bit 16 on 1 + the slot whose thread takes it, 0: any")

/* Why the library cannot be in a program that is about to start: that runs outside of virtual time. */
#define SHIM_OUTSIDE(X)                                                                       \
	X(OUTSIDE_STATIC, "is statically linked")                                             \
	X(OUTSIDE_32_BIT, "is a 32-bit program")                                              \
	X(OUTSIDE_SET_USER, "is set-user-ID")                                                 \
	X(OUTSIDE_ENVIRONMENT, "starts without LD_PRELOAD and HCASIM_SHIM in its environment")

#define SHIM_OP_ENUM(name, meaning) OP_##name,
enum shim_op { SHIM_OPS(SHIM_OP_ENUM) OP_COUNT };
/* clang-format on */

#define SHIM_OUTSIDE_ENUM(name, meaning) name,
enum shim_outside { OUTSIDE_NOT, SHIM_OUTSIDE(SHIM_OUTSIDE_ENUM) OUTSIDE_COUNT };

#define RELAY_ASKED UINT32_C(0x80000000)

enum shim_turn { TURN_SIMULATOR, TURN_PROGRAM };
enum shim_attach_kind { ATTACH_IMAGE, ATTACH_FORK };
enum shim_file_kind { FILE_COMMAND, FILE_CHANNEL, FILE_MESSAGE, FILE_NETLINK };

struct shim_range {
	uint64_t address, length;
	uint64_t offset; /* in the queue memory */
};

struct shim_span {
	uint64_t address, length;
};

/* The program stored to a doorbell page. While nobody can notice that it goes on, it does, and the store waits for the next
 * request; the simulator carries both out at their times. */
struct shim_store {
	uint64_t clock;
	uint64_t offset;
	uint32_t file, length;
	uint8_t bytes[SHIM_BYTES];
};

struct shim_slot {
	uint32_t turn;   /* enum shim_turn; a futex */
	uint32_t op;     /* enum shim_op */
	uint32_t quiet;  /* the program has printed nothing: it did not run by itself */
	uint32_t dirty;  /* the program did something that others may see in the operating system */
	uint32_t signal; /* reply: a virtual timer has expired: raise this */
	uint32_t timer;  /* reply: that one */
	uint32_t missed; /* reply: times that it expired once more until now */
	uint64_t clock;  /* virtual time of the thread, ps */
	uint64_t
		horizon; /* reply: the thread may run on while its clock is below; stores lessen it */
	uint64_t store_horizon; /* reply: stores may take the clock further, to below this */
	uint64_t arguments[5];
	int64_t result;
	uint32_t tid; /* real; for signals to it */
	uint32_t file_count, range_count, sleeping;
	uint32_t store_count;
	uint32_t
		registers; /* reply: stores to the mapped page, and loads from it, are the adapter's */
	struct {
		uint32_t kind, id;
		uint64_t number_at;
	} files[2]; /* reply: descriptors that follow on the socket, in this order */
	struct shim_range
		ranges[SHIM_RANGES]; /* reply: pages to be moved to the queue memory: rings, */
	uint32_t region_count;       /* and the last so many, of memory regions */
	uint32_t polled;             /* a bit for each that the program polls */
	struct shim_range retired, retired_record; /* reply: to be moved back before that */
	struct shim_range
		unwatched; /* reply: memory that the HCA writes no more; before watched_... */
	uint64_t watched_address, watched_length;
	struct shim_span spans[SHIM_SPANS]; /* OP_SPIN: what is polled */
	uint32_t span_count;                /* 0: anything */
	uint32_t peers; /* a bit for each span that other processes may write to */
	struct shim_store
		stores[SHIM_STORES]; /* before the request, in the order of their clocks */
} __attribute__((aligned(1024)));

/* What cpuid answers. Leaves that are not there: zeros. */
struct shim_leaf {
	uint32_t leaf, subleaf; /* eax, ecx */
	uint32_t by_subleaf;    /* 1: ecx is looked at */
	uint32_t words[4];      /* eax, ebx, ecx, edx */
};

struct shim_leaves {
	uint32_t count;
	struct shim_leaf leaf[SHIM_LEAVES];
};

/* What programs see of their host, whatever the machine is. Caches: of instructions, of data, of the second
 * and of the third level. */
#define SHIM_CPU_WORDS 4 /* of 64 processors */
#define SHIM_CACHES    4

struct shim_cpus {
	uint64_t words[SHIM_CPU_WORDS];
};

struct shim_host_view {
	uint64_t cores, memory_bytes;
	struct {
		uint32_t bytes, ways;
	} caches[SHIM_CACHES]; /* of lines of 64 bytes */
	char kernel_release[65];
};

/* What programs of a host have sent to others by sockets, and how a link would have carried it. */
struct shim_traffic {
	uint64_t link_bps; /* 0: it has none */
	uint64_t bytes, first, at;
	uint64_t behind, behind_most; /* bytes that a link would not have carried yet */
	uint64_t full;                /* times that a socket took no more */
};

struct shim_process {
	uint32_t real_pid;
	uint32_t host;
	uint64_t visible_writes; /* visible writes by the HCA so far */
	uint32_t shares;         /* it has memory that other processes may write to */
	struct shim_cpus cpus;   /* where a new image may run; none: on all */
	uint64_t store_delay; /* until anything of a store to a doorbell can be noticed, at least */
};

struct shim_memory {
	uint64_t magic;
	uint32_t bell;       /* the simulator's futex: a program rang */
	uint32_t sleeping;   /* the simulator waits on it */
	uint32_t spin_turns; /* how long to spin for one's turn before sleeping; 0: not at all */
	/* With relays, only the program that ran last spins, on the processor that the next one needs: it makes room for it.
	 * relay: 0: none does; slot + 1: it does; with RELAY_ASKED: that slot's thread is next, and may be asleep. */
	uint32_t relays, relay;
	uint64_t tsc_hz;
	uint64_t realtime_base_ns, monotonic_base_ns; /* what the clocks say at virtual time 0 */
	uint64_t cost_clock_read, cost_system_call, cost_mmio_store;
	uint64_t
		lock_handoff; /* how long who leaves a spin lock keeps off it for one who tried in vain */
	uint64_t seed;
	struct shim_leaves leaves; /* of the processor that programs see */
	struct shim_host_view host;
	struct shim_traffic traffic[SHIM_HOSTS];
	struct shim_process processes[SHIM_PROCESSES];
	struct shim_slot slots[SHIM_SLOTS];
	struct shim_cpus cpus[SHIM_SLOTS]; /* where each thread may run; none: on all */
};

/* Over the attach socket, with one end of a new socket pair. */
struct shim_attach {
	uint64_t magic;
	uint32_t kind; /* enum shim_attach_kind */
	uint32_t host;
	int32_t real_pid;
	char host_name[SHIM_HOST_NAME]; /* not empty: that host, in place of `host` */
};

/* The answer on the new socket, with the descriptor of the process's queue memory. */
struct shim_welcome {
	uint32_t process; /* virtual process id - SHIM_FIRST_PID */
	uint32_t slot;
	int32_t parent;
	uint32_t host;    /* SHIM_NO_HOST: none has that name, the program is to end */
	char tree[160];   /* the directory that stands for / */
	char hosts[4096]; /* for names_init() */
};

_Static_assert(sizeof(struct shim_slot) == 1024, "a slot is sixteen cache lines");

#endif
