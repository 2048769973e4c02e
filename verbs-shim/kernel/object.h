/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object: what a program makes through uverbs: protection domain, memory region, CQ, QP ... Each has a handle in the
 * context that made it, counts who relies on it (it cannot be destroyed as long as somebody does), and, when the
 * adapter knows it by a number, is found by that number when an event arrives.
 */
#ifndef VERBS_SHIM_KERNEL_OBJECT_H
#define VERBS_SHIM_KERNEL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define OBJECT_TYPES(X) X(PD) X(XRCD) X(MR) X(MW) X(AH) X(CQ) X(SRQ) X(QP)
#define OBJECT_TYPE_ENUM(name) OBJECT_##name,
enum object_type { OBJECT_TYPES(OBJECT_TYPE_ENUM) OBJECT_TYPE_COUNT };
/* clang-format on */

struct context;

struct object { /* embedded, first, in each type's struct; allocated by object_new() */
	enum object_type type;
	uint32_t handle;
	uint32_t references;                      /* other objects that rely on it */
	uint32_t number;                          /* CQN, QPN, SRQN, PD or XRC domain number, key */
	uint64_t user_handle;                     /* the program's name for it, in events */
	uint64_t completion_events, async_events; /* written to channels */
	uint64_t ring_address, ring_bytes;        /* of the driver; 0 bytes: none */
	uint64_t record_address;                  /* doorbell record; 0: none */
	struct context *context;
	struct object *newer, *older; /* in its context, by creation */
	struct object *number_next;   /* in the same bucket of struct numbers */
};

/* Handles of one context. Handle = index; the lowest free one is given, as the kernel does. */
struct objects {
	struct object **slots;
	uint32_t capacity;
	uint32_t first_free; /* none below is free */
	uint32_t count;
	struct object *newest;
};

/* Zeroed memory of `bytes` with a struct object at its head, entered under a new handle. */
void *object_new(struct objects *objects, struct context *context, enum object_type type,
		 uint64_t bytes);
void object_free(struct objects *objects, struct object *object);
/* NULL: no such handle, or of another type. */
struct object *object_find(const struct objects *objects, enum object_type type, uint32_t handle);
bool object_handle_used(const struct objects *objects, uint32_t handle);
void objects_fini(struct objects *objects); /* all are gone by then */

static inline void object_hold(struct object *object)
{
	if (object)
		object->references++;
}

static inline void object_drop(struct object *object)
{
	if (object)
		object->references--;
}

/* Objects of all contexts by type and number. */
#define NUMBER_BUCKETS 1024
struct numbers {
	struct object *buckets[NUMBER_BUCKETS];
};

void numbers_add(struct numbers *numbers, struct object *object);
void numbers_remove(struct numbers *numbers, struct object *object);
struct object *numbers_find(const struct numbers *numbers, enum object_type type, uint32_t number);

#endif
