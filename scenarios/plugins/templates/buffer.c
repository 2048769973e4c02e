/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: limits a queue to a multiple of the free bytes (dynamic threshold).
 * It is a start: replace limit(). The interface is hcasim/switch_plugins.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set fabric.switch.plugins.buffer=./example.so
 *
 * Source of the threshold: Choudhury, Hahne, ToN 1998.
 */
#include "hcasim/switch_plugins.h"

/* X(name, KIND, default, range, meaning, source): a scenario sets
 * plugins: {buffer_values: "alpha=0.25"}. */
#define EXAMPLE_PARAMS(X)                                                                        \
	X(alpha, RATIO, "0.0625", "0..64", "Share of the free bytes for packets of one input.",  \
	  "choice")                                                                              \
	X(alpha_lossy, RATIO, "1", "0..64", "Share of the free bytes for a lossy output queue.", \
	  "choice")

struct example_params {
	EXAMPLE_PARAMS(PARAM_FIELD)
};

static uint64_t limit(void *state, const void *values, sim_time now,
		      const struct buffer_queue *queue)
{
	const struct example_params *params = values;
	double alpha = queue->ingress ? params->alpha : params->alpha_lossy;
	uint64_t free_bytes = queue->shared_size > queue->shared_used
				      ? queue->shared_size - queue->shared_used
				      : 0;

	(void)state, (void)now;
	return (uint64_t)((double)free_bytes * alpha);
}

#define ROW(...) PARAM_ROW(struct example_params, __VA_ARGS__)
static const struct param param_list[] = {EXAMPLE_PARAMS(ROW){0}};

const struct buffer_ops buffer_plugin = {
	.plugin =
		{
			.version = SWITCH_PLUGIN_VERSION,
			.name = "example",
			.meaning = "a dynamic threshold",
			.params = param_list,
			.params_bytes = sizeof(struct example_params),
		},
	.limit = limit,
};
