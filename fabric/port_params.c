/* SPDX-License-Identifier: Apache-2.0 */
/* port_params: see port_params.h. */
#include "fabric/port_params.h"

#include <assert.h>

void port_params_override(struct port_params *params, const struct port_params *values,
			  uint64_t given)
{
	for (unsigned i = 0; port_param_list[i].name; i++) {
		char text[128], error[256];
		bool good;

		if (!(given >> i & 1))
			continue;
		param_print(&port_param_list[i], values, text, sizeof(text));
		good = param_parse(&port_param_list[i], text, params, error, sizeof(error));
		assert(good);
	}
}
