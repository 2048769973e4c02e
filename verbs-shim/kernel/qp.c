/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp: creation, destruction, and multicast groups. Modify and query are in qp_modify.c.
 */
#include "verbs-shim/kernel/qp.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "fabric/groups.h"
#include "fabric/wire/bytes.h"
#include "hca/device/hca_params.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/ring.h"
#include "verbs-shim/kernel/siw.h"

#define SEND_BLOCK_BYTES 64
#define RECV_SHIFT_MAX   9 /* max_rq_desc_sz */
#define DRIVER_PART_MIN  (offsetof(struct mlx5_ib_create_qp, uidx))
#define DC_FLAGS         (MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT)
#define ATTENDED_FLAGS \
	(MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE | MLX5_QP_FLAG_BFREG_INDEX)

struct qp_group {
	struct qp_group *next;
	uint8_t gid[16];
	uint16_t lid;
};

/* Returns the QP type. The driver's own type is DC; its flags distinguish initiator and target. */
static int type_of(struct command *command, uint8_t verbs_type, enum qp_type *type)
{
	struct kernel *kernel = command->kernel;
	uint32_t flags = 0;

	if (command->driver.length >= DRIVER_PART_MIN)
		memcpy(&flags, command->driver.bytes + offsetof(struct mlx5_ib_create_qp, flags),
		       sizeof(flags));
	switch (verbs_type) {
	case IB_UVERBS_QPT_RC:
		*type = QP_RC;
		return 0;
	case IB_UVERBS_QPT_UC:
		*type = QP_UC;
		return 0;
	case IB_UVERBS_QPT_UD:
		*type = QP_UD;
		return 0;
	case IB_UVERBS_QPT_XRC_INI:
		*type = QP_XRC_INI;
		return 0;
	case IB_UVERBS_QPT_XRC_TGT:
		*type = QP_XRC_TGT;
		return 0;
	case IB_UVERBS_QPT_RAW_PACKET:
		return kernel_refuse(kernel, "QP of type RAW_PACKET", EOPNOTSUPP);
	case IB_UVERBS_QPT_DRIVER:
		if ((flags & DC_FLAGS) != MLX5_QP_FLAG_TYPE_DCI &&
		    (flags & DC_FLAGS) != MLX5_QP_FLAG_TYPE_DCT)
			return -EINVAL;
		*type = flags & MLX5_QP_FLAG_TYPE_DCI ? QP_DCI : QP_DCT;
		return 0;
	default:
		return -EINVAL;
	}
}

static bool has_rings(const struct qp *qp)
{
	return qp->type != QP_XRC_TGT && qp->type != QP_DCT;
}

static bool has_receive_ring(const struct qp *qp)
{
	return qp->recv_cq && !qp->srq && qp->capacity.max_recv_wr;
}

/* Checks the mlx5 part: sizes of the rings. The buffer has the RQ first, then the SQ. */
static int check_driver_part(struct command *command, const struct qp *qp,
			     struct mlx5_ib_create_qp *driver)
{
	if (command->driver.length < DRIVER_PART_MIN)
		return -EINVAL;
	memcpy(driver, command->driver.bytes, sizeof(*driver));
	if (driver->flags & MLX5_QP_FLAG_SIGNATURE)
		return kernel_refuse(command->kernel, "WQE signature", EOPNOTSUPP);
	if (driver->flags &
	    ~(uint32_t)(qp->type >= QP_DCI ? ATTENDED_FLAGS | DC_FLAGS : ATTENDED_FLAGS))
		return -EINVAL;
	if (driver->sq_wqe_count && !ring_is_power_of_two(driver->sq_wqe_count))
		return -EINVAL;
	if (driver->sq_wqe_count > limits_of_ucontext.max_send_wqebb)
		return -EINVAL;
	if (!has_receive_ring(qp)) {
		driver->rq_wqe_count = 0;
		driver->rq_wqe_shift = 0;
	} else if (!ring_is_power_of_two(driver->rq_wqe_count) ||
		   driver->rq_wqe_count > limits_of_ucontext.max_recv_wr ||
		   driver->rq_wqe_shift < 4 || driver->rq_wqe_shift > RECV_SHIFT_MAX) {
		return -EINVAL;
	}
	if (qp->type != QP_XRC_TGT &&
	    (driver->uidx & ~(uint32_t)MASK_24 || driver->uidx == MASK_24))
		return -EINVAL;
	if ((driver->flags & MLX5_QP_FLAG_BFREG_INDEX) &&
	    !uars_dynamic_bfreg(&command->context->uars, driver->bfreg_index))
		return -EINVAL;
	return 0;
}

/* Finds the objects that the QP depends on, by its type: IBTA vol. 1, 10.2.4 and annex A14; DC:
 * mlx5dv_create_qp(3). */
static int find_relations(struct command *command, const struct ib_uverbs_ex_create_qp *request,
			  struct qp *qp)
{
	bool target = qp->type == QP_XRC_TGT;
	if (target) {
		qp->xrcd = command_object(command, OBJECT_XRCD, request->pd_handle);
		return qp->xrcd ? 0 : -EINVAL;
	}
	qp->pd = command_object(command, OBJECT_PD, request->pd_handle);
	if (qp->type != QP_DCT)
		qp->send_cq = command_object(command, OBJECT_CQ, request->send_cq_handle);
	if (!qp->pd || (!qp->send_cq && qp->type != QP_DCT))
		return -EINVAL;
	if ((qp->type == QP_DCI && !request->is_srq && request->max_recv_wr) ||
	    (qp->type == QP_DCT && !request->is_srq))
		return -EINVAL;
	if (qp->type == QP_XRC_INI || qp->type == QP_DCI)
		return 0;
	qp->recv_cq = command_object(command, OBJECT_CQ, request->recv_cq_handle);
	if (!qp->recv_cq)
		return -EINVAL;
	if (request->is_srq) {
		qp->srq = command_object(command, OBJECT_SRQ, request->srq_handle);
		if (!qp->srq)
			return -EINVAL;
	}
	return 0;
}

static int check_capacity(const struct ib_uverbs_qp_cap *capacity)
{
	if (capacity->max_send_wr > limits_of_device.max_qp_wr ||
	    capacity->max_recv_wr > limits_of_device.max_qp_wr ||
	    capacity->max_send_sge > limits_of_device.max_sge ||
	    capacity->max_recv_sge > limits_of_device.max_sge + 2 ||
	    capacity->max_inline_data > limits_of_ucontext.max_sq_desc_sz)
		return -EINVAL;
	return 0;
}

static uint32_t number_of(const struct object *object)
{
	return object ? object->number : 0;
}

static void hold_relations(struct qp *qp)
{
	object_hold(qp->pd);
	object_hold(qp->send_cq);
	object_hold(qp->recv_cq);
	object_hold(qp->srq);
	object_hold(qp->xrcd);
}

/* Sets whether CQEs may carry the data of receives and of responses, which the driver permits.
 * Responses also need a CQE for each READ and atomic, or the driver's flag. */
static void place_data(struct command *command, const struct mlx5_ib_create_qp *driver,
		       struct hca_qp_attr *attr)
{
	bool offered = (driver->flags & MLX5_QP_FLAG_SCATTER_CQE) &&
		       (attr->type == QP_RC || attr->type == QP_UC) &&
		       hca_params(command->kernel->hca)->device.data_to_cqe;

	attr->receives_to_cqe = offered;
	attr->responses_to_cqe =
		offered && (attr->signal_all || driver->flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE);
}

/* Returns the attributes for the adapter. The receive ring is first in the driver's buffer. */
static struct hca_qp_attr describe(struct command *command,
				   const struct ib_uverbs_ex_create_qp *request,
				   const struct mlx5_ib_create_qp *driver, const struct qp *draft)
{
	struct hca_qp_attr attr = {
		.type = draft->type,
		.memory = command->memory,
		.rq_buffer = driver->buf_addr,
		.sq_buffer =
			driver->buf_addr + ((uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift),
		.doorbell_record = driver->db_addr,
		.rq_entries = driver->rq_wqe_count,
		.rq_stride_bytes = has_receive_ring(draft) ? 1U << driver->rq_wqe_shift : 0,
		.sq_blocks = has_rings(draft) ? driver->sq_wqe_count : 0,
		.pd = number_of(draft->pd),
		.send_cqn = number_of(draft->send_cq),
		.recv_cqn = number_of(draft->recv_cq),
		.srqn = number_of(draft->srq),
		.xrcd = number_of(draft->xrcd),
		.user_index = driver->uidx,
		.signal_all = draft->signal_all,
		.max_inline_bytes = request->max_inline_data,
		.dc_key = draft->type == QP_DCT ? driver->access_key : 0,
	};

	place_data(command, driver, &attr);
	return attr;
}

static struct qp *qp_new(struct command *command, const struct qp *draft, uint64_t user_handle,
			 uint32_t number)
{
	struct qp *qp =
		object_new(&command->context->objects, command->context, OBJECT_QP, sizeof(*qp));
	struct object object = qp->object;

	*qp = *draft;
	qp->object = object;
	qp->object.user_handle = user_handle;
	qp->object.number = number;
	hold_relations(qp);
	object_numbers_add(&command->kernel->numbers, &qp->object);
	return qp;
}

/* Returns the index of the QP's doorbell register: the driver's choice, or the kernel's. */
static uint32_t assign_bfreg(struct command *command, const struct mlx5_ib_create_qp *driver,
			     struct qp *qp)
{
	if (driver->flags & MLX5_QP_FLAG_BFREG_INDEX)
		return driver->bfreg_index;
	qp->has_bfreg = true;
	qp->bfreg = uars_take_bfreg(&command->context->uars);
	return uars_bfreg_index(qp->bfreg);
}

static int reply_create(struct command *command, const struct qp *qp,
			const struct mlx5_ib_create_qp_resp *driver_response, bool extended)
{
	const struct ib_uverbs_ex_create_qp_resp response = {
		.base.qp_handle = qp->object.handle,
		.base.qpn = qp->object.number,
		.base.max_send_wr = qp->capacity.max_send_wr,
		.base.max_recv_wr = qp->capacity.max_recv_wr,
		.base.max_send_sge = qp->capacity.max_send_sge,
		.base.max_recv_sge = qp->capacity.max_recv_sge,
		.base.max_inline_data = qp->capacity.max_inline_data,
		.response_length = sizeof(response),
	};
	int error = command_reply(command, &response,
				  extended ? sizeof(response) : sizeof(response.base));

	return error ? error
		     : command_reply_driver(command, driver_response, sizeof(*driver_response));
}

static int create(struct command *command, const struct ib_uverbs_ex_create_qp *request,
		  bool extended)
{
	struct mlx5_ib_create_qp driver;
	struct mlx5_ib_create_qp_resp driver_response = {0};
	struct qp draft = {.capacity = {request->max_send_wr, request->max_recv_wr,
					request->max_send_sge, request->max_recv_sge,
					request->max_inline_data},
			   .signal_all = request->sq_sig_all};
	uint32_t qpn = 0;
	int error = type_of(command, request->qp_type, &draft.type);
	if (!error)
		error = find_relations(command, request, &draft);
	if (!error)
		error = check_capacity(&draft.capacity);
	if (!error)
		error = check_driver_part(command, &draft, &driver);
	if (error)
		return error;

	struct hca_qp_attr attr = describe(command, request, &driver, &draft);
	uint64_t bytes =
		attr.sq_buffer - attr.rq_buffer + (uint64_t)driver.sq_wqe_count * SEND_BLOCK_BYTES;
	if (has_rings(&draft))
		error = ring_check(command, driver.buf_addr, bytes, driver.db_addr);
	if (!error)
		error = hca_qp_create(command->kernel->hca, &attr, &qpn);
	if (error == -EOPNOTSUPP)
		return kernel_refuse(command->kernel, "QP of type XRC", EOPNOTSUPP);
	if (error)
		return error;

	trace(&command->kernel->block, TRACE_QP_CREATE, 0, qpn, request->qp_type);
	struct qp *qp = qp_new(command, &draft, request->user_handle, qpn);
	qp->capacity.max_recv_wr = attr.rq_entries;
	qp->capacity.max_recv_sge = attr.rq_stride_bytes / RING_SEGMENT_BYTES;
	if (has_rings(qp)) {
		ring_share(command, &qp->object, driver.buf_addr, bytes, driver.db_addr);
		driver_response.bfreg_index = assign_bfreg(command, &driver, qp);
	}
	error = reply_create(command, qp, &driver_response, extended);
	if (error)
		destroy_object(&qp->object);
	return error;
}

int create_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_qp, request);
	struct ib_uverbs_ex_create_qp extended = {
		.user_handle = request.user_handle,
		.pd_handle = request.pd_handle,
		.send_cq_handle = request.send_cq_handle,
		.recv_cq_handle = request.recv_cq_handle,
		.srq_handle = request.srq_handle,
		.max_send_wr = request.max_send_wr,
		.max_recv_wr = request.max_recv_wr,
		.max_send_sge = request.max_send_sge,
		.max_recv_sge = request.max_recv_sge,
		.max_inline_data = request.max_inline_data,
		.sq_sig_all = request.sq_sig_all,
		.qp_type = request.qp_type,
		.is_srq = request.is_srq,
	};
	return create(command, &extended, false);
}

int create_qp_ex(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_ex_create_qp, request);
	if (request.comp_mask & ~(uint32_t)IB_UVERBS_CREATE_QP_SUP_COMP_MASK || request.reserved)
		return -EINVAL;
	if (request.comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE)
		return kernel_refuse(command->kernel, "QP with receive-side scaling", EOPNOTSUPP);
	if (request.create_flags)
		return kernel_refuse(command->kernel, "QP creation flags", EOPNOTSUPP);
	return create(command, &request, true);
}

int destroy_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_destroy_qp, request);
	struct object *object;
	int error = destroy_find(command, OBJECT_QP, request.qp_handle, &object);
	if (error)
		return error;
	if (container_of(object, struct qp, object)->groups)
		return -EBUSY;
	uint64_t read = object->async_events;
	read -= channel_forget(object->context->async, object);
	struct ib_uverbs_destroy_qp_resp response = {.events_reported = (uint32_t)read};
	error = destroy_object(object);
	return error ? error : command_reply(command, &response, sizeof(response));
}

static void leave_group(struct qp *qp, struct qp_group **link)
{
	struct qp_group *group = *link;
	hca_multicast_detach(qp->object.context->file.kernel->hca, qp->object.number, group->gid);
	*link = group->next;
	free(group);
}

int release_qp(struct object *object)
{
	struct qp *qp = container_of(object, struct qp, object);
	struct kernel *kernel = object->context->file.kernel;
	if (siw_rnic(kernel))
		return siw_release_qp(object);
	while (qp->groups)
		leave_group(qp, &qp->groups);
	int error = hca_qp_destroy(kernel->hca, object->number);
	if (error)
		return error;
	trace(&kernel->block, TRACE_QP_DESTROY, 0, object->number, 0);
	if (qp->has_bfreg)
		uars_give_bfreg(&object->context->uars, qp->bfreg);
	object_numbers_remove(&kernel->numbers, object);
	channel_forget(object->context->async, object);
	object_drop(qp->pd);
	object_drop(qp->send_cq);
	object_drop(qp->recv_cq);
	object_drop(qp->srq);
	object_drop(qp->xrcd);
	return 0;
}

static struct qp_group **find_group(struct qp *qp, const uint8_t gid[16], uint16_t lid)
{
	struct qp_group **link = &qp->groups;
	while (*link && ((*link)->lid != lid || memcmp((*link)->gid, gid, 16) != 0))
		link = &(*link)->next;
	return link;
}

/* Checks the LID of a group on InfiniBand. RoCE ignores it (IBTA annex A16). */
static bool is_group(const struct kernel *kernel, const uint8_t gid[16], uint16_t lid)
{
	if (!group_has_gid(gid))
		return false;
	return kernel_endpoint(kernel)->link_layer == LINK_ETHERNET ||
	       (lid >= GROUP_LID_FIRST && lid <= GROUP_LID_LAST);
}

int attach_mcast(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_attach_mcast, request);
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);
	if (!object)
		return -EINVAL;
	struct qp *qp = container_of(object, struct qp, object);
	if (qp->type != QP_UD || !is_group(command->kernel, request.gid, request.mlid))
		return -EINVAL;
	if (*find_group(qp, request.gid, request.mlid))
		return 0;
	int error = hca_multicast_attach(command->kernel->hca, object->number, request.gid);
	if (error)
		return error;
	struct qp_group *group = calloc(1, sizeof(*group));
	assert(group);
	memcpy(group->gid, request.gid, 16);
	group->lid = request.mlid;
	group->next = qp->groups;
	qp->groups = group;
	return 0;
}

int detach_mcast(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_detach_mcast, request);
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);
	if (!object)
		return -EINVAL;
	struct qp *qp = container_of(object, struct qp, object);
	struct qp_group **link = find_group(qp, request.gid, request.mlid);
	if (!*link)
		return -EINVAL;
	leave_group(qp, link);
	return 0;
}

bool qp_wants_drained_event(const struct object *object)
{
	const struct qp *qp = (const struct qp *)(const void *)object;
	return qp->attributes.en_sqd_async_notify;
}
