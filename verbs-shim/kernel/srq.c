/* SPDX-License-Identifier: Apache-2.0 */
/*
 * srq: shared receive queues. The SRQs of XRC belong to an XRC domain and have their own CQ.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "fabric/wire/bytes.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/ring.h"
#include "verbs-shim/kernel/siw.h"

enum { MODIFY_MAX_WR = 1, MODIFY_LIMIT = 2, STRIDE_MIN = 32 };

struct srq {
	struct object object;          /* number: SRQN */
	struct object *pd, *xrcd, *cq; /* the last two: of XRC, else NULL */
	uint32_t entries, sges;
};

static int check_driver_part(struct command *command, const struct ib_uverbs_create_xsrq *request,
			     struct mlx5_ib_create_srq *driver)
{
	if (command->driver.length < offsetof(struct mlx5_ib_create_srq, uidx))
		return -EINVAL;
	memcpy(driver, command->driver.bytes, sizeof(*driver));
	if (driver->reserved0 || driver->reserved1 ||
	    driver->flags & ~(uint32_t)MLX5_SRQ_FLAG_SIGNATURE)
		return -EINVAL;
	if (driver->flags & MLX5_SRQ_FLAG_SIGNATURE)
		return kernel_refuse(command->kernel, "WQE signature", EOPNOTSUPP);
	if (request->max_wr > limits_of_device.max_srq_wr ||
	    request->max_sge > limits_of_device.max_srq_sge)
		return -EINVAL;
	if (request->srq_type == IB_UVERBS_SRQT_XRC &&
	    (driver->uidx & ~(uint32_t)MASK_24 || driver->uidx == MASK_24))
		return -EINVAL;
	return 0;
}

static int find_relations(struct command *command, const struct ib_uverbs_create_xsrq *request,
			  struct srq *srq)
{
	srq->pd = command_object(command, OBJECT_PD, request->pd_handle);
	if (!srq->pd)
		return -EINVAL;
	if (request->srq_type != IB_UVERBS_SRQT_XRC)
		return 0;
	srq->xrcd = command_object(command, OBJECT_XRCD, request->xrcd_handle);
	srq->cq = command_object(command, OBJECT_CQ, request->cq_handle);
	return srq->xrcd && srq->cq ? 0 : -EINVAL;
}

static struct srq *srq_new(struct command *command, const struct srq *draft, uint64_t user_handle,
			   uint32_t number)
{
	struct srq *srq =
		object_new(&command->context->objects, command->context, OBJECT_SRQ, sizeof(*srq));
	struct object object = srq->object;

	*srq = *draft;
	srq->object = object;
	srq->object.user_handle = user_handle;
	srq->object.number = number;
	object_hold(srq->pd);
	object_hold(srq->xrcd);
	object_hold(srq->cq);
	object_numbers_add(&command->kernel->numbers, &srq->object);
	return srq;
}

/* Creates an SRQ from a request in the form of the extended command. */
static int create(struct command *command, const struct ib_uverbs_create_xsrq *request)
{
	struct kernel *kernel = command->kernel;
	bool xrc = request->srq_type == IB_UVERBS_SRQT_XRC;
	struct mlx5_ib_create_srq driver;
	struct mlx5_ib_create_srq_resp driver_response = {0};
	struct srq draft = {.sges = request->max_sge};
	if (request->srq_type == IB_UVERBS_SRQT_TM)
		return kernel_refuse(kernel, "SRQ with tag matching", EOPNOTSUPP);
	if (request->srq_type > IB_UVERBS_SRQT_TM)
		return -EINVAL;
	int error = check_driver_part(command, request, &driver);
	if (!error)
		error = find_relations(command, request, &draft);
	if (error)
		return error;

	draft.entries = (uint32_t)ring_round_up((uint64_t)request->max_wr + 1);
	uint64_t stride = ring_round_up(((uint64_t)request->max_sge + 1) * RING_SEGMENT_BYTES);
	struct hca_srq_attr attr = {
		.memory = command->memory,
		.buffer = driver.buf_addr,
		.doorbell_record = driver.db_addr,
		.entries = draft.entries,
		.stride_bytes = (uint32_t)(stride < STRIDE_MIN ? STRIDE_MIN : stride),
		.pd = draft.pd->number,
		.limit = request->srq_limit,
		.xrc = xrc,
		.xrcd = xrc ? draft.xrcd->number : 0,
		.cqn = xrc ? draft.cq->number : 0,
		.user_index = driver.uidx,
	};
	uint64_t bytes = (uint64_t)attr.entries * attr.stride_bytes;
	error = ring_check(command, attr.buffer, bytes, attr.doorbell_record);
	if (!error)
		error = hca_srq_create(kernel->hca, &attr, &driver_response.srqn);
	if (error == -EOPNOTSUPP)
		return kernel_refuse(kernel, "SRQ of type XRC", EOPNOTSUPP);
	if (error)
		return error;

	struct srq *srq = srq_new(command, &draft, request->user_handle, driver_response.srqn);
	ring_share(command, &srq->object, attr.buffer, bytes, attr.doorbell_record);
	struct ib_uverbs_create_srq_resp response = {
		.srq_handle = srq->object.handle,
		.max_wr = srq->entries - 1,
		.max_sge = srq->sges,
		.srqn = xrc ? driver_response.srqn : 0,
	};
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver_response, sizeof(driver_response));
	if (error)
		destroy_object(&srq->object);
	return error;
}

int create_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_srq, request);
	struct ib_uverbs_create_xsrq extended = {
		.user_handle = request.user_handle,
		.srq_type = IB_UVERBS_SRQT_BASIC,
		.pd_handle = request.pd_handle,
		.max_wr = request.max_wr,
		.max_sge = request.max_sge,
		.srq_limit = request.srq_limit,
	};
	return create(command, &extended);
}

int create_xsrq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_xsrq, request);
	return create(command, &request);
}

int modify_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_modify_srq, request);
	struct object *object = command_object(command, OBJECT_SRQ, request.srq_handle);
	if (!object || (request.attr_mask & ~(uint32_t)MODIFY_LIMIT))
		return -EINVAL; /* mlx5 SRQs keep their size */
	if (!(request.attr_mask & MODIFY_LIMIT))
		return 0;
	if (request.srq_limit >= container_of(object, struct srq, object)->entries)
		return -EINVAL;
	return hca_srq_arm(command->kernel->hca, object->number, request.srq_limit);
}

int query_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_query_srq, request);
	struct object *object = command_object(command, OBJECT_SRQ, request.srq_handle);
	if (!object)
		return -EINVAL;
	struct srq *srq = container_of(object, struct srq, object);
	struct ib_uverbs_query_srq_resp response = {.max_wr = srq->entries - 1,
						    .max_sge = srq->sges};
	int error = hca_srq_query(command->kernel->hca, object->number, &response.srq_limit);
	return error ? error : command_reply(command, &response, sizeof(response));
}

int destroy_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_destroy_srq, request);
	struct object *object;
	int error = destroy_find(command, OBJECT_SRQ, request.srq_handle, &object);
	if (error)
		return error;
	if (object->references)
		return -EBUSY;
	uint64_t read = object->async_events;
	read -= channel_forget(object->context->async, object);
	struct ib_uverbs_destroy_srq_resp response = {.events_reported = (uint32_t)read};
	error = destroy_object(object);
	return error ? error : command_reply(command, &response, sizeof(response));
}

int release_srq(struct object *object)
{
	struct srq *srq = container_of(object, struct srq, object);
	struct kernel *kernel = object->context->file.kernel;
	if (siw_rnic(kernel))
		return siw_release_srq(object);
	int error = hca_srq_destroy(kernel->hca, object->number);
	if (error)
		return error;
	object_numbers_remove(&kernel->numbers, object);
	channel_forget(object->context->async, object);
	object_drop(srq->pd);
	object_drop(srq->xrcd);
	object_drop(srq->cq);
	return 0;
}
