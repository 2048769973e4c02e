/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_time: processor time of a thread or a program, divided by purpose. The preloaded library and
 * the simulator both charge time. Each charge names its kind, and the kinds sum to the total.
 */
#ifndef VERBS_SHIM_CPU_TIME_H
#define VERBS_SHIM_CPU_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* X(name, mode, meaning). mode: USER or SYSTEM, as getrusage() divides the time. */
#define CPU_KINDS(X) \
	X(clock_read, USER, "reads of clocks") \
	X(posting, USER, "stores to doorbell pages, with their waits for room at the adapter") \
	X(polling, USER, "reads of memory until the adapter or another process writes it") \
	X(register_load, USER, "loads of registers of the adapter") \
	X(system_call, SYSTEM, "entry and exit of system calls") \
	X(registration, SYSTEM, "registration of memory regions") \
	X(verbs, SYSTEM, "other verbs of the kernel: contexts, queue pairs, completion queues") \
	X(copy, SYSTEM, "copies between program memory and kernel memory") \
	X(transmit, SYSTEM, "TCP or UDP, IP and driver, for each segment sent") \
	X(interrupt, SYSTEM, "interrupts and NAPI polls") \
	X(gro, SYSTEM, "driver and GRO, for each packet received") \
	X(skb, SYSTEM, "buffers and pages of received payload") \
	X(receive, SYSTEM, "IP and TCP or UDP, for each merged segment received") \
	X(scheduling, SYSTEM, "wake-ups of waiting threads") \
	X(process, SYSTEM, "creation of threads and processes") \
	X(noise, SYSTEM, "disturbances by the host") \
	X(untracked, USER, "time in calls that hcasim does not track")
/* clang-format on */

#define CPU_KIND_ENUM(name, mode, meaning) CPU_##name,
enum cpu_kind { CPU_KINDS(CPU_KIND_ENUM) CPU_KIND_COUNT };

struct cpu_time {
	uint64_t total; /* ps, by the clocks of the threads */
	uint64_t kinds[CPU_KIND_COUNT];
};

static inline void cpu_time_add(struct cpu_time *to, const struct cpu_time *from)
{
	to->total += from->total;
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		to->kinds[kind] += from->kinds[kind];
}

static inline bool cpu_kind_is_system(enum cpu_kind kind)
{
	enum { USER, SYSTEM };
#define CPU_KIND_MODE(name, mode, meaning) mode,
	static const uint8_t modes[CPU_KIND_COUNT] = {CPU_KINDS(CPU_KIND_MODE)};
#undef CPU_KIND_MODE

	return modes[kind] == SYSTEM;
}

/* Returns the system time. The rest of the total is user time. */
static inline uint64_t cpu_time_system(const struct cpu_time *time)
{
	uint64_t system = 0;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		system += cpu_kind_is_system((enum cpu_kind)kind) ? time->kinds[kind] : 0;
	return system;
}

#endif
