/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_block: the block of a plug-in (include/hcasim/plugin.h). It has the counters and trace
 * points that the plug-in declares, and its stream of random numbers.
 *
 *     plug-in --services--> plugin_block --> counters.json, trace
 */
#ifndef SIM_PLUGIN_BLOCK_H
#define SIM_PLUGIN_BLOCK_H

#include "hcasim/plugin.h"
#include "sim/block.h"
#include "sim/random.h"

struct plugin_block {
	struct plugin_host host; /* for the plug-in */
	struct block block;
	struct block_type type;
	struct random random;
	const char *owner; /* name of the plug-in in messages */
	unsigned counter_count, point_count;
	uint64_t *counts;
};

/* Adds the block to the run. The lists end with a NULL name; NULL: none. `type`, `owner` and the
 * lists outlive the block. */
void plugin_block_init(struct plugin_block *plugin, struct sim *sim, const char *name,
		       const char *type, const char *owner, const struct counter *counters,
		       const struct trace_point *points);
void plugin_block_fini(struct plugin_block *plugin);

/* Sets parameters from a text such as "gap=50us, seed=3". Returns false on failure and writes the
 * reason to `error`. */
bool plugin_block_values(const struct param *list, void *params, const char *values, char *error,
			 size_t error_bytes);

#endif
