/* SPDX-License-Identifier: Apache-2.0 */
/* servers: see servers.h. */
#include "traffic/workload/servers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct server {
	struct block block;
	struct operation_server_counters count;
	struct operation_server_gauges gauge;
	sim_time *free_at; /* [units] */
};

struct servers {
	const struct workload *workload;
	struct server *list; /* [workload->server_count] */
};

/* clang-format off */
static const struct block_type server_type = {
	.name     = "operation_server",
	.counters = (const struct counter[]){OPERATION_SERVER_COUNTERS(COUNTER_ENTRY) {0}},
	.gauges   = (const struct gauge_info[]){OPERATION_SERVER_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

sim_time servers_visit(struct servers *servers, const struct workload_visit *visit, sim_time now)
{
	struct server *server = &servers->list[visit->server];
	sim_time *unit = server->free_at, begin;

	for (uint32_t i = 1; i < servers->workload->servers[visit->server].units; i++)
		if (server->free_at[i] < *unit)
			unit = &server->free_at[i];
	begin = *unit > now ? *unit : now;
	*unit = begin + visit->busy;
	server->count.visits++;
	server->count.waits += begin > now;
	gauge_serve(&server->gauge.units, begin, visit->busy);
	return begin + visit->latency;
}

/* Numbers the servers of a host that several workloads have. */
static void init(struct servers *servers, uint32_t number, struct sim *sim)
{
	struct server *server = &servers->list[number];
	const struct workload_server *of = &servers->workload->servers[number];
	char name[64], which[16] = "";
	uint32_t same = 0;

	for (uint32_t i = 0; i < number && servers->workload->part_count > 1; i++)
		same += servers->workload->servers[i].host == of->host &&
			servers->workload->servers[i].device == of->device;
	if (same)
		snprintf(which, sizeof(which), "%u", same);
	snprintf(name, sizeof(name), "workload.%u.%s%s", of->host, of->device ? "device" : "cores",
		 which);
	block_init(&server->block, sim, &server_type, name, NULL, (uint64_t *)&server->count);
	block_gauges(&server->block, (struct gauge *)&server->gauge);
	server->gauge.units.capacity = of->units;
	server->free_at = calloc(of->units, sizeof(server->free_at[0]));
	assert(server->free_at);
}

struct servers *servers_create(const struct workload *workload, struct sim *const *sims)
{
	struct servers *servers;

	if (!workload->server_count)
		return NULL;
	servers = calloc(1, sizeof(*servers));
	assert(servers);
	servers->workload = workload;
	servers->list = calloc(workload->server_count, sizeof(servers->list[0]));
	assert(servers->list);
	for (uint32_t i = 0; i < workload->server_count; i++)
		init(servers, i, sims[workload->servers[i].host]);
	return servers;
}

void servers_destroy(struct servers *servers)
{
	if (!servers)
		return;
	for (uint32_t i = 0; i < servers->workload->server_count; i++) {
		block_fini(&servers->list[i].block);
		free(servers->list[i].free_at);
	}
	free(servers->list);
	free(servers);
}
