/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: flows from a file of one of two forms.
 *
 *     start_us,source,destination,bytes[,operation[,count,every_us]]   CSV
 *     SOURCE DESTINATION PRIORITY PORT BYTES START_S                   the HPCC study's simulator
 *
 * Hosts are numbers, in the first form also names. Digits are a number. The operation is write
 * (default), send, read or atomic. `count` flows begin, one every `every_us` microseconds. A first
 * line that begins with a letter names the columns. The second form begins with a line that has
 * only the number of flows. Its port is not used. workload.posting.service_level sets the priority
 * of all flows. Lines that begin with # are comments.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"
#include "traffic/workload/host_names.h"
#include "traffic/workload/workload.h"

#define REPEATS_MAX 10000
#define NAME_BYTES  64

static const char *const operations[] = {"write", "send", "read", "atomic"};

/* Parsed contents of a file in the HPCC study's format. */
struct hpcc {
	bool is_read; /* the file has this form */
	unsigned long flows, expected;
	unsigned long priority; /* of the first flow */
};

struct reading {
	struct workload *workload;
	struct host_names *hosts;
	struct hpcc hpcc;
	char wrong[256]; /* text of an error that names a host */
};

static bool find_operation(const char *name, uint8_t *operation)
{
	for (unsigned i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!strcmp(name, operations[i])) {
			*operation = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static const char *add_flows(struct workload *workload, const struct workload_flow *flow,
			     unsigned long count, double every_us)
{
	if (!count || count > REPEATS_MAX)
		return "expected a count of 1..10000";
	if (!(every_us >= 0 && every_us < 1e9))
		return "every_us is not a valid time between two flows";
	for (unsigned long i = 0; i < count; i++) {
		sim_time start = flow->start + (sim_time)((double)i * every_us * (double)US + 0.5);
		uint32_t number =
			workload_add(workload, flow->source, flow->destination, flow->bytes, start);

		workload->flows[number].operation = flow->operation;
	}
	return NULL;
}

struct line {
	double start_us;
	uint32_t source, destination;
	unsigned long bytes;
	const char *operation;
	unsigned long count;
	double every_us;
};

/* Adds the flows of a line. Returns the error, or NULL. */
static const char *add_line(struct workload *workload, const struct line *line)
{
	struct workload_flow flow = {0};

	if (!(line->start_us >= 0 && line->start_us < 1e12))
		return "start_us is not a valid time of a run";
	if (line->source == line->destination)
		return "source and destination are the same host";
	if (!line->bytes)
		return "a flow has one byte at least";
	if (line->bytes > WORKLOAD_BYTES_MAX)
		return "a flow has 1000 GB at most";
	if (!find_operation(line->operation, &flow.operation))
		return "expected write, send, read or atomic";
	flow.source = line->source;
	flow.destination = line->destination;
	flow.bytes = flow.operation == WORKLOAD_ATOMIC ? 8 : line->bytes;
	flow.start = (sim_time)(line->start_us * (double)US + 0.5);
	return add_flows(workload, &flow, line->count, line->every_us);
}

static bool find_hosts(struct reading *reading, const char *from, const char *to, struct line *line)
{
	return host_names_find(reading->hosts, from, &line->source, reading->wrong,
			       sizeof(reading->wrong)) &&
	       host_names_find(reading->hosts, to, &line->destination, reading->wrong,
			       sizeof(reading->wrong));
}

/* Reads a line of CSV. Returns the error, or NULL. */
static const char *read_csv(struct reading *reading, const char *text)
{
	char name[16] = "write", from[NAME_BYTES], to[NAME_BYTES];
	struct line line = {.operation = name, .count = 1};
	int end = 0;
	int fields = sscanf(text,
			    "%lf , %63[^, \t\r\n] , %63[^, \t\r\n] ,%lu %n, %15[a-z] %n,%lu "
			    ",%lf %n",
			    &line.start_us, from, to, &line.bytes, &end, name, &end, &line.count,
			    &line.every_us, &end);

	if (fields < 4 || text[end])
		return "expected start_us,source,destination,bytes[,operation[,count,every_us]]";
	return find_hosts(reading, from, to, &line) ? add_line(reading->workload, &line)
						    : reading->wrong;
}

/* Reads a line of this form. Returns the error, or NULL. */
static const char *read_hpcc(struct reading *reading, const char *text)
{
	struct hpcc *hpcc = &reading->hpcc;
	struct line line = {.operation = "write", .count = 1};
	char from[NAME_BYTES], to[NAME_BYTES];
	unsigned long priority, port;
	double start_s;
	int end = 0;

	if (sscanf(text, "%63[0-9] %63[0-9] %lu %lu %lu %lf %n", from, to, &priority, &port,
		   &line.bytes, &start_s, &end) < 6 ||
	    text[end])
		return "expected SOURCE DESTINATION PRIORITY PORT BYTES START_S";
	if (hpcc->flows++ == 0)
		hpcc->priority = priority;
	if (priority != hpcc->priority)
		return "another priority than the first flow; expected one for all flows";
	if (hpcc->flows > hpcc->expected)
		return "more flows than the first line says";
	line.start_us = start_s * 1e6;
	return find_hosts(reading, from, to, &line) ? add_line(reading->workload, &line)
						    : reading->wrong;
}

/* Returns true if the line has one whole number above 0 alone. */
static bool is_lone_number(const char *text, unsigned long *number)
{
	int end = 0;

	return sscanf(text, "%lu %n", number, &end) == 1 && text[end] == '\0' && *number > 0;
}

/* Reads any line. Returns the error, or NULL. */
static const char *read_line(struct reading *reading, const char *text, unsigned number)
{
	struct hpcc *hpcc = &reading->hpcc;

	if (*text == '\0' || *text == '#')
		return NULL;
	if (number == 1 && is_lone_number(text, &hpcc->expected)) {
		hpcc->is_read = true;
		return NULL;
	}
	if (number == 1 && isalpha((unsigned char)*text))
		return NULL;
	return hpcc->is_read ? read_hpcc(reading, text) : read_csv(reading, text);
}

bool workload_read_trace(struct workload *workload, const char *file, const char *const *names,
			 char *error, size_t error_bytes)
{
	struct reading reading = {.workload = workload};
	const struct hpcc *hpcc = &reading.hpcc;
	FILE *in = input_open(file);
	const char *wrong = NULL;
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;

	if (!in) {
		snprintf(error, error_bytes, "trace: %s cannot be read: %s", file, input_error());
		return false;
	}
	reading.hosts = host_names_create(names, workload->hosts);
	while (!wrong && getline(&line, &room, in) >= 0) {
		const char *text = line + strspn(line, " \t\r\n");

		number++;
		wrong = read_line(&reading, text, number);
	}
	free(line);
	fclose(in);
	if (!wrong && hpcc->is_read && hpcc->flows < hpcc->expected)
		wrong = "fewer flows than the first line says";
	if (wrong)
		snprintf(error, error_bytes, "%s:%u: %s", file, number, wrong);
	host_names_destroy(reading.hosts);
	return !wrong;
}
