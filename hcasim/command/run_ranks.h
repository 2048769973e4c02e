/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_ranks: `mpirun -n N hcasim run FILE` divides one run over N processes (sim/ranks.h). Rank 0
 * writes and prints the results. The other ranks print nothing.
 */
#ifndef HCASIM_COMMAND_RUN_RANKS_H
#define HCASIM_COMMAND_RUN_RANKS_H

#include "hcasim/builder/build.h"
#include "hcasim/command/verb.h"

/* Begins if mpirun has started this process as one of several: sets arguments->rank_group, and
 * removes the outputs from the arguments of ranks other than 0. Returns false and prints the reason
 * on failure. */
bool run_ranks_begin(struct arguments *arguments);

/* Waits for all ranks. Returns the exit code of this rank: mpirun reports that of rank 0. */
int run_ranks_end(struct arguments *arguments, int code);

/* Returns true if all ranks have read the same scenario with the same options. Without ranks,
 * returns true if there is a scenario. Prints the reason on failure, except for a scenario that is
 * NULL. */
bool run_ranks_same(const struct arguments *arguments, const struct scenario *scenario);

/* Returns true for a rank that prints and writes nothing. */
bool run_ranks_is_silent(const struct arguments *arguments);

/* Divides the scenario over the ranks. Returns NULL and prints the reason if it cannot be
 * divided. */
struct lp_assignment *run_ranks_assign(const struct arguments *arguments,
				       const struct scenario *scenario);

/* Prints the work and the messages of each rank. The option --verbose needs this output. */
void run_ranks_say_traffic(const struct build *build);

#endif
