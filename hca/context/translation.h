/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation: translates {key, address, length, rights} to host memory. It reads the MPT entry
 * (rights, range, protection domain) and then the MTT entries (pages), each through its cache. A
 * miss is a PCIe read.
 *
 *     DMA engine --translation_start()--> MPT cache --> MTT cache --done()--> DMA engine
 *
 * The checks are made in this order: key, protection domain, range, rights, and the QP to which a
 * window is bound.
 */
#ifndef HCA_CONTEXT_TRANSLATION_H
#define HCA_CONTEXT_TRANSLATION_H

#include "hca/context/icm_cache.h"
#include "hca/context/mr_table.h"
#include "hca/host/pcie.h"
#include "sim/block.h"

enum translation_status {
	TRANSLATION_OK,
	TRANSLATION_BAD_KEY,    /* the key does not exist or is invalidated */
	TRANSLATION_BAD_PD,     /* another protection domain */
	TRANSLATION_BAD_RANGE,  /* outside the region */
	TRANSLATION_BAD_ACCESS, /* access right missing, or window bound to another QP */
};

/* One translation. The caller owns it and must not change it until done(). */
struct translation {
	uint32_t key;    /* in: L_Key or R_Key */
	uint32_t pd;     /* in */
	uint32_t access; /* in: required enum mr_access bits */
	uint32_t length; /* in: bytes; with 0 nothing is checked (IBTA: zero-length needs no key) */
	uint64_t address; /* in */
	uint32_t qpn;     /* in: for windows bound to one QP (type 2) */
	uint32_t tag;     /* in: the WQE it is for */
	void (*done)(struct translation
			     *translation); /* in: called once, never from translation_start() */
	enum translation_status status;     /* out */
	struct memory *memory;              /* out */
	uint64_t host_address; /* out: address in `memory`; contiguous over the range */
	/* the rest is private to translation.c */
	struct event event;
	struct translation_unit *unit;
	sim_time asked_at;
	struct icm_lookup lookup;
	/* MTT entries still to be looked up: [next_page, last_page). */
	uint64_t next_page, last_page;
	/* used if a module replaces the unit (translation_module.h) */
	struct translation_adapter *adapter;
	void *module; /* the module's own */
	uint64_t serial;
	sim_time response_at;
	/* the next response of the module's process that is not delivered yet */
	struct translation *next;
};

struct translation_adapter;
struct translation_unit;
struct translation_params; /* hca/context/translation_params.h */

/* clang-format off */
#define TRANSLATION_COUNTERS(X)                                                                   \
	X(translations, "requests", "requested")                                                  \
	X(granted, "requests",                                                                    \
	  "that got an address; all other requests are counted in the next five counters")        \
	X(bad_key, "requests", "refused: the key does not exist or is invalidated")               \
	X(bad_pd, "requests", "refused: another protection domain")                               \
	X(bad_range, "requests", "refused: outside of the region")                                \
	X(bad_access, "requests", "refused: access right missing, or window bound to another QP") \
	X(empty, "requests", "of 0 bytes, without a lookup")                                      \
	X(pages, "entries", "MTT entries needed")                                                 \
	X(contiguous, "requests", "granted without MTT because the region is contiguous")

#define TRANSLATION_GAUGES(X)                                                                 \
	X(checker, BUSY, "requests", "unit entry, which starts one translation per interval") \
	X(pending, QUEUE, "requests", "requested and without a response yet")

#define TRANSLATION_TRACE(X)                                         \
	X(TRANSLATE, "key", "address", "a translation is requested") \
	X(TRANSLATE_DONE, "status", "host_address", "a translation responds")
/* clang-format on */

struct translation_counters {
	TRANSLATION_COUNTERS(COUNTER_FIELD)
};

/* Creates a unit. All arguments must outlive the unit. MPT and MTT entries are read over `pcie`. */
struct translation_unit *translation_unit_create(struct sim *sim, const char *name,
						 const struct translation_params *params,
						 struct pcie *pcie, struct mr_table *regions);
void translation_unit_destroy(struct translation_unit *unit);

/* Starts a translation. The first failed check, in the order above, is the response's status. */
void translation_start(struct translation_unit *unit, struct translation *translation);

/* Invalidates the cached entries of a region that was changed or removed. */
void translation_invalidate(struct translation_unit *unit, const struct mr *mr);

const struct translation_counters *translation_counters(const struct translation_unit *unit);
const struct icm_cache_counters *translation_mpt_counters(const struct translation_unit *unit);
const struct icm_cache_counters *translation_mtt_counters(const struct translation_unit *unit);

#endif
