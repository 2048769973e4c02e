/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_check: checks the invariants of any workload: its hosts exist, a run can count its
 * bytes, and its dependencies can be satisfied.
 */
#ifndef TESTS_FUZZ_WORKLOAD_CHECK_H
#define TESTS_FUZZ_WORKLOAD_CHECK_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/input_file.h"
#include "traffic/workload/workload.h"

#define CHECK_HOSTS    8
#define CHECK_RATE_BPS UINT64_C(100000000000)
#define CHECK_FURTHEST (UINT64_C(1000000000000) * US)

/* Begins flows without dependencies, then flows whose dependencies end. */
static inline void workload_check_order(const struct workload *workload)
{
	uint32_t *waits = calloc(workload->count + 1, sizeof(*waits));
	uint32_t *queue = calloc(workload->count + 1, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	assert(waits && queue);
	for (uint32_t i = 0; i < workload->count; i++) {
		waits[i] = workload->flows[i].dependency_count;
		if (!waits[i])
			queue[tail++] = i;
	}
	while (head < tail) {
		const struct workload_flow *flow = &workload->flows[queue[head++]];

		for (uint32_t i = 0; i < flow->next_count; i++) {
			uint32_t next = workload->next[flow->first_next + i];

			assert(waits[next] > 0);
			if (--waits[next] == 0)
				queue[tail++] = next;
		}
	}
	assert(tail == workload->count);
	free(waits);
	free(queue);
}

static inline void workload_check_flows(const struct workload *workload)
{
	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *flow = &workload->flows[i];

		assert(flow->source < CHECK_HOSTS && flow->destination < CHECK_HOSTS);
		assert(flow->bytes <= WORKLOAD_BYTES_MAX && flow->start <= CHECK_FURTHEST);
		assert(workload_is_barrier(flow) == !flow->bytes);
	}
}

/* Reads a file of that pattern. The result is a workload for which all checks hold, or an error
 * that begins with `place`. */
static inline void workload_check_file(enum workload_pattern pattern, const char *path,
				       const char *place)
{
	struct workload_params params;
	char error[256] = "";

	params_default(workload_param_list, &params);
	params.pattern = pattern;
	struct workload *workload =
		workload_create(&params, CHECK_HOSTS, CHECK_RATE_BPS, 1,
				&(struct workload_files){.trace = path}, error, sizeof(error));

	assert((workload == NULL) == (error[0] != '\0'));
	if (!workload) {
		assert(strncmp(error, place, strlen(place)) == 0 ||
		       strncmp(error, path, strlen(path)) == 0);
		return;
	}
	workload_check_flows(workload);
	workload_check_order(workload);
	workload_destroy(workload);
}

/* Reads the input as a file of that pattern. An error names a line. */
static inline void workload_check(enum workload_pattern pattern, const void *bytes, size_t length)
{
	static struct input_file input;

	if (!input.fd)
		input = input_file_create("workload");
	input_file_fill(&input, bytes, length);
	workload_check_file(pattern, input.path, input.path);
}

#endif
