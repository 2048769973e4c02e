/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detailed_backend: carries a workload (traffic/workload/backend.h) by detailed HCAs. Each host has processor cores that do what
 * the driver and the program of it would: they build WQEs, ring doorbells, poll CQEs, post receive work requests again, and look
 * at memory for what was written there, each at a cost (`cpu`).
 *
 *     build:  detailed_backend_create() --> drivers and address resolvers for the HCAs
 *     experiment:  detailed_backend() --> flow driver
 */
#ifndef TRAFFIC_LOAD_DETAILED_BACKEND_H
#define TRAFFIC_LOAD_DETAILED_BACKEND_H

#include "fabric/wire/path.h"
#include "traffic/load/load.h"
#include "traffic/load/load_host_params.h"
#include "traffic/workload/backend.h"
#include "traffic/workload/expected_queue.h"

/* For so many adapters, which are then made and joined as those of any load; there is no load to play. All is copied. */
struct load *detailed_backend_create(const struct load_host_params *params, uint32_t nodes,
				     enum link_layer link_layer, struct sim *sim,
				     struct endpoints *endpoints);

/* The load's: there is one workload. */
struct backend *detailed_backend(struct load *load);

/* ---- with adapters of fidelity endpoint at other hosts: mixed_backend.h ---- */

/* A host that has one, in that part of the run. */
void load_set_far(struct load *load, uint32_t host, struct sim *sim);

/* One of the two is far, and has a queue pair of that number. Returned: the end here, then all that the other backend has to know:
 * the way there, and what is told to the end there. */
struct backend_qp *detailed_backend_connect_far(struct backend *backend,
						const struct backend_pair *pair, uint32_t number,
						uint16_t *udp_source_port,
						struct expected_queue **expected);

/* A message that the far end asks for, within an event there. */
void detailed_backend_tell(const struct backend_qp *qp, uint32_t flow,
			   enum workload_operation operation, uint64_t bytes);

/* Where the far end writes to and reads from, from start() on. */
struct load_place {
	uint32_t number, key;
	uint64_t address;
};
struct load_place detailed_backend_place(const struct backend_qp *qp);

#endif
