/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_down: determines whether the routes of a topology go up and then down, never up again. The
 * buffers of such routes form no cycle, with any VLs (dependency.h). The check reads each entry of
 * the tables once. A search of the buffers would follow each route.
 */
#ifndef FABRIC_UP_DOWN_H
#define FABRIC_UP_DOWN_H

#include "fabric/topology.h"

/* Returns true if no packet to a host goes up after it has gone down. Up is towards a lower rank,
 * or between equal ranks towards the switch that was added first. It includes all ports that a
 * switch may choose, but not multicast. Returns false also if only a switch that no packet reaches
 * leads up again. */
bool up_down_holds(const struct topology *topology);

#endif
