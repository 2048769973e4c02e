/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_sweep: hcasim sweep FILE -j N --out DIR: a run for each combination of the swept values.
 * Each run has its own process and folder.
 *
 *     sweep_product.c    which points there are, and the scenario of each
 *     sweep_resume.c     which of them are finished already
 *     sweep_pool.c       runs the others
 *     sweep_table.c      tables of the results; names of points are in sweep_names.c
 *     sweep_bins.c       tables of flows by size
 *     sweep_database.c   all tables in one SQLite database
 *     sweep_judgement.c  the exit code
 *     sweep_part.c       a part of the points
 *     sweep_slurm.c      the same by jobs of Slurm
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/sweep.h"

static int run_sweep(struct sweep *sweep)
{
	if (sweep->scenario->axis_count == 0) {
		say("%s: no sweep; expected sweep: {KEY.PATH: [VALUE, ...]}",
		    sweep->scenario->file);
		return EXIT_BAD_INPUT;
	}
	if (!sweep_resume_open(sweep) || !sweep_product_find(sweep))
		return EXIT_BAD_INPUT;
	sweep_part_assign(sweep, sweep->parts);
	for (size_t i = 0; i < sweep->count; i++)
		sweep_resume_look(sweep, i);
	if (sweep->done > 0)
		fprintf(stderr,
			"%zu of %zu points are finished "
			"already\n",
			sweep->done, sweep->count);
	if (sweep->arguments->via && sweep->done < sweep->count)
		return sweep_slurm_run(sweep);
	int ended_by = sweep_pool_run(sweep);
	if (ended_by > 0) {
		say("ended by signal %d: %zu of %zu points are finished; run the same command "
		    "again to continue",
		    ended_by, sweep->done, sweep->count);
		return 128 + ended_by;
	}
	if (sweep->parts > 1)
		return sweep->full     ? EXIT_BAD_INPUT
		       : sweep->failed ? EXIT_NOT_AS_EXPECTED
				       : EXIT_GOOD;
	if (sweep->full || !sweep_table_write(sweep))
		return EXIT_BAD_INPUT;
	return sweep_judgement_code(sweep);
}

int verb_sweep(const struct arguments *arguments)
{
	if (!arguments->out) {
		say("no folder for the results; expected --out DIR");
		return EXIT_BAD_INPUT;
	}
	if (arguments->via && strcmp(arguments->via, "slurm") != 0) {
		say("--via %s is unknown; expected slurm", arguments->via);
		return EXIT_BAD_INPUT;
	}
	if (arguments->via && (arguments->part || arguments->json)) {
		say("--via and %s exclude each other", arguments->part ? "--part" : "--json");
		return EXIT_BAD_INPUT;
	}
	size_t part = 0, parts = 1;
	if (arguments->part && !sweep_part_read(arguments->part, &part, &parts))
		return EXIT_BAD_INPUT;
	struct scenario *scenario = arguments_scenario(arguments);
	if (!scenario)
		return EXIT_BAD_INPUT;
	struct sweep sweep = {.arguments = arguments,
			      .scenario = scenario,
			      .folder = arguments->out,
			      .part = part,
			      .parts = parts};
	int code = run_sweep(&sweep);
	free(sweep.points);
	scenario_destroy(scenario);
	return code;
}
