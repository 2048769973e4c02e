/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal: state of the emulated kernel, for the files of this folder.
 */
#ifndef VERBS_SHIM_KERNEL_INTERNAL_H
#define VERBS_SHIM_KERNEL_INTERNAL_H

#include "fabric/endpoints.h"
#include "hca/iwarp/rnic.h"
#include "sim/block.h"
#include "verbs-shim/kernel/channel.h"
#include "verbs-shim/kernel/file.h"
#include "verbs-shim/kernel/kernel.h"
#include "verbs-shim/kernel/kernel_params.h"
#include "verbs-shim/kernel/object.h"
#include "verbs-shim/kernel/uar.h"

#define DEVICE_NODE "/dev/infiniband/uverbs0"

/* clang-format off */
/* Points QP_RESET to QP_ERR have the order of enum qp_state. Points CM_ADDRESS to CM_JOINED have
 * the order of enum cm_kind. */
#define KERNEL_TRACE(X) \
	X(QP_CREATE, "qpn", "type", \
	  "a program creates a QP; types: 2 RC, 3 UC, 4 UD, as ibv_qp_type") \
	X(QP_RESET, "qpn", "from", \
	  "a program moves a QP to RESET; states: 0 RESET, 1 INIT, 2 RTR, 3 RTS, 4 SQD, 5 SQE, " \
	  "6 ERR") \
	X(QP_INIT, "qpn", "from", "a program moves a QP to INIT") \
	X(QP_RTR, "qpn", "from", "a program moves a QP to RTR") \
	X(QP_RTS, "qpn", "from", "a program moves a QP to RTS") \
	X(QP_SQD, "qpn", "from", "a program moves a QP to SQD") \
	X(QP_SQE, "qpn", "from", "a program moves a QP to SQE") \
	X(QP_ERR, "qpn", "from", "a program moves a QP to ERR") \
	X(QP_DESTROY, "qpn", "", "a program destroys a QP, or ends") \
	X(CQ_CREATE, "cqn", "entries", "a program creates a CQ") \
	X(CQ_EVENT, "cqn", "", "the adapter reports a completion event") \
	X(CQ_DESTROY, "cqn", "", "a program destroys a CQ, or ends") \
	X(MR_REGISTER, "key", "pages", "a program registers memory") \
	X(MR_DEREGISTER, "key", "pages", "a program deregisters memory, or ends") \
	X(ASYNC_EVENT, "number", "event", \
	  "the adapter reports an event of a QP, CQ, SRQ or port, as ibv_event_type") \
	X(CM_ADDRESS, "id", "host", "an address or a route of rdma_cm is resolved") \
	X(CM_REQ, "id", "host", "a connection request arrives from a host") \
	X(CM_REP, "id", "host", "the reply to a connection request arrives") \
	X(CM_RTU, "id", "host", "the message that completes a connection arrives") \
	X(CM_REJ, "id", "host", "a rejection arrives") \
	X(CM_DREQ, "id", "host", "a request to disconnect arrives") \
	X(CM_DREP, "id", "host", "the reply to a request to disconnect arrives") \
	X(CM_SIDR_REQ, "id", "host", "a request for the QP of a datagram service arrives") \
	X(CM_SIDR_REP, "id", "host", "the reply to such a request arrives") \
	X(CM_JOINED, "id", "host", "a multicast group is joined")
/* clang-format on */

enum { KERNEL_TRACE(TRACE_ENUM) };

struct siw_ring;
enum { SIW_BUCKETS = 256 };
struct xrc_domain;

struct kernel {
	struct block block;
	struct kernel_params params;
	struct hca *hca;
	struct endpoints *endpoints;
	uint32_t endpoint;
	uint32_t interface_mtu;
	struct kernel_host *host;
	struct hca_driver driver;
	struct address_resolver resolver;
	struct context *contexts;   /* open command files, newest first */
	struct xrc_domain *domains; /* domains shared through a file */
	struct numbers numbers;
	uint32_t last_pd, last_xrcd; /* last numbers assigned */
	uint32_t last_uar_page;
	struct cm_id *cm_ids;           /* identifiers of the connection manager, newest first */
	struct cm_message *cm_messages; /* messages in flight to the connection manager */
	uint32_t cm_last;
	uint8_t key_variant;        /* low 8 bits of the last memory key */
	struct rnic_user rnic_user; /* iWARP: reports of connections */
	const void *refused[64];    /* names already reported to the host */
	uint32_t refused_count;
};

/* One open file of the device. */
struct context {
	struct kernel_file file;
	struct context *next;
	bool established; /* GET_CONTEXT has been executed */
	struct objects objects;
	struct channel *async;
	struct uars uars;
	struct siw_ring *rings[SIW_BUCKETS]; /* siw.h */
	uint64_t last_ring;
};

/* The end of GET_CONTEXT, after its response: creates the channel of asynchronous events. */
struct command;
void context_establish(struct command *command);

/* Reports a refused request to the host, once for each `what`, which must be a literal. Returns
 * -error. */
int kernel_refuse(struct kernel *kernel, const char *what, int error);

static inline const struct endpoint *kernel_endpoint(const struct kernel *kernel)
{
	return endpoints_get(kernel->endpoints, kernel->endpoint);
}

#endif
