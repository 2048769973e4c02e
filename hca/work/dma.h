/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma: moves the bytes of one packet or message segment between host memory and the HCA, through
 * the translation unit and PCIe. It follows the scatter/gather list of a WQE.
 *
 *     packetiser, responder --dma_start()--> translate each piece --> pcie_read(), pcie_write()
 *     packetiser, responder <---------------------done()-------------------------'
 */
#ifndef HCA_WORK_DMA_H
#define HCA_WORK_DMA_H

#include "hca/context/translation.h"
#include "hca/formats/wqe.h"
#include "hca/host/pcie.h"
#include "sim/gauge.h"

enum dma_direction { DMA_GATHER /* host to HCA */, DMA_SCATTER /* HCA to host */ };

enum dma_status {
	DMA_OK,
	/* key, PD, range or rights are wrong: a local protection or remote access error, depending
	 * on the owner of the key */
	DMA_PROTECTION,
	DMA_TOO_SHORT, /* the list ends before offset + length: local length error */
	DMA_FAULT,     /* the key is valid but the memory is not mapped */
};

/* One transfer. The caller owns the transfer, the list and the bytes, and must not change them
 * until done(). Transfers of one direction complete in the order of their start. Their pieces are
 * translated and moved concurrently. */
struct dma {
	const struct data_segment *segments; /* in */
	uint32_t segment_count;              /* in */
	uint32_t offset;                     /* in: bytes of the list to skip */
	uint32_t length;                     /* in: bytes to move */
	enum dma_direction direction;        /* in */
	uint32_t access;                     /* in: enum mr_access bits that each key must grant */
	uint32_t pd, qpn, tag;               /* in */
	bool passes; /* in: gather: may leave ahead of earlier writes that have not left (pcie.h) */
	void *bytes; /* in: NULL if only lengths are simulated */
	/* in: called once, never from dma_start(); scatter: the bytes are visible */
	void (*done)(struct dma *dma);
	/* in: scatter; NULL if not needed. Reports that all writes have been passed to PCIe, so
	 * that later writes become visible after them. The DMA engine calls this function once,
	 * before done() and never from dma_start(). The engine does not call it if status is not
	 * DMA_OK. */
	void (*posted)(struct dma *dma);
	/* out: the first failure in the order of the list. No later byte is written. */
	enum dma_status status;
	/* the rest is private to dma.c */
	struct dma *next;
	uint32_t segment, segment_offset; /* position of the next piece */
	uint32_t walked;                  /* bytes that were split into pieces */
	uint32_t pieces_busy, pieces_made, failed_piece;
	bool begun; /* counted as in flight, since begun_at */
	sim_time begun_at;
	sim_time translated_at; /* end of the last translation; 0 before the first */
	sim_time finished_at;   /* SIM_NEVER until it is known */
};

struct dma_engine;
struct dma_params; /* hca/work/dma_params.h */

/* clang-format off */
#define DMA_COUNTERS(X) \
	X(gathers, "transfers", "transfers from host to HCA, requested") \
	X(gathers_done, "transfers", "transfers from host to HCA, completed") \
	X(gather_bytes, "bytes", "bytes from host to HCA, requested") \
	X(scatters, "transfers", "transfers from HCA to host, requested") \
	X(scatters_done, "transfers", "transfers from HCA to host, completed") \
	X(scatter_bytes, "bytes", "bytes from HCA to host, requested") \
	X(pieces, "pieces", \
	  "parts of a transfer within one segment; each is translated and moved") \
	X(protection, "transfers", "refused by the protection of a key") \
	X(too_short, "transfers", "longer than their scatter/gather list") \
	X(faults, "transfers", "to memory that is not mapped") \
	X(transfer_stalls, "transfers", \
	  "that waited because the limit of transfers in flight was reached") \
	X(piece_stalls, "pieces", "that waited because the limit of pieces in flight was reached") \
	X(write_waits, "times", "a write to host memory waited for its grant") \
	X(inflight_max, "transfers", "maximum number of transfers in flight, of one direction")

#define DMA_GAUGES(X) \
	X(gathers, POOL, "transfers", "transfers from host to HCA in flight") \
	X(scatters, POOL, "transfers", "transfers from HCA to host in flight") \
	X(gather_pieces, POOL, "pieces", "pieces from host to HCA in flight") \
	X(scatter_pieces, POOL, "pieces", "pieces from HCA to host in flight")

#define DMA_TRACE(X) \
	X(DMA_START, "direction", "length", "a transfer is requested") \
	X(DMA_PIECE, "address", "length", "a piece of the transfer goes to translation") \
	X(DMA_DONE, "direction", "status", "a transfer completes")
/* clang-format on */

struct dma_counters {
	DMA_COUNTERS(COUNTER_FIELD)
};

struct dma_gauges {
	DMA_GAUGES(GAUGE_FIELD)
};

/* Creates an engine. All arguments must outlive the engine. */
struct dma_engine *dma_engine_create(struct sim *sim, const char *name,
				     const struct dma_params *params, struct translation_unit *unit,
				     struct pcie *pcie);
void dma_engine_destroy(struct dma_engine *engine);

/* Starts a transfer, or queues it while params.inflight transfers of its direction are in flight.
 * The caller owns it until done(). */
void dma_start(struct dma_engine *engine, struct dma *dma);

/* Takes the next grant to write to host memory. Returns the time of the grant, now or later. */
sim_time dma_write_grant(struct dma_engine *engine);

const struct dma_counters *dma_counters(const struct dma_engine *engine);

#endif
