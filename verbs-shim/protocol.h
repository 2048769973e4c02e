/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocol: messages between the preloaded library and the simulator.
 *
 *     program thread --slot (shared memory): request, clock--> simulator
 *                    <--slot: result, clock, horizon----------'
 *     program        --seqpacket socket: attach---------------> simulator
 *                    <--the same socket: descriptors-----------'
 *
 * A slot belongs to one thread. slot->token selects the side that may write the rest of the slot.
 * At most one thread has the execution token. At most one slot therefore has TOKEN_PROGRAM. The
 * socket also shows whether the other side is alive: it is closed when the program or the simulator
 * ends.
 */
#ifndef VERBS_SHIM_PROTOCOL_H
#define VERBS_SHIM_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "verbs-shim/cpu_time.h"
#include "verbs-shim/socket_record.h"
#include "verbs-shim/watch_record.h"

/* Version of this file. Change it with each change of a structure or request. */
#define SHIM_MAGIC UINT64_C(0x68636173696d0017)

/* Environment of a program: descriptor of the attach socket, descriptor of the shared memory,
 * number of the host, inodes of the pipes for its output. */
#define SHIM_ENVIRONMENT "HCASIM_SHIM"

/* Environment variable with the name of the host on which a new image is to run. */
#define SHIM_HOST_VARIABLE "HCASIM_HOST"
#define SHIM_HOST_NAME     64
#define SHIM_NO_HOST       UINT32_MAX

/* The folder in which libc keeps the objects of shm_open() and sem_open(), and the folder of a
 * simulated host's files that replaces it. */
#define SHIM_SHARED_MEMORY "/dev/shm"
#define SHIM_SHARED_FOLDER "shm"

/* Lowest number of the library's own descriptors in a program. */
#define SHIM_FIRST_FD 900

#define SHIM_SLOTS     1024
#define SHIM_PROCESSES 256
#define SHIM_HOSTS     256
#define SHIM_CORES     256 /* of a host: highest value of cpu.cores */

/* Lowest virtual process id. */
#define SHIM_FIRST_PID 1000

/* Bytes of one store to a doorbell page, and of one line of the page. */
#define SHIM_BYTES 64
/* A post begins with a store to the start of a BlueFlame buffer, at a multiple of these bytes. */
#define SHIM_POST_BYTES 256

/* Timers of a process. setitimer() has the first SHIM_INTERVAL_TIMERS: one of real time and two of
 * processor time, which are equal in hcasim. timer_create() makes the others. */
#define SHIM_TIMERS          64
#define SHIM_INTERVAL_TIMERS 3
/* In the place of a timer: the signal comes from the simulator, which asks a server to end. */
#define SHIM_NO_TIMER SHIM_TIMERS

#define SHIM_RANGES 4
#define SHIM_SPANS  16
#define SHIM_STORES 4

/* Address space for the queue memory of a process. Pages that are not used take no memory. */
#define SHIM_QUEUE_BYTES (UINT64_C(1) << 34)

/* Leaves of cpuid. The state of the processor (leaf 0xd) is that of the machine. It is the highest
 * of the basic leaves. */
#define SHIM_LEAVES     32
#define SHIM_LEAF_STATE 0xd

/* Exit codes of a program: its simulator has ended; the program exceeds a limit of hcasim. */
#define SHIM_EXIT_LOST    98
#define SHIM_EXIT_REFUSED 2

#define SHIM_NEVER (UINT64_MAX >> 3)

/* Requests: name and effect. A request with arguments has a member of the same name in union
 * shim_request, or the member that is named here. A negative result is -errno. */
/* clang-format off */
#define SHIM_OPS(X) \
	X(NONE, "") \
	X(START, "first request of a thread") \
	X(YIELD, "the clock has reached the horizon, or `dirty` is set") \
	X(OPEN, "opens a device file; the result is a descriptor in the answer") \
	X(IOCTL, "ioctl(2) of a device file; the answer has descriptors and ranges") \
	X(WRITE, "write(2) of a device file; the answer has descriptors and ranges") \
	X(MMAP, "mmap(2) of a device file; the result is the offset at which to map it") \
	X(LOAD, "loads a register of the adapter; the result is its bytes, lowest first") \
	X(MAPPED, "pages are unmapped, or have new contents") \
	X(CLOSE, "the last descriptor and the last mapping of a device file are gone") \
	X(MMIO, "hands over the stores in the slot") \
	X(SPIN, "sleeps until a write to the spans in the slot") \
	X(OS_WAIT, "sleeps until another thread does something visible; 1: the deadline passed") \
	X(SOCKET, "a call of a simulated socket; a descriptor may follow") \
	X(SLEEP, "sleeps until the deadline; 1: a signal came first") \
	X(THREAD_NEW, "a thread is about to be created; the result is the number of its slot") \
	X(THREAD_EXIT, "the thread ends; not answered") \
	X(KILL, "the thread has sent signals, which may end processes")\
	X(THREAD_FAILED, "the thread could not be created") \
	X(SPAWN, "`image`: a child process is about to be created, and attaches if it can") \
	X(SPAWNED, "a child process was created, or not; the result is its virtual process id") \
	X(EXEC, "`image`: this process is about to be replaced, and attaches again if it can") \
	X(EXEC_FAILED, "the process was not replaced") \
	X(EXIT, "the process ends when it gets the token back, and keeps the token") \
	X(TIMER, "sets a timer that ends in a signal; the result is the time it had left, ps") \
	X(RING, "`mmap`: memory for a ring is in place; `protection` is its address")

#define SHIM_OP_ENUM(name, meaning) OP_##name,
enum shim_op { SHIM_OPS(SHIM_OP_ENUM) OP_COUNT };
/* clang-format on */

struct shim_open {
	/* Address of the path in the program, and flags of open(2). */
	uint64_t path, flags;
};

struct shim_ioctl {
	/* Number of the file, request, and third argument of ioctl(2). */
	uint64_t file, request, argument;
};

struct shim_write {
	/* Number of the file, address of the bytes in the program. */
	uint64_t file, bytes, length;
};

struct shim_mmap {
	/* Number of the file; offset, length and PROT_ bits of mmap(2). */
	uint64_t file, offset, length, protection;
};

struct shim_load {
	/* Number of the file, offset of the register in the file, length (1 to 8 bytes). */
	uint64_t file, offset, length;
};

struct shim_mapped {
	uint64_t address, length;
};

struct shim_close {
	uint64_t file;
};

struct shim_spin {
	/* Address that proved polling. */
	uint64_t address;
	/* shim_slot.visible_writes when the program last looked. */
	uint64_t visible_writes;
	/* 1: the loop reads clocks, and sleeps in short pieces. */
	uint64_t by_clocks;
};

struct shim_until {
	/* Virtual time, ps. SHIM_NEVER means none. */
	uint64_t deadline;
};

/* Values of shim_os_wait.socket. */
#define SHIM_NO_SOCKET  UINT64_C(0)
#define SHIM_ANY_SOCKET UINT64_MAX

struct shim_os_wait {
	uint64_t deadline;
	/* 1 + the number of the simulated socket that ends the wait, too. */
	uint64_t socket;
};

struct shim_socket_request {
	/* enum shim_socket_call. */
	uint64_t call;
	/* Number of the record. */
	uint64_t number;
	uint64_t value;
};

struct shim_thread_failed {
	/* Number of the slot that OP_THREAD_NEW returned. */
	uint64_t slot;
};

struct shim_image {
	/* enum shim_outside. If it is not OUTSIDE_NOT, the new image does not attach. */
	uint64_t outside;
	/* Address of its path in the program. */
	uint64_t path;
};

struct shim_spawned {
	/* Process id of the operating system. 0: no child was created. */
	uint64_t real_pid;
};

struct shim_timer {
	uint64_t deadline, interval;
	/* Signal to raise. 0: the timer is disarmed. */
	uint64_t signal;
	/* Number of the timer in its process. */
	uint64_t number;
	/* 1 + the slot of the thread that takes the signal. 0: any thread. */
	uint64_t taker;
};

union shim_request {
	struct shim_open open;
	struct shim_ioctl ioctl;
	struct shim_write write;
	struct shim_mmap mmap;
	struct shim_load load;
	struct shim_mapped mapped;
	struct shim_close close;
	struct shim_spin spin;
	struct shim_os_wait os_wait;
	struct shim_socket_request socket;
	struct shim_until sleep;
	struct shim_thread_failed thread_failed;
	struct shim_image image;
	struct shim_spawned spawned;
	struct shim_timer timer;
};

/* Reasons why the library cannot be in a program that is about to start. Such a program runs
 * outside virtual time. */
#define SHIM_OUTSIDE(X)                           \
	X(OUTSIDE_STATIC, "is statically linked") \
	X(OUTSIDE_32_BIT, "is a 32-bit program")  \
	X(OUTSIDE_SET_USER, "is set-user-ID")     \
	X(OUTSIDE_ENVIRONMENT, "starts without LD_PRELOAD and HCASIM_SHIM in its environment")

#define SHIM_OUTSIDE_ENUM(name, meaning) name,
enum shim_outside { OUTSIDE_NOT, SHIM_OUTSIDE(SHIM_OUTSIDE_ENUM) OUTSIDE_COUNT };

/* Bit of shim_memory.relay. */
#define RELAY_ASKED UINT32_C(0x80000000)

enum shim_token { TOKEN_SIMULATOR, TOKEN_PROGRAM };
enum shim_attach_kind { ATTACH_IMAGE, ATTACH_FORK };
enum shim_file_kind { FILE_COMMAND, FILE_CHANNEL, FILE_MESSAGE, FILE_NETLINK };

/* Pages of the program. */
struct shim_range {
	uint64_t address, length;
	/* Their place in the queue memory, if they are shared. */
	uint64_t offset;
};

struct shim_span {
	uint64_t address, length;
};

/* A store to a doorbell page. The program continues while the difference cannot be noticed, and the
 * store waits in the slot for the next request. The simulator executes both at their own times. */
struct shim_store {
	uint64_t clock;
	uint64_t offset;
	uint32_t file, length;
	uint8_t bytes[SHIM_BYTES];
};

/* The descriptor of a device file. The descriptors follow on the socket, in the same order. */
struct shim_new_file {
	/* enum shim_file_kind, and the number of the file. */
	uint32_t kind, id;
	/* Address in the program at which the descriptor is to be stored. 0: it is the result. */
	uint64_t number_at;
};

/* Actions of the library before OP_OPEN, OP_IOCTL, OP_WRITE or OP_MMAP returns, in the order of the
 * members. */
struct shim_response {
	/* 1: mmap(2) takes memory of the program, and reports its place. */
	uint32_t ring;
	/* 1: the adapter receives stores to the mapped page, and loads from it. */
	uint32_t registers;
	uint32_t file_count, range_count;
	/* Number of ranges of memory regions. These ranges are the last ones. */
	uint32_t region_count;
	/* Bit i: the program polls ranges[i]. */
	uint32_t polled;
	/* Rings, and their doorbell records, that become the program's own memory again. */
	struct shim_range retired, retired_record;
	/* Memory to which the adapter no longer writes. */
	struct shim_range unwatched;
	/* Pages that move to the queue memory. */
	struct shim_range ranges[SHIM_RANGES];
	/* Memory to which the adapter writes. */
	struct shim_span watched;
	struct shim_new_file files[2];
};

/* Both sides are on different processors, and each line of the cache that one of them writes and
 * the other reads takes long to move. The first line is enough for most hand-overs. */
struct shim_slot {
	/* enum shim_token. The thread waits on it as a futex. */
	uint32_t token;
	/* 1: the thread waits in futex(2). */
	uint32_t sleeping;
	/* Thread id of the operating system. */
	uint32_t tid;
	/* Request: enum shim_op. */
	uint32_t op;
	/* Request. */
	uint32_t store_count;
	/* Request. 1: the program has not run since the last request, so it has printed nothing. */
	uint8_t quiet;
	/* Request. 1: the program did something that others can see in the operating system. */
	uint8_t dirty;
	/* Request OP_YIELD. 1: the library guards the memory of the adapter until the next request.
	 * The thread cannot read or change it before its clock is exact. */
	uint8_t guarded;
	/* Reply: signal of a virtual timer that has expired, for the thread to raise. 0: none. */
	uint8_t signal;
	/* Virtual time of the thread, ps. Both sides move it. */
	uint64_t clock;
	/* Reply: the thread may run while its clock is below the horizon. A store lowers it. */
	uint64_t horizon;
	/* Reply: no other thread acts before the thread below this clock. Only a guarded thread has
	 * a later horizon. */
	uint64_t exact_horizon;
	/* Reply: horizon of a thread with waiting stores. */
	uint64_t store_horizon;
	/* Reply: number of writes of the adapter that the process can see. */
	uint64_t visible_writes;
	/* Second line. Request: the arguments. */
	union shim_request request;
	/* Reply. */
	int64_t result;
	/* Reply: the timer of `signal`, and how many more times it has expired since. */
	uint32_t timer, missed;
	/* Request OP_SPIN: memory that is polled. A count of 0 represents all memory. */
	uint32_t span_count;
	/* Request OP_SPIN. Bit i: other processes may write to spans[i]. */
	uint32_t peers;
	struct shim_span spans[SHIM_SPANS];
	/* Request: stores before it, in the order of their clocks. */
	struct shim_store stores[SHIM_STORES];
	/* Reply. */
	struct shim_response response;
} __attribute__((aligned(1024)));

/* Answers of cpuid. A leaf that is not listed has zeros. */
struct shim_leaf {
	/* eax and ecx. */
	uint32_t leaf, subleaf;
	/* 1: ecx counts. */
	uint32_t by_subleaf;
	/* eax, ebx, ecx, edx. */
	uint32_t words[4];
};

struct shim_leaves {
	uint32_t count;
	struct shim_leaf leaf[SHIM_LEAVES];
};

/* Words of 64 processors each. */
#define SHIM_CPU_WORDS 4

/* Caches: instructions, data, second level, third level. */
#define SHIM_CACHES 4

struct shim_cpus {
	uint64_t words[SHIM_CPU_WORDS];
};

/* The host as its programs see it. It does not depend on the machine. */
struct shim_host_view {
	uint64_t cores, memory_bytes;
	/* With lines of 64 bytes. */
	struct {
		uint32_t bytes, ways;
	} caches[SHIM_CACHES];
	char kernel_release[65];
};

/* Bytes that the programs of a host sent to other hosts by sockets, beside the rate of its link. */
struct shim_traffic {
	/* 0: the host has no link. */
	uint64_t link_bps;
	uint64_t bytes, first, at;
	/* Bytes that the link would not have carried yet: current and largest value. */
	uint64_t behind, behind_most;
	/* Number of times that a socket accepted no more bytes. */
	uint64_t full;
};

struct shim_process {
	uint32_t real_pid;
	uint32_t host;
	/* 1: the process has memory to which other processes may write. */
	uint32_t shares;
	/* Processors on which a new image may run. None: all. */
	struct shim_cpus cpus;
	/* Processor time of its threads, without the time in which they wait or sleep. */
	struct cpu_time cpu;
	/* The same of the children that it has waited for, and of theirs. */
	struct cpu_time children;
	/* Shortest time after which a doorbell store can have a visible effect, ps. */
	uint64_t store_delay;
};

/* Processor time of a core, ps. softirq: for received frames, while no program works on it. */
struct shim_core_time {
	uint64_t user, system, softirq;
};

struct shim_memory {
	uint64_t magic;
	/* Number of iterations for which a waiting side spins before it sleeps. 0: it sleeps
	 * immediately. */
	uint32_t spin_iterations;
	/* 1: only the thread that ran last spins, on the processor that the next thread needs, and
	 * releases it on request. */
	uint32_t relays;
	/* 1: a thread that releases this processor may yield it in place of sleeping. */
	uint32_t yields;
	uint64_t tsc_hz;
	/* Clocks at virtual time 0. */
	uint64_t realtime_base_ns, monotonic_base_ns;
	uint64_t cost_clock_read, cost_system_call, cost_mmio_store, post_interval;
	/* Time for which a thread that releases a contended spin lock sleeps, so that a waiting
	 * thread can take it. */
	uint64_t lock_handoff;
	uint64_t seed;
	/* 1: a program tried to install a filter of system calls (seccomp). */
	uint32_t filters_ignored;
	/* The processor that programs see. */
	struct shim_leaves leaves;
	struct shim_host_view host;
	/* Futex of the simulator. A program that hands over a request adds one if the simulator
	 * sleeps. */
	uint32_t bell __attribute__((aligned(64)));
	/* 1: the simulator waits on the futex. */
	uint32_t sleeping;
	/* 0: no thread spins. N + 1: the thread of slot N has the processor of the programs, and
	 * runs or spins. With RELAY_ASKED: the thread of that slot is next, and may be asleep. */
	uint32_t relay __attribute__((aligned(64)));
	/* The line of the programs alone. N + 1: the thread of slot N had the processor before. */
	uint32_t relay_before __attribute__((aligned(64)));
	/* N + 1: the thread of slot N yields the processor until it gets the token. 0: none. */
	uint32_t yielder;
	/* N + 1: the thread of slot N is expected to be next, and spins when it gets the processor.
	 * 0: none. */
	uint32_t expected;
	/* N + 1: the thread of slot N had the token last. */
	uint32_t holder;
	struct shim_traffic traffic[SHIM_HOSTS] __attribute__((aligned(64)));
	struct shim_socket_costs socket_costs;
	struct shim_socket sockets[SHIM_SOCKETS];
	struct shim_watches watches;
	/* For each host: number of processes that have had memory to which others may write. */
	uint32_t sharing[SHIM_HOSTS];
	struct shim_process processes[SHIM_PROCESSES];
	struct shim_slot slots[SHIM_SLOTS];
	/* Processor time, ps, that the simulator charged to each thread since the thread last had
	 * the token. */
	uint64_t charged[SHIM_SLOTS][CPU_KIND_COUNT];
	/* Time, ps, in which the thread could run and its core was taken, since then. */
	uint64_t preempted[SHIM_SLOTS];
	/* The core of each thread. */
	uint32_t cores[SHIM_SLOTS];
	struct shim_core_time core_times[SHIM_HOSTS][SHIM_CORES];
	/* Processors on which each thread may run. None: all. */
	struct shim_cpus cpus[SHIM_SLOTS];
};

/* Sent on the attach socket, with one end of a new socket pair. */
struct shim_attach {
	uint64_t magic;
	/* enum shim_attach_kind. */
	uint32_t kind;
	uint32_t host;
	int32_t real_pid;
	/* Name of the host. Empty: `host` counts. */
	char host_name[SHIM_HOST_NAME];
};

/* The reply on the new socket, with the descriptor of the process's queue memory. */
struct shim_welcome {
	/* Virtual process id - SHIM_FIRST_PID. */
	uint32_t process;
	uint32_t slot;
	int32_t parent;
	/* SHIM_NO_HOST: unknown host name, so the program ends. */
	uint32_t host;
	/* The directory that stands for /. */
	char tree[160];
	/* Text for names_init(). */
	char hosts[4096];
};

_Static_assert(sizeof(struct shim_slot) == 1024, "a slot is sixteen cache lines");
_Static_assert(offsetof(struct shim_slot, request) == 64, "the second line");
_Static_assert(offsetof(struct shim_slot, spans) == 128, "the third line");

#endif
