/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs: the table of what `hcasim` can do, and of the options that each takes.
 */
#include <string.h>

#include "hcasim/command/arguments.h"
#include "hcasim/command/verb.h"
#include "sim/renamed_keys.h"

#define VERBS_MAX 32

/* clang-format off */
static const struct argp_option check_options[] = {OPTION_SET, OPTION_SEED, OPTION_EFFECTIVE, OPTION_WORDS, {0}};
static const struct argp_option params_options[] = {OPTION_JSON, OPTION_WORDS, {0}};
static const struct argp_option decode_options[] = {OPTION_VERBOSE, OPTION_JSON, {0}};
static const struct argp_option exec_options[] = {OPTION_SET, OPTION_SEED, OPTION_ENGINE, OPTION_OUT,
	OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_WAVEFORM, OPTION_SIGNALS, OPTION_VERBOSE, {0}};
static const struct argp_option run_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL, OPTION_ENGINE, OPTION_THREADS, OPTION_OUT,
	OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_WAVEFORM, OPTION_SIGNALS, OPTION_JSON, OPTION_VERBOSE, {0}};
static const struct argp_option sweep_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL, OPTION_ENGINE, OPTION_OUT,
	OPTION_JOBS, OPTION_EXPECT, OPTION_JSON, {0}};
static const struct argp_option plot_options[] = {OPTION_METRIC, OPTION_X, {0}};
static const struct argp_option fluid_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL, OPTION_ENGINE, OPTION_OUT, {0}};
static const struct argp_option mpi_options[] = {OPTION_RANKS, OPTION_REPLAY, OPTION_CAPTURE, OPTION_SET, OPTION_SEED, OPTION_ENGINE,
	OPTION_OUT, OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_VERBOSE, {0}};
static const struct argp_option trace_options[] = {OPTION_TAG, OPTION_PERFETTO, OPTION_VCD, {0}};
static const struct argp_option explain_options[] = {OPTION_WQE, OPTION_PERCENTILE, OPTION_RECEIVED, OPTION_PERFETTO, OPTION_BOTTLENECK, OPTION_BOUNDS, OPTION_JSON, {0}};
static const struct argp_option compare_options[] = {OPTION_JSON, OPTION_VERBOSE, {0}};
static const struct argp_option counters_options[] = {OPTION_JSON, OPTION_WORDS, {0}};
static const struct argp_option published_options[] = {OPTION_FULL, OPTION_ROBUST, OPTION_JSON, OPTION_OUT, OPTION_VERBOSE, OPTION_WORDS, {0}};
static const struct argp_option fit_options[] = {OPTION_PRESET, OPTION_NUMBER, OPTION_CASE, {0}};
static const struct argp_option help_options[] = {OPTION_WORDS, {0}};

const struct verb verbs[] = {
	{"exec",   "FILE -- host0: PROGRAM ARGS : host1: PROGRAM ARGS", "run programs on the hosts of a scenario",
	 "The exit code is the first of the programs' that is not 0.", exec_options, 1, 1, true, verb_exec},
	{"run",    "FILE",    "run the workload, the load or the programs of a scenario",
	 "Ends with exit code 1 if an expectation or an invariant does not hold.", run_options, 1, 1, false, verb_run},
	{"sweep",  "FILE",    "run a workload or load for all combinations of the values that a scenario sweeps",
	 "A folder a point below --out; finished points are not run again. results.csv has a line a point, means.csv, where the seed is swept, the means over it.", sweep_options, 1, 1, false, verb_sweep},
	{"plot",   "DIR",     "draw what a run or a sweep has left in its result folder",
	 "Of a workload: queues and rates over time, flows by slowdown and time, slowdown by size. Of a sweep: metrics over a swept key, with "
	 "intervals of 95 % confidence where the seed is swept. Writes SVG, by gnuplot.", plot_options, 1, 1, false, verb_plot},
	{"fluid",  "FILE",    "run flows into one port, and the fluid model of their congestion control beside them",
	 "For DCQCN and TIMELY; egress: DCQCN's model with marks on what leaves the queue, in place of what is sent. --out: rates and queue over time, in fluid.csv and, if gnuplot is there, on one plot.", fluid_options, 1, 1, false, verb_fluid},
	{"mpi",    "FILE -- PROGRAM ARGS", "run an MPI program, a rank on each host of a scenario",
	 "PROGRAM is compiled by smpicc or smpicxx; its messages are packets of the hosts' HCAs, of either fidelity. The exit code is the program's.", mpi_options, 1, 1, true, verb_mpi},
	{"check",  "FILE",    "say what is wrong with a scenario, or nothing",
	 "Reads the scenario, all of its presets and the values that it sweeps, and builds what a run would, up to its first event.", check_options, 1, 1, false, verb_check},
	{"params", "[BLOCK]", "list all parameters with unit, default, range, meaning and source",
	 "BLOCK is the name of a list, as the headings have it: hca.pcie, link, cpu ...", params_options, 0, 1, false, verb_params},
	{"counters", "[BLOCK]", "list all counters and metrics with unit and meaning",
	 "BLOCK is a type of block, as counters.json and the headings have it: pcie, switch, transport ...", counters_options, 0, 1, false, verb_counters},
	{"decode", "FILE",    "print the packets of a pcap or pcapng file and check their CRCs",
	 "Ends with exit code 1 if a CRC is wrong or a packet malformed.", decode_options, 1, 1, false, verb_decode},
	{"trace",  "FILE",    "print a trace, or export it to Perfetto or a waveform viewer",
	 "Without --perfetto and --vcd: a line a record, with the time since the one before.", trace_options, 1, 1, false, verb_trace},
	{"explain", "RUN",    "say where the time of work requests went, and what they waited for",
	 "RUN is a result folder, or the trace in it. Without --wqe and --percentile: the mean of all. The stages of each sum to its latency, from the store to the CQE.", explain_options, 1, 1, false, verb_explain},
	{"compare", "RUN OTHER", "say what differs between two runs, and why",
	 "RUN and OTHER are result folders. What was set differently, metrics, what limited each, where the time of work requests went, and counters: "
	 "the largest differences first; --verbose: all of them.", compare_options, 2, 2, false, verb_compare},
	{"published", "[ROW|FILE...]", "measure again what others have published, and print ours beside theirs",
	 "ROW is a row's id or the beginning of several: B1-01, B1. FILE.yaml is a row of your own. A line is the case of a row that is furthest off; --verbose prints all, "
	 "--out writes curves. Exit code 1: a row misses that follows from a standard alone.",
	 published_options, 0, WORDS_ANY, false, verb_published},
	{"fit", "[ROW...]", "find numbers of a preset with which published rows are met best",
	 "Least squares of the logarithms of ours over theirs, by GSL. Prints the numbers and all cases of the rows with the old numbers and with "
	 "the new ones, for a preset's author: no file is changed.",
	 fit_options, 0, WORDS_ANY, false, verb_fit},
	{"help",   "[VERB]",  "this list, or what a verb takes", NULL, help_options, 0, 1, false, verb_help},
	{0}};
/* clang-format on */

const struct verb *verb_find(const char *name)
{
	for (const struct verb *verb = verbs; verb->name; verb++) {
		if (strcmp(verb->name, name) == 0)
			return verb;
	}
	return NULL;
}

int verb_report_unknown(const char *name)
{
	const char *names[VERBS_MAX];
	size_t count = 0;
	for (const struct verb *verb = verbs; verb->name && count < VERBS_MAX; verb++)
		names[count++] = verb->name;
	char hint[256];
	renamed_key_hint(renamed_key("command", name), name, names, count, hint, sizeof(hint));
	if (*hint != '\0')
		say("no verb \"%s\"%s", name, hint);
	else
		say("no verb \"%s\"; hcasim help lists them", name);
	return EXIT_BAD_INPUT;
}
