/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring: checks that the driver's memory is where the driver says.
 */
#include "verbs-shim/kernel/ring.h"
#include "hca/host/memory.h"

#include <errno.h>

#define DOORBELL_RECORD_BYTES 8

int ring_check(struct command *command, uint64_t buffer, uint64_t bytes, uint64_t doorbell_record)
{
	uint64_t record;
	uint8_t byte;
	if (doorbell_record % DOORBELL_RECORD_BYTES || buffer + bytes < buffer)
		return -EINVAL;
	if (!memory_read(command->memory, doorbell_record, &record, sizeof(record)))
		return -EFAULT;
	if (bytes && (!memory_read(command->memory, buffer, &byte, 1) ||
		      !memory_read(command->memory, buffer + bytes - 1, &byte, 1)))
		return -EFAULT;
	return 0;
}

void ring_share(struct command *command, struct object *object, uint64_t buffer, uint64_t bytes,
		uint64_t doorbell_record)
{
	object->ring_address = buffer;
	object->ring_bytes = bytes;
	object->record_address = doorbell_record;
	command_share(command, buffer, bytes, object->type == OBJECT_CQ);
	command_share(command, doorbell_record, DOORBELL_RECORD_BYTES, false);
}

/* The driver puts doorbell records of many objects into a page, and gives it back when none is
 * left. */
static bool is_last_record(const struct object *object)
{
	uint64_t page = object->record_address / MEMORY_PAGE;

	for (const struct object *other = object->context->objects.newest; other;
	     other = other->older)
		if (other != object && other->record_address / MEMORY_PAGE == page)
			return false;
	return true;
}

void ring_retire(struct command *command, const struct object *object)
{
	command->call->retired = (struct kernel_range){object->ring_address, object->ring_bytes};
	if (object->record_address && is_last_record(object))
		command->call->retired_record =
			(struct kernel_range){object->record_address, DOORBELL_RECORD_BYTES};
}
