/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: runs unmodified programs on simulated hosts. It starts them with a preloaded library, gives them
 * virtual time, and carries what they do with RDMA devices to the emulated kernel of their host.
 *
 *     hcasim exec --session_run()--> [scheduler, one execution token] <--shared slots--> program + preload library
 *                                         |        ^
 *                          kernel_ioctl() v        | channel_write(), DMA into the program's memory
 *                                      kernel --> hca
 *
 * Order of use: session_supervise() first thing in main; session_create(); for each host session_add_host(), which
 * gives what kernel_create() asks for, then session_set_kernel(); session_add_program(); session_prepare();
 * session_run().
 */
#ifndef VERBS_SHIM_SESSION_SESSION_H
#define VERBS_SHIM_SESSION_SESSION_H

#include "verbs-shim/kernel/kernel.h"
#include "verbs-shim/session/processor.h"

/* clang-format off */
#define CPU_PARAMS(X)                                                                                       \
	X(clock_read,  TIME, "20ns",  "1ps..1ms", "reading a clock (clock_gettime, rdtsc ...)", "assumed: a vDSO call") \
	X(system_call, TIME, "200ns", "1ps..1ms", "a system call that the session sees",  "assumed: a short system call with mitigations") \
	X(block,       TIME, "1us",   "0ps..1ms", "waking a thread that sleeps in the kernel", "assumed: one context switch") \
	X(socket,      TIME, "10us",  "0ps..1s",  "from a write on a socket or pipe until its reader sees it", "assumed: loopback TCP") \
	X(mmio_store,  TIME, "45ns",  "0ps..1ms", "filling a WQE and storing to a doorbell page", "assumed: less than the 150 ns of a whole post_send() in HERD, 4.1.1") \
	X(poll,        TIME, "40ns",  "0ps..1ms", "from a visible write of the HCA until the polling program goes on; memory's latency comes on top where the host has no DDIO", "assumed: a cache miss") \
	X(shared,      TIME, "100ns", "1ps..1ms", "from a store to memory that processes share until another one, which polls it, goes on", "assumed: a cache line on its way between two cores") \
	X(lock_handoff,   TIME, "500ns", "1ps..1ms", "how long who leaves a pthread spin lock that another thread has tried in vain keeps off it, so that this one has its turn", "assumed: a turn of a loop that tries a lock, with clocks and a system call in it") \
	X(thread,      TIME, "10us",  "0ps..1s",  "creating a thread", "assumed: clone and first schedule") \
	X(process,     TIME, "500us", "0ps..1s",  "fork, exec", "assumed: fork of a small program") \
	X(tsc,         FREQ, "2GHz",  "1MHz..10GHz", "rate of the time stamp counter and nominal clock in /proc/cpuinfo", "choice") \
	X(processor,   CHOICE, "xeon-e5-v3", PROCESSOR_CHOICES, "what cpuid and /proc/cpuinfo say to programs, whatever the machine has: Intel's Haswell or AMD's Milan, on which UCX asks for relaxed ordering", "choice: the host of most presets") \
	X(cores,       COUNT, "16", "1..256", "processors that programs see: sched_getaffinity(), sysconf(), /proc/cpuinfo, /sys/devices/system/cpu", "choice: two Xeon E5-2640 v3") \
	X(memory,      BYTES, "64GiB", "256MiB..4096GiB", "memory that programs see: sysconf(), sysinfo(), /proc/meminfo; nothing limits them to it", "choice: eight modules of 8 GiB") \
	X(huge_pages,  CHOICE, "madvise", "always|madvise|never", "transparent huge pages, as /sys/kernel/mm/transparent_hugepage/enabled says; with never UCX puts buffers elsewhere; the adapter knows pages of 4 KiB in any case", "choice: Ubuntu's; Debian's and RHEL's is always") \
	X(kernel_release, TEXT, "6.1.0", "", "what uname() and /proc/version say, 1 to 64 letters", "choice: Debian 12")

#define SESSION_PARAMS(X)                                                                                   \
	X(handoff,     CHOICE, "auto",  "auto|futex|spin", "how threads wait for their turn: auto: asleep, all on one processor, or spinning for a while, the programs on a second one: what proves faster; futex: asleep, wherever they are; spin: spinning, for a free core each", "choice") \
	X(quantum,     TIME, "3ms",   "100us..1s", "real time without interaction after which a thread is watched for polling memory; never changes a result", "choice") \
	X(lookahead,   TIME, "5us",   "1ps..1ms", "how far a thread that only computes may run ahead of the others while nothing is under way in the fabric", "choice") \
	X(skew,        TIME, "0ps",   "0ps..1000s", "how much later each program starts than the one before it on the command line; 0: together", "choice") \
	X(head_start,  TIME, "200ms", "1us..1000s", "how long a program that names the host of another one waits at most until that one has nothing to do but wait", "choice") \
	X(limit,       TIME, "0ps",   "",          "virtual time after which the programs are ended; 0: never", "choice")
/* clang-format on */

struct cpu_params {
	CPU_PARAMS(PARAM_FIELD)
};

struct session_params {
	SESSION_PARAMS(PARAM_FIELD)
};

extern const struct param cpu_param_list[];
extern const struct param session_param_list[];

struct session;

/*
 * Splits the caller in two: it returns in the child, which goes on to be the simulator. The parent stays behind to
 * forward signals and, if the simulator dies, to end its programs and remove its files; it exits with the child's code.
 * Call it before anything that a fork would not survive, with no thread running.
 */
void session_supervise(void);

/* May this process have memory as large as a session shares with its programs (ulimit -f), and as many files open as a program
 * (ulimit -Hn)? false: *error says what is expected. */
bool session_is_permitted(char *error, size_t error_bytes);

/* If it is permitted. The params are copied. color: prefixes in color (standard output is a terminal). verbose: a summary at the end. */
struct session *session_create(struct sim *sim, const struct cpu_params *cpu,
			       const struct session_params *params, bool color, bool verbose);
void session_destroy(struct session *session); /* after session_run(), or without it */

/* Hosts are numbered from 0 in the order of the calls. ipv4: the address its programs bind to, 127.77.0.k. The result
 * is for kernel_create(); it and the kernel outlive the run. */
struct kernel_host *session_add_host(struct session *session, const char *name,
				     const uint8_t ipv4[4]);
void session_set_kernel(struct session *session, uint32_t host,
			struct kernel *kernel); /* NULL: no RDMA device */

/* The data rate of its link: what programs send by sockets is compared with that. */
void session_set_link(struct session *session, uint32_t host, uint64_t rate_bps);

/* A program to start on that host. argv stays the caller's. It starts at `start`, but as a client after its servers (start.c). false: it cannot be run; *error says so in words (the user's mistake). */
bool session_add_program(struct session *session, uint32_t host, char *const argv[], sim_time start,
			 char *error, size_t error_bytes);

/* Writes what programs of each host find under /sys, /dev and /proc, into the run's own directory, which is gone after session_run().
 * false: it cannot be written (TMPDIR is full, say), or this process has no address space for the programs added (ulimit -v); *error
 * says so in words, and nothing is left. */
bool session_prepare(struct session *session, char *error, size_t error_bytes);

/* Runs the simulation until all programs have ended. Returns the first exit code that is not 0 (128 + signal for a killed
 * program), 0 if all succeeded. Diagnostics go to standard error, the programs' lines to standard output and error. */
int session_run(struct session *session);

/* Hash over all interactions of programs with the simulator and their times; equal for equal runs. */
uint64_t session_trace_hash(const struct session *session);

/* errno of what programs printed and could not be passed on; 0: all was, or nobody wants to read it. */
int session_output_error(const struct session *session);

#endif
