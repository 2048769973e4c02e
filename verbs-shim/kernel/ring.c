/*
 * ring: is the driver's memory where it says?
 */
#include "verbs-shim/kernel/ring.h"

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
	command_share(command, buffer, bytes);
	command_share(command, doorbell_record, DOORBELL_RECORD_BYTES);
}
