/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_query: queries about an identifier: addresses of both sides, path, and attributes of its QP in
 * each state. As with Linux, the program modifies the QP itself.
 */
#include <errno.h>
#include <string.h>

#include "fabric/partition.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/siw.h"

#define MASK(name)  (UINT32_C(1) << ATTR_##name)
#define RATE_MATCH  2  /* selector: exactly */
#define HOPS        64 /* as Linux has them for IPv4 */
#define ACK_TIMEOUT 18 /* 1.07 s; Linux adds the packet lifetime to the ACK timeout */

/* Bits of a mask of attributes: enum ib_qp_attr_mask of the verbs ABI. */
enum {
	ATTR_STATE = 0,
	ATTR_ACCESS_FLAGS = 3,
	ATTR_PKEY_INDEX = 4,
	ATTR_PORT = 5,
	ATTR_QKEY = 6,
	ATTR_AV = 7,
	ATTR_PATH_MTU = 8,
	ATTR_TIMEOUT = 9,
	ATTR_RETRY_CNT = 10,
	ATTR_RNR_RETRY = 11,
	ATTR_RQ_PSN = 12,
	ATTR_MAX_QP_RD_ATOMIC = 13,
	ATTR_MIN_RNR_TIMER = 15,
	ATTR_SQ_PSN = 16,
	ATTR_MAX_DEST_RD_ATOMIC = 17,
	ATTR_DEST_QPN = 20,
};
enum { QP_INIT = 1, QP_RTR = 2, QP_RTS = 3 };
enum { REMOTE_WRITE = 2, REMOTE_READ = 4, REMOTE_ATOMIC = 8 };

static uint32_t mtu_of(const struct kernel *kernel)
{
	return (uint32_t)kernel->params.port_mtu + 1;
}

static void fill_path(const struct kernel *kernel, const struct cm_id *id,
		      struct ib_user_path_rec *path)
{
	const struct endpoint *own = kernel_endpoint(kernel);
	const struct endpoint *peer = endpoints_get(kernel->endpoints, id->peer_host);

	memcpy(path->sgid, own->gids[cm_gid_index(own, &id->source)].bytes, 16);
	path->dlid = htons(peer->lid);
	if (cm_address_is_group(&id->destination))
		cm_address_group(kernel, &id->destination, path->dgid);
	else
		memcpy(path->dgid, peer->gids[cm_gid_index(peer, &id->destination)].bytes, 16);
	path->pkey = htons(own->partitions->keys[0]);
	path->slid = htons(own->lid);
	path->reversible = 1;
	path->mtu_selector = RATE_MATCH;
	path->mtu = mtu_of(kernel);
	if (own->link_layer == LINK_ETHERNET) {
		path->hop_limit = HOPS;
		path->traffic_class = id->type_of_service;
	}
}

static bool knows_peer(const struct cm_id *id)
{
	return id->state >= CM_ADDRESS_RESOLVED && id->state != CM_LISTENING;
}

int cm_query_route(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_query, request);
	struct rdma_ucm_query_route_resp response = {0};
	const struct cm_id *id = cm_own(call, request.id);
	const struct endpoint *own = kernel_endpoint(call->kernel);

	if (!id)
		return -ENOENT;
	memcpy(&response.src_addr, &id->source, sizeof(id->source));
	memcpy(&response.dst_addr, &id->destination, sizeof(id->destination));
	if (cm_address_known(&id->source) &&
	    !cm_address_is_any(&id->source)) { /* bound to the device */
		response.node_guid = htobe64(own->guid);
		response.port_num = 1;
	}
	response.ibdev_index = UINT32_MAX; /* found by the GUID */
	if (knows_peer(id)) {
		response.num_paths = id->state >= CM_ROUTE_RESOLVED && !siw_cm_has(id);
		fill_path(call->kernel, id, &response.ib_route[0]);
	}
	return cm_reply(call, request.response, &response, sizeof(response));
}

static void fill_global(const struct cm_id *id, const uint8_t gid[16],
			struct ib_uverbs_ah_attr *address)
{
	const struct endpoint *own = kernel_endpoint(id->file->file.kernel);

	address->is_global = 1;
	memcpy(address->grh.dgid, gid, 16);
	address->grh.sgid_index = (uint8_t)cm_gid_index(own, &id->source);
	if (own->link_layer == LINK_ETHERNET) {
		address->grh.hop_limit = HOPS;
		address->grh.traffic_class = id->type_of_service;
	}
}

void cm_fill_address(const struct cm_id *id, struct ib_uverbs_ah_attr *address)
{
	const struct kernel *kernel = id->file->file.kernel;
	const struct endpoint *peer = endpoints_get(kernel->endpoints, id->peer_host);

	address->port_num = 1;
	address->dlid = peer->lid;
	if (kernel_endpoint(kernel)->link_layer == LINK_ETHERNET)
		fill_global(id, peer->gids[cm_gid_index(peer, &id->destination)].bytes, address);
}

void cm_fill_group(const struct cm_id *id, const uint8_t gid[16], uint16_t lid,
		   struct ib_uverbs_ah_attr *address)
{
	address->port_num = 1;
	address->dlid = lid;
	fill_global(id, gid, address);
}

int cm_init_qp_attr(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_init_qp_attr, request);
	const struct cm_id *id = cm_own(call, request.id);
	struct ib_uverbs_qp_attr response = {.qp_state = request.qp_state,
					     .qp_attr_mask = MASK(STATE)};

	if (!id)
		return -ENOENT;
	if (id->qp_type == CM_QP_UD) { /* equal in each state */
		response.qp_attr_mask |= MASK(PKEY_INDEX) | MASK(PORT) | MASK(QKEY);
		response.port_num = 1;
		response.qkey = CM_QKEY;
	} else if (siw_cm_has(id)) { /* the kernel itself moves the QP to RTS */
		response.qp_attr_mask = request.qp_state == QP_INIT
						? MASK(STATE) | MASK(ACCESS_FLAGS) | MASK(PORT)
						: 0;
		response.port_num = 1;
		response.qp_access_flags = REMOTE_WRITE | REMOTE_READ;
	} else if (request.qp_state == QP_INIT) {
		response.qp_attr_mask |= MASK(ACCESS_FLAGS) | MASK(PKEY_INDEX) | MASK(PORT);
		response.port_num = 1;
		response.qp_access_flags = REMOTE_WRITE;
		if (id->responder_resources)
			response.qp_access_flags |= REMOTE_READ | REMOTE_ATOMIC;
	} else if (id->state < CM_REQUEST_RECEIVED || id->state > CM_ESTABLISHED) {
		return -EINVAL;
	} else if (request.qp_state == QP_RTR) {
		response.qp_attr_mask |= MASK(AV) | MASK(PATH_MTU) | MASK(DEST_QPN) | MASK(RQ_PSN) |
					 MASK(MAX_DEST_RD_ATOMIC) | MASK(MIN_RNR_TIMER);
		cm_fill_address(id, &response.ah_attr);
		response.path_mtu = mtu_of(call->kernel);
		response.dest_qp_num = id->peer_qp;
		response.rq_psn = id->peer_psn;
		response.max_dest_rd_atomic = id->responder_resources;
	} else if (request.qp_state == QP_RTS) {
		response.qp_attr_mask |= MASK(SQ_PSN) | MASK(RETRY_CNT) | MASK(RNR_RETRY) |
					 MASK(MAX_QP_RD_ATOMIC) | MASK(TIMEOUT);
		response.sq_psn = id->own_psn;
		response.retry_cnt = id->retry_count;
		response.rnr_retry = id->rnr_retry_count;
		response.max_rd_atomic = id->initiator_depth;
		response.timeout = id->ack_timeout ? id->ack_timeout : ACK_TIMEOUT;
	} else {
		return -EINVAL;
	}
	return cm_reply(call, request.response, &response, sizeof(response));
}
