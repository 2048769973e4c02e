/*
 * pcie: the link between HCA and host: DMA reads (non-posted: tags, round trip, completions), DMA writes
 * (posted, in order) and the CPU's MMIO writes.
 *
 *     HCA block --pcie_read()--> [tags, MRRS] --request--> root complex --> memory
 *              <------done()---- completions (RCB) <------------'
 *
 * PCI Express Base Specification, chapters 2 (TLPs) and 3 (DLLPs).
 */
#ifndef HCA_HOST_PCIE_H
#define HCA_HOST_PCIE_H

#include "hca/host/memory.h"
#include "sim/block.h"

struct pcie;
struct pcie_params; /* hca/host/pcie_params.h: the list */

/* One DMA read, of any length: split into requests of at most MRRS, each with a tag. The caller owns it and
 * leaves it alone until done(). */
struct pcie_read {
	struct memory *memory;  /* in */
	uint64_t address;       /* in */
	uint32_t length;        /* in: bytes; 0 is allowed and completes in a later event, with no TLP */
	uint32_t tag;           /* in: the WQE it is for */
	void *bytes;            /* in: where they go; NULL: lengths only */
	void (*done)(struct pcie_read *read); /* in: called once, never from pcie_read() */
	bool failed;            /* out: the memory was not mapped */
	/* the rest is private to pcie.c */
	struct event event;
	struct pcie *pcie;
	struct pcie_read *next;
	uint32_t requested, completed;
};

/* One DMA write, of any length: split at MPS. Writes become visible in the order of the calls; the bytes move
 * at that instant, and done() is called then. */
struct pcie_write {
	struct memory *memory;
	uint64_t address;
	uint32_t length;
	uint32_t tag;
	const void *bytes; /* stays the caller's, unchanged, until done(); NULL: lengths only */
	void (*done)(struct pcie_write *write);
	bool failed;
	/* the rest is private to pcie.c */
	struct event event;
	struct pcie *pcie;
	struct pcie_write *next;
};

/* The CPU's store has left the core; delivered to the HCA's doorbell block after the MMIO latency, in order. */
typedef void pcie_mmio_handler(void *context, uint64_t offset, const void *bytes, uint32_t length);

struct pcie *pcie_create(struct sim *sim, const char *name, const struct pcie_params *params);
void pcie_destroy(struct pcie *pcie);

void pcie_read(struct pcie *pcie, struct pcie_read *read);
void pcie_write(struct pcie *pcie, struct pcie_write *write);

void pcie_mmio_attach(struct pcie *pcie, pcie_mmio_handler *handler, void *context);
void pcie_mmio_write(struct pcie *pcie, uint64_t offset, const void *bytes, uint32_t length); /* at most 64 B */

#endif
