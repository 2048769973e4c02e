/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_goal: any bytes as a GOAL file: refused with a reason, or a workload that a run can play.
 */
#include "tests/fuzz/workload_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	workload_check(PATTERN_goal, bytes, length);
	return 0;
}
