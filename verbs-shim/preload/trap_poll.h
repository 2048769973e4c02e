/*
 * trap_poll: is the program polling, and what? It polls when the same instruction has read the same address again, with the
 * same registers and stack, and nothing could have changed in between. What it polls is all that it looks at in a round of that
 * loop in which all memory of the HCA's is watched: only a write of the HCA to these bytes wakes it. That is kept by loop, and
 * holds as long as the loop is seen to look there and nowhere else.
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

/* The program is about to read memory that the HCA writes. true: it polls. */
bool poll_look(const ucontext_t *context, const struct range *range, uint64_t address,
	       uint32_t length);

enum poll_answer {
	POLL_ENTERED, /* the slot says what is polled; its pages are hot */
	POLL_AGAIN,   /* not certain: as soon as the loop is found polling again it may be */
	POLL_WATCH,   /* not known: the same, when all memory is watched meanwhile */
};

/* What does the loop poll that was found polling an address? */
enum poll_answer poll_enter(const ucontext_t *context, uint64_t address, struct shim_slot *slot);

/* Something may have changed: what was seen so far proves nothing. */
void poll_restart(void);

/* The program changed memory that the HCA writes: who fills it polls nothing. */
void poll_stored(void);

/* The program went on with memory that is watched no more: what is seen is not all. */
void poll_unseen(void);

#endif
