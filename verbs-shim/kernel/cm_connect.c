/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_connect: resolves addresses, and connects and disconnects two identifiers: IBTA vol. 1, 12.9.
 *
 *     active                                   passive
 *     connect    REQUEST_SENT    --REQUEST-->  a new identifier    event CONNECT_REQUEST
 *     event CONNECT_RESPONSE     <--REPLY----  REPLY_SENT          accept
 *     accept     ESTABLISHED     --READY---->  ESTABLISHED         event ESTABLISHED
 *     disconnect DISCONNECT_SENT --LEAVE---->  DISCONNECT_RECEIVED event DISCONNECTED
 *     event DISCONNECTED         <--LEFT-----  ENDED               disconnect, or it is destroyed
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/siw.h"

_Static_assert(TRACE_CM_ADDRESS + CM_JOINED == TRACE_CM_JOINED, "a point for each kind");

static void arrive(struct event *event);

struct cm_message *cm_message_new(struct kernel *to, enum cm_kind kind, uint32_t to_handle)
{
	struct cm_message *message = calloc(1, sizeof(*message));

	assert(message);
	message->to = to;
	message->kind = kind;
	message->to_handle = to_handle;
	message->next = to->cm_messages;
	to->cm_messages = message;
	event_init(&message->arrival, &to->block, arrive);
	return message;
}

static void forget(struct cm_message *message)
{
	struct cm_message **link = &message->to->cm_messages;

	while (*link != message)
		link = &(*link)->next;
	*link = message->next;
	free(message);
}

void cm_end(struct kernel *kernel)
{
	while (kernel->cm_messages)
		forget(kernel->cm_messages);
}

struct cm_message *cm_message_to_peer(struct cm_id *id, enum cm_kind kind)
{
	struct kernel *own = id->file->file.kernel;
	struct kernel *peer = endpoints_get(own->endpoints, id->peer_host)->manager;
	struct cm_message *message;

	if (!peer)
		return NULL;
	message = cm_message_new(peer, kind, id->peer_handle);
	message->from_host = own->endpoint;
	message->from_handle = id->handle;
	message->psn = id->own_psn;
	message->qp_type = id->qp_type;
	message->type_of_service = id->type_of_service;
	message->source = id->source;
	message->destination = id->destination;
	return message;
}

void cm_dispatch(struct cm_message *message)
{
	if (message)
		sim_schedule(&message->arrival, message->to->params.cm_message_latency);
}

/* Returns a starting PSN that differs between consecutive connections. */
static uint32_t first_psn(const struct cm_id *id)
{
	uint64_t mixed = (((uint64_t)id->file->file.kernel->endpoint << 32) + id->handle + 1) *
			 UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 40);
}

int cm_resolve_ip(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_resolve_ip, request);
	struct cm_id *id = cm_own(call, request.id);
	const struct endpoints *endpoints = call->kernel->endpoints;
	uint32_t count = endpoints_count(endpoints);

	if (!id)
		return -ENOENT;
	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return -EINVAL;
	if (!cm_address_known(&request.dst_addr))
		return -EAFNOSUPPORT;
	if (id->state == CM_IDLE && request.src_addr.sin6_family) {
		int error = cm_bind(id, &request.src_addr);

		if (error)
			return error;
	}
	struct cm_message *message = cm_message_new(call->kernel, CM_RESOLVED, id->handle);

	message->found = cm_address_is_group(&request.dst_addr);
	id->peer_host = call->kernel->endpoint;
	for (uint32_t i = 0; i < count && !message->found; i++) {
		message->found = cm_address_is_of(endpoints_get(endpoints, i), &request.dst_addr);
		id->peer_host = i;
	}
	id->destination = request.dst_addr;
	id->state = CM_ADDRESS_QUERY;
	sim_schedule(&message->arrival, call->kernel->params.cm_resolve_latency);
	return 0;
}

int cm_resolve_route(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_resolve_route, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state != CM_ADDRESS_RESOLVED)
		return -EINVAL;
	struct cm_message *message = cm_message_new(call->kernel, CM_RESOLVED, id->handle);

	message->found = true;
	id->state = CM_ROUTE_QUERY;
	sim_schedule(&message->arrival, call->kernel->params.cm_resolve_latency);
	return 0;
}

static void resolved(struct cm_id *id, const struct cm_message *message)
{
	if (id->state == CM_ROUTE_QUERY) {
		id->state = CM_ROUTE_RESOLVED;
		(void)cm_notify(id, CM_EVENT_ROUTE_RESOLVED, 0);
	} else if (id->state == CM_ADDRESS_QUERY && !message->found) {
		id->state = CM_BOUND;
		(void)cm_notify(id, CM_EVENT_ADDR_ERROR, -EHOSTUNREACH);
	} else if (id->state == CM_ADDRESS_QUERY) {
		cm_address_set_own(id->file->file.kernel, &id->source, id->destination.sin6_family);
		if (!id->source.sin6_port)
			id->source.sin6_port = htons((uint16_t)(32768 + id->handle % 16384));
		id->state = CM_ADDRESS_RESOLVED;
		(void)cm_notify(id, CM_EVENT_ADDR_RESOLVED, 0);
	}
}

/* Counts of retries have three bits in the messages. */
static void limit_retries(struct rdma_ucm_conn_param *param)
{
	param->retry_count = param->retry_count < 7 ? param->retry_count : 7;
	param->rnr_retry_count = param->rnr_retry_count < 7 ? param->rnr_retry_count : 7;
}

int cm_connect(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_connect, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state != CM_ROUTE_RESOLVED || !request.conn_param.valid)
		return -EINVAL;
	if (id->qp_type == CM_QP_UD)
		return cm_datagram_connect(id, &request.conn_param);
	if (siw_cm_has(id))
		return siw_cm_connect(id, &request.conn_param);
	if (request.conn_param.private_data_len > CM_REQUEST_DATA)
		return -EINVAL;
	limit_retries(&request.conn_param);
	id->responder_resources = request.conn_param.responder_resources;
	id->initiator_depth = request.conn_param.initiator_depth;
	id->retry_count = request.conn_param.retry_count;
	id->own_psn = first_psn(id);
	struct cm_message *message = cm_message_to_peer(id, CM_REQUEST);

	if (!message)
		return -EHOSTUNREACH;
	message->param = request.conn_param;
	id->state = CM_REQUEST_SENT;
	cm_dispatch(message);
	return 0;
}

/* Sets the parameters that the other side sees: responder resources and initiator depth are
 * exchanged, and private data fill their field. */
static void put_param(struct cm_event *event, const struct cm_message *message, uint32_t bytes)
{
	struct rdma_ucm_conn_param *param = &event->response.param.conn;

	*param = message->param;
	param->responder_resources = message->param.initiator_depth;
	param->initiator_depth = message->param.responder_resources;
	param->private_data_len = (uint8_t)bytes;
	param->valid = 0;
}

static bool listens_for(const struct cm_id *id, const struct cm_message *message)
{
	const struct sockaddr_in6 *own = &id->source, *to = &message->destination;

	if (id->state != CM_LISTENING || own->sin6_port != to->sin6_port ||
	    id->qp_type != message->qp_type)
		return false;
	if (cm_address_is_any(own))
		return own->sin6_family == to->sin6_family ||
		       (own->sin6_family == AF_INET6 && !id->own_family_only);
	return cm_address_equal(own, to);
}

static uint32_t waiting_for(const struct cm_id *listener)
{
	uint32_t count = 0;

	for (const struct cm_event *event = listener->file->events; event; event = event->next)
		count += event->reports == listener;
	return count;
}

static void reply_reject(struct kernel *kernel, const struct cm_message *request, uint32_t reason)
{
	struct kernel *peer = endpoints_get(kernel->endpoints, request->from_host)->manager;
	struct cm_message *message = cm_message_new(peer, CM_REJECT, request->from_handle);

	message->reason = reason;
	cm_dispatch(message);
}

struct cm_id *cm_requested(struct kernel *kernel, const struct cm_message *message,
			   struct cm_event **event)
{
	struct cm_id *listener = kernel->cm_ids, *id;

	while (listener && !listens_for(listener, message))
		listener = listener->next;
	if (!listener || waiting_for(listener) >= listener->backlog)
		return NULL;
	id = cm_new(kernel, listener->file, 0);
	id->state = CM_REQUEST_RECEIVED;
	id->qp_type = message->qp_type;
	id->source = message->destination;
	id->destination = message->source;
	id->peer_host = message->from_host;
	id->peer_handle = message->from_handle;
	id->ack_timeout = listener->ack_timeout;
	*event = cm_notify(id, CM_EVENT_CONNECT_REQUEST, 0);
	(*event)->reports = listener;
	(*event)->response.uid = listener->uid;
	return id;
}

static void requested(struct kernel *kernel, const struct cm_message *message)
{
	struct cm_event *event;
	struct cm_id *id = cm_requested(kernel, message, &event);

	if (!id) {
		reply_reject(kernel, message, CM_REASON_NO_SERVICE);
		return;
	}
	id->peer_psn = message->psn;
	id->peer_qp = message->param.qp_num;
	id->type_of_service = message->type_of_service;
	id->own_psn = first_psn(id);
	id->retry_count = message->param.retry_count;
	id->rnr_retry_count = message->param.rnr_retry_count;
	id->responder_resources = message->param.initiator_depth;
	id->initiator_depth = message->param.responder_resources;
	put_param(event, message, CM_REQUEST_DATA);
}

/* On the passive side, sends the reply. On the active side, reports that the QP is ready. */
int cm_accept(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_accept, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state == CM_REPLY_RECEIVED && !request.conn_param.valid) {
		id->state = CM_ESTABLISHED;
		cm_dispatch(cm_message_to_peer(id, CM_READY));
		return 0;
	}
	if (id->state != CM_REQUEST_RECEIVED || !request.conn_param.valid)
		return -EINVAL;
	if (id->qp_type == CM_QP_UD) {
		id->uid = request.uid;
		return cm_datagram_accept(id, &request.conn_param);
	}
	if (siw_cm_has(id)) {
		id->uid = request.uid;
		return siw_cm_accept(id, &request.conn_param);
	}
	if (request.conn_param.private_data_len > CM_REPLY_DATA)
		return -EINVAL;
	limit_retries(&request.conn_param);
	id->uid = request.uid;
	id->responder_resources = request.conn_param.responder_resources;
	id->initiator_depth = request.conn_param.initiator_depth;
	id->state = CM_REPLY_SENT;
	struct cm_message *message = cm_message_to_peer(id, CM_REPLY);

	message->param = request.conn_param;
	cm_dispatch(message);
	return 0;
}

static void replied(struct cm_id *id, const struct cm_message *message)
{
	if (id->state != CM_REQUEST_SENT)
		return;
	id->peer_handle = message->from_handle;
	id->peer_psn = message->psn;
	id->peer_qp = message->param.qp_num;
	id->rnr_retry_count = message->param.rnr_retry_count;
	id->state = CM_REPLY_RECEIVED;
	put_param(cm_notify(id, CM_EVENT_CONNECT_RESPONSE, 0), message, CM_REPLY_DATA);
}

int cm_reject(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_reject, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state != CM_REQUEST_RECEIVED)
		return -EINVAL;
	if (id->qp_type == CM_QP_UD)
		return cm_datagram_reject(id, &request);
	if (siw_cm_has(id))
		return siw_cm_reject(id, &request);
	if (request.private_data_len > CM_REJECT_DATA)
		return -EINVAL;
	struct cm_message *message = cm_message_to_peer(id, CM_REJECT);

	message->reason = request.reason ? request.reason : CM_REASON_CONSUMER;
	memcpy(message->param.private_data, request.private_data, request.private_data_len);
	id->state = CM_ENDED;
	cm_dispatch(message);
	return 0;
}

static void rejected(struct cm_id *id, const struct cm_message *message)
{
	if (id->state != CM_REQUEST_SENT && id->state != CM_REPLY_SENT)
		return;
	id->state = CM_ENDED;
	put_param(cm_notify(id, CM_EVENT_REJECTED, (int)message->reason), message, CM_REJECT_DATA);
}

int cm_disconnect(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_disconnect, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->qp_type == CM_QP_UD) /* there is no connection */
		return -EINVAL;
	if (siw_cm_has(id))
		return siw_cm_disconnect(id);
	if (id->state == CM_DISCONNECT_RECEIVED) {
		cm_dispatch(cm_message_to_peer(id, CM_LEFT));
		id->state = CM_ENDED;
		return 0;
	}
	if (id->state != CM_ESTABLISHED && id->state != CM_REPLY_SENT &&
	    id->state != CM_REPLY_RECEIVED)
		return -EINVAL;
	cm_dispatch(cm_message_to_peer(id, CM_LEAVE));
	id->state = CM_DISCONNECT_SENT;
	return 0;
}

static void left(struct cm_id *id, enum cm_kind kind)
{
	bool leaves = kind == CM_LEAVE;

	/* answered, or both sides disconnect at the same time */
	if (id->state == CM_DISCONNECT_SENT) {
		if (leaves)
			cm_dispatch(cm_message_to_peer(id, CM_LEFT));
		id->state = CM_ENDED;
		(void)cm_notify(id, CM_EVENT_DISCONNECTED, 0);
	} else if (leaves && id->state >= CM_REPLY_SENT && id->state <= CM_ESTABLISHED) {
		id->state = CM_DISCONNECT_RECEIVED;
		(void)cm_notify(id, CM_EVENT_DISCONNECTED, 0);
	}
}

void cm_leave(struct cm_id *id)
{
	if (id->qp_type == CM_QP_UD)
		cm_datagram_leave(id);
	else if (siw_cm_has(id))
		siw_cm_leave(id);
	else if (id->state == CM_REQUEST_RECEIVED) {
		struct cm_message *message = cm_message_to_peer(id, CM_REJECT);

		message->reason = CM_REASON_CONSUMER;
		cm_dispatch(message);
	} else if (id->state == CM_DISCONNECT_RECEIVED) {
		cm_dispatch(cm_message_to_peer(id, CM_LEFT));
	} else if (id->state >= CM_REPLY_SENT && id->state <= CM_ESTABLISHED) {
		cm_dispatch(cm_message_to_peer(id, CM_LEAVE));
	}
}

static void arrive(struct event *event)
{
	struct cm_message *message = container_of(event, struct cm_message, arrival);
	struct cm_id *id = cm_find(message->to, message->to_handle);

	trace(&message->to->block, TRACE_CM_ADDRESS + message->kind, 0, message->to_handle,
	      message->from_host);
	if (message->kind == CM_REQUEST)
		requested(message->to, message);
	else if (message->kind == CM_SIDR_REQUEST || message->kind == CM_SIDR_REPLY)
		cm_datagram_arrived(message->to, id, message);
	else if (message->kind == CM_JOINED)
		cm_joined(message->to, message);
	else if (id && message->kind == CM_RESOLVED)
		resolved(id, message);
	else if (id && message->kind == CM_REPLY)
		replied(id, message);
	else if (id && message->kind == CM_REJECT)
		rejected(id, message);
	else if (id && message->kind == CM_READY && id->state == CM_REPLY_SENT) {
		id->state = CM_ESTABLISHED;
		(void)cm_notify(id, CM_EVENT_ESTABLISHED, 0);
	} else if (id && (message->kind == CM_LEAVE || message->kind == CM_LEFT)) {
		left(id, message->kind);
	} else if (!id && message->kind == CM_LEAVE) { /* gone meanwhile */
		struct kernel *peer =
			endpoints_get(message->to->endpoints, message->from_host)->manager;

		cm_dispatch(cm_message_new(peer, CM_LEFT, message->from_handle));
	}
	forget(message);
}
