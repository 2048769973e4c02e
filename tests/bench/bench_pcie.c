/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_pcie: compares the PCIe model with the results of pciebench on a PCIe 3.0 x8 card: DMA
 * bandwidth by transfer size, and the latency of one read. Source: Neugebauer et al., Understanding
 * PCIe performance for end host networking, SIGCOMM 2018 (NFP-6000 in a Xeon E5-2630v4). Then
 * measures the speed of the model. The card's own limits (62 M reads/s, 47 M writes/s) are not part
 * of the model, which explains lower published values at small sizes.
 *
 *     bench_pcie [completion_bytes]        the host's largest completion; default: the parameter's
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hca/context/translation_params.h"
#include "hca/host/pcie_params.h"
#include "hca/work/dma.h"
#include "hca/work/dma_params.h"

enum { DEPTH = 256, SPEED_DEPTH = 24, TRANSFERS = 20000, SPEED_TRANSFERS = 1000000 };

/* Gb/s as published; 0: not given. Sizes between the powers of two show the saw-tooth. */
static const struct row {
	uint32_t bytes;
	double read_gbps, write_gbps;
} rows[] = {
	{64, 31.9, 24.3},   {65, 21.9, 24.6},  {128, 43.8, 42.4},  {129, 0, 0},
	{256, 47.7, 50.5},  {257, 39.1, 37.4}, {512, 55.0, 53.0},  {513, 0, 0},
	{1024, 55.4, 53.0}, {1025, 0, 0},      {2048, 55.6, 53.0},
};

static const struct {
	uint32_t bytes;
	double ns;
} latencies[] = {{64, 600}, {128, 626}, {256, 666}, {512, 746}, {1024, 906}, {2048, 1173}};

struct stream {
	struct sim *sim;
	struct pcie *pcie;
	struct pcie_read reads[DEPTH];
	struct pcie_write writes[DEPTH];
	uint32_t bytes;
	uint64_t depth, left, done;
	sim_time first_done, last_done;
};

static struct stream stream;

static bool note(void)
{
	stream.last_done = sim_now(stream.sim);
	if (stream.done++ == stream.depth) /* the pipe is full */
		stream.first_done = stream.last_done;
	return stream.left && stream.left--;
}

static void read_again(struct pcie_read *read)
{
	if (note())
		pcie_read(stream.pcie, read);
}

static void write_again(struct pcie_write *write)
{
	if (note())
		pcie_write(stream.pcie, write);
}

/* Runs `depth` transfers at a time. Returns the rate in Gb/s between the first `depth` transfers
 * and the last one. */
static double run(const struct pcie_params *params, uint32_t bytes, bool reads, bool writes,
		  uint64_t depth, uint64_t transfers, uint64_t *events)
{
	double gbps;

	stream = (struct stream){.bytes = bytes, .depth = depth, .left = transfers};
	stream.sim = sim_create(SIM_ENGINE_native, 1);
	stream.pcie = pcie_create(stream.sim, "pcie", params);
	for (uint64_t i = 0; i < depth; i++) {
		stream.reads[i] = (struct pcie_read){
			.memory = memory_none(), .length = bytes, .done = read_again};
		stream.writes[i] = (struct pcie_write){
			.memory = memory_none(), .length = bytes, .done = write_again};
		if (reads && (!writes || i % 2))
			pcie_read(stream.pcie, &stream.reads[i]);
		else
			pcie_write(stream.pcie, &stream.writes[i]);
	}
	sim_run(stream.sim, SIM_NEVER);
	gbps = (double)(stream.done - 1 - depth) * bytes * 8e3 /
	       (double)(stream.last_done - stream.first_done);
	*events = sim_events_fired(stream.sim);
	pcie_destroy(stream.pcie);
	sim_destroy(stream.sim);
	return gbps;
}

static void latency_done(struct pcie_read *read)
{
	(void)read;
}

static double read_latency_ns(const struct pcie_params *params, uint32_t bytes)
{
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct pcie *pcie = pcie_create(sim, "pcie", params);
	struct pcie_read read = {.memory = memory_none(), .length = bytes, .done = latency_done};
	double ns;

	pcie_read(pcie, &read);
	sim_run(sim, SIM_NEVER);
	ns = (double)sim_now(sim) / (double)NS;
	pcie_destroy(pcie);
	sim_destroy(sim);
	return ns;
}

/* Transfers of one packet each through the translation unit, with cache hits. */
static struct dma_engine *engine;
static struct dma dmas[SPEED_DEPTH];
static uint64_t dmas_left;

static void dma_again(struct dma *dma)
{
	if (dmas_left && dmas_left--)
		dma_start(engine, dma);
}

static void run_dma(const struct pcie_params *params, enum dma_direction direction,
		    uint64_t transfers, uint64_t *events)
{
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct pcie *pcie = pcie_create(sim, "pcie", params);
	struct mr_table *regions = mr_table_create(1);
	const struct mr region = {.access = MR_LOCAL_WRITE,
				  .page_shift = 12,
				  .memory = memory_none(),
				  .length = 1 << 20,
				  .valid = true};
	struct data_segment segment = {800, 4096, mr_table_add(regions, &region)->key};
	struct translation_params translation;
	struct translation_unit *unit;
	struct dma_params dma;

	params_default(translation_param_list, &translation);
	params_default(icm_cache_mpt_param_list, &translation.mpt);
	params_default(icm_cache_mtt_param_list, &translation.mtt);
	params_default(dma_param_list, &dma);
	unit = translation_unit_create(sim, "translation", &translation, pcie, regions);
	engine = dma_engine_create(sim, "dma", &dma, unit, pcie);
	dmas_left = transfers;
	for (int i = 0; i < SPEED_DEPTH; i++) {
		dmas[i] = (struct dma){.segments = &segment,
				       .segment_count = 1,
				       .length = 4096,
				       .direction = direction,
				       .access = direction == DMA_SCATTER ? MR_LOCAL_WRITE : 0,
				       .done = dma_again};
		dma_start(engine, &dmas[i]);
	}
	sim_run(sim, SIM_NEVER);
	*events = sim_events_fired(sim);
	dma_engine_destroy(engine);
	translation_unit_destroy(unit);
	mr_table_destroy(regions);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* As many reads and writes as the posted credits permit. More would only queue, with reads behind
 * writes. */
static uint64_t both_depth(uint32_t bytes)
{
	uint64_t depth = 32768 / bytes;

	return depth < 8 ? 8 : depth < DEPTH ? depth : DEPTH;
}

static void print_theirs(double gbps)
{
	if (gbps > 0)
		printf(" %6.1f", gbps);
	else
		printf(" %6s", "-");
}

int main(int argc, char **argv)
{
	struct pcie_params params;
	uint64_t events;
	double before;

	params_default(pcie_param_list, &params);
	params.lanes = 8;
	if (argc > 1)
		params.completion_max = strtoull(argv[1], NULL, 10);
	printf("DMA bandwidth, PCIe 3.0 x8, %d at a time, completions of %llu B; Gb/s\n", DEPTH,
	       (unsigned long long)params.completion_max);
	printf("%6s %6s %6s   %6s %6s   %9s\n", "bytes", "read", "theirs", "write", "theirs",
	       "both, each");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		printf("%6u %6.1f", rows[i].bytes,
		       run(&params, rows[i].bytes, true, false, DEPTH, TRANSFERS, &events));
		print_theirs(rows[i].read_gbps);
		printf("   %6.1f",
		       run(&params, rows[i].bytes, false, true, DEPTH, TRANSFERS, &events));
		print_theirs(rows[i].write_gbps);
		printf("   %9.1f\n", run(&params, rows[i].bytes, true, true,
					 both_depth(rows[i].bytes), TRANSFERS, &events) /
					     2);
	}
	printf("\nlatency of one read, ns (theirs: Xeon E5-2637v3, with the card's DMA engine)\n");
	for (size_t i = 0; i < ARRAY_SIZE(latencies); i++)
		printf("%6u %6.0f %6.0f\n", latencies[i].bytes,
		       read_latency_ns(&params, latencies[i].bytes), latencies[i].ns);
	printf("\nspeed of the model\n");
	for (int writes = 0; writes < 2; writes++) {
		before = cpu_seconds();
		run(&params, 4096, !writes, writes, SPEED_DEPTH, SPEED_TRANSFERS, &events);
		printf("PCIe %s of 4096 B: %4.0f ns each, %.2f events each\n",
		       writes ? "writes" : "reads ",
		       (cpu_seconds() - before) / SPEED_TRANSFERS * 1e9,
		       (double)events / SPEED_TRANSFERS);
		before = cpu_seconds();
		run_dma(&params, writes ? DMA_SCATTER : DMA_GATHER, SPEED_TRANSFERS, &events);
		printf("DMA %s of 4096 B: %4.0f ns each, %.2f events each, over 2 pages that hit\n",
		       writes ? "scatters" : "gathers ",
		       (cpu_seconds() - before) / SPEED_TRANSFERS * 1e9,
		       (double)events / SPEED_TRANSFERS);
	}
	return 0;
}
