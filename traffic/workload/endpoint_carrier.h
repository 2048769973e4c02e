/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_carrier: carries a workload by HCAs of fidelity endpoint, and half of it where hosts have adapters of either fidelity
 * (traffic/load/mixed_carrier.h).
 */
#ifndef TRAFFIC_WORKLOAD_ENDPOINT_CARRIER_H
#define TRAFFIC_WORKLOAD_ENDPOINT_CARRIER_H

#include "hca/endpoint/endpoint.h"
#include "traffic/workload/arrivals.h"
#include "traffic/workload/carrier.h"

/* hcas: one a host, in the workload's order, NULL if it has another adapter; they and params, which say what hosts take, outlive it. */
struct carrier *endpoint_carrier_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params);

/* The queue pair here of a pair whose other end is another adapter; `arrivals` are told of what comes from there. */
struct carrier_qp *endpoint_carrier_open(struct carrier *carrier, const struct carrier_pair *pair,
					 uint16_t udp_source_port, struct arrival_book *arrivals);

/* The other queue pair's number, before the first message. */
void endpoint_carrier_connect(struct carrier_qp *qp, uint32_t number);

/* A message that such a queue pair asks for, to or from that place. */
void endpoint_carrier_ask(struct carrier *carrier, struct carrier_qp *qp, uint32_t flow,
			  enum workload_operation operation, uint64_t bytes, uint64_t address,
			  uint32_t key);

#endif
