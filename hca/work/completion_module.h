/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_module: the interface of the CQE pipeline, which determines the order and times of
 * CQEs. The adapter manages the CQ's context, free entries, compression and the write itself. The
 * built-in pipeline (completion_pipeline.c) and modules of shared objects implement the same table.
 *
 *     completion_write() --push()--> pipeline --grant(), put()--> completion.c --> PCIe
 *     completion.c --due()--> pipeline     at the time that the pipeline named by due_at()
 *
 * `now` is the time of the models. All times are absolute. A module with SystemC processes counts
 * delays from sc_time_stamp(), which may be earlier than `now`. Services may only be called inside
 * calls of the adapter.
 */
#ifndef HCA_WORK_COMPLETION_MODULE_H
#define HCA_WORK_COMPLETION_MODULE_H

#include "hca/module/module.h"
#include "hca/work/completion.h"
#include "hca/work/completion_params.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CQE in the pipeline. The CQEs of one CQ must leave in their order of arrival. */
struct cqe_entry {
	uint32_t cqn, qpn;
	bool failed; /* the work request ended with an error */
	/* The pipeline may use both until put(). */
	struct cqe_entry *next;
	sim_time due;
};

struct completion_services {
	/* Calls due() at that time. One call at most is outstanding. */
	void (*due_at)(struct completion_writer *writer, sim_time at);
	/* Takes the next grant to write to host memory, once for each entry. Returns the earliest
	 * time at which the entry may be put. */
	sim_time (*grant)(struct completion_writer *writer, struct cqe_entry *entry);
	/* The entry leaves the pipeline now. */
	void (*put)(struct completion_writer *writer, struct cqe_entry *entry);
};

struct completion_setup {
	const char *name; /* name of the block: "host0.hca.completion" */
	const struct completion_params *params;
	const struct completion_services *services;
	struct completion_writer *writer; /* argument of the services */
	struct gauge *gauge;              /* gauge `writer`, which the pipeline updates */
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_completion_module. */
struct completion_module {
	struct module_head head;
	/* Returns true if the module supports these parameters. Otherwise writes the reason to
	 * `error`. NULL if the module supports all parameters. */
	bool (*accepts)(const struct completion_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct completion_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	void (*push)(void *module, struct cqe_entry *entry, sim_time now);
	void (*due)(void *module, sim_time now);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

extern const struct completion_module completion_pipeline; /* the built-in pipeline */

#ifdef __cplusplus
}
#endif
#endif
