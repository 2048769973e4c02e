/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_module: the border of the tags of a context cache: which entries are on the chip, which
 * one makes room for another, and how long a hit takes. Misses in flight, reads over PCIe and
 * write-backs are the adapter's. The built-in tags (context_tags.c) and modules of shared objects
 * implement the same table. Each cache (requester, responder, cq, srq, reads) has tags of its own.
 *
 *     scheduler, responder --lookup--> icm_cache --find()--> tags
 *                         PCIe read --> icm_cache --insert()--> tags
 *
 * The tags answer within the call. Numbers are those of lines: params->line_entries entries each.
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

/* Exported as hca_contexts_module. */
struct contexts_module {
	struct module_head head;
	/* Returns true if the module takes these parameters. Writes the reason to `error` if not.
	 * NULL: any. */
	bool (*accepts)(const struct context_cache_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct contexts_setup *setup); /* NULL never */
	void (*destroy)(void *module);
	/* Returns true if the line is on the chip, and counts as used then. *latency is
	 * params->hit_latency, and may be changed to the time of this hit. */
	bool (*find)(void *module, uint64_t line, sim_time now, sim_time *latency);
	/* Keeps a line that is not there. Returns true if another line was evicted, whose number is
	 * then in *evicted. */
	bool (*insert)(void *module, uint64_t line, sim_time now, uint64_t *evicted);
	/* Forgets the lines [first, first + count). Returns how many were there. */
	uint64_t (*remove)(void *module, uint64_t first, uint64_t count);
	/* Names the signals that can be seen in a waveform; NULL: none. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

extern const struct contexts_module context_tags; /* the built-in one */

#ifdef __cplusplus
}
#endif
#endif
