/* SPDX-License-Identifier: Apache-2.0 */
/* wire_check: see wire_check.h. */
#include "hcasim/run/wire_check.h"

double wire_check_room(uint64_t rate_bps, sim_time window)
{
	return (double)window * (double)rate_bps / 8 / (double)SEC;
}

void wire_check_window(struct wire_excess *excess, uint64_t rate_bps, sim_time from, sim_time until,
		       uint64_t bytes)
{
	if ((double)bytes <= wire_check_room(rate_bps, until - from) + 1 || excess->windows++)
		return;
	excess->bytes = bytes;
	excess->from = from;
	excess->until = until;
}

uint32_t wire_check_header_bytes(enum link_layer link_layer)
{
	return link_layer == LINK_INFINIBAND ? 8 + 12 + 4 + 2 : 14 + 20 + 20 + 4;
}
