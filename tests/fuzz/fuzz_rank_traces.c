/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_rank_traces: parses any bytes as the list of an MPI program's traces. It is refused with a
 * reason, or gives a list with one absolute name per rank.
 */
#include <assert.h>
#include <string.h>

#include "tests/fuzz/input_file.h"
#include "traffic/mpi/rank_traces.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const char *path, uint32_t ranks)
{
	FILE *in = fopen(path, "r");
	uint32_t names = 0;
	char *line = NULL;
	size_t room = 0;

	assert(in);
	for (; getline(&line, &room, in) >= 0; names++)
		assert(*line == '/');
	assert(names == ranks);
	free(line);
	fclose(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct input_file input, output;
	char error[1024] = "";

	if (!input.fd) {
		input = input_file_create("list");
		output = input_file_create("resolved");
	}
	input_file_fill(&input, bytes, length);
	uint32_t ranks = rank_traces_resolve(input.path, output.path, error, sizeof(error));

	assert((ranks == 0) == (error[0] != '\0'));
	if (ranks > 0)
		check(output.path, ranks);
	return 0;
}
