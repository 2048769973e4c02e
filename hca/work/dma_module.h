/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_module: the interface of a shared object that replaces the DMA engine. The module determines
 * the pieces in flight, their order, and the end of a transfer. The adapter performs translation
 * and PCIe transactions.
 *
 *     packetiser --dma_start()--> adapter --start()--> module
 *     packetiser <--dma->done()-- adapter <---done()-- module
 *      translation unit <-- adapter <--translate()-- module, and translated() when it is back
 *                  PCIe <-- adapter <--move()------- module, and moved() when it is back
 *
 * Calls follow the rules of hca/context/translation_module.h: `ahead` is the time by which the
 * models are ahead of sc_time_stamp(). All times from a module are absolute. Transfers of one
 * direction end in the order of their start (dma.h). The module may use the fields of struct dma
 * that are private to the engine.
 */
#ifndef HCA_WORK_DMA_MODULE_H
#define HCA_WORK_DMA_MODULE_H

#include "hca/module/module.h"
#include "hca/work/dma.h"
#include "hca/work/dma_params.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dma_adapter; /* one instance per module */

/* A part of a transfer within one segment of the list. The module owns it and must not change it
 * until translated() and moved(). */
struct dma_piece {
	struct dma *dma;                  /* in */
	uint32_t segment, segment_offset; /* in: start within the list */
	uint32_t byte_offset;             /* in: start within the bytes of the transfer */
	uint32_t length;                  /* in */
	enum dma_status status; /* out: DMA_PROTECTION from translation, DMA_FAULT from PCIe */
	/* the rest is private to the adapter */
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
	/* Moves a piece. The call is allowed after translated() with status DMA_OK. Writes become
	 * visible in the order of these calls. */
	void (*move)(struct dma_adapter *adapter, struct dma_piece *piece, sim_time at);
	/* Takes the next grant to write to host memory, which data and CQEs share. Returns the time
	 * of the grant, now or later. May only be called inside a call of the adapter. */
	sim_time (*write_grant)(struct dma_adapter *adapter);
	/* Calls grant() at that time. One call at most is outstanding. */
	void (*grant_at)(struct dma_adapter *adapter, sim_time at);
	/* Ends a transfer; dma->status is set. One transfer of each direction at a time: the next
	 * one may end after finished(). */
	void (*done)(struct dma_adapter *adapter, struct dma *dma, sim_time at);
};

struct dma_setup {
	const char *name; /* name of the block: "host0.hca.dma" */
	const struct dma_params *params;
	const struct dma_services *services;
	struct dma_adapter *adapter; /* argument of the services */
	/* The module counts pieces, piece_stalls, transfer_stalls and inflight_max. The adapter
	 * counts the rest. */
	struct dma_counters *counters;
	struct dma_gauges *gauges; /* the module updates all gauges */
};

struct systemc_tracer; /* sim/systemc_vcd.h */

/* Each shared object exports one table as hca_dma_module. */
struct dma_module {
	struct module_head head;
	/* Returns false if the module does not support these parameters, and writes the reason to
	 * *error. NULL if it supports all. */
	bool (*accepts)(const struct dma_params *params, char *error, size_t error_bytes);
	void *(*create)(const struct dma_setup *setup); /* Returns the module; never NULL */
	void (*destroy)(void *module);
	/* Starts a transfer. dma->status is DMA_TOO_SHORT if the list ends too early, otherwise
	 * DMA_OK. */
	void (*start)(void *module, struct dma *dma, sim_time ahead);
	void (*translated)(void *module, struct dma_piece *piece, sim_time ahead);
	void (*moved)(void *module, struct dma_piece *piece, sim_time ahead);
	void (*grant)(void *module, sim_time ahead);
	/* Reports that the time of done() has come. After the call, the module must not use the
	 * transfer. */
	void (*finished)(void *module, struct dma *dma, sim_time ahead);
	/* Registers the signals for waveforms. NULL if the module has no signals. */
	void (*trace)(void *module, const struct systemc_tracer *tracer);
};

#ifdef __cplusplus
}
#endif
#endif
