/* SPDX-License-Identifier: Apache-2.0 */
/* servers: see servers.h. */
#include "traffic/workload/servers.h"

#include <assert.h>
#include <stdlib.h>

struct servers {
	const struct workload *workload;
	sim_time **free_at; /* [servers][units] */
};

struct servers *servers_create(const struct workload *workload)
{
	struct servers *servers;

	if (!workload->server_count)
		return NULL;
	servers = calloc(1, sizeof(*servers));
	assert(servers);
	servers->workload = workload;
	servers->free_at = calloc(workload->server_count, sizeof(servers->free_at[0]));
	assert(servers->free_at);
	for (uint32_t i = 0; i < workload->server_count; i++) {
		servers->free_at[i] =
			calloc(workload->servers[i].units, sizeof(servers->free_at[i][0]));
		assert(servers->free_at[i]);
	}
	return servers;
}

void servers_destroy(struct servers *servers)
{
	if (!servers)
		return;
	for (uint32_t i = 0; i < servers->workload->server_count; i++)
		free(servers->free_at[i]);
	free(servers->free_at);
	free(servers);
}

sim_time servers_visit(struct servers *servers, const struct workload_visit *visit, sim_time now)
{
	sim_time *units = servers->free_at[visit->server], *unit = units, begin;

	for (uint32_t i = 1; i < servers->workload->servers[visit->server].units; i++)
		if (units[i] < *unit)
			unit = &units[i];
	begin = *unit > now ? *unit : now;
	*unit = begin + visit->busy;
	return begin + visit->latency;
}
