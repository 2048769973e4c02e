/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid: rates of flows that share links, by SimGrid's network model CM02: every flow has the greatest share that
 * leaves no other with less (max-min), at every moment. The C side of the border; fluid.cpp is the other one, a module
 * of its own that is loaded when first wanted, since SimGrid brings 28 libraries along.
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
	/* One a process at a time. */
	struct fluid *(*create)(void);
	void (*destroy)(struct fluid *fluid); /* ends all flows */

	/* Numbers count from 0. Before the first begin(). */
	uint32_t (*add_link)(struct fluid *fluid, uint64_t rate_bps);

	/* It begins now, which is the time of the last advance(). */
	struct fluid_flow *(*begin)(struct fluid *fluid, const uint32_t *links, uint32_t count,
				    uint64_t bytes, void *user);

	/* When the first flow ends if no other begins; SIM_NEVER: there is none. */
	sim_time (*next)(struct fluid *fluid);

	/* To that time, which is not beyond next(). Flows that have ended are to be taken out afterwards. */
	void (*advance)(struct fluid *fluid, sim_time to);

	/* The user of a flow that has ended, in the order in which they did, and it is gone; NULL: no more. */
	void *(*take_ended)(struct fluid *fluid);

	/* What has been carried of a flow that has not ended. */
	double (*carried_bytes)(const struct fluid_flow *flow);
};

extern const struct fluid_ops fluid_ops; /* the module's */

#ifdef __cplusplus
}
#endif
#endif
