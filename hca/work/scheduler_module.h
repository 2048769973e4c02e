/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_module: what a shared object offers that stands in the place of the QP scheduler: which entity has its grant, and
 * when, is the module's; what an entity may send, and its queue pair's context, are the adapter's.
 *
 *     doorbell, completer --scheduler_wake()--> adapter --wake()--> module --arbitrate_at()--> adapter --arbitrate()--> module
 *                                  requester, responder <-- adapter <--grant(), send()-- module
 *
 * Calls are made as those of hca/context/translation_module.h: `ahead` is how far the models' time is ahead of
 * sc_time_stamp(), and all times that a module names are absolute. Services other than arbitrate_at() are for inside of calls.
 */
#ifndef HCA_WORK_SCHEDULER_MODULE_H
#define HCA_WORK_SCHEDULER_MODULE_H

#include "hca/module/module.h"
#include "hca/work/scheduler.h"
#include "hca/work/scheduler_params.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scheduler_adapter; /* the adapter's side of one module */

struct sched_entity_view { /* what a module may know of an entity */
	uint32_t qpn;
	enum sched_entity_kind kind;
	bool has_work;
	bool gone; /* its queue pair is being destroyed */
};

struct scheduler_grant {
	uint32_t packets; /* 0: the entity is blocked */
	uint32_t bytes;   /* under way until release() */
	sim_time taken;   /* of the processing unit */
};

struct scheduler_services {
	struct sched_entity_view (*look)(const struct scheduler_adapter *adapter,
					 const struct sched_entity *entity);
	/* Is the queue pair's context at hand? If not, it is fetched, and ready() says when it is. */
	bool (*has_context)(struct scheduler_adapter *adapter, struct sched_entity *entity);
	/* Takes the entity's next segment of a message, on that processing unit. Behind it, send(): the bytes are gathered. */
	struct scheduler_grant (*grant)(struct scheduler_adapter *adapter, uint32_t unit,
					struct sched_entity *entity);
	void (*send)(struct scheduler_adapter *adapter, struct sched_entity *entity);
	/* One arbitration of each of params->processing_units at a time. */
	void (*arbitrate_at)(struct scheduler_adapter *adapter, uint32_t unit, sim_time at);
};

struct scheduler_setup {
	const char *name; /* of the block: "host0.hca.scheduler" */
	const struct scheduler_params *params;
	const struct scheduler_services *services;
	struct scheduler_adapter *adapter; /* for the services */
	/* The module counts idle and throttled, and keeps the gauges ring and inflight; the adapter all else. */
	struct scheduler_counters *counters;
	struct scheduler_gauges *gauges;
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Exported as hca_scheduler_module. */
struct scheduler_module {
	struct module_head head;
	/* Does it take these parameters? false: *error says which it does not. NULL: any. */
	bool (*accepts)(const struct scheduler_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct scheduler_setup *setup); /* NULL never */
	void (*destroy)(void *module);
	void (*wake)(void *module, struct sched_entity *entity,
		     sim_time ahead); /* it may have work now */
	void (*ready)(void *module, struct sched_entity *entity,
		      sim_time ahead); /* it may have grants again */
	void (*forget)(void *module, struct sched_entity *entity, sim_time ahead);
	void (*release)(void *module, uint32_t bytes, sim_time ahead);
	void (*arbitrate)(void *module, uint32_t unit, sim_time ahead);
	/* Names the signals that can be seen in a waveform; NULL: none. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
