/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siw_cm: connections of rdma_cm on an iWARP adapter: the MPA request and reply of the adapter take
 * the place of the CM's messages, and carry private data. The kernel moves the queue pair to RTS.
 *
 *     active                                       passive
 *     connect    REQUEST_SENT --TCP, request-->    a new identifier    event CONNECT_REQUEST
 *     event ESTABLISHED       <--reply---------    ESTABLISHED         accept, event ESTABLISHED
 *     disconnect              --FIN----------->    ENDED               event DISCONNECTED
 *     event DISCONNECTED      <--FIN-----------
 */
#include <errno.h>
#include <string.h>

#include "hca/device/hca_params.h"
#include "hca/iwarp/rnic.h"
#include "verbs-shim/kernel/siw.h"

#define HOPS 64

bool siw_cm_has(const struct cm_id *id)
{
	return id->qp_type == CM_QP_RC && siw_rnic(id->file->file.kernel);
}

static uint16_t port_of(const struct sockaddr_in6 *address)
{
	return ntohs(address->sin6_port);
}

static struct mpa_startup startup_of(const struct rdma_ucm_conn_param *param, bool reply)
{
	return (struct mpa_startup){
		.reply = reply,
		.crc = true,
		.enhanced = true,
		.revision = 2,
		.ird = param->responder_resources,
		.ord = param->initiator_depth,
		.peer_to_peer = true,
		.rtr_write = true,
		.private_bytes = param->private_data_len,
		.private_data = param->private_data,
	};
}

static void put_param(struct cm_event *event, const struct mpa_startup *startup)
{
	struct rdma_ucm_conn_param *param = &event->response.param.conn;
	uint32_t most = sizeof(param->private_data) - 1;
	uint32_t bytes = startup->private_bytes < most ? startup->private_bytes : most;

	param->responder_resources = (uint8_t)(startup->ord < 255 ? startup->ord : 255);
	param->initiator_depth = (uint8_t)(startup->ird < 255 ? startup->ird : 255);
	param->private_data_len = (uint8_t)bytes;
	if (bytes)
		memcpy(param->private_data, startup->private_data, bytes);
}

int siw_cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	struct kernel *kernel = id->file->file.kernel;
	struct rnic *rnic = siw_rnic(kernel);
	const struct mpa_startup request = startup_of(param, false);
	struct path path;

	if (id->peer_host == kernel->endpoint || id->source.sin6_family != AF_INET)
		return -EHOSTUNREACH;
	path = endpoints_path(kernel->endpoints, kernel->endpoint, id->peer_host,
			      (unsigned)hca_params(kernel->hca)->rnic.priority, HOPS, 0);
	path.tcp_source_port = port_of(&id->source);
	path.tcp_destination_port = port_of(&id->destination);
	id->connection = rnic_connect(rnic, path_intern(endpoints_paths(kernel->endpoints), &path),
				      param->qp_num, &request);
	rnic_set_context(id->connection, id);
	id->state = CM_REQUEST_SENT;
	return 0;
}

int siw_cm_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	const struct mpa_startup reply = startup_of(param, true);

	if (!id->connection)
		return -EINVAL;
	id->state = CM_ESTABLISHED;
	(void)cm_notify(id, CM_EVENT_ESTABLISHED, 0);
	rnic_accept(id->connection, param->qp_num, &reply);
	return 0;
}

int siw_cm_reject(struct cm_id *id, const struct rdma_ucm_reject *request)
{
	struct rdma_ucm_conn_param none = {.private_data_len = request->private_data_len};
	struct mpa_startup reply;

	memcpy(none.private_data, request->private_data, request->private_data_len);
	reply = startup_of(&none, true);
	reply.reject = true;
	id->state = CM_ENDED;
	if (id->connection) {
		rnic_set_context(id->connection, NULL);
		rnic_reject(id->connection, &reply);
	}
	id->connection = NULL;
	return 0;
}

int siw_cm_disconnect(struct cm_id *id)
{
	if (id->state == CM_ENDED)
		return 0;
	if (id->state != CM_ESTABLISHED)
		return -EINVAL;
	id->state = CM_DISCONNECT_SENT;
	if (id->connection)
		rnic_disconnect(id->connection);
	return 0;
}

void siw_cm_leave(struct cm_id *id)
{
	struct rnic_connection *connection = id->connection;

	id->connection = NULL;
	if (connection)
		rnic_forget(connection);
}

/* ---- reports of the adapter ---- */

static struct kernel *kernel_of(struct rnic_user *user)
{
	return container_of(user, struct kernel, rnic_user);
}

static bool listens(struct rnic_user *user, uint16_t port)
{
	for (const struct cm_id *id = kernel_of(user)->cm_ids; id; id = id->next)
		if (id->state == CM_LISTENING && id->qp_type == CM_QP_RC &&
		    port_of(&id->source) == port)
			return true;
	return false;
}

static struct sockaddr_in6 address_of(const uint8_t gid[16], uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 wide = {.sin6_family = AF_UNSPEC};

	memcpy(&address.sin_addr, gid + 12, sizeof(address.sin_addr));
	memcpy(&wide, &address, sizeof(address));
	return wide;
}

static void refuse(struct rnic_connection *connection)
{
	static const struct rdma_ucm_conn_param none;
	struct mpa_startup reply = startup_of(&none, true);

	reply.reject = true;
	rnic_reject(connection, &reply);
}

static void requested(struct rnic_user *user, struct rnic_connection *connection,
		      const struct mpa_startup *request)
{
	struct kernel *kernel = kernel_of(user);
	const struct path *path = rnic_path(connection);
	const struct cm_message message = {
		.kind = CM_REQUEST,
		.qp_type = CM_QP_RC,
		.from_host = path->destination,
		.source = address_of(path->dgid, path->tcp_destination_port),
		.destination = address_of(path->sgid, path->tcp_source_port),
	};
	struct cm_event *event;
	struct cm_id *id = cm_requested(kernel, &message, &event);

	trace(&kernel->block, TRACE_CM_REQ, 0, id ? id->handle : 0, path->destination);
	if (!id) {
		refuse(connection);
		return;
	}
	id->connection = connection;
	rnic_set_context(connection, id);
	put_param(event, request);
}

static void replied(struct rnic_user *user, struct rnic_connection *connection,
		    const struct mpa_startup *reply)
{
	struct cm_id *id = rnic_context(connection);
	struct cm_event *event;

	(void)user;
	if (!id || id->state != CM_REQUEST_SENT)
		return;
	if (!reply || reply->reject) {
		id->state = CM_ENDED;
		event = cm_notify(id, CM_EVENT_REJECTED, -ECONNREFUSED);
	} else {
		id->state = CM_ESTABLISHED;
		event = cm_notify(id, CM_EVENT_ESTABLISHED, 0);
	}
	if (reply)
		put_param(event, reply);
}

static void closed(struct rnic_user *user, struct rnic_connection *connection)
{
	struct cm_id *id = rnic_context(connection);

	(void)user;
	if (!id || (id->state != CM_ESTABLISHED && id->state != CM_DISCONNECT_SENT))
		return;
	id->state = CM_ENDED;
	(void)cm_notify(id, CM_EVENT_DISCONNECTED, 0);
}

void siw_cm_init(struct kernel *kernel)
{
	kernel->rnic_user = (struct rnic_user){listens, requested, replied, closed};
	rnic_set_user(siw_rnic(kernel), &kernel->rnic_user);
}
