/*
 * switch_params: the parameters of a switch, for those who describe one. Its ports have theirs in the sub-map `port`.
 */
#ifndef SWITCH_SWITCH_PARAMS_H
#define SWITCH_SWITCH_PARAMS_H

#include "fabric/port_params.h"

/* clang-format off */
#define SWITCH_PARAMS(X)                                                                                   \
	X(crossing_latency, TIME, "90ns",  "0ps..100us", "from a packet's first bit in to its first bit out, if nothing is in the way", "ground truth C-10: SB7700, EDR") \
	X(routes,           FLAG, "false", "",           "forwards at layer 3: takes one off the hop limit and drops at 0", "choice")

struct switch_params {
	SWITCH_PARAMS(PARAM_FIELD)
	struct port_params port;
};
/* clang-format on */

extern const struct param switch_param_list[];
extern const struct param_group switch_param_groups[]; /* `port` */

#endif
