/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal_routes: what the shortest route between two hosts of a built scenario is like when nobody else is there: for the ideal
 * time of a flow. Of several routes with the fewest links, the fastest counts, and then the one with the least latency; where
 * switches send packets of one flow by several links, only the hosts' own links limit it.
 */
#ifndef HCASIM_RUN_IDEAL_ROUTES_H
#define HCASIM_RUN_IDEAL_ROUTES_H

#include "hcasim/builder/build.h"
#include "traffic/workload/ideal.h"

struct ideal_routes;

struct ideal_routes *ideal_routes_create(const struct build *build); /* the build outlives it */
void ideal_routes_destroy(struct ideal_routes *routes);

/* A flow_driver_way_function, with the routes as its context. */
struct ideal_route ideal_routes_find(void *routes, uint32_t source, uint32_t destination);

#endif
