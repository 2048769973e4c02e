/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb: what `hcasim` can be told to do. One table: `hcasim help`, `--help`, the reading of arguments and the completion
 * of shells all go by it.
 *
 *     main() --verb_find()--> verb --arguments_read()--> verb->run()
 */
#ifndef HCASIM_COMMAND_VERB_H
#define HCASIM_COMMAND_VERB_H

#include <argp.h>
#include <limits.h>
#include <stdio.h>

#include "hcasim/schema/scenario.h"

/* What programs that read the exit code rely on; a program's own exit code goes through `exec`. */
enum exit_code {
	EXIT_GOOD = 0,
	EXIT_NOT_AS_EXPECTED = 1, /* an expectation or invariant does not hold, a row is missed */
	EXIT_BAD_INPUT = 2,       /* it cannot be done so, or what came of it cannot be written */
};

/* The arguments of any verb; each verb allows some. */
struct arguments {
	const struct verb *verb;
	const char *word;         /* FILE, BLOCK or VERB; NULL: none */
	char *word_found;         /* FILE comes with the program: where; NULL: it does not */
	const char **words_given; /* of a verb that takes many */
	size_t word_count;
	const char *out, *pcap, *trace, *counters;
	const char *perfetto, *vcd, *signals;
	const char *replay, *capture;
	const char *preset;   /* of `fit`, with */
	const char **numbers; /* its parameters and their bounds */
	size_t number_count;
	const char **cases; /* of the rows; none: all */
	size_t case_count;
	const char *x_key;    /* of a plot */
	const char **metrics; /* of a plot */
	size_t metric_count;
	uint32_t ranks;         /* 0: one a host */
	uint64_t tag;           /* 0: all */
	double percentile;      /* negative: none */
	const char **overrides; /* --set, and --seed as one of them */
	size_t override_count;
	enum sim_engine engine;
	bool engine_given;
	unsigned jobs;
	unsigned threads;
	bool bottleneck, bounds, received;
	bool expect; /* of a sweep: judge the file's expectations at each point */
	bool full;   /* published rows at the originals' size */
	bool robust; /* published rows with their choices halved and doubled */
	bool json, words, effective, verbose;
	char **programs; /* behind --; ends with NULL */
};

#define WORDS_ANY UINT_MAX

struct verb {
	const char *name;
	const char *usage;   /* its arguments */
	const char *summary; /* one line */
	const char *help;    /* more of it; NULL: that is all */
	const struct argp_option *options;
	unsigned words_least, words_most; /* besides its options; one alone is arguments.word */
	bool programs;                    /* takes -- and what is behind it */
	int (*run)(const struct arguments *arguments);
};

extern const struct verb verbs[]; /* ends with a NULL name */

const struct verb *verb_find(const char *name); /* NULL: none */
int verb_report_unknown(const char *name); /* says so, and which one may be meant; an exit code */

/* argv[0] is the verb. Exits with EXIT_BAD_INPUT, having said why, if they are not what the verb takes. */
void arguments_read(const struct verb *verb, int argc, char **argv, struct arguments *arguments);
void arguments_free(struct arguments *arguments);

/* The scenario that the arguments name; NULL, having said what is wrong. */
struct scenario *arguments_scenario(const struct arguments *arguments);

/* The engine that the run goes by: what was asked for, or systemc, saying so, where the scenario or the arguments need
 * SystemC. false, having said why: it was asked for an engine that has none. */
bool arguments_engine(const struct arguments *arguments, const struct scenario *scenario,
		      enum sim_engine *engine);

/* "hcasim: ..." on standard error; red if that is a terminal. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The programs that the scenario names; verb_exec.c */
int run_scenario_programs(const struct arguments *arguments, struct scenario *scenario);

/* Can that program be run on its host? false: *error. verb_exec.c */
bool program_check(const struct scenario *scenario, const struct scenario_program *program,
		   char *error, size_t error_bytes);

/* Can it be run? false: *error. dry_run.c */
bool dry_run(const struct scenario *scenario, char *error, size_t error_bytes);

/* The workload of the scenario: the result goes to `folder` (NULL: nowhere), a summary to `out` (NULL: nowhere), and
 * what is wrong to `complaints`. An exit code. verb_run.c */
int run_workload(const struct arguments *arguments, const struct scenario *scenario,
		 const char *folder, FILE *out, FILE *complaints);

/* The same of its load. run_load.c */
int run_load(const struct arguments *arguments, const struct scenario *scenario, const char *folder,
	     FILE *out, FILE *complaints);

/* Can each value of its sweep be run, with the first of the other keys? false: it has said why not. verb_sweep.c */
bool sweep_check(const struct arguments *arguments, const struct scenario *scenario);

/* --bounds; explain_bounds.c */
int explain_bounds(const struct arguments *arguments);

/* --bottleneck; explain_bottleneck.c */
int explain_bottleneck(const struct arguments *arguments);

/* What the verbs of verbs.c do, each in verb_NAME.c: an exit code, and what is wrong has been said. */
int verb_exec(const struct arguments *arguments);
int verb_fluid(const struct arguments *arguments);
int verb_mpi(const struct arguments *arguments);
int verb_run(const struct arguments *arguments);
int verb_sweep(const struct arguments *arguments);
int verb_check(const struct arguments *arguments);
int verb_params(const struct arguments *arguments);
int verb_decode(const struct arguments *arguments);
int verb_trace(const struct arguments *arguments);
int verb_explain(const struct arguments *arguments);
int verb_compare(const struct arguments *arguments);
int verb_counters(const struct arguments *arguments);
int verb_fit(const struct arguments *arguments);
int verb_plot(const struct arguments *arguments);
int verb_published(const struct arguments *arguments);
int verb_help(const struct arguments *arguments);

#endif
