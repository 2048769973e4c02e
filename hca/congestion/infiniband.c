/*
 * infiniband: the channel adapter's side of InfiniBand congestion control: each BECN raises an index (CCTI) into a
 * table of delays (CCT) between packets, each timer period lowers it by one.
 *
 * IBTA vol. 1, annex A10; the objects of ground truth C-09. The standard leaves the table's contents to the manager.
 */
#include "hca/congestion/algorithms.h"

/* clang-format off */
#define INFINIBAND_CC_PARAMS(X)                                                                            \
	X(ccti_increase, COUNT, "1",   "0..255",     "added to the index by a BECN",                         "ground truth D-35") \
	X(ccti_limit,    COUNT, "127", "0..16383",   "largest index",                                        "ground truth D-35") \
	X(ccti_min,      COUNT, "0",   "0..16383",   "smallest index",                                       "ground truth C-09") \
	X(ccti_timer,    COUNT, "150", "1..65535",   "of 1.024 us, until the index falls by one",            "ground truth D-35, C-09") \
	X(cct_slope,     RATIO, "0.25", "0.0001..100", "packet times of delay that entry i of the table adds, a step of i", "assumed: a linear table that reaches 1/33 of the rate")
/* clang-format on */

#define CCTI_TIMER_UNIT (1024 * NS)

struct infiniband_cc_params {
	INFINIBAND_CC_PARAMS(PARAM_FIELD)
};

struct infiniband_cc_flow {
	struct congestion_flow flow;
	uint64_t line_rate_bps;
	uint64_t index; /* CCTI */
};

static void publish(struct infiniband_cc_flow *state, const struct infiniband_cc_params *params)
{
	double delay = (double)state->index * params->cct_slope;

	state->flow.rate_bps = state->index ? (uint64_t)((double)state->line_rate_bps / (1 + delay))
					    : RATE_UNLIMITED;
}

static void infiniband_step(struct congestion_flow *flow, const void *context, sim_time now)
{
	struct infiniband_cc_flow *state = (struct infiniband_cc_flow *)(void *)flow;
	const struct infiniband_cc_params *params = context;

	while (flow->next_step <= now) {
		if (state->index > params->ccti_min)
			state->index--;
		flow->next_step = state->index > params->ccti_min
					  ? flow->next_step + params->ccti_timer * CCTI_TIMER_UNIT
					  : SIM_NEVER;
	}
	publish(state, params);
}

static void infiniband_on_cnp(struct congestion_flow *flow, const void *context, sim_time now)
{
	struct infiniband_cc_flow *state = (struct infiniband_cc_flow *)(void *)flow;
	const struct infiniband_cc_params *params = context;

	state->index += params->ccti_increase;
	if (state->index > params->ccti_limit)
		state->index = params->ccti_limit;
	if (flow->next_step == SIM_NEVER && state->index > params->ccti_min)
		flow->next_step = now + params->ccti_timer * CCTI_TIMER_UNIT;
	publish(state, params);
}

static void infiniband_flow_init(struct congestion_flow *flow, const void *context,
				 const struct congestion_path *path, sim_time now)
{
	struct infiniband_cc_flow *state = (struct infiniband_cc_flow *)(void *)flow;
	const struct infiniband_cc_params *params = context;

	(void)now;
	*state = (struct infiniband_cc_flow){
		.flow.window_bytes = WINDOW_UNLIMITED,
		.flow.next_step = SIM_NEVER,
		.line_rate_bps = path->line_rate_bps,
		.index = params->ccti_min,
	};
	publish(state, params);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct infiniband_cc_params, __VA_ARGS__)
static const struct param infiniband_param_list[] = { INFINIBAND_CC_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_infiniband = {
	.version = CONGESTION_VERSION,
	.name = "infiniband",
	.meaning = "InfiniBand CC: delay between packets by a table that BECNs climb",
	.params = infiniband_param_list,
	.params_bytes = sizeof(struct infiniband_cc_params),
	.flow_bytes = sizeof(struct infiniband_cc_flow),
	.flow_init = infiniband_flow_init,
	.step = infiniband_step,
	.on_cnp = infiniband_on_cnp,
};
