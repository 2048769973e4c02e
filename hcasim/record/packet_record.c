/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_record: see packet_record.h. A port fixes a departure before its time has come, and another port may fix an
 * earlier one afterwards, but never one that lies in the past: what is at or before now is written, in the order of
 * (time, port, order of the calls).
 */
#include "hcasim/record/packet_record.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/pcapng.h"

struct entry {
	sim_time at;
	uint32_t interface;
	uint64_t sequence;
	struct packet *packet; /* a copy, with its own reference to the payload */
};

struct tap {
	struct packet_record *record;
	uint32_t interface;
};

struct packet_record {
	struct sim *sim;
	struct packet_pool *pool;   /* of the run: payloads are shared with it */
	struct packet_pool *copies; /* ours: what waits to be written is no packet of the run */
	struct pcapng *file;
	struct port *const *ports;
	struct tap *taps; /* [count] */
	uint32_t count;
	uint64_t sequence;
	struct entry *heap; /* the earliest first */
	size_t used, size;
};

static bool comes_before(const struct entry *one, const struct entry *other)
{
	if (one->at != other->at)
		return one->at < other->at;
	if (one->interface != other->interface)
		return one->interface < other->interface;
	return one->sequence < other->sequence;
}

static void push(struct packet_record *record, struct entry entry)
{
	if (record->used == record->size) {
		record->size = record->size == 0 ? 256 : 2 * record->size;
		record->heap = realloc(record->heap, record->size * sizeof(*record->heap));
		if (!record->heap)
			abort();
	}
	size_t at = record->used++;
	for (; at > 0 && comes_before(&entry, &record->heap[(at - 1) / 2]); at = (at - 1) / 2)
		record->heap[at] = record->heap[(at - 1) / 2];
	record->heap[at] = entry;
}

static struct entry pop(struct packet_record *record)
{
	struct entry first = record->heap[0], last = record->heap[--record->used];
	size_t at = 0;
	for (size_t child = 1; child < record->used; child = 2 * at + 1) {
		if (child + 1 < record->used &&
		    comes_before(&record->heap[child + 1], &record->heap[child]))
			child++;
		if (!comes_before(&record->heap[child], &last))
			break;
		record->heap[at] = record->heap[child];
		at = child;
	}
	record->heap[at] = last;
	return first;
}

/* Everything before that time. */
static void write_until(struct packet_record *record, sim_time until)
{
	while (record->used > 0 && record->heap[0].at < until) {
		struct entry entry = pop(record);
		pcapng_write(record->file, entry.interface, entry.at, entry.packet, NULL);
		if (entry.packet->payload)
			payload_drop(record->pool, entry.packet->payload);
		entry.packet->payload = NULL;
		packet_free(record->copies, entry.packet);
	}
}

static void see_departure(void *context, struct port *port, const struct packet *packet,
			  sim_time starts_at)
{
	const struct tap *tap = context;
	struct packet_record *record = tap->record;
	(void)port;
	write_until(record, sim_now(record->sim));
	if (packet_record_full_since(record) != SIM_NEVER)
		return;
	struct packet *copy = packet_copy(record->copies, packet);
	push(record, (struct entry){starts_at, tap->interface, record->sequence++, copy});
}

struct packet_record *packet_record_create(struct sim *sim, struct packet_pool *pool,
					   const struct packet_record_file *place,
					   struct port *const *ports, uint32_t count)
{
	struct pcapng *file = pcapng_create(place->path);
	if (!file)
		return NULL;
	pcapng_limit(file, place->snap, place->max_bytes);
	struct packet_record *record = calloc(1, sizeof(*record));
	struct tap *taps = calloc(count > 0 ? count : 1, sizeof(*taps));
	if (!record || !taps)
		abort();
	*record = (struct packet_record){.sim = sim,
					 .pool = pool,
					 .copies = packet_pool_create(),
					 .file = file,
					 .ports = ports,
					 .taps = taps,
					 .count = count};
	for (uint32_t i = 0; i < count; i++) {
		taps[i] = (struct tap){record, pcapng_interface_add(file, port_name(ports[i]),
								    port_link_layer(ports[i]))};
		port_tap(ports[i], see_departure, &taps[i]);
	}
	return record;
}

sim_time packet_record_full_since(const struct packet_record *record)
{
	return pcapng_full_since(record->file);
}

uint64_t packet_record_packets(const struct packet_record *record)
{
	return pcapng_packets(record->file) +
	       (packet_record_full_since(record) == SIM_NEVER ? record->used : 0);
}

int packet_record_destroy(struct packet_record *record)
{
	for (uint32_t i = 0; i < record->count; i++)
		port_tap(record->ports[i], NULL, NULL);
	write_until(record, UINT64_MAX);
	int error = pcapng_destroy(record->file);
	packet_pool_destroy(record->copies);
	free(record->taps);
	free(record->heap);
	free(record);
	return error;
}
