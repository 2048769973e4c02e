/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play: the frame of a run without programs: what is recorded of it, its waveform, its summary, and where all of that goes.
 *
 *     play_check() before anything is built --> play_run(): result_begin(), act->play(), act->print(), result_finish()
 */
#ifndef HCASIM_COMMAND_PLAY_H
#define HCASIM_COMMAND_PLAY_H

#include "hcasim/command/verb.h"
#include "hcasim/record/result.h"

/* What is played. */
struct play_act {
	/* Runs it, fills in what came of it, and says what is wrong with that; an exit code. */
	int (*play)(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		    FILE *complaints);
	/* A summary for a reader. */
	void (*print)(const struct play_act *act, const struct build *build, FILE *out);
};

/* As many LPs as threads are asked for; NULL: one, having said why if several were. `unfit`: why what is played cannot run in parallel;
 * NULL: it can. */
struct lp_assignment *play_assign_lps(const struct arguments *arguments,
				      const struct scenario *scenario, const char *unfit);

/* --verbose: how well a run was balanced between LPs. */
void play_say_windows(const struct arguments *arguments, const struct build *build);

/* Can what the arguments ask for be written? false, having said why not. */
bool play_check(const struct arguments *arguments, const char *folder);

/* An exit code. folder, out NULL: nowhere. */
int play_run(const struct arguments *arguments, const struct build *build, struct play_act *act,
	     const char *folder, FILE *out, FILE *complaints);

#endif
