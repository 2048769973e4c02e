/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_adapter: connects a module that replaces the translation unit (translation_module.h).
 * Only translation.c calls these functions.
 */
#ifndef HCA_CONTEXT_TRANSLATION_ADAPTER_H
#define HCA_CONTEXT_TRANSLATION_ADAPTER_H

#include "hca/context/translation_module.h"

/* Creates the module and the blocks of its caches. The unit's block and `params` must outlive the
 * adapter. The run must use SystemC. */
struct translation_adapter *translation_adapter_create(struct translation_unit *unit,
						       struct block *block,
						       const struct translation_params *params,
						       struct pcie *pcie);
void translation_adapter_destroy(struct translation_adapter *adapter);

void translation_adapter_request(struct translation_adapter *adapter, struct translation *request);
void translation_adapter_invalidate(struct translation_adapter *adapter,
				    enum translation_cache cache, uint64_t first, uint64_t count);
const struct icm_cache_counters *
translation_adapter_counters(const struct translation_adapter *adapter,
			     enum translation_cache cache);

/* translation.c: checks the request against the entry of its region, fills in the result and counts
 * it. */
void translation_check(struct translation_unit *unit, struct translation *translation,
		       uint64_t *first_page, uint64_t *page_count);
void translation_deliver(struct event *event);

#endif
