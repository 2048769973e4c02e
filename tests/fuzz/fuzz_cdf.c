/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_cdf: reads any bytes as a file of flow sizes. The reader refuses them with a reason at a
 * line, or returns a distribution whose quantiles ascend within its limits.
 */
#include <assert.h>
#include <string.h>

#include "tests/fuzz/input_file.h"
#include "traffic/workload/distribution.h"
#include "traffic/workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct input_file input;
	char error[256] = "";

	if (!input.fd)
		input = input_file_create("cdf");
	input_file_fill(&input, bytes, length);
	struct size_distribution *sizes = distribution_read(input.path, error, sizeof(error));

	assert((sizes == NULL) == (error[0] != '\0'));
	if (!sizes) {
		assert(strncmp(error, input.path, strlen(input.path)) == 0);
		return 0;
	}
	double last = 0;

	for (int i = 0; i <= 16; i++) {
		double quantile = distribution_quantile(sizes, i / 16.0);

		assert(quantile >= last && quantile <= (double)WORKLOAD_BYTES_MAX);
		last = quantile;
	}
	assert(distribution_mean(sizes) <= last);
	distribution_destroy(sizes);
	return 0;
}
