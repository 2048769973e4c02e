/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler_module: the interface of a shared object that replaces the QP scheduler. The module
 * decides which entity gets a grant, and when. The adapter determines the data that an entity may
 * send, and manages contexts of queue pairs.
 *
 *     doorbell, completer --scheduler_wake()--> adapter --wake(), arbitrate()--> module
 *                                               adapter <-----arbitrate_at()---- module
 *     requester, responder <------------------- adapter <---grant(), gather()--- module
 *
 * Calls follow the rules of hca/context/translation_module.h: `ahead` is the time by which the
 * models are ahead of sc_time_stamp(). All times from a module are absolute. Services other than
 * arbitrate_at() may only be called inside calls of the adapter.
 */
#ifndef HCA_WORK_SCHEDULER_MODULE_H
#define HCA_WORK_SCHEDULER_MODULE_H

#include "hca/module/module.h"
#include "hca/work/scheduler.h"
#include "hca/work/scheduler_params.h"

#ifdef __cplusplus
extern "C" {
#endif

struct scheduler_adapter; /* one instance per module */

/* The adapter uses only `away` of an entity, and `next` while the entity is away. A module may use
 * `next` and `in_ring` of other entities for its own rings. */
struct sched_entity_view { /* the properties of an entity that a module sees */
	uint32_t qpn;
	enum sched_entity_kind kind;
	bool has_work;
	bool gone; /* the queue pair is being destroyed */
};

struct scheduler_grant {
	uint32_t packets; /* 0 if the entity is blocked */
	uint32_t bytes;   /* in flight until release() */
	sim_time taken;   /* time that the processing unit is occupied */
};

struct scheduler_services {
	sim_time (*now)(const struct scheduler_adapter *adapter);
	struct sched_entity_view (*look)(const struct scheduler_adapter *adapter,
					 const struct sched_entity *entity);
	/* Returns true if the queue pair's context is cached. Otherwise the adapter fetches it and
	 * calls ready(). */
	bool (*has_context)(struct scheduler_adapter *adapter, struct sched_entity *entity);
	/* Takes the entity's next segment of a message on processing unit `unit`. The module must
	 * call gather() next, which reads the bytes. */
	struct scheduler_grant (*grant)(struct scheduler_adapter *adapter, uint32_t unit,
					struct sched_entity *entity);
	void (*gather)(struct scheduler_adapter *adapter, struct sched_entity *entity);
	/* Schedules arbitrate(). At most one arbitration per unit, of params->processing_units, is
	 * outstanding. */
	void (*arbitrate_at)(struct scheduler_adapter *adapter, uint32_t unit, sim_time at);
};

struct scheduler_setup {
	const char *name; /* name of the block: "host0.hca.scheduler" */
	const struct scheduler_params *params;
	const struct scheduler_services *services;
	struct scheduler_adapter *adapter; /* argument of the services */
	/* The module counts idle and throttled, and updates the gauges ring and inflight. The
	 * adapter updates the rest. */
	struct scheduler_counters *counters;
	struct scheduler_gauges *gauges;
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_scheduler_module. */
struct scheduler_module {
	struct module_head head;
	/* Returns false if the module does not support these parameters, and writes the reason to
	 * *error. NULL if it supports all. */
	bool (*accepts)(const struct scheduler_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct scheduler_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	void (*wake)(void *module, struct sched_entity *entity,
		     sim_time ahead); /* the entity may have work now */
	void (*ready)(void *module, struct sched_entity *entity,
		      sim_time ahead); /* the entity may have grants again */
	void (*forget)(void *module, struct sched_entity *entity, sim_time ahead);
	void (*release)(void *module, uint32_t bytes, sim_time ahead);
	void (*arbitrate)(void *module, uint32_t unit, sim_time ahead);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
