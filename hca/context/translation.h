/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation: turns {key, address, length, rights} into host memory: MPT entry (rights, range, protection
 * domain), then MTT entries (pages), each through its cache; a miss is a PCIe read.
 *
 *     DMA engine --translate()--> MPT cache --> MTT cache --done()--> DMA engine
 *
 * Checks, in this order: key, protection domain, range, rights, and the QP that a window is bound to.
 */
#ifndef HCA_CONTEXT_TRANSLATION_H
#define HCA_CONTEXT_TRANSLATION_H

#include "hca/context/icm_cache.h"
#include "hca/context/mr_table.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

enum translation_status {
	TRANSLATION_OK,
	TRANSLATION_BAD_KEY,    /* no such key, or invalidated */
	TRANSLATION_BAD_PD,     /* of another protection domain */
	TRANSLATION_BAD_RANGE,  /* outside the region */
	TRANSLATION_BAD_ACCESS, /* right not given, or a window bound to another QP */
};

/* The caller owns it and leaves it alone until done(). */
struct translation {
	uint32_t key;     /* in: L_Key or R_Key */
	uint32_t pd;      /* in */
	uint32_t access;  /* in: enum mr_access bits that are needed */
	uint32_t length;  /* in: bytes; 0: nothing is checked (IBTA: zero-length needs no key) */
	uint64_t address; /* in */
	uint32_t qpn;     /* in: for windows bound to one QP (type 2) */
	uint32_t tag;     /* in: the WQE it is for */
	void (*done)(struct translation *translation); /* in: called once, never from translate() */
	enum translation_status status;                /* out */
	struct memory *memory;                         /* out */
	uint64_t host_address; /* out: where in that memory; contiguous over the whole range */
	/* the rest is private to translation.c */
	struct event event;
	struct translation_unit *unit;
	sim_time asked_at;
	struct icm_lookup lookup;
	/* MTT entries that are still to be looked up: up to, not with, the last. */
	uint64_t next_page, last_page;
	/* or, where a module is in its place (translation_module.h): */
	struct translation_adapter *adapter;
	void *module; /* the module's own */
	uint64_t serial;
	sim_time response_at;
	struct translation *next; /* of a process of the module's, not delivered yet */
};

struct translation_adapter;
struct translation_unit;
struct translation_params; /* hca/context/translation_params.h */

/* clang-format off */
#define TRANSLATION_COUNTERS(X) \
	X(translations, "requests", "requested") \
	X(granted, "requests", \
	  "that got an address; every other request counts in one of the next five") \
	X(bad_key, "requests", "refused: the key does not exist or is invalidated") \
	X(bad_pd, "requests", "refused: another protection domain") \
	X(bad_range, "requests", "refused: outside of the region") \
	X(bad_access, "requests", "refused: access right missing, or window bound to another QP") \
	X(empty, "requests", "of no bytes, without a lookup") \
	X(pages, "entries", "MTT entries needed") \
	X(contiguous, "requests", "granted without MTT because the region is contiguous")

#define TRANSLATION_GAUGES(X) \
	X(checker, BUSY, "requests", "unit entry, which starts one translation per interval") \
	X(pending, QUEUE, "requests", "requested and without a response yet")

#define TRANSLATION_TRACE(X) \
	X(TRANSLATE, "key", "address", "a translation is requested") \
	X(TRANSLATE_DONE, "status", "host_address", "a translation responds")
/* clang-format on */

struct translation_counters {
	TRANSLATION_COUNTERS(COUNTER_FIELD)
};

/* All that it is given outlives it; MPT and MTT entries are read over that PCIe. */
struct translation_unit *translation_unit_create(struct sim *sim, const char *name,
						 const struct translation_params *params,
						 struct pcie *pcie, struct mr_table *regions);
void translation_unit_destroy(struct translation_unit *unit);

/* Key, protection domain, range and rights are checked in this order; the first that fails is the response. */
void translate(struct translation_unit *unit, struct translation *translation);

/* The region changed or is gone: forget what the caches hold of it. */
void translation_invalidate(struct translation_unit *unit, const struct mr *mr);

const struct translation_counters *translation_counters(const struct translation_unit *unit);
const struct icm_cache_counters *translation_mpt_counters(const struct translation_unit *unit);
const struct icm_cache_counters *translation_mtt_counters(const struct translation_unit *unit);

#endif
