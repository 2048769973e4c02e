/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_backend: carries a workload on hosts of both fidelities, where each host has one kind of
 * adapter. A pair of hosts of one fidelity uses the backend of that fidelity. A mixed pair has one
 * end in each
 * backend:
 *
 *     host with a detailed HCA: detailed_backend has a queue pair, and a far end without one. The
 *     far end knows which buffer to write to, and which flow a PSN belongs to.
 *           ~~~ packets ~~~   <------ messages announced ------>
 *     host of fidelity endpoint: endpoint_backend has a queue pair, which is notified of messages
 *     like the far end.
 */
#ifndef TRAFFIC_LOAD_MIXED_BACKEND_H
#define TRAFFIC_LOAD_MIXED_BACKEND_H

#include "hca/endpoint/endpoint.h"
#include "traffic/load/detailed_backend.h"

/* Creates the backend. `hcas` has one entry per host, NULL for a host whose adapter belongs to
 * `load`. The HCAs and the load must outlive the backend. */
struct backend *mixed_backend_create(struct load *load, struct endpoint_hca *const *hcas,
				     uint32_t hosts);

#endif
