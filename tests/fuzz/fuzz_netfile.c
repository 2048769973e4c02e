/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_netfile: any bytes as a net file: refused with a reason, or a layout whose links name ports that exist, each
 * of them once.
 */
#include <stdlib.h>

#include "fabric/netfile.h"
#include "fabric/port_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const struct layout *layout)
{
	bool(*linked)[PORT_SET_PORTS] = calloc(layout->node_count + 1, sizeof(*linked));

	if (!linked)
		abort();
	for (uint32_t i = 0; i < layout->link_count; i++) {
		const struct layout_link *link = &layout->links[i];
		const uint32_t nodes[] = {link->one, link->other};
		const uint16_t ports[] = {link->one_port, link->other_port};

		for (unsigned j = 0; j < 2; j++) {
			if (nodes[j] >= layout->node_count ||
			    ports[j] >= layout->nodes[nodes[j]].ports || linked[nodes[j]][ports[j]])
				abort();
			linked[nodes[j]][ports[j]] = true;
		}
	}
	free(linked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct layout layout = {0};
	char error[128] = "";

	if (netfile_read(&layout, (const char *)bytes, length, error, sizeof(error)))
		check(&layout);
	else if (!error[0])
		abort();
	layout_fini(&layout);
	return 0;
}
