/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_flows: any bytes as a CSV file of flows: refused with a reason, or a workload that a run can
 * play.
 */
#include "tests/fuzz/workload_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	workload_check(PATTERN_trace, bytes, length);
	return 0;
}
