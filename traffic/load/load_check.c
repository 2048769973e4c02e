/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_check: checks the consistency of a load's parameters before anything is created. Each
 * message states the expected value.
 */
#include <stdio.h>

#include "hca/formats/wqe.h"
#include "traffic/load/load_state.h"

enum { GRH_BYTES = 40, MESSAGE_MAX = 64 << 20 };

static bool fetches(uint32_t verb)
{
	return verb == LOAD_READ || verb == LOAD_FETCH_ADD;
}

/* Checks that receive queues are deep enough. A message to a queue pair without a receive work
 * request can be lost, and is not sent again. */
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
			 "rx_depth is too small: a queue pair may have %u requests in flight; set "
			 "rx_depth to a power of two that is at least as large",
			 (unsigned)requests);
	else if (responses > load_receives(params, datagram))
		snprintf(error, error_bytes,
			 "rx_depth is too small: a queue pair may have %u responses in flight; set "
			 "rx_depth to a power of two that is at least as large",
			 (unsigned)responses);
	else
		return true;
	return false;
}

/* Checks a load with server cores. */
static bool check_served(const struct load_params *params, char *error, size_t error_bytes)
{
	const struct load_server_params *server = &params->server;
	const struct load_params responses = load_responses_of(params);
	uint64_t clients = (params->nodes - 1) * params->threads * params->qps;
	uint64_t longest = load_longest(params);

	if (params->pattern != LOAD_INBOUND)
		snprintf(error, error_bytes, "server.cores needs pattern inbound");
	else if (params->verb != LOAD_WRITE && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "server.cores needs verb write or send");
	else if (params->transport == LOAD_DC)
		snprintf(error, error_bytes, "server.cores needs transport rc, uc or ud");
	else if (params->transport == LOAD_UD && server->response != LOAD_RESPONSE_DATAGRAM)
		snprintf(error, error_bytes,
			 "server.cores with transport ud needs server.response datagram");
	else if (server->chosen == LOAD_CHOSEN_RANDOM && server->response < LOAD_RESPONSE_DATAGRAM)
		snprintf(error, error_bytes,
			 "server.chosen random needs server.response datagram or none");
	else if (server->chosen == LOAD_CHOSEN_RANDOM && params->transport != LOAD_UD &&
		 params->verb == LOAD_SEND)
		snprintf(error, error_bytes,
			 "server.chosen random needs verb write, or transport ud");
	else if (clients < server->cores)
		snprintf(error, error_bytes,
			 "%u clients are too few for server.cores %u; expected a client or more "
			 "per core",
			 (unsigned)clients, (unsigned)server->cores);
	else if (params->regions > 1 || params->region_of == LOAD_OF_EACH_THREAD ||
		 params->addresses_per_region > 1 || params->strides || params->cqe_compression ||
		 params->sges.count || params->receive_sges.count || params->background.threads ||
		 params->cores_per_thread > 1 || params->cq_of == LOAD_OF_QP ||
		 params->counts == LOAD_RECEIVED)
		snprintf(error, error_bytes,
			 "server.cores does not support regions, addresses_per_region, strides, "
			 "cqe_compression, sges, receive_sges, cores_per_thread, cq_of, counts and "
			 "background; remove them");
	else if (params->bytes.count > 1)
		snprintf(error, error_bytes, "server.cores needs bytes of one size");
	else if (longest == 0 && params->verb == LOAD_WRITE)
		snprintf(error, error_bytes, "server.cores with verb write needs bytes above 0");
	else if (responses.inline_data && load_wqe_blocks(&responses) > WQE_BLOCKS_MAX)
		snprintf(error, error_bytes,
			 "server.bytes %u is too large for server.inline_data; set inline_data: "
			 "false, or reduce it",
			 (unsigned)server->bytes);
	else if (responses.transport == LOAD_UD &&
		 (server->bytes > params->mtu ||
		  (params->transport == LOAD_UD && longest > params->mtu)))
		snprintf(error, error_bytes,
			 "a datagram holds at most mtu, %u B; reduce bytes or server.bytes",
			 (unsigned)params->mtu);
	else if (server->bytes == 0 && server->response == LOAD_RESPONSE_WRITE)
		snprintf(error, error_bytes, "server.response write needs server.bytes above 0");
	else if ((params->verb == LOAD_WRITE && longest > server->slot) ||
		 (server->response == LOAD_RESPONSE_WRITE && server->bytes > server->slot))
		snprintf(error, error_bytes,
			 "server.slot %u is smaller than the request or response written to it; "
			 "increase it",
			 (unsigned)server->slot);
	else
		return check_receives(params, error, error_bytes);
	return false;
}

static bool check_lists(const struct load_params *params, char *error, size_t error_bytes)
{
	const struct param_sizes *receive = &params->receive_sges;
	uint64_t header = params->transport == LOAD_UD ? GRH_BYTES : 0;
	uint64_t longest = load_longest(params);

	if (longest > MESSAGE_MAX || load_sizes_sum(receive) > LOAD_LOCAL_BYTES)
		snprintf(error, error_bytes,
			 "the sum of sges is at most 64MiB, the sum of receive_sges 128MiB");
	else if (params->sges.count && params->inline_data)
		snprintf(error, error_bytes, "sges and inline_data exclude each other");
	else if (receive->count && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "receive_sges needs verb send");
	else if (receive->count && params->strides)
		snprintf(error, error_bytes, "receive_sges and strides exclude each other");
	else if (receive->count && load_sizes_sum(receive) < longest + header)
		snprintf(error, error_bytes,
			 "receive_sges have room for %u B; expected at least %u B",
			 (unsigned)load_sizes_sum(receive), (unsigned)(longest + header));
	else
		return true;
	return false;
}

bool load_may_be_parallel(const struct load_params *params, char *error, size_t error_bytes)
{
	if (params->server.cores)
		snprintf(error, error_bytes,
			 "with server.cores all nodes share the state of the servers");
	else if (params->transport == LOAD_DC)
		snprintf(error, error_bytes,
			 "with transport dc all nodes share the return paths of the targets");
	else if (params->inline_data || params->background.inline_data)
		snprintf(error, error_bytes,
			 "the bytes of inline data belong to the packets of one node");
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
		snprintf(error, error_bytes, "post_list and cq_mod must not exceed tx_depth");
	else if (params->refill == LOAD_REFILL_ALL && params->tx_depth % params->post_list)
		snprintf(error, error_bytes,
			 "refill: all needs a tx_depth that is a multiple of post_list");
	else if (params->refill == LOAD_REFILL_ALL && params->server.cores)
		snprintf(error, error_bytes, "refill: all does not work with server.cores");
	else if (params->outstanding &&
		 (params->cq_mod > 1 || params->post_list > params->outstanding))
		snprintf(error, error_bytes,
			 "outstanding needs cq_mod 1 and a post_list that does not exceed it");
	else if (params->local_regions > 1 &&
		 (params->verb == LOAD_SEND || params->inline_data || params->server.cores))
		snprintf(error, error_bytes,
			 "local_regions needs verb write, read or fetch_add, without inline_data "
			 "and "
			 "server.cores");
	else if (params->background.threads && params->background.local_regions > 1 &&
		 params->background.inline_data)
		snprintf(error, error_bytes,
			 "background.local_regions needs background.inline_data: false");
	else if (params->bfregs && (params->cores_per_thread > 1 || params->server.cores))
		snprintf(error, error_bytes,
			 "bfregs does not work with cores_per_thread and server.cores");
	else if (params->topology == LOAD_CABLE && params->nodes != 2)
		snprintf(error, error_bytes, "topology cable needs 2 nodes");
	else if (params->transport != LOAD_RC && params->transport != LOAD_DC &&
		 (params->verb == LOAD_READ || params->verb == LOAD_FETCH_ADD))
		snprintf(error, error_bytes, "reads and atomics need transport rc or dc");
	else if (params->transport == LOAD_DC && params->verb == LOAD_SEND)
		snprintf(error, error_bytes,
			 "transport dc supports write, read and fetch_add only");
	else if (params->transport == LOAD_UD && params->verb != LOAD_SEND)
		snprintf(error, error_bytes, "transport ud supports verb send only");
	else if (params->verb == LOAD_FETCH_ADD && load_has_other(params, 8))
		snprintf(error, error_bytes, "verb fetch_add needs bytes 8");
	else if (params->inline_data && fetches(params->verb))
		snprintf(error, error_bytes,
			 "inline_data: true needs verb: write or send; reads and atomics carry no "
			 "data in their WQE");
	else if (params->background.threads && params->background.inline_data &&
		 fetches(params->background.verb))
		snprintf(error, error_bytes,
			 "background.inline_data: true needs background.verb: write");
	else if (params->inline_data && load_wqe_blocks(params) > WQE_BLOCKS_MAX)
		snprintf(error, error_bytes,
			 "%u B are too many for inline_data; set inline_data: false, or reduce "
			 "bytes",
			 (unsigned)load_longest(params));
	else if (params->cqe_compression && params->scatter_to_cqe)
		snprintf(error, error_bytes,
			 "cqe_compression and scatter_to_cqe exclude each other");
	else if (params->strides && (params->transport != LOAD_UD || params->scatter_to_cqe))
		snprintf(error, error_bytes, "strides needs transport ud without scatter_to_cqe");
	else if (params->strides * params->stride_bytes > LOAD_LOCAL_BYTES)
		snprintf(error, error_bytes,
			 "%u strides of this size are too large together; reduce strides or "
			 "stride_bytes",
			 (unsigned)params->strides);
	else if (params->rx_depth & (params->rx_depth - 1))
		snprintf(error, error_bytes, "rx_depth must be a power of two");
	else if (params->paging != LOAD_PAGING_NONE &&
		 (params->transport != LOAD_RC || params->contiguous))
		snprintf(error, error_bytes, "paging needs transport rc and contiguous: false");
	else if (params->background.threads &&
		 (params->background.verb == LOAD_SEND || params->transport != LOAD_RC))
		snprintf(error, error_bytes,
			 "background needs transport rc and a verb other than send");
	else if (params->background.threads && params->cq_of == LOAD_OF_QP)
		snprintf(error, error_bytes, "background needs cq_of thread");
	else if (params->background.threads && params->background.verb == LOAD_FETCH_ADD &&
		 params->background.bytes != 8)
		snprintf(error, error_bytes, "background.verb fetch_add needs background.bytes 8");
	else if (params->server.cores && !check_served(params, error, error_bytes))
		return false;
	else if (params->warm_up == 0)
		snprintf(error, error_bytes, "warm_up must be at least 1");
	else
		return check_lists(params, error, error_bytes);
	return false;
}
