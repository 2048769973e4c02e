/* SPDX-License-Identifier: Apache-2.0 */
/* netlink_list: see netlink_list.h. Entries have the attributes described in netlink.c. */
#include "verbs-shim/kernel/netlink_list.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "verbs-shim/kernel/cq.h"
#include "verbs-shim/kernel/mr.h"
#include "verbs-shim/kernel/qp.h"

static void put_owner(const struct object *object, struct nlmsg *message)
{
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_PID,
		      (uint32_t)object->context->file.process->pid);
}

static uint8_t type_of(enum qp_type type)
{
	static const uint8_t types[] = {
		[QP_RC] = IB_UVERBS_QPT_RC,           [QP_UC] = IB_UVERBS_QPT_UC,
		[QP_UD] = IB_UVERBS_QPT_UD,           [QP_XRC_INI] = IB_UVERBS_QPT_XRC_INI,
		[QP_XRC_TGT] = IB_UVERBS_QPT_XRC_TGT, [QP_DCI] = IB_UVERBS_QPT_DRIVER,
		[QP_DCT] = IB_UVERBS_QPT_DRIVER};

	return types[type];
}

static void put_qp(const struct kernel *kernel, const struct object *object, struct nlmsg *message)
{
	const struct qp *qp = (const struct qp *)(const void *)object;
	struct hca_qp_state state = {0};

	(void)hca_qp_query(kernel->hca, object->number, &state);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, object->number);
	if (qp->attributes.port_num)
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, qp->attributes.port_num);
	if (qp->type == QP_RC || qp->type == QP_UC) {
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_RQPN, state.dest_qp);
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_RQ_PSN, state.rq_psn);
		nlmsg_put_u8(message, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
			     (uint8_t)qp->attributes.path_mig_state);
	}
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_SQ_PSN, state.sq_psn);
	nlmsg_put_u8(message, RDMA_NLDEV_ATTR_RES_TYPE, type_of(qp->type));
	nlmsg_put_u8(message, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)state.state);
	if (qp->pd)
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->number);
	put_owner(object, message);
}

static void put_cq(const struct kernel *kernel, const struct object *object, struct nlmsg *message)
{
	const struct cq *cq = (const struct cq *)(const void *)object;

	(void)kernel;
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_CQE, cq->entries - 1);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_RES_USECNT, object->references);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_CQN, object->number);
	put_owner(object, message);
}

/* Returns the region's key without the bits that the owner chose. */
static uint32_t region_index(const struct object *object)
{
	return object->number >> 8;
}

static void put_mr(const struct kernel *kernel, const struct object *object, struct nlmsg *message)
{
	const struct region *region = (const struct region *)(const void *)object;

	(void)kernel;
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_RKEY, object->number);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_LKEY, object->number);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_RES_MRLEN, region->mr.length);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_MRN, region_index(object));
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_PDN, region->pd->number);
	put_owner(object, message);
}

static void put_pd(const struct kernel *kernel, const struct object *object, struct nlmsg *message)
{
	(void)kernel;
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_RES_USECNT, object->references);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_RES_PDN, object->number);
	put_owner(object, message);
}

const struct netlink_list *netlink_list_of(uint32_t command)
{
	static const struct netlink_list lists[RDMA_NLDEV_NUM_OPS] = {
		[RDMA_NLDEV_CMD_RES_QP_GET] = {OBJECT_QP, RDMA_NLDEV_ATTR_RES_QP,
					       RDMA_NLDEV_ATTR_RES_LQPN, put_qp},
		[RDMA_NLDEV_CMD_RES_CQ_GET] = {OBJECT_CQ, RDMA_NLDEV_ATTR_RES_CQ,
					       RDMA_NLDEV_ATTR_RES_CQN, put_cq},
		[RDMA_NLDEV_CMD_RES_MR_GET] = {OBJECT_MR, RDMA_NLDEV_ATTR_RES_MR,
					       RDMA_NLDEV_ATTR_RES_MRN, put_mr},
		[RDMA_NLDEV_CMD_RES_PD_GET] = {OBJECT_PD, RDMA_NLDEV_ATTR_RES_PD,
					       RDMA_NLDEV_ATTR_RES_PDN, put_pd},
	};

	return command < RDMA_NLDEV_NUM_OPS && lists[command].put ? &lists[command] : NULL;
}

uint32_t netlink_list_index(const struct netlink_list *list, const struct object *object)
{
	return list->type == OBJECT_MR ? region_index(object) : object->number;
}

/* Returns the context after `context` in the list. Contexts and their objects are stored newest
 * first; the list is oldest first. */
static const struct context *context_behind(const struct kernel *kernel,
					    const struct context *context)
{
	const struct context *behind = NULL;

	for (const struct context *each = kernel->contexts; each != context; each = each->next)
		behind = each;
	return behind;
}

const struct object *netlink_list_next(const struct kernel *kernel, const struct netlink_list *list,
				       const struct object *object)
{
	const struct context *context = object ? object->context : context_behind(kernel, NULL);
	uint32_t handle = object ? object->handle + 1 : 0;

	for (; context; context = context_behind(kernel, context), handle = 0)
		for (; handle < context->objects.capacity; handle++)
			if (object_find(&context->objects, list->type, handle))
				return context->objects.slots[handle];
	return NULL;
}
