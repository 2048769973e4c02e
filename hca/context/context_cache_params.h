/*
 * context_cache_params: the caches of queue contexts. Requester's and responder's part of a QP's
 * state are apart: a QP that only sends touches the one, a QP that is only written to the other.
 * Lists: icm_requester_param_list, icm_responder_param_list, icm_cq_param_list, icm_srq_param_list
 * (icm_cache_params.h).
 */
#ifndef HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H
#define HCA_CONTEXT_CONTEXT_CACHE_PARAMS_H

#include "hca/context/icm_cache_params.h"

struct context_cache_params {
	struct icm_cache_params requester, responder, cq, srq;
};

#endif
