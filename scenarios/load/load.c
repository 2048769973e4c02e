/* load: see load.h. Nodes first, then the switch, then links and paths; then the run, in steps until enough is complete. */
#include "scenarios/load/load.h"

#include <assert.h>
#include <gsl/gsl_statistics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology.h"
#include "hca/device/adapter.h"
#include "scenarios/load/load_state.h"
#include "switch/switch.h"

enum { LATENCIES_MAX = 16384, NAME_BYTES = 64, HOPS = 64, UDP_SOURCE_PORT = 49152, PRIORITIES = 8 };

#define STEP           (1 * US)
#define ROW(...)       PARAM_ROW(struct load_params, __VA_ARGS__)
#define CPU_ROW(...)   PARAM_ROW(struct load_cpu_params, __VA_ARGS__)
#define RIVAL_ROW(...) PARAM_ROW(struct load_rival_params, __VA_ARGS__)

/* clang-format off */
const struct param load_param_list[] = {LOAD_PARAMS(ROW) {0}};
static const struct param load_cpu_param_list[] = {LOAD_CPU_PARAMS(CPU_ROW) {0}};
static const struct param load_rival_param_list[] = {LOAD_RIVAL_PARAMS(RIVAL_ROW) {0}};

const struct param_group load_param_groups[] = {
	{"cpu", load_cpu_param_list, offsetof(struct load_params, cpu), "what calls cost a processor core"},
	{"rival", load_rival_param_list, offsetof(struct load_params, rival), "other cores, with work of their own, on the same adapters"},
	{0},
};

static const struct block_type load_type = {
	.name         = "load",
	.params       = load_param_list,
	.counters     = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
};
/* clang-format on */

/* ---- what is counted ---- */

void load_fail(struct load *load, const char *what, unsigned number)
{
	if (!load->failure[0])
		snprintf(load->failure, sizeof(load->failure), "%s %u", what, number);
}

bool load_is_over(const struct load *load)
{
	return load->ended_at || load->failure[0];
}

static uint64_t counted(const struct load *load)
{
	return load->counter ? *load->counter : 0;
}

/* Of all priorities together: a load has one. */
static sim_time paused(const struct load *load)
{
	sim_time time = 0;

	for (unsigned lane = 0; lane < PRIORITIES; lane++)
		time += port_paused_time(hca_port(load->nodes[0].hca), lane);
	return time;
}

/* One more of those that warm_up and operations count. */
static void count_one(struct load *load, uint64_t number)
{
	if (number == load->params.warm_up) {
		load->started_at = sim_now(load->sim);
		load->completed_at_start = load->completed;
		load->received_at_start = load->received;
		load->counted_at_start = counted(load);
		load->paused_at_start = paused(load);
		load->rivals_at_start = load->rivals_completed;
	} else if (number == load->params.warm_up + load->params.operations) {
		load->ended_at = sim_now(load->sim);
		load->completed_at_end = load->completed;
		load->received_at_end = load->received;
		load->counted_at_end = counted(load);
		load->paused_at_end = paused(load);
		load->rivals_at_end = load->rivals_completed;
	}
}

void load_completed(struct load_thread *thread, sim_time began_at, sim_time poll)
{
	struct load *load = thread->node->load;

	if (thread->params == &load->rivals) {
		load->rivals_completed++;
		return;
	}
	load->completed++;
	if (load->params.counts == LOAD_COMPLETED)
		count_one(load, load->completed);
	if (load->started_at && !load->ended_at && load->latency_count < LATENCIES_MAX)
		load->latencies[load->latency_count++] =
			(double)(sim_now(load->sim) + poll - began_at) / (double)NS;
}

void load_received(struct load *load)
{
	load->received++;
	if (load->params.counts == LOAD_RECEIVED)
		count_one(load, load->received);
}

/* ---- what there is ---- */

static enum link_layer link_layer_of(const struct load *load)
{
	return load->params.link_layer == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
}

static void override_port(struct port_params *port, const struct load_setup *setup)
{
	for (unsigned i = 0; port_param_list[i].name; i++) {
		char text[128], why[256];
		bool good;

		if (!(setup->link_given >> i & 1))
			continue;
		param_print(&port_param_list[i], &setup->link, text, sizeof(text));
		good = param_parse(&port_param_list[i], text, port, why, sizeof(why));
		assert(good);
	}
}

static void add_node(struct load *load, const struct load_setup *setup, uint32_t index)
{
	struct load_node *node = &load->nodes[index];
	struct hca_params params = setup->hca;
	char name[NAME_BYTES];

	override_port(&params.port, setup);
	snprintf(name, sizeof(name), "host%u.hca", index);
	node->load = load;
	node->index = index;
	load_node_init(node);
	endpoints_add(load->endpoints, name, link_layer_of(load),
		      (const uint8_t[]){10, 0, 0, (uint8_t)(index + 1)});
	node->hca = hca_create(load->sim, name, &params, link_layer_of(load), load->pool,
			       &node->driver, &node->resolver);
}

static bool join(struct load *load, const struct load_setup *setup, char *why, size_t why_bytes)
{
	uint32_t nodes = (uint32_t)load->params.nodes;
	struct switch_params params = setup->box;
	struct topology_switch ops;
	bool good = true;

	load->topology = topology_create(load->endpoints);
	for (uint32_t i = 0; i < nodes; i++)
		topology_add_host(load->topology, hca_port(load->nodes[i].hca), i);
	if (load->params.joined == LOAD_CABLE)
		return topology_link(load->topology, 0, 0, 1, 0, LENGTH_OF_PARAMS, RATE_OF_PARAMS,
				     why, why_bytes) &&
		       topology_finish(load->topology, why, why_bytes);
	override_port(&params.port, setup);
	load->box =
		switch_create(load->sim, "switch", &params, nodes, link_layer_of(load), load->pool);
	ops = switch_topology(load->box);
	topology_add_switch(load->topology, &ops);
	for (uint32_t i = 0; i < nodes && good; i++)
		good = topology_link(load->topology, i, 0, nodes, i, LENGTH_OF_PARAMS,
				     RATE_OF_PARAMS, why, why_bytes);
	return good && topology_finish(load->topology, why, why_bytes);
}

/* RoCE goes by the last of the target's GIDs: version 2 over IPv4. */
static const struct path *path_between(struct load *load, uint32_t from, uint32_t to)
{
	const struct endpoint *source = endpoints_get(load->endpoints, from);
	const struct endpoint *target = endpoints_get(load->endpoints, to);
	bool roce = link_layer_of(load) == LINK_ETHERNET;
	unsigned gid = roce ? target->gid_count - 1 : 0;
	struct path path = {
		.source = from,
		.destination = to,
		.link_layer = (uint8_t)link_layer_of(load),
		.roce_version = target->gids[gid].roce_version,
		.has_grh = roce,
		.slid = source->lid,
		.dlid = target->lid,
		.hop_limit = HOPS,
		.udp_source_port = roce ? UDP_SOURCE_PORT : 0,
	};

	memcpy(path.sgid, source->gids[gid].bytes, sizeof(path.sgid));
	memcpy(path.dgid, target->gids[gid].bytes, sizeof(path.dgid));
	memcpy(path.smac, source->mac, sizeof(path.smac));
	memcpy(path.dmac, target->mac, sizeof(path.dmac));
	return path_intern(endpoints_paths(load->endpoints), &path);
}

/* "block.counter" of the first node's HCA. */
static bool find_counter(struct load *load, const char *wanted, char *why, size_t why_bytes)
{
	for (struct block *block = sim_blocks(load->sim); block && wanted; block = block->next) {
		for (unsigned i = 0; block->type->counters[i].name; i++) {
			char name[2 * NAME_BYTES];

			snprintf(name, sizeof(name), "%s.%s", block->name,
				 block->type->counters[i].name);
			if (strncmp(name, "host0.hca.", 10) != 0 || strcmp(name + 10, wanted) != 0)
				continue;
			load->counter = &block->counts[i];
			return true;
		}
	}
	if (wanted)
		snprintf(why, why_bytes, "no counter \"%s\" of an HCA", wanted);
	return !wanted;
}

static void make_rivals(struct load *load)
{
	const struct load_rival_params *rival = &load->params.rival;

	load->rivals = load->params;
	load->rivals.threads = rival->threads;
	load->rivals.qps = rival->qps;
	load->rivals.verb = rival->verb;
	load->rivals.bytes = rival->bytes;
	load->rivals.inlined = rival->inlined;
	load->rivals.regions = rival->regions;
}

static bool create(struct load *load, const struct load_setup *setup, char *why, size_t why_bytes)
{
	uint32_t nodes = (uint32_t)load->params.nodes;

	load->sim = sim_create(SIM_KERNEL_native, 1);
	load->pool = packet_pool_create();
	load->endpoints = endpoints_create();
	load->nodes = calloc(nodes, sizeof(load->nodes[0]));
	load->latencies = calloc(LATENCIES_MAX, sizeof(load->latencies[0]));
	assert(load->nodes && load->latencies);
	block_init(&load->block, load->sim, &load_type, "load", &load->params, NULL);
	make_rivals(load);
	for (uint32_t i = 0; i < nodes; i++)
		add_node(load, setup, i);
	if (!join(load, setup, why, why_bytes) ||
	    !find_counter(load, setup->counter, why, why_bytes))
		return false;
	for (uint32_t i = 0; i < nodes; i++)
		for (uint32_t j = 0; j < nodes; j++)
			load->nodes[i].paths[j] = i != j ? path_between(load, i, j) : NULL;
	for (uint32_t i = 0; i < nodes; i++)
		load_node_connect(&load->nodes[i]);
	return true;
}

static void destroy(struct load *load)
{
	for (uint32_t i = 0; i < load->params.nodes; i++)
		if (load->nodes[i].hca)
			hca_destroy(load->nodes[i].hca);
	if (load->box)
		switch_destroy(load->box);
	if (load->topology)
		topology_destroy(load->topology);
	for (uint32_t i = 0; i < load->params.nodes; i++)
		load_node_fini(&load->nodes[i]);
	block_fini(&load->block);
	packet_pool_destroy(load->pool);
	endpoints_destroy(load->endpoints);
	sim_destroy(load->sim);
	free(load->nodes);
	free(load->latencies);
}

/* ---- the run ---- */

static bool check(const struct load_setup *setup, char *why, size_t why_bytes)
{
	const struct load_params *params = &setup->load;

	if (params->list > params->window || params->signal > params->window)
		snprintf(why, why_bytes, "list and signal are at most window");
	else if (params->outstanding && (params->signal > 1 || params->list > params->outstanding))
		snprintf(why, why_bytes, "with outstanding, signal is 1 and list at most that");
	else if (params->joined == LOAD_CABLE && params->nodes != 2)
		snprintf(why, why_bytes, "a cable joins 2 nodes");
	else if (params->transport != LOAD_RC &&
		 (params->verb == LOAD_READ || params->verb == LOAD_FETCH_ADD))
		snprintf(why, why_bytes, "reads and atomics need transport rc");
	else if (params->transport == LOAD_UD && params->verb != LOAD_SEND)
		snprintf(why, why_bytes, "transport ud has sends only");
	else if (params->verb == LOAD_FETCH_ADD && params->bytes != 8)
		snprintf(why, why_bytes, "atomics are of 8 B");
	else if (params->inlined && load_wqe_blocks(params) > WQE_BLOCKS_MAX)
		snprintf(why, why_bytes, "%u B are too many inline", (unsigned)params->bytes);
	else if (params->compress && params->to_cqe)
		snprintf(why, why_bytes, "CQEs with data in them are not compressed");
	else if (params->strides && (params->transport != LOAD_UD || params->to_cqe))
		snprintf(why, why_bytes, "strides are for ud, and not with to_cqe");
	else if (params->strides * params->stride_bytes > LOAD_LOCAL_BYTES)
		snprintf(why, why_bytes, "%u strides are too many of that size",
			 (unsigned)params->strides);
	else if (params->receives & (params->receives - 1))
		snprintf(why, why_bytes, "receives is a power of two");
	else if (params->paging != LOAD_PAGING_NONE &&
		 (params->transport != LOAD_RC || params->contiguous))
		snprintf(why, why_bytes, "paging needs transport rc and regions with pages");
	else if (params->rival.threads &&
		 (params->rival.verb == LOAD_SEND || params->transport != LOAD_RC))
		snprintf(why, why_bytes, "rivals need transport rc, and do not send");
	else if (params->rival.threads && params->cq_of == LOAD_OF_QP)
		snprintf(why, why_bytes, "rivals need CQs of threads");
	else if (params->rival.threads && params->rival.verb == LOAD_FETCH_ADD &&
		 params->rival.bytes != 8)
		snprintf(why, why_bytes, "atomics of rivals are of 8 B");
	else if (params->warm_up == 0)
		snprintf(why, why_bytes, "warm_up is at least 1");
	else
		return true;
	return false;
}

static void run(struct load *load)
{
	sim_time limit = load->params.limit;

	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load_threads(load); j++)
			load_thread_start(&load->nodes[i].threads[j]);
	while (!load_is_over(load)) {
		sim_time next = sim_next(load->sim);

		if (next == SIM_NEVER || next > limit)
			load_fail(load, "not all was done; complete:", (unsigned)load->completed);
		else
			sim_run(load->sim, next + STEP);
	}
	sim_run(load->sim, SIM_NEVER); /* what is under way comes to its end */
}

static void take_result(const struct load *load, struct load_result *result)
{
	const struct load_params *params = &load->params;
	double microseconds = (double)(load->ended_at - load->started_at) / (double)US;
	double nodes = params->pattern == LOAD_ALL ? (double)params->nodes : 1;

	result->mops =
		(double)(load->completed_at_end - load->completed_at_start) / microseconds / nodes;
	result->received_mops =
		(double)(load->received_at_end - load->received_at_start) / microseconds / nodes;
	result->rival_mops =
		(double)(load->rivals_at_end - load->rivals_at_start) / microseconds / nodes;
	result->gbps = result->mops * (double)params->bytes * 8 / 1000;
	result->median_ns = load->latency_count > 0
				    ? gsl_stats_median(load->latencies, 1, load->latency_count)
				    : 0;
	result->paused = (double)(load->paused_at_end - load->paused_at_start) /
			 (double)(load->ended_at - load->started_at);
	result->counter = (double)(load->counted_at_end - load->counted_at_start) /
			  (double)params->operations * nodes;
	result->counter_mops =
		(double)(load->counted_at_end - load->counted_at_start) / microseconds;
}

bool load_run(const struct load_setup *setup, struct load_result *result, char *why,
	      size_t why_bytes)
{
	struct load load = {.params = setup->load};
	bool good;

	if (!check(setup, why, why_bytes))
		return false;
	good = create(&load, setup, why, why_bytes);
	if (good)
		run(&load);
	if (good && load.failure[0])
		snprintf(why, why_bytes, "%s", load.failure);
	good = good && !load.failure[0];
	if (good)
		take_result(&load, result);
	destroy(&load);
	return good;
}
