/* SPDX-License-Identifier: Apache-2.0 */
/*
 * none: no congestion control. Only the link and its flow control limit a sender.
 */
#include "hca/congestion/algorithms.h"

static void none_state_init(struct cc_state *cc, const void *params,
			    const struct congestion_path *path, sim_time now)
{
	(void)params, (void)path, (void)now;
	*cc = (struct cc_state){
		.rate_bps = RATE_UNLIMITED, .cwnd_bytes = CWND_UNLIMITED, .next_step = SIM_NEVER};
}

const struct congestion_ops congestion_none = {
	.version = CONGESTION_VERSION,
	.name = "none",
	.meaning = "no limit other than the link",
	.state_bytes = sizeof(struct cc_state),
	.state_init = none_state_init,
};
