/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_adapter: connects a module that replaces the scheduler (scheduler_module.h). Only
 * scheduler.c calls these functions.
 */
#ifndef HCA_WORK_SCHEDULER_ADAPTER_H
#define HCA_WORK_SCHEDULER_ADAPTER_H

#include "hca/work/scheduler_module.h"

/* Creates the module. The scheduler's block, counters and gauges must outlive the adapter. The run
 * must use SystemC. */
struct scheduler_adapter *scheduler_adapter_create(struct scheduler *scheduler, struct block *block,
						   const struct scheduler_params *params,
						   struct scheduler_counters *count,
						   struct scheduler_gauges *gauge);
void scheduler_adapter_destroy(struct scheduler_adapter *adapter);
void scheduler_adapter_wake(struct scheduler_adapter *adapter, struct sched_entity *entity);
void scheduler_adapter_ready(struct scheduler_adapter *adapter, struct sched_entity *entity);
void scheduler_adapter_forget(struct scheduler_adapter *adapter, struct sched_entity *entity);
void scheduler_adapter_release(struct scheduler_adapter *adapter, uint32_t bytes);

/* scheduler.c */
bool scheduler_has_work(const struct scheduler *scheduler, const struct sched_entity *entity);
void scheduler_drain(const struct scheduler *scheduler, struct sched_entity *entity);
bool scheduler_has_context(struct scheduler *scheduler, struct sched_entity *entity);
struct scheduler_grant scheduler_take(struct scheduler *scheduler, uint32_t unit,
				      struct sched_entity *entity);

#endif
