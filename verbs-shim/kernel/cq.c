/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq: creates, resizes and destroys completion queues and completion channels.
 */
#include "verbs-shim/kernel/cq.h"

#include <errno.h>

#include "hca/device/hca_params.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/ring.h"
#include "verbs-shim/kernel/siw.h"

/* enum ib_cq_attr_mask, which no header of the ABI exports. */
#define IB_UVERBS_CQ_MODERATE_MASK 1

int create_comp_channel(struct command *command)
{
	struct ib_uverbs_create_comp_channel_resp response = {0};
	int error = command_reply(command, &response, sizeof(response));
	if (error)
		return error;
	struct channel *channel = channel_create(command->kernel, command->call->process,
						 sizeof(struct ib_uverbs_comp_event_desc));
	command_new_file(command, &channel->file, KERNEL_FD_CHANNEL, command->core_out.address);
	return 0;
}

/* Finds the channel of a CQ. *channel is NULL if the program requests none. */
static int find_channel(struct command *command, int32_t number, struct channel **channel)
{
	struct kernel_host *host = command->kernel->host;
	*channel = NULL;
	if (number < 0)
		return 0;
	struct kernel_file *file = host->file_of(host, command->call->process, number);
	if (!file)
		return -EBADF;
	if (file->kind != KERNEL_FD_CHANNEL || file->kernel != command->kernel)
		return -EINVAL;
	*channel = container_of(file, struct channel, file);
	return (*channel)->record_bytes == sizeof(struct ib_uverbs_comp_event_desc) ? 0 : -EINVAL;
}

static bool may_compress(const struct kernel *kernel)
{
	return hca_params(kernel->hca)->device.compressed_cqes;
}

/* Returns the requested format, which must be one of the offered ones. Checksums are not
 * computed. */
static enum hca_cq_compress format_of(uint8_t format)
{
	return format == MLX5_IB_CQE_RES_FORMAT_HASH          ? CQ_MINI_HASH
	       : format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX ? CQ_MINI_STRIDE
							      : CQ_PLAIN;
}

static int check_driver_part(struct command *command, struct mlx5_ib_create_cq *driver)
{
	if (command->driver.length < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	memcpy(driver, command->driver.bytes, sizeof(*driver));
	if (driver->flags & ~(uint32_t)MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX ||
	    driver->reserved0 || driver->reserved1)
		return -EINVAL; /* neither padding of 128-byte CQEs nor real-time stamps were
				   offered */
	if (driver->cqe_comp_en && (driver->cqe_size != 64 || !may_compress(command->kernel)))
		return -EOPNOTSUPP;
	if (driver->cqe_comp_en && !format_of(driver->cqe_comp_res_format))
		return -EINVAL;
	if (driver->cqe_size != 64 && driver->cqe_size != 128)
		return -EINVAL;
	return 0;
}

/* Returns one entry more than requested, because a full ring cannot be distinguished from an empty
 * one. */
static int ring_entries(uint32_t cqe, uint32_t *entries)
{
	if (cqe == 0 || cqe > limits_of_device.max_cqe)
		return -EINVAL;
	*entries = (uint32_t)ring_round_up((uint64_t)cqe + 1);
	return 0;
}

static int create(struct command *command, const struct ib_uverbs_ex_create_cq *request,
		  bool extended)
{
	struct kernel *kernel = command->kernel;
	struct mlx5_ib_create_cq driver;
	struct channel *channel;
	uint32_t entries;
	if (request->comp_vector >= COMPLETION_VECTORS)
		return -EINVAL;
	if (request->flags & ~(uint32_t)(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
					 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EOPNOTSUPP;
	int error = check_driver_part(command, &driver);
	if (!error)
		error = ring_entries(request->cqe, &entries);
	if (!error)
		error = find_channel(command, request->comp_channel, &channel);
	if (!error)
		error = ring_check(command, driver.buf_addr, (uint64_t)entries * driver.cqe_size,
				   driver.db_addr);
	if (error)
		return error;

	struct hca_cq_attr attr = {
		.memory = command->memory,
		.buffer = driver.buf_addr,
		.doorbell_record = driver.db_addr,
		.entries = entries,
		.cqe_bytes = driver.cqe_size,
		.ignore_overrun = request->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
		.compress = driver.cqe_comp_en ? format_of(driver.cqe_comp_res_format) : CQ_PLAIN,
	};
	struct mlx5_ib_create_cq_resp driver_response = {0};
	error = hca_cq_create(kernel->hca, &attr, &driver_response.cqn);
	if (error)
		return error;
	trace(&kernel->block, TRACE_CQ_CREATE, 0, driver_response.cqn, entries);
	struct cq *cq =
		object_new(&command->context->objects, command->context, OBJECT_CQ, sizeof(*cq));
	cq->object.user_handle = request->user_handle;
	cq->object.number = driver_response.cqn;
	cq->entries = entries;
	cq->cqe_bytes = driver.cqe_size;
	cq->channel = channel;
	if (channel)
		channel_hold(channel);
	object_numbers_add(&kernel->numbers, &cq->object);
	ring_share(command, &cq->object, attr.buffer, (uint64_t)entries * attr.cqe_bytes,
		   attr.doorbell_record);

	struct ib_uverbs_ex_create_cq_resp response = {.base.cq_handle = cq->object.handle,
						       .base.cqe = entries - 1,
						       .response_length = sizeof(response)};
	error = command_reply(command, &response,
			      extended ? sizeof(response) : sizeof(response.base));
	if (!error)
		error = command_reply_driver(command, &driver_response, sizeof(driver_response));
	if (error)
		destroy_object(&cq->object);
	return error;
}

int create_cq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_cq, request);
	struct ib_uverbs_ex_create_cq extended = {
		.user_handle = request.user_handle,
		.cqe = request.cqe,
		.comp_vector = request.comp_vector,
		.comp_channel = request.comp_channel,
	};
	return create(command, &extended, false);
}

int create_cq_ex(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_ex_create_cq, request);
	if (request.comp_mask || request.reserved)
		return -EINVAL;
	return create(command, &request, true);
}

int resize_cq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_resize_cq, request);
	COMMAND_DRIVER(command, mlx5_ib_resize_cq, driver);
	struct object *object = command_object(command, OBJECT_CQ, request.cq_handle);
	if (!object)
		return -EINVAL;
	struct cq *cq = container_of(object, struct cq, object);
	uint32_t entries;
	int error = ring_entries(request.cqe, &entries);
	if (error)
		return error;
	if (entries != cq->entries) {
		if (command->driver.length < sizeof(driver) || driver.reserved0 ||
		    driver.reserved1 || (driver.cqe_size != 64 && driver.cqe_size != 128))
			return -EINVAL;
		uint64_t bytes = (uint64_t)entries * driver.cqe_size;
		uint8_t byte;
		if (!memory_read(command->memory, driver.buf_addr, &byte, 1) ||
		    !memory_read(command->memory, driver.buf_addr + bytes - 1, &byte, 1))
			return -EFAULT;
		error = hca_cq_resize(command->kernel->hca, object->number, driver.buf_addr,
				      entries, driver.cqe_size);
		if (error)
			return error;
		cq->entries = entries;
		cq->cqe_bytes = driver.cqe_size;
		command->call->retired =
			(struct kernel_range){object->ring_address, object->ring_bytes};
		object->ring_address = driver.buf_addr;
		object->ring_bytes = bytes;
		command_share(command, driver.buf_addr, bytes, true);
	}
	struct ib_uverbs_resize_cq_resp response = {.cqe = cq->entries - 1};
	return command_reply(command, &response, sizeof(response));
}

/* Sets the number of completions, or of microseconds, for one event. */
int modify_cq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_ex_modify_cq, request);
	struct object *object = command_object(command, OBJECT_CQ, request.cq_handle);
	if (!object)
		return -EINVAL;
	if (request.attr_mask != IB_UVERBS_CQ_MODERATE_MASK || request.reserved)
		return -EOPNOTSUPP;
	return hca_cq_moderate(command->kernel->hca, object->number, request.attr.cq_count,
			       request.attr.cq_period * US);
}

/* Destroys a CQ. Returns the number of events that the program read. libibverbs waits until the
 * program has acknowledged them. */
int destroy_cq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_destroy_cq, request);
	struct object *object;
	int error = destroy_find(command, OBJECT_CQ, request.cq_handle, &object);
	if (error)
		return error;
	if (object->references)
		return -EBUSY;
	struct cq *cq = container_of(object, struct cq, object);
	uint64_t completions = object->completion_events, asyncs = object->async_events;
	if (cq->channel)
		completions -= channel_forget(cq->channel, object);
	asyncs -= channel_forget(object->context->async, object);
	struct ib_uverbs_destroy_cq_resp response = {
		.comp_events_reported = (uint32_t)completions,
		.async_events_reported = (uint32_t)asyncs,
	};
	error = destroy_object(object);
	return error ? error : command_reply(command, &response, sizeof(response));
}

int release_cq(struct object *object)
{
	struct cq *cq = container_of(object, struct cq, object);
	struct kernel *kernel = object->context->file.kernel;
	int error = siw_rnic(kernel) ? siw_release_cq(object)
				     : hca_cq_destroy(kernel->hca, object->number);
	if (error)
		return error;
	trace(&kernel->block, TRACE_CQ_DESTROY, 0, object->number, 0);
	object_numbers_remove(&kernel->numbers, object);
	channel_forget(object->context->async, object);
	if (cq->channel) {
		channel_forget(cq->channel, object);
		channel_drop(cq->channel);
	}
	return 0;
}

void cq_completion_event(struct cq *cq)
{
	struct ib_uverbs_comp_event_desc record = {.cq_handle = cq->object.user_handle};
	if (!cq->channel)
		return;
	cq->object.completion_events++;
	channel_write(cq->channel, &cq->object, &record);
}
