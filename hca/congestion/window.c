/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: a fixed window and a fixed rate. With a window of the path's bandwidth-delay product it
 * is the BDP flow control of IRN (Mittal et al., SIGCOMM'18). It may also be a rate limiter.
 */
#include "hca/congestion/algorithms.h"

/* clang-format off */
#define WINDOW_PARAMS(X) \
	X(cwnd, BYTES, "0B", "", \
	  "Maximum payload in flight. `0B`: the bandwidth-delay product of the path times " \
	  "`factor`.", \
	  "choice") \
	X(factor, RATIO, "1", "0.01..100", \
	  "Window in bandwidth-delay products of the path, if cwnd is 0.", \
	  "choice") \
	X(rate, RATE, "3.2Tbps", "1Kbps..3.2Tbps", \
	  "Maximum rate on the wire. The link's rate or a higher rate: no pacing.", \
	  "choice")
/* clang-format on */

struct window_params {
	WINDOW_PARAMS(PARAM_FIELD)
};

/* clang-format off */
#define ROW(...) PARAM_ROW(struct window_params, __VA_ARGS__)
static const struct param window_param_list[] = { WINDOW_PARAMS(ROW) { 0 } };
/* clang-format on */

static void window_state_init(struct cc_state *cc, const void *context,
			      const struct congestion_path *path, sim_time now)
{
	const struct window_params *params = context;
	double bdp = (double)congestion_bdp_bytes(path) * params->factor;

	(void)now;
	cc->rate_bps = params->rate < path->line_rate_bps ? params->rate : RATE_UNLIMITED;
	cc->cwnd_bytes = params->cwnd ? params->cwnd : (uint64_t)bdp;
	cc->next_step = SIM_NEVER;
}

const struct congestion_ops congestion_window = {
	.version = CONGESTION_VERSION,
	.name = "window",
	.meaning = "a fixed window, a fixed rate, or both",
	.params = window_param_list,
	.params_bytes = sizeof(struct window_params),
	.state_bytes = sizeof(struct cc_state),
	.lives_by = CONGESTION_ACKS,
	.state_init = window_state_init,
};
