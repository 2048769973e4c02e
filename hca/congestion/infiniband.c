/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infiniband: the channel adapter's part of InfiniBand congestion control. Each BECN raises an
 * index (CCTI) into a table of delays between packets (CCT). Each timer period lowers the index by
 * one.
 *
 * IBTA vol. 1, annex A10; the objects of row C-09 have their names from there. The standard leaves
 * the contents of the table to the manager. An entry has a shift of two bits and a multiplier of 14
 * bits. The delay after a packet is (packet time >> shift) * multiplier, as the hfi1 driver of
 * Linux programs its adapter. Control is per queue pair (port_control 0).
 */
#include <stdio.h>
#include <stdlib.h>

#include "hca/congestion/algorithms.h"
#include "hca/congestion/congestion_fold.h"

/* clang-format off */
#define INFINIBAND_CC_PARAMS(X)                                                                \
	X(ccti_increase, COUNT, "1", "0..255",                                                 \
	  "CCTI_Increase: number that a BECN adds to the index into the table.",               \
	  "Gran et al., IPDPS 2010 (row D-35)")                                                \
	X(ccti_limit, COUNT, "127", "0..16383",                                                \
	  "CCTI_Limit: maximum index.",                                                        \
	  "Gran et al., IPDPS 2010 (row D-35)")                                                \
	X(ccti_min, COUNT, "0", "0..16383",                                                    \
	  "CCTI_Min: minimum index.",                                                          \
	  "rdma-core, ibccconfig (row C-09)")                                                  \
	X(ccti_timer, COUNT, "150", "1..65535",                                                \
	  "CCTI_Timer: time after which the index falls by one, in units of 1.024 us.",        \
	  "Gran et al., IPDPS 2010 (rows D-35, C-09)")                                         \
	X(cct, TEXT, "", "",                                                                   \
	  "Congestion control table, as entries shift:multiplier separated by commas (cc_cct " \
	  "of OpenSM). Empty: entry i is cct_shift:i.",                                        \
	  "choice")                                                                            \
	X(cct_shift, COUNT, "2", "0..3",                                                       \
	  "Shift of all entries of the table if cct is empty.",                                \
	  "assumed: a table that reaches 1/33 of the rate")                                    \
	X(control_map, COUNT, "65535", "0..65535",                                             \
	  "Control_Map: bit i selects congestion control for service level i.",                \
	  "rdma-core, ibccconfig (row C-09)")
/* clang-format on */

#define CCTI_TIMER_UNIT (1024 * NS)
#define SHIFT_MAX       3
#define MULTIPLIER_MAX  0x3fff

struct infiniband_cc_params {
	INFINIBAND_CC_PARAMS(PARAM_FIELD)
};

struct infiniband_cc_state {
	struct cc_state cc;
	uint64_t line_rate_bps;
	uint64_t index; /* CCTI */
	bool controlled;
};

/* Parses the next entry of the list and advances. Returns false at the end of the list. */
static bool next_entry(const char **text, unsigned long *shift, unsigned long *multiplier)
{
	char *end;

	*shift = strtoul(*text, &end, 10);
	if (end == *text || *end != ':' || *shift > SHIFT_MAX)
		return false;
	*text = end + 1;
	*multiplier = strtoul(*text, &end, 10);
	if (end == *text || (*end && *end != ',') || *multiplier > MULTIPLIER_MAX)
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

static bool infiniband_check(const void *context, char *error, size_t error_bytes)
{
	const struct infiniband_cc_params *params = context;
	const char *text = params->cct.text;
	unsigned long shift, multiplier;

	while (*text)
		if (!next_entry(&text, &shift, &multiplier)) {
			snprintf(error, error_bytes,
				 "cct: found \"%s\"; expected shift:multiplier, 0..3 and 0..16383, "
				 "with commas in between",
				 text);
			return false;
		}
	return true;
}

/* Returns the delay in packet times. An index beyond the list selects the last entry. */
static double delay_of(const struct infiniband_cc_params *params, uint64_t index)
{
	const char *text = params->cct.text;
	unsigned long shift = params->cct_shift, multiplier = index;

	for (uint64_t i = 0; *text && i <= index; i++)
		if (!next_entry(&text, &shift, &multiplier))
			break;
	return (double)multiplier / (double)(1u << shift);
}

static void publish(struct infiniband_cc_state *state, const struct infiniband_cc_params *params)
{
	double delay = state->controlled ? delay_of(params, state->index) : 0;

	state->cc.rate_bps =
		delay > 0 ? (uint64_t)((double)state->line_rate_bps / (1 + delay)) : RATE_UNLIMITED;
}

static void infiniband_step(struct cc_state *cc, const void *context, sim_time now)
{
	struct infiniband_cc_state *state = (struct infiniband_cc_state *)(void *)cc;
	const struct infiniband_cc_params *params = context;

	while (cc->next_step <= now) {
		if (state->index > params->ccti_min)
			state->index--;
		cc->next_step = state->index > params->ccti_min
					? cc->next_step + params->ccti_timer * CCTI_TIMER_UNIT
					: SIM_NEVER;
	}
	publish(state, params);
}

static void infiniband_on_cnp(struct cc_state *cc, const void *context, sim_time now)
{
	struct infiniband_cc_state *state = (struct infiniband_cc_state *)(void *)cc;
	const struct infiniband_cc_params *params = context;

	if (!state->controlled)
		return;
	state->index += params->ccti_increase;
	if (state->index > params->ccti_limit)
		state->index = params->ccti_limit;
	if (cc->next_step == SIM_NEVER && state->index > params->ccti_min)
		cc->next_step = now + params->ccti_timer * CCTI_TIMER_UNIT;
	publish(state, params);
}

static void infiniband_state_init(struct cc_state *cc, const void *context,
				  const struct congestion_path *path, sim_time now)
{
	struct infiniband_cc_state *state = (struct infiniband_cc_state *)(void *)cc;
	const struct infiniband_cc_params *params = context;

	(void)now;
	*state = (struct infiniband_cc_state){
		.cc.cwnd_bytes = CWND_UNLIMITED,
		.cc.next_step = SIM_NEVER,
		.line_rate_bps = path->line_rate_bps,
		.index = params->ccti_min,
		.controlled = params->control_map >> path->service_level & 1,
	};
	publish(state, params);
}

void infiniband_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		     struct fold *fold)
{
	static const struct fold_field fields[] = {
		CONGESTION_FOLD_FIELDS(struct infiniband_cc_state),
	};

	(void)params, (void)acked_total;
	fold_struct(fold, cc, sizeof(struct infiniband_cc_state), fields, ARRAY_SIZE(fields));
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct infiniband_cc_params, __VA_ARGS__)
static const struct param infiniband_param_list[] = { INFINIBAND_CC_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_infiniband = {
	.version = CONGESTION_VERSION,
	.name = "infiniband",
	.meaning = "InfiniBand CC: delay between packets from a table whose index BECNs raise",
	.params = infiniband_param_list,
	.params_bytes = sizeof(struct infiniband_cc_params),
	.state_bytes = sizeof(struct infiniband_cc_state),
	.lives_by = CONGESTION_MARKS,
	.check = infiniband_check,
	.state_init = infiniband_state_init,
	.step = infiniband_step,
	.on_cnp = infiniband_on_cnp,
};
