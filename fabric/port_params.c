/* SPDX-License-Identifier: Apache-2.0 */
/* port_params: see port_params.h. */
#include "fabric/port_params.h"

void port_params_override(struct port_params *params, const struct port_params *values,
			  uint64_t given)
{
	for (unsigned i = 0; port_param_list[i].name; i++) {
		if (given >> i & 1)
			param_copy(&port_param_list[i], values, params);
	}
}
