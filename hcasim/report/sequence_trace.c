/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_trace: data from the run's trace that packets lack (sequence.h): arrival times, losses
 * on the last link, and actions of the adapters.
 *
 *     port         PORT_ARRIVES                      arrivals
 *     doorbell     DOORBELL                          doorbells
 *     transport    WQE_START, REQUEST, REWIND        tags of the chart; retransmissions
 *     completion   CQE                               completions
 *     congestion   CNP, RATE                         rates
 *     endpoint     MESSAGE_START ... CNP             all of these, of a reduced adapter
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/report/sequence.h"
#include "sim/trace.h"

#define VOTES      16   /* departures and arrivals by which the delay of a link is found */
#define VOTERS_MAX 4000 /* departures that are compared for it */

struct arrival {
	uint64_t head_ns;
	sim_time tail_at;
};

struct reading {
	struct sequence *sequence;
	struct arrival *arrivals[2]; /* at each host, by time */
	size_t counts[2], rooms[2];
	bool *tags; /* of the chart's queue pairs */
	size_t tag_room;
	sim_time last_at; /* of the trace */
};

/* ---- reading ---- */

static void keep_arrival(struct reading *reading, unsigned side, const struct trace_entry *entry)
{
	if (reading->counts[side] == reading->rooms[side]) {
		size_t room = reading->rooms[side] ? 2 * reading->rooms[side] : 1024;
		reading->arrivals[side] =
			realloc(reading->arrivals[side], room * sizeof(struct arrival));
		if (!reading->arrivals[side])
			abort();
		reading->rooms[side] = room;
	}
	reading->arrivals[side][reading->counts[side]++] =
		(struct arrival){entry->time / NS, entry->first};
}

static void keep_tag(struct reading *reading, uint64_t tag)
{
	if (tag >= reading->tag_room) {
		size_t room = (size_t)tag * 2 + 1024;
		reading->tags = realloc(reading->tags, room * sizeof(*reading->tags));
		if (!reading->tags)
			abort();
		memset(reading->tags + reading->tag_room, 0, room - reading->tag_room);
		reading->tag_room = room;
	}
	reading->tags[tag] = true;
}

static bool has_tag(const struct reading *reading, uint64_t tag)
{
	return tag > 0 && tag < reading->tag_room && reading->tags[tag];
}

/* Returns the side of the host that has the block, by its name: "host0.hca.doorbell". Returns 2 if
 * neither host has it. */
static unsigned side_of(char *const hosts[2], const char *block)
{
	for (unsigned side = 0; side < 2; side++) {
		size_t length = strlen(hosts[side]);
		if (strncmp(block, hosts[side], length) == 0 &&
		    strncmp(block + length, ".hca", 4) == 0)
			return side;
	}
	return 2;
}

struct rule {
	const char *type, *point;
	enum sequence_kind kind;
	const char *format; /* of `second` */
};

/* Records that name a queue pair first. */
static const struct rule rules[] = {
	{"doorbell", "DOORBELL", SEQUENCE_DOORBELL, "doorbell, index %" PRIu64},
	{"transport", "REWIND", SEQUENCE_REWIND, "goes back to psn %" PRIu64},
	{"congestion", "CNP", SEQUENCE_REWIND, "CNP: %" PRIu64 " Mb/s"},
	{"congestion", "RATE", SEQUENCE_REWIND, "rate: %" PRIu64 " Mb/s"},
	{"endpoint", "MESSAGE_START", SEQUENCE_DOORBELL, "message begins, psn %" PRIu64},
	{"endpoint", "MESSAGE_COMPLETE", SEQUENCE_COMPLETION, "message complete, %" PRIu64 " B"},
	{"endpoint", "REWIND", SEQUENCE_REWIND, "goes back to psn %" PRIu64},
	{"endpoint", "CNP", SEQUENCE_REWIND, "CNP: %" PRIu64 " Mb/s"},
};

static void add_local(struct reading *reading, unsigned side, const struct rule *rule,
		      const struct trace_entry *entry)
{
	struct sequence_event *event;
	if (!sequence_has_qp(reading->sequence, side, entry->first))
		return;
	event = sequence_add(reading->sequence, rule->kind, side, entry->time);
	int length = snprintf(event->text, sizeof(event->text), rule->format, entry->second);
	if (reading->sequence->qps[side] == SEQUENCE_QP_ANY)
		snprintf(event->text + length, sizeof(event->text) - (size_t)length,
			 ", qp %" PRIu64, entry->first);
}

static void read_entry(struct reading *reading, const struct trace_entry *entry)
{
	const char *type = entry->source->type, *point = entry->source->points[entry->point].name;
	unsigned side = side_of(reading->sequence->hosts, entry->source->name);
	if (side == 2)
		return;
	if (strcmp(point, "PORT_ARRIVES") == 0)
		keep_arrival(reading, side, entry);
	if (strcmp(type, "transport") == 0 &&
	    (strcmp(point, "WQE_START") == 0 || strcmp(point, "REQUEST") == 0) &&
	    sequence_has_qp(reading->sequence, side, entry->first))
		keep_tag(reading, entry->tag);
	if (strcmp(type, "completion") == 0 && strcmp(point, "CQE") == 0 &&
	    has_tag(reading, entry->tag)) {
		struct sequence_event *event =
			sequence_add(reading->sequence, SEQUENCE_COMPLETION, side, entry->time);
		snprintf(event->text, sizeof(event->text),
			 "CQE of CQ %" PRIu64 ", work request %" PRIu64, entry->first, entry->tag);
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strcmp(type, rules[i].type) == 0 && strcmp(point, rules[i].point) == 0)
			add_local(reading, side, &rules[i], entry);
	}
}

/* ---- the peer of a queue pair ---- */

/* A work request keeps its tag from its requester to its responder. */
bool sequence_find_peer(char *const hosts[2], uint32_t qpn, const char *trace, uint32_t *peer)
{
	struct reading reading = {0};
	struct trace_entry entry;
	const char *reason;
	bool found = false;
	struct trace_reader *reader = trace_reader_open(trace, &reason);
	while (reader && !found && trace_reader_next(reader, &entry)) {
		const char *point = entry.source->points[entry.point].name;
		unsigned side = side_of(hosts, entry.source->name);
		bool begins = strcmp(point, "WQE_START") == 0;
		if (side == 2 || strcmp(entry.source->type, "transport") != 0 || entry.tag == 0 ||
		    (!begins && strcmp(point, "REQUEST") != 0))
			continue;
		if (side == 0 && begins && entry.first == qpn)
			keep_tag(&reading, entry.tag);
		found = side == 1 && !begins && has_tag(&reading, entry.tag);
		if (found)
			*peer = (uint32_t)entry.first;
	}
	if (reader)
		trace_reader_close(reader);
	free(reading.tags);
	return found;
}

/* ---- arrivals ---- */

/* Returns the arrival with this time of the first bit, within a nanosecond: times of the capture
 * are truncated. */
static const struct arrival *find_arrival(const struct reading *reading, unsigned side,
					  uint64_t head_ns)
{
	const struct arrival *list = reading->arrivals[side];
	size_t low = 0, high = reading->counts[side];
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (list[middle].head_ns + 1 < head_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reading->counts[side] && list[low].head_ns <= head_ns + 1 ? &list[low] : NULL;
}

static bool comes_to(const struct sequence_event *event, unsigned side)
{
	return event->kind < SEQUENCE_DOORBELL && event->side != side && event->last_hop_ns > 0;
}

static size_t count_fits(const struct reading *reading, unsigned side, uint64_t delay_ns)
{
	const struct sequence *sequence = reading->sequence;
	size_t fits = 0;
	for (size_t i = 0; i < sequence->count && i < VOTERS_MAX; i++) {
		const struct sequence_event *event = &sequence->list[i];
		fits += comes_to(event, side) &&
			find_arrival(reading, side, event->last_hop_ns + delay_ns);
	}
	return fits;
}

/* Returns the propagation delay of the last link: the delay that explains the most arrivals. */
static uint64_t find_delay(const struct reading *reading, unsigned side)
{
	const struct sequence *sequence = reading->sequence;
	uint64_t best = 0;
	size_t most = 0, tried = 0;
	for (size_t i = 0; i < sequence->count && tried < VOTES; i++) {
		const struct sequence_event *event = &sequence->list[i];
		size_t compared = 0;
		if (!comes_to(event, side))
			continue;
		tried++;
		for (size_t j = 0; j < reading->counts[side] && compared < VOTES; j++) {
			uint64_t head_ns = reading->arrivals[side][j].head_ns;
			if (head_ns < event->last_hop_ns)
				continue;
			compared++;
			size_t fits = count_fits(reading, side, head_ns - event->last_hop_ns);
			if (fits > most) {
				most = fits;
				best = head_ns - event->last_hop_ns;
			}
		}
	}
	return best;
}

static void set_arrivals(struct reading *reading, unsigned side)
{
	struct sequence *sequence = reading->sequence;
	if (reading->counts[side] == 0)
		return;
	uint64_t delay_ns = find_delay(reading, side);
	sequence->exact[side] = true;
	for (size_t i = 0; i < sequence->count; i++) {
		struct sequence_event *event = &sequence->list[i];
		if (!comes_to(event, side))
			continue;
		const struct arrival *arrival =
			find_arrival(reading, side, event->last_hop_ns + delay_ns);
		if (arrival)
			event->until = arrival->tail_at;
		else if ((event->last_hop_ns + delay_ns + 1) * NS < reading->last_at)
			event->until = SIM_NEVER;
	}
}

bool sequence_add_trace(struct sequence *sequence, const char *path, char *error,
			size_t error_bytes)
{
	struct reading reading = {.sequence = sequence};
	struct trace_entry entry;
	const char *reason;
	struct trace_reader *reader = trace_reader_open(path, &reason);
	*error = '\0';
	if (!reader) {
		snprintf(error, error_bytes, "%s: %s", path, reason);
		return false;
	}
	while (trace_reader_next(reader, &entry)) {
		read_entry(&reading, &entry);
		reading.last_at = entry.time;
	}
	if (trace_reader_error(reader))
		snprintf(error, error_bytes, "%s: %s", path, trace_reader_error(reader));
	trace_reader_close(reader);
	set_arrivals(&reading, 0);
	set_arrivals(&reading, 1);
	free(reading.arrivals[0]);
	free(reading.arrivals[1]);
	free(reading.tags);
	return *error == '\0';
}
