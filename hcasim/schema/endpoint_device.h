/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_device: configuration of an HCA of fidelity `endpoint`: its transport, its port, and its
 * congestion control with the algorithm's parameters.
 *
 *     hca: {fidelity: endpoint, recovery: go_back_n, port: {rate: 40Gbps}, congestion: dcqcn-paper}
 *     hca: {fidelity: endpoint, transport: tcp, tcp: {mtu: 9000B}, congestion: cubic}
 *     hca: {fidelity: endpoint, congestion: {preset: dcqcn-paper, increase: 80Mbps}}
 */
#ifndef HCASIM_SCHEMA_ENDPOINT_DEVICE_H
#define HCASIM_SCHEMA_ENDPOINT_DEVICE_H

#include "fabric/port_params.h"
#include "hca/congestion/congestion.h"
#include "hca/endpoint/connection_params.h"
#include "hca/endpoint/endpoint_params.h"
#include "hca/endpoint/tcp_params.h"
#include "hcasim/schema/composite.h"

struct endpoint_device {
	struct endpoint_params endpoint; /* first member, for the composite's own list */
	struct port_params port;
	struct endpoint_tcp_params tcp;
	struct connection_cache_params cache;
	struct connection_memory_params memory;
	struct congestion_choice choice;
};

extern const struct param_section endpoint_device_sections[];
extern const struct composite_extra endpoint_device_extra; /* the key `congestion` */

void endpoint_device_destroy(struct endpoint_device *device); /* NULL: no effect */

#endif
