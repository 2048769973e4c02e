/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_module: the interface of the tags of a context cache. The tags determine the entries on
 * the chip, the entry that a new one replaces, and the time of a hit. The adapter handles misses in
 * flight, PCIe reads and write-backs. The built-in tags (context_tags.c) and modules of shared
 * objects implement the same table. Each cache (requester, responder, cq, srq, reads) has tags of
 * its own.
 *
 *     scheduler, responder --lookup--> icm_cache --find()--> tags
 *                         PCIe read --> icm_cache --insert()--> tags
 *
 * The tags answer within the call. Numbers are numbers of lines. A line has params->line_entries
 * entries.
 */
#ifndef HCA_CONTEXT_CONTEXT_MODULE_H
#define HCA_CONTEXT_CONTEXT_MODULE_H

#include "hca/context/context_cache_params.h"
#include "hca/module/module.h"

#ifdef __cplusplus
extern "C" {
#endif

struct random; /* sim/random.h */

struct contexts_setup {
	const char *name; /* of the block: "host0.hca.context.requester" */
	enum context_kind kind;
	const struct icm_cache_params *params;
	struct random *random; /* the cache's own stream */
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* A module exports this table as hca_contexts_module. */
struct contexts_module {
	struct module_head head;
	/* Returns true if the module supports these parameters. Otherwise writes the reason to
	 * `error`. NULL if the module supports all parameters. */
	bool (*accepts)(const struct context_cache_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct contexts_setup *setup); /* NULL never */
	void (*destroy)(void *module);
	/* Returns true if the line is on the chip, and counts a use of the line. *latency is
	 * params->hit_latency, and may be changed to the time of this hit. */
	bool (*find)(void *module, uint64_t line, sim_time now, sim_time *latency);
	/* Inserts a line that is not there. Returns true if another line was evicted, whose number
	 * is then in *evicted. */
	bool (*insert)(void *module, uint64_t line, sim_time now, uint64_t *evicted);
	/* Removes the lines [first, first + count). Returns the number of removed lines. */
	uint64_t (*remove)(void *module, uint64_t first, uint64_t count);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

extern const struct contexts_module context_tags; /* the built-in one */

#ifdef __cplusplus
}
#endif
#endif
