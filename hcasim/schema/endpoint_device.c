/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint_device: see endpoint_device.h. */
#include "hcasim/schema/endpoint_device.h"

#include <assert.h>
#include <stdlib.h>

#include "hcasim/schema/congestion_key.h"

/* clang-format off */
const struct param_section endpoint_device_sections[] = {
	{"port", port_param_list, offsetof(struct endpoint_device, port), "its port"},
	{"tcp", endpoint_tcp_param_list, offsetof(struct endpoint_device, tcp),
	 "its TCP connections, with transport: tcp or iwarp"},
	{"context_cache", connection_cache_param_list, offsetof(struct endpoint_device, cache),
	 "its cache of the contexts of queue pairs and iWARP connections"},
	{"memory", connection_memory_param_list, offsetof(struct endpoint_device, memory),
	 "sizes of the states and rings of its queue pairs and connections"},
	{0}};
/* clang-format on */

static void init(void *params)
{
	struct endpoint_device *device = params;
	char error[128];
	bool good = congestion_choose(&device->choice, "none", error, sizeof(error));
	assert(good);
}

static void read_congestion(struct yaml_node *node, void *params, struct yaml_errors *errors)
{
	struct endpoint_device *device = params;
	congestion_key_read(node, &device->choice, errors);
}

static void print(const void *params, unsigned indent, FILE *out)
{
	const struct endpoint_device *device = params;
	congestion_key_print(&device->choice, indent, out);
}

const struct composite_extra endpoint_device_extra = {"congestion", init, read_congestion, print};

void endpoint_device_destroy(struct endpoint_device *device)
{
	if (!device)
		return;
	congestion_choice_fini(&device->choice);
	free(device);
}
