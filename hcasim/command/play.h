/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play: runs a scenario without programs: records, waveform, summary and output files.
 *
 *     play_check(), then build --> play_run(): result_begin(),
 *     act->play(), act->print(), result_finish()
 */
#ifndef HCASIM_COMMAND_PLAY_H
#define HCASIM_COMMAND_PLAY_H

#include "hcasim/command/verb.h"
#include "hcasim/record/result.h"

/* A run to be executed: a workload or a load. */
struct play_act {
	/* Executes the run, fills in the outcome and writes complaints. Returns an exit code. */
	int (*play)(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		    FILE *complaints);
	/* Prints a summary. */
	void (*print)(const struct play_act *act, const struct build *build, FILE *out);
};

/* Assigns hosts and switches to as many LPs as threads were requested. Returns NULL for a run in
 * one LP, and prints the reason if several threads were requested. `unfit` is the reason why the
 * run cannot be parallel, or NULL. */
struct lp_assignment *play_assign_lps(const struct arguments *arguments,
				      const struct scenario *scenario, const char *unfit);

/* Prints the balance of a run between LPs. The option --verbose needs this output. */
void play_say_windows(const struct arguments *arguments, const struct build *build);

/* Checks that the output files requested by the arguments can be written. Returns false and prints
 * the reason if not. */
bool play_check(const struct arguments *arguments, const char *folder);

/* Runs and writes the results. `folder` and `out` may be NULL. Returns an exit code. */
int play_run(const struct arguments *arguments, const struct build *build, struct play_act *act,
	     const char *folder, FILE *out, FILE *complaints);

#endif
