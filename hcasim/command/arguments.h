/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments: options of all verbs, for the table in verbs.c.
 */
#ifndef HCASIM_COMMAND_ARGUMENTS_H
#define HCASIM_COMMAND_ARGUMENTS_H

/* clang-format off */
enum option_key {
	KEY_SET = 's', KEY_OUT = 'o', KEY_ENGINE = 'k', KEY_VERBOSE = 'v', KEY_JOBS = 'j',
	KEY_RANKS = 'n',
	KEY_SEED = 0x100, KEY_JSON, KEY_WORDS, KEY_EFFECTIVE, KEY_PCAP, KEY_TRACE, KEY_COUNTERS,
	KEY_UNTIL, KEY_THREADS, KEY_TAG, KEY_PERFETTO, KEY_VCD, KEY_PERCENTILE, KEY_SIGNALS,
	KEY_REPLAY, KEY_CAPTURE,
	KEY_BOTTLENECK, KEY_BOUNDS, KEY_CPU, KEY_RECEIVED, KEY_PRESET, KEY_NUMBER, KEY_CASE,
	KEY_EXPECT, KEY_METRIC, KEY_X, KEY_FULL, KEY_ROBUST,
	KEY_PICTURES, KEY_QP, KEY_PAIR, KEY_SVG, KEY_FROM, KEY_EVENTS,
	KEY_VIA, KEY_PART, KEY_POINTS, KEY_BY,
	KEY_EVERY, KEY_PORTS,
};

#define OPTION_SET       {"set", KEY_SET, "KEY.PATH=VALUE", 0, \
	"replace one value of the scenario; may be repeated", 0}
#define OPTION_SEED      {"seed", KEY_SEED, "NUMBER", 0, \
	"seed of all random streams; same as --set seed=NUMBER", 0}
#define OPTION_UNTIL     {"until", KEY_UNTIL, "TIME", 0, \
	"end of a workload in virtual time; same as --set run.until=TIME", 0}
#define OPTION_JOBS      {"jobs", KEY_JOBS, "NUMBER", 0, "number of concurrent runs (default: 1)", \
	0}
#define OPTION_COLUMN    {"metric", KEY_METRIC, "NAME", 0, \
	"column of flows.csv (default: fct_us), or of results.csv with --by (default: " \
	"fct_mean_us); may be repeated", 0}
#define OPTION_BY        {"by", KEY_BY, "KEY", 0, \
	"compare the first value of a swept key with the others, in pairs of equal points", 0}
#define OPTION_EVERY     {"every", KEY_EVERY, "TIME", 0, \
	"virtual time between two pictures (default: 10us)", 0}
#define OPTION_PORTS     {"ports", KEY_PORTS, "NUMBER", 0, \
	"ports to show, the busiest ones (default: 12)", 0}
#define OPTION_VIA       {"via", KEY_VIA, "slurm", 0, \
	"run the points as a job array of Slurm, and write the tables in a dependent job", 0}
#define OPTION_POINTS    {"points", KEY_POINTS, "NUMBER", 0, \
	"with --via: points per task (default: 16)", 0}
#define OPTION_PART      {"part", KEY_PART, "K/PARTS", 0, \
	"run part K of PARTS equal parts of the points, from K = 0, without tables", 0}
#define OPTION_THREADS   {"threads", KEY_THREADS, "NUMBER", 0, \
	"number of simulation threads for a workload or load, or auto: two threads while they " \
	"are faster than one thread; results do not depend on the number (default: auto)", 0}
#define OPTION_RANKS     {"np", KEY_RANKS, "NUMBER", 0, \
	"number of ranks, one on each of the first hosts (default: one on every host)", 0}
#define OPTION_REPLAY    {"replay", KEY_REPLAY, "FILE", 0, \
	"replay the file of --capture instead of running a program", 0}
#define OPTION_CAPTURE   {"capture", KEY_CAPTURE, "FILE", 0, \
	"write the messages of each rank to FILE, for --replay", 0}
#define OPTION_OUT       {"out", KEY_OUT, "DIR", 0, \
	"write results to the folder DIR, which must be new or empty", 0}
#define OPTION_PAGE      {"out", KEY_OUT, "FILE", 0, \
	"write the page to FILE (default: report.html in the first folder)", 0}
#define OPTION_PICTURES   {"figures", KEY_PICTURES, "DIR", 0, \
	"also write each picture to the folder DIR as SVG and PNG", 0}
#define OPTION_QP        {"qp", KEY_QP, "HOST:QPN", 0, \
	"chart the packets of this queue pair and its peer: host0:64 or host0:0x40", 0}
#define OPTION_PAIR      {"pair", KEY_PAIR, "A:B", 0, \
	"chart all packets between two hosts: host0:host1", 0}
#define OPTION_SVG       {"svg", KEY_SVG, "FILE", 0, "also draw the chart to FILE as SVG", 0}
#define OPTION_FROM      {"from", KEY_FROM, "TIME", 0, \
	"begin with the first event at this time or later: 10us", 0}
#define OPTION_EVENTS    {"events", KEY_EVENTS, "NUMBER", 0, \
	"maximum number of events (default: 200)", 0}
#define OPTION_ENGINE    {"engine", KEY_ENGINE, "NAME", 0, \
	"simulation engine: native (default), systemc or systemc-reference; results are the same", \
	0}
#define OPTION_PCAP      {"pcap", KEY_PCAP, "FILE", 0, "write all packets to FILE as pcapng", 0}
#define OPTION_TRACE     {"trace", KEY_TRACE, "FILE", 0, \
	"write a trace of the blocks that the scenario names (default: of all blocks)", 0}
#define OPTION_COUNTERS  {"counters", KEY_COUNTERS, "FILE", 0, \
	"write all counters to FILE as JSON", 0}
#define OPTION_TAG       {"tag", KEY_TAG, "NUMBER", 0, \
	"print only records of the work request with this tag", 0}
#define OPTION_WQE        {"wqe", KEY_TAG, "NUMBER", 0, \
	"show only the work request with this tag", 0}
#define OPTION_PERCENTILE {"percentile", KEY_PERCENTILE, "NUMBER", 0, \
	"show only the work request at this percentile of latency, 0 to 100", 0}
#define OPTION_RECEIVED  {"received", KEY_RECEIVED, NULL, 0, \
	"show receive completions instead of send completions", 0}
#define OPTION_BOTTLENECK {"bottleneck", KEY_BOTTLENECK, NULL, 0, \
	"print the queue or resource that the run waited for most; FILE is a result folder", 0}
#define OPTION_BOUNDS    {"bounds", KEY_BOUNDS, NULL, 0, \
	"print the maximum rate that each resource of the run allows, lowest first; FILE is a " \
	"result folder", 0}
#define OPTION_CPU       {"cpu", KEY_CPU, NULL, 0, \
	"print the processor time of each program by purpose; FILE is a result folder", 0}
#define OPTION_PERFETTO  {"perfetto", KEY_PERFETTO, "FILE", 0, \
	"write the timeline to FILE as JSON for ui.perfetto.dev", 0}
#define OPTION_VCD       {"vcd", KEY_VCD, "FILE", 0, \
	"write the trace to FILE as a waveform for GTKWave", 0}
#define OPTION_WAVEFORM  {"vcd", KEY_VCD, "FILE", 0, \
	"write a waveform of counters and of signals of SystemC modules to FILE, for GTKWave", 0}
#define OPTION_SIGNALS   {"signals", KEY_SIGNALS, "PATTERNS", 0, \
	"signals for --vcd, as patterns: 'host0.hca.*,*.grants' (default: all)", 0}
#define OPTION_JSON      {"json", KEY_JSON, NULL, 0, "print JSON", 0}
#define OPTION_METRIC    {"metric", KEY_METRIC, "NAME", 0, \
	"metric to draw, a column of the sweep's results.csv; may be repeated", 0}
#define OPTION_X         {"x", KEY_X, "KEY", 0, \
	"swept key for the x axis (default: the first key with several values)", 0}
#define OPTION_EXPECT    {"expect", KEY_EXPECT, NULL, 0, \
	"check the scenario's expectations at every point (default: ignore them)", 0}
#define OPTION_ROBUST    {"robust", KEY_ROBUST, NULL, 0, \
	"also run each row with every entry of choices: halved and doubled; name the rows whose " \
	"verdict changes", 0}
#define OPTION_FULL      {"full", KEY_FULL, NULL, 0, \
	"run rows at up to the original's size, if they specify it (full:); takes minutes to an " \
	"hour per row", 0}
#define OPTION_PRESET    {"preset", KEY_PRESET, "NAME", 0, "preset whose parameters are fitted", 0}
#define OPTION_NUMBER    {"param", KEY_NUMBER, "KEY=LOW..HIGH[/STEP]", 0, \
	"parameter to fit and its bounds, in whole numbers with a unit: " \
	"pcie.read_latency=100ns..400ns; up to four", 0}
#define OPTION_CASE      {"case", KEY_CASE, "TEXT", 0, \
	"fit to the cases whose row name begins with TEXT and predict the other cases; may be " \
	"repeated (default: all)", 0}
#define OPTION_EFFECTIVE {"effective", KEY_EFFECTIVE, NULL, 0, \
	"print every effective value of the run as a scenario", 0}
#define OPTION_VERBOSE   {"verbose", KEY_VERBOSE, NULL, 0, "print more details", 0}
#define OPTION_WORDS     {"words", KEY_WORDS, NULL, 0, \
	"print only names, one per line, for shell completion: verbs and options, lists, rows; " \
	"for a scenario: the keys of --set", 0}
/* clang-format on */

#endif
