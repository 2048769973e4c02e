/*
 * Proves that a study is read as it stands and refused with its place where it is wrong, that its effective
 * configuration reads back to the same, that all kernels write the same flow table byte for byte, and that the studies
 * that come with the simulator hold what they expect.
 */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/study.h"

#define STUDIES TEST_DATA "/../../scenarios/studies/"

static struct fabric_study *read_good(const char *file, const char *const *overrides, size_t count)
{
	struct yaml_errors errors = {0};
	struct fabric_study *study = study_read(file, overrides, count, &errors);

	if (errors.text)
		printf("%s", errors.text);
	yaml_errors_free(&errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(study);
	return study;
}

static char *flow_table(const struct fabric_study *study, enum sim_kernel kernel,
			struct study_values *values)
{
	char why[256] = "", *text = NULL;
	size_t bytes;
	uint32_t count;
	struct study_run *run = study_run_create(study, kernel, why, sizeof(why));
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_STRING_EQUAL(why, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(run);
	study_run_play(run);
	const struct flow_record *records = study_run_flows(run, &count);

	flow_table_write(records, count, out);
	fclose(out);
	*values = study_run_values(run);
	study_run_destroy(run);
	return text;
}

static void test_studies_hold(void)
{
	static const char *const files[] = {STUDIES "incast-dcqcn.yaml",
					    STUDIES "web-search-fat-tree.yaml",
					    STUDIES "allreduce-ib.yaml"};

	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		struct fabric_study *study = read_good(files[i], NULL, 0);
		struct study_values values;

		CU_ASSERT_TRUE(study_is(files[i]));
		free(flow_table(study, SIM_KERNEL_native, &values));
		CU_ASSERT_EQUAL(study_compare(study, &values, stdout), 0);
		study_destroy(study);
	}
	CU_ASSERT_FALSE(study_is(TEST_DATA "/../../scenarios/two-hosts-roce.yaml"));
	CU_ASSERT_FALSE(study_is("no-such-file.yaml"));
}

/* Congestion, marks, losses by overflow and their recovery, on all three kernels. */
static void test_kernels_agree(void)
{
	static const char *const overrides[] = {"workload.bytes=400KB",
						"fabric.hosts=9",
						"fabric.link.input_buffer=64KiB",
						"fabric.link.pfc_priorities=0",
						"hcas.recovery=selective_repeat",
						"expect=[]"};
	struct fabric_study *study =
		read_good(STUDIES "incast-dcqcn.yaml", overrides, ARRAY_SIZE(overrides));
	struct study_values values[4];
	char *tables[4];

	for (unsigned i = 0; i < 4; i++)
		tables[i] = flow_table(study, (enum sim_kernel)(i % SIM_KERNEL_COUNT), &values[i]);
	for (unsigned i = 1; i < 4; i++)
		CU_ASSERT_STRING_EQUAL(tables[0], tables[i]);
	CU_ASSERT_EQUAL(values[0].done, 8);
	CU_ASSERT(values[0].drops > 0 && values[0].resent > 0 && values[0].cnps > 0);
	for (unsigned i = 0; i < 4; i++)
		free(tables[i]);
	study_destroy(study);
}

static void test_effective_reads_back(void)
{
	struct fabric_study *study = read_good(STUDIES "web-search-fat-tree.yaml", NULL, 0);
	const char *file = "study_effective.yaml";
	char *texts[2] = {NULL, NULL};
	size_t bytes;
	FILE *out = open_memstream(&texts[0], &bytes);

	study_print(study, out);
	fclose(out);
	study_destroy(study);
	out = fopen(file, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(texts[0], out);
	fclose(out);
	study = read_good(file, NULL, 0);
	out = open_memstream(&texts[1], &bytes);
	study_print(study, out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(texts[0], texts[1]);
	CU_ASSERT(strstr(texts[0], "algorithm: hpcc\n") && strstr(texts[0], "balance: ecmp\n"));
	study_destroy(study);
	remove(file);
	free(texts[0]);
	free(texts[1]);
}

/* The override is wrong; what is said names what was expected. */
static void refused(const char *override, const char *expected)
{
	struct yaml_errors errors = {0};

	CU_ASSERT_PTR_NULL(study_read(STUDIES "incast-dcqcn.yaml", &override, 1, &errors));
	CU_ASSERT_PTR_NOT_NULL_FATAL(errors.text);
	if (!strstr(errors.text, expected))
		printf("%s: %s", override, errors.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors.text, expected));
	yaml_errors_free(&errors);
}

static void test_mistakes_are_named(void)
{
	refused("hcas.fidelity=detailed", "expected one of endpoint");
	refused("hcas.recovery=go_back_m", "go_back_n");
	refused("congestion=dcqnc", "no congestion control `dcqnc`");
	refused("congestion={algorithm: dcqcn, beta: 1}", "dcqcn has no parameter `beta`");
	refused("congestion={algorithm: dcqcn, gain: 3}", "0..1");
	refused("workload.pattern=incest", "incast");
	refused("workload.pattern=trace", "a file of flows goes with pattern: trace");
	refused("workload.colour=red", "colour");
	refused("fabric.topology=ring", "torus");
	refused("expect=[{value: speed, at_least: 1}]", "there is no value \"speed\"");
	refused("programs=[]", "programs");
}

static void test_what_cannot_be_built(void)
{
	static const char *const overrides[] = {"fabric.hosts=65", "workload.target=64"};

	for (unsigned i = 0; i < ARRAY_SIZE(overrides); i++) {
		struct fabric_study *study =
			read_good(STUDIES "incast-dcqcn.yaml", &overrides[i], 1);
		char why[256] = "";

		CU_ASSERT_PTR_NULL(study_run_create(study, SIM_KERNEL_native, why, sizeof(why)));
		CU_ASSERT_STRING_NOT_EQUAL(why, "");
		study_destroy(study);
	}
}

static void test_expectations_are_compared(void)
{
	static const char *const overrides[] = {
		"expect=[{value: done, at_least: 17}, {value: drops, at_most: 0}]"};
	struct fabric_study *study = read_good(STUDIES "incast-dcqcn.yaml", overrides, 1);
	struct study_values values = {.done = 16};
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_EQUAL(study_compare(study, &values, out), 1);
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "done is 16; expected at least 17"));
	free(text);
	study_destroy(study);
}

int main(void)
{
	CU_initialize_registry();
	CU_pSuite suite = CU_add_suite("study", NULL, NULL);

	CU_ADD_TEST(suite, test_studies_hold);
	CU_ADD_TEST(suite, test_kernels_agree);
	CU_ADD_TEST(suite, test_effective_reads_back);
	CU_ADD_TEST(suite, test_mistakes_are_named);
	CU_ADD_TEST(suite, test_what_cannot_be_built);
	CU_ADD_TEST(suite, test_expectations_are_compared);
	CU_basic_run_tests();
	unsigned failures = CU_get_number_of_failures();

	CU_cleanup_registry();
	return failures != 0;
}
