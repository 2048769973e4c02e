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
#include "sim/ranks.h"

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

/* ---- one process for each LP ---- */

/* Divides a run as sim_create_lps() does, into one LP for each rank. This process fires the
 * events of the LP with its own number. The other LPs are remote: their blocks exist, but keep the
 * state of their creation. sim_run() and sim_next() then exchange items with the other ranks, so
 * all ranks must call them in the same order. SIM_NEVER is no end for sim_run(). Items in channels
 * need lp_channel.carry(). */
void sim_create_ranks(struct sim *sim, struct ranks *ranks);

/* Returns NULL for a run in one process. */
struct ranks *sim_ranks(const struct sim *sim);
bool sim_is_remote(const struct sim *sim); /* an LP; false for a run in one process */

/* Copies counters, gauges and the state of block_type.carry() from each LP to all processes. The
 * functions below do nothing in a run of one process. All ranks must call them in the same
 * order. */
void sim_share(struct sim *sim);

/* Replaces each value by the sum over all ranks. */
void sim_sum(struct sim *sim, uint64_t *values, size_t count);

/* Work and messages of one rank. sim_rank_traffic() writes an entry for each rank. */
struct sim_rank_traffic {
	uint64_t events, messages, bytes;
	uint64_t shared; /* bytes of state that it has sent to each other rank */
	double waited;   /* seconds that the process has waited for others, or for MPI */
};
void sim_rank_traffic(struct sim *sim, struct sim_rank_traffic *traffic);

#endif
