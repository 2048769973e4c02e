/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid: rates of flows that share links, by SimGrid's network model CM02. At any time, each flow
 * has the largest share that reduces no smaller share of another flow (max-min fairness). This
 * header is the C side of the interface. fluid.cpp is the other side. It is a shared object that is
 * loaded on first use, because SimGrid needs 28 libraries.
 *
 *     flow_fabric --begin(), advance(), next()--> fluid ops --> SimGrid's engine
 *
 * CM02: Casanova and Marchal, A Network Model for Simulation of Grid Application, RR-LIP 2002-40.
 */
#ifndef FABRIC_FLOW_FLUID_H
#define FABRIC_FLOW_FLUID_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fluid;
struct fluid_flow;

struct fluid_ops {
	/* Creates the solver. A process has at most one. */
	struct fluid *(*create)(void);
	void (*destroy)(struct fluid *fluid); /* ends all flows */

	/* Adds a link and returns its number, from 0. Call this function before the first
	 * begin(). */
	uint32_t (*add_link)(struct fluid *fluid, uint64_t rate_bps);

	/* Begins a flow at the time of the last advance(). */
	struct fluid_flow *(*begin)(struct fluid *fluid, const uint32_t *links, uint32_t count,
				    uint64_t bytes, void *user);

	/* Returns the time at which the first flow ends if no other begins, or SIM_NEVER. */
	sim_time (*next)(struct fluid *fluid);

	/* Advances to a time that is not after next(). The caller then takes out the flows that
	 * have ended. */
	void (*advance)(struct fluid *fluid, sim_time to);

	/* Takes out the next flow that has ended, in the order of their ends, and returns its user.
	 * Returns NULL if none is left. */
	void *(*take_ended)(struct fluid *fluid);

	/* Returns the bytes that a running flow has carried. */
	double (*carried_bytes)(const struct fluid_flow *flow);
};

extern const struct fluid_ops fluid_ops; /* exported by the module */

#ifdef __cplusplus
}
#endif
#endif
