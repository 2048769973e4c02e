/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_cache_params: the caches of queue contexts. Requester's and responder's part of a QP's
 * state are apart: a QP that only sends touches the one, a QP that is only written to the other.
 * Lists: contexts_param_list, icm_requester_param_list, icm_responder_param_list, icm_cq_param_list, icm_srq_param_list,
 * icm_reads_param_list (icm_cache_params.h).
 */
#ifndef HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H
#define HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H

#include "hca/context/icm_cache_params.h"

/* clang-format off */
#define CONTEXT_PARAMS(X) \
	X(reliable_parts, COUNT, "1", "1..2", "entries of requester_cache that a reliable queue pair takes; others take one", \
	  "assumed: one; adapters of the mlx4 driver keep QPC, auxiliary context and RDMA read context apart") \
	X(separate_rdmarc, FLAG, "false", "", "what a responder notes of reads and atomics is in rdmarc_cache, an entry a queue pair; else with its other state", \
	  "assumed: with it; adapters of the mlx4 driver have a table of its own for it") \
	X(mshrs, COUNT, "0", "0..1024", "misses in flight of all these caches together; 0: only each cache's own number counts",  \
	  "assumed: each cache fetches for itself")
/* clang-format on */

struct context_cache_params {
	CONTEXT_PARAMS(PARAM_FIELD)
	struct icm_cache_params requester, responder, cq, srq, reads;
};

extern const struct param contexts_param_list[];

#endif
