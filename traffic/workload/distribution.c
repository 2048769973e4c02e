/* SPDX-License-Identifier: Apache-2.0 */
/* distribution: see distribution.h. Sizes are drawn by the inverse of the distribution function. */
#include "traffic/workload/distribution.h"

#include <assert.h>
#include <gsl/gsl_interp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/input.h"

#define FILE_POINTS_MAX 1000
#define FILE_BYTES_MAX  1e12 /* WORKLOAD_BYTES_MAX */

struct point {
	double bytes, percent;
};

struct size_distribution {
	size_t count;
	double *shares, *bytes;
	gsl_interp *inverse;
};

/* clang-format off */
static const struct point web_search[] = {
	{0, 0}, {10e3, 15}, {20e3, 20}, {30e3, 30}, {50e3, 40}, {80e3, 53}, {200e3, 60}, {1e6, 70},
	{2e6, 80}, {5e6, 90}, {10e6, 97}, {30e6, 100},
};
static const struct point web_search_1k[] = {
	{6e3, 0}, {6e3, 15}, {13e3, 20}, {19e3, 30}, {33e3, 40}, {53e3, 53}, {133e3, 60},
	{667e3, 70}, {1333e3, 80}, {3333e3, 90}, {6667e3, 97}, {20e6, 100},
};
static const struct point hadoop[] = {
	{0, 0}, {100, 1}, {200, 2}, {300, 5}, {350, 15}, {400, 20}, {500, 30}, {600, 40}, {700, 50},
	{1000, 60}, {2000, 67}, {7000, 70}, {30e3, 72}, {50e3, 82}, {80e3, 87}, {120e3, 90},
	{300e3, 95}, {1e6, 97.5}, {2e6, 99}, {10e6, 100},
};
static const struct point storage[] = {
	{0, 0}, {4e3, 22.93}, {8e3, 69.21}, {16e3, 80.61}, {32e3, 90.47}, {64e3, 93.53},
	{128e3, 96.77}, {256e3, 97.53}, {2e6, 100},
};

/* IRN, SIGCOMM 2018, 4.1, from memory. Half of the flows are messages of one packet, 32 B to 1 KB.
 * 15 % have 200 KB to 3 MB. */
static const struct point irn[] = {{32, 0}, {1e3, 50}, {200e3, 85}, {3e6, 100}};

static const struct {
	const struct point *points;
	size_t count;
} tables[DISTRIBUTION_COUNT] = {
	[DISTRIBUTION_web_search] = {web_search, ARRAY_SIZE(web_search)},
	[DISTRIBUTION_hadoop]     = {hadoop, ARRAY_SIZE(hadoop)},
	[DISTRIBUTION_storage]    = {storage, ARRAY_SIZE(storage)},
	[DISTRIBUTION_web_search_1k] = {web_search_1k, ARRAY_SIZE(web_search_1k)},
	[DISTRIBUTION_irn]        = {irn, ARRAY_SIZE(irn)},
};
/* clang-format on */

static struct size_distribution *create(const struct point *points, size_t count)
{
	struct size_distribution *distribution = calloc(1, sizeof(*distribution));

	assert(distribution);
	distribution->count = count;
	distribution->shares = calloc(2 * count, sizeof(double));
	assert(distribution->shares);
	distribution->bytes = distribution->shares + count;
	for (size_t i = 0; i < count; i++) {
		distribution->shares[i] = points[i].percent / 100;
		distribution->bytes[i] = points[i].bytes;
	}
	distribution->inverse = gsl_interp_alloc(gsl_interp_linear, count);
	gsl_interp_init(distribution->inverse, distribution->shares, distribution->bytes, count);
	return distribution;
}

struct size_distribution *distribution_create(enum distribution which)
{
	return tables[which].count ? create(tables[which].points, tables[which].count) : NULL;
}

/* ---- files ---- */

/* Returns the error of a line, or NULL. Adds its point, if it has one. */
static const char *read_point(const char *line, struct point *points, size_t *count)
{
	const char *at = line + strspn(line, " \t\r\n");
	const struct point *last = *count > 0 ? &points[*count - 1] : NULL;
	struct point point;
	int end = 0;

	if (*at == '\0' || *at == '#')
		return NULL;
	if (sscanf(at, "%lf%*[ ,\t]%lf %n", &point.bytes, &point.percent, &end) < 2 || at[end])
		return "expected BYTES PERCENT";
	if (!(point.bytes >= 0 && point.bytes <= FILE_BYTES_MAX))
		return "expected 0 to 1e12 bytes";
	if (!(point.percent >= 0 && point.percent <= 100))
		return "expected 0 to 100 percent";
	if (last && point.bytes < last->bytes)
		return "bytes decrease; expected at least those of the line before";
	if (last && point.percent <= last->percent)
		return "the percentage does not increase";
	if (*count == 0 && point.percent > 0) /* no flow is smaller than the first size */
		points[(*count)++] = (struct point){point.bytes, 0};
	if (*count == FILE_POINTS_MAX)
		return "expected 1000 points at most";
	points[(*count)++] = point;
	return NULL;
}

struct size_distribution *distribution_read(const char *path, char *error, size_t error_bytes)
{
	struct point *points = calloc(FILE_POINTS_MAX + 1, sizeof(*points));
	struct size_distribution *distribution = NULL;
	const char *wrong = NULL;
	size_t count = 0;
	unsigned number = 0;
	char line[256];
	FILE *in = input_open(path);

	assert(points);
	if (!in) {
		snprintf(error, error_bytes, "%s: %s", path, input_error());
		free(points);
		return NULL;
	}
	while (!wrong && fgets(line, sizeof(line), in)) {
		number++;
		wrong = strchr(line, '\n') || feof(in) ? read_point(line, points, &count)
						       : "the line is too long";
	}
	fclose(in);
	if (!wrong && (count < 2 || points[count - 1].percent < 100))
		wrong = "the last percentage is not 100";
	if (wrong)
		snprintf(error, error_bytes, "%s:%u: %s", path, number, wrong);
	else
		distribution = create(points, count);
	free(points);
	return distribution;
}

void distribution_destroy(struct size_distribution *distribution)
{
	if (!distribution)
		return;
	gsl_interp_free(distribution->inverse);
	free(distribution->shares);
	free(distribution);
}

double distribution_mean(const struct size_distribution *distribution)
{
	return gsl_interp_eval_integ(distribution->inverse, distribution->shares,
				     distribution->bytes, 0, 1, NULL);
}

double distribution_quantile(const struct size_distribution *distribution, double share)
{
	return gsl_interp_eval(distribution->inverse, distribution->shares, distribution->bytes,
			       share, NULL);
}

uint64_t distribution_draw(const struct size_distribution *distribution, struct random *random)
{
	return (uint64_t)distribution_quantile(distribution, random_unit(random)) + 1;
}
