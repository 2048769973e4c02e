/* rank_traces: see rank_traces.h. */
#include "hcasim/mpi/rank_traces.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES (2 * PATH_MAX)

/* The next line that is not empty, without its end. */
static bool next_line(FILE *in, char line[PATH_MAX])
{
	while (fgets(line, PATH_MAX, in) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line != '\0')
			return true;
	}
	return false;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool rank_traces_name(const char *list, char *why, size_t why_bytes)
{
	char part[NAME_BYTES], line[PATH_MAX], name[NAME_BYTES];
	unsigned rank = 0;
	bool good;

	snprintf(part, sizeof(part), "%s.part", list);
	FILE *in = fopen(list, "r"), *out = fopen(part, "w");

	good = in != NULL && out != NULL;
	for (; good && next_line(in, line); rank++) {
		snprintf(name, sizeof(name), "%s_files/rank%u.txt", list, rank);
		good = rename(line, name) == 0;
		fprintf(out, "%s_files/rank%u.txt\n", base_of(list), rank);
	}
	if (in != NULL)
		fclose(in);
	if (out != NULL)
		good = fclose(out) == 0 && good;
	good = good && rename(part, list) == 0;
	if (!good)
		snprintf(why, why_bytes, "%s: %s", list, strerror(errno));
	return good;
}

uint32_t rank_traces_resolve(const char *list, const char *resolved, char *why, size_t why_bytes)
{
	char line[PATH_MAX], name[NAME_BYTES], full[PATH_MAX];
	uint32_t ranks = 0;
	FILE *in = fopen(list, "r"), *out = fopen(resolved, "w");
	bool good = in != NULL && out != NULL;

	if (!good)
		snprintf(why, why_bytes, "%s: %s", in == NULL ? list : resolved, strerror(errno));
	for (; good && next_line(in, line); ranks++) {
		snprintf(name, sizeof(name), "%.*s%s",
			 *line == '/' ? 0 : (int)(base_of(list) - list), list, line);
		good = realpath(name, full) != NULL && access(full, R_OK) == 0;
		if (good)
			fprintf(out, "%s\n", full);
		else
			snprintf(why, why_bytes, "%s:%u: %s: %s; expected the trace of rank %u",
				 list, ranks + 1, line, strerror(errno), ranks);
	}
	if (good && ranks == 0)
		snprintf(why, why_bytes, "%s is empty; expected a file a rank", list);
	if (in != NULL)
		fclose(in);
	if (out != NULL && fclose(out) != 0)
		good = false;
	return good ? ranks : 0;
}
