/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object: object that a program creates through uverbs: protection domain, memory region, CQ, QP
 * ... Each object has a handle in its context. It counts the objects that depend on it, and cannot
 * be destroyed while there are any. An object with an adapter number is found by that number when
 * an event arrives.
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
	uint32_t references; /* other objects that depend on it */
	uint32_t number;     /* CQN, QPN, SRQN, PD or XRC domain number, key */
	/* the program's name for it, reported in events */
	uint64_t user_handle;
	uint64_t completion_events, async_events; /* written to channels */
	uint64_t ring_address, ring_bytes;        /* ring of the driver; 0 bytes: none */
	uint64_t record_address;                  /* doorbell record; 0: none */
	struct context *context;
	struct object *newer, *older; /* neighbours in its context, by creation time */
	struct object *number_next;   /* in the same bucket of struct numbers */
};

/* Handles of one context. A handle is an index. New objects get the lowest free one, as in the
 * kernel. */
struct objects {
	struct object **slots;
	uint32_t capacity;
	uint32_t first_free; /* all lower slots are in use */
	uint32_t count;
	struct object *newest;
};

/* Allocates zeroed memory of `bytes` that begins with a struct object, and assigns a new handle. */
void *object_new(struct objects *objects, struct context *context, enum object_type type,
		 uint64_t bytes);
void object_free(struct objects *objects, struct object *object);
/* Returns NULL if there is no such handle, or it has another type. */
struct object *object_find(const struct objects *objects, enum object_type type, uint32_t handle);
bool object_handle_used(const struct objects *objects, uint32_t handle);
void objects_fini(struct objects *objects); /* all objects must have been freed */

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

void object_numbers_add(struct numbers *numbers, struct object *object);
void object_numbers_remove(struct numbers *numbers, struct object *object);
struct object *object_numbers_find(const struct numbers *numbers, enum object_type type,
				   uint32_t number);

#endif
