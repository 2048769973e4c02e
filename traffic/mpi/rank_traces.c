/* SPDX-License-Identifier: Apache-2.0 */
/* rank_traces: see rank_traces.h. */
#include "traffic/mpi/rank_traces.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define NAME_BYTES (2 * PATH_MAX)
#define CALL_BYTES 64

/* Reads the next line that is not empty, without its newline. */
static bool next_line(FILE *in, char line[PATH_MAX])
{
	while (fgets(line, PATH_MAX, in)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line != '\0')
			return true;
	}
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns true for one-sided communication, which SMPI traces but cannot replay. */
static bool is_one_sided(const char *call)
{
	static const char *const calls[] = {
		"Put",  "Get",         "Accumulate",      "Get_accumulate", "Rput",
		"Rget", "Raccumulate", "Rget_accumulate", "Fetch_and_op",   "Compare_and_swap"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcasecmp(call, calls[i]) == 0)
			return true;
	return strncasecmp(call, "Win_", 4) == 0;
}

/* Returns false if the rank's trace has a call that cannot be replayed. `call` is then its name. */
static bool can_be_replayed(const char *file, char call[CALL_BYTES])
{
	char line[PATH_MAX];
	bool good = true;
	FILE *in = fopen(file, "r");

	while (good && in && next_line(in, line)) {
		const char *word = line + strcspn(line, " ");

		word += strspn(word, " ");
		snprintf(call, CALL_BYTES, "%.*s", (int)strcspn(word, " "), word);
		good = !is_one_sided(call);
	}
	if (in)
		fclose(in);
	return good;
}

bool rank_traces_check(const char *list, char *error, size_t error_bytes)
{
	char name[NAME_BYTES], call[CALL_BYTES];
	unsigned bad = 0, rank = 0;

	for (bool good = true; good; rank++) {
		snprintf(name, sizeof(name), "%s_files/rank%u.txt", list, rank);
		if (access(name, R_OK) != 0)
			return true;
		good = can_be_replayed(name, call);
		bad = rank;
	}
	for (rank = 0;; rank++) {
		snprintf(name, sizeof(name), "%s_files/rank%u.txt", list, rank);
		if (unlink(name) != 0)
			break;
	}
	snprintf(name, sizeof(name), "%s_files", list);
	rmdir(name);
	unlink(list);
	snprintf(error, error_bytes,
		 "%s: rank %u calls MPI_%s: a replay does not support one-sided communication, so "
		 "nothing is captured; expected a program of messages and collectives",
		 list, bad, call);
	return false;
}

bool rank_traces_name(const char *list, char *error, size_t error_bytes)
{
	char part[NAME_BYTES], line[PATH_MAX], name[NAME_BYTES];
	unsigned rank = 0;
	bool good;

	snprintf(part, sizeof(part), "%s.part", list);
	FILE *in = fopen(list, "r"), *out = fopen(part, "w");

	good = in && out;
	for (; good && next_line(in, line); rank++) {
		snprintf(name, sizeof(name), "%s_files/rank%u.txt", list, rank);
		good = rename(line, name) == 0;
		fprintf(out, "%s_files/rank%u.txt\n", base_of(list), rank);
	}
	if (in)
		fclose(in);
	if (out)
		good = fclose(out) == 0 && good;
	good = good && rename(part, list) == 0;
	if (!good)
		snprintf(error, error_bytes, "%s: %s", list, strerror(errno));
	return good;
}

uint32_t rank_traces_resolve(const char *list, const char *resolved, char *error,
			     size_t error_bytes)
{
	char line[PATH_MAX], name[NAME_BYTES], full[PATH_MAX];
	uint32_t ranks = 0;
	FILE *in = fopen(list, "r"), *out = fopen(resolved, "w");
	bool good = in && out;

	if (!good)
		snprintf(error, error_bytes, "%s: %s", !in ? list : resolved, strerror(errno));
	for (; good && next_line(in, line); ranks++) {
		snprintf(name, sizeof(name), "%.*s%s",
			 *line == '/' ? 0 : (int)(base_of(list) - list), list, line);
		good = realpath(name, full) && access(full, R_OK) == 0;
		if (good)
			fprintf(out, "%s\n", full);
		else
			snprintf(error, error_bytes, "%s:%u: %s: %s; expected the trace of rank %u",
				 list, ranks + 1, line, strerror(errno), ranks);
	}
	if (good && ranks == 0)
		snprintf(error, error_bytes, "%s is empty; expected one file per rank", list);
	if (in)
		fclose(in);
	if (out && fclose(out) != 0)
		good = false;
	return good ? ranks : 0;
}
