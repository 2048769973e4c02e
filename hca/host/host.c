/* SPDX-License-Identifier: Apache-2.0 */
/* host: see host.h. */
#include "hca/host/host.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/random.h"
#include "sim/shared_unit.h"

enum { NODE_LOCAL, NODE_REMOTE, NAME_BYTES = 128 };
enum {
	FLIT_BYTES = 8,
	LINE_FLITS = 1 + LLC_LINE_BYTES / FLIT_BYTES
}; /* flits of a line on the link between sockets: one header and the data */

struct host {
	struct block block;
	struct host_params param;
	struct host_counters count;
	struct host_gauges gauge;
	/* the link between sockets, one unit per direction */
	struct shared_unit to_socket, from_socket;
	struct random jitter, tail;
	struct iommu *iommu; /* NULL if addresses are not translated */
	struct llc *llc;
};

/* Returns the random additional latency of the root complex. */
static sim_time jitter(struct host *host)
{
	const struct jitter_params *param = &host->param.jitter;
	double ps = 0;

	if (param->median)
		ps += gsl_ran_lognormal(&host->jitter.gsl, log((double)param->median),
					param->sigma);
	if (random_chance(&host->tail, param->tail_share)) {
		host->count.tails++;
		ps += (double)param->tail_min *
		      pow((double)param->tail_max / (double)param->tail_min,
			  random_unit(&host->tail));
	}
	return (sim_time)ps;
}

static uint64_t line_flits(uint64_t address, uint32_t length)
{
	uint64_t lines = (address + length - 1) / LLC_LINE_BYTES - address / LLC_LINE_BYTES + 1;

	return lines * LINE_FLITS;
}

/* Requests the link now. Returns the time at which the transfer starts. The propagation time is
 * part of the latencies of the other socket. */
static sim_time cross(const struct host *host, struct shared_unit *link, struct gauge *gauge,
		      uint64_t flits)
{
	sim_time duration = flits * FLIT_BYTES * 8 * SEC / host->param.numa.link_rate;

	sim_time start = shared_unit_take(link, sim_now(host->block.sim), duration);

	gauge_serve(gauge, start, duration);
	return start;
}

/* Calls `next` at time `at`: in an event, or immediately if `at` is now. */
static void continue_at(struct host_access *access, sim_time at, void (*next)(struct event *event))
{
	struct host *host = access->host;

	if (at == sim_now(host->block.sim)) {
		next(&access->event);
		return;
	}
	event_init_priority(&access->event, &host->block, next, PRIORITY_FIRST);
	sim_schedule_at(&access->event, at);
}

static bool is_remote(const struct host *host)
{
	return host->param.numa.memory_node == NODE_REMOTE;
}

sim_time host_translate(struct host *host, uint64_t address, bool is_write)
{
	sim_time now = sim_now(host->block.sim);
	sim_time at = host->iommu ? iommu_translate(host->iommu, address, is_write, now) : now;

	host->count.wait_time += at - now;
	return at;
}

static void use_memory(struct event *event);
static void bring_back(struct event *event);
static void access_done(struct host_access *access, sim_time done_at);

void host_use(struct host *host, struct host_access *access)
{
	uint64_t flits = access->is_write ? line_flits(access->address, access->length) : 1;

	access->host = host;
	access->asked_at = sim_now(host->block.sim);
	if (is_remote(host))
		continue_at(access, cross(host, &host->to_socket, &host->gauge.to_socket, flits),
			    use_memory);
	else
		use_memory(&access->event);
}

static void use_memory(struct event *event)
{
	struct host_access *access = container_of(event, struct host_access, event);
	struct host *host = access->host;
	bool remote = is_remote(host);
	sim_time now = sim_now(host->block.sim), done;

	if (access->is_write) {
		done = llc_write(host->llc, access->address, access->length, remote, now) +
		       jitter(host);
		access_done(access, remote ? done + host->param.numa.remote_write_latency : done);
		return;
	}
	done = llc_read(host->llc, access->address, access->length, remote, now) + jitter(host);
	if (remote)
		continue_at(access, done, bring_back);
	else
		access_done(access, done);
}

static void bring_back(struct event *event)
{
	struct host_access *access = container_of(event, struct host_access, event);
	struct host *host = access->host;

	access_done(access, cross(host, &host->from_socket, &host->gauge.from_socket,
				  line_flits(access->address, access->length)) +
				    host->param.numa.remote_read_latency);
}

static void access_done(struct host_access *access, sim_time done_at)
{
	struct host *host = access->host;

	host->count.reads += !access->is_write;
	host->count.writes += access->is_write;
	host->count.remote += is_remote(host);
	host->count.wait_time += done_at - access->asked_at;
	access->known(access, done_at);
}

void host_access_cancel(struct host_access *access)
{
	if (event_pending(&access->event))
		sim_cancel(&access->event);
}

void host_params_default(struct host_params *params)
{
	params_default(host_numa_param_list, &params->numa);
	params_default(host_jitter_param_list, &params->jitter);
	params_default(llc_param_list, &params->llc);
	params_default(llc_dram_param_list, &params->dram);
	params_default(iommu_param_list, &params->iommu);
}

bool host_params_matter(const struct host_params *params)
{
	return params->llc.enabled || params->iommu.enabled ||
	       params->numa.memory_node != NODE_LOCAL || params->jitter.median ||
	       params->jitter.tail_share > 0;
}

#define ROW(...)        PARAM_ROW(struct numa_params, __VA_ARGS__)
#define JITTER_ROW(...) PARAM_ROW(struct jitter_params, __VA_ARGS__)
/* clang-format off */
const struct param host_numa_param_list[] = { NUMA_PARAMS(ROW) { 0 } };
const struct param host_jitter_param_list[] = { JITTER_PARAMS(JITTER_ROW) { 0 } };

static const struct block_type host_type = {
	.name = "numa",
	.params = host_numa_param_list,
	.counters = (const struct counter[]){ HOST_COUNTERS(COUNTER_ENTRY) { 0 } },
	.trace_points = (const struct trace_point[]){ { 0 } },
	.gauges = (const struct gauge_info[]){ HOST_GAUGES(GAUGE_ENTRY) { 0 } },
};
/* clang-format on */

struct host *host_create(struct sim *sim, const char *name, const struct host_params *params)
{
	struct host *host = calloc(1, sizeof(*host));
	char text[NAME_BYTES];

	assert(host && params->jitter.tail_min <= params->jitter.tail_max);
	host->param = *params;
	snprintf(text, sizeof(text), "%s.numa", name);
	block_init(&host->block, sim, &host_type, text, &host->param.numa,
		   (const uint64_t *)&host->count);
	block_gauges(&host->block, (struct gauge *)&host->gauge);
	host->gauge.to_socket.capacity = 1;
	host->gauge.from_socket.capacity = 1;
	/* Results depend on the names of the random streams, which therefore differ from the
	 * block's. */
	snprintf(text, sizeof(text), "%s.place", name);
	random_init_named(&host->jitter, sim_seed(sim), text, "jitter");
	random_init_named(&host->tail, sim_seed(sim), text, "tail");
	snprintf(text, sizeof(text), "%s.llc", name);
	host->llc = llc_create(sim, text, &params->llc, &params->dram);
	snprintf(text, sizeof(text), "%s.iommu", name);
	if (params->iommu.enabled)
		host->iommu = iommu_create(sim, text, &params->iommu);
	return host;
}

void host_destroy(struct host *host)
{
	if (!host)
		return;
	iommu_destroy(host->iommu);
	llc_destroy(host->llc);
	block_fini(&host->block);
	free(host);
}

struct llc *host_llc(struct host *host)
{
	return host->llc;
}

struct iommu *host_iommu(struct host *host)
{
	return host->iommu;
}

const struct host_counters *host_counters(const struct host *host)
{
	return &host->count;
}
