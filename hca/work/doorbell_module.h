/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doorbell_module: the interface of the doorbell decoder. It converts stores to the UAR pages into
 * commands, and determines the time at which a command takes effect. The built-in decoder
 * (doorbell_decoder.c) and modules of shared objects implement the same table.
 *
 *     PCIe --> doorbell --store()--> decoder --execute()--> doorbell --> send queue, CQ
 *     doorbell --due()--> decoder     at the time that the decoder named by due_at()
 *
 * `now` is the time of the models. All times are absolute. A module with SystemC processes counts
 * delays from sc_time_stamp(), which may be earlier than `now`. Services may only be called inside
 * calls of the adapter.
 */
#ifndef HCA_WORK_DOORBELL_MODULE_H
#define HCA_WORK_DOORBELL_MODULE_H

#include "hca/module/module.h"
#include "hca/work/doorbell.h"
#include "hca/work/doorbell_params.h"

#ifdef __cplusplus
extern "C" {
#endif

struct doorbell_store {
	uint64_t offset; /* from the start of the UAR pages */
	uint32_t length;
	const uint8_t *bytes;
	sim_time stored_at; /* time of the core's store */
};

struct doorbell_command {
	bool is_arm;     /* arms a CQ; otherwise the doorbell of a send queue */
	uint32_t length; /* 8, or the bytes of the WQE that a doorbell carries */
	const uint8_t *bytes;
	sim_time stored_at; /* time of the core's store of the first of these bytes */
};

struct doorbell_services {
	/* Executes a command now. */
	void (*execute)(struct doorbell *doorbell, const struct doorbell_command *command);
	/* Calls due() at that time. One call at most is outstanding. */
	void (*due_at)(struct doorbell *doorbell, sim_time at);
	/* Presents the refused store again. */
	void (*resume)(struct doorbell *doorbell);
};

struct doorbell_setup {
	const char *name; /* name of the block: "host0.hca.doorbell" */
	const struct doorbell_params *params;
	const struct doorbell_services *services;
	struct doorbell *doorbell; /* argument of the services */
	/* The decoder counts doorbells, blueflame, arms and stalls, and counts stores to addresses
	 * without a register in `unknown`. It updates the gauges. */
	struct doorbell_counters *counters;
	struct doorbell_gauges *gauges;
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_doorbell_module. */
struct doorbell_module {
	struct module_head head;
	/* Returns true if the module supports these parameters. Otherwise writes the reason to
	 * `error`. NULL if the module supports all parameters. */
	bool (*accepts)(const struct doorbell_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct doorbell_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	/* Accepts a store that arrived. Returns false to leave it, and the stores behind it, in
	 * front of the decoder. A call of due() must then be outstanding. */
	bool (*store)(void *module, const struct doorbell_store *store, sim_time now);
	void (*due)(void *module, sim_time now);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

extern const struct doorbell_module doorbell_decoder; /* the built-in decoder */

#ifdef __cplusplus
}
#endif
#endif
