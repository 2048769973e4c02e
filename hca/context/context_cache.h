/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_cache: the queue contexts that are cached on the adapter: QP, CQ and SRQ. The requester's
 * and the responder's part of a QP's context are separate. On some adapters, the responder's state
 * of READs is separate, too. A block looks up the context before it uses the state of a queue. It
 * continues in done(): soon on a hit, after a PCIe read of the context on a miss.
 *
 *     scheduler, responder, completer --context_cache_lookup()--> an icm_cache of each kind:
 *                                              requester | responder | reads | cq | srq
 *
 * The state itself belongs to the blocks in transport/ and work/. This block simulates only the
 * time of an access.
 */
#ifndef HCA_CONTEXT_CONTEXT_CACHE_H
#define HCA_CONTEXT_CONTEXT_CACHE_H

#include "hca/context/context_cache_params.h"
#include "hca/context/icm_cache.h"

/* One lookup. The caller owns it and must not change it until done(). */
struct context_lookup {
	uint32_t number;        /* in: QPN, CQN or SRQN */
	enum context_kind kind; /* in: CONTEXT_REQUESTER, _RESPONDER, _CQ, _SRQ, or _READS */
	uint32_t tag;           /* in: the WQE it is for, or 0 */
	bool reliable;          /* in: QPs: RC or XRC */
	bool hit;               /* out: no PCIe read was necessary */
	uint8_t parts_busy;     /* private, as all members after done() */
	void (*done)(
		struct context_lookup *); /* in: called once, never from context_cache_lookup() */
	struct icm_lookup first;          /* lookup of the first part of the context */
};

struct context_cache;

/* Creates the caches. Their blocks are NAME.requester, NAME.responder, NAME.cq and NAME.srq, and
 * NAME.reads with contexts.separate_rdmarc. Copies `params`; `pcie` must outlive the caches. */
struct context_cache *context_cache_create(struct sim *sim, const char *name,
					   const struct context_cache_params *params,
					   struct pcie *pcie);
void context_cache_destroy(struct context_cache *cache);

/* Starts a lookup. CONTEXT_READS is the responder's state of READs and atomics. Without
 * contexts.separate_rdmarc, this state is part of CONTEXT_RESPONDER. */
void context_cache_lookup(struct context_cache *cache, struct context_lookup *lookup);

/*
 * Looks up a context without an event. Returns true on a hit and writes the absolute time of the
 * response to *ready. Returns false on a miss and counts nothing. The caller then calls
 * context_cache_lookup().
 */
bool context_cache_hit(struct context_cache *cache, enum context_kind kind, uint32_t number,
		       bool reliable, uint32_t tag, sim_time *ready);

/* Returns true if the responder's state of READs has its own cache. */
bool context_cache_separate_rdmarc(const struct context_cache *cache);

/* Invalidates the context of a queue that was destroyed or changed by a command. */
void context_cache_invalidate(struct context_cache *cache, enum context_kind kind, uint32_t number);

/* Returns the counters of one cache. `kind` must not be CONTEXT_READS without
 * contexts.separate_rdmarc. */
const struct icm_cache_counters *context_cache_counters(const struct context_cache *cache,
							enum context_kind kind);

#endif
