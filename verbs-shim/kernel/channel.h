/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: an event channel: records of one size that a program reads from a pipe, oldest first. The kernel
 * remembers which records are still unread, because destroying an object must answer how many of its events were
 * read, and must take back those that were not.
 */
#ifndef VERBS_SHIM_KERNEL_CHANNEL_H
#define VERBS_SHIM_KERNEL_CHANNEL_H

#include <rdma/ib_user_verbs.h>

#include "verbs-shim/kernel/file.h"
#include "verbs-shim/kernel/object.h"

#define RECORD_BYTES_MAX sizeof(struct ib_uverbs_async_event_desc)

struct channel_record {
	struct object *about; /* NULL: nothing that can be destroyed */
	uint8_t bytes[RECORD_BYTES_MAX];
};

struct channel {
	struct kernel_file file;
	uint32_t record_bytes;
	uint32_t references; /* the open descriptor, and each CQ or context that writes to it */
	struct channel_record *records; /* ring of the last ones written */
	uint32_t capacity, first, count;
};

/* One reference: the descriptor's. */
struct channel *channel_create(struct kernel *kernel, struct kernel_process *process,
			       uint32_t record_bytes);
void channel_hold(struct channel *channel);
void channel_drop(struct channel *channel); /* frees it with the last */

void channel_write(struct channel *channel, struct object *about, const void *record);
/* Takes back what is unread about that object. Answers how many records that was. */
uint64_t channel_forget(struct channel *channel, const struct object *about);

#endif
