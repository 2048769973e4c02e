/* SPDX-License-Identifier: Apache-2.0 */
/* hpccfile: see hpccfile.h. One pass over the words of the file. */
#include "fabric/hpccfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/line_error.h"
#include "fabric/port_set.h"
#include "sim/block.h"

#define NODES_MAX    200000
#define WORD_BYTES   32
#define PS_PER_METRE 5000 /* as port parameter `propagation` has by default */
#define BLANKS       " \t\r"

struct reader {
	struct layout *layout;
	const char *at, *end;
	uint32_t line;
	uint32_t nodes, switches, links;
	bool *is_switch;   /* by number */
	uint32_t *node_of; /* of the layout, by number */
	uint32_t *ports;   /* of the node so far */
	char *error;
	size_t error_bytes;
};

/* Takes the next word of the file. Returns false at the end of the file, or if the word is too
 * long. */
static bool take_word(struct reader *reader, char word[WORD_BYTES], const char *what)
{
	size_t length = 0;

	while (reader->at < reader->end && strchr(BLANKS "\n", *reader->at)) {
		reader->line += *reader->at == '\n';
		reader->at++;
	}
	while (reader->at < reader->end && !strchr(BLANKS "\n", *reader->at)) {
		if (length + 1 == WORD_BYTES)
			return LINE_ERROR(reader, "a word is too long; expected %s", what);
		word[length++] = *reader->at++;
	}
	word[length] = '\0';
	return length > 0 || LINE_ERROR(reader, "the file ends; expected %s", what);
}

static bool take_number(struct reader *reader, uint32_t least, uint32_t most, const char *what,
			uint32_t *number)
{
	char word[WORD_BYTES], *end;

	if (!take_word(reader, word, what))
		return false;
	unsigned long value = strtoul(word, &end, 10);

	if (*end != '\0' || word[0] == '-' || value < least || value > most)
		return LINE_ERROR(reader, "found %s; expected %s, %u to %u", word, what, least,
				  most);
	*number = (uint32_t)value;
	return true;
}

/* Takes a value with a unit, by the parser of parameters. */
static bool take_quantity(struct reader *reader, enum param_kind kind, const char *what,
			  uint64_t *value)
{
	const struct param param = {what, kind, 0, "", "", "", ""};
	char word[WORD_BYTES], error[128];

	return take_word(reader, word, what) &&
	       (param_parse(&param, word, value, error, sizeof(error)) ||
		LINE_ERROR(reader, "%s", error));
}

static bool read_switches(struct reader *reader)
{
	for (uint32_t i = 0; i < reader->switches; i++) {
		uint32_t number;

		if (!take_number(reader, 0, reader->nodes - 1, "the number of a switch", &number))
			return false;
		if (reader->is_switch[number])
			return LINE_ERROR(reader, "switch %u is listed twice", number);
		reader->is_switch[number] = true;
	}
	for (uint32_t i = 0; i < reader->nodes - reader->switches; i++)
		if (reader->is_switch[i])
			return LINE_ERROR(
				reader,
				"switch %u has a lower number than a host; expected hosts "
				"0 to %u, then switches",
				i, reader->nodes - reader->switches - 1);
	return true;
}

static void add_nodes(struct reader *reader)
{
	uint32_t hosts = reader->nodes - reader->switches;

	for (uint32_t i = 0; i < reader->nodes; i++) {
		char name[LAYOUT_NAME_BYTES];
		bool is_switch = reader->is_switch[i];

		snprintf(name, sizeof(name), "%s%u", is_switch ? "switch" : "host",
			 is_switch ? i - hosts : i);
		reader->node_of[i] = is_switch ? layout_add_switch(reader->layout, name,
								   PORT_SET_PORTS, LAYOUT_NO_RANK)
					       : layout_add_host(reader->layout, name, i, 0);
	}
}

/* Gives the node's next port to a link. */
static bool take_port(struct reader *reader, uint32_t number, uint16_t *port)
{
	uint32_t most = reader->is_switch[number] ? PORT_SET_PORTS : 1;

	if (reader->ports[number] == most)
		return LINE_ERROR(reader, "node %u has more than %u link%s", number, most,
				  most > 1 ? "s" : "");
	*port = (uint16_t)reader->ports[number]++;
	return true;
}

static bool read_link(struct reader *reader)
{
	uint32_t ends[2];
	uint16_t ports[2];
	uint64_t rate_bps = 0, delay_ps = 0;
	char word[WORD_BYTES], *end;

	for (unsigned i = 0; i < 2; i++)
		if (!take_number(reader, 0, reader->nodes - 1, "the number of a node", &ends[i]))
			return false;
	if (!take_quantity(reader, PARAM_RATE, "rate", &rate_bps) ||
	    !take_quantity(reader, PARAM_TIME, "delay", &delay_ps) ||
	    !take_word(reader, word, "an error rate"))
		return false;
	if (strtod(word, &end) != 0 || *end != '\0')
		return LINE_ERROR(reader, "error rate %s; expected 0, and `faults` in the scenario",
				  word);
	if (ends[0] == ends[1])
		return LINE_ERROR(reader, "a link from node %u to itself", ends[0]);
	if (rate_bps == 0)
		return LINE_ERROR(reader, "a link without a rate");
	if (!take_port(reader, ends[0], &ports[0]) || !take_port(reader, ends[1], &ports[1]))
		return false;
	struct layout_link *link = layout_add_link(reader->layout, reader->node_of[ends[0]],
						   ports[0], reader->node_of[ends[1]], ports[1]);

	link->rate_bps = rate_bps;
	link->metres = (double)delay_ps / PS_PER_METRE;
	return true;
}

static bool read_all(struct reader *reader)
{
	if (!take_number(reader, 2, NODES_MAX, "the number of nodes", &reader->nodes) ||
	    !take_number(reader, 0, reader->nodes - 1, "the number of switches",
			 &reader->switches) ||
	    !take_number(reader, 1, NODES_MAX, "the number of links", &reader->links))
		return false;
	reader->is_switch = calloc(reader->nodes, sizeof(*reader->is_switch));
	reader->node_of = calloc(2 * (size_t)reader->nodes, sizeof(*reader->node_of));
	if (!reader->is_switch || !reader->node_of)
		abort();
	reader->ports = reader->node_of + reader->nodes;
	if (!read_switches(reader))
		return false;
	add_nodes(reader);
	for (uint32_t i = 0; i < reader->links; i++)
		if (!read_link(reader))
			return false;
	for (uint32_t i = 0; i < reader->nodes; i++)
		reader->layout->nodes[reader->node_of[i]].ports = (uint16_t)reader->ports[i];
	return true;
}

bool hpccfile_read(struct layout *layout, const char *text, size_t length, char *error,
		   size_t error_bytes)
{
	struct reader reader = {.layout = layout,
				.at = text,
				.end = text + length,
				.line = 1,
				.error = error,
				.error_bytes = error_bytes};
	bool good = read_all(&reader);

	free(reader.is_switch);
	free(reader.node_of);
	return good;
}
