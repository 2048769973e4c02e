/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_repeat: skips phases of a workload that repeat earlier phases. It is a part of flow_driver.
 *
 *     phase i ... | phase j ... | skipped phases | the last phases
 *        state of the run at both marks the same --> records of phases i to j, at later times
 *
 * The clock of the run does not advance over the skipped phases. At the end of the run,
 * flow_repeat_end() moves the times of the later flows.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_REPEAT_H
#define TRAFFIC_WORKLOAD_FLOW_REPEAT_H

#include "traffic/workload/flow_driver.h"

/* Stops the run (sim_stop()) each time that the start of the next phase becomes known. Returns
 * false for a workload whose phases cannot repeat, and writes the reason to *reason. */
bool flow_repeat_watch(struct flow_driver *driver, struct sim *sim, const char **reason);

void flow_repeat_unwatch(struct flow_driver *driver);

/* Returns the start of the next phase and writes its number, or returns SIM_NEVER if the start is
 * not known. The flows of the phase begin at that time, in events that are pending. */
sim_time flow_repeat_next(const struct flow_driver *driver, uint32_t *phase);

/* Reports that the caller has examined the start of the phase. */
void flow_repeat_passed(struct flow_driver *driver);

/* Returns the number of phases after `second` that can be skipped, which excludes the last one. */
uint32_t flow_repeat_left(const struct flow_driver *driver, uint32_t second);

/* Returns the mean time from post to completion of a phase's flows, in ps. */
double flow_repeat_mean_fct(const struct flow_driver *driver, uint32_t phase);

/* Skips phases from the next phase, `second`, on. The phases from `first` to `second` took
 * `period`, and all later phases are taken to repeat them. Skips whole periods, but never the last
 * phase. Returns the number of periods. Returns 0 and writes the reason to *reason if there is
 * none. */
uint32_t flow_repeat_skip(struct flow_driver *driver, uint32_t first, uint32_t second,
			  sim_time period, const char **reason);

/* Moves the times of flows after the skipped phases. Call it once, after the run. */
void flow_repeat_end(struct flow_driver *driver);

/* Returns bytes of the flow's queue pair in skipped phases. */
enum flow_repeat_kind { FLOW_REPEAT_ACKED, FLOW_REPEAT_ARRIVED, FLOW_REPEAT_KINDS };
uint64_t flow_repeat_bytes(const struct flow_driver *driver, uint32_t flow,
			   enum flow_repeat_kind kind);

/* Functions that the flow driver calls: when a barrier is reached, and to fold the state of its
 * blocks. */
void flow_repeat_reached(struct flow_driver *driver, uint32_t barrier, sim_time at);
void flow_repeat_fold(struct block *block, struct fold *fold);
void flow_repeat_fold_host(struct block *block, struct fold *fold);

#endif
