/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build: a scenario's hosts, switches and links as simulation objects, ready to run programs or to play.
 *
 *     struct scenario --build_create()--> sim, endpoints, switches,   session
 *                                         HCA and kernel per host <---'
 */
#ifndef HCASIM_BUILDER_BUILD_H
#define HCASIM_BUILDER_BUILD_H

#include "fabric/endpoints.h"
#include "fabric/flow/flow_fabric.h"
#include "fabric/port.h"
#include "hcasim/builder/lp_assignment.h"
#include "sim/parallel.h"
#include "sim/sim.h"

struct backend;
struct load;
struct reroute;

struct build {
	const struct scenario *scenario;
	struct sim *sim;
	const struct lp_assignment *assignment; /* NULL: the run is in one LP */
	struct packet_pool *pool;               /* of the first LP, stands for all */
	struct packet_pool *pools[SIM_LPS_MAX]; /* of each LP */
	struct endpoints *endpoints;
	struct session *session; /* NULL: no programs can run here */
	struct load *load;       /* or what carries messages on detailed adapters; NULL: neither */
	struct kernel **kernels; /* [host_count]; NULL: no programs on it */
	struct hca **hcas;       /* [host_count]; NULL: of fidelity endpoint */
	struct endpoint_hca **endpoint_hcas; /* [host_count]; NULL: of fidelity detailed */
	struct fabric_switch **switches;     /* [switch_count] */
	struct topology *topology;
	struct flow_fabric *flows;       /* NULL: the links carry packets */
	struct port **ports;             /* [port_count]: both ends of each link in turn */
	struct fault **faults;           /* of packets, one a side of a port that has some */
	struct port_fault **port_faults; /* one an entry of the scenario's list */
	struct reroute
		*reroutes[SIM_LPS_MAX];       /* of each LP; NULL: its switches keep their routes */
	struct group_changes **group_changes; /* one a group of multicast; NULL: its members stay */
	uint32_t port_count, fault_count, port_fault_count;
};

/* color and verbose: as session_create(). The scenario outlives it. NULL: *error says what does not fit together. */
struct build *build_create(const struct scenario *scenario, enum sim_engine engine, bool color,
			   bool verbose, char *error, size_t error_bytes);

/* For messages of whoever has no programs on simulated hosts (scenarios/mpi), on adapters of either fidelity. */
struct build *build_create_for_messages(const struct scenario *scenario, enum sim_engine engine,
					char *error, size_t error_bytes);

/* In LPs, a thread each; the assignment outlives it. Of a workload or load. */
struct build *build_create_parallel(const struct scenario *scenario,
				    const struct lp_assignment *assignment, char *error,
				    size_t error_bytes);
void build_destroy(struct build *build);

/* VLs and forwarding tables, on switches that are routed. false: *error, as of build_create(). build_vls.c */
bool build_vls(struct build *build, char *error, size_t error_bytes);

/* Groups of hosts, on switches that are routed. false: *error, as of build_create(). build_subnet.c */
bool build_subnet(struct build *build, char *error, size_t error_bytes);
void build_subnet_destroy(struct build *build);

/* What goes wrong, on links that are joined. false: *error, as of build_create(). build_faults.c */
bool build_faults(struct build *build, char *error, size_t error_bytes);
void build_faults_destroy(struct build *build);

/* May the packets that the scenario's hosts send wait for each other in a circle? If so, names the circle and what to do. */
bool build_may_deadlock(const struct build *build, char *error, size_t error_bytes);

/* The same, for a workload that does not say run: {deadlock: possible} or expected. */
bool build_refuses_deadlock(const struct build *build, char *error, size_t error_bytes);

/* Do links go down for switches to route around? Tables that the scenario itself gives stay as they are. */
bool build_reroutes(const struct scenario *scenario);

/* Before anything is built. */
sim_time build_link_latency(const struct scenario *scenario, uint32_t link);

/* Returns the rate of the link with that number, at its first end. */
uint64_t build_link_rate_bps(const struct scenario *scenario, uint32_t number);

/* Of messages between its hosts, of the fidelity, or fidelities, of their adapters. Once. */
struct backend *build_backend(const struct build *build);

struct port *build_host_port(const struct build *build, uint32_t host);

#endif
