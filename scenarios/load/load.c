/* load: see load.h. What is counted, the nodes, their paths; then the run, in steps until enough is complete. */
#include "scenarios/load/load.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/device/adapter.h"
#include "scenarios/load/load_courier.h"
#include "scenarios/load/load_server.h"

enum {
	LATENCIES_MAX = 16384,
	NAME_BYTES = 128,
	HOPS = 64,
	UDP_SOURCE_PORT = 49152,
	PRIORITIES = 8,
	TIMEOUT = 18,
	RETRIES = 7
};

#define STEP           (1 * US)
#define ROW(...)       PARAM_ROW(struct load_params, __VA_ARGS__)
#define CPU_ROW(...)   PARAM_ROW(struct load_cpu_params, __VA_ARGS__)
#define RIVAL_ROW(...) PARAM_ROW(struct load_rival_params, __VA_ARGS__)

/* clang-format off */
const struct param load_place_param_list[] = {LOAD_PLACE_PARAMS(ROW) {0}};
const struct param load_param_list[] = {LOAD_PARAMS(ROW) {0}};
const struct param load_cpu_param_list[] = {LOAD_CPU_PARAMS(CPU_ROW) {0}};
const struct param load_rival_param_list[] = {LOAD_RIVAL_PARAMS(RIVAL_ROW) {0}};

const struct param_group load_param_groups[] = {
	{"cpu", load_cpu_param_list, offsetof(struct load_params, cpu), "what calls cost a processor core"},
	{"rival", load_rival_param_list, offsetof(struct load_params, rival), "other cores, with work of their own, on the same adapters"},
	{"server", load_server_param_list, offsetof(struct load_params, server), "cores of the first node that answer what the others post"},
	{0},
};

static void settle(struct block *block);

static const struct block_type load_type = {
	.name         = "load",
	.params       = load_param_list,
	.counters     = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){LOAD_GAUGES(GAUGE_ENTRY) {0}},
	.settle       = settle,
};
/* clang-format on */

/* ---- what is counted ---- */

void load_fail(struct load_node *node, const char *format, ...)
{
	va_list arguments;

	if (node->failure[0])
		return;
	va_start(arguments, format);
	vsnprintf(node->failure, sizeof(node->failure), format, arguments);
	va_end(arguments);
	node->failed_at = sim_now(node->sim);
	node->load->failed = true;
}

const char *load_failure(const struct load *load)
{
	const struct load_node *first = NULL;

	for (uint32_t i = 0; load->failed && i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];

		if (node->failure[0] && (!first || node->failed_at < first->failed_at))
			first = node;
	}
	return first ? first->failure : NULL;
}

bool load_is_over(const struct load *load)
{
	return load->ended_at || load->failed;
}

static uint64_t counted(const struct load *load)
{
	return load->counter ? *load->counter : 0;
}

/* Of all priorities together: a load has one. */
static sim_time paused(const struct load_node *node)
{
	sim_time time = 0;

	for (unsigned lane = 0; lane < PRIORITIES; lane++)
		time += port_paused_time(hca_port(node->hca), lane);
	return time;
}

static void note_nodes(struct load *load, bool end)
{
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		struct load_node *node = &load->nodes[i];

		*(end ? &node->paused_at_end : &node->paused_at_start) = paused(node);
		*(end ? &node->completed_at_end : &node->completed_at_start) = node->completed;
	}
}

static uint64_t done(const struct load *load)
{
	uint64_t all = load->params.counts == LOAD_COMPLETED ? load->completed : load->received;

	return all > load->params.warm_up ? all - load->params.warm_up : 0;
}

/* One more of those that warm_up and operations count. */
static void count_one(struct load *load, uint64_t number)
{
	if (number == load->params.warm_up) {
		load->started_at = sim_now(load->sim);
		load->completed_at_start = load->completed;
		load->received_at_start = load->received;
		load->counted_at_start = counted(load);
		note_nodes(load, false);
		load->rivals_at_start = load->rivals_completed;
	} else if (number == load->params.warm_up + load->params.operations) {
		load->ended_at = sim_now(load->sim);
		load->completed_at_end = load->completed;
		load->received_at_end = load->received;
		load->counted_at_end = counted(load);
		note_nodes(load, true);
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
	thread->node->completed++;
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

static void settle(struct block *block)
{
	struct load *load = container_of(block, struct load, block);

	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load->nodes[i].thread_count; j++)
			for (uint32_t k = 0; k < load->params.sharers; k++)
				if (load->nodes[i].threads[j].cores[k].busy > load->gauge.core.area)
					core_serve(&load->gauge,
						   load->nodes[i].threads[j].cores[k].busy -
							   load->gauge.core.area);
}

/* ---- what there is ---- */

static const struct path *path_between(struct load *load, uint32_t from, uint32_t to)
{
	struct path path = endpoints_way(load->endpoints, from, to, 0, HOPS, UDP_SOURCE_PORT);

	return path_intern(endpoints_paths(load->endpoints), &path);
}

static bool is_within(const char *name, const char *whole, size_t length, const char *wanted)
{
	return strncmp(name, whole, length) == 0 && name[length] == '.' &&
	       strcmp(name + length + 1, wanted) == 0;
}

/* "block.counter" of the first node's HCA, or of its host beside that. */
bool load_count(struct load *load, const char *wanted, char *why, size_t why_bytes)
{
	const char *first = port_name(hca_port(load->nodes[0].hca)); /* HOST.hca.port */
	size_t hca = (size_t)(strrchr(first, '.') - first), host = hca - 1;

	while (host && first[host] != '.')
		host--;
	for (struct block *block = sim_blocks(load->sim); block && wanted; block = block->next) {
		for (unsigned i = 0; block->type->counters[i].name; i++) {
			char name[NAME_BYTES];

			snprintf(name, sizeof(name), "%s.%s", block->name,
				 block->type->counters[i].name);
			if (!is_within(name, first, hca, wanted) &&
			    !is_within(name, first, host, wanted))
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
	load->rivals.sges.count = 0;
	if (rival->pattern != LOAD_SAME)
		load->rivals.pattern = rival->pattern;
}

struct load_params load_answers_of(const struct load_params *params)
{
	const struct load_server_params *server = &params->server;
	struct load_params answers = *params;

	answers.threads = server->cores;
	answers.verb = server->answer == LOAD_ANSWER_WRITE ? LOAD_WRITE : LOAD_SEND;
	if (server->answer == LOAD_ANSWER_DATAGRAM)
		answers.transport = LOAD_UD;
	answers.bytes = server->bytes;
	answers.inlined = server->inlined;
	answers.list = server->list;
	answers.signal = server->signal;
	answers.sges.count = 0;
	return answers;
}

static void make_answers(struct load *load)
{
	load->answers = load_answers_of(&load->params);
	load->client_count =
		(uint32_t)((load->params.nodes - 1) * load->params.threads * load->params.qps);
}

void load_params_default(struct load_params *params)
{
	params_default(load_place_param_list, params);
	params_default(load_param_list, params);
	for (const struct param_group *group = load_param_groups; group->name; group++)
		params_default(group->list, (char *)params + group->offset);
}

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
		params->bytes = load_sizes_sum(&params->sges);
}

struct load *load_create(const struct load_params *params, struct sim *sim,
			 struct endpoints *endpoints)
{
	struct load *load = calloc(1, sizeof(*load));

	assert(load);
	load->params = *params;
	load_add_up(&load->params);
	load->sim = sim;
	load->endpoints = endpoints;
	load->nodes = calloc(params->nodes, sizeof(load->nodes[0]));
	load->latencies = calloc(LATENCIES_MAX, sizeof(load->latencies[0]));
	assert(load->nodes && load->latencies);
	block_init(&load->block, sim, &load_type, "load", &load->params, NULL);
	block_gauges(&load->block, (struct gauge *)&load->gauge);
	load->gauge.core.capacity = 1;
	make_rivals(load);
	make_answers(load);
	load->timeout = TIMEOUT;
	load->retry_count = RETRIES;
	for (uint32_t i = 0; i < params->nodes; i++)
		load_node_attach(load, i);
	return load;
}

struct hca_driver *load_driver(struct load *load, uint32_t node)
{
	return &load->nodes[node].driver;
}

struct hca_resolver *load_resolver(struct load *load, uint32_t node)
{
	return &load->nodes[node].resolver;
}

void load_attach(struct load *load, uint32_t node, struct hca *hca)
{
	load->nodes[node].hca = hca;
	load->nodes[node].sim = port_sim(hca_port(hca));
}

bool load_connect(struct load *load, char *why, size_t why_bytes)
{
	uint32_t nodes = (uint32_t)load->params.nodes;

	for (uint32_t i = 0; i < nodes; i++)
		if (load->nodes[i].hca)
			load_node_init(&load->nodes[i]);
	for (uint32_t i = 0; i < nodes && !load->carrier; i++)
		for (uint32_t j = 0; j < nodes; j++)
			load->nodes[i].paths[j] = path_between(load, i, j);
	for (uint32_t i = 0; i < nodes; i++)
		if (load->nodes[i].hca)
			load_node_add_objects(&load->nodes[i]);
	if (load_serves(load))
		load_clients_init(load);
	for (uint32_t i = 0; i < nodes; i++)
		load_node_connect(&load->nodes[i]);
	if (load->carrier && !load->failed)
		load_ends_connect(load);
	if (load->failed)
		snprintf(why, why_bytes, "%s", load_failure(load));
	return !load->failed;
}

void load_destroy(struct load *load)
{
	for (uint32_t i = 0; i < load->params.nodes; i++)
		load_node_fini(&load->nodes[i]);
	load_clients_fini(load);
	load_carrier_fini(load);
	block_fini(&load->block);
	free(load->nodes);
	free(load->latencies);
	free(load);
}

/* ---- the run ---- */

bool load_play(struct load *load, load_progress *progress, void *context, char *why,
	       size_t why_bytes)
{
	sim_time limit = load->params.limit;

	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load->nodes[i].thread_count; j++)
			load_cores_start(&load->nodes[i].threads[j]);
	while (!load_is_over(load)) {
		sim_time next = sim_next(load->sim);

		if (next == SIM_NEVER || next > limit)
			load_fail(&load->nodes[0], "not all was done; complete: %" PRIu64,
				  load->completed);
		else
			sim_run(load->sim, next + STEP);
		if (progress)
			progress(context, sim_now(load->sim), done(load), load->params.operations);
	}
	sim_run(load->sim, SIM_NEVER); /* what is under way comes to its end */
	if (load->failed)
		snprintf(why, why_bytes, "%s", load_failure(load));
	return !load->failed;
}

/* Of the latencies, which are in order. */
static double quantile(const struct load *load, double share)
{
	return load->latency_count > 0 ? gsl_stats_quantile_from_sorted_data(
						 load->latencies, 1, load->latency_count, share)
				       : 0;
}

/* Of those that post. */
static double share_least(const struct load *load)
{
	uint64_t least = UINT64_MAX, all = 0, nodes = 0;

	for (uint32_t i = 0; i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];
		uint64_t completed = node->completed_at_end - node->completed_at_start;

		if (!node->threads[0].posts)
			continue;
		nodes++;
		all += completed;
		least = completed < least ? completed : least;
	}
	return all > 0 ? (double)(least * nodes) / (double)all : 0;
}

void load_take_result(const struct load *load, struct load_result *result)
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
	gsl_sort(load->latencies, 1, load->latency_count);
	result->mean_ns = load->latency_count > 0
				  ? gsl_stats_mean(load->latencies, 1, load->latency_count)
				  : 0;
	result->median_ns = quantile(load, 0.5);
	result->p99_ns = quantile(load, 0.99);
	result->p999_ns = quantile(load, 0.999);
	result->paused = 0;
	for (uint32_t i = 0; i < params->nodes; i++) {
		const struct load_node *node = &load->nodes[i];
		double share = (double)(node->paused_at_end - node->paused_at_start) /
			       (double)(load->ended_at - load->started_at);

		result->paused = share > result->paused ? share : result->paused;
	}
	result->share_least = share_least(load);
	result->counter = (double)(load->counted_at_end - load->counted_at_start) /
			  (double)params->operations * nodes;
	result->counter_mops =
		(double)(load->counted_at_end - load->counted_at_start) / microseconds;
}
