/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the reader takes flows and sizes from files as they are written, and that a trace may
 * name its hosts. An error message about a file names the line of the mistake.
 */
#include "tests/support/suite.h"
#include "traffic/workload/distribution.h"
#include "traffic/workload/workload.h"

#define TESTS(TEST)                 \
	TEST(trace_is_read)         \
	TEST(traces_may_name_hosts) \
	TEST(hpcc_flows_are_read)   \
	TEST(sizes_are_read)        \
	TEST(mistakes_have_lines)
SUITE(TESTS)

static const uint64_t rate_bps = 100000000000;

static struct workload_params defaults(enum workload_pattern pattern)
{
	struct workload_params params;

	params_default(workload_param_list, &params);
	params.pattern = pattern;
	params.bytes = 100000;
	return params;
}

static void test_trace_is_read(void)
{
	struct workload_params params = defaults(PATTERN_trace);
	char error[256];
	struct workload *workload =
		workload_create(&params, 4, rate_bps, 1,
				&(struct workload_files){.trace = TEST_DATA "/workload/flows.csv"},
				error, sizeof(error));

	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL(workload->count, 3);
	CU_ASSERT_EQUAL(workload->flows[1].start, 1500 * NS);
	CU_ASSERT_EQUAL(workload->flows[1].operation, WORKLOAD_READ);
	CU_ASSERT_EQUAL(workload->flows[1].bytes, 65536);
	CU_ASSERT_EQUAL(workload->flows[2].destination, 3);
	workload_destroy(workload);
	/* without a line of names */
	workload =
		workload_create(&params, 4, rate_bps, 1,
				&(struct workload_files){.trace = TEST_DATA "/workload/plain.csv"},
				error, sizeof(error));
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL(workload->count, 2);
	CU_ASSERT_EQUAL(workload->flows[1].start, 1500 * NS);
	workload_destroy(workload);
}

/* A trace may name its hosts. */
static void test_traces_may_name_hosts(void)
{
	static const char *const names[] = {"left", "right", "3", "node-7"};
	struct workload_params params = defaults(PATTERN_trace);
	struct workload_files files = {.trace = TEST_DATA "/workload/names.csv", .names = names};
	char error[256] = "";
	struct workload *workload =
		workload_create(&params, 4, rate_bps, 1, &files, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL_FATAL(workload->count, 3);
	CU_ASSERT(workload->flows[0].source == 0 && workload->flows[0].destination == 1);
	CU_ASSERT(workload->flows[1].source == 3 && workload->flows[1].destination == 0);
	/* digits are a number, also where a host has them as its name */
	CU_ASSERT(workload->flows[2].source == 3 && workload->flows[2].destination == 2);
	CU_ASSERT_EQUAL(workload->flows[2].operation, WORKLOAD_SEND);
	workload_destroy(workload);
	files.names = NULL;
	CU_ASSERT_PTR_NULL(workload_create(&params, 4, rate_bps, 1, &files, error, sizeof(error)));
	CU_ASSERT(strstr(error, "names.csv:2: no host \"left\"; expected a number") != NULL);
}

/* Flows in the HPCC study's form equal flows in the CSV form, to the picosecond. */
static void test_hpcc_flows_are_read(void)
{
	struct workload_params params = defaults(PATTERN_trace);
	char error[256] = "";
	struct workload_files files = {.trace = TEST_DATA "/workload/hpcc.txt"};
	struct workload *workload =
		workload_create(&params, 4, rate_bps, 1, &files, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	CU_ASSERT_EQUAL(workload->count, 2);
	CU_ASSERT_EQUAL(workload->flows[1].start, 1500 * NS);
	CU_ASSERT_EQUAL(workload->flows[1].source, 1);
	CU_ASSERT_EQUAL(workload->flows[1].destination, 2);
	CU_ASSERT_EQUAL(workload->flows[0].bytes, 200000);
	workload_destroy(workload);
	files.trace = TEST_DATA "/workload/hpcc-priorities.txt";
	CU_ASSERT_PTR_NULL(workload_create(&params, 4, rate_bps, 1, &files, error, sizeof(error)));
	CU_ASSERT(strstr(error, "hpcc-priorities.txt:3: another priority") != NULL);
	files.trace = TEST_DATA "/workload/hpcc-fewer.txt";
	CU_ASSERT_PTR_NULL(workload_create(&params, 4, rate_bps, 1, &files, error, sizeof(error)));
	CU_ASSERT(strstr(error, "fewer flows than the first line says") != NULL);
}

/* A file with the points of a published distribution draws the same sizes. */
static void test_sizes_are_read(void)
{
	char error[256] = "";
	struct workload_params params = defaults(PATTERN_poisson);
	const struct workload_files files = {.cdf = TEST_DATA "/workload/web_search.cdf"};

	params.sizes = DISTRIBUTION_web_search;
	struct workload *published = workload_create(
		&params, 8, rate_bps, 1, &(struct workload_files){0}, error, sizeof(error));

	params.sizes = DISTRIBUTION_file;
	struct workload *own =
		workload_create(&params, 8, rate_bps, 1, &files, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(own);
	CU_ASSERT_EQUAL_FATAL(own->count, published->count);
	for (uint32_t i = 0; i < own->count; i++)
		CU_ASSERT(own->flows[i].bytes == published->flows[i].bytes &&
			  own->flows[i].start == published->flows[i].start);
	workload_destroy(own);
	workload_destroy(published);
	CU_ASSERT_PTR_NULL(
		distribution_read(TEST_DATA "/workload/falls.cdf", error, sizeof(error)));
	CU_ASSERT(strstr(error, "falls.cdf:3: bytes decrease") != NULL);
	CU_ASSERT_PTR_NULL(
		distribution_read(TEST_DATA "/workload/short.cdf", error, sizeof(error)));
	CU_ASSERT(strstr(error, "short.cdf:2: the last percentage is not 100") != NULL);
	CU_ASSERT_PTR_NULL(distribution_read(TEST_DATA "/none.cdf", error, sizeof(error)));
	CU_ASSERT(strstr(error, "none.cdf: No such file") != NULL);
}

static void test_mistakes_have_lines(void)
{
	struct workload_params params = defaults(PATTERN_trace);
	char error[256];

	CU_ASSERT_PTR_NULL(workload_create(
		&params, 8, rate_bps, 1,
		&(struct workload_files){.trace = TEST_DATA "/no-such.csv"}, error, sizeof(error)));
	CU_ASSERT_PTR_NULL(
		workload_create(&params, 8, rate_bps, 1,
				&(struct workload_files){.trace = TEST_DATA "/workload/wrong.csv"},
				error, sizeof(error)));
	CU_ASSERT(strstr(error, "wrong.csv:3: no host 8; expected 0..7") != NULL);
	CU_ASSERT_PTR_NULL(
		workload_create(&params, 8, rate_bps, 1,
				&(struct workload_files){.trace = TEST_DATA "/workload/verb.csv"},
				error, sizeof(error)));
	CU_ASSERT(strstr(error, "verb.csv:2: expected start_us,source,destination,bytes") != NULL);
	CU_ASSERT_PTR_NULL(
		workload_create(&params, 8, rate_bps, 1,
				&(struct workload_files){.trace = TEST_DATA "/workload/bytes.csv"},
				error, sizeof(error)));
	CU_ASSERT(strstr(error, "bytes.csv:1: a flow has 1000 GB at most") != NULL);
}
