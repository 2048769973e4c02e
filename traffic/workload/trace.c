/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: flows from a CSV file: `start_us,source,destination,bytes[,operation[,count,every_us]]`, one a line, hosts by number,
 * operation write (if none is given), send, read or atomic; count such flows, one every so many microseconds. A first line that begins with a letter names the columns;
 * lines that begin with # are comments.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"
#include "traffic/workload/workload.h"

#define REPEATS_MAX 10000

static const char *const operations[] = {"write", "send", "read", "atomic"};

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
		return "every_us is no time between two flows";
	for (unsigned long i = 0; i < count; i++) {
		sim_time start = flow->start + (sim_time)((double)i * every_us * (double)US + 0.5);
		uint32_t number =
			workload_add(workload, flow->source, flow->destination, flow->bytes, start);

		workload->flows[number].operation = flow->operation;
	}
	return NULL;
}

/* NULL: well read, or nothing to read. */
static const char *read_line(struct workload *workload, const char *line)
{
	double start_us, every_us = 0;
	unsigned long source, destination, bytes, count = 1;
	char name[16] = "write";
	struct workload_flow flow = {0};
	int end = 0;
	int fields =
		sscanf(line, "%lf ,%lu ,%lu ,%lu %n, %15[a-z] %n,%lu ,%lf %n", &start_us, &source,
		       &destination, &bytes, &end, name, &end, &count, &every_us, &end);

	if (fields < 4 || line[end])
		return "expected start_us,source,destination,bytes[,operation[,count,every_us]]";
	if (!(start_us >= 0 && start_us < 1e12))
		return "start_us is no time of a run";
	if (source >= workload->hosts || destination >= workload->hosts)
		return "there is no such host";
	if (source == destination)
		return "source and destination are the same";
	if (!bytes)
		return "a flow has one byte at least";
	if (bytes > WORKLOAD_BYTES_MAX)
		return "a flow has 1000 GB at most";
	if (!find_operation(name, &flow.operation))
		return "expected write, send, read or atomic";
	flow.source = (uint32_t)source;
	flow.destination = (uint32_t)destination;
	flow.bytes = flow.operation == WORKLOAD_ATOMIC ? 8 : bytes;
	flow.start = (sim_time)(start_us * (double)US + 0.5);
	return add_flows(workload, &flow, count, every_us);
}

bool workload_read_trace(struct workload *workload, const char *file, char *error,
			 size_t error_bytes)
{
	FILE *in = input_open(file);
	const char *wrong = NULL;
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;

	if (!in) {
		snprintf(error, error_bytes, "trace: %s cannot be read: %s", file, input_error());
		return false;
	}
	while (!wrong && getline(&line, &room, in) >= 0) {
		const char *text = line + strspn(line, " \t\r\n");

		number++;
		if (*text && *text != '#' && !(number == 1 && isalpha((unsigned char)*text)))
			wrong = read_line(workload, text);
	}
	free(line);
	fclose(in);
	if (wrong)
		snprintf(error, error_bytes, "%s:%u: %s", file, number, wrong);
	return !wrong;
}
