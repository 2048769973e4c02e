/* SPDX-License-Identifier: Apache-2.0 */
/* flow_driver: see flow_driver.h. */
#include "traffic/workload/flow_driver.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/parallel.h"
#include "traffic/workload/flow_driver_state.h"
#include "traffic/workload/flow_ranks.h"
#include "traffic/workload/flow_repeat.h"

#define READ_BYTES_MAX (UINT64_C(1) << 30)

static void arrive(struct flow_driver *driver, uint32_t flow, sim_time now);
static void arrive_unmarked(struct flow_driver *driver, uint32_t flow, sim_time now);

static const struct flow_driver_params *params_of(const struct flow_driver *driver, uint32_t flow)
{
	return driver->parts[driver->workload->flows[flow].part].params;
}

/* Returns NULL if the flow takes nothing of a server. */
static const struct workload_visit *visit_of(const struct flow_driver *driver, uint32_t flow)
{
	uint32_t visit = driver->workload->flows[flow].visit;

	return visit ? &driver->workload->visits[visit - 1] : NULL;
}

static sim_time stop_of(const struct flow_driver *driver, uint32_t flow)
{
	const struct workload_part *part =
		&driver->workload->parts[driver->workload->flows[flow].part];
	const struct workload_visit *visit = part->whole ? visit_of(driver, flow) : NULL;

	return part->whole && !(visit && visit->begins) ? SIM_NEVER : part->stop;
}

/* ---- one flow ---- */

static sim_time time_at(const struct flow_driver *driver, uint32_t host)
{
	return sim_now(port_sim(driver->ops->port(driver->backend, host)));
}

static sim_time sender_paused(const struct flow_driver *driver, uint32_t flow)
{
	const struct path *path = driver->ops->path(driver->states[flow].pair->sender);
	const struct port *port =
		driver->ops->port(driver->backend, driver->workload->flows[flow].source);

	return port_paused_time(port, port_vl(port, path->service_level));
}

/* Records the start at the sender of the data, at its host. For a read this is the arrival of its
 * request. */
static void sender_begins(struct flow_driver *driver, uint32_t flow)
{
	struct flow_state *state = &driver->states[flow];

	if (state->sends)
		return;
	state->sends = true;
	state->cnps = driver->ops->cnps(state->pair->sender);
	state->paused = sender_paused(driver, flow);
}

static void sender_ends(struct flow_driver *driver, uint32_t flow)
{
	const struct flow_state *state = &driver->states[flow];
	struct flow_record *record = &driver->records[flow];

	record->cnps = driver->ops->cnps(state->pair->sender) - state->cnps;
	record->paused = sender_paused(driver, flow) - state->paused;
}

static void finish(struct flow_driver *driver, uint32_t flow)
{
	const struct workload_flow *what = &driver->workload->flows[flow];
	struct flow_record *record = &driver->records[flow];
	struct flow_state *state = &driver->states[flow];
	sim_time now = time_at(driver, workload_home(what));

	record->finished = now;
	record->status = state->failed ? FLOW_failed : state->stopped ? FLOW_stopped : FLOW_done;
	if (what->operation != WORKLOAD_READ)
		sender_ends(driver, flow);
	driver->hosts[workload_home(what)].ended++;
	flow_pairs_ended(&driver->pairs, state->pair, flow);
	if (record->status != FLOW_done) /* flows that wait for it never begin */
		return;
	if (what->operation == WORKLOAD_READ)
		arrive(driver, flow, now);
	else if (what->operation == WORKLOAD_ATOMIC)
		arrive_unmarked(driver, flow, now);
	dependencies_happened(driver->dependencies, flow, false, now);
}

static uint64_t message_bytes(const struct flow_driver *driver, uint32_t flow)
{
	uint64_t bytes = params_of(driver, flow)->message, most = driver->backend->message_max;

	if (driver->workload->flows[flow].operation == WORKLOAD_READ && READ_BYTES_MAX < most)
		most = READ_BYTES_MAX;
	return bytes && bytes < most ? bytes : most;
}

static uint64_t message_count(const struct flow_driver *driver, uint32_t flow)
{
	return (driver->workload->flows[flow].bytes - 1) / message_bytes(driver, flow) + 1;
}

static void post_next(struct flow_driver *driver, uint32_t flow)
{
	struct flow_state *state = &driver->states[flow];
	uint64_t most = message_bytes(driver, flow);
	uint64_t bytes = state->bytes_left < most ? state->bytes_left : most;

	state->bytes_left -= bytes;
	driver->ops->post(driver->backend, state->pair->sender, flow,
			  (enum workload_operation)driver->workload->flows[flow].operation, bytes);
}

static bool is_stopped(const struct flow_driver *driver, uint32_t flow)
{
	sim_time at = stop_of(driver, flow);

	return at != SIM_NEVER &&
	       time_at(driver, workload_home(&driver->workload->flows[flow])) >= at;
}

/* Drops the messages that are not posted. The number of undelivered messages, which belongs to the
 * destination, still includes them: the flow never arrives. */
static void stop(struct flow_driver *driver, uint32_t flow)
{
	struct flow_state *state = &driver->states[flow];
	uint64_t most = message_bytes(driver, flow);

	state->messages_left -= (uint32_t)((state->bytes_left - 1) / most + 1);
	state->bytes_left = 0;
	state->stopped = true;
}

static void add_report(struct flow_record *record, const struct backend_report *report)
{
	if (report->started_at && (!record->started || report->started_at < record->started))
		record->started = report->started_at;
	record->packets += report->packets_sent;
	record->retransmitted += report->packets_retransmitted;
}

static void message_done(struct backend_user *user, uint32_t flow,
			 const struct backend_report *report)
{
	struct flow_driver *driver = (struct flow_driver *)(void *)user;
	struct flow_state *state = &driver->states[flow];

	add_report(&driver->records[flow], report);
	state->failed |= report->failed;
	state->messages_left--;
	if (state->bytes_left && is_stopped(driver, flow))
		stop(driver, flow);
	if (state->bytes_left)
		post_next(driver, flow);
	if (!state->messages_left)
		finish(driver, flow);
}

/* Begins a barrier of one host, or ends it after its visit of a server. */
static void begin_barrier(struct flow_driver *driver, uint32_t flow, sim_time now)
{
	struct flow_record *record = &driver->records[flow];
	const struct workload_visit *visit = visit_of(driver, flow);
	struct flow_driver_host *host = &driver->hosts[driver->workload->flows[flow].source];

	if (!driver->states[flow].served)
		record->ready = now;
	if (visit && !driver->states[flow].served) { /* its place in the heap is free */
		driver->states[flow].served = true;
		record->status = FLOW_under_way;
		flow_start_heap_add(&host->heaps[FLOW_START_OWN],
				    servers_visit(driver->servers, visit, now), flow);
		return;
	}
	record->status = FLOW_done;
	record->finished = now;
	dependencies_happened(driver->dependencies, flow, true, now);
	dependencies_happened(driver->dependencies, flow, false, now);
}

static void begin(void *context, uint32_t flow)
{
	struct flow_driver *driver = context;
	const struct workload_flow *what = &driver->workload->flows[flow];
	struct flow_record *record = &driver->records[flow];
	struct flow_state *state = &driver->states[flow];
	sim_time now = time_at(driver, workload_home(what));

	if (workload_is_barrier(what)) {
		begin_barrier(driver, flow, now);
		return;
	}
	record->ready = now;
	record->status = FLOW_under_way;
	if (what->operation != WORKLOAD_READ)
		sender_begins(driver, flow);
	state->bytes_left = what->bytes;
	state->messages_left = (uint32_t)message_count(driver, flow);
	for (uint64_t i = 0; i < params_of(driver, flow)->outstanding_messages && state->bytes_left;
	     i++)
		post_next(driver, flow);
}

static void arrive_unmarked(struct flow_driver *driver, uint32_t flow, sim_time now)
{
	driver->records[flow].arrived = now;
	dependencies_happened(driver->dependencies, flow, true, now);
}

/* Counts marks received since the previous flow arrived. */
static void count_marks(struct flow_driver *driver, uint32_t flow)
{
	struct flow_pair *pair = driver->states[flow].pair;
	uint32_t marks = driver->ops->marks(driver->ops->peer(pair->sender));

	driver->records[flow].marked = marks - pair->marks_reported;
	pair->marks_reported = marks;
}

/* Records the arrival at the destination of the data. */
static void arrive(struct flow_driver *driver, uint32_t flow, sim_time now)
{
	count_marks(driver, flow);
	arrive_unmarked(driver, flow, now);
}

static void delivered(struct backend_user *user, uint32_t flow)
{
	struct flow_driver *driver = (struct flow_driver *)(void *)user;

	assert(flow < driver->workload->count && driver->states[flow].undelivered);
	if (--driver->states[flow].undelivered == 0)
		arrive(driver, flow, time_at(driver, driver->workload->flows[flow].destination));
}

static void read_begins(struct backend_user *user, uint32_t flow)
{
	sender_begins((struct flow_driver *)(void *)user, flow);
}

static void read_ends(struct backend_user *user, uint32_t flow)
{
	sender_ends((struct flow_driver *)(void *)user, flow);
}

/* ---- the end of a run ---- */

static void add_outstanding(void *context, uint32_t flow, const struct backend_report *so_far)
{
	struct flow_driver *driver = context;

	add_report(&driver->records[flow], so_far);
}

static int compare_ready(const void *one, const void *other)
{
	const struct flow_record *a = *(const struct flow_record *const *)one;
	const struct flow_record *b = *(const struct flow_record *const *)other;

	if (a->ready != b->ready)
		return a->ready < b->ready ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Flows of one queue pair arrive in the order in which they became ready: the first has the marks
 * since the last arrival. */
void flow_driver_end(struct flow_driver *driver)
{
	const struct flow_record **flows = malloc((driver->workload->count + 1) * sizeof(flows[0]));
	uint32_t count = 0;

	assert(flows);
	flow_ranks_share(driver, FLOW_RANKS_BEGUN);
	driver->ops->outstanding(driver->backend, add_outstanding, driver);
	for (uint32_t i = 0; i < driver->workload->count; i++)
		if (driver->states[i].pair && (driver->records[i].status == FLOW_under_way ||
					       driver->records[i].status == FLOW_stopped))
			flows[count++] = &driver->records[i];
	qsort(flows, count, sizeof(flows[0]), compare_ready);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t flow = flows[i]->flow;

		if (!flows[i]->arrived && flows[i]->operation != WORKLOAD_ATOMIC)
			count_marks(driver, flow);
		if (driver->states[flow].sends && flows[i]->status == FLOW_under_way)
			sender_ends(driver, flow);
	}
	free(flows);
	flow_ranks_share(driver, FLOW_RANKS_REST);
	free(driver->starts); /* memory for the summary; no flow starts any more */
	driver->starts = NULL;
}

/* ---- dependencies ---- */

static void release(struct dependencies_user *user, uint32_t flow, sim_time at, bool notified)
{
	struct flow_driver *driver = container_of(user, struct flow_driver, dependencies_user);
	struct flow_driver_host *host =
		&driver->hosts[workload_home(&driver->workload->flows[flow])];
	enum flow_start_kind kind = notified ? FLOW_START_NOTIFIED : FLOW_START_OWN;

	if (at + driver->repeat.skipped > params_of(driver, flow)->start_deadline ||
	    at >= stop_of(driver, flow))
		return;
	flow_start_heap_add(&host->heaps[kind], at, flow);
}

static void reached(struct dependencies_user *user, uint32_t barrier, sim_time at)
{
	struct flow_driver *driver = container_of(user, struct flow_driver, dependencies_user);
	struct flow_record *record = &driver->records[barrier];

	if (at + driver->repeat.skipped > params_of(driver, barrier)->start_deadline ||
	    at >= stop_of(driver, barrier))
		return;
	record->ready = record->finished = at;
	record->status = FLOW_done;
	if (driver->repeat.watches)
		flow_repeat_reached(driver, barrier, at);
}

/* ---- queue pairs ---- */

static unsigned service_level_of(const struct flow_driver *driver, const struct workload_flow *flow)
{
	const struct flow_driver_params *params = driver->parts[flow->part].params;
	uint32_t number = flow->queue_pair - driver->workload->parts[flow->part].first_queue_pair;

	return (unsigned)(params->service_level + number % params->service_levels) % 16;
}

static struct backend_qp *connect_pair(struct flow_driver *driver, const struct workload_flow *flow)
{
	const struct backend_pair pair = {.source = flow->source,
					  .destination = flow->destination,
					  .service_level = service_level_of(driver, flow),
					  .entropy = flow->queue_pair,
					  .congestion = driver->parts[flow->part].congestion};

	return driver->ops->connect_pair(driver->backend, &pair);
}

static void connect_pairs(struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;

	flow_pairs_init(&driver->pairs, workload, driver->ops);
	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *flow = &workload->flows[i];
		struct flow_pair *pair;

		if (workload_is_barrier(flow))
			continue;
		pair = flow_pairs_add(&driver->pairs, i);
		if (!pair->sender)
			pair->sender = connect_pair(driver, flow);
		driver->states[i].pair = pair;
		driver->states[i].undelivered = (uint32_t)message_count(driver, i);
		driver->ops->plan(driver->backend, pair->sender,
				  flow->bytes < message_bytes(driver, i) ? flow->bytes
									 : message_bytes(driver, i),
				  message_count(driver, i),
				  (enum workload_operation)flow->operation);
	}
	flow_pairs_complete(&driver->pairs);
}

/* ---- life ---- */

bool flow_driver_finished(const struct flow_driver *driver)
{
	for (uint32_t i = 0; i < driver->workload->count; i++)
		if (driver->records[i].status == FLOW_under_way)
			return false;
	for (uint32_t i = 0; i < driver->workload->hosts; i++)
		if (!sim_is_remote(driver->hosts[i].block.sim) &&
		    (driver->hosts[i].heaps[FLOW_START_OWN].count ||
		     driver->hosts[i].heaps[FLOW_START_NOTIFIED].count))
			return false;
	return true;
}

uint32_t flow_driver_ended(const struct flow_driver *driver)
{
	uint32_t ended = 0;

	for (uint32_t i = 0; i < driver->workload->hosts; i++)
		ended += driver->hosts[i].ended;
	return ended;
}

static struct backend_qp *requester_of(const struct flow_driver *driver, uint32_t flow)
{
	return flow_pairs_requester(&driver->pairs, driver->states[flow].pair, flow);
}

uint32_t flow_driver_first_flow(const struct flow_driver *driver, uint32_t flow)
{
	return flow_pairs_first(&driver->pairs, driver->states[flow].pair, flow);
}

const struct backend_qp *flow_driver_requester(const struct flow_driver *driver, uint32_t flow)
{
	return workload_is_barrier(&driver->workload->flows[flow]) ? NULL
								   : requester_of(driver, flow);
}

void flow_driver_first_flows(const struct flow_driver *driver, bool *first)
{
	bool *seen = calloc((size_t)driver->pairs.count * FLOW_PAIR_ENDS + 1, sizeof(seen[0]));

	assert(seen);
	for (uint32_t i = 0; i < driver->workload->count; i++)
		if (driver->states[i].pair) /* no barrier */
			first[i] = flow_pairs_see(&driver->pairs, driver->states[i].pair, i, seen);
	free(seen);
}

uint64_t flow_driver_acked_bytes(const struct flow_driver *driver, uint32_t flow)
{
	return driver->ops->acked_bytes(requester_of(driver, flow)) +
	       flow_repeat_bytes(driver, flow, FLOW_REPEAT_ACKED);
}

uint64_t flow_driver_arrived_bytes(const struct flow_driver *driver, uint32_t flow)
{
	return driver->ops->arrived_bytes(requester_of(driver, flow)) +
	       flow_repeat_bytes(driver, flow, FLOW_REPEAT_ARRIVED);
}

void flow_driver_sender(const struct flow_driver *driver, uint32_t flow,
			struct backend_sender *sender)
{
	driver->ops->sender(requester_of(driver, flow), sender);
}

const struct flow_record *flow_driver_records(const struct flow_driver *driver)
{
	return driver->records;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct flow_driver_params, __VA_ARGS__)
const struct param flow_driver_param_list[] = { FLOW_DRIVER_PARAMS(ROW) { 0 } };

static const struct block_type flow_driver_type = {
	.name   = "flow_driver",
	.params = flow_driver_param_list,
	.fold   = flow_repeat_fold,
};
/* clang-format on */

static const struct block_type flow_driver_host_type = {.name = "flow_driver_host",
							.fold = flow_repeat_fold_host};

static void create_dependencies(struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;
	struct sim **sims = calloc(workload->hosts + 1, sizeof(struct sim *));

	assert(sims);
	for (uint32_t i = 0; i < workload->hosts; i++)
		sims[i] = port_sim(driver->ops->port(driver->backend, i));
	driver->dependencies_user =
		(struct dependencies_user){.release = release, .reached = reached};
	driver->dependencies =
		dependencies_create(workload, driver->parts[0].params->notification_latency, sims,
				    &driver->dependencies_user);
	driver->servers = servers_create(workload, sims);
	free(sims);
}

static uint32_t *count_starts(const struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;
	uint32_t *counts =
		calloc((size_t)FLOW_START_KINDS * workload->hosts + 1, sizeof(counts[0]));

	assert(counts);
	for (uint32_t i = 0; i < workload->count; i++)
		counts[FLOW_START_KINDS * workload_home(&workload->flows[i]) +
		       dependencies_are_notified(driver->dependencies, i)]++;
	return counts;
}

static void create_hosts(struct flow_driver *driver)
{
	const struct workload *workload = driver->workload;
	struct start *starts = driver->starts;
	uint32_t *counts = count_starts(driver);
	char name[64];

	driver->hosts = calloc(workload->hosts + 1, sizeof(driver->hosts[0]));
	assert(driver->hosts);
	for (uint32_t i = 0; i < workload->hosts; i++) {
		struct flow_driver_host *host = &driver->hosts[i];

		snprintf(name, sizeof(name), "workload.%u", i);
		block_init(&host->block, port_sim(driver->ops->port(driver->backend, i)),
			   &flow_driver_host_type, name, NULL, NULL);
		for (enum flow_start_kind kind = 0; kind < FLOW_START_KINDS; kind++) {
			flow_start_heap_init(&host->heaps[kind], &host->block, kind, starts, begin,
					     driver);
			starts += counts[FLOW_START_KINDS * i + kind];
		}
	}
	free(counts);
}

struct flow_driver *flow_driver_create(struct sim *sim, const struct workload *workload,
				       const struct flow_driver_part *parts,
				       struct backend *backend, flow_driver_route_function *route,
				       void *context)
{
	struct flow_driver *driver = calloc(1, sizeof(*driver));

	assert(driver);
	block_init(&driver->block, sim, &flow_driver_type, "workload", parts[0].params, NULL);
	driver->user = (struct backend_user){message_done, delivered, read_begins, read_ends};
	driver->workload = workload;
	driver->parts = calloc(workload->part_count, sizeof(driver->parts[0]));
	assert(driver->parts);
	memcpy(driver->parts, parts, workload->part_count * sizeof(driver->parts[0]));
	driver->backend = backend;
	driver->ops = backend->ops;
	backend->user = &driver->user;
	driver->route = route;
	driver->context = context;
	driver->states = calloc(workload->count + 1, sizeof(driver->states[0]));
	driver->records = calloc(workload->count + 1, sizeof(driver->records[0]));
	driver->starts = calloc(workload->count + 1, sizeof(driver->starts[0]));
	assert(driver->states && driver->records && driver->starts);
	create_dependencies(driver);
	create_hosts(driver);
	connect_pairs(driver);
	driver->ops->start(backend);
	flow_driver_describe(driver);
	dependencies_start(driver->dependencies);
	return driver;
}

void flow_driver_destroy(struct flow_driver *driver)
{
	for (uint32_t i = 0; i < driver->workload->hosts; i++) {
		for (unsigned kind = 0; kind < FLOW_START_KINDS; kind++)
			flow_start_heap_fini(&driver->hosts[i].heaps[kind]);
		block_fini(&driver->hosts[i].block);
	}
	dependencies_destroy(driver->dependencies);
	servers_destroy(driver->servers);
	free(driver->parts);
	free(driver->hosts);
	free(driver->states);
	free(driver->records);
	free(driver->starts);
	free(driver->repeat.sums);
	flow_pairs_fini(&driver->pairs);
	block_fini(&driver->block);
	free(driver);
}
