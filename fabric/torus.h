/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torus: positions of the switches of a torus, for routes in the order of dimensions (routes.c). A
 * dimension that the torus does not have has size 1.
 */
#ifndef FABRIC_TORUS_H
#define FABRIC_TORUS_H

#include "fabric/topology.h"

/* Computes one step: +1 or -1 in the first dimension that differs, in the shorter direction. If
 * both directions are equally short, the step is +1. */
void torus_next(const uint16_t sizes[TOPOLOGY_DIMENSIONS], const uint16_t from[],
		const uint16_t to[], uint16_t next[]);

bool torus_same(const uint16_t one[], const uint16_t other[]);

/* Returns the number of steps. */
uint32_t torus_distance(const uint16_t sizes[TOPOLOGY_DIMENSIONS], const uint16_t from[],
			const uint16_t to[]);

#endif
