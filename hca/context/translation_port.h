/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_port: the adapter's side of a module in the place of the translation unit (translation_module.h). Only
 * translation.c talks to it.
 */
#ifndef HCA_CONTEXT_TRANSLATION_PORT_H
#define HCA_CONTEXT_TRANSLATION_PORT_H

#include "hca/context/translation_module.h"

/* The caches' blocks are created with it. The unit's block and params outlive it; the run has SystemC. */
struct translation_port *translation_port_create(struct translation_unit *unit, struct block *block,
						 const struct translation_params *params,
						 struct pcie *pcie);
void translation_port_destroy(struct translation_port *port);

void translation_port_request(struct translation_port *port, struct translation *request);
void translation_port_invalidate(struct translation_port *port, enum translation_cache cache,
				 uint64_t first, uint64_t count);
const struct icm_cache_counters *translation_port_counters(const struct translation_port *port,
							   enum translation_cache cache);

/* translation.c: checks the request against its region's entry, fills in what comes of it and counts that. */
void translation_check(struct translation_unit *unit, struct translation *translation,
		       uint64_t *first_page, uint64_t *page_count);
void translation_deliver(struct event *event);

#endif
