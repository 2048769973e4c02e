/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command: copying between the kernel and the program that called.
 */
#include "verbs-shim/kernel/command.h"

#include <assert.h>
#include <errno.h>
#include <rdma/rdma_user_ioctl_cmds.h>

struct command command_of(struct kernel_file *file, struct kernel_call *call)
{
	assert(file->kind == KERNEL_FD_COMMAND);
	return (struct command){
		.kernel = file->kernel,
		.context = container_of(file, struct context, file),
		.call = call,
		.memory = call->process->memory,
	};
}

static int reply(struct command *command, const struct command_out *out, const void *bytes,
		 uint32_t length)
{
	static const uint8_t zeros[256];
	uint32_t copied = length < out->length ? length : out->length;
	if (copied && !memory_write(command->memory, out->address, bytes, copied))
		return -EFAULT;
	while (copied < out->length) {
		uint32_t more = out->length - copied;
		if (more > sizeof(zeros))
			more = sizeof(zeros);
		if (!memory_write(command->memory, out->address + copied, zeros, more))
			return -EFAULT;
		copied += more;
	}
	if (out->flags_at) {
		uint16_t flags = out->flags | UVERBS_ATTR_F_VALID_OUTPUT;
		if (!memory_write(command->memory, out->flags_at, &flags, sizeof(flags)))
			return -EFAULT;
	}
	return 0;
}

int command_reply(struct command *command, const void *bytes, uint32_t length)
{
	return reply(command, &command->core_out, bytes, length);
}

int command_reply_driver(struct command *command, const void *bytes, uint32_t length)
{
	return reply(command, &command->driver_out, bytes, length);
}

uint32_t command_room(const struct command_out *out, uint32_t length)
{
	return out->length < length ? out->length : length;
}

int command_copy_out(struct command *command, uint64_t address, const void *bytes, uint32_t length)
{
	return memory_write(command->memory, address, bytes, length) ? 0 : -EFAULT;
}

void command_new_file(struct command *command, struct kernel_file *file, enum kernel_fd_kind kind,
		      uint64_t number_at)
{
	struct kernel_call *call = command->call;
	assert(call->file_count < ARRAY_SIZE(call->files));
	call->files[call->file_count++] =
		(struct kernel_new_file){.file = file, .kind = kind, .number_at = number_at};
}

void command_share(struct command *command, uint64_t address, uint64_t length, bool polled)
{
	struct kernel_call *call = command->call;
	if (length == 0)
		return;
	assert(call->shared_count < ARRAY_SIZE(call->shared));
	call->shared_polled[call->shared_count] = polled;
	call->shared[call->shared_count++] =
		(struct kernel_range){.address = address, .length = length};
}

struct object *command_object(const struct command *command, enum object_type type, uint32_t handle)
{
	return object_find(&command->context->objects, type, handle);
}
