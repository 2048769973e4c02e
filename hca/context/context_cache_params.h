/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_cache_params: parameters of the queue context caches. The requester's and the responder's
 * part of a queue pair's context have separate caches. A queue pair that only sends uses the first,
 * a queue pair that only receives WRITEs uses the second.
 * Lists: contexts_param_list, and of icm_cache_params.h icm_cache_requester_param_list,
 * icm_cache_responder_param_list, icm_cache_cq_param_list, icm_cache_srq_param_list and
 * icm_cache_reads_param_list.
 */
#ifndef HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H
#define HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H

#include "hca/context/icm_cache_params.h"

/* clang-format off */
#define CONTEXT_PARAMS(X) \
	X(reliable_parts, COUNT, "1", "1..2", \
	  "Entries of requester_cache that a reliable queue pair takes. Queue pairs of other " \
	  "transports take one.", \
	  "assumed: one; adapters of the mlx4 driver keep QPC, auxiliary context and RDMA read " \
	  "context separate") \
	X(separate_rdmarc, FLAG, "false", "", \
	  "Keep the responder's state of READs and atomics in rdmarc_cache, one entry per queue " \
	  "pair. `false`: this state is part of the responder's context.", \
	  "assumed: part of it; adapters of the mlx4 driver have a separate table") \
	X(mshrs, COUNT, "0", "0..1024", \
	  "Misses that all queue context caches together may have in flight. `0`: only the limit " \
	  "of each cache applies.", \
	  "assumed: each cache fetches for itself") \
	X(module, TEXT, "", "", \
	  "Module that replaces the built-in tags of the queue context caches " \
	  "(docs/explanation/systemc.md). Empty: the built-in tags.", \
	  "choice")
/* clang-format on */

struct context_cache_params {
	CONTEXT_PARAMS(PARAM_FIELD)
	struct icm_cache_params requester, responder, cq, srq, reads;
};

extern const struct param contexts_param_list[];

#endif
