/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs: table of the verbs of `hcasim`, and of the options of each verb.
 */
#include <string.h>

#include "hcasim/command/arguments.h"
#include "hcasim/command/verb.h"
#include "sim/renamed_keys.h"

#define VERBS_MAX 32

/* clang-format off */
static const struct argp_option check_options[] = {OPTION_SET, OPTION_SEED, OPTION_EFFECTIVE,
	OPTION_JSON, OPTION_WORDS, {0}};
static const struct argp_option schema_options[] = {{0}};
static const struct argp_option params_options[] = {OPTION_JSON, OPTION_WORDS, {0}};
static const struct argp_option decode_options[] = {OPTION_VERBOSE, OPTION_JSON, {0}};
static const struct argp_option exec_options[] = {OPTION_SET, OPTION_SEED, OPTION_ENGINE,
	OPTION_OUT,
	OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_WAVEFORM, OPTION_SIGNALS, OPTION_VERBOSE,
	{0}};
static const struct argp_option run_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL,
	OPTION_ENGINE, OPTION_THREADS, OPTION_OUT,
	OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_WAVEFORM, OPTION_SIGNALS, OPTION_JSON,
	OPTION_VERBOSE, {0}};
static const struct argp_option sweep_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL,
	OPTION_ENGINE, OPTION_OUT,
	OPTION_JOBS, OPTION_EXPECT, OPTION_VIA, OPTION_POINTS, OPTION_PART, OPTION_JSON, {0}};
static const struct argp_option plot_options[] = {OPTION_METRIC, OPTION_X, {0}};
static const struct argp_option fluid_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL,
	OPTION_ENGINE, OPTION_OUT, {0}};
static const struct argp_option mpi_options[] = {OPTION_RANKS, OPTION_REPLAY, OPTION_CAPTURE,
	OPTION_SET, OPTION_SEED, OPTION_ENGINE,
	OPTION_OUT, OPTION_PCAP, OPTION_TRACE, OPTION_COUNTERS, OPTION_VERBOSE, {0}};
static const struct argp_option trace_options[] = {OPTION_TAG, OPTION_PERFETTO, OPTION_VCD, {0}};
static const struct argp_option explain_options[] = {OPTION_WQE, OPTION_PERCENTILE, OPTION_RECEIVED,
	OPTION_PERFETTO, OPTION_BOTTLENECK, OPTION_BOUNDS, OPTION_CPU, OPTION_JSON, {0}};
static const struct argp_option compare_options[] = {OPTION_JSON, OPTION_VERBOSE, {0}};
static const struct argp_option chart_options[] = {OPTION_QP, OPTION_PAIR, OPTION_SVG, OPTION_FROM,
	OPTION_EVENTS, {0}};
static const struct argp_option report_options[] = {OPTION_PAGE, OPTION_PICTURES, OPTION_METRIC,
	OPTION_X, {0}};
static const struct argp_option counters_options[] = {OPTION_JSON, OPTION_WORDS, {0}};
static const struct argp_option published_options[] = {OPTION_FULL, OPTION_ROBUST, OPTION_JSON,
	OPTION_OUT, OPTION_VERBOSE, OPTION_WORDS, {0}};
static const struct argp_option fit_options[] = {OPTION_PRESET, OPTION_NUMBER, OPTION_CASE, {0}};
static const struct argp_option plugin_options[] = {OPTION_WORDS, {0}};
static const struct argp_option watch_options[] = {OPTION_SET, OPTION_SEED, OPTION_UNTIL,
	OPTION_THREADS, OPTION_OUT, OPTION_EVERY, OPTION_PORTS, {0}};
static const struct argp_option stats_options[] = {OPTION_COLUMN, OPTION_BY, OPTION_JSON,
	{0}};
static const struct argp_option init_options[] = {OPTION_WORDS, {0}};
static const struct argp_option help_options[] = {OPTION_WORDS, {0}};

const struct verb verbs[] = {
	{"init",   "[KIND] [FILE]", "write a commented scenario to start from",
	 "KIND is fabric, adapter, programs or mpi. Without KIND, lists the kinds. FILE is "
	 "KIND.yaml by default; - is standard output. An existing file is not overwritten.",
	 init_options, 0, 2, false, verb_init},
	{"exec",   "FILE -- host0: PROGRAM ARGS : host1: PROGRAM ARGS",
	 "run programs on the hosts of a scenario",
	 "A program after \"server\", as in server host0: redis-server, gets SIGTERM when all "
	 "other programs have ended. The exit code is the first exit code of a program that is "
	 "not 0.",
	 exec_options, 1, 1, true, verb_exec},
	{"run",    "FILE",    "run the workload, the load or the programs of a scenario",
	 "Ends with exit code 1 if an expectation or an invariant does not hold. "
	 "mpirun -n N hcasim run FILE divides a workload over N processes.",
	 run_options, 1, 1, false, verb_run},
	{"sweep",  "FILE",    "run a workload or load for all combinations of the values that a "
	 "scenario sweeps",
	 "Each point has a folder below --out. Finished points do not run again. results.csv has "
	 "one line per point. means.csv has the means over the seeds. bins.csv has the flows by "
	 "size. results.db has all tables.", sweep_options, 1, 1, false, verb_sweep},
	{"plot",   "DIR",     "draw charts of the result folder of a run or a sweep",
	 "For a workload: queues and rates over time, flows by slowdown and time, slowdown by "
	 "size. For a sweep: metrics over a swept key, with 95 % confidence intervals if the seed "
	 "is swept. Writes SVG and PNG with gnuplot.", plot_options, 1, 1, false, verb_plot},
	{"watch",  "FILE",    "run a workload and show its rates, queues and pauses during the run",
	 "Shows the busiest ports: the rate and share of the link since the last picture, the "
	 "bytes in the queue, and the share of the time in which the port was paused. A terminal "
	 "gets one picture in colour. Other outputs get a picture per interval. The results are "
	 "the same as of hcasim run.",
	 watch_options, 1, 1, false, verb_watch},
	{"stats", "DIR", "print means and quantiles of flows with confidence intervals",
	 "DIR is a result folder. A run: the mean by batch means after the warm-up, and quantiles. "
	 "A sweep: the mean over the seeds, and quantiles of the flows of all seeds, for each "
	 "combination of values. Intervals have 95 %. Unknown digits are not printed.",
	 stats_options, 1, 1, false, verb_stats},
	{"fluid",  "FILE",    "run flows into one port, and compare with the fluid model of their "
	 "congestion control",
	 "For DCQCN and TIMELY. Model egress: DCQCN's model with marks on departing instead of "
	 "arriving data. --out DIR writes rates and queue over time to fluid.csv, and plots them "
	 "if gnuplot is installed.", fluid_options, 1, 1, false, verb_fluid},
	{"mpi",    "FILE -- PROGRAM ARGS", "run an MPI program, a rank on each host of a scenario",
	 "PROGRAM is compiled with smpicc or smpicxx. Its messages are packets of the hosts' HCAs, "
	 "of either fidelity. The exit code is the program's.", mpi_options, 1, 1, true, verb_mpi},
	{"check",  "FILE",    "check a scenario and print its errors",
	 "Reads the scenario, its presets and the values of its sweep, and builds everything up to "
	 "the first event.", check_options, 1, 1, false, verb_check},
	{"params", "[BLOCK]", "list all parameters with unit, default, range, meaning and source",
	 "BLOCK is the name of a list, as in the headings: hca.pcie, link, cpu ...", params_options,
	 0, 1, false, verb_params},
	{"schema", "",        "print the JSON Schema of scenarios and presets",
	 "For editors that complete and check YAML, and for validators. hcasim check also finds "
	 "conflicts between values.", schema_options, 0, 0, false, verb_schema},
	{"counters", "[BLOCK]", "list all counters and metrics with unit and meaning",
	 "BLOCK is a type of block, as in counters.json and the headings: pcie, switch, transport "
	 "...", counters_options, 0, 1, false, verb_counters},
	{"decode", "FILE",    "print the packets of a pcap or pcapng file and check their CRCs",
	 "Ends with exit code 1 if a CRC is wrong or a packet malformed.", decode_options, 1, 1,
	 false, verb_decode},
	{"trace",  "FILE",    "print a trace, or convert it for Perfetto or a waveform viewer",
	 "Without --perfetto and --vcd, prints one line per record, with the time since the "
	 "previous record.", trace_options, 1, 1, false, verb_trace},
	{"explain",
	 "RUN",    "print the time of work requests by stage, or the resources that they waited "
	 "for",
	 "RUN is a result folder, or the trace in it. Without --wqe and --percentile, prints the "
	 "mean of all work requests. The stages of each work request add up to its latency, from "
	 "the store to the CQE. Of a folder without a trace, prints the processor time (--cpu).",
	 explain_options, 1, 1, false, verb_explain},
	{"compare", "RUN OTHER", "compare two runs",
	 "RUN and OTHER are result folders. Prints different settings, metrics, bottlenecks, time "
	 "of work requests by stage, and counters. The largest differences are first. --verbose "
	 "prints all differences.", compare_options, 2, 2, false, verb_compare},
	{"report", "RUN [OTHER]", "write one HTML page about a run, a sweep or two runs",
	 "RUN and OTHER are result folders. The page opens offline in any browser. It has charts "
	 "with zoom, expectations, bounds, configuration and provenance. With OTHER, it shows both "
	 "runs side by side, and their differences.",
	 report_options, 1, 2, false, verb_report},
	{"chart",  "RUN",     "draw a message sequence chart of two hosts",
	 "RUN is the result folder of a run with record: {packets: true}. Each line is a packet or "
	 "an action of an adapter, with its times. A trace of ports gives exact arrivals. "
	 "A trace of all blocks adds doorbells and completions.", chart_options, 1, 1, false,
	 verb_chart},
	{"published", "[ROW|FILE...]", "measure published figures again, and print both values",
	 "ROW is a row's id or the beginning of several ids: B1-01, B1. FILE.yaml is your own row. "
	 "Each line shows the case of a row with the largest error. --verbose prints all cases. "
	 "--out writes curves. The exit code is 1 if a row that follows from a standard alone "
	 "misses.",
	 published_options, 0, WORDS_ANY, false, verb_published},
	{"fit", "[ROW...]", "fit numbers of a preset to published rows",
	 "Minimises the sum of squares of log(simulated / published), with GSL. Prints the "
	 "numbers, and all cases of the rows with the old and the new numbers. Changes no file.",
	 fit_options, 0, WORDS_ANY, false, verb_fit},
	{"plugin", "[new KIND NAME | build FILE.c...]", "write or build a plug-in",
	 "new writes NAME.c, a plug-in that compiles. KIND is congestion, receiver, balance, "
	 "schedule, marking or buffer, or a block of an adapter: contexts (tags of its context "
	 "caches) or scheduler. Without arguments, the kinds are listed. build compiles "
	 "FILE.c to FILE.so with the compiler that CC names, opens it, and prints how a scenario "
	 "uses it.",
	 plugin_options, 0, WORDS_ANY, false, verb_plugin},
	{"help",   "[VERB]",  "list the verbs, or describe one", NULL, help_options, 0, 1, false,
	 verb_help},
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
