/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_pcie: driver pcie: measures transactions on a PCIe link. Keys: host, measure, and the
 * arguments of the measure.
 */
#include <string.h>

#include "hca/device/hca_params.h"
#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hcasim/command/published.h"

enum { TRANSFERS = 2000, TRANSFER_BYTES = 4096, LINE_BYTES = 64 };

struct bench {
	struct sim *sim;
	struct pcie *pcie;
	const struct published_settings *settings;
	const struct pcie_params *params;
	uint64_t done;
	sim_time first_at, last_at;
	uint64_t skip;
};

static struct bench *current; /* the callbacks of transactions have no context of their own */

static struct pcie_read reads[TRANSFERS];
static struct pcie_write writes[TRANSFERS];

static void note(void)
{
	if (current->done++ == current->skip)
		current->first_at = sim_now(current->sim);
	current->last_at = sim_now(current->sim);
}

static void note_read(struct pcie_read *read)
{
	(void)read;
	note();
}

static void note_write(struct pcie_write *write)
{
	(void)write;
	note();
}

static bool note_store(void *context, uint64_t offset, const void *bytes, uint32_t length)
{
	(void)context, (void)offset, (void)bytes, (void)length;
	note();
	return true;
}

static void complete_load(void *context, uint64_t offset, void *bytes, uint32_t length)
{
	(void)context, (void)offset;
	memset(bytes, 0, length);
}

static void note_load(struct pcie_mmio_read *read)
{
	(void)read;
	note();
}

/* Returns the transfers per second between the first one after `skip` and the last, in 10^9. */
static double rate_giga(const struct bench *bench)
{
	return (double)(bench->done - 1 - bench->skip) * 1e3 /
	       (double)(bench->last_at - bench->first_at);
}

static void start_reads(const struct bench *bench, unsigned count, uint32_t bytes)
{
	for (unsigned i = 0; i < count; i++) {
		reads[i] = (struct pcie_read){
			.memory = memory_none(), .length = bytes, .done = note_read};
		pcie_read(bench->pcie, &reads[i]);
	}
	sim_run(bench->sim, SIM_NEVER);
}

static void start_writes(const struct bench *bench, unsigned count, uint32_t bytes)
{
	for (unsigned i = 0; i < count; i++) {
		writes[i] = (struct pcie_write){
			.memory = memory_none(), .length = bytes, .done = note_write};
		pcie_write(bench->pcie, &writes[i]);
	}
	sim_run(bench->sim, SIM_NEVER);
}

static void start_stores(const struct bench *bench, unsigned count, uint32_t bytes)
{
	static const uint8_t line[LINE_BYTES];
	sim_time ask_at;

	for (unsigned i = 0; i < count; i++) {
		while (!pcie_mmio_room(bench->pcie, &ask_at))
			sim_run(bench->sim, ask_at);
		pcie_mmio_write(bench->pcie, 0, line, bytes);
	}
	sim_run(bench->sim, SIM_NEVER);
}

static uint32_t bytes_of(const struct bench *bench)
{
	return (uint32_t)published_number(bench->settings, "bytes", TRANSFER_BYTES);
}

static double measure_raw_gbps(struct bench *bench)
{
	return (double)pcie_link_raw_bps(bench->params->generation + 1, bench->params->lanes) / 1e9;
}

/* Measures writes without TLP overhead. Only encoding and DLLPs reduce the rate. */
static double measure_tlp_gbps(struct bench *bench)
{
	start_writes(bench, TRANSFERS, TRANSFER_BYTES);
	return rate_giga(bench) *
	       (double)(TRANSFER_BYTES +
			bench->params->write_overhead * (TRANSFER_BYTES / bench->params->mps)) *
	       8;
}

static double measure_write_gbps(struct bench *bench)
{
	uint32_t bytes = bytes_of(bench);

	start_writes(bench, TRANSFERS, bytes);
	return rate_giga(bench) * bytes * 8;
}

static double measure_read_gbps(struct bench *bench)
{
	uint32_t bytes = bytes_of(bench);

	bench->skip = TRANSFERS / 4; /* the pipe is full */
	start_reads(bench, TRANSFERS, bytes);
	return rate_giga(bench) * bytes * 8;
}

static double measure_read_completions(struct bench *bench)
{
	start_reads(bench, 1, bytes_of(bench));
	return (double)pcie_counters(bench->pcie)->completions;
}

static double measure_read_ns(struct bench *bench)
{
	start_reads(bench, 1, bytes_of(bench));
	return (double)bench->last_at / (double)NS;
}

static double measure_load_ns(struct bench *bench)
{
	struct pcie_mmio_read load = {.length = 4, .done = note_load};

	pcie_mmio_read(bench->pcie, &load);
	sim_run(bench->sim, SIM_NEVER);
	return (double)bench->last_at / (double)NS;
}

/* Return the bytes on the link for a packet of each kind. */
static double measure_write_packet_bytes(struct bench *bench)
{
	start_writes(bench, 1, 1);
	return (double)pcie_counters(bench->pcie)->to_host_bytes - 1;
}

static double measure_request_bytes(struct bench *bench)
{
	start_reads(bench, 1, 1);
	return (double)pcie_counters(bench->pcie)->to_host_bytes;
}

static double measure_completion_bytes(struct bench *bench)
{
	start_reads(bench, 1, 1);
	return (double)pcie_counters(bench->pcie)->to_device_bytes - 1;
}

/* Measures work requests written by CPU stores of a number of lines each, in millions per
 * second. */
static double measure_store_mops(struct bench *bench)
{
	double lines = published_number(bench->settings, "lines", 1);

	start_stores(bench, TRANSFERS, LINE_BYTES);
	return rate_giga(bench) * 1e3 / lines;
}

/* Returns the bytes towards the device for `wqes` WQEs of `lines` lines each. The CPU stores all of
 * them, or a doorbell of 8 B and the device fetches them. */
static double measure_store_bytes(struct bench *bench)
{
	start_stores(bench,
		     (unsigned)(published_number(bench->settings, "wqes", 1) *
				published_number(bench->settings, "lines", 1)),
		     LINE_BYTES);
	return (double)pcie_counters(bench->pcie)->to_device_bytes;
}

static double measure_fetch_bytes(struct bench *bench)
{
	start_stores(bench, 1, 8);
	start_reads(bench, 1,
		    (uint32_t)(published_number(bench->settings, "wqes", 1) *
			       published_number(bench->settings, "lines", 1) * LINE_BYTES));
	return (double)pcie_counters(bench->pcie)->to_device_bytes;
}

/* Returns the limit of work requests of `lines` lines that are fetched, in millions per second, by
 * the link's bytes. */
static double measure_fetch_mops(struct bench *bench)
{
	double lines = published_number(bench->settings, "lines", 1);

	bench->skip = TRANSFERS / 4;
	start_reads(bench, TRANSFERS, TRANSFER_BYTES);
	return rate_giga(bench) * 1e3 * TRANSFER_BYTES / (lines * LINE_BYTES);
}

/* Measures reads with all tags in use, over whole rounds of tags. */
static double measure_tag_gbps(struct bench *bench)
{
	uint32_t bytes = bytes_of(bench);
	unsigned tags = (unsigned)bench->params->tags;

	bench->skip = tags - 1;
	start_reads(bench, TRANSFERS / tags * tags, bytes);
	return rate_giga(bench) * bytes * 8;
}

static const struct {
	const char *name;
	double (*measure)(struct bench *bench);
} measures[] = {
	{"raw_gbps", measure_raw_gbps},
	{"tlp_gbps", measure_tlp_gbps},
	{"write_gbps", measure_write_gbps},
	{"read_gbps", measure_read_gbps},
	{"read_completions", measure_read_completions},
	{"read_ns", measure_read_ns},
	{"load_ns", measure_load_ns},
	{"write_packet_bytes", measure_write_packet_bytes},
	{"request_bytes", measure_request_bytes},
	{"completion_bytes", measure_completion_bytes},
	{"store_mops", measure_store_mops},
	{"store_bytes", measure_store_bytes},
	{"fetch_bytes", measure_fetch_bytes},
	{"fetch_mops", measure_fetch_mops},
	{"tag_gbps", measure_tag_gbps},
};

bool published_pcie(const struct published_settings *settings, double *ours, char *error)
{
	const char *name = published_text(settings, "measure", "");
	struct hca_params params;
	struct bench bench = {.settings = settings};
	bool good;

	published_host(settings, &params);
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (strcmp(measures[i].name, name) != 0)
			continue;
		bench.params = &params.pcie;
		bench.sim = sim_create(SIM_ENGINE_native, 1);
		bench.pcie = pcie_create(bench.sim, "pcie", &params.pcie);
		pcie_mmio_attach(bench.pcie, note_store, NULL);
		pcie_mmio_read_attach(bench.pcie, complete_load, NULL);
		current = &bench;
		*ours = measures[i].measure(&bench);
		good = blocks_check(bench.sim, stderr) == 0;
		if (!good)
			snprintf(error, PUBLISHED_ERROR_BYTES, "the run violates its invariants");
		pcie_destroy(bench.pcie);
		sim_destroy(bench.sim);
		return good;
	}
	snprintf(error, PUBLISHED_ERROR_BYTES, "no measure \"%s\"", name);
	return false;
}
