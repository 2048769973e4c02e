/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_lines: time of a core to use memory lines, see load_server.h. It depends on the last-level
 * cache of its host, which DMA writes share (hca/host/llc.h). Without a cache model, data written
 * by DMA hit the cache, and tables miss it.
 */
#include "hca/host/llc.h"
#include "traffic/load/load_server.h"

void load_lines_use(struct load_lines *lines, uint64_t address, uint64_t bytes, bool change)
{
	struct llc *llc = hca_llc(lines->node->hca);
	uint64_t count =
		bytes ? (address + bytes - 1) / LLC_LINE_BYTES - address / LLC_LINE_BYTES + 1 : 0;
	uint64_t missed = address >= LOAD_TABLE_ADDRESS ? count : 0;
	sim_time now = sim_now(lines->node->sim);

	if (llc && count) {
		sim_time begin = llc_cpu_use(llc, address, bytes, change, now, &missed);

		if (begin - now > lines->delay)
			lines->delay = begin - now;
	}
	lines->missed += missed;
	lines->cached += count - missed;
}

sim_time load_lines_time(const struct load_lines *lines)
{
	const struct load_cpu_params *cpu = &lines->node->load->params.cpu;
	sim_time all =
		(lines->cached * cpu->cache + lines->missed * cpu->memory) / cpu->side_by_side;
	sim_time one = lines->missed ? cpu->memory : lines->cached ? cpu->cache : 0;

	return lines->delay + (all > one ? all : one);
}

sim_time load_poll_time(const struct load_node *node)
{
	const struct llc *llc = hca_llc(node->hca);

	return node->load->params.cpu.poll + (llc ? llc_dma_wait(llc) : 0);
}

void load_lines_written(struct load_node *node, uint64_t address, uint64_t bytes)
{
	struct llc *llc = hca_llc(node->hca);

	if (llc)
		llc_cpu_touch(llc, address, bytes, true);
}
