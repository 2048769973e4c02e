/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_record: see packet_record.h. A port reports a departure in advance. Another port may later
 * report an earlier departure, but never a departure in the past. Records up to the present time
 * are therefore complete, and are written in the order of (time, port, order of the calls).
 */
#include "hcasim/record/packet_record.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* The latest packets, oldest first from `first` on. */
struct ring {
	const struct scenario_record_ring *params; /* packets 0: no ring */
	struct entry *list;                        /* [params->packets] */
	uint64_t first, count;
	const char *trigger; /* NULL: none so far */
	sim_time triggered_at;
	uint64_t before, behind; /* packets in the file */
};

struct packet_record {
	const struct build *build;
	struct packet_pool *copies; /* pool of the record; its packets are not packets of the run */
	struct pcapng *file;
	struct tap *taps; /* [ports] */
	uint64_t sequence;
	struct entry *heap; /* the earliest first */
	size_t used, size;
	struct ring ring;
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

static void forget(struct packet_record *record, const struct entry *entry)
{
	if (entry->packet->payload)
		packet_payload_drop(record->build->pool, entry->packet->payload);
	entry->packet->payload = NULL;
	packet_free(record->copies, entry->packet);
}

static void write_entry(struct packet_record *record, const struct entry *entry)
{
	pcapng_write(record->file, entry->interface, entry->at, entry->packet, NULL);
	forget(record, entry);
}

/* ---- the ring ---- */

static void pull(struct packet_record *record, const char *trigger, sim_time at)
{
	struct ring *ring = &record->ring;
	for (uint64_t i = 0; i < ring->count; i++)
		write_entry(record, &ring->list[(ring->first + i) % ring->params->packets]);
	ring->trigger = trigger;
	ring->triggered_at = at;
	ring->before = ring->count;
	ring->count = 0;
}

static bool is_pause(const struct packet *packet)
{
	for (unsigned i = 0; packet->kind == PACKET_PFC && i < 8; i++)
		if (packet->pause_enable >> i & 1 && packet->pause_quanta[i] > 0)
			return true;
	return false;
}

/* Keeps a packet. Drops the oldest packet if there are too many. */
static void keep(struct packet_record *record, const struct entry *entry)
{
	struct ring *ring = &record->ring;
	if (ring->count == ring->params->packets) {
		forget(record, &ring->list[ring->first]);
		ring->first = (ring->first + 1) % ring->params->packets;
		ring->count--;
	}
	ring->list[(ring->first + ring->count++) % ring->params->packets] = *entry;
}

static void pass(struct packet_record *record, const struct entry *entry)
{
	struct ring *ring = &record->ring;
	bool pauses = is_pause(entry->packet);
	if (ring->params->packets == 0) {
		write_entry(record, entry);
	} else if (!ring->trigger) {
		keep(record, entry);
		if (pauses && ring->params->pause)
			pull(record, "a pause", entry->at);
	} else if (ring->behind < ring->params->behind) {
		ring->behind++;
		write_entry(record, entry);
	} else {
		forget(record, entry);
	}
}

/* ---- packets ---- */

/* Passes on all packets before that time. */
static void pass_before(struct packet_record *record, sim_time until)
{
	while (record->used > 0 && record->heap[0].at < until) {
		struct entry entry = pop(record);
		pass(record, &entry);
	}
}

/* Passes on all packets before that time. A drop before that time is a trigger behind the packets
 * that begin to leave until then.
 */
static void pass_until(struct packet_record *record, sim_time until)
{
	struct ring *ring = &record->ring;
	sim_time drop = sim_first_loss(record->build->sim);

	if (ring->params->packets > 0 && ring->params->drop && !ring->trigger && drop < until) {
		pass_before(record, drop + 1);
		if (!ring->trigger)
			pull(record, "a drop", drop);
	}
	pass_before(record, until);
}

static bool is_wanted(const struct packet_record *record, const struct packet *packet, sim_time at)
{
	const struct scenario_record_only *window = &record->build->scenario->packets.window;
	return at >= window->from && (window->until == 0 || at < window->until) &&
	       scenario_packets_choose(record->build->scenario, packet);
}

static void see_departure(void *context, struct port *port, const struct packet *packet,
			  sim_time starts_at)
{
	const struct tap *tap = context;
	struct packet_record *record = tap->record;
	(void)port;
	pass_until(record, sim_now(record->build->sim));
	if (packet_record_full_since(record) != SIM_NEVER || !is_wanted(record, packet, starts_at))
		return;
	struct packet *copy = packet_copy(record->copies, packet);
	push(record, (struct entry){starts_at, tap->interface, record->sequence++, copy});
}

static bool is_chosen(const struct scenario_packets *packets, const char *name)
{
	for (uint32_t i = 0; i < packets->port_count; i++)
		if (fnmatch(packets->ports[i], name, 0) == 0)
			return true;
	return packets->port_count == 0;
}

/* Returns false, with the reason at the pattern, if one matches no port. */
static bool finds_ports(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario_packets *packets = &build->scenario->packets;
	char path[64];
	for (uint32_t i = 0; i < packets->port_count; i++) {
		uint32_t port = 0;
		while (port < build->port_count &&
		       fnmatch(packets->ports[i], port_name(build->ports[port]), 0) != 0)
			port++;
		if (port < build->port_count)
			continue;
		snprintf(error, error_bytes,
			 "record: only: no port matches \"%s\"; expected names such as %s, with * "
			 "for any text",
			 packets->ports[i], port_name(build->ports[build->port_count - 1]));
		snprintf(path, sizeof(path), "record.only.ports.%u", i);
		return scenario_blame(build->scenario, path, error, error_bytes);
	}
	return true;
}

static void tap_ports(struct packet_record *record)
{
	const struct build *build = record->build;
	for (uint32_t i = 0; i < build->port_count; i++) {
		struct port *port = build->ports[i];
		if (!is_chosen(&build->scenario->packets, port_name(port)))
			continue;
		record->taps[i] =
			(struct tap){record, pcapng_interface_add(record->file, port_name(port),
								  port_link_layer(port))};
		port_tap(port, see_departure, &record->taps[i]);
	}
}

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

struct packet_record *packet_record_create(const struct build *build, const char *path, char *error,
					   size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	const struct scenario_record_ring *ring = &scenario->ring;
	if (!finds_ports(build, error, error_bytes))
		return NULL;
	struct pcapng *file = pcapng_create(path);
	if (!file) {
		snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
		return NULL;
	}
	pcapng_limit(file, (uint32_t)scenario->record.snap, scenario->record.max_bytes);
	struct packet_record *record = take(1, sizeof(*record));
	*record = (struct packet_record){.build = build,
					 .copies = packet_pool_create(),
					 .file = file,
					 .taps = take(build->port_count, sizeof(*record->taps)),
					 .ring = {.params = ring}};
	if (ring->packets > 0)
		record->ring.list = take(ring->packets, sizeof(*record->ring.list));
	tap_ports(record);
	return record;
}

sim_time packet_record_full_since(const struct packet_record *record)
{
	return pcapng_full_since(record->file);
}

uint64_t packet_record_packets(const struct packet_record *record)
{
	return pcapng_packets(record->file);
}

void packet_record_end(struct packet_record *record, bool failed)
{
	struct ring *ring = &record->ring;
	const struct build *build = record->build;
	for (uint32_t i = 0; i < build->port_count; i++)
		port_tap(build->ports[i], NULL, NULL);
	pass_until(record, SIM_NEVER);
	if (ring->params->packets > 0 && !ring->trigger && failed && ring->params->failure)
		pull(record, "the end of a run that failed", sim_now(build->sim));
	for (uint64_t i = 0; i < ring->count; i++)
		forget(record, &ring->list[(ring->first + i) % ring->params->packets]);
	ring->count = 0;
}

bool packet_record_describe(const struct packet_record *record, char *text, size_t text_bytes)
{
	const struct ring *ring = &record->ring;
	if (ring->params->packets == 0)
		return false;
	if (ring->trigger)
		snprintf(text, text_bytes,
			 "the latest %" PRIu64 " packets before %s at %.6f us, and %" PRIu64
			 " behind it",
			 ring->before, ring->trigger, (double)ring->triggered_at / (double)US,
			 ring->behind);
	else
		snprintf(text, text_bytes, "no trigger of record.ring came; no packets");
	return true;
}

int packet_record_destroy(struct packet_record *record)
{
	packet_record_end(record, false);
	int error = pcapng_destroy(record->file);
	packet_pool_destroy(record->copies);
	free(record->ring.list);
	free(record->taps);
	free(record->heap);
	free(record);
	return error;
}
