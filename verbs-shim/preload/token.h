/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token: passes the execution token to the simulator, and waits for it. A waiting thread spins if
 * the simulator has a processor of its own. When another thread needs the processor of the
 * programs, the spinning thread wakes that thread and sleeps.
 *
 * Two threads that alternate do not sleep. Each yields the processor to the other, which takes one
 * system call and no wake-up. If earlier hand-overs show that the other thread is next, the thread
 * yields while the simulator still works. The simulator stops all yields when the token does not
 * come back in time, because a third thread got the processor (session/place.c).
 *
 * The caller is gate.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TOKEN_H
#define VERBS_SHIM_PRELOAD_TOKEN_H

#include "verbs-shim/protocol.h"

/* Gives the token to the simulator. The thread does not wait, or sleeps until it gets the token
 * back. */
void token_give(struct shim_slot *slot);

/* Sleeps until the thread has the token. */
void token_await(struct shim_slot *slot);

/* Gives the token to the simulator, and waits until the thread has it again. */
void token_pass(struct shim_slot *slot);

#endif
