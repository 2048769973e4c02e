/* SPDX-License-Identifier: Apache-2.0 */
/*
 * destroy: destroys any object, by command or with the file that created it.
 */
#include <errno.h>

#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/ring.h"

int destroy_find(struct command *command, enum object_type type, uint32_t handle,
		 struct object **object)
{
	if (!object_handle_used(&command->context->objects, handle))
		return -ENOENT;
	*object = command_object(command, type, handle);
	if (!*object)
		return -EINVAL;
	if (!(*object)->references) /* otherwise the result is EBUSY, and the ring is in use */
		ring_retire(command, *object);
	return 0;
}

int destroy_object(struct object *object)
{
#define RELEASE_ROW(type, function) [OBJECT_##type] = function,
	static int (*const functions[])(struct object *) = {RELEASE_FUNCTIONS(RELEASE_ROW)};
	if (object->references)
		return -EBUSY;
	int error = functions[object->type](object);
	if (!error)
		object_free(&object->context->objects, object);
	return error;
}
