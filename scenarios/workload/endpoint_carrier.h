/*
 * endpoint_carrier: carries a workload by HCAs of fidelity endpoint.
 */
#ifndef SCENARIOS_WORKLOAD_ENDPOINT_CARRIER_H
#define SCENARIOS_WORKLOAD_ENDPOINT_CARRIER_H

#include "hca/endpoint/endpoint.h"
#include "scenarios/workload/carrier.h"

/* hcas: one a host, in the workload's order; they and params, which say what hosts take, outlive it. */
struct carrier *endpoint_carrier_create(struct endpoint_hca *const *hcas, uint32_t hosts,
					const struct endpoint_params *params);

#endif
