/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal_routes: properties of the shortest route between two hosts in an idle fabric, for the ideal
 * time of a flow. Among several routes with the fewest links it uses the fastest, then the one with
 * the lowest latency. If switches spread the packets of one flow over several links, only the
 * hosts' own links limit the rate.
 */
#ifndef HCASIM_RUN_IDEAL_ROUTES_H
#define HCASIM_RUN_IDEAL_ROUTES_H

#include "hcasim/builder/build.h"
#include "traffic/workload/ideal.h"

struct ideal_routes;

/* the build must outlive the routes */
struct ideal_routes *ideal_routes_create(const struct build *build);
void ideal_routes_destroy(struct ideal_routes *routes);

/* Returns the route between two hosts. Has the type flow_driver_route_function, with the routes as
 * context. */
struct ideal_route ideal_routes_find(void *routes, uint32_t source, uint32_t destination);

#endif
