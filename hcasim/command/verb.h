/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb: the verbs of `hcasim`. `hcasim help`, `--help`, the parser of arguments and the shell
 * completion all use one table.
 *
 *     main() --verb_find()--> verb --arguments_read()--> verb->run()
 */
#ifndef HCASIM_COMMAND_VERB_H
#define HCASIM_COMMAND_VERB_H

#include <argp.h>
#include <limits.h>
#include <stdio.h>

#include "hcasim/command/say.h"
#include "hcasim/schema/scenario.h"

/* Exit codes that scripts rely on. `exec` returns the exit code of the program. */
enum exit_code {
	EXIT_GOOD = 0,
	EXIT_NOT_AS_EXPECTED = 1, /* an expectation or invariant does not hold, or a row misses */
	EXIT_BAD_INPUT = 2,       /* invalid input, or output that cannot be written */
};

#define THREADS_AUTO 0u

struct ranks;

/* Arguments of any verb. Each verb allows a subset. */
struct arguments {
	const struct verb *verb;
	const char *word; /* FILE, BLOCK or VERB; NULL: none */
	/* path of a FILE that was found in the installation; NULL: not there */
	char *word_found;
	const char **words_given; /* words of a verb that takes several */
	size_t word_count;
	const char *out, *pcap, *trace, *counters;
	const char *perfetto, *vcd, *signals;
	const char *pictures;               /* of a report */
	const char *qp, *pair, *svg, *from; /* of a chart */
	uint32_t events;                    /* for a chart; 0: no limit */
	const char *replay, *capture;
	const char *preset;   /* fit: preset */
	const char **numbers; /* fit: parameters and their bounds */
	size_t number_count;
	const char **cases; /* fit: cases; none: all */
	size_t case_count;
	const char *x_key;    /* plot: x axis */
	const char **metrics; /* plot: metrics */
	size_t metric_count;
	const char *every_text; /* watch: virtual time between pictures; NULL: not given */
	sim_time every;         /* 0: no pictures */
	unsigned ports;         /* watch: ports to show; 0: not given */
	const char *by;         /* stats: key to compare by */
	const char *via, *part; /* sweep: "slurm"; the part of its points */
	unsigned points;        /* sweep: points per task of --via; 0: not given */
	uint32_t ranks;         /* 0: one rank on each host */
	uint64_t tag;           /* 0: all tags */
	double percentile;      /* negative: not given */
	const char **overrides; /* assignments of --set; also --seed and --until */
	size_t override_count;
	enum sim_engine engine;
	bool engine_given;
	unsigned jobs;
	unsigned threads;         /* THREADS_AUTO: chosen by hcasim */
	struct ranks *rank_group; /* run: processes that mpirun started; NULL: none */
	bool bottleneck, bounds, cpu, received;
	bool expect; /* sweep: check the file's expectations at each point */
	bool full;   /* published: run rows at the original's size */
	bool robust; /* published: halve and double the choices of rows */
	bool json, words, effective, verbose;
	char **programs; /* words after --; ends with NULL */
};

#define WORDS_ANY UINT_MAX

struct verb {
	const char *name;
	const char *usage;   /* arguments, as printed in help */
	const char *summary; /* one line */
	const char *help;    /* further text; NULL: none */
	const struct argp_option *options;
	/* allowed number of words besides options; a single word is arguments.word */
	unsigned words_least, words_most;
	bool programs; /* accepts -- and a command line after it */
	int (*run)(const struct arguments *arguments);
};

extern const struct verb verbs[]; /* ends with an entry whose name is NULL */

const struct verb *verb_find(const char *name); /* NULL: unknown verb */
/* prints an error and a suggestion; returns an exit code */
int verb_report_unknown(const char *name);

/* Reads the arguments; argv[0] is the verb. Prints the reason and exits with EXIT_BAD_INPUT if the
 * verb does not accept them. */
void arguments_read(const struct verb *verb, int argc, char **argv, struct arguments *arguments);
void arguments_free(struct arguments *arguments);

/* Returns the scenario that the arguments name. Returns NULL on failure, and adds the reasons to
 * `errors`. */
struct scenario *arguments_read_scenario(const struct arguments *arguments,
					 struct yaml_errors *errors);

/* Returns the scenario that the arguments name, or NULL. Prints errors and warnings to standard
 * error. */
struct scenario *arguments_scenario(const struct arguments *arguments);

/* Selects the simulation engine: the requested one, or systemc if the scenario or the arguments
 * need SystemC. Prints a message in the second case. Returns false and prints the reason if the
 * requested engine does not support SystemC. */
bool arguments_engine(const struct arguments *arguments, const struct scenario *scenario,
		      enum sim_engine *engine);

/* Runs the programs that the scenario names. verb_exec.c */
int verb_exec_scenario_programs(const struct arguments *arguments, struct scenario *scenario);

/* Checks that a program can be run on its host. Returns false and writes the reason to *error if
 * not. verb_exec.c */
bool verb_exec_program_check(const struct scenario *scenario,
			     const struct scenario_program *program, char *error,
			     size_t error_bytes);

/* Checks that the scenario can be run. Returns false and writes the reason to *error if not.
 * dry_run.c */
bool dry_run(const struct scenario *scenario, char *error, size_t error_bytes);

/* Runs the workload of the scenario. Writes results to `folder` and a summary to `out`, both of
 * which may be NULL, and complaints to `complaints`. Returns an exit code. verb_run.c */
int verb_run_workload(const struct arguments *arguments, const struct scenario *scenario,
		      const char *folder, FILE *out, FILE *complaints);

/* Runs the load of the scenario, in the same way. run_load.c */
int run_load(const struct arguments *arguments, const struct scenario *scenario, const char *folder,
	     FILE *out, FILE *complaints);

/* Checks that each value of the sweep can be run, with the first values of the other keys. Adds an
 * error for the first value of each key that cannot. sweep_product.c */
void sweep_product_check(const struct arguments *arguments, const struct scenario *scenario,
			 struct yaml_errors *errors);

/* Implements --cpu. explain_cpu.c */
int explain_cpu(const struct arguments *arguments);

/* Implements --bounds. explain_bounds.c */
int explain_bounds(const struct arguments *arguments);

/* Implements --bottleneck. explain_bottleneck.c */
int explain_bottleneck(const struct arguments *arguments);

/* Run the verbs of verbs.c, each in verb_NAME.c. Each returns an exit code and prints its
 * errors. */
int verb_exec(const struct arguments *arguments);
int verb_fluid(const struct arguments *arguments);
int verb_mpi(const struct arguments *arguments);
int verb_run(const struct arguments *arguments);
int verb_sweep(const struct arguments *arguments);
int verb_check(const struct arguments *arguments);
int verb_params(const struct arguments *arguments);
int verb_schema(const struct arguments *arguments);
int verb_decode(const struct arguments *arguments);
int verb_trace(const struct arguments *arguments);
int verb_explain(const struct arguments *arguments);
int verb_compare(const struct arguments *arguments);
int verb_counters(const struct arguments *arguments);
int verb_fit(const struct arguments *arguments);
int verb_plot(const struct arguments *arguments);
int verb_chart(const struct arguments *arguments);
int verb_report(const struct arguments *arguments);
int verb_published(const struct arguments *arguments);
int verb_plugin(const struct arguments *arguments);
int verb_stats(const struct arguments *arguments);
int verb_watch(const struct arguments *arguments);
int verb_init(const struct arguments *arguments);
int verb_help(const struct arguments *arguments);

#endif
