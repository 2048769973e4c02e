/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm: the connection manager that librdmacm talks to through /dev/infiniband/rdma_cm: each write() is a command, and events are
 * fetched by one. Connections of reliable QPs (port space TCP), datagram QPs (UDP) and groups are there, by IPv4 addresses and
 * the link-local IPv6 ones.
 *
 *     program --write()--> cm.c (identifiers, events) --> cm_connect.c --message, cm_message_latency later--> the other's
 *                             |--> cm_query.c (addresses, QP attributes)   '--> cm_datagram.c (QPs that are not connected)
 *                             '--> cm_group.c (multicast)                 cm_address.c (what addresses mean)
 *
 * A message stands for the MADs of IBTA vol. 1, chapter 12, that pass between the kernels of two hosts: its content goes over,
 * and it takes its time, but the fabric does not carry it, and loses none.
 * ABI: <rdma/rdma_user_cm.h>. States: IBTA vol. 1, 12.9.
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

/* What rdma_cm.h of the library calls enum rdma_cm_event_type. */
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

/* Bytes of private data in each message: IBTA vol. 1, 12.6; the request's first 36 are the addresses of annex A11. */
enum { CM_REQUEST_DATA = 92 - 36, CM_REPLY_DATA = 196, CM_REJECT_DATA = 148 };
enum { CM_SIDR_REQUEST_DATA = 216 - 36, CM_SIDR_REPLY_DATA = 136 };

/* Reasons for a rejection: IBTA vol. 1, 12.6.7.2. */
enum { CM_REASON_NO_SERVICE = 8, CM_REASON_CONSUMER = 28 };

enum { CM_QP_RC = 2, CM_QP_UD = 4 }; /* enum ib_uverbs_qp_type */

/* The Q_Key of all datagram QPs of port space UDP, as Linux has it. */
#define CM_QKEY 0x01234567

/* One open of the device. */
struct cm_file {
	struct kernel_file file;
	struct cm_event *events; /* not fetched yet, oldest first */
};

/* What the program calls an rdma_cm_id. */
struct cm_id {
	struct cm_file *file;
	struct cm_id *next; /* of the kernel */
	uint32_t handle;    /* never used again */
	uint64_t uid;       /* the program's name for it, in events */
	enum cm_state state;
	uint8_t qp_type;
	bool reuses_address, own_family_only;
	struct sockaddr_in6 source, destination; /* or sockaddr_in: cm_address_... */
	struct cm_membership *memberships;
	uint32_t events_reported, backlog;
	uint8_t ack_timeout;             /* as in a QP */
	uint8_t type_of_service;         /* RoCE: the traffic class of both ends */
	uint32_t peer_host, peer_handle; /* endpoint and identifier of the other side */
	uint32_t own_psn, peer_psn, peer_qp;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
};

struct cm_event {
	struct cm_event *next;
	struct cm_id *id;      /* whom it is about; a connection request: the new identifier */
	struct cm_id *reports; /* whose count of events it adds to */
	struct cm_membership *membership; /* and whose, or NULL */
	struct rdma_ucm_event_resp response;
};

enum cm_kind {
	CM_RESOLVED, /* to oneself */
	CM_REQUEST,
	CM_REPLY,
	CM_READY,
	CM_REJECT,
	CM_LEAVE,
	CM_LEFT,
	CM_SIDR_REQUEST,
	CM_SIDR_REPLY,
	CM_JOINED, /* to oneself */
};

struct cm_message {
	struct event arrival;
	struct kernel *to;
	struct cm_message *next; /* to the same kernel */
	enum cm_kind kind;
	uint32_t from_host, from_handle, to_handle;
	uint32_t psn;
	uint8_t qp_type, type_of_service;
	struct sockaddr_in6 source, destination;
	struct rdma_ucm_conn_param param;
	uint32_t reason;
	bool found;
};

/* Of an identifier's in a group. */
struct cm_membership {
	struct cm_membership *next;
	struct cm_id *id;
	uint32_t handle;
	uint64_t uid; /* the program's name for it */
	uint8_t gid[16];
	uint32_t events_reported;
};

/* A command: its input, zero behind what the program gave. */
struct cm_call {
	struct kernel *kernel;
	struct cm_file *file;
	struct kernel_call *call;
	uint8_t in[512];
	uint32_t out_bytes; /* room for the answer */
};

/* cm.c */
void cm_open(struct kernel *kernel, struct kernel_call *call);
void cm_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes, uint64_t length);
void cm_close(struct kernel_file *file);

struct cm_id *cm_find(const struct kernel *kernel, uint32_t handle);
struct cm_id *cm_new(struct kernel *kernel, struct cm_file *file, uint64_t uid);
void cm_free(struct cm_id *id); /* with its events */
/* Tells the program; the event is a copy, and may be changed until the program is run. */
struct cm_event *cm_tell(struct cm_id *id, enum cm_event_type what, int status);
/* 0 or -EFAULT; cut off as the program has room. */
int cm_reply(struct cm_call *call, uint64_t address, const void *bytes, uint32_t length);
/* To an address of this host, and a port: the one asked for, or one that is free. */
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
/* The GID that an address is used with. */
uint32_t cm_gid_index(const struct endpoint *endpoint, const struct sockaddr_in6 *address);

/* cm_query.c */
int cm_query_route(struct cm_call *call);
int cm_init_qp_attr(struct cm_call *call);
/* The route to the other side; or to the group, whose LID it has in InfiniBand. */
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
void cm_leave(struct cm_id *id);    /* it is going: the other side is told */
void cm_end(struct kernel *kernel); /* of messages that are still on their way */
struct cm_message *cm_message_new(struct kernel *to, enum cm_kind kind, uint32_t to_handle);
/* To the other side of the identifier; NULL: it runs no connection manager. */
struct cm_message *cm_message_to_peer(struct cm_id *id, enum cm_kind kind);
void cm_dispatch(struct cm_message *message);
/* A new identifier for a request that came, if somebody listens for it and has room. */
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

/* The identifier that a command is about; NULL: none of this file's. */
static inline struct cm_id *cm_own(const struct cm_call *call, uint32_t handle)
{
	struct cm_id *id = cm_find(call->kernel, handle);

	return id && id->file == call->file ? id : NULL;
}

/* A command's input as the structure it is. */
#define CM_INPUT(call, structure, name)                             \
	struct structure name;                                      \
	_Static_assert(sizeof(name) <= sizeof((call)->in), "fits"); \
	memcpy(&name, (call)->in, sizeof(name))

#endif
