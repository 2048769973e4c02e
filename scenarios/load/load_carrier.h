/*
 * load_carrier: carries a workload (scenarios/workload/carrier.h) by detailed HCAs. Each host has one processor core that does what
 * the driver and the program of it would: it builds WQEs, rings doorbells, polls CQEs, posts receive work requests again, and looks
 * at memory for what was written there, each at a cost (`cpu`).
 *
 *     build:  load_create_carrier() --> drivers and resolvers for the HCAs
 *     trial:  load_carrier() --> player
 */
#ifndef SCENARIOS_LOAD_LOAD_CARRIER_H
#define SCENARIOS_LOAD_LOAD_CARRIER_H

#include "fabric/wire/path.h"
#include "scenarios/load/load.h"
#include "scenarios/load/load_host_params.h"
#include "scenarios/workload/carrier.h"

/* For so many adapters, which are then made and joined as those of any load; there is no load to play. All is copied. */
struct load *load_create_carrier(const struct load_host_params *params, uint32_t nodes,
				 enum link_layer link_layer, struct sim *sim,
				 struct endpoints *endpoints);

/* The load's: there is one workload. */
struct carrier *load_carrier(struct load *load);

#endif
