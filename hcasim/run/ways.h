/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ways: what the shortest way between two hosts of a built scenario is like when nobody else is there: for the ideal
 * time of a flow. Of several ways with the fewest links, the fastest counts, and then the one with the least latency; where
 * switches send packets of one flow by several links, only the hosts' own links limit it.
 */
#ifndef HCASIM_RUN_WAYS_H
#define HCASIM_RUN_WAYS_H

#include "hcasim/builder/build.h"
#include "traffic/workload/ideal.h"

struct ways;

struct ways *ways_create(const struct build *build); /* the build outlives it */
void ways_destroy(struct ways *ways);

/* A flow_driver_way_function, with the ways as its context. */
struct ideal_path ways_find(void *ways, uint32_t source, uint32_t destination);

#endif
