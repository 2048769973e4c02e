/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_netfile: parses any bytes as a net file. It is refused with a reason, or gives a layout in
 * which each link names ports that exist and are used once.
 */
#include <stdlib.h>

#include "fabric/netfile.h"
#include "tests/fuzz/layout_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct layout layout = {0};
	char error[128] = "";

	if (netfile_read(&layout, (const char *)bytes, length, error, sizeof(error)))
		layout_check(&layout);
	else if (!error[0])
		abort();
	layout_fini(&layout);
	return 0;
}
