/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: ring of the records that a program may not have read yet, in addition to its pipe.
 */
#include "verbs-shim/kernel/channel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "verbs-shim/kernel/internal.h"

static struct channel_record *record_at(const struct channel *channel, uint32_t place)
{
	return &channel->records[(channel->first + place) % channel->capacity];
}

/* Removes records that the program has read since. */
static void drop_read(struct channel *channel)
{
	struct kernel_host *host = channel->file.kernel->host;
	uint32_t unread = host->channel_unread(host, &channel->file) / channel->record_bytes;
	assert(unread <= channel->count);
	channel->first = (channel->first + channel->count - unread) % channel->capacity;
	channel->count = unread;
}

static void make_room(struct channel *channel)
{
	if (channel->count < channel->capacity)
		return;
	drop_read(channel);
	if (channel->count <= channel->capacity / 2)
		return;

	struct channel_record *records = calloc(2 * channel->capacity, sizeof(*records));
	assert(records);
	for (uint32_t i = 0; i < channel->count; i++)
		records[i] = *record_at(channel, i);
	free(channel->records);
	channel->records = records;
	channel->first = 0;
	channel->capacity *= 2;
}

void channel_write(struct channel *channel, struct object *about, const void *bytes)
{
	if (!channel->file.process)
		return; /* no reader is left */
	make_room(channel);
	struct channel_record *record = record_at(channel, channel->count++);
	record->about = about;
	memcpy(record->bytes, bytes, channel->record_bytes);
	struct kernel_host *host = channel->file.kernel->host;
	host->channel_write(host, &channel->file, bytes, channel->record_bytes);
}

uint64_t channel_forget(struct channel *channel, const struct object *about)
{
	if (!channel->file.process) {
		uint64_t forgotten = 0;
		for (uint32_t i = 0; i < channel->count; i++)
			forgotten += record_at(channel, i)->about == about;
		return forgotten;
	}
	drop_read(channel);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < channel->count; i++) {
		if (record_at(channel, i)->about != about)
			*record_at(channel, kept++) = *record_at(channel, i);
	}
	uint32_t forgotten = channel->count - kept;
	channel->count = kept;
	if (forgotten) {
		struct kernel_host *host = channel->file.kernel->host;
		host->channel_discard(host, &channel->file);
		for (uint32_t i = 0; i < kept; i++)
			host->channel_write(host, &channel->file, record_at(channel, i)->bytes,
					    channel->record_bytes);
	}
	return forgotten;
}

struct channel *channel_create(struct kernel *kernel, struct kernel_process *process,
			       uint32_t record_bytes)
{
	assert(record_bytes <= RECORD_BYTES_MAX);
	struct channel *channel = calloc(1, sizeof(*channel));
	assert(channel);
	file_init(&channel->file, kernel, process, KERNEL_FD_CHANNEL);
	channel->record_bytes = record_bytes;
	channel->references = 1;
	channel->capacity = 64;
	channel->records = calloc(channel->capacity, sizeof(*channel->records));
	assert(channel->records);
	return channel;
}

void channel_hold(struct channel *channel)
{
	channel->references++;
}

void channel_drop(struct channel *channel)
{
	assert(channel->references);
	if (--channel->references)
		return;
	file_fini(&channel->file);
	free(channel->records);
	free(channel);
}
