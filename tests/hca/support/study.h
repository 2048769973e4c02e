/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study: a small fabric of endpoint HCAs for tests and benchmarks: hosts around switches, flows
 * between them.
 */
#ifndef TESTS_HCA_SUPPORT_STUDY_H
#define TESTS_HCA_SUPPORT_STUDY_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fault.h"
#include "fabric/port_params.h"
#include "hca/endpoint/endpoint.h"
#include "switch/switch.h"

struct study {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct endpoint_params params;
	struct switch_params switch_params;
	struct congestion congestion;
	enum link_layer link_layer;
	struct fabric_switch **switches;
	struct endpoint_hca **hosts;
	unsigned switch_count, host_count;
	struct fault *fault; /* NULL: none; owned */
};

/* Parameters have their defaults, to be changed before hosts and switches are made. */
static inline void study_init(struct study *study, enum link_layer link_layer,
			      const char *algorithm, unsigned switches, unsigned hosts)
{
	char error[256];

	memset(study, 0, sizeof(*study));
	study->link_layer = link_layer;
	study->sim = sim_create(SIM_ENGINE_native, 1);
	study->pool = packet_pool_create();
	study->endpoints = endpoints_create();
	study->topology = topology_create(study->endpoints);
	params_default(endpoint_param_list, &study->params);
	switch_params_default(&study->switch_params);
	if (!congestion_init(&study->congestion, algorithm, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
	study->switches = calloc(switches + 1, sizeof(study->switches[0]));
	study->hosts = calloc(hosts + 1, sizeof(study->hosts[0]));
	assert(study->switches && study->hosts);
}

static inline void study_link(struct study *study, unsigned one, unsigned one_port, unsigned other,
			      unsigned other_port)
{
	char error[256];

	if (!topology_link(study->topology, one, one_port, other, other_port, LENGTH_OF_PARAMS,
			   RATE_OF_PARAMS, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
}

static inline unsigned study_add_switch(struct study *study, unsigned ports)
{
	char name[32];
	struct topology_switch ops;

	snprintf(name, sizeof(name), "switch%u", study->switch_count);
	study->switches[study->switch_count] = switch_create(
		study->sim, name, &study->switch_params, ports, study->link_layer, study->pool);
	ops = switch_topology(study->switches[study->switch_count++]);
	return topology_add_switch(study->topology, &ops);
}

/* Adds a host and returns its node in the topology. */
static inline unsigned study_add_host(struct study *study)
{
	unsigned index = study->host_count++;
	const uint8_t ip[4] = {10, (uint8_t)(index >> 16), (uint8_t)(index >> 8), (uint8_t)index};
	struct endpoint_hca *hca;
	char name[32];
	uint32_t number;

	snprintf(name, sizeof(name), "host%u", index);
	hca = endpoint_create(study->sim, name, &study->params, &study->switch_params.port,
			      study->link_layer, study->pool, &study->congestion);
	number = endpoints_add(study->endpoints, name, study->link_layer, ip);
	endpoint_attach(hca, study->endpoints, number);
	study->hosts[index] = hca;
	return topology_add_host(study->topology, endpoint_port(hca), number);
}

static inline void study_finish(struct study *study)
{
	char error[256];

	if (!topology_finish(study->topology, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		abort();
	}
}

/* Connects all hosts to one switch. */
static inline void study_star(struct study *study, unsigned hosts)
{
	unsigned sw = study_add_switch(study, hosts);

	for (unsigned i = 0; i < hosts; i++)
		study_link(study, study_add_host(study), 0, sw, i);
	study_finish(study);
}

/* Makes a fat tree. Switches have the order edge, aggregation (pod after pod), core. Half of the
 * ports of a switch go up. */
static inline void study_fat_tree(struct study *study, unsigned arity)
{
	unsigned half = arity / 2, edges = arity * half;

	for (unsigned i = 0; i < 2 * edges + half * half; i++)
		study_add_switch(study, arity);
	for (unsigned edge = 0; edge < edges; edge++) {
		unsigned pod = edge / half;

		for (unsigned i = 0; i < half; i++) {
			study_link(study, study_add_host(study), 0, edge, i);
			study_link(study, edge, half + i, edges + pod * half + i, edge % half);
			/* the aggregation switch of the same rank, and its share of the cores */
			study_link(study, edges + edge, half + i,
				   2 * edges + edge % half * half + i, pod);
		}
	}
	study_finish(study);
}

static inline void study_fini(struct study *study)
{
	for (unsigned i = 0; i < study->host_count; i++)
		endpoint_destroy(study->hosts[i]);
	for (unsigned i = 0; i < study->switch_count; i++)
		switch_destroy(study->switches[i]);
	if (study->fault)
		fault_destroy(study->fault);
	free(study->hosts);
	free(study->switches);
	topology_destroy(study->topology);
	endpoints_destroy(study->endpoints);
	packet_pool_destroy(study->pool);
	congestion_fini(&study->congestion);
	sim_destroy(study->sim);
}

/* One message. Its completion raises the count of the study. */
struct transfer {
	struct endpoint_message message; /* first */
	unsigned *done;
};

static inline void transfer_done(struct endpoint_message *message)
{
	++*((struct transfer *)(void *)message)->done;
}

static inline void transfer_post(struct transfer *transfer, struct endpoint_qp *qp,
				 enum endpoint_operation operation, uint64_t bytes, unsigned *done)
{
	memset(transfer, 0, sizeof(*transfer));
	transfer->message.bytes = bytes;
	transfer->message.operation = operation;
	transfer->message.done = transfer_done;
	transfer->done = done;
	endpoint_post(qp, &transfer->message);
}

/* Loses data packets that a host sends. */
static inline void study_lose(struct study *study, unsigned host, double probability)
{
	const struct fault_rule rule = {.action = FAULT_drop,
					.kind = PACKET_DATA,
					.opcode = FAULT_ANY_OPCODE,
					.probability = probability};

	if (!study->fault)
		study->fault = fault_create(study->sim, "fault");
	fault_add(study->fault, &rule);
	port_set_transmit_fault(endpoint_port(study->hosts[host]), study->fault);
}

#endif
