/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_backend: carries a workload on HCAs of fidelity endpoint. On hosts of both fidelities it
 * carries one side of the workload (traffic/load/mixed_backend.h).
 */
#ifndef TRAFFIC_WORKLOAD_ENDPOINT_BACKEND_H
#define TRAFFIC_WORKLOAD_ENDPOINT_BACKEND_H

#include "hca/endpoint/endpoint.h"
#include "traffic/workload/backend.h"
#include "traffic/workload/expected_queue.h"

/* Creates the backend. `hcas` has one entry per host in the workload's order, NULL for a host with
 * another adapter. `params` has the host latencies. HCAs and params must outlive the backend. */
struct backend *endpoint_backend_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params);

/* Opens the queue pair at this side of a pair whose other end is another kind of adapter.
 * `expected` is notified of the messages that the other end posts. */
struct backend_qp *endpoint_backend_open(struct backend *backend, const struct backend_pair *pair,
					 uint16_t udp_source_port, struct expected_queue *expected);

/* Sets the number of the other queue pair. Call it before the first message. */
void endpoint_backend_connect(struct backend_qp *qp, uint32_t number);

/* Posts a message on a queue pair of endpoint_backend_open(), to or from `address` with `key`. */
void endpoint_backend_ask(struct backend *backend, struct backend_qp *qp, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes, uint64_t address,
			  uint32_t key);

#endif
