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
#include "traffic/mpi/mpi_messages.h"

#define ENVELOPE_BYTES 16 /* that SMPI puts before a message */

struct mpi_world {
	struct mpi_messages *messages;
	struct backend *backend;
	struct scenario *scenario;
	struct build *build;
	struct result *result;
	struct ideal_routes *routes;
};

static void complain(const char *error)
{
	fprintf(stderr, "hcasim: %s\n", error);
}

/* Returns complete_latency. It is 0 for a detailed adapter, because the core of its host has
 * already polled. */
static sim_time complete_latency(void *context, uint32_t host)
{
	const struct mpi_world *world = context;
	const struct endpoint_device *device = world->scenario->hosts[host].endpoint;

	return device ? device->endpoint.complete_latency : 0;
}

static sim_time ideal(void *context, uint32_t source, uint32_t destination,
		      const struct backend_qp *qp, uint64_t bytes, unsigned *hops)
{
	const struct mpi_world *world = context;
	const struct port *port = build_host_port(world->build, source);
	const struct ideal_route route = ideal_routes_find(world->routes, source, destination);

	*hops = route.hops;
	return ideal_time(world->backend->ideal, (uint32_t)port_params(port)->mtu,
			  world->backend->ops->path(qp), &route, WORKLOAD_SEND, bytes);
}

bool mpi_world_send(struct mpi_world *world, sim_time now, uint32_t source, uint32_t destination,
		    uint64_t bytes, void *user)
{
	const char *trouble =
		mpi_messages_send(world->messages, now, source, destination, bytes, user);

	if (trouble)
		complain(trouble);
	return !trouble;
}

sim_time mpi_world_advance(struct mpi_world *world, sim_time until)
{
	return mpi_messages_advance(world->messages, until);
}

void *mpi_world_take(struct mpi_world *world, bool *failed)
{
	return mpi_messages_take(world->messages, failed);
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
		complain("HCASIM_MPI_SCENARIO is not set; run the program with hcasim mpi");
	yaml_errors_print(&errors, stderr);
	yaml_errors_free(&errors);
	return scenario;
}

static bool start_backend(struct mpi_world *world)
{
	const char *trouble;

	world->backend = build_backend(world->build);
	trouble = mpi_messages_start(world->messages, world->backend,
				     world->scenario->mpi.eager + ENVELOPE_BYTES);
	if (trouble)
		complain(trouble);
	return !trouble;
}

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
		world->messages = mpi_messages_create(&(struct mpi_messages_uses){
			.sim = world->build->sim,
			.service_level = (unsigned)world->scenario->mpi.service_level,
			.context = world,
			.complete_latency = complete_latency,
			.ideal = ideal,
		});
	world->result =
		world->build ? result_begin(world->build, &paths, error, sizeof(error)) : NULL;
	if (!world->result) {
		complain(error);
		return NULL;
	}
	world->routes = ideal_routes_create(world->build);
	return start_backend(world) ? world : NULL;
}

static void write_status(const struct mpi_world *world, sim_time now, unsigned wrong, bool deadlock)
{
	const struct mpi_messages_totals totals = mpi_messages_totals(world->messages);
	struct mpi_status status = {
		.messages = totals.count,
		.bytes = totals.bytes,
		.failed = totals.failed,
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
	char error[1024] = "";
	unsigned wrong;

	mpi_messages_reach(world->messages, now);
	mpi_messages_drain(world->messages);
	const struct mpi_messages_totals totals = mpi_messages_totals(world->messages);
	struct result_outcome outcome = {.records = totals.records, .record_count = totals.count};

	wrong = result_compare(world->build, stderr);
	violations_open(&outcome.violations);
	wrong += experiment_check_build(world->build, outcome.violations.out);
	violations_close(&outcome.violations, stderr);
	outcome.exit_code = wrong || deadlock || totals.failed > 0 ? 1 : 0;
	if (!result_finish(world->result, &outcome, error, sizeof(error))) {
		complain(error);
		wrong++;
	}
	result_outcome_fini(&outcome);
	write_status(world, now, wrong, deadlock);
	ideal_routes_destroy(world->routes);
	world->backend->ops->destroy(world->backend);
	mpi_messages_destroy(world->messages);
	build_destroy(world->build);
	scenario_destroy(world->scenario);
	free(world);
}
