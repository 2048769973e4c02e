/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object: the handle tables and the number map.
 */
#include "verbs-shim/kernel/object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *object_new(struct objects *objects, struct context *context, enum object_type type,
		 uint64_t bytes)
{
	assert(bytes >= sizeof(struct object));
	uint32_t handle = objects->first_free;
	while (handle < objects->capacity && objects->slots[handle])
		handle++;
	if (handle == objects->capacity) {
		uint32_t capacity = objects->capacity ? 2 * objects->capacity : 64;
		objects->slots = realloc(objects->slots, capacity * sizeof(*objects->slots));
		assert(objects->slots);
		memset(objects->slots + objects->capacity, 0,
		       (capacity - objects->capacity) * sizeof(*objects->slots));
		objects->capacity = capacity;
	}

	struct object *object = calloc(1, bytes);
	assert(object);
	*object = (struct object){
		.type = type, .handle = handle, .context = context, .older = objects->newest};
	if (objects->newest)
		objects->newest->newer = object;
	objects->newest = object;
	objects->slots[handle] = object;
	objects->first_free = handle + 1;
	objects->count++;
	return object;
}

void object_free(struct objects *objects, struct object *object)
{
	assert(objects->slots[object->handle] == object);
	assert(object->references == 0);
	objects->slots[object->handle] = NULL;
	if (object->handle < objects->first_free)
		objects->first_free = object->handle;
	if (object->newer)
		object->newer->older = object->older;
	else
		objects->newest = object->older;
	if (object->older)
		object->older->newer = object->newer;
	objects->count--;
	free(object);
}

bool object_handle_used(const struct objects *objects, uint32_t handle)
{
	return handle < objects->capacity && objects->slots[handle];
}

struct object *object_find(const struct objects *objects, enum object_type type, uint32_t handle)
{
	if (!object_handle_used(objects, handle) || objects->slots[handle]->type != type)
		return NULL;
	return objects->slots[handle];
}

void objects_fini(struct objects *objects)
{
	assert(objects->count == 0);
	free(objects->slots);
	objects->slots = NULL;
	objects->capacity = 0;
}

static struct object **bucket_of(struct numbers *numbers, enum object_type type, uint32_t number)
{
	return &numbers->buckets[(number * (uint32_t)OBJECT_TYPE_COUNT + (uint32_t)type) %
				 NUMBER_BUCKETS];
}

void object_numbers_add(struct numbers *numbers, struct object *object)
{
	assert(!object_numbers_find(numbers, object->type, object->number));
	struct object **bucket = bucket_of(numbers, object->type, object->number);
	object->number_next = *bucket;
	*bucket = object;
}

void object_numbers_remove(struct numbers *numbers, struct object *object)
{
	struct object **link = bucket_of(numbers, object->type, object->number);
	while (*link != object)
		link = &(*link)->number_next;
	*link = object->number_next;
}

struct object *object_numbers_find(const struct numbers *numbers, enum object_type type,
				   uint32_t number)
{
	struct object *object = *bucket_of((struct numbers *)numbers, type, number);
	while (object && (object->type != type || object->number != number))
		object = object->number_next;
	return object;
}
