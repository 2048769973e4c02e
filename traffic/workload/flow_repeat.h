/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_repeat: the phases of a workload that repeat earlier ones and are not simulated. Part of the
 * flow driver.
 *
 *     phase i ... | phase j ... | skipped phases | the last phases
 *        state of the run at both marks the same --> records of phases i to j, at later times
 *
 * Behind the skipped phases the run goes on with its clock behind: at the end of the run
 * flow_repeat_end() moves the times of the later flows.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_REPEAT_H
#define TRAFFIC_WORKLOAD_FLOW_REPEAT_H

#include "traffic/workload/flow_driver.h"

/* Stops the run (sim_stop()) each time that the begin of the next phase becomes known. Returns
 * false for a workload whose phases cannot repeat, and the reason in *reason. */
bool flow_repeat_watch(struct flow_driver *driver, struct sim *sim, const char **reason);

void flow_repeat_unwatch(struct flow_driver *driver);

/* Returns the begin of the next phase and its number, or SIM_NEVER if it is not known. The flows
 * of the phase begin at that time, in events that are pending. */
sim_time flow_repeat_next(const struct flow_driver *driver, uint32_t *phase);

/* The begin was looked at. */
void flow_repeat_passed(struct flow_driver *driver);

/* Skips phases from `second`, the next one, on. The phases from `first` to `second` took `period`,
 * and all later ones are the same again. Whole periods are skipped, and the last phase never is.
 * Returns the number of periods, or 0 and the reason in *reason. */
uint32_t flow_repeat_skip(struct flow_driver *driver, uint32_t first, uint32_t second,
			  sim_time period, const char **reason);

/* Moves the times of flows behind the skipped ones. Call it once, after the run. */
void flow_repeat_end(struct flow_driver *driver);

/* Returns bytes of the flow's queue pair in skipped phases. */
enum flow_repeat_kind { FLOW_REPEAT_ACKED, FLOW_REPEAT_ARRIVED, FLOW_REPEAT_KINDS };
uint64_t flow_repeat_bytes(const struct flow_driver *driver, uint32_t flow,
			   enum flow_repeat_kind kind);

/* For the flow driver: a barrier is reached, and the blocks' states. */
void flow_repeat_reached(struct flow_driver *driver, uint32_t barrier, sim_time at);
void flow_repeat_fold(struct block *block, struct fold *fold);
void flow_repeat_fold_host(struct block *block, struct fold *fold);

#endif
