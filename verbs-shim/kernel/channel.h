/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: event channel: fixed-size records that a program reads from a pipe, oldest first. The
 * kernel knows which records are unread. When an object is destroyed, it must report how many of
 * the object's events were read, and remove the unread ones.
 */
#ifndef VERBS_SHIM_KERNEL_CHANNEL_H
#define VERBS_SHIM_KERNEL_CHANNEL_H

#include <rdma/ib_user_verbs.h>

#include "verbs-shim/kernel/file.h"
#include "verbs-shim/kernel/object.h"

#define RECORD_BYTES_MAX sizeof(struct ib_uverbs_async_event_desc)

struct channel_record {
	struct object *about; /* NULL: not about an object that can be destroyed */
	uint8_t bytes[RECORD_BYTES_MAX];
};

struct channel {
	struct kernel_file file;
	uint32_t record_bytes;
	/* the open descriptor, and each CQ or context that writes to the channel */
	uint32_t references;
	struct channel_record *records; /* ring of the last records written */
	uint32_t capacity, first, count;
};

/* Creates a channel with one reference, which the descriptor holds. */
struct channel *channel_create(struct kernel *kernel, struct kernel_process *process,
			       uint32_t record_bytes);
void channel_hold(struct channel *channel);
/* frees the channel when the last reference is dropped */
void channel_drop(struct channel *channel);

void channel_write(struct channel *channel, struct object *about, const void *record);
/* Removes the unread records about an object. Returns their number. */
uint64_t channel_forget(struct channel *channel, const struct object *about);

#endif
