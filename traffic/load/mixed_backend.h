/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_backend: carries a workload by adapters of both fidelities, each host having one or the other. Between adapters of one
 * fidelity it is their backend's; of a pair of both, each backend has an end:
 *
 *     host with a detailed HCA  detailed_backend: a queue pair, and a far end without     ~~~ packets ~~~  endpoint_backend: a queue pair
 *                               where to write to, which flow a PSN is of  <------ told ------>        that is told, like the far end
 */
#ifndef TRAFFIC_LOAD_MIXED_BACKEND_H
#define TRAFFIC_LOAD_MIXED_BACKEND_H

#include "hca/endpoint/endpoint.h"
#include "traffic/load/detailed_backend.h"

/* hcas: one a host, NULL if it has one of the load's; they and the load outlive it. */
struct backend *mixed_backend_create(struct load *load, struct endpoint_hca *const *hcas,
				     uint32_t hosts);

#endif
