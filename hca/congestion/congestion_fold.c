/* SPDX-License-Identifier: Apache-2.0 */
/* congestion_fold: see congestion_fold.h. */
#include "hca/congestion/congestion_fold.h"

#include <string.h>

#include "hca/congestion/algorithms.h"

#define NONE_WANTED UINT64_MAX
#define PASSED      (UINT64_MAX - 1)

void congestion_fold_progress(struct fold *fold, uint64_t wanted, uint64_t acked_total)
{
	fold_number(fold, !wanted                ? NONE_WANTED
			  : wanted < acked_total ? PASSED
						 : wanted - acked_total);
}

/* Folds an algorithm without a state of its own. */
static void fold_common(const struct cc_state *cc, const void *params, uint64_t acked_total,
			struct fold *fold)
{
	static const struct fold_field fields[] = {
		FOLD_FIELD(struct cc_state, next_step, FOLD_SINCE),
		FOLD_FIELD(struct cc_state, flight_bytes, FOLD_SKIP),
	};

	(void)params, (void)acked_total;
	fold_struct(fold, cc, sizeof(*cc), fields, ARRAY_SIZE(fields));
}

static const struct {
	const struct congestion_ops *ops;
	void (*fold)(const struct cc_state *cc, const void *params, uint64_t acked_total,
		     struct fold *fold);
} algorithms[] = {
	{&congestion_none, fold_common},   {&congestion_window, fold_common},
	{&congestion_dcqcn, dcqcn_fold},   {&congestion_dctcp, dctcp_fold},
	{&congestion_swift, swift_fold},   {&congestion_infiniband, infiniband_fold},
	{&congestion_timely, timely_fold},
};

bool congestion_fold(const struct congestion *congestion, const struct cc_state *cc,
		     uint64_t acked_total, struct fold *fold)
{
	_Alignas(16) char copy[CC_STATE_BYTES_MAX];
	struct cc_state *now = (struct cc_state *)(void *)copy;

	for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
		if (algorithms[i].ops != congestion->ops)
			continue;
		memcpy(copy, cc, congestion->ops->state_bytes);
		congestion_settle(congestion, now, fold->at);
		algorithms[i].fold(now, congestion->params, acked_total, fold);
		return true;
	}
	return false;
}
