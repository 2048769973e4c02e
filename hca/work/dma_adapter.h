/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_adapter: connects a module that replaces the DMA engine (dma_module.h). Only dma.c calls
 * these functions.
 */
#ifndef HCA_WORK_DMA_ADAPTER_H
#define HCA_WORK_DMA_ADAPTER_H

#include "hca/work/dma_module.h"

/* Creates the module. The block, its params, counters and gauges must outlive the adapter. The run
 * must use SystemC. */
struct dma_adapter *dma_adapter_create(struct dma_engine *engine, struct block *block,
				       const struct dma_params *params, struct dma_counters *count,
				       struct dma_gauges *gauge, struct translation_unit *unit,
				       struct pcie *pcie);
void dma_adapter_destroy(struct dma_adapter *adapter);
void dma_adapter_start(struct dma_adapter *adapter, struct dma *dma);

/* dma.c: counts and traces the end of a transfer. */
void dma_count_end(struct block *block, struct dma_counters *count, const struct dma *dma);
void dma_trace_piece(struct block *block, const struct dma *dma, uint64_t address, uint32_t length);

#endif
