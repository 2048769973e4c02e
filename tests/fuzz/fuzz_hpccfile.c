/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_hpccfile: reads any bytes as a topology file of the HPCC study. The reader refuses them with
 * a reason, or returns a layout whose links name each existing port at most once.
 */
#include <stdlib.h>

#include "fabric/hpccfile.h"
#include "tests/fuzz/layout_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct layout layout = {0};
	char error[128] = "";

	if (hpccfile_read(&layout, (const char *)bytes, length, error, sizeof(error)))
		layout_check(&layout);
	else if (!error[0])
		abort();
	layout_fini(&layout);
	return 0;
}
