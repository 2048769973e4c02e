/*
 * build: a scenario's hosts, switches and links as simulation objects, ready to run programs.
 *
 *     struct scenario --build_create()--> sim, endpoints, switches,   session
 *                                         HCA and kernel per host <---'
 */
#ifndef SCENARIOS_BUILD_H
#define SCENARIOS_BUILD_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "scenarios/scenario.h"
#include "sim/sim.h"

struct build {
	const struct scenario *scenario;
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct session *session;
	struct kernel **kernels;         /* [host_count] */
	struct hca **hcas;               /* [host_count] */
	struct fabric_switch **switches; /* [switch_count] */
	struct topology *topology;
	struct port **ports; /* [port_count]: both ends of each link in turn */
	struct fault **faults;
	uint32_t port_count, fault_count;
};

/* color and verbose: as session_create(). The scenario outlives it. NULL: *why says what does not fit together. */
struct build *build_create(const struct scenario *scenario, enum sim_kernel kernel, bool color,
			   bool verbose, char *why, size_t why_bytes);
void build_destroy(struct build *build);

#endif
