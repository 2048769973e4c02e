/*
 * dma: moves the bytes of one packet or message part between host memory and the HCA, through the translation
 * unit and PCIe, following the scatter/gather list of a WQE.
 *
 *     packetiser / responder --dma_start()--> translate each piece --> pcie_read()/pcie_write() --> done()
 */
#ifndef HCA_WORK_DMA_H
#define HCA_WORK_DMA_H

#include "hca/context/translation.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

struct data_segment { /* one scatter/gather element of a WQE */
	uint64_t address;
	uint32_t length;
	uint32_t key;
};

enum dma_direction { DMA_GATHER /* host to HCA */, DMA_SCATTER /* HCA to host */ };

enum dma_status {
	DMA_OK,
	DMA_PROTECTION, /* key, PD, range or rights: local protection or remote access error, by whose key it was */
	DMA_TOO_SHORT,  /* the list ends before offset + length: local length error */
	DMA_FAULT,      /* keys were right but the memory was not there */
};

/* One transfer. The caller owns it, and the bytes, and leaves both alone until done(). Transfers complete in
 * the order of their start within one direction. */
struct dma {
	const struct data_segment *segments; /* in */
	uint32_t segment_count;              /* in */
	uint32_t offset;                     /* in: bytes of the list to skip */
	uint32_t length;                     /* in: bytes to move */
	enum dma_direction direction;        /* in */
	uint32_t access;                     /* in: enum mr_access bits that each key must give */
	uint32_t pd, qpn, tag;               /* in */
	void *bytes;                         /* in: NULL: lengths only */
	void (*done)(struct dma *dma);       /* in: called once, never from dma_start(); scatter: bytes are visible */
	enum dma_status status;              /* out */
	/* the rest is private to dma.c */
	struct dma *next;
	struct dma_engine *engine;
	struct event event;
	struct translation translation;
	union {
		struct pcie_read read;
		struct pcie_write write;
	};
	uint32_t segment, segment_offset, moved;
};

struct dma_engine;
struct dma_params; /* hca/work/dma_params.h */

struct dma_engine *dma_engine_create(struct sim *sim, const char *name, const struct dma_params *params,
				     struct translation_unit *unit, struct pcie *pcie);
void dma_engine_destroy(struct dma_engine *engine);
void dma_start(struct dma_engine *engine, struct dma *dma);

#endif
