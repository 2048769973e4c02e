/*
 * translation: turns {key, address, length, rights} into host memory: MPT entry (rights, range, protection
 * domain), then MTT entries (pages), each through its cache; a miss is a PCIe read.
 *
 *     DMA engine --translate()--> MPT cache --> MTT cache --done()--> DMA engine
 */
#ifndef HCA_CONTEXT_TRANSLATION_H
#define HCA_CONTEXT_TRANSLATION_H

#include "hca/context/mr_table.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

enum translation_status {
	TRANSLATION_OK,
	TRANSLATION_BAD_KEY,    /* no such key, or invalidated */
	TRANSLATION_BAD_PD,     /* of another protection domain */
	TRANSLATION_BAD_RANGE,  /* outside the region */
	TRANSLATION_BAD_ACCESS, /* right not given */
};

/* The caller owns it and leaves it alone until done(). */
struct translation {
	uint32_t key;      /* in: L_Key or R_Key */
	uint32_t pd;       /* in */
	uint32_t access;   /* in: enum mr_access bits that are needed */
	uint32_t length;   /* in: bytes; 0: only the key is not even checked (IBTA: zero-length needs no key) */
	uint64_t address;  /* in */
	uint32_t qpn;      /* in: for windows bound to one QP (type 2) */
	uint32_t tag;      /* in: the WQE it is for */
	void (*done)(struct translation *translation); /* in: called once, never from translate() */
	enum translation_status status; /* out */
	struct memory *memory;          /* out */
	uint64_t host_address;          /* out: where in that memory; contiguous over the whole range */
	/* the rest is private to translation.c */
	struct event event;
	struct translation_unit *unit;
	struct translation *next;
	struct mr *mr;
	uint64_t next_page;
	void *fetch;
};

struct translation_unit;
struct translation_params; /* hca/context/translation_params.h */

struct translation_unit *translation_unit_create(struct sim *sim, const char *name,
						 const struct translation_params *params, struct pcie *pcie,
						 struct mr_table *regions);
void translation_unit_destroy(struct translation_unit *unit);

void translate(struct translation_unit *unit, struct translation *translation);

/* The region changed or is gone: forget what the caches hold of it. */
void translation_invalidate(struct translation_unit *unit, const struct mr *mr);

#endif
