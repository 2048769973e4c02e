/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments: all options of all verbs, for the table in verbs.c.
 */
#ifndef HCASIM_COMMAND_ARGUMENTS_H
#define HCASIM_COMMAND_ARGUMENTS_H

/* clang-format off */
enum option_key {
	KEY_SET = 's', KEY_OUT = 'o', KEY_ENGINE = 'k', KEY_VERBOSE = 'v', KEY_JOBS = 'j', KEY_RANKS = 'n',
	KEY_SEED = 0x100, KEY_JSON, KEY_WORDS, KEY_EFFECTIVE, KEY_PCAP, KEY_TRACE, KEY_COUNTERS,
	KEY_UNTIL, KEY_THREADS, KEY_TAG, KEY_PERFETTO, KEY_VCD, KEY_PERCENTILE, KEY_SIGNALS,
	KEY_REPLAY, KEY_CAPTURE,
	KEY_BOTTLENECK, KEY_BOUNDS, KEY_RECEIVED, KEY_PRESET, KEY_NUMBER, KEY_CASE, KEY_EXPECT, KEY_METRIC, KEY_X, KEY_FULL, KEY_ROBUST,
};

#define OPTION_SET       {"set", KEY_SET, "KEY.PATH=VALUE", 0, "replace one value of the scenario; may stand several times", 0}
#define OPTION_SEED      {"seed", KEY_SEED, "NUMBER", 0, "of all random streams; as --set seed=NUMBER", 0}
#define OPTION_UNTIL     {"until", KEY_UNTIL, "TIME", 0, "end a workload then; as --set run.until=TIME", 0}
#define OPTION_JOBS      {"jobs", KEY_JOBS, "NUMBER", 0, "so many runs at a time; 1 unless told", 0}
#define OPTION_THREADS   {"threads", KEY_THREADS, "NUMBER", 0, "run a workload or load in so many threads; the results are the same", 0}
#define OPTION_RANKS     {"np", KEY_RANKS, "NUMBER", 0, "so many ranks, on the first hosts; one on each host unless told", 0}
#define OPTION_REPLAY    {"replay", KEY_REPLAY, "FILE", 0, "in place of a program: what --capture has left of one", 0}
#define OPTION_CAPTURE   {"capture", KEY_CAPTURE, "FILE", 0, "write what each rank sends and receives, for --replay", 0}
#define OPTION_OUT       {"out", KEY_OUT, "DIR", 0, "write a result folder, which must not exist or be empty", 0}
#define OPTION_ENGINE    {"engine", KEY_ENGINE, "NAME", 0, "native (default), systemc or systemc-reference; all give the same results", 0}
#define OPTION_PCAP      {"pcap", KEY_PCAP, "FILE", 0, "write all packets as pcapng", 0}
#define OPTION_TRACE     {"trace", KEY_TRACE, "FILE", 0, "write a trace of the blocks that the scenario names, or of all", 0}
#define OPTION_COUNTERS  {"counters", KEY_COUNTERS, "FILE", 0, "write all counters as JSON", 0}
#define OPTION_TAG       {"tag", KEY_TAG, "NUMBER", 0, "only the records of this work request", 0}
#define OPTION_WQE        {"wqe", KEY_TAG, "NUMBER", 0, "only the work request with this tag", 0}
#define OPTION_PERCENTILE {"percentile", KEY_PERCENTILE, "NUMBER", 0, "only the work request of that percentile of latency, 0 to 100", 0}
#define OPTION_RECEIVED  {"received", KEY_RECEIVED, NULL, 0, "receive completions, in place of those of sends", 0}
#define OPTION_BOTTLENECK {"bottleneck", KEY_BOTTLENECK, NULL, 0, "which queue or resource the work of a result folder's run waited for most", 0}
#define OPTION_BOUNDS    {"bounds", KEY_BOUNDS, NULL, 0, "the rate that each resource of a result folder's run would let through, the lowest first", 0}
#define OPTION_PERFETTO  {"perfetto", KEY_PERFETTO, "FILE", 0, "write it as JSON for ui.perfetto.dev", 0}
#define OPTION_VCD       {"vcd", KEY_VCD, "FILE", 0, "write it as a waveform, for GTKWave", 0}
#define OPTION_WAVEFORM  {"vcd", KEY_VCD, "FILE", 0, "write a waveform of counters and of signals of SystemC modules, for GTKWave", 0}
#define OPTION_SIGNALS   {"signals", KEY_SIGNALS, "PATTERNS", 0, "which of them: 'host0.hca.*,*.grants'; all unless told", 0}
#define OPTION_JSON      {"json", KEY_JSON, NULL, 0, "for programs to read", 0}
#define OPTION_METRIC    {"metric", KEY_METRIC, "NAME", 0, "of a sweep: the metric to draw, a column of its results.csv; may stand several times", 0}
#define OPTION_X         {"x", KEY_X, "KEY", 0, "of a sweep: the swept key along the x axis; the first with several values unless told", 0}
#define OPTION_EXPECT    {"expect", KEY_EXPECT, NULL, 0, "judge what the scenario expects at every point; it is left out unless told", 0}
#define OPTION_ROBUST    {"robust", KEY_ROBUST, NULL, 0, "with each choice that a row lists (choices:) halved and doubled; names rows whose verdict hangs on one", 0}
#define OPTION_FULL      {"full", KEY_FULL, NULL, 0, "larger, up to the original's size, the rows whose files say how (full:); minutes to an hour a row", 0}
#define OPTION_PRESET    {"preset", KEY_PRESET, "NAME", 0, "whose numbers are found", 0}
#define OPTION_NUMBER    {"param", KEY_NUMBER, "KEY=LOW..HIGH[/STEP]", 0, "one of them and its bounds, whole numbers with their unit: pcie.read_latency=100ns..400ns; up to four", 0}
#define OPTION_CASE      {"case", KEY_CASE, "TEXT", 0, "fit to the cases of the rows whose name begins so, and predict the others; may stand several times; all unless told", 0}
#define OPTION_EFFECTIVE {"effective", KEY_EFFECTIVE, NULL, 0, "print every value that a run would go by, as a scenario", 0}
#define OPTION_VERBOSE   {"verbose", KEY_VERBOSE, NULL, 0, "say more", 0}
#define OPTION_WORDS     {"words", KEY_WORDS, NULL, 0, "only names, one a line, for shells to complete: verbs and options, lists, rows; of a scenario, what --set takes", 0}
/* clang-format on */

#endif
