/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_group: identifiers of UD QPs join multicast groups. In InfiniBand this follows the subnet
 * manager (IBTA vol. 1, 15.2.5.17); RoCE has no such step. The library attaches the QP when it
 * receives the event. The scenario determines the members of a group (fabric.multicast), and in
 * InfiniBand also which groups exist.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/groups.h"
#include "verbs-shim/kernel/cm.h"

#define EVERYBODY_QP 0xffffff /* destination QP of messages to groups */

static struct cm_membership *find(const struct cm_id *id, uint32_t handle)
{
	struct cm_membership *membership = id->memberships;

	while (membership && membership->handle != handle)
		membership = membership->next;
	return membership;
}

static struct cm_membership *find_anywhere(const struct kernel *kernel, uint32_t handle)
{
	struct cm_membership *found = NULL;

	for (const struct cm_id *id = kernel->cm_ids; id && !found; id = id->next)
		found = find(id, handle);
	return found;
}

static int join(struct cm_call *call, uint32_t handle, uint64_t uid, uint64_t out_address,
		const struct sockaddr_in6 *address)
{
	struct cm_id *id = cm_own(call, handle);
	struct rdma_ucm_create_id_resp response;

	if (call->out_bytes < sizeof(response))
		return -ENOSPC;
	if (!id)
		return -ENOENT;
	if (id->qp_type != CM_QP_UD || !cm_address_known(&id->source) ||
	    cm_address_is_any(&id->source) || !cm_address_known(address) ||
	    !cm_address_is_group(address))
		return -EINVAL;
	struct cm_membership *membership = calloc(1, sizeof(*membership));

	assert(membership);
	*membership = (struct cm_membership){
		.next = id->memberships, .id = id, .handle = call->kernel->cm_last++, .uid = uid};
	cm_address_group(call->kernel, address, membership->gid);
	id->memberships = membership;
	sim_schedule(&cm_message_new(call->kernel, CM_JOINED, membership->handle)->arrival,
		     call->kernel->params.cm_resolve_latency);
	response.id = membership->handle;
	return cm_reply(call, out_address, &response, sizeof(response));
}

int cm_join_ip_group(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_join_ip_mcast, request);

	return join(call, request.id, request.uid, request.response, &request.addr);
}

int cm_join_group(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_join_mcast, request);
	struct sockaddr_in6 address;

	if (request.join_flags != RDMA_MC_JOIN_FLAG_FULLMEMBER &&
	    request.join_flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER)
		return -EINVAL;
	memcpy(&address, &request.addr, sizeof(address));
	return join(call, request.id, request.uid, request.response, &address);
}

static void say_unknown(struct kernel *kernel, const uint8_t gid[16])
{
	char text[160], name[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid, name, sizeof(name));
	snprintf(text, sizeof(text), "joining the group %s, which fabric.multicast does not name",
		 name);
	kernel->host->not_modelled(kernel->host, text, EINVAL);
}

void cm_joined(struct kernel *kernel, const struct cm_message *message)
{
	struct cm_membership *membership = find_anywhere(kernel, message->to_handle);
	struct groups *groups = endpoints_groups(kernel->endpoints);
	uint16_t lid = 0;
	bool known = true;

	if (!membership)
		return;
	if (kernel_endpoint(kernel)->link_layer != LINK_ETHERNET) {
		uint32_t number = groups_by_gid(groups, membership->gid);

		known = number != GROUP_NONE;
		if (known)
			lid = groups_get(groups, number & ~GROUP_ADDRESS)->lid;
		else
			say_unknown(kernel, membership->gid);
	}
	struct cm_event *event = cm_notify(
		membership->id, known ? CM_EVENT_MULTICAST_JOIN : CM_EVENT_MULTICAST_ERROR,
		known ? 0 : -EINVAL);
	event->membership = membership;
	event->response.uid = membership->uid;
	event->response.id = membership->handle;
	if (!known)
		return;
	event->response.param.ud.qp_num = EVERYBODY_QP;
	event->response.param.ud.qkey = CM_QKEY;
	cm_fill_group(membership->id, membership->gid, lid, &event->response.param.ud.ah_attr);
}

static void leave(struct cm_membership *membership)
{
	struct cm_membership **link = &membership->id->memberships;

	cm_forget_events(membership);
	while (*link != membership)
		link = &(*link)->next;
	*link = membership->next;
	free(membership);
}

int cm_leave_group(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_destroy_id, request);
	struct cm_membership *membership = find_anywhere(call->kernel, request.id);

	if (!membership || membership->id->file != call->file)
		return -ENOENT;
	struct rdma_ucm_destroy_id_resp response = {.events_reported = membership->events_reported};

	leave(membership);
	return cm_reply(call, request.response, &response, sizeof(response));
}

void cm_leave_groups(struct cm_id *id)
{
	while (id->memberships)
		leave(id->memberships);
}
