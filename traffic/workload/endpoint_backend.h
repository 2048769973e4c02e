/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_backend: carries a workload by HCAs of fidelity endpoint, and half of it where hosts have adapters of either fidelity
 * (traffic/load/mixed_backend.h).
 */
#ifndef TRAFFIC_WORKLOAD_ENDPOINT_BACKEND_H
#define TRAFFIC_WORKLOAD_ENDPOINT_BACKEND_H

#include "hca/endpoint/endpoint.h"
#include "traffic/workload/backend.h"
#include "traffic/workload/expected_queue.h"

/* hcas: one a host, in the workload's order, NULL if it has another adapter; they and params, which say what hosts take, outlive it. */
struct backend *endpoint_backend_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params);

/* The queue pair here of a pair whose other end is another adapter; `expected` are told of what comes from there. */
struct backend_qp *endpoint_backend_open(struct backend *backend, const struct backend_pair *pair,
					 uint16_t udp_source_port, struct expected_queue *expected);

/* The other queue pair's number, before the first message. */
void endpoint_backend_connect(struct backend_qp *qp, uint32_t number);

/* A message that such a queue pair asks for, to or from that place. */
void endpoint_backend_ask(struct backend *backend, struct backend_qp *qp, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes, uint64_t address,
			  uint32_t key);

#endif
