/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock: all clocks show virtual time, and sleeping waits for it. A read of a clock takes a
 * constant time. It needs no hand-off within the granted window. A thread that has ended, and whose
 * destructors run, reads the time of its end. libc's own functions call these functions again
 * (clock_init()). Threads that the library does not know therefore ask the system.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/host.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/vdso.h"

#define PS_PER_NS   UINT64_C(1000)
#define NS_PER_S    UINT64_C(1000000000)
#define PS_PER_US   UINT64_C(1000000)
#define PS_PER_TICK UINT64_C(10000000000) /* Linux: USER_HZ is 100 */

static bool is_known(void)
{
	return shim_self.id != 0;
}

static uint64_t now_ps(void)
{
	return shim_self.slot ? gate_now() : shim_self.ended_at;
}

static uint64_t read_ns(clockid_t id)
{
	uint64_t now;

	if (shim_active())
		gate_charge(CPU_clock_read, shim.memory->cost_clock_read);
	now = now_ps() / PS_PER_NS;
	switch (id) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return shim.memory->realtime_base_ns + now;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return shim.memory->monotonic_base_ns + now;
	case CLOCK_THREAD_CPUTIME_ID:
		if (shim_self.slot)
			gate_count();
		return shim_self.cpu.total / PS_PER_NS;
	default:
		if (shim_self.slot)
			gate_count();
		return shim.process->cpu.total / PS_PER_NS;
	}
}

static uint64_t user_time(const struct cpu_time *cpu)
{
	return cpu->total - cpu_time_system(cpu);
}

static uint64_t ticks_now(void)
{
	unsigned __int128 ticks = (unsigned __int128)now_ps() * shim.memory->tsc_hz;

	return (uint64_t)(ticks / UINT64_C(1000000000000));
}

bool clock_rdtsc(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	const uint8_t *code = (const uint8_t *)(uintptr_t)registers[REG_RIP];
	bool plain = code[0] == 0x0f && code[1] == 0x31;
	bool with_processor = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
	uint64_t ticks = 0;

	if (!plain && !with_processor)
		return false;
	if (shim_active())
		gate_charge(CPU_clock_read, shim.memory->cost_clock_read);
	if (shim_self.id)
		ticks = ticks_now();
	registers[REG_RAX] = (greg_t)(ticks & UINT32_MAX);
	registers[REG_RDX] = (greg_t)(ticks >> 32);
	if (with_processor)
		registers[REG_RCX] = 0;
	registers[REG_RIP] += plain ? 2 : 3;
	return true;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *time)
{
	uint64_t now;

	if (!is_known())
		return (int)system_call(SYS_clock_gettime, id, time);
	now = read_ns(id);
	*time = (struct timespec){(time_t)(now / NS_PER_S), (long)(now % NS_PER_S)};
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	uint64_t now;

	if (!is_known())
		return (int)system_call(SYS_gettimeofday, time, zone);
	now = read_ns(CLOCK_REALTIME) / 1000;
	*time = (struct timeval){(time_t)(now / 1000000), (suseconds_t)(now % 1000000)};
	return 0;
}

EXPORT time_t time(time_t *result)
{
	time_t now;

	if (!is_known())
		return (time_t)system_call(SYS_time, result);
	now = (time_t)(read_ns(CLOCK_REALTIME) / NS_PER_S);
	if (result)
		*result = now;
	return now;
}

EXPORT int timespec_get(struct timespec *time, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

EXPORT clock_t clock(void)
{
	if (!is_known())
		return REAL(clock)();
	return (clock_t)(read_ns(CLOCK_PROCESS_CPUTIME_ID) / (NS_PER_S / CLOCKS_PER_SEC));
}

EXPORT clock_t times(struct tms *buffer)
{
	uint64_t ticks;

	if (!is_known())
		return REAL(times)(buffer);
	ticks = read_ns(CLOCK_MONOTONIC) * PS_PER_NS / PS_PER_TICK;
	(void)read_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (buffer)
		*buffer = (struct tms){
			.tms_utime = (clock_t)(user_time(&shim.process->cpu) / PS_PER_TICK),
			.tms_stime = (clock_t)(cpu_time_system(&shim.process->cpu) / PS_PER_TICK),
			.tms_cutime = (clock_t)(user_time(&shim.process->children) / PS_PER_TICK),
			.tms_cstime =
				(clock_t)(cpu_time_system(&shim.process->children) / PS_PER_TICK)};
	return (clock_t)ticks;
}

static struct timeval timeval_of(uint64_t ps)
{
	return (struct timeval){(time_t)(ps / PS_PER_US / 1000000),
				(suseconds_t)(ps / PS_PER_US % 1000000)};
}

/* Values other than processor time are 0, as Linux reports values that it does not count. Faults
 * and switches of the machine are not part of the run. */
struct rusage clock_usage(const struct cpu_time *cpu)
{
	return (struct rusage){.ru_utime = timeval_of(user_time(cpu)),
			       .ru_stime = timeval_of(cpu_time_system(cpu))};
}

/* Returns the processor time that getrusage() reports, or NULL. */
static const struct cpu_time *cpu_of(int who)
{
	switch (who) {
	case RUSAGE_SELF:
		return &shim.process->cpu;
	case RUSAGE_THREAD:
		return &shim_self.cpu;
	case RUSAGE_CHILDREN:
		return &shim.process->children;
	default:
		return NULL;
	}
}

/* Reports processor time as clock() does. */
EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
	const struct cpu_time *cpu = is_known() ? cpu_of(who) : NULL;

	if (!cpu)
		return REAL(getrusage)(who, usage);
	(void)read_ns(CLOCK_PROCESS_CPUTIME_ID);
	*usage = clock_usage(cpu);
	return 0;
}

/* Sleeps until the deadline. Returns false if a signal came first. */
static bool sleep_until(uint64_t deadline)
{
	shim_self.interrupted = false;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	do { /* a signal that the thread has blocked ends no sleep */
		(void)gate_call(OP_SLEEP, REQUEST(.sleep = {deadline}));
	} while (!shim_self.interrupted && gate_now() < deadline);
	return !shim_self.interrupted;
}

static uint64_t ps_of(const struct timespec *time)
{
	return ((uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec) * PS_PER_NS;
}

EXPORT int clock_nanosleep(clockid_t id, int flags, const struct timespec *request,
			   struct timespec *left)
{
	uint64_t deadline, now;

	if (!shim_active())
		return REAL(clock_nanosleep)(id, flags, request, left);
	if (request->tv_nsec < 0 || request->tv_nsec >= (long)NS_PER_S || request->tv_sec < 0)
		return EINVAL;
	deadline = ps_of(request);
	if (flags & TIMER_ABSTIME) {
		uint64_t base = (id == CLOCK_REALTIME ? shim.memory->realtime_base_ns
						      : shim.memory->monotonic_base_ns) *
				PS_PER_NS;
		deadline = deadline > base ? deadline - base : 0;
	} else {
		deadline += gate_now();
	}
	if (sleep_until(deadline))
		return 0;
	now = gate_now();
	if (left && !(flags & TIMER_ABSTIME)) {
		uint64_t ns = (deadline > now ? deadline - now : 0) / PS_PER_NS;
		*left = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
	}
	return EINTR;
}

EXPORT int nanosleep(const struct timespec *request, struct timespec *left)
{
	int error;

	if (!shim_active())
		return REAL(nanosleep)(request, left);
	error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, left);
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

EXPORT int usleep(useconds_t microseconds)
{
	struct timespec request = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};

	return nanosleep(&request, NULL);
}

EXPORT unsigned sleep(unsigned seconds)
{
	struct timespec request = {seconds, 0}, left = {0, 0};

	if (!shim_active())
		return REAL(sleep)(seconds);
	if (nanosleep(&request, &left) == 0)
		return 0;
	return (unsigned)left.tv_sec + (left.tv_nsec > 0);
}

static struct timespec at_now(clockid_t id)
{
	uint64_t now = read_ns(id);

	return (struct timespec){(time_t)(now / NS_PER_S), (long)(now % NS_PER_S)};
}

void clock_stamp(struct msghdr *message)
{
	struct timespec now = at_now(CLOCK_REALTIME), three[3] = {now};
	struct timeval micro = {now.tv_sec, now.tv_nsec / 1000};

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET)
			continue;
		if (part->cmsg_type == SCM_TIMESTAMP && part->cmsg_len == CMSG_LEN(sizeof(micro)))
			memcpy(CMSG_DATA(part), &micro, sizeof(micro));
		else if (part->cmsg_type == SCM_TIMESTAMPNS &&
			 part->cmsg_len == CMSG_LEN(sizeof(now)))
			memcpy(CMSG_DATA(part), &now, sizeof(now));
		else if (part->cmsg_type == SCM_TIMESTAMPING &&
			 part->cmsg_len == CMSG_LEN(sizeof(three)))
			memcpy(CMSG_DATA(part), three, sizeof(three));
	}
}

int clock_uptime_file(int flags)
{
	struct timespec now = at_now(CLOCK_BOOTTIME);
	char text[64];
	int length = snprintf(text, sizeof(text), "%ld.%02ld 0.00\n", (long)now.tv_sec,
			      now.tv_nsec / 10000000);

	return files_of_text("uptime", text, length, flags);
}

EXPORT int sysinfo(struct sysinfo *info)
{
	int result = REAL(sysinfo)(info);

	if (result == 0 && is_known())
		*info = (struct sysinfo){.uptime = at_now(CLOCK_BOOTTIME).tv_sec,
					 .totalram = shim.memory->host.memory_bytes,
					 .freeram = shim.memory->host.memory_bytes,
					 .procs = 1,
					 .mem_unit = 1};
	return result;
}

static time_t vdso_time(time_t *result)
{
	return time(result);
}

void clock_init(void)
{
	static const struct vdso_function functions[] = {
		{"__vdso_clock_gettime", (void *)clock_gettime},
		{"__vdso_gettimeofday", (void *)gettimeofday},
		{"__vdso_time", (void *)vdso_time},
		{"__vdso_getcpu", (void *)host_getcpu},
		{NULL, NULL}};

	(void)vdso_patch(
		functions); /* without it, libc's own reads of clocks are all that is missed */
}

void clock_begin_thread(void)
{
	(void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}
