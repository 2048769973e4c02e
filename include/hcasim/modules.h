/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: the borders of the blocks that a shared object may replace. Each border is a table of
 * functions that the module exports, and a table of services that the module may call. modules.h
 * includes the headers of all borders, which the built-in blocks use, too.
 *
 *     block                 header                             exported table
 *     translation unit      hca/context/translation_module.h   hca_translation_module
 *     context caches        hca/context/context_module.h       hca_contexts_module
 *     QP scheduler          hca/work/scheduler_module.h        hca_scheduler_module
 *     DMA engine            hca/work/dma_module.h              hca_dma_module
 *     doorbell decoder      hca/work/doorbell_module.h         hca_doorbell_module
 *     plan of WQE fetch     hca/work/wqe_fetch_module.h        hca_wqe_fetch_module
 *     pipeline of CQEs      hca/work/completion_module.h       hca_completion_module
 *
 * SystemC modules use TLM-2.0 sockets over the first three: hca/module/examples/tlm_*.h.
 */
#ifndef INCLUDE_HCASIM_MODULES_H
#define INCLUDE_HCASIM_MODULES_H

#include "hca/context/context_module.h"
#include "hca/context/translation_module.h"
#include "hca/work/completion_module.h"
#include "hca/work/dma_module.h"
#include "hca/work/doorbell_module.h"
#include "hca/work/scheduler_module.h"
#include "hca/work/wqe_fetch_module.h"

#endif
