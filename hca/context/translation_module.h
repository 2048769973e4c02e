/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_module: what a shared object offers that stands in the place of the translation unit: caches, misses and
 * their times are the module's; what an entry says of a request (IBTA's checks, the host address) is the adapter's.
 *
 *     DMA engine --translate()--> adapter --request()--> module --respond()--> adapter --done()--> DMA engine
 *                 PCIe <--pcie_read()-- adapter <--fetch()-- module, and fetched() when it is back
 *
 * All functions of the table are called with the run's SystemC context as the current one, and `ahead`: how far the
 * models' time is ahead of sc_time_stamp(). A module may respond or fetch inside of such a call, or later from a process
 * of its own. All times are absolute. The services may be called from both. invalidate() also comes while no simulation
 * runs; all else comes in events.
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

/* What the region's entry says of a request. */
struct translation_entry {
	enum translation_status status;
	uint64_t first_page, page_count; /* MTT entries that it needs; 0: none */
};

/* One PCIe read of a cache line of entries. The module owns it and leaves it alone until fetched(). */
struct translation_fetch {
	enum translation_cache cache; /* in */
	uint64_t line;                /* in: number of its first entry / line_entries */
	uint32_t tag;                 /* in: the WQE it is for */
	/* the rest is the adapter's */
	struct event event;
	struct pcie_read read;
	struct translation_adapter *adapter;
};

struct translation_adapter; /* the adapter's side of one module */

struct translation_services {
	/* Looks at the region's entry and counts what came of it; once for each request of more than 0 bytes. */
	void (*entry)(struct translation_adapter *adapter, struct translation *request,
		      struct translation_entry *entry);
	void (*respond)(struct translation_adapter *adapter, struct translation *request,
			sim_time at);
	/* Presents the request again, at that time, as an event of that cache's block; of the unit's, if `part` is
	 * TRANSLATION_CACHES. At one instant events come in the order of blocks. */
	void (*again)(struct translation_adapter *adapter, struct translation *request,
		      enum translation_cache part, sim_time at);
	void (*fetch)(struct translation_adapter *adapter, struct translation_fetch *fetch,
		      sim_time at);
	/* One record in the trace of that cache's block: ICM_HIT and so on, as hca/context/icm_cache.h has them. Inside of
	 * calls of the adapter only. */
	void (*note)(struct translation_adapter *adapter, enum translation_cache cache,
		     unsigned point, uint32_t tag, uint64_t first, uint64_t second);
};

struct translation_setup {
	const char *name; /* of the block: "host0.hca.translation" */
	const struct translation_params *params;
	const struct translation_services *services;
	struct translation_adapter *adapter; /* for the services */
	/* Of the blocks name.mpt and name.mtt, for the module to count, and to say how full it is (sim/gauge.h). */
	struct icm_cache_counters *counters[TRANSLATION_CACHES];
	struct icm_cache_gauges *gauges[TRANSLATION_CACHES];
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Exported as hca_translation_module. */
struct translation_module {
	struct module_head head;
	/* Does it take these parameters? false: *error says which it does not. NULL: any. */
	bool (*accepts)(const struct translation_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct translation_setup *setup); /* NULL never */
	void (*destroy)(void *module);
	void (*request)(void *module, struct translation *request, sim_time ahead);
	void (*fetched)(void *module, struct translation_fetch *fetch, sim_time ahead);
	/* Entries [first, first + count) are to be forgotten, also those that are being fetched. */
	void (*invalidate)(void *module, enum translation_cache cache, uint64_t first,
			   uint64_t count);
	/* Names the signals that can be seen in a waveform; NULL: none. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
