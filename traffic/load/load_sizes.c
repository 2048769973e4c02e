/* SPDX-License-Identifier: Apache-2.0 */
/* load_sizes: sizes of the messages of a load, which a queue pair takes in turn. */
#include "traffic/load/load_state.h"

uint64_t load_sizes_sum(const struct param_sizes *sizes)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < sizes->count; i++)
		bytes += sizes->bytes[i];
	return bytes;
}

void load_add_up(struct load_params *params)
{
	if (params->sges.count)
		params->bytes = load_one_size(load_sizes_sum(&params->sges));
}

uint64_t load_longest(const struct load_params *params)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < params->bytes.count; i++)
		if (params->bytes.bytes[i] > longest)
			longest = params->bytes.bytes[i];
	return longest;
}

bool load_has_other(const struct load_params *params, uint64_t bytes)
{
	for (uint32_t i = 0; i < params->bytes.count; i++)
		if (params->bytes.bytes[i] != bytes)
			return true;
	return false;
}

/* Returns the packets that carry a message, or the response to a read. */
static uint64_t packets_of(const struct load_params *params, uint64_t bytes)
{
	uint64_t packets = (bytes + params->mtu - 1) / params->mtu;

	return params->verb == LOAD_FETCH_ADD || packets == 0 ? 1 : packets;
}

void load_cycle_init(struct load_cycle *cycle, const struct load_params *params)
{
	*cycle = (struct load_cycle){.count = params->bytes.count};
	for (uint32_t i = 0; i < cycle->count; i++) {
		uint64_t bytes = params->bytes.bytes[i];

		cycle->bytes[i + 1] = cycle->bytes[i] + bytes;
		cycle->packets[i + 1] = cycle->packets[i] + packets_of(params, bytes);
		cycle->blocks[i + 1] = cycle->blocks[i] + load_wqe_blocks_of(params, bytes);
	}
}
