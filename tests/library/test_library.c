/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_library: libhcasim gives the results of `hcasim run`, byte for byte and in any steps, also
 * beside other simulations and threads. Errors are records. Algorithms of the program can be
 * attached.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/congestion.h"
#include "hcasim/hcasim.h"
#include "tests/support/suite.h"

#define TESTS(TEST)         \
	TEST(workload)      \
	TEST(series)        \
	TEST(detailed)      \
	TEST(load)          \
	TEST(module)        \
	TEST(text)          \
	TEST(side_by_side)  \
	TEST(threads)       \
	TEST(claims)        \
	TEST(errors)        \
	TEST(misuse)        \
	TEST(attach)        \
	TEST(attach_refuse) \
	TEST(stop)          \
	TEST(early_end)     \
	TEST(flow_level)
SUITE(TESTS)

#define STUDIES   SCENARIOS "/studies/"
#define TEXT_MAX  (1 << 24)
#define STEP      (7300 * NS + 1)
#define ARGUMENTS 8

static const char *const files[] = {
	"summary.json", "counters.json", "scenario.yaml", "flows.csv", "series.csv",
	"links.csv",    "slowdowns.csv", "switches.csv",  "bins.csv",  "flow_series.csv"};

struct run {
	const char *file;
	const char *sets[ARGUMENTS];
};

static const struct run incast = {STUDIES "incast-dcqcn.yaml", {"run.until=300us"}};
static const struct run sampled = {STUDIES "storm.yaml",
				   {"run.until=1ms", "run.warm_up=0ps", "expect=[]"}};
static const struct run all_to_all = {STUDIES "all-to-all-detailed.yaml",
				      {"run.until=20us", "expect=[]"}};
static const struct run qps = {STUDIES "qp-scaling.yaml",
			       {"load.operations=2000", "load.warm_up=500", "expect=[]"}};
static const struct run flows = {STUDIES "web-search-fat-tree.yaml",
				 {"fabric.fidelity=flow", "run.until=2ms", "expect=[]"}};
static const struct run module = {STUDIES "qp-scaling.yaml",
				  {"hosts.hca.translation.module=tlm_cache", "load.operations=200",
				   "load.warm_up=50", "expect=[]"}};

static struct hcasim *prepare(const struct run *run)
{
	struct hcasim *simulation = hcasim_load(run->file);

	for (unsigned i = 0; run->sets[i]; i++)
		CU_ASSERT(hcasim_set(simulation, run->sets[i]));
	return simulation;
}

static struct hcasim *start(const struct run *run)
{
	struct hcasim *simulation = prepare(run);

	if (!hcasim_start(simulation))
		fprintf(stderr, "%s: %s\n", run->file, hcasim_problem(simulation, 0)->text);
	return simulation;
}

static const char *last_problem(const struct hcasim *simulation)
{
	size_t count = hcasim_problem_count(simulation);

	return count > 0 ? hcasim_problem(simulation, count - 1)->text : "none";
}

static void step_through(struct hcasim *simulation, uint64_t step)
{
	uint64_t time = 0;

	while (hcasim_step(simulation, time += step))
		CU_ASSERT_EQUAL_FATAL(hcasim_now(simulation), time);
}

/* Returns a file of the folder that the command wrote, or NULL if there is none. */
static char *read_file(const char *folder, const char *name)
{
	char path[512];
	FILE *in;
	char *text;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = fopen(path, "r");
	if (!in)
		return NULL;
	text = calloc(1, TEXT_MAX);
	CU_ASSERT(fread(text, 1, TEXT_MAX - 1, in) > 0);
	fclose(in);
	return text;
}

static void command(const struct run *run, const char *folder)
{
	char line[2048];
	int length = snprintf(line, sizeof(line), "%s run %s --out %s", HCASIM, run->file, folder);

	for (unsigned i = 0; run->sets[i]; i++)
		length += snprintf(line + length, sizeof(line) - (size_t)length, " --set '%s'",
				   run->sets[i]);
	snprintf(line + length, sizeof(line) - (size_t)length, " >/dev/null 2>&1");
	CU_ASSERT(system(line) >= 0);
}

/* Compares all files of the folder. */
static void compare(struct hcasim *simulation, const char *folder)
{
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *wanted = read_file(folder, files[i]);
		const char *found = hcasim_result(simulation, files[i]);

		if (!wanted) {
			CU_ASSERT_PTR_NULL(found);
		} else if (!found || strcmp(found, wanted) != 0) {
			fprintf(stderr, "%s/%s differs\n", folder, files[i]);
			CU_FAIL("the library gives another text than the command");
		}
		free(wanted);
	}
}

static void same_as_command(const struct run *run, uint64_t step)
{
	struct hcasim *simulation = start(run);

	command(run, "out");
	step_through(simulation, step);
	compare(simulation, "out");
	hcasim_destroy(simulation);
	simulation = start(run); /* and once more in this process, in one step */
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	compare(simulation, "out");
	hcasim_destroy(simulation);
	CU_ASSERT_EQUAL(system("rm -r out"), 0);
}

static void test_workload(void)
{
	same_as_command(&incast, STEP);
}

static void test_series(void)
{
	same_as_command(&sampled, STEP);
}

static void test_detailed(void)
{
	same_as_command(&all_to_all, 777 * NS);
}

static void test_load(void)
{
	same_as_command(&qps, 777 * NS);
}

/* This test is the last with a flow-level run, because a process can have only one. */
static void test_flow_level(void)
{
	struct hcasim *first = start(&flows), *second = prepare(&flows);

	CU_ASSERT_FALSE(hcasim_start(second));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(second), "one per process"));
	hcasim_destroy(first); /* which did not run */
	CU_ASSERT(hcasim_start(second));
	command(&flows, "out");
	step_through(second, 50 * US);
	compare(second, "out");
	hcasim_destroy(second);
	CU_ASSERT_EQUAL(system("rm -r out"), 0);
	second = prepare(&flows);
	CU_ASSERT_FALSE(hcasim_start(second));
	hcasim_destroy(second);
}

static void test_module(void)
{
	same_as_command(&module, STEP);
}

/* The scenario is a text, and no file has it. */
static void test_text(void)
{
	static const char text[] = "hosts: {count: 3, hca: {fidelity: endpoint}}\n"
				   "fabric: {topology: single-switch}\n"
				   "workload: {pattern: incast, bytes: 100KB}\n";
	struct hcasim *simulation = hcasim_load_text(text);
	double done = 0, goodput;
	uint64_t sent = 0;

	CU_ASSERT(hcasim_set(simulation, "seed=3"));
	CU_ASSERT_FATAL(hcasim_start(simulation));
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT(hcasim_metric(simulation, "flows_done", &done));
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT(hcasim_metric(simulation, "goodput_gbps", &goodput));
	CU_ASSERT(goodput > 1);
	CU_ASSERT(hcasim_counter(simulation, "*.port.data_packets_sent", &sent) ||
		  hcasim_counter(simulation, "*.packets_sent", &sent));
	CU_ASSERT(sent > 40);
	CU_ASSERT_EQUAL(hcasim_exit_code(simulation), HCASIM_GOOD);
	CU_ASSERT_PTR_NOT_NULL(strstr(hcasim_result(simulation, "summary.json"), "\"seed\": 3"));
	hcasim_destroy(simulation);
}

/* Three simulations advance in turn. */
static void test_side_by_side(void)
{
	const struct run *runs[] = {&incast, &qps, &incast, &module};
	struct hcasim *simulations[4];
	bool goes_on = true;

	for (unsigned i = 0; i < 4; i++)
		simulations[i] = start(runs[i]);
	for (uint64_t time = STEP; goes_on; time += STEP) {
		goes_on = false;
		for (unsigned i = 0; i < 4; i++)
			goes_on |= hcasim_step(simulations[i], time);
	}
	for (unsigned i = 0; i < 4; i++) {
		command(runs[i], "out");
		compare(simulations[i], "out");
		CU_ASSERT_EQUAL(system("rm -r out"), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		hcasim_destroy(simulations[i]);
}

static void *run_in_thread(void *run)
{
	struct hcasim *simulation = start(run);

	step_through(simulation, STEP);
	return simulation;
}

static void test_threads(void)
{
	const struct run *runs[] = {&incast, &qps, &all_to_all, &sampled};
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(pthread_create(&threads[i], NULL, run_in_thread, (void *)runs[i]),
				0);
	for (unsigned i = 0; i < 4; i++) {
		void *simulation;

		pthread_join(threads[i], &simulation);
		command(runs[i], "out");
		compare(simulation, "out");
		CU_ASSERT_EQUAL(system("rm -r out"), 0);
		hcasim_destroy(simulation);
	}
}

static void *start_in_thread(void *run)
{
	struct hcasim *simulation = prepare(run);

	CU_ASSERT_FALSE(hcasim_start(simulation));
	return simulation;
}

/* All simulations with SystemC belong to one thread. */
static void test_claims(void)
{
	struct hcasim *first = start(&module);
	void *second;
	pthread_t thread;

	pthread_create(&thread, NULL, start_in_thread, (void *)&module);
	pthread_join(thread, &second);
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(second), "belong to one thread"));
	hcasim_destroy(second);
	hcasim_destroy(first);
}

static void test_errors(void)
{
	struct hcasim *simulation = hcasim_load_text("hosts: {count: 2}\n"
						     "fabric:\n"
						     "  topology: single-switch\n"
						     "  link: {rat: 25Gbps}\n"
						     "workload: {pattern: incast, bytes: 100}\n");
	const struct hcasim_problem *problem;

	CU_ASSERT_FALSE(hcasim_start(simulation));
	CU_ASSERT_FATAL(hcasim_problem_count(simulation) >= 2);
	problem = hcasim_problem(simulation, 0);
	CU_ASSERT_STRING_EQUAL(problem->file, "(text)");
	for (size_t i = 0; i < hcasim_problem_count(simulation); i++) {
		problem = hcasim_problem(simulation, i);
		if (problem->line == 4) {
			CU_ASSERT_EQUAL(problem->column, 10);
			CU_ASSERT_STRING_EQUAL(problem->key, "fabric.link.rat");
			CU_ASSERT_STRING_EQUAL(problem->suggestion, "rate");
			CU_ASSERT_FALSE(problem->is_warning);
		} else {
			CU_ASSERT_EQUAL(problem->line, 5);
			CU_ASSERT_STRING_EQUAL(problem->key, "workload.bytes");
			CU_ASSERT_STRING_EQUAL(problem->found, "100");
			CU_ASSERT_PTR_NOT_NULL(strstr(problem->expected, "a size"));
		}
	}
	CU_ASSERT_PTR_NULL(hcasim_problem(simulation, hcasim_problem_count(simulation)));
	CU_ASSERT_EQUAL(hcasim_exit_code(simulation), HCASIM_BAD_INPUT);
	hcasim_destroy(simulation);

	simulation = hcasim_load("no-such-file.yaml");
	CU_ASSERT_FALSE(hcasim_start(simulation));
	CU_ASSERT_STRING_EQUAL(hcasim_problem(simulation, 0)->file, "no-such-file.yaml");
	hcasim_destroy(simulation);

	simulation = prepare(&incast);
	CU_ASSERT(hcasim_set(simulation, "record.packets=true"));
	CU_ASSERT_FALSE(hcasim_start(simulation));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(simulation), "writes no captures"));
	CU_ASSERT(hcasim_set(simulation, "record.packets=false"));
	CU_ASSERT(hcasim_start(simulation)); /* mended, it starts */
	hcasim_destroy(simulation);
}

/* Calls out of order are problems, and do no harm. */
static void test_misuse(void)
{
	struct hcasim *simulation = prepare(&incast);
	uint64_t count;
	double value;

	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT_FALSE(hcasim_counter(simulation, "*", &count));
	CU_ASSERT_FALSE(hcasim_stop(simulation));
	CU_ASSERT_EQUAL(hcasim_problem_count(simulation), 3);
	CU_ASSERT(hcasim_start(simulation));
	CU_ASSERT_FALSE(hcasim_start(simulation));
	CU_ASSERT_FALSE(hcasim_set(simulation, "seed=2"));
	CU_ASSERT(hcasim_step(simulation, 100 * US));
	CU_ASSERT(hcasim_step(simulation, 50 * US)); /* a time that is over */
	CU_ASSERT_EQUAL(hcasim_now(simulation), 100 * US);
	CU_ASSERT_FALSE(hcasim_metric(simulation, "flows_done", &value));
	CU_ASSERT(isnan(value));
	CU_ASSERT_PTR_NULL(hcasim_result(simulation, "summary.json"));
	CU_ASSERT_FALSE(hcasim_counter(simulation, "*.no_such_counter", &count));
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT_FALSE(hcasim_metric(simulation, "no_such_metric", &value));
	CU_ASSERT_PTR_NULL(hcasim_result(simulation, "no-such-file"));
	hcasim_destroy(simulation);
	hcasim_destroy(NULL);
}

/* ---- an algorithm of this program ---- */

#define TENTH_PARAMS(X) X(share, RATIO, "0.1", "0.01..1", "Share of the line rate.", "choice")

struct tenth_params {
	TENTH_PARAMS(PARAM_FIELD)
};

static unsigned inits;

static void tenth_init(struct cc_state *cc, const void *context, const struct congestion_path *path,
		       sim_time now)
{
	const struct tenth_params *params = context;

	(void)now;
	cc->rate_bps = (uint64_t)((double)path->line_rate_bps * params->share);
	cc->cwnd_bytes = CWND_UNLIMITED;
	cc->next_step = SIM_NEVER;
	inits++;
}

#define ROW(...) PARAM_ROW(struct tenth_params, __VA_ARGS__)
static const struct param tenth_list[] = {TENTH_PARAMS(ROW){0}};
static const struct congestion_ops tenth = {
	.version = CONGESTION_VERSION,
	.name = "tenth",
	.meaning = "a fixed share of the line rate",
	.params = tenth_list,
	.params_bytes = sizeof(struct tenth_params),
	.state_bytes = sizeof(struct cc_state),
	.state_init = tenth_init,
};

static double goodput_with(const char *congestion)
{
	struct hcasim *simulation = prepare(&incast);
	char assignment[128];
	double value;

	snprintf(assignment, sizeof(assignment), "hosts.hca.congestion=%s", congestion);
	CU_ASSERT(hcasim_set(simulation, "workload.pattern=shift"));
	CU_ASSERT(hcasim_set(simulation, "run.until=0ps"));
	CU_ASSERT(hcasim_set(simulation, "expect=[]"));
	CU_ASSERT(hcasim_set(simulation, assignment));
	CU_ASSERT(hcasim_attach(simulation, &tenth));
	if (!hcasim_start(simulation))
		fprintf(stderr, "%s\n", last_problem(simulation));
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT(hcasim_metric(simulation, "fct_mean_us", &value));
	hcasim_destroy(simulation);
	return value;
}

/* 2 MB at 40 Gb/s take at least 400 us. At a tenth of the rate they take ten times as long. */
static void test_attach(void)
{
	double full = goodput_with("none"), tenth_of_it = goodput_with("tenth"),
	       half = goodput_with("{preset: tenth, share: 0.5}");

	CU_ASSERT(inits >= 17);
	CU_ASSERT_DOUBLE_EQUAL(tenth_of_it / full, 10, 0.5);
	CU_ASSERT_DOUBLE_EQUAL(half / full, 2, 0.1);
}

static void test_attach_refuse(void)
{
	struct congestion_ops old = tenth, taken = tenth;
	struct hcasim *simulation = prepare(&incast);

	old.version = CONGESTION_VERSION - 1;
	CU_ASSERT_FALSE(hcasim_attach(simulation, &old));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(simulation), "another version"));
	taken.name = "dcqcn";
	CU_ASSERT_FALSE(hcasim_attach(simulation, &taken));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(simulation), "built-in"));
	/* Another simulation does not see it. */
	CU_ASSERT(hcasim_attach(simulation, &tenth));
	hcasim_destroy(simulation);
	simulation = prepare(&incast);
	CU_ASSERT(hcasim_set(simulation, "hosts.hca.congestion=tenth"));
	CU_ASSERT_FALSE(hcasim_start(simulation));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(simulation), "no congestion control `tenth`"));
	hcasim_destroy(simulation);
}

static void test_stop(void)
{
	struct hcasim *simulation = start(&sampled);
	double value;

	CU_ASSERT(hcasim_step(simulation, 200 * US));
	CU_ASSERT(hcasim_stop(simulation));
	CU_ASSERT(hcasim_stop(simulation));
	CU_ASSERT_FALSE(hcasim_step(simulation, HCASIM_END));
	CU_ASSERT(hcasim_metric(simulation, "goodput_gbps", &value));
	CU_ASSERT_EQUAL(hcasim_now(simulation), 200 * US);
	hcasim_destroy(simulation);

	simulation = start(&qps); /* a load has no figures before its end */
	CU_ASSERT(hcasim_step(simulation, 5 * US));
	CU_ASSERT(hcasim_stop(simulation));
	CU_ASSERT_FALSE(hcasim_metric(simulation, "mops", &value));
	CU_ASSERT_PTR_NOT_NULL(strstr(last_problem(simulation), "stopped"));
	CU_ASSERT_EQUAL(hcasim_exit_code(simulation), HCASIM_NOT_AS_EXPECTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(hcasim_remarks(simulation), "stopped"));
	hcasim_destroy(simulation);
}

/* If a run ends before its work, no memory is lost or used later. */
static void test_early_end(void)
{
	const struct run *runs[] = {&incast, &sampled, &all_to_all, &qps, &module};

	for (unsigned i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct hcasim *simulation = start(runs[i]);

		hcasim_step(simulation, 6 * US);
		hcasim_destroy(simulation);
	}
}
