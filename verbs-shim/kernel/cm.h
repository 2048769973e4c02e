/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm: connection manager that librdmacm uses through /dev/infiniband/rdma_cm. Each write() is a
 * command; one command fetches events. It supports connections of reliable QPs (port space TCP),
 * datagram QPs (UDP) and multicast groups, with IPv4 addresses and link-local IPv6 addresses.
 *
 *     program --write()--> cm.c           identifiers, events
 *                           |--> cm_connect.c   connections. Their messages reach the cm_connect.c
 *                           |                   of the other host cm_message_latency later
 *                           |--> cm_datagram.c  QPs that are not connected
 *                           |--> cm_query.c     addresses, attributes of QPs
 *                           |--> cm_group.c     multicast groups
 *                           '--> cm_address.c   meaning of addresses
 *
 * A message represents the MADs of IBTA vol. 1, chapter 12, between the kernels of two hosts. It
 * has their content and takes time, but the fabric does not carry it and never loses it. ABI:
 * <rdma/rdma_user_cm.h>. States: IBTA vol. 1, 12.9.
 */
#ifndef VERBS_SHIM_KERNEL_CM_H
#define VERBS_SHIM_KERNEL_CM_H

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include "verbs-shim/kernel/internal.h"

#define CM_NODE "/dev/infiniband/rdma_cm"

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDRESS_QUERY,
	CM_ADDRESS_RESOLVED,
	CM_ROUTE_QUERY,
	CM_ROUTE_RESOLVED,
	CM_LISTENING,
	CM_REQUEST_SENT,
	CM_REQUEST_RECEIVED,
	CM_REPLY_SENT,
	CM_REPLY_RECEIVED,
	CM_ESTABLISHED,
	CM_DISCONNECT_SENT,
	CM_DISCONNECT_RECEIVED,
	CM_ENDED,
};

/* Values of enum rdma_cm_event_type in the library's rdma_cm.h. */
enum cm_event_type {
	CM_EVENT_ADDR_RESOLVED,
	CM_EVENT_ADDR_ERROR,
	CM_EVENT_ROUTE_RESOLVED,
	CM_EVENT_ROUTE_ERROR,
	CM_EVENT_CONNECT_REQUEST,
	CM_EVENT_CONNECT_RESPONSE,
	CM_EVENT_CONNECT_ERROR,
	CM_EVENT_UNREACHABLE,
	CM_EVENT_REJECTED,
	CM_EVENT_ESTABLISHED,
	CM_EVENT_DISCONNECTED,
	CM_EVENT_MULTICAST_JOIN = 12,
	CM_EVENT_MULTICAST_ERROR,
};

/* Bytes of private data in each message: IBTA vol. 1, 12.6. The first 36 bytes of a request hold
 * the addresses of annex A11. */
enum { CM_REQUEST_DATA = 92 - 36, CM_REPLY_DATA = 196, CM_REJECT_DATA = 148 };
enum { CM_SIDR_REQUEST_DATA = 216 - 36, CM_SIDR_REPLY_DATA = 136 };

/* Reasons for a rejection: IBTA vol. 1, 12.6.7.2. */
enum { CM_REASON_NO_SERVICE = 8, CM_REASON_CONSUMER = 28 };

enum { CM_QP_RC = 2, CM_QP_UD = 4 }; /* enum ib_uverbs_qp_type */

/* Q_Key of all datagram QPs of port space UDP, as in Linux. */
#define CM_QKEY 0x01234567

/* One open file of the device. */
struct cm_file {
	struct kernel_file file;
	struct cm_event *events; /* events not fetched yet, oldest first */
};

/* Identifier, which programs call rdma_cm_id. */
struct cm_id {
	struct cm_file *file;
	struct cm_id *next; /* next identifier of the kernel */
	uint32_t handle;    /* never reused */
	uint64_t uid;       /* the program's name for it, reported in events */
	enum cm_state state;
	uint8_t qp_type;
	bool reuses_address, own_family_only;
	/* sockaddr_in6 or sockaddr_in: see cm_address_... */
	struct sockaddr_in6 source, destination;
	struct cm_membership *memberships;
	uint32_t events_reported, backlog;
	uint8_t ack_timeout;             /* as in a QP */
	uint8_t type_of_service;         /* RoCE: traffic class of both ends */
	uint32_t peer_host, peer_handle; /* endpoint and identifier of the other side */
	uint32_t own_psn, peer_psn, peer_qp;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	struct rnic_connection *connection; /* iWARP; NULL: none */
};

struct cm_event {
	struct cm_event *next;
	/* identifier that the event is about; for a connection request: the new identifier */
	struct cm_id *id;
	struct cm_id *reports; /* identifier whose events_reported the event increases */
	/* membership whose events_reported the event increases, or NULL */
	struct cm_membership *membership;
	struct rdma_ucm_event_resp response;
};

enum cm_kind {
	CM_RESOLVED, /* sent by an identifier to itself */
	CM_REQUEST,
	CM_REPLY,
	CM_READY,
	CM_REJECT,
	CM_LEAVE,
	CM_LEFT,
	CM_SIDR_REQUEST,
	CM_SIDR_REPLY,
	CM_JOINED, /* sent by an identifier to itself */
};

struct cm_message {
	struct event arrival;
	struct kernel *to;
	struct cm_message *next; /* next message to the same kernel */
	enum cm_kind kind;
	uint32_t from_host, from_handle, to_handle;
	uint32_t psn;
	uint8_t qp_type, type_of_service;
	struct sockaddr_in6 source, destination;
	struct rdma_ucm_conn_param param;
	uint32_t reason;
	bool found;
};

/* Membership of an identifier in a group. */
struct cm_membership {
	struct cm_membership *next;
	struct cm_id *id;
	uint32_t handle;
	uint64_t uid; /* the program's name for it */
	uint8_t gid[16];
	uint32_t events_reported;
};

/* A command with its input, padded with zeros. */
struct cm_call {
	struct kernel *kernel;
	struct cm_file *file;
	struct kernel_call *call;
	uint8_t in[512];
	uint32_t out_bytes; /* space for the response */
};

/* cm.c */
void cm_open(struct kernel *kernel, struct kernel_call *call);
void cm_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes, uint64_t length);
void cm_close(struct kernel_file *file);

struct cm_id *cm_find(const struct kernel *kernel, uint32_t handle);
struct cm_id *cm_new(struct kernel *kernel, struct cm_file *file, uint64_t uid);
void cm_free(struct cm_id *id); /* also frees its events */
/* Adds an event for the program. The caller may change the returned event until the program
 * runs. */
struct cm_event *cm_notify(struct cm_id *id, enum cm_event_type what, int status);
/* Copies a response to the program, truncated to the space it provided. Returns 0 or -EFAULT. */
int cm_reply(struct cm_call *call, uint64_t address, const void *bytes, uint32_t length);
/* Binds to an address of this host and a port: the requested one, or any free one. */
int cm_bind(struct cm_id *id, const struct sockaddr_in6 *address);

void cm_forget_events(struct cm_membership *membership);

/* cm_address.c */
bool cm_address_known(const struct sockaddr_in6 *address);
const void *cm_address_bytes(const struct sockaddr_in6 *address, uint32_t *length);
bool cm_address_equal(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b);
bool cm_address_is_any(const struct sockaddr_in6 *address);
bool cm_address_is_group(const struct sockaddr_in6 *address);
bool cm_address_is_of(const struct endpoint *endpoint, const struct sockaddr_in6 *address);
void cm_address_set_own(const struct kernel *kernel, struct sockaddr_in6 *address,
			sa_family_t family);
void cm_address_group(const struct kernel *kernel, const struct sockaddr_in6 *address,
		      uint8_t gid[16]);
/* Returns the index of the GID that belongs to an address. */
uint32_t cm_gid_index(const struct endpoint *endpoint, const struct sockaddr_in6 *address);

/* cm_query.c */
int cm_query_route(struct cm_call *call);
int cm_init_qp_attr(struct cm_call *call);
/* Fill in the route to the other side, or to a group, which has a LID on InfiniBand. */
void cm_fill_address(const struct cm_id *id, struct ib_uverbs_ah_attr *address);
void cm_fill_group(const struct cm_id *id, const uint8_t gid[16], uint16_t lid,
		   struct ib_uverbs_ah_attr *address);

/* cm_connect.c */
int cm_resolve_ip(struct cm_call *call);
int cm_resolve_route(struct cm_call *call);
int cm_connect(struct cm_call *call);
int cm_accept(struct cm_call *call);
int cm_reject(struct cm_call *call);
int cm_disconnect(struct cm_call *call);
/* called when the identifier is destroyed; informs the other side */
void cm_leave(struct cm_id *id);
void cm_end(struct kernel *kernel); /* frees messages in flight */
struct cm_message *cm_message_new(struct kernel *to, enum cm_kind kind, uint32_t to_handle);
/* Creates a message to the other side of the identifier. Returns NULL if that host has no
 * connection manager. */
struct cm_message *cm_message_to_peer(struct cm_id *id, enum cm_kind kind);
void cm_dispatch(struct cm_message *message);
/* Creates an identifier for a received request, if a listener exists and has room. */
struct cm_id *cm_requested(struct kernel *kernel, const struct cm_message *message,
			   struct cm_event **event);

/* cm_datagram.c */
int cm_datagram_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_datagram_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_datagram_reject(struct cm_id *id, const struct rdma_ucm_reject *request);
void cm_datagram_leave(struct cm_id *id);
void cm_datagram_arrived(struct kernel *kernel, struct cm_id *id, const struct cm_message *message);

/* cm_group.c */
int cm_join_ip_group(struct cm_call *call);
int cm_join_group(struct cm_call *call);
int cm_leave_group(struct cm_call *call);
void cm_leave_groups(struct cm_id *id);
void cm_joined(struct kernel *kernel, const struct cm_message *message);

/* Returns the identifier of a command, or NULL if it does not belong to the command's file. */
static inline struct cm_id *cm_own(const struct cm_call *call, uint32_t handle)
{
	struct cm_id *id = cm_find(call->kernel, handle);

	return id && id->file == call->file ? id : NULL;
}

/* Declares `name` as a copy of the command's input with the type `structure`. */
#define CM_INPUT(call, structure, name)                             \
	struct structure name;                                      \
	_Static_assert(sizeof(name) <= sizeof((call)->in), "fits"); \
	memcpy(&name, (call)->in, sizeof(name))

#endif
