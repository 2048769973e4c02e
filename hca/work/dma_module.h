/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_module: what a shared object offers that stands in the place of the DMA engine: which parts of which transfers are
 * under way, in what order, and when a transfer is over, are the module's; translation and PCIe are the adapter's.
 *
 *     packetiser --dma_start()--> adapter --start()--> module --done()--> adapter --dma->done()--> packetiser
 *      translation unit <-- adapter <--translate()-- module, and translated() when it is back
 *                  PCIe <-- adapter <--move()------- module, and moved() when it is back
 *
 * Calls are made as those of hca/context/translation_module.h: `ahead` is how far the models' time is ahead of
 * sc_time_stamp(), and all times that a module names are absolute. In one direction transfers end in the order of their
 * start (dma.h); the fields of struct dma that are private to the engine are the module's.
 */
#ifndef HCA_WORK_DMA_MODULE_H
#define HCA_WORK_DMA_MODULE_H

#include "hca/module/module.h"
#include "hca/work/dma.h"
#include "hca/work/dma_params.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dma_adapter; /* the adapter's side of one module */

/* A part of a transfer within one segment. The module owns it and leaves it alone until translated(), and moved(). */
struct dma_piece {
	struct dma *dma;                  /* in */
	uint32_t segment, segment_offset; /* in: where in the list it begins */
	uint32_t byte_offset;             /* in: and where in the bytes of the transfer */
	uint32_t length;                  /* in */
	enum dma_status status; /* out: DMA_PROTECTION from translation, DMA_FAULT from PCIe */
	/* the rest is the adapter's */
	struct dma_adapter *adapter;
	struct event event;
	struct translation translation;
	union {
		struct pcie_read read;
		struct pcie_write write;
	};
};

struct dma_services {
	void (*translate)(struct dma_adapter *adapter, struct dma_piece *piece, sim_time at);
	/* After translated(), if its status is DMA_OK. Writes become visible in the order of these calls. */
	void (*move)(struct dma_adapter *adapter, struct dma_piece *piece, sim_time at);
	/* The next grant of writing to host memory, which data and CQEs share: now, or that time. Inside of calls only. */
	sim_time (*write_grant)(struct dma_adapter *adapter);
	void (*grant_at)(struct dma_adapter *adapter,
			 sim_time at); /* grant() is called then; one at a time */
	/* dma->status is set. One of each direction at a time: the next one after finished(). */
	void (*done)(struct dma_adapter *adapter, struct dma *dma, sim_time at);
};

struct dma_setup {
	const char *name; /* of the block: "host0.hca.dma" */
	const struct dma_params *params;
	const struct dma_services *services;
	struct dma_adapter *adapter; /* for the services */
	/* The module counts pieces, piece_stalls, transfer_stalls and inflight_max; the adapter all else. */
	struct dma_counters *counters;
	struct dma_gauges *gauges; /* all are the module's */
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Exported as hca_dma_module. */
struct dma_module {
	struct module_head head;
	/* Does it take these parameters? false: *error says which it does not. NULL: any. */
	bool (*accepts)(const struct dma_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct dma_setup *setup); /* NULL never */
	void (*destroy)(void *module);
	/* dma->status is DMA_TOO_SHORT if the list ends too early, else DMA_OK. */
	void (*start)(void *module, struct dma *dma, sim_time ahead);
	void (*translated)(void *module, struct dma_piece *piece, sim_time ahead);
	void (*moved)(void *module, struct dma_piece *piece, sim_time ahead);
	void (*grant)(void *module, sim_time ahead);
	/* The time named by done() has come. The transfer is not the module's any more when this returns. */
	void (*finished)(void *module, struct dma *dma, sim_time ahead);
	/* Names the signals that can be seen in a waveform; NULL: none. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
