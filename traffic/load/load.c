/* SPDX-License-Identifier: Apache-2.0 */
/* load: see load.h. Counting, nodes and paths. Then the run, in steps until the measurement is
 * complete. The results are in load_result.c. */
#include "traffic/load/load.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/parallel.h"
#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"

enum {
	NAME_BYTES = 128,
	HOPS = 64,
	UDP_SOURCE_PORT = 49152,
	PRIORITIES = 8,
	TIMEOUT = 18,
	RETRIES = 7
};

#define STEP                (1 * US)
#define QUIET_MAX           (16 * STEP)
#define ROW(...)            PARAM_ROW(struct load_params, __VA_ARGS__)
#define CPU_ROW(...)        PARAM_ROW(struct load_cpu_params, __VA_ARGS__)
#define BACKGROUND_ROW(...) PARAM_ROW(struct load_background_params, __VA_ARGS__)

/* clang-format off */
const struct param load_place_param_list[] = {LOAD_PLACE_PARAMS(ROW) {0}};
const struct param load_param_list[] = {LOAD_PARAMS(ROW) {0}};
const struct param load_cpu_param_list[] = {LOAD_CPU_PARAMS(CPU_ROW) {0}};
const struct param load_background_param_list[] = {LOAD_BACKGROUND_PARAMS(BACKGROUND_ROW) {0}};

const struct param_section load_sections[] = {
	{"cpu", load_cpu_param_list, offsetof(struct load_params, cpu),
	 "cost of calls on a processor core"},
	{"background", load_background_param_list, offsetof(struct load_params, background),
	 "additional cores with other work on the same adapters"},
	{"server", load_server_param_list, offsetof(struct load_params, server),
	 "cores of the first node that respond to the requests of the others"},
	{0},
};

static void settle(struct block *block);

static const struct block_type node_type = {
	.name = "load_node", .counters = (const struct counter[]){{0}}};

static const struct block_type load_type = {
	.name         = "load",
	.params       = load_param_list,
	.counters     = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
	.gauges       = (const struct gauge_info[]){LOAD_GAUGES(GAUGE_ENTRY) {0}},
	.settle       = settle,
};
/* clang-format on */

/* ---- counting ---- */

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
	return load->ended_at || load->given_up;
}

/* Returns the sum over all priorities. A load uses one of them. */
static sim_time paused(const struct load_node *node)
{
	sim_time time = 0;

	for (unsigned vl = 0; vl < PRIORITIES; vl++)
		time += port_paused_time(hca_port(node->hca), vl);
	return time;
}

static struct load_tally tally_of_all(const struct load *load)
{
	struct load_tally all = {.counted = load->counter ? *load->counter : 0};

	for (uint32_t i = 0; i < load->params.nodes; i++) {
		all.completed += load->nodes[i].tally.completed;
		all.received += load->nodes[i].tally.received;
		all.background += load->nodes[i].tally.background;
	}
	return all;
}

static void count_all(struct load *load)
{
	struct load_tally all = tally_of_all(load);

	load->count = load->params.counts == LOAD_COMPLETED ? all.completed : all.received;
}

/* Returns the value of `count` at which the measurement begins or ends next. */
static uint64_t next_mark(const struct load *load)
{
	return load->started_at ? load->count_at_start + load->params.operations
				: load->params.warm_up;
}

static uint64_t done(const struct load *load)
{
	return load->count > load->params.warm_up ? load->count - load->params.warm_up : 0;
}

/* Counts an event that warm_up and operations measure. */
static void count_one(const struct load_node *node)
{
	if (!node->load->apart)
		node->load->count++;
}

static void mark_start(struct load *load, sim_time now)
{
	load->started_at = now;
	load->count_at_start = load->count;
	load->at_start = tally_of_all(load);
	load->progress_at_start = load_progress_of(load);
	snapshot_take(&load->window[0], load->sim);
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		load->nodes[i].paused_at_start = paused(&load->nodes[i]);
		load->nodes[i].completed_at_start = load->nodes[i].tally.completed;
	}
}

static void mark_end(struct load *load, sim_time now)
{
	load->ended_at = now;
	load->count_at_end = load->count;
	load->at_end = tally_of_all(load);
	load->progress_at_end = load_progress_of(load);
	snapshot_take(&load->window[1], load->sim);
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		load->nodes[i].paused_at_end = paused(&load->nodes[i]);
		load->nodes[i].completed_at_end = load->nodes[i].tally.completed;
	}
}

void load_mark(const struct load_node *node)
{
	struct load *load = node->load;

	if (load->apart || load->ended_at || load->count < next_mark(load))
		return;
	if (!load->started_at)
		mark_start(load, sim_now(node->sim));
	else
		mark_end(load, sim_now(node->sim));
}

static void note_latency(struct load_node *node, sim_time latency)
{
	if (node->latency_count == LOAD_LATENCIES_MAX)
		return;
	if (!node->latencies)
		node->latencies = calloc(LOAD_LATENCIES_MAX, sizeof(node->latencies[0]));
	assert(node->latencies);
	node->latencies[node->latency_count++] = (struct load_latency){
		.noted_at = sim_now(node->sim), .ns = (double)latency / (double)NS};
}

void load_completed(struct load_thread *thread, uint64_t bytes, sim_time began_at, sim_time poll)
{
	struct load_node *node = thread->node;
	const struct load *load = node->load;

	if (thread->params == &load->background) {
		node->tally.background++;
		return;
	}
	node->tally.completed++;
	node->tally.bytes += bytes;
	if (load->params.counts == LOAD_COMPLETED)
		count_one(node);
	if (load->started_at && !load->ended_at)
		note_latency(node, sim_now(node->sim) + poll - began_at);
}

void load_received(struct load_node *node)
{
	node->tally.received++;
	if (node->load->params.counts == LOAD_RECEIVED)
		count_one(node);
}

static void settle_lock(struct load *load, const struct load_lock *lock)
{
	if (lock->busy > load->gauge.lock.area)
		load->gauge.lock.area = lock->busy;
	if (lock->free_at > load->gauge.lock.until)
		load->gauge.lock.until = lock->free_at;
}

/* Adds the time of a core's current work, which is counted from its start. The ring is counted
 * while WQEs are built. */
static void book_core(struct core_gauges *gauges, const struct load_core *core)
{
	sim_time until = event_pending(&core->step) ? event_time(&core->step) : 0;

	if (core->building)
		until += core->thread->params->cpu.ring;
	core_serve(gauges, until, 0);
	core_serve(gauges, 0, core->busy - gauges->core.area);
}

static void settle(struct block *block)
{
	struct load *load = container_of(block, struct load, block);
	struct core_gauges *cores = &load->gauge.cores;

	for (const struct load_node *node = load->nodes; node < load->nodes + load->params.nodes;
	     node++) {
		for (uint32_t j = 0; j < load->params.bfregs; j++)
			settle_lock(load, &node->doorbells[j]);
		for (uint32_t j = 0; j < node->thread_count; j++) {
			const struct load_thread *thread = &node->threads[j];
			for (uint32_t k = 0; k < load->params.cores_per_thread; k++)
				if (thread->cores[k].busy > cores->core.area)
					book_core(cores, &thread->cores[k]);
			if (load->params.cores_per_thread == 1)
				continue;
			settle_lock(load, &thread->cq_lock);
			for (uint32_t k = 0; k < thread->qp_count; k++)
				settle_lock(load, &thread->qps[k].lock);
		}
	}
}

/* ---- creation ---- */

static const struct path *path_between(struct load *load, uint32_t from, uint32_t to)
{
	struct path path = endpoints_path(load->endpoints, from, to, 0, HOPS, UDP_SOURCE_PORT);

	return path_intern(endpoints_paths(load->endpoints), &path);
}

static bool is_within(const char *name, const char *whole, size_t length, const char *wanted)
{
	return strncmp(name, whole, length) == 0 && name[length] == '.' &&
	       strcmp(name + length + 1, wanted) == 0;
}

/* Finds "block.counter" of the first node's HCA, or of other blocks of its host. */
bool load_count(struct load *load, const char *wanted, char *error, size_t error_bytes)
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
		snprintf(error, error_bytes, "no counter \"%s\" of an HCA", wanted);
	return !wanted;
}

static void make_background(struct load *load)
{
	const struct load_background_params *background = &load->params.background;

	load->background = load->params;
	load->background.threads = background->threads;
	load->background.qps = background->qps;
	load->background.verb = background->verb;
	load->background.bytes = load_one_size(background->bytes);
	load->background.inline_data = background->inline_data;
	load->background.regions = background->regions;
	load->background.local_regions = background->local_regions;
	load->background.sges.count = 0;
	if (background->pattern != LOAD_SAME)
		load->background.pattern = background->pattern;
}

struct load_params load_responses_of(const struct load_params *params)
{
	const struct load_server_params *server = &params->server;
	struct load_params responses = *params;

	responses.threads = server->cores;
	responses.verb = server->response == LOAD_RESPONSE_WRITE ? LOAD_WRITE : LOAD_SEND;
	if (server->response == LOAD_RESPONSE_DATAGRAM)
		responses.transport = LOAD_UD;
	responses.bytes = load_one_size(server->bytes);
	responses.inline_data = server->inline_data;
	responses.post_list = server->post_list;
	responses.cq_mod = server->cq_mod;
	responses.sges.count = 0;
	return responses;
}

static void make_responses(struct load *load)
{
	load->responses = load_responses_of(&load->params);
	load->client_count =
		(uint32_t)((load->params.nodes - 1) * load->params.threads * load->params.qps);
}

void load_params_default(struct load_params *params)
{
	params_default(load_place_param_list, params);
	params_default(load_param_list, params);
	for (const struct param_section *section = load_sections; section->name; section++)
		params_default(section->list, (char *)params + section->offset);
}

struct load *load_create(const struct load_params *params, struct sim *sim,
			 struct endpoints *endpoints, const uint8_t *lps)
{
	struct load *load = calloc(1, sizeof(*load));

	assert(load);
	load->params = *params;
	load_add_up(&load->params);
	load->sim = sim;
	load->endpoints = endpoints;
	load->nodes = calloc(params->nodes, sizeof(load->nodes[0]));
	assert(load->nodes);
	block_init(&load->block, sim, &load_type, "load", &load->params, NULL);
	block_gauges(&load->block, (struct gauge *)&load->gauge);
	load->gauge.cores.core.capacity = 1;
	load->gauge.lock.capacity = 1;
	make_background(load);
	make_responses(load);
	load->timeout = TIMEOUT;
	load->retry_count = RETRIES;
	for (uint32_t i = 0; i < params->nodes; i++) {
		struct load_node *node = &load->nodes[i];
		char name[NAME_BYTES];

		snprintf(name, sizeof(name), "load.%u", i);
		node->sim = sim_lp(sim, lps ? lps[i] : 0);
		block_init(&node->block, node->sim, &node_type, name, NULL, NULL);
		load_node_attach(load, i);
	}
	return load;
}

struct hca_driver *load_driver(struct load *load, uint32_t node)
{
	return &load->nodes[node].driver;
}

struct address_resolver *load_address_resolver(struct load *load, uint32_t node)
{
	return &load->nodes[node].resolver;
}

void load_attach(struct load *load, uint32_t node, struct hca *hca)
{
	load->nodes[node].hca = hca;
	load->nodes[node].sim = port_sim(hca_port(hca));
}

bool load_connect(struct load *load, char *error, size_t error_bytes)
{
	uint32_t nodes = (uint32_t)load->params.nodes;

	for (uint32_t i = 0; i < nodes; i++)
		if (load->nodes[i].hca)
			load_node_init(&load->nodes[i]);
	for (uint32_t i = 0; i < nodes && !load->backend; i++)
		for (uint32_t j = 0; j < nodes; j++)
			load->nodes[i].paths[j] = path_between(load, i, j);
	for (uint32_t i = 0; i < nodes; i++)
		if (load->nodes[i].hca)
			load_node_add_objects(&load->nodes[i]);
	if (load_serves(load))
		load_clients_init(load);
	for (uint32_t i = 0; i < nodes; i++)
		load_node_connect(&load->nodes[i]);
	if (load->backend && !load->failed)
		load_ends_connect(load);
	if (load->failed)
		snprintf(error, error_bytes, "%s", load_failure(load));
	return !load->failed;
}

void load_destroy(struct load *load)
{
	for (uint32_t i = 0; i < load->params.nodes; i++)
		load_node_fini(&load->nodes[i]);
	load_clients_fini(load);
	detailed_backend_fini(load);
	for (uint32_t i = 0; i < load->params.nodes; i++) {
		block_fini(&load->nodes[i].block);
		free(load->nodes[i].latencies);
	}
	block_fini(&load->block);
	snapshot_free(&load->window[0]);
	snapshot_free(&load->window[1]);
	free(load->nodes);
	free(load);
}

/* ---- the run ---- */

/* Returns the largest number of events that can be counted in that time. The cores of a thread poll
 * in turn, and each CQE takes time. Work requests that complete were in flight, or are posted in
 * that time, which also takes time. */
static uint64_t most_within(const struct load *load, sim_time time)
{
	const struct load_params *params = &load->params;
	uint64_t cqes = UINT64_MAX / 2, posts = UINT64_MAX / 2, threads = 0, depth = 0;
	uint64_t of_cqe = params->cqe_compression ? CQE_MINIS_MAX : 1;
	sim_time post = params->cpu.post * params->post_list + params->cpu.ring;

	for (uint32_t i = 0; i < params->nodes; i++) {
		threads += load->nodes[i].thread_count;
		for (uint32_t j = 0; j < load->nodes[i].thread_count; j++)
			for (uint32_t k = 0; k < load->nodes[i].threads[j].qp_count; k++)
				depth += load->nodes[i].threads[j].qps[k].depth;
	}
	if (params->counts == LOAD_COMPLETED)
		of_cqe *= params->cq_mod;
	if (params->cpu.poll)
		cqes = threads * of_cqe * (time / params->cpu.poll + 1 + LOAD_POLL_LIST);
	if (params->counts == LOAD_COMPLETED && post)
		posts = depth +
			threads * params->cores_per_thread * params->post_list * (time / post + 1);
	return cqes < posts ? cqes : posts;
}

/* Returns a time in which the measurement neither begins nor ends, or 0 if it may do so in one
 * step. The result does not depend on the number of LPs. */
static sim_time quiet_time(const struct load *load)
{
	sim_time time = QUIET_MAX;

	while (time >= STEP && load->count + most_within(load, time) >= next_mark(load))
		time /= 2;
	return time >= STEP ? time : 0;
}

static void begin(struct load *load)
{
	for (uint32_t i = 0; i < load->params.nodes; i++)
		for (uint32_t j = 0; j < load->nodes[i].thread_count; j++)
			load_cores_start(&load->nodes[i].threads[j]);
	load->phase = LOAD_MEASURING;
}

static void give_up(struct load *load, bool idle)
{
	load_fail(&load->nodes[0],
		  "%s after %.6g us; complete: %" PRIu64 " of %" PRIu64 " work requests%s",
		  idle ? "nothing happens any more" : "load.limit is reached",
		  (double)sim_now(load->sim) / (double)US, tally_of_all(load).completed,
		  load->params.warm_up + load->params.operations,
		  idle ? "" : "; raise load.limit, or lower load.operations");
	load->given_up = true;
}

/* Chooses the end of the next slice. LPs run in parallel while the measurement cannot end.
 * Otherwise they run sequentially, so that each work request is counted in the order of one LP.
 * Returns false if the load cannot go on. */
static bool choose_slice(struct load *load)
{
	sim_time next = sim_next(load->sim), quiet;

	if (next == SIM_NEVER || next > load->params.limit) {
		give_up(load, next == SIM_NEVER);
		return false;
	}
	quiet = quiet_time(load);
	load->apart = quiet > 0;
	load->slice_mark = next_mark(load);
	load->slice_end = next + (quiet > 0 ? quiet : STEP);
	return true;
}

/* Failed requests are cancelled between two slices. */
static void end_slice(struct load *load)
{
	if (load->apart) {
		count_all(load);
		assert(load->count < load->slice_mark);
	}
	load->given_up = load->failed;
	load->slice_end = 0;
}

/* Returns true if the slice is not at its end. */
static bool run_slice(struct load *load, sim_time until)
{
	sim_time to = load->slice_end < until ? load->slice_end : until;

	if (to > sim_now(load->sim)) {
		if (load->apart)
			sim_run(load->sim, to);
		else
			sim_run_sequential(load->sim, to);
	}
	return load->slice_end > until;
}

bool load_advance(struct load *load, sim_time until, load_progress *progress, void *context)
{
	if (load->phase == LOAD_NEW)
		begin(load);
	while (load->phase == LOAD_MEASURING && !load_is_over(load)) {
		if (load->slice_end > 0 || choose_slice(load)) {
			if (run_slice(load, until))
				return true;
			end_slice(load);
		}
		if (progress)
			progress(context, sim_now(load->sim), done(load), load->params.operations);
	}
	load->apart = true;
	if (load->phase == LOAD_MEASURING) /* given up, it may go on for ever */
		load->phase = load->given_up ? LOAD_OVER : LOAD_DRAINING;
	if (load->phase == LOAD_DRAINING) { /* requests in flight end */
		sim_run_to_idle(load->sim, until);
		if (sim_next(load->sim) == SIM_NEVER)
			load->phase = LOAD_OVER;
	}
	return load->phase != LOAD_OVER;
}

const struct snapshot *load_window(const struct load *load)
{
	return load->ended_at ? load->window : NULL;
}

void load_stop(struct load *load)
{
	if (load->phase < LOAD_DRAINING && !load->ended_at)
		load_fail(&load->nodes[0],
			  "it was stopped after %.6g us; complete: %" PRIu64 " of %" PRIu64
			  " work requests",
			  (double)sim_now(load->sim) / (double)US, tally_of_all(load).completed,
			  load->params.warm_up + load->params.operations);
	load->phase = LOAD_OVER;
}
