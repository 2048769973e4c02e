/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_watch: decides when the memory accesses of the program are watched.
 *
 * Completion queues are always watched, because the simulator reaches them through its own mapping.
 * Other memory is watched only while the program has the token, because DMA needs access. Watching
 * begins after the program has read clocks repeatedly, or when a quantum of real time has ended.
 * The end of a quantum does not affect results, because polling takes no virtual time. The callers
 * are trap.c and trap_access.c in traps, gate.c around each hand-over, and wait.c and memory.c
 * before system calls.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_WATCH_H
#define VERBS_SHIM_PRELOAD_TRAP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs-shim/preload/range.h"
#include "verbs-shim/protocol.h"

/* State of the program between its traps. */
struct trap_watch {
	/* Loads from hot pages count as reads of polled memory. */
	bool hot;
	/* A trap is being handled. Hot pages are protected at its end. */
	bool in_trap;
	/* Faults on watched memory since the last hand-over. Index 1: faults that occur in each run
	 * (range_is_asked()). */
	uint32_t faults[2];
	/* clock_reads: clocks read since the program last did anything else. signs: all reads of
	 * clocks and polled memory. */
	uint32_t clock_reads;
	uint64_t signs;
	/* The program has read enough clocks that its memory is watched. */
	bool by_clocks;
	/* Consecutive yields between which the program only read clocks. */
	uint32_t calm;
	/* All memory of the adapter traps. The clock may be later than exact_horizon. */
	bool guarded;
	/* Slot of the thread that ran last. */
	const struct shim_slot *ran_last;
};

extern struct trap_watch trap_watch;

void trap_watch_before_gate(enum shim_op op);
void trap_watch_after_gate(void);

/* Reports that the program's time advanced, for example because it read a clock. */
void trap_watch_charged(void);

/* Call it before the program reads or changes memory of the adapter. If the program has run ahead
 * of exact_horizon, it returns the token first. Returns true if the memory was guarded. */
bool trap_watch_touch(void);

/* Reports that the program is about to pass memory to a system call. */
void trap_watch_before_call(void);

/* Reports that stores to doorbells were passed to the simulator. */
void trap_watch_stored(void);

/* Reports that the program has slept in a polling loop since the virtual time `since`. */
void trap_watch_slept(bool by_clocks, uint64_t since);

/* Counts a fault on watched memory. Returns false after too many faults; the range must then not be
 * armed again. */
bool trap_watch_fault(bool is_asked);
/* Reverts the count of a fault in a loop that is about to be found polling. */
void trap_watch_unfault(bool is_asked);

/* Installs the handler of the quantum. */
void trap_watch_init(void);

#endif
