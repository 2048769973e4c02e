/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_world: see mpi_world.h. */
#include "hcasim/mpi/mpi_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/record/result.h"
#include "hcasim/run/ideal_routes.h"
#include "hcasim/schema/endpoint_device.h"
#include "sim/pool.h"
#include "traffic/workload/backend.h"

#define ENVELOPE_BYTES 16 /* that SMPI puts before a message */

struct connection {
	uint64_t key;          /* 0: free */
	struct backend_qp *qp; /* at the host with the lower number */
};

struct mpi_message {
	struct mpi_world *world;
	struct event event; /* the receiver's program sees it */
	struct mpi_message *next;
	void *user;
	uint32_t number; /* of its record */
	uint32_t undone,
		undelivered; /* of the pieces that it is cut into, by what its HCA can take */
	bool failed;
	bool seen; /* by the receiver's program; with all done it is free */
};

struct mpi_world {
	struct backend_user user; /* first */
	struct backend *backend;
	struct scenario *scenario;
	struct build *build;
	struct result *result;
	struct ideal_routes *routes;
	struct connection *connections; /* hash table, open addressing */
	uint64_t connection_mask, connection_count;
	struct flow_record *records;
	struct mpi_message **by_number; /* of those under way */
	uint32_t count, capacity;
	struct mpi_message *ended, **ended_last;
	struct pool pool;
	uint64_t bytes, failed;
	struct block block;
};

static void complain(const char *error)
{
	fprintf(stderr, "hcasim: %s\n", error);
}

/* ---- connections ---- */

static struct connection *find(struct mpi_world *world, uint64_t key)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 20 & world->connection_mask;

	while (world->connections[place].key && world->connections[place].key != key)
		place = (place + 1) & world->connection_mask;
	return &world->connections[place];
}

static void grow(struct mpi_world *world)
{
	struct connection *old = world->connections;
	uint64_t entries = old ? world->connection_mask + 1 : 0;

	world->connection_mask = entries ? 2 * entries - 1 : 255;
	world->connections = calloc(world->connection_mask + 1, sizeof(*world->connections));
	assert(world->connections);
	for (uint64_t i = 0; i < entries; i++)
		if (old[i].key)
			*find(world, old[i].key) = old[i];
	free(old);
}

/* The queue pair of the one host that is connected with the other. */
static struct backend_qp *open_connection(struct mpi_world *world, uint32_t source,
					  uint32_t destination)
{
	const struct backend_ops *ops = world->backend->ops;
	uint32_t low = source < destination ? source : destination,
		 high = source ^ destination ^ low;
	uint64_t key = ((uint64_t)low << 32 | high) + 1;
	struct connection *connection;

	if (2 * (world->connection_count + 1) > world->connection_mask)
		grow(world);
	connection = find(world, key);
	if (!connection->key) {
		connection->key = key;
		connection->qp = ops->connect_pair(
			world->backend,
			&(struct backend_pair){
				.source = low,
				.destination = high,
				.service_level = (unsigned)world->scenario->mpi.service_level});
		world->connection_count++;
	}
	return source == low ? connection->qp : ops->peer(connection->qp);
}

/* ---- one message ---- */

static void release(struct mpi_message *message)
{
	struct mpi_world *world = message->world;

	if (message->undone || !message->seen)
		return;
	world->by_number[message->number] = NULL;
	pool_give(&world->pool, message);
}

static void end(struct mpi_message *message)
{
	struct mpi_world *world = message->world;

	message->next = NULL;
	*world->ended_last = message;
	world->ended_last = &message->next;
	sim_stop(world->build->sim);
}

static void see(struct event *event)
{
	end(container_of(event, struct mpi_message, event));
}

/* A core of a detailed adapter's host has looked already. */
static sim_time complete_latency(const struct scenario_host *host)
{
	return host->endpoint ? host->endpoint->endpoint.complete_latency : 0;
}

static void delivered(struct backend_user *user, uint32_t flow)
{
	struct mpi_world *world = (struct mpi_world *)(void *)user;
	struct mpi_message *message = world->by_number[flow];
	struct flow_record *record = &world->records[flow];

	if (--message->undelivered)
		return;
	record->arrived = sim_now(world->build->sim);
	sim_schedule(&message->event,
		     complete_latency(&world->scenario->hosts[record->destination]));
}

static void add_report(void *context, uint32_t flow, const struct backend_report *report)
{
	const struct mpi_world *world = context;
	struct flow_record *record = &world->records[flow];

	if (!record->started)
		record->started = report->started_at;
	record->packets += report->packets_sent;
	record->retransmitted += report->packets_retransmitted;
}

static void done(struct backend_user *user, uint32_t flow, const struct backend_report *report)
{
	struct mpi_world *world = (struct mpi_world *)(void *)user;
	struct mpi_message *message = world->by_number[flow];
	struct flow_record *record = &world->records[flow];

	add_report(world, flow, report);
	message->failed |= report->failed;
	if (--message->undone)
		return;
	record->finished = sim_now(world->build->sim);
	record->status = message->failed ? FLOW_failed : FLOW_done;
	if (message->failed && !message->seen && !event_pending(&message->event)) {
		world->failed++;
		end(message);
	}
	release(message);
}

/* Sends alone are posted. */
static void ignore_read(struct backend_user *user, uint32_t flow)
{
	(void)user, (void)flow;
}

static uint32_t add_record(struct mpi_world *world, uint32_t source, uint32_t destination,
			   uint64_t bytes, const struct backend_qp *qp)
{
	const struct port *port = build_host_port(world->build, source);
	const struct ideal_route route = ideal_routes_find(world->routes, source, destination);
	uint32_t number = world->count++;

	if (number == world->capacity) {
		world->capacity = world->capacity ? 2 * world->capacity : 1024;
		world->records = realloc(world->records, world->capacity * sizeof(*world->records));
		world->by_number =
			realloc(world->by_number, world->capacity * sizeof(struct mpi_message *));
		assert(world->records && world->by_number);
	}
	world->records[number] = (struct flow_record){
		.flow = number,
		.source = source,
		.destination = destination,
		.operation = WORKLOAD_SEND,
		.hops = route.hops,
		.bytes = bytes,
		.ready = sim_now(world->build->sim),
		.ideal = ideal_time(world->backend->ideal, (uint32_t)port_params(port)->mtu,
				    world->backend->ops->path(qp), &route, WORKLOAD_SEND, bytes),
		.status = FLOW_under_way,
	};
	return number;
}

/* Seconds in doubles may lie a picosecond before the time that is reached already. A message that ends stops a run. */
static void reach(struct mpi_world *world, sim_time now)
{
	while (sim_now(world->build->sim) < now)
		sim_run(world->build->sim, now);
}

static void post(struct mpi_world *world, struct mpi_message *message, struct backend_qp *qp,
		 uint64_t bytes)
{
	uint64_t most = world->backend->message_max;

	message->undone = message->undelivered = (uint32_t)((bytes - 1) / most + 1);
	for (; bytes > 0; bytes -= bytes < most ? bytes : most)
		world->backend->ops->post(world->backend, qp, message->number, WORKLOAD_SEND,
					  bytes < most ? bytes : most);
}

bool mpi_world_send(struct mpi_world *world, sim_time now, uint32_t source, uint32_t destination,
		    uint64_t bytes, void *user)
{
	struct mpi_message *message;
	struct backend_qp *qp;
	const char *trouble;

	assert(source != destination && bytes > 0);
	reach(world, now);
	qp = open_connection(world, source, destination);
	trouble = world->backend->ops->trouble(world->backend);
	if (trouble) {
		complain(trouble);
		return false;
	}
	message = pool_take(&world->pool);
	*message = (struct mpi_message){
		.world = world,
		.user = user,
		.number = add_record(world, source, destination, bytes, qp),
	};
	world->by_number[message->number] = message;
	world->bytes += bytes;
	event_init(&message->event, &world->block, see);
	post(world, message, qp, bytes);
	return true;
}

sim_time mpi_world_advance(struct mpi_world *world, sim_time until)
{
	struct sim *sim = world->build->sim;

	if (world->ended)
		return sim_now(sim);
	if (until == SIM_NEVER && sim_next(sim) == SIM_NEVER)
		return SIM_NEVER;
	sim_run(sim, until);
	return world->ended || until != SIM_NEVER ? sim_now(sim) : SIM_NEVER;
}

void *mpi_world_take(struct mpi_world *world, bool *failed)
{
	struct mpi_message *message = world->ended;
	void *user;

	if (!message)
		return NULL;
	world->ended = message->next;
	if (!world->ended)
		world->ended_last = &world->ended;
	*failed = message->failed;
	user = message->user;
	message->seen = true;
	release(message);
	return user;
}

uint32_t mpi_world_hosts(const struct mpi_world *world)
{
	return world->scenario->host_count;
}

const char *mpi_world_host(const struct mpi_world *world, uint32_t host)
{
	return world->scenario->hosts[host].name;
}

/* ---- life ---- */

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static struct scenario *read_scenario(void)
{
	struct yaml_errors errors = {0};
	const char *file = variable("HCASIM_MPI_SCENARIO");
	struct scenario *scenario = file ? scenario_read(file, NULL, 0, &errors) : NULL;

	if (!file)
		complain("HCASIM_MPI_SCENARIO is not set; expected to be run by hcasim mpi");
	if (errors.text)
		fputs(errors.text, stderr);
	yaml_errors_free(&errors);
	return scenario;
}

/* Which connections there will be, and how long messages are, the program knows. */
static bool start_backend(struct mpi_world *world)
{
	const char *trouble;

	world->user = (struct backend_user){done, delivered, ignore_read, ignore_read};
	world->backend = build_backend(world->build);
	world->backend->user = &world->user;
	world->backend->ops->plan_any(world->backend, world->scenario->mpi.eager + ENVELOPE_BYTES);
	world->backend->ops->start(world->backend);
	trouble = world->backend->ops->trouble(world->backend);
	if (trouble)
		complain(trouble);
	return !trouble;
}

static const struct block_type world_type = {.name = "mpi_world"};

struct mpi_world *mpi_world_open(void)
{
	char error[1024] = "";
	enum sim_engine engine = SIM_ENGINE_native;
	const struct result_paths paths = {
		.folder = variable("HCASIM_MPI_OUT"),
		.packets = variable("HCASIM_MPI_PCAP"),
		.trace = variable("HCASIM_MPI_TRACE"),
		.counters = variable("HCASIM_MPI_COUNTERS"),
		.messages = true,
	};
	struct mpi_world *world = calloc(1, sizeof(*world));

	assert(world);
	if (variable("HCASIM_MPI_ENGINE"))
		sim_engine_from_name(variable("HCASIM_MPI_ENGINE"), &engine);
	world->scenario = read_scenario();
	if (!world->scenario)
		return NULL;
	world->build = build_create_for_messages(world->scenario, engine, error, sizeof(error));
	if (world->build)
		block_init(&world->block, world->build->sim, &world_type, "mpi", NULL, NULL);
	world->result =
		world->build ? result_begin(world->build, &paths, error, sizeof(error)) : NULL;
	if (!world->result) {
		complain(error);
		return NULL;
	}
	pool_init(&world->pool, sizeof(struct mpi_message), 0);
	world->routes = ideal_routes_create(world->build);
	world->ended_last = &world->ended;
	return start_backend(world) ? world : NULL;
}

static void write_status(const struct mpi_world *world, sim_time now, unsigned wrong, bool deadlock)
{
	struct mpi_status status = {
		.messages = world->count,
		.bytes = world->bytes,
		.failed = world->failed,
		.time = now,
		.wrong = wrong,
		.deadlock = deadlock,
	};
	const char *path = variable("HCASIM_MPI_STATUS");
	FILE *out = path ? fopen(path, "wb") : NULL;

	for (uint32_t i = 0; i < world->build->port_count; i++)
		status.packets += port_counters(world->build->ports[i])->packets_sent;
	if (!out || fwrite(&status, sizeof(status), 1, out) != 1)
		complain("the outcome cannot be written");
	if (out)
		fclose(out);
}

void mpi_world_close(struct mpi_world *world, sim_time now, bool deadlock)
{
	struct sim *sim = world->build->sim;
	char error[1024] = "";
	unsigned wrong;

	reach(world, now);
	while (world->pool.in_use > 0 &&
	       sim_next(sim) != SIM_NEVER) { /* ACKs, and what nobody waits for */
		bool failed;
		sim_run(sim, sim_next(sim) + 1);
		while (mpi_world_take(world, &failed))
			;
	}
	world->backend->ops->outstanding(world->backend, add_report, world);
	wrong = result_compare(world->build, stderr);
	struct result_outcome outcome = {
		.exit_code = wrong || deadlock || world->failed ? 1 : 0,
		.records = world->records,
		.record_count = world->count,
	};

	if (!result_finish(world->result, &outcome, error, sizeof(error))) {
		complain(error);
		wrong++;
	}
	write_status(world, now, wrong, deadlock);
	pool_fini(&world->pool);
	ideal_routes_destroy(world->routes);
	world->backend->ops->destroy(world->backend);
	block_fini(&world->block);
	build_destroy(world->build);
	scenario_destroy(world->scenario);
	free(world->connections);
	free(world->records);
	free(world->by_number);
	free(world);
}
