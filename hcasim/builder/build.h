/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build: creates a scenario's hosts, switches and links as simulation objects.
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
	const struct lp_assignment *assignment; /* NULL: the run has one LP */
	struct packet_pool *pool;               /* pool of the first LP */
	struct packet_pool *pools[SIM_LPS_MAX]; /* pool of each LP */
	struct endpoints *endpoints;
	struct session *session; /* NULL: no programs can run */
	/* the scenario's load, or the host side of a workload on detailed adapters; NULL:
	 * neither */
	struct load *load;
	struct kernel **kernels;             /* [host_count]; NULL: no programs run on this host */
	struct hca **hcas;                   /* [host_count]; NULL: adapter of fidelity endpoint */
	struct endpoint_hca **endpoint_hcas; /* [host_count]; NULL: adapter of fidelity detailed */
	struct fabric_switch **switches;     /* [switch_count] */
	struct topology *topology;
	struct flow_fabric *flows;       /* NULL: links carry packets */
	struct port **ports;             /* [port_count]: the two ends of each link, in turn */
	struct fault **faults;           /* faults of packets: one per side of a port with faults */
	struct port_fault **port_faults; /* faults of ports: one per entry of the scenario's list */
	struct reroute
		*reroutes[SIM_LPS_MAX]; /* one per LP; NULL: its switches keep their routes */
	/* one per multicast group; NULL: members do not change */
	struct group_changes **group_changes;
	uint32_t port_count, fault_count, port_fault_count;
};

/* Creates all objects of a scenario. `color` and `verbose` are as for session_create(). The
 * scenario must outlive the build. Returns NULL and writes the reason to *error on failure. */
struct build *build_create(const struct scenario *scenario, enum sim_engine engine, bool color,
			   bool verbose, char *error, size_t error_bytes);

/* Creates a build whose user sends messages directly, without simulated programs (hcasim/mpi).
 * Adapters may have either fidelity. */
struct build *build_create_for_messages(const struct scenario *scenario, enum sim_engine engine,
					char *error, size_t error_bytes);

/* Creates a build that runs in several LPs, each with its own thread. The scenario must have a
 * workload or load. `assignment` must outlive the build. */
struct build *build_create_parallel(const struct scenario *scenario,
				    const struct lp_assignment *assignment, char *error,
				    size_t error_bytes);
void build_destroy(struct build *build);

/* Sets up VLs and forwarding tables on routed switches. Returns false and writes the reason to
 * *error on failure. build_vls.c */
bool build_vls(struct build *build, char *error, size_t error_bytes);

/* Sets up multicast groups and partitions on routed switches. Returns false and writes the reason
 * to *error on failure. build_subnet.c */
bool build_subnet(struct build *build, char *error, size_t error_bytes);
void build_subnet_destroy(struct build *build);

/* Sets up mirrors of ports. Returns false and writes the reason to *error on failure.
 * build_mirrors.c */
bool build_mirrors(struct build *build, char *error, size_t error_bytes);

/* Creates the faults of connected links. Returns false and writes the reason to *error on failure.
 * build_faults.c */
bool build_faults(struct build *build, char *error, size_t error_bytes);
void build_faults_destroy(struct build *build);

/* Returns true if packets of the scenario's hosts can form a cycle of buffer dependencies. Writes
 * the cycle and a suggestion to *error in this case. */
bool build_may_deadlock(const struct build *build, char *error, size_t error_bytes);

/* Returns true if the scenario must be refused because of a possible deadlock. A workload with run:
 * {deadlock: possible} or expected is never refused. */
bool build_refuses_deadlock(const struct build *build, char *error, size_t error_bytes);

/* Returns true if switches must react to links that go down. Forwarding tables of the scenario do
 * not change. */
bool build_reroutes(const struct scenario *scenario);

/* Returns the latency of a link. The build need not exist. */
sim_time build_link_latency(const struct scenario *scenario, uint32_t link);

/* Returns the rate of the link with that number, at its first end. */
uint64_t build_link_rate_bps(const struct scenario *scenario, uint32_t number);

/* Creates the backend for messages between the hosts, for the fidelities of their adapters. Call it
 * once. */
struct backend *build_backend(const struct build *build);

struct port *build_host_port(const struct build *build, uint32_t host);

#endif
