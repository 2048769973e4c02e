/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detailed_backend: carries a workload (traffic/workload/backend.h) on detailed HCAs. The processor
 * cores of each host do the work of driver and program. They build WQEs, ring doorbells, poll CQEs,
 * repost receive work requests, and poll memory for written data. Each action has a cost (`cpu`).
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

/* Creates the host side of `nodes` adapters that carry a workload. The caller then creates,
 * attaches and connects the adapters as for load_create(). The load itself generates no traffic.
 * Copies `params`. */
struct load *detailed_backend_create(const struct load_host_params *params, uint32_t nodes,
				     enum link_layer link_layer, struct sim *sim,
				     struct endpoints *endpoints);

/* Returns the backend of the load, which owns it. A load has one workload. */
struct backend *detailed_backend(struct load *load);

/* ---- together with adapters of fidelity endpoint at other hosts: mixed_backend.h ---- */

/* Marks a host whose adapter has fidelity endpoint. `sim` is the LP of the run that simulates the
 * host. */
void load_set_far(struct load *load, uint32_t host, struct sim *sim);

/* Connects a pair in which exactly one host has a detailed HCA. `number` is the queue pair number
 * at the other host. Returns the end at the detailed HCA. Sets two values of the other backend: the
 * UDP source port of the path, and the queue that is notified of messages to the other end. */
struct backend_qp *detailed_backend_connect_far(struct backend *backend,
						const struct backend_pair *pair, uint32_t number,
						uint16_t *udp_source_port,
						struct expected_queue **expected);

/* Announces a message that the other end requests. Call it within an event of the other end's
 * host. */
void detailed_backend_announce(const struct backend_qp *qp, uint32_t flow,
			       enum workload_operation operation, uint64_t bytes);

/* Buffer that the other end writes to and reads from. The result is valid after start(). */
struct load_place {
	uint32_t number, key;
	uint64_t address;
};
struct load_place detailed_backend_place(const struct backend_qp *qp);

#endif
