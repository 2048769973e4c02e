/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_datagram: two identifiers of UD QPs find each other: service ID resolution, IBTA vol. 1,
 * 12.11. There is no connection to end. One side sends a request. The other side responds with its
 * QP. Then both sides can send.
 *
 *     active                                       passive
 *     connect            --SIDR_REQUEST-->  a new identifier    event CONNECT_REQUEST
 *     event ESTABLISHED  <--SIDR_REPLY----  ESTABLISHED         accept
 *     event UNREACHABLE  <--SIDR_REPLY----  ENDED               reject, or it is destroyed, or
 *                                                               no listener
 */
#include <errno.h>
#include <string.h>

#include "verbs-shim/kernel/cm.h"

enum { SIDR_VALID = 0, SIDR_UNSUPPORTED = 1, SIDR_REJECTED = 2 }; /* IBTA vol. 1, 12.11.1.3 */

int cm_datagram_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_message *message;

	if (param->private_data_len > CM_SIDR_REQUEST_DATA)
		return -EINVAL;
	message = cm_message_to_peer(id, CM_SIDR_REQUEST);
	if (!message)
		return -EHOSTUNREACH;
	message->param = *param;
	id->state = CM_REQUEST_SENT;
	cm_dispatch(message);
	return 0;
}

static void put_param(struct cm_event *event, const struct cm_message *message, uint32_t bytes)
{
	struct rdma_ucm_ud_param *param = &event->response.param.ud;

	memcpy(param->private_data, message->param.private_data, message->param.private_data_len);
	param->private_data_len = (uint8_t)bytes;
}

static void reply(struct cm_id *id, uint32_t status, const struct rdma_ucm_conn_param *param)
{
	struct cm_message *message = cm_message_to_peer(id, CM_SIDR_REPLY);

	message->reason = status;
	if (param)
		message->param = *param;
	id->state = status == SIDR_VALID ? CM_ESTABLISHED : CM_ENDED;
	cm_dispatch(message);
}

int cm_datagram_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	if (param->private_data_len > CM_SIDR_REPLY_DATA)
		return -EINVAL;
	reply(id, SIDR_VALID, param);
	return 0;
}

int cm_datagram_reject(struct cm_id *id, const struct rdma_ucm_reject *request)
{
	struct rdma_ucm_conn_param param = {.private_data_len = request->private_data_len};

	if (request->private_data_len > CM_SIDR_REPLY_DATA)
		return -EINVAL;
	memcpy(param.private_data, request->private_data, request->private_data_len);
	reply(id, SIDR_REJECTED, &param);
	return 0;
}

void cm_datagram_leave(struct cm_id *id)
{
	if (id->state == CM_REQUEST_RECEIVED)
		reply(id, SIDR_REJECTED, NULL);
}

static void requested(struct kernel *kernel, const struct cm_message *message)
{
	struct cm_event *event;

	if (cm_requested(kernel, message, &event)) {
		put_param(event, message, CM_SIDR_REQUEST_DATA);
		return;
	}
	struct kernel *peer = endpoints_get(kernel->endpoints, message->from_host)->manager;
	struct cm_message *response = cm_message_new(peer, CM_SIDR_REPLY, message->from_handle);

	response->reason = SIDR_UNSUPPORTED;
	cm_dispatch(response);
}

static void replied(struct cm_id *id, const struct cm_message *message)
{
	struct cm_event *event;

	if (id->state != CM_REQUEST_SENT)
		return;
	if (message->reason != SIDR_VALID) {
		id->state = CM_ENDED;
		event = cm_notify(id, CM_EVENT_UNREACHABLE, (int)message->reason);
	} else {
		id->state = CM_ESTABLISHED;
		event = cm_notify(id, CM_EVENT_ESTABLISHED, 0);
		event->response.param.ud.qp_num = message->param.qp_num;
		event->response.param.ud.qkey = CM_QKEY;
		cm_fill_address(id, &event->response.param.ud.ah_attr);
	}
	put_param(event, message, CM_SIDR_REPLY_DATA);
}

void cm_datagram_arrived(struct kernel *kernel, struct cm_id *id, const struct cm_message *message)
{
	if (message->kind == CM_SIDR_REQUEST)
		requested(kernel, message);
	else if (id)
		replied(id, message);
}
