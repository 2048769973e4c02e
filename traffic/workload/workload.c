/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload: see workload.h. Contains the list and the patterns without steps. Each pattern draws
 * from streams named after the host. A host's traffic therefore does not depend on the number of
 * hosts before it.
 */
#include "traffic/workload/workload.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic/workload/host_names.h"
#include "traffic/workload/storage.h"

#define OPERATION_MIX 4

struct maker {
	struct workload *workload;
	const struct workload_params *params;
	struct size_distribution *sizes;
	uint64_t seed;
	uint64_t rate_bps;
	uint32_t phase, target;
};

/* ---- the list ---- */

struct workload *workload_new(uint32_t hosts)
{
	struct workload *workload = calloc(1, sizeof(*workload));

	assert(workload && hosts >= 2);
	workload->hosts = hosts;
	workload->part_count = 1;
	workload->parts = calloc(1, sizeof(workload->parts[0]));
	assert(workload->parts);
	workload->parts[0].stop = SIM_NEVER;
	return workload;
}

uint32_t workload_add(struct workload *workload, uint32_t source, uint32_t destination,
		      uint64_t bytes, sim_time start)
{
	assert(source < workload->hosts && destination < workload->hosts);
	if (workload->count == workload->capacity) {
		workload->capacity = workload->capacity ? workload->capacity * 2 : 64;
		workload->flows =
			realloc(workload->flows, workload->capacity * sizeof(workload->flows[0]));
		assert(workload->flows);
	}
	workload->flows[workload->count] = (struct workload_flow){
		.source = source, .destination = destination, .bytes = bytes, .start = start};
	return workload->count++;
}

void workload_after(struct workload *workload, uint32_t then, uint32_t first)
{
	if (workload->edge_count == workload->edge_capacity) {
		workload->edge_capacity =
			workload->edge_capacity ? workload->edge_capacity * 2 : 64;
		workload->edges = realloc(workload->edges,
					  workload->edge_capacity * sizeof(workload->edges[0]));
		assert(workload->edges);
	}
	workload->edges[workload->edge_count++] = (struct workload_edge){first, then};
	workload->flows[then].dependency_count++;
}

void workload_ignore(struct workload *workload, const char *what)
{
	char *before = workload->ignored;

	if (!what || (before && strcmp(before, what) == 0))
		return;
	if (asprintf(&workload->ignored, "%s%s%s", before ? before : "", before ? "; " : "", what) <
	    0)
		abort();
	free(before);
}

/* Sorts the edges by their first flow. */
void workload_finish(struct workload *workload)
{
	uint32_t place = 0;

	workload->next = malloc((workload->edge_count + 1) * sizeof(workload->next[0]));
	assert(workload->next);
	for (uint32_t i = 0; i < workload->edge_count; i++)
		workload->flows[workload->edges[i].first].next_count++;
	for (uint32_t i = 0; i < workload->count; i++) {
		workload->flows[i].first_next = place;
		place += workload->flows[i].next_count;
		workload->flows[i].next_count = 0;
	}
	for (uint32_t i = 0; i < workload->edge_count; i++) {
		struct workload_flow *first = &workload->flows[workload->edges[i].first];

		workload->next[first->first_next + first->next_count++] = workload->edges[i].then;
	}
	free(workload->edges);
	workload->edges = NULL;
}

sim_time workload_lookahead(const struct workload *workload, const uint8_t *lps,
			    sim_time notification_latency)
{
	sim_time lookahead = SIM_NEVER;

	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *first = &workload->flows[i];

		for (uint32_t j = 0; j < first->next_count && !workload_is_common(first); j++) {
			const struct workload_flow *then =
				&workload->flows[workload->next[first->first_next + j]];
			bool common = workload_is_common(then);
			sim_time delay = notification_latency + (common ? then->start : 0);

			if ((common ||
			     lps[workload_happens_at(first, then)] != lps[workload_home(then)]) &&
			    delay < lookahead)
				lookahead = delay;
		}
	}
	return lookahead;
}

void workload_destroy(struct workload *workload)
{
	free(workload->flows);
	free(workload->next);
	free(workload->edges);
	free(workload->parts);
	free(workload->servers);
	free(workload->visits);
	free(workload->ios);
	free(workload->ignored);
	free(workload);
}

/* ---- patterns ---- */

static void stream(const struct maker *maker, struct random *random, const char *purpose,
		   uint32_t host)
{
	char name[48];

	snprintf(name, sizeof(name), "workload.phase%u.host%u", maker->phase, host);
	random_init_named(random, maker->seed, name, purpose);
}

static uint64_t size_of(const struct maker *maker, struct random *random)
{
	return maker->sizes ? distribution_draw(maker->sizes, random) : maker->params->bytes;
}

static void add(const struct maker *maker, struct random *random, uint32_t source,
		uint32_t destination)
{
	sim_time start = 0;

	if (maker->params->spread)
		start = random_below(random, maker->params->spread);
	workload_add(maker->workload, source, destination, size_of(maker, random), start);
}

static uint32_t other_host(const struct maker *maker, struct random *random, uint32_t host)
{
	uint32_t other = (uint32_t)random_below(random, maker->workload->hosts - 1);

	return other + (other >= host);
}

static void make_incast(const struct maker *maker)
{
	uint32_t hosts = maker->workload->hosts, target = maker->target;
	uint32_t senders = (uint32_t)maker->params->fan_in;

	if (!senders)
		senders = hosts - 1;
	for (uint32_t i = 1; i <= senders; i++) {
		struct random random;

		stream(maker, &random, "incast", (target + i) % hosts);
		for (uint64_t j = 0; j < maker->params->count; j++)
			add(maker, &random, (target + i) % hosts, target);
	}
}

static void make_permutation(const struct maker *maker)
{
	uint32_t hosts = maker->workload->hosts;
	uint32_t *peers = malloc(hosts * sizeof(peers[0]));
	struct random random;

	assert(peers);
	stream(maker, &random, "permutation", 0);
	for (uint32_t i = 0; i < hosts; i++)
		peers[i] = i;
	for (uint32_t i = hosts - 1; i > 0;
	     i--) { /* Sattolo's algorithm: one cycle, so no host sends to itself */
		uint32_t other = (uint32_t)random_below(&random, i), kept = peers[i];

		peers[i] = peers[other];
		peers[other] = kept;
	}
	for (uint32_t i = 0; i < hosts; i++)
		for (uint64_t j = 0; j < maker->params->count; j++)
			add(maker, &random, i, peers[i]);
	free(peers);
}

static void make_shift(const struct maker *maker)
{
	uint32_t hosts = maker->workload->hosts;
	uint32_t stride = (uint32_t)(maker->params->stride % hosts);

	for (uint32_t i = 0; i < hosts; i++) {
		struct random random;

		stream(maker, &random, "shift", i);
		for (uint64_t j = 0; j < maker->params->count; j++)
			add(maker, &random, i, (i + (stride ? stride : hosts / 2)) % hosts);
	}
}

static void make_all_to_all(const struct maker *maker)
{
	uint32_t hosts = maker->workload->hosts;

	for (uint32_t i = 0; i < hosts; i++) {
		struct random random;

		stream(maker, &random, "all_to_all", i);
		for (uint32_t j = 1; j < hosts; j++)
			for (uint64_t k = 0; k < maker->params->count; k++)
				add(maker, &random, i, (i + j) % hosts);
	}
}

static void make_random(const struct maker *maker)
{
	bool hotspot = maker->params->pattern == PATTERN_hotspot;
	uint32_t target = maker->target;

	for (uint32_t i = 0; i < maker->workload->hosts; i++) {
		struct random random;

		stream(maker, &random, "random", i);
		for (uint64_t j = 0; j < maker->params->count; j++) {
			uint32_t other = other_host(maker, &random, i);

			if (hotspot && random_chance(&random, maker->params->hot) && i != target)
				other = target;
			add(maker, &random, i, other);
		}
	}
}

/* Each host visits the others in a random order; flow j + count waits for flow j. */
static void make_shuffle(const struct maker *maker)
{
	uint32_t hosts = maker->workload->hosts, width = (uint32_t)maker->params->count;
	uint32_t *order = malloc(hosts * sizeof(order[0]));

	assert(order);
	for (uint32_t i = 0; i < hosts; i++) {
		struct random random;
		uint32_t others = 0, first = maker->workload->count;

		stream(maker, &random, "shuffle", i);
		for (uint32_t j = 0; j < hosts; j++)
			if (j != i)
				order[others++] = j;
		gsl_ran_shuffle(&random.gsl, order, others, sizeof(order[0]));
		for (uint32_t j = 0; j < others; j++) {
			add(maker, &random, i, order[j]);
			if (j >= width)
				workload_after(maker->workload, first + j, first + j - width);
		}
	}
	free(order);
}

static void make_request_response(const struct maker *maker)
{
	struct workload *workload = maker->workload;
	uint32_t target = maker->target;

	for (uint32_t i = 0; i < workload->hosts; i++) {
		struct random random;
		uint32_t last = UINT32_MAX;

		stream(maker, &random, "request_response", i);
		for (uint64_t j = 0; i != target && j < maker->params->count; j++) {
			uint32_t request = workload_add(workload, i, target, maker->params->request,
							maker->params->gap);
			uint32_t response =
				workload_add(workload, target, i, size_of(maker, &random), 0);

			workload_after(workload, response, request);
			if (last != UINT32_MAX)
				workload_after(workload, request, last);
			last = response;
		}
	}
}

static uint32_t host_across(const struct maker *maker, struct random *random)
{
	uint32_t half = maker->workload->hosts / 2;

	return half + (uint32_t)random_below(random, maker->workload->hosts - half);
}

/* Draws the senders independently of previous incasts. */
static void make_one_incast(const struct maker *maker, struct random *random, uint32_t *order,
			    sim_time at)
{
	uint32_t hosts = maker->workload->hosts, senders = hosts - 1;
	uint32_t target = (uint32_t)random_below(random, hosts);
	const struct workload_params *params = maker->params;

	if (params->incast_fan_in && params->incast_fan_in < senders)
		senders = (uint32_t)params->incast_fan_in;
	for (uint32_t i = 0; i < hosts - 1; i++)
		order[i] = i + (i >= target);
	gsl_ran_shuffle(&random->gsl, order, hosts - 1, sizeof(order[0]));
	for (uint32_t i = 0; i < senders; i++) {
		for (uint64_t j = 0; j < params->incast_flows; j++) {
			uint32_t flow = workload_add(maker->workload, order[i], target,
						     params->incast_bytes, at);

			maker->workload->flows[flow].incast = true;
		}
	}
}

/* Returns the time of the last start in a phase: `arrivals_until` after its begin, which is `start`
 * in the first phase. No flow begins from `post_until` on. */
static double last_begin(const struct maker *maker)
{
	const struct workload_params *params = maker->params;
	sim_time until = params->arrivals_until;

	if (params->phases == 1 && params->post_until && params->post_until < until)
		until = params->post_until;
	return (double)until - (maker->phase ? 0 : (double)params->start);
}

static void make_incasts(const struct maker *maker)
{
	const struct workload_params *params = maker->params;
	uint32_t hosts = maker->workload->hosts, *order;
	double senders = params->incast_fan_in && params->incast_fan_in < hosts - 1
				 ? (double)params->incast_fan_in
				 : hosts - 1;
	double bits = 8 * senders * (double)params->incast_flows * (double)params->incast_bytes;
	double gap = bits * (double)SEC / ((double)maker->rate_bps * hosts * params->incast_load);
	struct random random;

	order = malloc(hosts * sizeof(order[0]));
	assert(order);
	stream(maker, &random, "incasts", 0);
	for (double at = gap / 2; at < last_begin(maker); at += gap)
		make_one_incast(maker, &random, order, (sim_time)at);
	free(order);
}

static void make_poisson(const struct maker *maker)
{
	const struct workload_params *params = maker->params;
	double mean = maker->sizes ? distribution_mean(maker->sizes) : (double)params->bytes;
	double gap = mean * 8 * (double)SEC / ((double)maker->rate_bps * params->offered_load);
	double stop = last_begin(maker);

	uint32_t senders = params->across ? maker->workload->hosts / 2 : maker->workload->hosts;

	for (uint32_t i = 0; i < senders; i++) {
		struct random random;
		double at = 0;

		stream(maker, &random, "poisson", i);
		for (;;) {
			at += gsl_ran_exponential(&random.gsl, gap);
			if (at >= stop)
				break;
			uint32_t to = params->across ? host_across(maker, &random)
						     : other_host(maker, &random, i);
			workload_add(maker->workload, i, to, size_of(maker, &random), (sim_time)at);
		}
	}
	if (params->incast_load > 0)
		make_incasts(maker);
}

static void (*const makers[PATTERN_COUNT])(const struct maker *maker) = {
	[PATTERN_incast] = make_incast,   [PATTERN_permutation] = make_permutation,
	[PATTERN_shift] = make_shift,     [PATTERN_all_to_all] = make_all_to_all,
	[PATTERN_random] = make_random,   [PATTERN_hotspot] = make_random,
	[PATTERN_shuffle] = make_shuffle, [PATTERN_request_response] = make_request_response,
	[PATTERN_poisson] = make_poisson,
};

/* Adds the barrier after all flows of a phase. The flows of the next phase wait for it. */
static void close_phase(const struct maker *maker, uint32_t first, uint32_t *barrier)
{
	struct workload *workload = maker->workload;
	uint32_t end = workload->count;
	bool last = maker->phase + 1 == maker->params->phases;

	for (uint32_t i = first; i < end; i++) {
		if (*barrier != UINT32_MAX)
			workload_after(workload, i, *barrier);
		else if (!workload->flows[i].dependency_count)
			workload->flows[i].start += maker->params->start;
	}
	if (last)
		return;
	uint32_t next = workload_add(workload, 0, 0, 0, maker->params->gap);

	for (uint32_t i = first; i < end; i++)
		workload_after(workload, next, i);
	*barrier = next;
}

/* Chooses the verb and the queue pair of each flow. */
static void choose_verbs(const struct maker *maker)
{
	const struct workload_params *params = maker->params;

	for (uint32_t i = 0; i < maker->workload->count && params->pattern != PATTERN_storage;
	     i++) {
		struct workload_flow *flow = &maker->workload->flows[i];

		flow->queue_pair = params->queue_pairs ? (uint32_t)(i % params->queue_pairs) : i;
		if (params->pattern == PATTERN_trace)
			continue; /* a trace has its own operations */
		flow->operation = params->operation == OPERATION_MIX ? (uint8_t)(i % OPERATION_MIX)
								     : (uint8_t)params->operation;
		if (flow->operation == WORKLOAD_ATOMIC && !workload_is_barrier(flow))
			flow->bytes = 8;
	}
}

static bool fits(const struct workload_params *params, uint32_t hosts, char *error,
		 size_t error_bytes)
{
	if (hosts < 2)
		snprintf(error, error_bytes, "a workload needs two hosts at least");
	else if (params->pattern == PATTERN_incast && params->fan_in >= hosts)
		snprintf(error, error_bytes,
			 "fan_in: %lu of %u hosts; expected fewer hosts, because one is the target",
			 params->fan_in, hosts);
	else if ((params->pattern == PATTERN_goal || params->pattern == PATTERN_chakra) &&
		 params->operation != WORKLOAD_WRITE && params->operation != WORKLOAD_SEND)
		snprintf(error, error_bytes,
			 "pattern: %s uses sends; expected operation: write or send",
			 params->pattern == PATTERN_goal ? "goal" : "chakra");
	else if (params->pattern == PATTERN_shift && params->stride && params->stride % hosts == 0)
		snprintf(error, error_bytes, "stride: %lu of %u hosts leads back to the sender",
			 params->stride, hosts);
	else
		return true;
	return false;
}

bool workload_find_target(const struct workload_params *params, const char *const *names,
			  uint32_t hosts, uint32_t *target, char *error, size_t error_bytes)
{
	struct host_names *host_names = host_names_create(names, hosts);
	char wrong[256];
	bool good = host_names_find(host_names, params->target.text, target, wrong, sizeof(wrong));

	if (!good)
		snprintf(error, error_bytes, "target: %s", wrong);
	host_names_destroy(host_names);
	return good;
}

static bool choose_sizes(struct maker *maker, const char *cdf, char *error, size_t error_bytes)
{
	enum distribution which = (enum distribution)maker->params->sizes;

	maker->sizes = which == DISTRIBUTION_file ? distribution_read(cdf, error, error_bytes)
						  : distribution_create(which);
	return maker->sizes || which == DISTRIBUTION_fixed;
}

static bool read_file(struct workload *workload, const struct workload_params *params,
		      const struct workload_files *files, char *error, size_t error_bytes)
{
	if (params->pattern == PATTERN_trace)
		return workload_read_trace(workload, files->trace, files->names, error,
					   error_bytes);
	return (params->pattern == PATTERN_goal ? workload_read_goal : workload_read_chakra)(
		workload, files->trace, error, error_bytes);
}

struct workload *workload_create(const struct workload_params *params, uint32_t hosts,
				 uint64_t rate_bps, uint64_t seed,
				 const struct workload_files *files, char *error,
				 size_t error_bytes)
{
	struct maker maker = {.params = params, .seed = seed, .rate_bps = rate_bps};
	uint32_t barrier = UINT32_MAX;
	bool good = fits(params, hosts, error, error_bytes) &&
		    workload_find_target(params, files->names, hosts, &maker.target, error,
					 error_bytes) &&
		    choose_sizes(&maker, files->cdf, error, error_bytes);

	if (!good)
		goto out;
	maker.workload = workload_new(hosts);
	for (; good && maker.phase < params->phases; maker.phase++) {
		uint32_t first = maker.workload->count;

		if (workload_is_from_file(params))
			good = read_file(maker.workload, params, files, error, error_bytes);
		else if (params->pattern == PATTERN_storage)
			good = storage_add(maker.workload, params, files->storage, maker.target,
					   seed, error, error_bytes);
		else if (makers[params->pattern])
			makers[params->pattern](&maker);
		else
			good = workload_add_collective(maker.workload, params, error, error_bytes);
		close_phase(&maker, first, &barrier);
		if (!maker.phase)
			maker.workload->phase_flows = maker.workload->count;
	}
	maker.workload->phases = (uint32_t)params->phases;
	if (good && !maker.workload->count) {
		bool read = workload_is_from_file(params);

		snprintf(error, error_bytes, "%s%sno flow begins; expected at least one",
			 read ? files->trace : "", read ? ": " : "");
		good = false;
	}
	if (good) {
		choose_verbs(&maker);
		workload_finish(maker.workload);
		if (params->post_until && params->post_until < maker.workload->parts[0].stop)
			maker.workload->parts[0].stop = params->post_until;
	} else {
		workload_destroy(maker.workload);
	}
out:
	distribution_destroy(maker.sizes);
	return good ? maker.workload : NULL;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct workload_params, __VA_ARGS__)
const struct param workload_param_list[] = { WORKLOAD_PARAMS(ROW) { 0 } };
