/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_module: the interface of a shared object that replaces the translation unit. The
 * module simulates the caches, the misses and their times. The adapter evaluates the entry of a
 * region: the checks of IBTA and the host address.
 *
 *     DMA engine --translation_start()--> adapter --request()--> module
 *     DMA engine <----done()----- adapter <--respond()-- module
 *           PCIe <--pcie_read()-- adapter <---fetch()--- module, and fetched() when it is back
 *
 * The adapter calls all functions of the table with the run's SystemC context as the current
 * context. `ahead` is the time by which the models are ahead of sc_time_stamp(). A module may call
 * the services inside such a call, or later from its own process. All times are absolute. The
 * adapter calls invalidate() also while no simulation runs. It makes all other calls in events.
 */
#ifndef HCA_CONTEXT_TRANSLATION_MODULE_H
#define HCA_CONTEXT_TRANSLATION_MODULE_H

#include "hca/context/translation.h"
#include "hca/context/translation_params.h"
#include "hca/module/module.h"

#ifdef __cplusplus
extern "C" {
#endif

enum translation_cache { TRANSLATION_MPT, TRANSLATION_MTT, TRANSLATION_CACHES };

/* The result of the checks for a request. */
struct translation_entry {
	enum translation_status status;
	/* MTT entries that the request needs; a count of 0 needs none */
	uint64_t first_page, page_count;
};

/* One PCIe read of a cache line of entries. The module owns it and must not change it until
 * fetched(). */
struct translation_fetch {
	enum translation_cache cache; /* in */
	uint64_t line;                /* in: number of the line's first entry / line_entries */
	uint32_t tag;                 /* in: the WQE it is for */
	/* the rest is private to the adapter */
	struct event event;
	struct pcie_read read;
	struct translation_adapter *adapter;
};

struct translation_adapter; /* one instance per module */

struct translation_services {
	/* Evaluates the region's entry and counts the result. Call it once for each request of more
	 * than 0 bytes. */
	void (*entry)(struct translation_adapter *adapter, struct translation *request,
		      struct translation_entry *entry);
	void (*respond)(struct translation_adapter *adapter, struct translation *request,
			sim_time at);
	/* Presents the request again at time `at`, as an event of the block of that cache. If
	 * `part` is TRANSLATION_CACHES, it is an event of the unit's block. Events at the same time
	 * run in the order of blocks. */
	void (*again)(struct translation_adapter *adapter, struct translation *request,
		      enum translation_cache part, sim_time at);
	void (*fetch)(struct translation_adapter *adapter, struct translation_fetch *fetch,
		      sim_time at);
	/* Writes one record to the trace of that cache's block, such as ICM_HIT
	 * (hca/context/icm_cache.h). May only be called inside a call of the adapter. */
	void (*note)(struct translation_adapter *adapter, enum translation_cache cache,
		     unsigned point, uint32_t tag, uint64_t first, uint64_t second);
};

struct translation_setup {
	const char *name; /* name of the block: "host0.hca.translation" */
	const struct translation_params *params;
	const struct translation_services *services;
	struct translation_adapter *adapter; /* argument of the services */
	/* Counters and gauges of the blocks NAME.mpt and NAME.mtt. The module updates them
	 * (sim/gauge.h). */
	struct icm_cache_counters *counters[TRANSLATION_CACHES];
	struct icm_cache_gauges *gauges[TRANSLATION_CACHES];
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_translation_module. */
struct translation_module {
	struct module_head head;
	/* Returns false if the module does not support these parameters, and writes the reason to
	 * *error. NULL if it supports all. */
	bool (*accepts)(const struct translation_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct translation_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	void (*request)(void *module, struct translation *request, sim_time ahead);
	void (*fetched)(void *module, struct translation_fetch *fetch, sim_time ahead);
	/* Drops entries [first, first + count), including entries that are being fetched. */
	void (*invalidate)(void *module, enum translation_cache cache, uint64_t first,
			   uint64_t count);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
