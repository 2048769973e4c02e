/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netfile: see netfile.h. Two passes over the lines: one for the nodes, one for the links.
 */
#include "fabric/netfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/encoding.h"
#include "fabric/line_error.h"
#include "sim/hash.h"

#define NAME_MAX_BYTES 32 /* leaves room for "-port2" in a layout's name */
#define ADAPTER_PORTS  8
#define WORD_MAX_BYTES 16
#define LETTERS        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct device {
	char name[NAME_MAX_BYTES];     /* name in the lines of links */
	char words[2][WORD_MAX_BYTES]; /* words of an adapter's description: "node01 HCA-1" */
	/* suffix of the host's name: words[1] or ""; NULL if the host is named `name` */
	const char *suffix;
	bool is_switch;
	bool is_ignored; /* a switch's own adapter for SHARP, which sends nothing */
	uint32_t ports;
	uint32_t machine;
	uint32_t nodes[ADAPTER_PORTS];  /* adapter: number + 1 of the node, by port, or 0 */
	uint32_t node;                  /* node of a switch */
	uint32_t peers[PORT_SET_PORTS]; /* by port: the linked port, see peer_key(), or 0 */
};

struct reader {
	struct layout *layout;
	const char *at, *end;
	uint32_t line;
	struct device *devices;
	uint32_t count, room, machines;
	/* hash table by name: number + 1, or 0 if free; size a power of two, at most half full */
	uint32_t *slots;
	uint32_t slot_count;
	char *error;
	size_t error_bytes;
};

static uint32_t *slot_of(const struct reader *reader, const char *name)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, name, strlen(name));
	uint32_t slot;

	slot = (uint32_t)(hash ^ hash >> 32) & (reader->slot_count - 1);
	while (reader->slots[slot] &&
	       strcmp(reader->devices[reader->slots[slot] - 1].name, name) != 0)
		slot = (slot + 1) & (reader->slot_count - 1);
	return &reader->slots[slot];
}

static void grow(struct reader *reader)
{
	reader->room = reader->room ? reader->room * 2 : 32;
	reader->devices = realloc(reader->devices, reader->room * sizeof(reader->devices[0]));
	free(reader->slots);
	reader->slot_count = reader->room * 2;
	reader->slots = calloc(reader->slot_count, sizeof(reader->slots[0]));
	assert(reader->devices && reader->slots);
	for (uint32_t i = 0; i < reader->count; i++)
		*slot_of(reader, reader->devices[i].name) = i + 1;
}

/* Reads the next line without its end, and the comment after '#'. Returns false at the end of the
 * text. */
static bool next_line(struct reader *reader, char *line, size_t line_bytes, char *comment)
{
	const char *stop;
	size_t length;
	char *hash;

	if (reader->at >= reader->end)
		return false;
	stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
	length = (size_t)((stop ? stop : reader->end) - reader->at);
	reader->line++;
	if (length >= line_bytes) /* a long description, which is not needed */
		length = line_bytes - 1;
	memcpy(line, reader->at, length);
	line[length] = 0;
	reader->at = stop ? stop + 1 : reader->end;
	hash = strchr(line, '#');
	comment[0] = 0;
	if (hash) {
		memmove(comment, hash + 1, strlen(hash + 1) + 1);
		*hash = 0;
	}
	return true;
}

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\r')
		text++;
	return text;
}

/* Copies the text between quotes, at most bytes - 1 of it. Returns NULL if there is none. */
static const char *take_name(const char *text, char *name, size_t bytes)
{
	const char *close;

	text = skip_blanks(text);
	if (*text != '"')
		return NULL;
	close = strchr(text + 1, '"');
	if (!close || close == text + 1 || (size_t)(close - text) > bytes)
		return NULL;
	memcpy(name, text + 1, (size_t)(close - text - 1));
	name[close - text - 1] = 0;
	return close + 1;
}

/* Parses "[12](guid)". Returns NULL if there is no port. */
static const char *take_port(const char *text, uint32_t *port)
{
	const char *open = skip_blanks(text);
	uint32_t value = 0;

	if (*open++ != '[' || *open < '0' || *open > '9')
		return NULL;
	for (; *open >= '0' && *open <= '9'; open++)
		value = value < 100000 ? value * 10 + (uint32_t)(*open - '0') : value;
	if (*open++ != ']')
		return NULL;
	*port = value;
	if (*open == '(') {
		open = strchr(open, ')');
		if (!open)
			return NULL;
		open++;
	}
	return open;
}

/* Copies the words of ibnetdiscover's comment, if it is in quotes and the words may be the name of
 * a host. */
static void take_words(struct device *device, const char *comment)
{
	const char *text = strchr(comment, '"'), *end = text ? strchr(text + 1, '"') : NULL;

	if (!end)
		return;
	device->is_ignored = !device->is_switch && strstr(text, "Aggregation Node");
	text++;
	for (unsigned i = 0; i < 2 && text < end; i++) {
		size_t length = strcspn(text, " \t\"");

		if (length >= WORD_MAX_BYTES ||
		    strspn(text, LETTERS "0123456789-_") < length) /* such as a domain name */
			return;
		memcpy(device->words[i], text, length);
		text += length;
		text += strspn(text, " \t");
	}
}

static int compare_words(const void *one, const void *other)
{
	const struct device *left = *(struct device *const *)one;
	const struct device *right = *(struct device *const *)other;
	int first = strcmp(left->words[0], right->words[0]);

	return first ? first : strcmp(left->words[1], right->words[1]);
}

static bool same_word(struct device *const *devices, uint32_t count, uint32_t one, uint32_t other,
		      unsigned words)
{
	for (unsigned i = 0; i < words && one < count && other < count; i++)
		if (strcmp(devices[one]->words[i], devices[other]->words[i]) != 0)
			return false;
	return one < count && other < count;
}

/* Chooses the names of hosts. The name is the first word of the adapter's description if no other
 * adapter has this word. Otherwise it is the first two words if no other adapter has them, and
 * otherwise the GUID. A word such as MT4123 names a type of adapter, not a host. */
static void choose_names(struct reader *reader)
{
	struct device **sorted = calloc(reader->count + 1, sizeof(*sorted));
	uint32_t count = 0;

	assert(sorted);
	for (uint32_t i = 0; i < reader->count; i++) {
		struct device *device = &reader->devices[i];
		const char *word = device->words[0];
		bool model = word[0] == 'M' && word[1] == 'T' && word[2] >= '0' && word[2] <= '9';

		if (!device->is_switch && !device->is_ignored && *word && !model)
			sorted[count++] = device;
	}
	qsort(sorted, count, sizeof(sorted[0]), compare_words);
	for (uint32_t i = 0; i < count; i++) {
		const char *second = sorted[i]->words[1];
		/* index -1 wraps to UINT32_MAX, which matches nothing */
		bool first_shared = same_word(sorted, count, i - 1, i, 1) ||
				    same_word(sorted, count, i, i + 1, 1);
		bool both_shared = same_word(sorted, count, i - 1, i, 2) ||
				   same_word(sorted, count, i, i + 1, 2);

		if (!first_shared)
			sorted[i]->suffix = "";
		else if (!both_shared && *second)
			sorted[i]->suffix = second;
	}
	free(sorted);
}

static bool add_device(struct reader *reader, const char *name, uint64_t ports, bool is_switch,
		       const char *comment)
{
	uint32_t *slot;

	if (ports < 1 || ports > (is_switch ? PORT_SET_PORTS : ADAPTER_PORTS))
		return LINE_ERROR(reader, "%s: %llu ports; expected 1 to %d", name,
				  (unsigned long long)ports,
				  is_switch ? PORT_SET_PORTS : ADAPTER_PORTS);
	if (reader->count == reader->room)
		grow(reader);
	slot = slot_of(reader, name);
	if (*slot)
		return LINE_ERROR(reader, "%s: is defined twice", name);
	*slot = reader->count + 1;
	struct device *device = &reader->devices[reader->count++];

	*device = (struct device){.is_switch = is_switch, .ports = (uint32_t)ports};
	snprintf(device->name, sizeof(device->name), "%s", name);
	take_words(device, comment);
	if (is_switch)
		device->node =
			layout_add_switch(reader->layout, name, (uint16_t)ports, LAYOUT_NO_RANK);
	else if (!device->is_ignored)
		device->machine = reader->machines++;
	return true;
}

/* clang-format off */
static const struct { const char *word; bool is_switch; } kinds[] = {
	{"Switch", true}, {"Hca", false}, {"Ca", false}, {"Rt", false}, {"Router", false},
};
/* clang-format on */

/* Parses a line that may begin a node, and sets *is_node. Returns false if it begins a node and is
 * invalid. */
static bool read_node(struct reader *reader, const char *line, const char *comment, bool *is_node)
{
	*is_node = false;
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t length = strlen(kinds[i].word);
		char name[NAME_MAX_BYTES];
		char *rest;
		uint64_t ports;

		if (strncmp(line, kinds[i].word, length) != 0 ||
		    (line[length] != ' ' && line[length] != '\t'))
			continue;
		*is_node = true;
		ports = strtoull(line + length, &rest, 10);
		if (!take_name(rest, name, sizeof(name)))
			return LINE_ERROR(reader,
					  "expected %s PORTS \"NAME\", NAME of 1 to %d bytes",
					  kinds[i].word, NAME_MAX_BYTES - 1);
		return add_device(reader, name, ports, kinds[i].is_switch, comment);
	}
	return true;
}

/* clang-format off */
#define SPEED_NAME(name, kilobaud, bits, of) [SPEED_##name] = #name,
static const char *const speed_names[SPEED_COUNT] = { INFINIBAND_SPEEDS(SPEED_NAME) };
/* clang-format on */

/* Returns the rate of "... 4xEDR" in the comment, or 0 if there is none. */
static uint64_t rate_in(const char *comment)
{
	for (const char *x = strchr(comment, 'x'); x; x = strchr(x + 1, 'x')) {
		uint64_t width =
			x > comment && x[-1] >= '0' && x[-1] <= '9' ? (uint64_t)(x[-1] - '0') : 0;
		size_t length = strcspn(x + 1, " \t\r");

		if (x > comment + 1 && x[-1] == '2' && x[-2] == '1')
			width = 12;
		for (unsigned speed = 1; width && speed < SPEED_COUNT; speed++)
			if (strlen(speed_names[speed]) == length &&
			    strncmp(x + 1, speed_names[speed], length) == 0)
				return encoding_rate_bps((enum infiniband_speed)speed, width);
	}
	return 0;
}

/* Returns the layout's node and port for a port of a device, which counts from 1. */
static uint32_t node_of(struct reader *reader, struct device *device, uint32_t port,
			uint16_t *node_port)
{
	char name[NAME_MAX_BYTES + 2 * WORD_MAX_BYTES + sizeof("-port4294967295")];
	int length;

	*node_port = device->is_switch ? (uint16_t)(port - 1) : 0;
	if (device->is_switch)
		return device->node;
	length = device->suffix ? snprintf(name, sizeof(name), "%s%s%s", device->words[0],
					   *device->suffix ? "-" : "", device->suffix)
				: snprintf(name, sizeof(name), "%s", device->name);
	if (port > 1)
		snprintf(name + length, sizeof(name) - (size_t)length, "-port%u", port);
	if (!device->nodes[port - 1])
		device->nodes[port - 1] =
			layout_add_host(reader->layout, name, device->machine, port - 1) + 1;
	return device->nodes[port - 1] - 1;
}

static uint32_t peer_key(const struct reader *reader, const struct device *device, uint32_t port)
{
	return (uint32_t)(device - reader->devices) * (PORT_SET_PORTS + 1) + port;
}

/* Returns true if both ends are free, or already have this link. Sets *known to true if they
 * have it. */
static bool check_ends(struct reader *reader, const struct device *one, uint32_t one_port,
		       const struct device *other, uint32_t other_port, bool *known)
{
	uint32_t from_one = one->peers[one_port - 1], from_other = other->peers[other_port - 1];

	*known = from_one == peer_key(reader, other, other_port) &&
		 from_other == peer_key(reader, one, one_port);
	if (*known || (!from_one && !from_other && (one != other || one_port != other_port)))
		return true;
	return LINE_ERROR(reader, "%s[%u] and %s[%u]: one end is linked to another port", one->name,
			  one_port, other->name, other_port);
}

static bool read_link(struct reader *reader, struct device *device, const char *line,
		      const char *comment)
{
	char name[NAME_MAX_BYTES];
	uint32_t port, peer_port, number;
	uint16_t one_port, other_port;
	struct device *peer;
	const char *rest = take_port(line, &port);
	bool known;

	rest = rest ? take_name(rest, name, sizeof(name)) : NULL;
	rest = rest ? take_port(rest, &peer_port) : NULL;
	if (!rest)
		return LINE_ERROR(reader, "expected [PORT] \"NAME\"[PORT]");
	if (!device)
		return LINE_ERROR(reader, "a line of a port before the first node");
	number = *slot_of(reader, name);
	if (!number)
		return LINE_ERROR(reader, "%s: no such node in the file", name);
	peer = &reader->devices[number - 1];
	if (port < 1 || port > device->ports || peer_port < 1 || peer_port > peer->ports)
		return LINE_ERROR(reader, "%s[%u] or %s[%u]: no such port", device->name, port,
				  name, peer_port);
	if (!check_ends(reader, device, port, peer, peer_port, &known) || known)
		return known;
	if (device->is_ignored || peer->is_ignored)
		return true;
	device->peers[port - 1] = peer_key(reader, peer, peer_port);
	peer->peers[peer_port - 1] = peer_key(reader, device, port);
	uint32_t one = node_of(reader, device, port, &one_port);
	uint32_t other = node_of(reader, peer, peer_port, &other_port);

	layout_add_link(reader->layout, one, one_port, other, other_port)->rate_bps =
		rate_in(comment);
	return true;
}

static bool read_all(struct reader *reader, bool links)
{
	char line[512], comment[512];
	struct device *device = NULL;
	uint32_t seen = 0;

	while (next_line(reader, line, sizeof(line), comment)) {
		const char *text = skip_blanks(line);
		bool is_node = false;

		if (links && *text == '[') {
			if (!read_link(reader, device, text, comment))
				return false;
			continue;
		}
		for (unsigned i = 0; links && i < ARRAY_SIZE(kinds); i++) {
			size_t length = strlen(kinds[i].word);

			is_node |= strncmp(text, kinds[i].word, length) == 0 &&
				   (text[length] == ' ' || text[length] == '\t');
		}
		if (links && is_node)
			device = &reader->devices[seen++];
		if (links)
			continue;
		if (!read_node(reader, text, comment, &is_node))
			return false;
		if (!is_node && *text && *text != '[' && !strchr(text, '='))
			return LINE_ERROR(reader,
					  "not a line of a node or a port, and not KEY=VALUE");
	}
	return true;
}

bool netfile_read(struct layout *layout, const char *text, size_t length, char *error,
		  size_t error_bytes)
{
	struct reader reader = {.layout = layout,
				.at = text,
				.end = text + length,
				.error = error,
				.error_bytes = error_bytes};
	bool good;

	grow(&reader);
	good = read_all(&reader, false);
	choose_names(&reader);
	reader.at = text;
	reader.line = 0;
	good = good && read_all(&reader, true);
	if (good && !layout->link_count)
		good = LINE_ERROR(&reader, "the file has no links");
	free(reader.devices);
	free(reader.slots);
	return good;
}
