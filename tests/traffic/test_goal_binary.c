/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a binary GOAL file has the flows and dependencies of its text. txt2bin of the
 * LogGOPSim tools wrote the file from schedule.goal. The reader refuses every file that ends too
 * early, and no damaged byte does harm.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "traffic/workload/workload.h"

#define TESTS(TEST)              \
	TEST(both_forms_are_one) \
	TEST(cut_files)          \
	TEST(damaged_files)      \
	TEST(mistakes_are_named)
SUITE(TESTS)

#define BYTES_MAX 4096

static struct workload *read_goal(const char *path, uint32_t hosts, char *error, size_t error_bytes)
{
	struct workload_params params;

	params_default(workload_param_list, &params);
	params.pattern = PATTERN_goal;
	*error = '\0';
	return workload_create(&params, hosts, 100000000000, 1,
			       &(struct workload_files){.trace = path}, error, error_bytes);
}

static size_t read_bytes(uint8_t bytes[BYTES_MAX])
{
	FILE *in = fopen(TEST_DATA "/goal/schedule.bin", "rb");

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	size_t count = fread(bytes, 1, BYTES_MAX, in);

	fclose(in);
	CU_ASSERT_FATAL(count > 700 && count < BYTES_MAX);
	return count;
}

/* Reads a file of these bytes. */
static struct workload *read_these(const uint8_t *bytes, size_t count, char *error,
				   size_t error_bytes)
{
	char path[] = "/tmp/test_goal_binary.XXXXXX";
	int file = mkstemp(path);

	CU_ASSERT_FATAL(file >= 0);
	CU_ASSERT_FATAL(write(file, bytes, count) == (ssize_t)count);
	close(file);
	struct workload *workload = read_goal(path, 4, error, error_bytes);

	unlink(path);
	return workload;
}

static void test_both_forms_are_one(void)
{
	char error[256];
	struct workload *text = read_goal(TEST_DATA "/goal/schedule.goal", 4, error, sizeof(error));
	struct workload *binary =
		read_goal(TEST_DATA "/goal/schedule.bin", 4, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_FATAL(text && binary);
	CU_ASSERT_EQUAL_FATAL(text->count, binary->count);
	for (uint32_t i = 0; i < text->count; i++) {
		const struct workload_flow *one = &text->flows[i], *other = &binary->flows[i];

		CU_ASSERT(one->source == other->source && one->destination == other->destination &&
			  one->bytes == other->bytes && one->start == other->start &&
			  one->dependency_count == other->dependency_count &&
			  one->next_count == other->next_count);
	}
	CU_ASSERT_EQUAL(text->edge_count, binary->edge_count);
	workload_destroy(text);
	workload_destroy(binary);
}

static void test_cut_files(void)
{
	uint8_t bytes[BYTES_MAX];
	size_t count = read_bytes(bytes);
	char error[256];

	for (size_t i = 0; i < count; i++)
		CU_ASSERT_PTR_NULL(read_these(bytes, i, error, sizeof(error)));
}

static void test_damaged_files(void)
{
	uint8_t bytes[BYTES_MAX];
	size_t count = read_bytes(bytes);
	char error[256];

	for (size_t i = 0; i < count; i++) {
		for (unsigned bit = 0; bit < 8; bit += 7) {
			bytes[i] ^= (uint8_t)(1u << bit);
			struct workload *workload = read_these(bytes, count, error, sizeof(error));

			CU_ASSERT(workload || *error != '\0');
			if (workload)
				workload_destroy(workload);
			bytes[i] ^= (uint8_t)(1u << bit);
		}
	}
}

static void test_mistakes_are_named(void)
{
	uint8_t bytes[BYTES_MAX];
	size_t count = read_bytes(bytes);
	char error[256];

	CU_ASSERT_PTR_NULL(read_goal(TEST_DATA "/goal/schedule.bin", 3, error, sizeof(error)));
	CU_ASSERT(strstr(error, "schedule.bin: 4 ranks, and 3 hosts") != NULL);
	bytes[0] = 2342 % 256; /* the cookie of a file that was used up */
	bytes[1] = 2342 / 256;
	CU_ASSERT_PTR_NULL(read_these(bytes, count, error, sizeof(error)));
	CU_ASSERT(strstr(error, "has used this binary GOAL file up") != NULL);
	count = read_bytes(bytes);
	bytes[8 + 0x46 + 8 + 4 * 2 + 4] = 9; /* the type of the first operation of rank 0 */
	CU_ASSERT_PTR_NULL(read_these(bytes, count, error, sizeof(error)));
	CU_ASSERT(strstr(error, "operation 1: type 9; expected send, recv or calc") != NULL);
}
