/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connections: two hosts with one cable, whose endpoint adapters count the memory of connections
 * and cache their contexts.
 */
#ifndef TESTS_HCA_SUPPORT_CONNECTIONS_H
#define TESTS_HCA_SUPPORT_CONNECTIONS_H

#include "tests/hca/support/study.h"

struct connections {
	struct endpoint_tcp_params tcp;
	struct connection_memory_params memory;
	struct connection_cache_params cache;
};

/* Sets the defaults of all parameters. A test then changes some of them. */
static inline void connections_init(struct connections *connections, struct study *study,
				    enum endpoint_transport transport)
{
	study_init(study, LINK_ETHERNET, transport == ENDPOINT_RDMA ? "none" : "newreno", 1, 32);
	study->params.transport = transport;
	params_default(endpoint_tcp_param_list, &connections->tcp);
	params_default(connection_memory_param_list, &connections->memory);
	params_default(connection_cache_param_list, &connections->cache);
}

/* Makes the hosts and the cable. */
static inline void connections_finish(const struct connections *connections, struct study *study)
{
	study_add_host(study);
	study_add_host(study);
	study_link(study, 0, 0, 1, 0);
	study_finish(study);
	for (unsigned i = 0; i < study->host_count; i++) {
		endpoint_set_tcp(study->hosts[i], &connections->tcp);
		endpoint_set_iwarp(study->hosts[i]);
		endpoint_set_connections(study->hosts[i], &connections->memory,
					 &connections->cache);
	}
}

#endif
