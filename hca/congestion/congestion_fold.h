/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion_fold: the state of a flow's congestion control as bytes that depend neither on the
 * time nor on the bytes sent so far (sim/fold.h).
 */
#ifndef HCA_CONGESTION_CONGESTION_FOLD_H
#define HCA_CONGESTION_CONGESTION_FOLD_H

#include "hca/congestion/congestion.h"
#include "sim/fold.h"

/* Folds the state of a flow that has sent `acked_total` bytes, all of which are acknowledged.
 * Returns false for an algorithm whose states cannot be compared: HPCC, the algorithms of TCP, and
 * plug-ins. */
bool congestion_fold(const struct congestion *congestion, const struct cc_state *cc,
		     uint64_t acked_total, struct fold *fold);

/* Folds a number of acknowledged bytes that the state waits for. 0: it waits for none. */
void congestion_fold_progress(struct fold *fold, uint64_t wanted, uint64_t acked_total);

/* Fields of struct cc_state as the first member `cc` of a state. */
#define CONGESTION_FOLD_FIELDS(type) \
	FOLD_FIELD(type, cc.next_step, FOLD_SINCE), FOLD_FIELD(type, cc.flight_bytes, FOLD_SKIP)

/* Fold the states of the algorithms. The state is advanced to the time of the fold. */
void dcqcn_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		struct fold *fold);
void dctcp_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		struct fold *fold);
void infiniband_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		     struct fold *fold);
void swift_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		struct fold *fold);
void timely_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		 struct fold *fold);

#endif
