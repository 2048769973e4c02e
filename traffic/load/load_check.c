/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_check: which values of a load go together, before anything is made of them. Each message says what is expected.
 */
#include <stdio.h>

#include "hca/formats/wqe.h"
#include "traffic/load/load_state.h"

enum { GRH_BYTES = 40, MESSAGE_MAX = 64 << 20 };

/* What is sent to a queue pair that cannot take it now may be lost, and nobody sends it again. */
static bool check_receives(const struct load_params *params, char *error, size_t error_bytes)
{
	bool ud = params->transport == LOAD_UD;
	bool datagram = params->server.response == LOAD_RESPONSE_DATAGRAM;
	uint64_t clients = (params->nodes - 1) * params->threads * params->qps;
	uint64_t requests = params->verb == LOAD_SEND ? params->tx_depth * (ud ? clients : 1) : 0;
	uint64_t responses = datagram ? params->tx_depth * params->qps
			     : params->server.response == LOAD_RESPONSE_SEND ? params->tx_depth
									     : 0;

	if (requests > load_receives(params, ud))
		snprintf(error, error_bytes,
			 "%u requests to a queue pair may be under way: rx_depth has to be as many",
			 (unsigned)requests);
	else if (responses > load_receives(params, datagram))
		snprintf(
			error, error_bytes,
			"%u responses to a queue pair may be under way: rx_depth has to be as many",
			(unsigned)responses);
	else
		return true;
	return false;
}

/* Cores that respond. */
static bool check_served(const struct load_params *params, char *error, size_t error_bytes)
{
	const struct load_server_params *server = &params->server;
	const struct load_params responses = load_responses_of(params);
	uint64_t clients = (params->nodes - 1) * params->threads * params->qps;

	if (params->pattern != LOAD_INBOUND)
		snprintf(error, error_bytes, "server.cores respond with pattern inbound");
	else if (params->verb != LOAD_WRITE && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "requests to server.cores are writes or sends");
	else if (params->transport == LOAD_DC)
		snprintf(error, error_bytes, "servers need transport rc, uc or ud");
	else if (params->transport == LOAD_UD && server->response != LOAD_RESPONSE_DATAGRAM)
		snprintf(error, error_bytes,
			 "requests of transport ud need server.response datagram");
	else if (server->chosen == LOAD_CHOSEN_RANDOM && server->response < LOAD_RESPONSE_DATAGRAM)
		snprintf(error, error_bytes,
			 "server.chosen random needs server.response datagram or none");
	else if (server->chosen == LOAD_CHOSEN_RANDOM && params->transport != LOAD_UD &&
		 params->verb == LOAD_SEND)
		snprintf(error, error_bytes,
			 "server.chosen random needs requests that are writes, or transport ud");
	else if (clients < server->cores)
		snprintf(error, error_bytes, "%u clients are too few for server.cores %u",
			 (unsigned)clients, (unsigned)server->cores);
	else if (params->regions > 1 || params->region_of == LOAD_OF_EACH_THREAD ||
		 params->addresses_per_region > 1 || params->strides || params->cqe_compression ||
		 params->sges.count || params->receive_sges.count || params->background.threads ||
		 params->cores_per_thread > 1 || params->cq_of == LOAD_OF_QP ||
		 params->counts == LOAD_RECEIVED)
		snprintf(error, error_bytes,
			 "server.cores go without regions, addresses_per_region, strides, "
			 "cqe_compression, sges, "
			 "receive_sges, cores_per_thread, cq_of, counts and background");
	else if (params->bytes == 0 && params->verb == LOAD_WRITE)
		snprintf(error, error_bytes, "requests that are written need bytes");
	else if (responses.inline_data && load_wqe_blocks(&responses) > WQE_BLOCKS_MAX)
		snprintf(error, error_bytes,
			 "responses of %u B are too many for server.inline_data",
			 (unsigned)server->bytes);
	else if (responses.transport == LOAD_UD &&
		 (server->bytes > params->mtu ||
		  (params->transport == LOAD_UD && params->bytes > params->mtu)))
		snprintf(error, error_bytes, "a datagram has room for mtu, %u B",
			 (unsigned)params->mtu);
	else if (server->bytes == 0 && server->response == LOAD_RESPONSE_WRITE)
		snprintf(error, error_bytes, "responses that are written need server.bytes");
	else if ((params->verb == LOAD_WRITE && params->bytes > server->slot) ||
		 (server->response == LOAD_RESPONSE_WRITE && server->bytes > server->slot))
		snprintf(error, error_bytes,
			 "server.slot %u is too small for what is written there",
			 (unsigned)server->slot);
	else
		return check_receives(params, error, error_bytes);
	return false;
}

static bool check_lists(const struct load_params *params, char *error, size_t error_bytes)
{
	const struct param_sizes *receive = &params->receive_sges;
	uint64_t header = params->transport == LOAD_UD ? GRH_BYTES : 0;

	if (params->bytes > MESSAGE_MAX || load_sizes_sum(receive) > LOAD_LOCAL_BYTES)
		snprintf(error, error_bytes, "sges are at most 64MiB in all, receive_sges 128MiB");
	else if (params->sges.count && params->inline_data)
		snprintf(error, error_bytes, "sges go without inline_data");
	else if (receive->count && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "receive_sges are for verb send");
	else if (receive->count && params->strides)
		snprintf(error, error_bytes, "receive_sges do not go with strides");
	else if (receive->count && load_sizes_sum(receive) < params->bytes + header)
		snprintf(error, error_bytes,
			 "receive_sges have room for %u B; expected %u B at least",
			 (unsigned)load_sizes_sum(receive), (unsigned)(params->bytes + header));
	else
		return true;
	return false;
}

bool load_may_be_parallel(const struct load_params *params, char *error, size_t error_bytes)
{
	if (params->server.cores)
		snprintf(error, error_bytes,
			 "cores that respond share what they know with all who ask");
	else if (params->transport == LOAD_DC)
		snprintf(error, error_bytes,
			 "targets of dc keep return paths for all nodes together");
	else if (params->inline_data || params->background.inline_data)
		snprintf(error, error_bytes,
			 "the bytes of inline data belong to one node's packets");
	else
		return true;
	return false;
}

bool load_check(const struct load_params *given, char *error, size_t error_bytes)
{
	struct load_params settled = *given;
	const struct load_params *params = &settled;

	load_add_up(&settled);
	if (params->post_list > params->tx_depth ||
	    (params->cq_mod > params->tx_depth && !params->server.cores))
		snprintf(error, error_bytes, "post_list and cq_mod are at most tx_depth");
	else if (params->refill == LOAD_REFILL_ALL && params->tx_depth % params->post_list)
		snprintf(error, error_bytes,
			 "with refill: all, tx_depth is a multiple of post_list");
	else if (params->refill == LOAD_REFILL_ALL && params->server.cores)
		snprintf(error, error_bytes, "refill: all is not for cores that respond");
	else if (params->outstanding &&
		 (params->cq_mod > 1 || params->post_list > params->outstanding))
		snprintf(error, error_bytes,
			 "with outstanding, cq_mod is 1 and post_list at most that");
	else if (params->bfregs && (params->cores_per_thread > 1 || params->server.cores))
		snprintf(error, error_bytes, "bfregs go without cores_per_thread and server.cores");
	else if (params->topology == LOAD_CABLE && params->nodes != 2)
		snprintf(error, error_bytes, "a cable joins 2 nodes");
	else if (params->transport != LOAD_RC && params->transport != LOAD_DC &&
		 (params->verb == LOAD_READ || params->verb == LOAD_FETCH_ADD))
		snprintf(error, error_bytes, "reads and atomics need transport rc or dc");
	else if (params->transport == LOAD_DC && params->verb == LOAD_SEND)
		snprintf(error, error_bytes,
			 "transport dc has no sends here: write, read or fetch_add");
	else if (params->transport == LOAD_UD && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "transport ud has sends only");
	else if (params->verb == LOAD_FETCH_ADD && params->bytes != 8)
		snprintf(error, error_bytes, "atomics are of 8 B");
	else if (params->inline_data && load_wqe_blocks(params) > WQE_BLOCKS_MAX)
		snprintf(error, error_bytes, "%u B are too many inline", (unsigned)params->bytes);
	else if (params->cqe_compression && params->scatter_to_cqe)
		snprintf(error, error_bytes, "CQEs with data in them are not compressed");
	else if (params->strides && (params->transport != LOAD_UD || params->scatter_to_cqe))
		snprintf(error, error_bytes, "strides are for ud, and not with scatter_to_cqe");
	else if (params->strides * params->stride_bytes > LOAD_LOCAL_BYTES)
		snprintf(error, error_bytes, "%u strides are too many of that size",
			 (unsigned)params->strides);
	else if (params->rx_depth & (params->rx_depth - 1))
		snprintf(error, error_bytes, "rx_depth is a power of two");
	else if (params->paging != LOAD_PAGING_NONE &&
		 (params->transport != LOAD_RC || params->contiguous))
		snprintf(error, error_bytes, "paging needs transport rc and regions with pages");
	else if (params->background.threads &&
		 (params->background.verb == LOAD_SEND || params->transport != LOAD_RC))
		snprintf(error, error_bytes,
			 "background work needs transport rc, and does not send");
	else if (params->background.threads && params->cq_of == LOAD_OF_QP)
		snprintf(error, error_bytes, "background work needs CQs of threads");
	else if (params->background.threads && params->background.verb == LOAD_FETCH_ADD &&
		 params->background.bytes != 8)
		snprintf(error, error_bytes, "background atomics are of 8 B");
	else if (params->server.cores && !check_served(params, error, error_bytes))
		return false;
	else if (params->warm_up == 0)
		snprintf(error, error_bytes, "warm_up is at least 1");
	else
		return check_lists(params, error, error_bytes);
	return false;
}
