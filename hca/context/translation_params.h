/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_params: parameters of the translation unit and its two caches. Lists:
 * translation_param_list, and of icm_cache_params.h icm_cache_mpt_param_list and
 * icm_cache_mtt_param_list.
 */
#ifndef HCA_CONTEXT_TRANSLATION_PARAMS_H
#define HCA_CONTEXT_TRANSLATION_PARAMS_H

#include "hca/context/icm_cache_params.h"

/* clang-format off */
#define TRANSLATION_PARAMS(X) \
	X(latency, TIME, "4ns", "1ps..1ms", \
	  "Time for the checks and the address calculation, in addition to the times of both " \
	  "caches.", \
	  "assumed: 2 cycles at 500 MHz") \
	X(interval, TIME, "2ns", "0ps..1ms", \
	  "Minimum time between the starts of two translations.", \
	  "assumed: 1 cycle at 500 MHz") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in translation unit " \
	  "(docs/explanation/systemc.md). Empty: the built-in unit.", \
	  "choice")
/* clang-format on */

struct translation_params {
	TRANSLATION_PARAMS(PARAM_FIELD)
	struct icm_cache_params mpt, mtt;
};

extern const struct param translation_param_list[];

#endif
