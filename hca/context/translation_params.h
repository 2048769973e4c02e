/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_params: the translation unit and its two caches. Lists: icm_mpt_param_list,
 * icm_mtt_param_list (icm_cache_params.h) and translation_param_list.
 */
#ifndef HCA_CONTEXT_TRANSLATION_PARAMS_H
#define HCA_CONTEXT_TRANSLATION_PARAMS_H

#include "hca/context/icm_cache_params.h"

/* clang-format off */
#define TRANSLATION_PARAMS(X)                                                                                                   \
	X(latency,  TIME, "4ns", "1ps..1ms", "of the checks and the addition, besides both caches", "assumed: 2 cycles at 500 MHz") \
	X(interval, TIME, "2ns", "0ps..1ms", "at least, between two translations that start",       "assumed: 1 cycle at 500 MHz") \
	X(module,   TEXT, "",    "",         "a SystemC module in the unit's place, docs/explanation/systemc.md; nothing: the built-in one", "choice")
/* clang-format on */

struct translation_params {
	TRANSLATION_PARAMS(PARAM_FIELD)
	struct icm_cache_params mpt, mtt;
};

extern const struct param translation_param_list[];

#endif
