/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_probe: see dma_probe.h. A latency job has one transfer in flight. A bandwidth job starts
 * transfers at the engine's intervals while fewer than job_slots() are in flight.
 */
#include "hca/host/dma_probe.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/host.h"
#include "hca/host/pcie.h"
#include "hca/host/tlp.h"
#include "sim/hash.h"
#include "sim/random.h"

enum { WARM_UP_PART = 5 }; /* a fifth of the transfers runs before the measurement */

struct slot {
	struct event event; /* latency of the engine, before or after PCIe */
	struct probe *probe;
	struct pcie_read read;
	struct pcie_write write;
	struct slot *next_free, *next_started;
	bool reads, done;
};

struct probe {
	struct block block;
	struct dma_probe_params card;
	struct dma_probe_job job;
	struct pcie_params link;
	struct pcie *pcie;
	struct host *host;
	struct random random;
	struct slot *slots, *slots_free; /* [job_slots()] */
	bool in_order;                   /* slots return in the order of their start */
	/* in_order, [reads]: transfers that hold a slot, in the order of their start */
	struct slot *oldest[2], **youngest[2];
	uint64_t units, started, ended, wanted, warm_up;
	sim_time begun_at;   /* latency: start of the transfer in flight */
	sim_time measure_at; /* bandwidth: end of the warm-up */
	/* [reads]: earliest time at which the engine starts the next transfer */
	sim_time next_start[2];
	struct event start_event;
	double *samples_ns;
	uint64_t digest;
};

#define OP_NAME(name, bandwidth, meaning)      #name,
#define OP_BANDWIDTH(name, bandwidth, meaning) bandwidth,
const char *const dma_probe_op_names[DMA_PROBE_OP_COUNT] = {DMA_PROBE_OPS(OP_NAME)};
static const bool op_is_bandwidth[DMA_PROBE_OP_COUNT] = {DMA_PROBE_OPS(OP_BANDWIDTH)};

static void start_transfer(struct probe *probe);

static sim_time now(const struct probe *probe)
{
	return sim_now(probe->block.sim);
}

static sim_time at_rate(uint64_t bytes, uint64_t rate_bps)
{
	return (sim_time)((double)bytes * 8 * (double)SEC / (double)rate_bps);
}

static uint64_t unit_bytes(const struct dma_probe_job *job)
{
	return (job->offset + job->bytes + LLC_LINE_BYTES - 1) / LLC_LINE_BYTES * LLC_LINE_BYTES;
}

/* Returns true if large_in_flight applies to the job's transfers. */
static bool is_large(const struct probe *probe)
{
	return probe->card.large_in_flight && probe->job.bytes >= probe->card.large_bytes &&
	       probe->job.op != DMA_PROBE_bw_wr;
}

static uint64_t next_address(struct probe *probe)
{
	return random_below(&probe->random, probe->units) * unit_bytes(&probe->job) +
	       probe->job.offset;
}

/* ---- the end of a transfer ---- */

static void transfer_ended(struct probe *probe)
{
	uint64_t number = probe->ended++;

	probe->digest = hash_add(probe->digest, now(probe));
	if (number == probe->warm_up)
		probe->measure_at = now(probe);
	if (!op_is_bandwidth[probe->job.op] && number >= probe->warm_up)
		probe->samples_ns[number - probe->warm_up] =
			(double)(now(probe) - probe->begun_at) / (double)NS;
	start_transfer(probe);
}

static void slot_free(struct slot *slot)
{
	slot->next_free = slot->probe->slots_free;
	slot->probe->slots_free = slot;
}

/* Appends a started transfer to the list of transfers that hold a slot. */
static void slot_hold(struct slot *slot)
{
	struct slot **oldest = &slot->probe->oldest[slot->reads];
	struct slot ***youngest = &slot->probe->youngest[slot->reads];

	slot->done = false;
	slot->next_started = NULL;
	if (!*oldest)
		*youngest = oldest;
	**youngest = slot;
	*youngest = &slot->next_started;
}

/* Frees the slots of transfers of an engine that are done and have no earlier one before them. */
static void slots_release(struct slot **oldest)
{
	while (*oldest && (*oldest)->done) {
		struct slot *slot = *oldest;

		*oldest = slot->next_started;
		slot_free(slot);
	}
}

static void slot_ended(struct event *event)
{
	struct slot *slot = container_of(event, struct slot, event);
	struct probe *probe = slot->probe;

	slot->done = true;
	if (probe->in_order)
		slots_release(&probe->oldest[slot->reads]);
	else
		slot_free(slot);
	transfer_ended(probe);
}

/* Stores the data in the engine's memory, and forwards it when all of it has arrived. */
static void read_done(struct pcie_read *read)
{
	struct slot *slot = container_of(read, struct slot, read);
	struct probe *probe = slot->probe;
	sim_time more = 0;

	if (probe->job.op != DMA_PROBE_lat_cmd_rd)
		more = at_rate(probe->job.bytes, probe->card.staging_rate) +
		       probe->card.engine_latency;
	event_init(&slot->event, &probe->block, slot_ended);
	sim_schedule(&slot->event, more);
}

static void write_done(struct pcie_write *write)
{
	struct slot *slot = container_of(write, struct slot, write);

	if (slot->probe->job.op == DMA_PROBE_lat_wrrd)
		return; /* the read after this write ends the transfer */
	event_init(&slot->event, &slot->probe->block, slot_ended);
	sim_schedule(&slot->event, 0);
}

/* ---- start of a transfer ---- */

static void issue_read(struct slot *slot, uint64_t address)
{
	slot->read = (struct pcie_read){.memory = memory_none(),
					.address = address,
					.length = (uint32_t)slot->probe->job.bytes,
					.done = read_done};
	pcie_read(slot->probe->pcie, &slot->read);
}

static void issue_write(struct slot *slot, uint64_t address)
{
	slot->write = (struct pcie_write){.memory = memory_none(),
					  .address = address,
					  .length = (uint32_t)slot->probe->job.bytes,
					  .done = write_done};
	pcie_write(slot->probe->pcie, &slot->write);
}

/* Starts a write of the staged bytes, and a read of the same bytes after it. */
static void write_and_read(struct event *event)
{
	struct slot *slot = container_of(event, struct slot, event);
	uint64_t address = next_address(slot->probe);

	issue_write(slot, address);
	issue_read(slot, address);
}

static sim_time read_interval(const struct probe *probe)
{
	uint64_t lines = unit_bytes(&probe->job) / LLC_LINE_BYTES;

	return probe->card.read_interval + lines * probe->card.read_line_interval;
}

/* Chunks in which the card moves the data of a write. */
static uint64_t write_chunks(const struct probe *probe, uint64_t address)
{
	uint64_t chunks = 0;

	if (probe->card.write_chunk)
		return (probe->job.bytes + probe->card.write_chunk - 1) / probe->card.write_chunk;
	for (uint32_t sent = 0; sent < probe->job.bytes; chunks++)
		sent += tlp_first_length(address + sent, (uint32_t)probe->job.bytes - sent,
					 probe->link.mps);
	return chunks;
}

static sim_time write_interval(const struct probe *probe, uint64_t address)
{
	return probe->card.write_transfer_interval +
	       write_chunks(probe, address) * probe->card.write_interval +
	       at_rate(probe->job.bytes, probe->card.write_rate);
}

/* Starts transfers of a bandwidth job. Reads and writes use separate engines. */
static void start_bandwidth(struct probe *probe)
{
	while (probe->slots_free && probe->started < probe->wanted) {
		bool reads = probe->job.op == DMA_PROBE_bw_rd ||
			     (probe->job.op == DMA_PROBE_bw_rw && probe->started % 2);
		struct slot *slot = probe->slots_free;
		uint64_t address;

		if (probe->next_start[reads] > now(probe)) {
			if (!event_pending(&probe->start_event))
				sim_schedule_at(&probe->start_event, probe->next_start[reads]);
			return;
		}
		probe->slots_free = slot->next_free;
		probe->started++;
		address = next_address(probe);
		probe->next_start[reads] = now(probe) + (reads ? read_interval(probe)
							       : write_interval(probe, address));
		slot->reads = reads;
		if (probe->in_order)
			slot_hold(slot);
		if (reads)
			issue_read(slot, address);
		else
			issue_write(slot, address);
	}
}

static void start_latency(struct probe *probe)
{
	struct slot *slot = probe->slots_free;

	if (probe->started == probe->wanted)
		return;
	probe->started++;
	probe->slots_free = slot->next_free;
	probe->begun_at = now(probe);
	if (probe->job.op != DMA_PROBE_lat_wrrd) {
		issue_read(slot, next_address(probe));
		return;
	}
	event_init(&slot->event, &probe->block, write_and_read);
	sim_schedule(&slot->event, at_rate(probe->job.bytes, probe->card.staging_rate) +
					   probe->card.engine_latency);
}

static void start_transfer(struct probe *probe)
{
	if (op_is_bandwidth[probe->job.op])
		start_bandwidth(probe);
	else
		start_latency(probe);
}

static void start_again(struct event *event)
{
	start_transfer(container_of(event, struct probe, start_event));
}

/* ---- results ---- */

static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void result_latency(struct probe *probe, struct dma_probe_result *result)
{
	uint64_t count = probe->job.transfers;
	double sum = 0;

	qsort(probe->samples_ns, count, sizeof(double), compare_numbers);
	for (uint64_t i = 0; i < count; i++)
		sum += probe->samples_ns[i];
	result->min_ns = probe->samples_ns[0];
	result->median_ns = probe->samples_ns[count / 2];
	result->mean_ns = sum / (double)count;
	result->p95_ns = probe->samples_ns[count * 95 / 100];
	result->p99_ns = probe->samples_ns[count * 99 / 100];
	result->p999_ns = probe->samples_ns[count * 999 / 1000];
}

static void result_bandwidth(const struct probe *probe, struct dma_probe_result *result)
{
	double bits = (double)(probe->ended - 1 - probe->warm_up) * (double)probe->job.bytes * 8;

	if (probe->job.op == DMA_PROBE_bw_rw)
		bits /= 2;
	result->gbps = bits * 1e3 / (double)(now(probe) - probe->measure_at);
}

#define ROW(...)     PARAM_ROW(struct dma_probe_params, __VA_ARGS__)
#define JOB_ROW(...) PARAM_ROW(struct dma_probe_job, __VA_ARGS__)
/* clang-format off */
const struct param dma_probe_param_list[] = { DMA_PROBE_PARAMS(ROW) { 0 } };
const struct param dma_probe_job_param_list[] = { DMA_PROBE_JOB_PARAMS(JOB_ROW) { 0 } };

static const struct block_type probe_type = {
	.name = "dma_probe",
	.params = dma_probe_param_list,
	.counters = (const struct counter[]){ { 0 } },
	.trace_points = (const struct trace_point[]){ { 0 } },
};
/* clang-format on */

/* Transfers of the job that may be in flight. */
static uint64_t job_slots(const struct probe *probe)
{
	if (!op_is_bandwidth[probe->job.op])
		return 1;
	return is_large(probe) ? probe->card.large_in_flight : probe->card.in_flight;
}

static void probe_init(struct probe *probe, struct sim *sim)
{
	uint64_t slots = job_slots(probe);

	block_init(&probe->block, sim, &probe_type, "probe", &probe->card, NULL);
	random_init(&probe->random, &probe->block, "addresses");
	event_init(&probe->start_event, &probe->block, start_again);
	probe->in_order =
		probe->card.in_order && op_is_bandwidth[probe->job.op] && !is_large(probe);
	probe->units = probe->job.window / unit_bytes(&probe->job);
	if (!probe->units)
		probe->units = 1;
	probe->warm_up = probe->job.transfers / WARM_UP_PART;
	probe->wanted = probe->job.transfers + probe->warm_up;
	probe->samples_ns = calloc(probe->job.transfers, sizeof(double));
	probe->slots = calloc(slots, sizeof(probe->slots[0]));
	assert(probe->samples_ns && probe->slots);
	for (uint64_t i = slots; i-- > 0;) {
		probe->slots[i].probe = probe;
		probe->slots[i].next_free = probe->slots_free;
		probe->slots_free = &probe->slots[i];
	}
}

static void warm_window(struct probe *probe)
{
	if (probe->job.warm && probe->host)
		llc_cpu_touch(host_llc(probe->host), 0, probe->units * unit_bytes(&probe->job),
			      false);
}

void dma_probe_run(const struct pcie_params *pcie, const struct host_params *host,
		   const struct dma_probe_params *card, const struct dma_probe_job *job,
		   struct dma_probe_result *result)
{
	struct probe probe = {.card = *card, .job = *job, .link = *pcie};
	struct sim *sim = sim_create(job->event_engine, job->seed);

	*result = (struct dma_probe_result){0};
	probe.pcie = pcie_create(sim, "pcie", pcie);
	if (host_params_matter(host)) {
		probe.host = host_create(sim, "host", host);
		pcie_host_attach(probe.pcie, probe.host);
	}
	probe_init(&probe, sim);
	warm_window(&probe);
	start_transfer(&probe);
	sim_run(sim, SIM_NEVER);
	assert(probe.ended == probe.wanted);
	if (op_is_bandwidth[job->op])
		result_bandwidth(&probe, result);
	else
		result_latency(&probe, result);
	result->digest = probe.digest;
	result->violations = blocks_check(sim, stderr);
	result->order_stalls = pcie_counters(probe.pcie)->order_stalls;
	if (probe.host) {
		result->llc_misses = llc_counters(host_llc(probe.host))->misses;
		if (host_iommu(probe.host))
			result->iommu_misses = iommu_counters(host_iommu(probe.host))->misses;
	}
	pcie_destroy(probe.pcie);
	host_destroy(probe.host);
	block_fini(&probe.block);
	free(probe.samples_ns);
	free(probe.slots);
	sim_destroy(sim);
}
