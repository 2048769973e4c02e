/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_poll: is the program polling, and what? It polls when the same instruction has read the same address again, with the
 * same registers and stack, and nothing could have changed in between. What it polls is all that it looks at in a round of that
 * loop in which all memory of the HCA's is watched: only a write of the HCA to these bytes wakes it. That is kept by loop, and
 * holds as long as the loop is seen to look there and nowhere else.
 * A loop that reads clocks has another state in each turn: it polls if it has found the same bytes there for a while and done
 * nothing else. It sleeps in short pieces, as its time may be up.
 *
 * Who calls: trap.c, as it handles traps.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_POLL_H
#define VERBS_SHIM_PRELOAD_TRAP_POLL_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "verbs-shim/preload/trap_ranges.h"
#include "verbs-shim/protocol.h"

enum poll_kind {
	POLL_NOT,
	POLL_PERHAPS,   /* it has found the same bytes there before */
	POLL_STILL,     /* no time has passed in its loop */
	POLL_BY_CLOCKS, /* it reads clocks in its loop, and may go on for one of them */
};

/* The program is about to read memory that the HCA, or another process, writes. Does it poll? is_asked: the look is seen in each run;
 * else only since a quantum has ended, which it does at some real time. */
enum poll_kind poll_look(const ucontext_t *context, struct range *range, uint64_t address,
			 uint32_t length, bool is_asked);

enum poll_answer {
	POLL_ENTERED, /* the slot says what is polled; its pages are hot */
	POLL_AGAIN,   /* not certain: as soon as the loop is found polling again it may be */
	POLL_WATCH,   /* not known: the same, when all memory is watched meanwhile */
};

/* What does the loop poll that was found polling an address? shows_peers: all looks at what other processes may write to trap. */
enum poll_answer poll_enter(const ucontext_t *context, uint64_t address, struct shim_slot *slot,
			    bool shows_peers);

/* Something may have changed: what was seen so far proves nothing. */
void poll_restart(void);

/* More is watched from now on, as a quantum has ended, or no longer. */
void poll_quantum(bool ended);

/* The program did something else than to look and to read clocks: it begins anew. */
void poll_acted(void);

/* It slept for so long (ps) where it polls by clocks. */
void poll_slept(uint64_t time);

/* The program changed memory that the HCA writes: who fills it polls nothing. */
void poll_stored(bool is_asked);

/* The program went on with memory that is watched no more: what is seen is not all. */
void poll_unseen(bool is_asked);

#endif
