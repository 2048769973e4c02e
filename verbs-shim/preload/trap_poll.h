/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_poll: detects polling and the memory that is polled. A program polls if the same instruction
 * reads the same address again, with the same registers and stack, and nothing could have changed
 * in between. The polled memory is all memory that one iteration of the loop reads while all memory
 * of the HCA is watched. Only a write of the HCA to these bytes wakes the program. The library
 * stores this result for each loop. It is valid as long as the loop reads these bytes and no
 * others.
 *
 * A loop that reads clocks has a different state in each iteration. It polls if it found the same
 * bytes for a while and did nothing else. It sleeps for short intervals, because its own timeout
 * may expire. The caller is trap.c, in traps.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_POLL_H
#define VERBS_SHIM_PRELOAD_TRAP_POLL_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "verbs-shim/preload/range.h"
#include "verbs-shim/protocol.h"

enum poll_kind {
	POLL_NOT,
	POLL_PERHAPS,   /* the loop has found the same bytes before */
	POLL_STILL,     /* no time has passed in the loop */
	POLL_BY_CLOCKS, /* the loop reads clocks, and one of them may end it */
};

/* Reports a read of memory that the HCA or another process writes. Returns whether the program
 * polls. `is_asked` is true if the read traps in each run. Otherwise it traps only after a quantum
 * has ended, which depends on real time. */
enum poll_kind trap_poll_look(const ucontext_t *context, struct range *range, uint64_t address,
			      uint32_t length, bool is_asked);

enum poll_verdict {
	POLL_ENTERED, /* the slot lists the polled memory; its pages are hot */
	POLL_AGAIN,   /* not certain yet; may be certain when the loop is found polling again */
	POLL_WATCH,   /* unknown; as POLL_AGAIN, after an iteration with all memory watched */
};

/* Determines the memory that a loop polls, after an address was found polled. `shows_peers` is true
 * if all reads of memory that other processes may write trap. */
enum poll_verdict trap_poll_enter(const ucontext_t *context, uint64_t address,
				  struct shim_slot *slot, bool shows_peers);

/* Discards all observations, because polled memory may have changed. */
void trap_poll_restart(void);

/* Reports that more memory is watched from now on because a quantum has ended (`ended`), or that
 * this watching ends. */
void trap_poll_quantum(bool ended);

/* Reports that the program did something other than read memory and clocks. Detection restarts. */
void trap_poll_acted(void);

/* Reports that the program slept for a time (ps) in a loop that reads clocks. */
void trap_poll_slept(uint64_t time);

/* Reports that the program changed memory that the HCA writes. A program that fills this memory
 * does not poll it. */
void trap_poll_stored(bool is_asked);

/* Reports that the program continued with memory that is no longer watched, so that not all reads
 * are observed. */
void trap_poll_unseen(bool is_asked);

#endif
