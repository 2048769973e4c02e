/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the reader of Chakra traces refuses a file that ends inside a message, at any byte,
 * and that no damaged byte does harm. tests/support/chakra_trace.py wrote the traces.
 * cli/chakra has times and messages.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "traffic/workload/workload.h"

#define TESTS(TEST)     \
	TEST(example)   \
	TEST(cut_files) \
	TEST(damaged_files)
SUITE(TESTS)

#define BYTES_MAX 1024
#define RANKS     4

static struct workload *read_traces(const char *files, char *error, size_t error_bytes)
{
	struct workload_params params;

	params_default(workload_param_list, &params);
	params.pattern = PATTERN_chakra;
	*error = '\0';
	return workload_create(&params, RANKS, 100000000000, 1,
			       &(struct workload_files){.trace = files}, error, error_bytes);
}

static size_t read_bytes(unsigned rank, uint8_t bytes[BYTES_MAX])
{
	char path[256];

	snprintf(path, sizeof(path), TEST_DATA "/chakra/training.%u.et", rank);
	FILE *in = fopen(path, "rb");

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	size_t count = fread(bytes, 1, BYTES_MAX, in);

	fclose(in);
	CU_ASSERT_FATAL(count > 200 && count < BYTES_MAX);
	return count;
}

/* A folder with the traces, of which a test changes that of rank 0. */
struct copy {
	char folder[32], files[48];
};

static void write_trace(const struct copy *copy, unsigned rank, const uint8_t *bytes, size_t count)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%u.et", copy->folder, rank);
	FILE *out = fopen(path, "wb");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_FATAL(fwrite(bytes, 1, count, out) == count && fclose(out) == 0);
}

static struct copy copy_traces(void)
{
	struct copy copy = {.folder = "/tmp/test_chakra.XXXXXX"};
	uint8_t bytes[BYTES_MAX];

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(copy.folder));
	snprintf(copy.files, sizeof(copy.files), "%s/%%d.et", copy.folder);
	for (unsigned rank = 0; rank < RANKS; rank++)
		write_trace(&copy, rank, bytes, read_bytes(rank, bytes));
	return copy;
}

static void remove_traces(const struct copy *copy)
{
	char path[64];

	for (unsigned rank = 0; rank < RANKS; rank++) {
		snprintf(path, sizeof(path), "%s/%u.et", copy->folder, rank);
		unlink(path);
	}
	rmdir(copy->folder);
}

/* 4 messages; 2 x 2 flows of the all-reduce of half0, 2 of the reduce-scatter of half1, and 6 x 4
 * of the last all-reduce. Attributes that are not used are named. */
static void test_example(void)
{
	char error[256];
	struct workload *workload =
		read_traces(TEST_DATA "/chakra/training.%d.et", error, sizeof(error));
	uint32_t flows = 0;
	uint64_t bytes = 0;

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(workload);
	for (uint32_t i = 0; i < workload->count; i++) {
		flows += !workload_is_barrier(&workload->flows[i]);
		bytes += workload->flows[i].bytes;
	}
	CU_ASSERT_EQUAL(flows, 4 + 4 + 2 + 24);
	CU_ASSERT_EQUAL(bytes, 4 * 32768 + 4 * 32768 + 2 * 32768 + 24 * 65536);
	CU_ASSERT_STRING_EQUAL(workload->ignored,
			       "attributes is_cpu_op (2), num_ops (1), tensor_size (1)");
	workload_destroy(workload);
}

/* Returns true if a message ends before this byte. All lengths of the trace take one byte. */
static bool is_border(const uint8_t *bytes, size_t place)
{
	size_t at = 0;

	while (at < place)
		at += 1u + bytes[at];
	return at == place;
}

static void test_cut_files(void)
{
	struct copy copy = copy_traces();
	uint8_t bytes[BYTES_MAX];
	size_t count = read_bytes(0, bytes);
	char error[256];
	unsigned borders = 0;

	for (size_t i = 0; i < count; i++) {
		bool border = is_border(bytes, i);

		write_trace(&copy, 0, bytes, i);
		CU_ASSERT_PTR_NULL(read_traces(copy.files, error, sizeof(error)));
		CU_ASSERT(strncmp(error, "trace: /tmp/test_chakra.", 24) == 0);
		CU_ASSERT((strstr(error, "it is cut") != NULL) == !border);
		borders += border;
	}
	CU_ASSERT_EQUAL(borders, 1 + 7); /* behind the metadata, and before each node */
	remove_traces(&copy);
}

static void test_damaged_files(void)
{
	struct copy copy = copy_traces();
	uint8_t bytes[BYTES_MAX];
	size_t count = read_bytes(0, bytes);
	char error[256];

	for (size_t i = 0; i < count; i++) {
		for (unsigned bit = 0; bit < 8; bit += 7) {
			bytes[i] ^= (uint8_t)(1u << bit);
			write_trace(&copy, 0, bytes, count);
			struct workload *workload = read_traces(copy.files, error, sizeof(error));

			CU_ASSERT(workload || *error != '\0');
			if (workload)
				workload_destroy(workload);
			bytes[i] ^= (uint8_t)(1u << bit);
		}
	}
	remove_traces(&copy);
}
