/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_cache: the queue contexts that the adapter has at hand: QP (requester's and responder's
 * part apart, and on some adapters what a responder notes of reads), CQ, SRQ. Whoever is about to use a queue's state asks here first, and goes on in
 * done(): at once on a hit, after a PCIe read of the context on a miss.
 *
 *     scheduler, responder, completer --context_cache_lookup()--> requester | responder | reads | cq | srq
 * (icm_cache.h)
 *
 * The state itself lives with its owner (transport/, work/): here is only what its use costs in
 * time.
 */
#ifndef HCA_CONTEXT_CONTEXT_CACHE_H
#define HCA_CONTEXT_CONTEXT_CACHE_H

#include "hca/context/context_cache_params.h"
#include "hca/context/icm_cache.h"

/* The caller owns it and leaves it alone until done(). */
struct context_lookup {
	uint32_t number;        /* in: QPN, CQN or SRQN */
	enum context_kind kind; /* in: CONTEXT_REQUESTER, _RESPONDER, _CQ, _SRQ, or _READS */
	uint32_t tag;           /* in: the WQE it is for; 0: none */
	bool reliable;          /* in: QPs: RC or XRC */
	bool hit;               /* out: no PCIe read was waited for */
	uint8_t parts_busy;     /* private, as what is behind done() */
	void (*done)(
		struct context_lookup *); /* in: called once, never from context_cache_lookup() */
	struct icm_lookup first;          /* of the context's parts */
};

struct context_cache;

/* Its blocks are name.requester, name.responder, name.cq, name.srq, and with contexts.separate_rdmarc name.reads. */
struct context_cache *context_cache_create(struct sim *sim, const char *name,
					   const struct context_cache_params *params,
					   struct pcie *pcie);
void context_cache_destroy(struct context_cache *cache);

/* CONTEXT_READS: the responder's part and what it notes of reads. Without contexts.separate_rdmarc these are one: CONTEXT_RESPONDER. */
void context_cache_lookup(struct context_cache *cache, struct context_lookup *lookup);

/*
 * A hit without an event, for who goes on at *ready (an absolute time) anyway. false: a miss, and
 * nothing has happened; call context_cache_lookup().
 */
bool context_cache_hit(struct context_cache *cache, enum context_kind kind, uint32_t number,
		       bool reliable, uint32_t tag, sim_time *ready);

/* Has it a cache of its own for what responders note of reads? */
bool context_cache_separate_rdmarc(const struct context_cache *cache);

/* The queue is destroyed, or its context was changed by a command. */
void context_cache_invalidate(struct context_cache *cache, enum context_kind kind, uint32_t number);

/* Of one kind, which it has a cache of: not CONTEXT_READS unless apart. */
const struct icm_cache_counters *context_cache_counters(const struct context_cache *cache,
							enum context_kind kind);

#endif
