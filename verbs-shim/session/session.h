/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session: runs unmodified programs on simulated hosts. It starts them with a preloaded library,
 * gives them virtual time, and passes their use of RDMA devices to the emulated kernel of their
 * host.
 *
 *     hcasim exec --session_run()--> scheduler <--shared slots--> program and preload library
 *                                       |   ^
 *                        kernel_ioctl() v   | channel_write(), DMA into the program's memory
 *                                     kernel --> hca
 *
 * Call session_supervise() first in main, then session_create(). For each host call
 * session_add_host(), which returns an argument of kernel_create(), then session_set_kernel(). Then
 * call session_add_program(), session_prepare() and session_run().
 */
#ifndef VERBS_SHIM_SESSION_SESSION_H
#define VERBS_SHIM_SESSION_SESSION_H

#include "verbs-shim/cpu_time.h"
#include "verbs-shim/kernel/kernel.h"
#include "verbs-shim/session/processor.h"
#include "verbs-shim/sockets/sockets.h"

/* clang-format off */
#define CPU_PARAMS(X) \
	X(clock_read, TIME, "20ns", "1ps..1ms", \
	  "Time to read a clock (clock_gettime(), rdtsc).", \
	  "assumed: a vDSO call") \
	X(system_call, TIME, "200ns", "1ps..1ms", \
	  "Time of a system call that hcasim intercepts.", \
	  "assumed: a short system call with mitigations") \
	X(block, TIME, "1us", "0ps..1ms", \
	  "Time to wake a thread that sleeps in the kernel.", \
	  "assumed: one context switch") \
	X(socket, TIME, "10us", "0ps..1s", \
	  "Latency from a write to a socket or pipe until its reader sees the bytes.", \
	  "assumed: loopback TCP") \
	X(mmio_store, TIME, "45ns", "0ps..1ms", \
	  "Time of a store to a doorbell page, of at most 64 B.", \
	  "assumed: less than the 150 ns of a whole post_send() in HERD, 4.1.1") \
	X(post_interval, TIME, "150ns", "0ps..1ms", \
	  "Time of a core from one post to the next, if its stores take less. A post begins with " \
	  "a store to the start of a BlueFlame buffer.", \
	  "HERD, SIGCOMM 2014, 4.1.1: a post_send() takes some 150 ns") \
	X(poll, TIME, "40ns", "0ps..1ms", \
	  "Latency from a visible write of the adapter until the polling program continues. On " \
	  "hosts without DDIO the memory latency is added.", \
	  "assumed: a cache miss") \
	X(noise_interval, TIME, "0ps", "0ps..1s", \
	  "Mean time between two disturbances of a thread by its host, exponentially " \
	  "distributed. Each thread has a core of its own. 0: no disturbances.", \
	  "choice; a timer tick of Linux at 1000 Hz has 1ms, at 250 Hz 4ms") \
	X(noise, TIME, "1845ns", "1ps..1ms", \
	  "Duration of a disturbance, during which the thread does no work.", \
	  "Linux, Documentation/trace/osnoise-tracer.rst: interrupts of the local timer of 1845 " \
	  "and 2848 ns; the one that no other work follows") \
	X(shared, TIME, "100ns", "1ps..1ms", \
	  "Latency from a store to memory that processes share until another process, which " \
	  "polls it, continues.", \
	  "assumed: a cache line on its way between two cores") \
	X(lock_handoff, TIME, "500ns", "1ps..1ms", \
	  "Time for which a thread that releases a contended pthread spin lock sleeps, so that a " \
	  "waiting thread can take the lock.", \
	  "assumed: an iteration of a loop that tries a lock, with clocks and a system call") \
	X(thread, TIME, "10us", "0ps..1s", \
	  "Time to create a thread.", \
	  "assumed: clone and first schedule") \
	X(process, TIME, "500us", "0ps..1s", \
	  "Time of fork() or exec().", \
	  "assumed: fork of a small program") \
	X(tsc, FREQ, "2GHz", "1MHz..10GHz", \
	  "Rate of the time stamp counter, and nominal clock in /proc/cpuinfo.", \
	  "choice") \
	X(processor, CHOICE, "xeon-e5-v3", PROCESSOR_CHOICES, \
	  "Processor that cpuid and /proc/cpuinfo report: Intel Haswell or AMD Milan. It does " \
	  "not depend on the machine. On AMD Milan UCX requests relaxed ordering.", \
	  "choice: the host of most presets") \
	X(cores, COUNT, "16", "1..256", \
	  "Number of processors that programs see: sched_getaffinity(), sysconf(), " \
	  "/proc/cpuinfo, /sys/devices/system/cpu.", \
	  "choice: two Xeon E5-2640 v3") \
	X(memory, BYTES, "64GiB", "256MiB..4096GiB", \
	  "Memory that programs see: sysconf(), sysinfo(), /proc/meminfo. It limits nothing.", \
	  "choice: eight modules of 8 GiB") \
	X(huge_pages, CHOICE, "madvise", "always|madvise|never", \
	  "Mode of transparent huge pages that programs read in " \
	  "/sys/kernel/mm/transparent_hugepage/enabled. UCX places its buffers by it. The " \
	  "adapter uses pages of 4 KiB.", \
	  "choice: Ubuntu's default; Debian and RHEL have always") \
	X(kernel_release, TEXT, "6.1.0", "", \
	  "Kernel release that uname() and /proc/version report, 1 to 64 letters.", \
	  "choice: Debian 12")

#define SESSION_PARAMS(X) \
	X(handoff, CHOICE, "auto", "auto|futex|spin", \
	  "How threads wait for the execution token. `futex`: they sleep. `spin`: they spin, " \
	  "each on a free core. `auto`: on one processor they sleep, on two the last one spins; " \
	  "hcasim measures both and uses the faster. Results do not depend on it.", \
	  "choice") \
	X(quantum, TIME, "3ms", "100us..1s", \
	  "Real time without a request after which hcasim watches whether a thread polls memory. " \
	  "Results do not depend on it.", \
	  "choice") \
	X(silence, TIME, "30s", "0ps..1000s", \
	  "Real time without a request after which hcasim names a thread on standard error. `0`: " \
	  "never. Results do not depend on it.", \
	  "choice") \
	X(lookahead, TIME, "5us", "1ps..1ms", \
	  "Time by which a thread that only computes may run ahead of the others while the " \
	  "fabric is idle.", \
	  "choice") \
	X(skew, TIME, "0ps", "0ps..1000s", \
	  "Delay between the starts of two programs that follow each other on the command line. " \
	  "`0`: all start together.", \
	  "choice") \
	X(head_start, TIME, "200ms", "1us..1000s", \
	  "Longest time for which the start of a client is delayed until its server only waits. " \
	  "A client is a program that names the host of another program, its server.", \
	  "choice") \
	X(server_end, TIME, "1s", "0ps..1000s", \
	  "Time that servers have to end after SIGTERM, which they get when all other programs " \
	  "have ended. The servers that are left are then killed.", \
	  "choice") \
	X(limit, TIME, "0ps", "", \
	  "Virtual time at which hcasim ends the programs. `0`: no limit.", \
	  "choice")
/* clang-format on */

struct cpu_params {
	CPU_PARAMS(PARAM_FIELD)
};

struct session_params {
	SESSION_PARAMS(PARAM_FIELD)
};

extern const struct param session_cpu_param_list[];
extern const struct param session_param_list[];

struct session;

/*
 * Forks the caller. The child returns and becomes the simulator. The parent forwards signals. If
 * the simulator dies, the parent ends its programs and removes its files. It exits with the child's
 * code. Call it while no thread runs, before anything that does not survive a fork.
 */
void session_supervise(void);

/* Checks the limits of this process: enough memory for a session (ulimit -f), and enough open files
 * for a program (ulimit -Hn). Returns false and writes the expected limit to *error. */
bool session_is_permitted(char *error, size_t error_bytes);

/* Creates a session. Call session_is_permitted() first. Copies the parameters. `color`: colored
 * prefixes, for a terminal. `verbose` prints a summary at the end. */
struct session *session_create(struct sim *sim, const struct cpu_params *cpu,
			       const struct session_params *params, bool color, bool verbose);
void session_destroy(struct session *session); /* may be called without session_run() */

/* Adds a host. Hosts are numbered from 0 in the order of the calls. `ipv4` is the address that its
 * programs bind to, 127.77.0.k. Pass the result to kernel_create(). The result and the kernel must
 * outlive the run. */
struct kernel_host *session_add_host(struct session *session, const char *name,
				     const uint8_t ipv4[4]);
void session_set_kernel(struct session *session, uint32_t host,
			struct kernel *kernel); /* NULL: no RDMA device */

/* Sets the rate of the host's link, with which the socket traffic of its programs is compared. */
void session_set_link(struct session *session, uint32_t host, uint64_t rate_bps);

/* Call it after the last host. Sockets then use these parameters, and take the latency of paths
 * from the endpoints. Endpoints and params must outlive the run. */
void session_connect(struct session *session, const struct socket_params *params,
		     struct endpoints *endpoints);

/* Adds a program to a host. The caller keeps ownership of argv. The program starts at `start`; a
 * client starts after its servers (start.c). A server ends with the other programs (servers.c).
 * Returns false and writes the reason to *error if it cannot run (a user error). */
bool session_add_program(struct session *session, uint32_t host, char *const argv[], sim_time start,
			 bool is_server, char *error, size_t error_bytes);

/* Writes the files for /sys, /dev and /proc of each host into the run's folder, which session_run()
 * removes. Returns false on failure, for example if TMPDIR is full, or if ulimit -v leaves no
 * address space for the programs. It then writes the reason to *error and removes the files. */
bool session_prepare(struct session *session, char *error, size_t error_bytes);

/* Runs the simulation until all programs have ended. Returns 0 if all succeeded, otherwise the
 * first exit code that is not 0 (128 + signal for a killed program). Diagnostics go to standard
 * error, the programs' lines to standard output and error. */
int session_run(struct session *session);

/* Returns a hash of all interactions of programs with the simulator and their times. Equal runs
 * have equal hashes. */
uint64_t session_trace_hash(const struct session *session);

/* Processor time of a program and its children. */
struct session_cpu {
	uint32_t host;
	const char *program; /* its first word; the session owns it */
	const struct cpu_time *time;
};
/* The kernels of the hosts follow the programs: received frames on idle cores ("[swapper]") and in
 * "[ksoftirqd]". */
uint32_t session_cpu_count(const struct session *session);
/* Call it after session_run(). */
struct session_cpu session_cpu_of(const struct session *session, uint32_t number);
/* Writes a line for each program whose kinds of processor time do not sum to its total. Returns
 * their number. */
unsigned session_check_cpu(const struct session *session, FILE *out);

/* Returns the errno of a failed write of program output, or 0. A closed output pipe is not an
 * error. */
int session_output_error(const struct session *session);

#endif
