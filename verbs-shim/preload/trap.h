/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap: handles accesses of the program to memory that concerns the simulator, and instructions
 * that read the time or the processor.
 *
 *     SIGSEGV --> register?  A store is decoded, combined with its neighbours as a write-combining
 *                            buffer does, and handed over. A load asks the adapter, and the
 *                            instruction is executed when the reply has arrived.
 *             --> watched?   The load is executed. If the loop has read the same address before
 *                            and nothing can have changed, the program polls: it sleeps until the
 *                            next write of the adapter (trap_poll.h).
 *             --> rdtsc?     Virtual time.
 *             --> cpuid?     The processor of the simulated host (processor.h).
 *             --> else       The program's own handler.
 *
 *     trap.c          entry, and the instructions after the one that trapped
 *     trap_access.c   loads and stores of these instructions
 *     trap_combine.c  combining of stores to doorbell pages
 *     trap_poll.c     detection of polling
 *     trap_watch.c    start and end of watching
 *     trap_stack.c    a stack for the traps of each thread
 *     range.c         memory that concerns the simulator, and its protection
 *     range_list.c    the list of this memory
 * The callers are signal.c and attach.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_H
#define VERBS_SHIM_PRELOAD_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* A load from a register of the adapter. */
struct trap_load {
	uint64_t address, response;
	uint32_t length;
	/* The instruction waits for the reply. */
	bool wanted;
	/* The reply is present, for the next instruction. */
	bool responded;
};

/* A trap that is being handled. */
struct trap {
	/* Registers of the program. */
	ucontext_t *context;
	/* Address of a load that proved that the program polls, or 0. */
	uint64_t polled;
	/* The loop that polls reads clocks. */
	bool by_clocks;
	/* An instruction touched memory that concerns the simulator. */
	bool touched;
	/* An instruction stored to a doorbell page. */
	bool stored;
	/* stops_at_doorbells: execution must stop before a store to a doorbell page. at_doorbell:
	 * execution has stopped before such a store. */
	bool stops_at_doorbells, at_doorbell;
	struct trap_load load;
};

/* Prepares the handling of traps. Call this function once in each image. */
void trap_init(void);

/* Handles SIGSEGV. Returns false if the program's own handler must run. */
bool trap_segv(int number, void *info, void *context);

#endif
