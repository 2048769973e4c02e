/* SPDX-License-Identifier: Apache-2.0 */
/* storage: see storage.h. */
#include "traffic/workload/storage.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"

#define NONE      UINT32_MAX
#define FLOWS_MAX UINT64_C(20000000) /* of a workload: some 4 GB of memory */
#define FLOWS_MIN 5                  /* of an operation: steps and messages */

/* ---- steps of an operation ---- */

static const struct storage_cpu_params *cpu_of(const struct storage_operation *operation)
{
	return operation->storage->cpu;
}

static sim_time send_time(const struct storage_operation *operation)
{
	return operation->storage->tcp ? cpu_of(operation)->tcp_send
				       : cpu_of(operation)->rdma_message;
}

/* Returns the time of the cores of a side for a SEND that has come to it. */
static sim_time receive_time(const struct storage_operation *operation, uint64_t bytes)
{
	const struct storage_cpu_params *cpu = cpu_of(operation);

	if (!operation->storage->tcp)
		return cpu->rdma_message;
	return cpu->tcp_receive +
	       (sim_time)((double)bytes * 8 * (double)SEC / (double)cpu->tcp_copy);
}

static uint32_t add_visit(struct storage_operation *operation, uint32_t host,
			  struct workload_visit visit)
{
	struct workload *workload = operation->workload;
	uint32_t flow = workload_add(workload, host, host, 0, 0);

	if ((workload->visit_count & (workload->visit_count - 1)) == 0) {
		size_t room = workload->visit_count ? 2 * (size_t)workload->visit_count : 1;

		workload->visits = realloc(workload->visits, room * sizeof(workload->visits[0]));
		assert(workload->visits);
	}
	workload->visits[workload->visit_count++] = visit;
	workload->flows[flow].local = true;
	workload->flows[flow].visit = workload->visit_count;
	return flow;
}

/* Adds the waits for the last visit of the side and for the messages that came to it since. Other
 * flows in this range are visits, or messages of the side itself. */
static void wait_for_arrivals(struct storage_operation *operation, enum storage_side side,
			      uint32_t flow)
{
	const struct workload_flow *flows = operation->workload->flows;

	if (operation->stage[side] != NONE)
		workload_after(operation->workload, flow, operation->stage[side]);
	for (uint32_t i = operation->first_arrival[side]; i < operation->arrival_end[side]; i++)
		if (!workload_is_barrier(&flows[i]) &&
		    flows[i].destination == operation->hosts[side])
			workload_after(operation->workload, flow, i);
	operation->first_arrival[side] = operation->arrival_end[side] = 0;
}

static void note_arrival(struct storage_operation *operation, enum storage_side side, uint32_t flow)
{
	if (!operation->arrival_end[side])
		operation->first_arrival[side] = flow;
	operation->arrival_end[side] = flow + 1;
}

void storage_post(struct storage_operation *operation, enum storage_side side,
		  enum workload_operation verb, uint64_t bytes)
{
	struct workload *workload = operation->workload;
	enum storage_side other = side == STORAGE_INITIATOR ? STORAGE_TARGET : STORAGE_INITIATOR;
	bool reads = verb == WORKLOAD_READ;

	uint32_t stage = operation->stage[side];
	struct workload_visit *visit = &workload->visits[workload->flows[stage].visit - 1];
	uint32_t flow = workload_add(workload, operation->hosts[reads ? other : side],
				     operation->hosts[reads ? side : other], bytes, 0);

	assert(!workload->servers[visit->server].device);
	workload->flows[flow].operation = (uint8_t)verb;
	workload->flows[flow].queue_pair = operation->queue_pair;
	workload_after(workload, flow, stage);
	note_arrival(operation, reads ? side : other, flow);
	visit->busy += send_time(operation);
	visit->latency = visit->busy;
	if (verb == WORKLOAD_SEND)
		operation->owed[other] += receive_time(operation, bytes);
}

void storage_step(struct storage_operation *operation, enum storage_side side, sim_time work)
{
	sim_time time = work + operation->owed[side];
	uint32_t stage =
		add_visit(operation, operation->hosts[side],
			  (struct workload_visit){
				  .server = operation->cores[side], .busy = time, .latency = time});

	wait_for_arrivals(operation, side, stage);
	operation->owed[side] = 0;
	operation->stage[side] = stage;
}

void storage_visit_device(struct storage_operation *operation)
{
	const struct storage_device_params *device = operation->storage->device;
	sim_time begin = device->iops ? SEC / device->iops : 0;
	sim_time move =
		(sim_time)((double)operation->bytes * 8 * (double)SEC / (double)device->rate);
	sim_time busy = begin > move ? begin : move;
	uint32_t stage =
		add_visit(operation, operation->hosts[STORAGE_TARGET],
			  (struct workload_visit){
				  .server = operation->device,
				  .busy = busy,
				  .latency = device->latency > busy ? device->latency : busy});

	wait_for_arrivals(operation, STORAGE_TARGET, stage);
	operation->stage[STORAGE_TARGET] = stage;
}

/* ---- all operations ---- */

struct draws {
	const struct storage *storage;
	const uint32_t *initiators, *targets;
	uint32_t initiator_count, target_count;
	/* servers by host; NONE: none yet */
	uint32_t *cores, *devices;
};

static uint32_t server_of(struct workload *workload, uint32_t *servers, uint32_t host,
			  uint32_t units, bool device)
{
	if (servers[host] == NONE) {
		servers[host] = workload->server_count++;
		workload->servers[servers[host]] = (struct workload_server){host, units, device};
	}
	return servers[host];
}

/* Returns the last flow of the operation. */
static uint32_t add_operation(struct workload *workload, struct draws *draws, struct random *random,
			      uint32_t initiator, uint32_t slot, uint32_t last)
{
	const struct storage_params *params = draws->storage->params;
	uint32_t cores = (uint32_t)draws->storage->cpu->cores;
	uint32_t target = draws->targets[random_below(random, draws->target_count)];
	uint64_t bytes = params->block_sizes.bytes[random_below(random, params->block_sizes.count)];
	uint32_t first = workload->count;
	struct storage_operation operation = {
		.workload = workload,
		.storage = draws->storage,
		.hosts = {initiator, target},
		.queue_pair = slot % (uint32_t)params->connections,
		.depth = (uint32_t)params->queue_depth,
		.write = !random_chance(random, params->read_fraction),
		.bytes = bytes,
		.stage = {last, NONE},
	};

	operation.cores[STORAGE_INITIATOR] =
		server_of(workload, draws->cores, initiator, cores, false);
	operation.cores[STORAGE_TARGET] = server_of(workload, draws->cores, target, cores, false);
	operation.device = server_of(workload, draws->devices, target, 1, true);
	storage_protocol_run(&operation);
	workload->visits[workload->flows[first].visit - 1].begins = true;
	workload->ios[workload->io_count++] = (struct workload_io){.first = first,
								   .last = workload->count - 1,
								   .target = target,
								   .bytes = (uint32_t)bytes,
								   .write = operation.write};
	assert(operation.stage[STORAGE_INITIATOR] == workload->count - 1);
	return workload->count - 1;
}

static void report_too_many(const struct draws *draws, char *error, size_t error_bytes)
{
	snprintf(error, error_bytes,
		 "storage.operations: %" PRIu64 " of %u initiators have more than %" PRIu64
		 " messages and steps; expected fewer operations",
		 draws->storage->params->operations, draws->initiator_count, FLOWS_MAX);
}

/* Adds the operations of an initiator. Each operation continues one of queue_depth chains. */
static bool add_initiator(struct workload *workload, struct draws *draws, uint32_t initiator,
			  uint64_t seed, char *error, size_t error_bytes)
{
	const struct storage_params *params = draws->storage->params;
	uint32_t depth = (uint32_t)params->queue_depth;
	uint32_t *last = malloc(depth * sizeof(last[0]));
	struct random random;
	char name[48];
	bool good = true;

	assert(last);
	for (uint32_t i = 0; i < depth; i++)
		last[i] = NONE;
	snprintf(name, sizeof(name), "workload.host%u", initiator);
	random_init_named(&random, seed, name, "storage");
	for (uint64_t i = 0; i < params->operations && good; i++) {
		uint32_t slot = (uint32_t)(i % depth);

		last[slot] = add_operation(workload, draws, &random, initiator, slot, last[slot]);
		good = workload->count < FLOWS_MAX;
	}
	free(last);
	if (!good)
		report_too_many(draws, error, error_bytes);
	return good;
}

static bool is_of(const uint32_t *hosts, uint32_t count, uint32_t host)
{
	for (uint32_t i = 0; i < count; i++)
		if (hosts[i] == host)
			return true;
	return false;
}

/* Lists the initiators and the targets. A host is not both. */
static void choose_hosts(struct draws *draws, uint32_t hosts, uint32_t target, uint32_t *room)
{
	const struct storage *storage = draws->storage;

	draws->targets = storage->targets;
	draws->target_count = storage->target_count;
	draws->initiators = storage->initiators;
	draws->initiator_count = storage->initiator_count;
	if (!draws->target_count && !draws->initiator_count) {
		room[0] = target;
		draws->targets = room++;
		draws->target_count = 1;
	}
	bool lacks_targets = !draws->target_count;
	uint32_t count = 0;

	if (draws->target_count && draws->initiator_count)
		return;
	for (uint32_t i = 0; i < hosts; i++)
		if (!is_of(lacks_targets ? draws->initiators : draws->targets,
			   lacks_targets ? draws->initiator_count : draws->target_count, i))
			room[count++] = i;
	if (lacks_targets) {
		draws->targets = room;
		draws->target_count = count;
	} else {
		draws->initiators = room;
		draws->initiator_count = count;
	}
}

static bool has_both(const struct draws *draws, uint32_t *both)
{
	for (uint32_t i = 0; i < draws->target_count; i++) {
		*both = draws->targets[i];
		if (is_of(draws->initiators, draws->initiator_count, *both))
			return true;
	}
	return false;
}

static bool check(const struct workload_params *params, const struct draws *draws, char *error,
		  size_t error_bytes)
{
	const struct param_sizes *sizes = &draws->storage->params->block_sizes;
	uint32_t both;

	if (params->phases > 1)
		snprintf(error, error_bytes,
			 "phases: %" PRIu64 " of pattern storage; expected 1, since operations "
			 "follow one another",
			 params->phases);
	else if (!sizes->count)
		snprintf(error, error_bytes,
			 "storage.block_sizes: no size; expected one at least, as in [4KiB]");
	else if (!draws->target_count || !draws->initiator_count)
		snprintf(error, error_bytes, "%s: no host is left; expected one at least",
			 draws->target_count ? "initiators" : "targets");
	else if (has_both(draws, &both))
		snprintf(error, error_bytes,
			 "targets: host %u is an initiator, too; expected hosts that are not",
			 both);
	else if (draws->storage->params->queue_depth > draws->storage->params->operations)
		snprintf(error, error_bytes,
			 "storage.queue_depth: %" PRIu64 " of %" PRIu64
			 " operations; expected no more than operations",
			 draws->storage->params->queue_depth, draws->storage->params->operations);
	else if (draws->storage->params->operations * draws->initiator_count * FLOWS_MIN >
		 FLOWS_MAX)
		report_too_many(draws, error, error_bytes);
	else
		return storage_protocol_check(draws->storage, error, error_bytes);
	return false;
}

bool storage_add(struct workload *workload, const struct workload_params *params,
		 const struct storage *storage, uint32_t target, uint64_t seed, char *error,
		 size_t error_bytes)
{
	uint32_t hosts = workload->hosts;
	uint32_t *room = malloc((3 * (size_t)hosts + 1) * sizeof(room[0]));
	struct draws draws = {.storage = storage};
	sim_time duration = storage->params->duration;
	bool good;

	assert(room);
	memset(room, 0xff, 2 * (size_t)hosts * sizeof(room[0])); /* NONE */
	draws.cores = room;
	draws.devices = room + hosts;
	choose_hosts(&draws, hosts, target, room + 2 * (size_t)hosts);
	good = check(params, &draws, error, error_bytes);
	if (good) {
		uint64_t ios = draws.initiator_count * storage->params->operations;

		workload->servers = calloc(2 * (size_t)hosts, sizeof(workload->servers[0]));
		workload->ios = calloc(ios < FLOWS_MAX ? ios : FLOWS_MAX, sizeof(workload->ios[0]));
		assert(workload->servers && workload->ios);
	}
	for (uint32_t i = 0; good && i < draws.initiator_count; i++)
		good = add_initiator(workload, &draws, draws.initiators[i], seed, error,
				     error_bytes);
	free(room);
	workload->parts[0].whole = true;
	if (duration)
		workload->parts[0].stop = params->start + duration;
	return good;
}

/* ---- uses ---- */

struct storage_use storage_use_of(const struct workload *workload, const struct workload_io *io)
{
	struct storage_use use = {0};

	for (uint32_t i = io->first; i <= io->last; i++) {
		const struct workload_flow *flow = &workload->flows[i];
		const struct workload_visit *visit =
			flow->visit ? &workload->visits[flow->visit - 1] : NULL;

		if (!visit) {
			use.messages++;
			use.message_bytes += flow->bytes;
		} else if (!workload->servers[visit->server].device) {
			if (flow->source == io->target)
				use.target_cpu += visit->busy;
			else
				use.initiator_cpu += visit->busy;
		}
	}
	return use;
}

/* Makes room for `more` elements behind `count` ones. */
static void *grow(void *list, size_t count, size_t more, size_t bytes)
{
	list = realloc(list, (count + more + 1) * bytes);
	assert(list);
	return list;
}

void workload_append_operations(struct workload *whole, const struct workload *from,
				const uint32_t *hosts, uint8_t part, uint32_t first_flow)
{
	if (!from->visit_count)
		return;
	whole->servers = grow(whole->servers, whole->server_count, from->server_count,
			      sizeof(whole->servers[0]));
	whole->visits = grow(whole->visits, whole->visit_count, from->visit_count,
			     sizeof(whole->visits[0]));
	whole->ios = grow(whole->ios, whole->io_count, from->io_count, sizeof(whole->ios[0]));
	for (uint32_t i = first_flow; i < whole->count; i++)
		if (whole->flows[i].visit)
			whole->flows[i].visit += whole->visit_count;
	for (uint32_t i = 0; i < from->visit_count; i++) {
		struct workload_visit visit = from->visits[i];

		visit.server += whole->server_count;
		whole->visits[whole->visit_count + i] = visit;
	}
	for (uint32_t i = 0; i < from->server_count; i++) {
		whole->servers[whole->server_count + i] = from->servers[i];
		whole->servers[whole->server_count + i].host = hosts[from->servers[i].host];
	}
	for (uint32_t i = 0; i < from->io_count; i++) {
		struct workload_io io = from->ios[i];

		io.first += first_flow;
		io.last += first_flow;
		io.target = hosts[io.target];
		io.part = part;
		whole->ios[whole->io_count + i] = io;
	}
	whole->visit_count += from->visit_count;
	whole->server_count += from->server_count;
	whole->io_count += from->io_count;
}

/* clang-format off */
#define STORAGE_ROW(...) PARAM_ROW(struct storage_params, __VA_ARGS__)
const struct param storage_param_list[] = { STORAGE_PARAMS(STORAGE_ROW) { 0 } };
#define DEVICE_ROW(...) PARAM_ROW(struct storage_device_params, __VA_ARGS__)
const struct param storage_device_param_list[] = { STORAGE_DEVICE_PARAMS(DEVICE_ROW) { 0 } };
#define CPU_ROW(...) PARAM_ROW(struct storage_cpu_params, __VA_ARGS__)
const struct param storage_cpu_param_list[] = { STORAGE_CPU_PARAMS(CPU_ROW) { 0 } };
