/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: executes one run in several logical processes (LPs), each with its own events, time
 * and thread. Events, and their order within an LP, are the same as in one LP, byte for byte.
 *
 *     LP 0    |--window--|--window--|      A message that is sent in one window takes effect in
 *                  \channel                a later one: no channel is shorter than a window
 *     LP 1    |--window--|--window--|      (conservative synchronisation).
 *
 * Source: Chandy and Misra, IEEE TSE 1979; windows: Lubachevsky, CACM 1989.
 *
 * A block belongs to the LP in which it is created. Its rank does not depend on the LP. Within
 * events, an LP accesses only its own blocks and uses channels for others. Between two calls of
 * sim_run() the caller may access everything. Only the native engine runs in parallel.
 * sim_stop() and traces need a sequential run.
 *
 * Threads wait at a barrier at the end of each window. Windows may hold too few events for a long
 * time, as with short cables. Then the caller's thread fires the events of all LPs, one LP after
 * the other, until windows hold more events. The decision depends only on numbers of events, so it
 * is the same in every run, unless sim_measure_threads() adds real time.
 *
 * An event that must read the state of all LPs, or change the state of all LPs from then on,
 * needs sim_run_sequential().
 */
#ifndef SIM_PARALLEL_H
#define SIM_PARALLEL_H

#include "sim/block.h"
#include "sim/lp_channel.h"

#define SIM_LPS_MAX 16

/* Divides a run into `lps` LPs. Call it before the first block is created. 1 has no effect. The
 * run itself is the first LP. sim_run(), sim_now(), sim_next(), sim_events_fired() and
 * sim_blocks() act for all LPs. */
void sim_create_lps(struct sim *sim, unsigned lps);

/* Chooses the number of threads by real time as well. One thread fires the events of all LPs first,
 * and several do while they are faster (sim/thread_pace.h). `clock` returns real time in ns.
 * Results do not depend on it. Requires several LPs, before the first sim_run(). */
void sim_measure_threads(struct sim *sim, uint64_t (*clock)(void));

/* Returns the number of LPs, which is 1 for a sequential run. sim_lp() returns the LP with a
 * number from 0, where 0 is the run itself. */
unsigned sim_lps(const struct sim *sim);
struct sim *sim_lp(struct sim *sim, unsigned lp);
unsigned sim_lp_number(const struct sim *sim); /* returns its number */

/* Runs like sim_run(), but fires one event at a time, in the order of a run in one LP. Within
 * an event the time is the same in all LPs, and all earlier events have fired. In a run of one
 * LP this function is sim_run(). */
void sim_run_sequential(struct sim *sim, sim_time until);

/* Minimum number of events per window, excluding the busiest LP, for which synchronising
 * threads pays off. */
#define SIM_WINDOW_WORTH 10u

/* Describes how evenly a run is divided among LPs. If threads only fired events, the duration of
 * the run would be `longest` / `events` of a sequential run. */
struct sim_windows {
	sim_time length; /* maximum length of a window; SIM_NEVER if there are no channels */
	uint64_t count;
	/* number of windows fired in one thread, because they hold too few events */
	uint64_t together;
	uint64_t events;
	uint64_t longest; /* sum over windows of the events of the busiest LP */
};
struct sim_windows sim_windows(const struct sim *sim); /* requires a parallel run */

#endif
