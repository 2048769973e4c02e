/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_check: rules for each layout that is read from a file: links name each existing port at
 * most once.
 */
#ifndef TESTS_FUZZ_LAYOUT_CHECK_H
#define TESTS_FUZZ_LAYOUT_CHECK_H

#include <stdlib.h>

#include "fabric/layout.h"
#include "fabric/port_set.h"

static inline void layout_check(const struct layout *layout)
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

#endif
