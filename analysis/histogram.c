/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram: see histogram.h. A value in units is split as HdrHistogram does: a power of two, and
 * an index below it. Each power of two has half as many bins as are needed for the digits.
 */
#include "analysis/histogram.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct histogram {
	double unit;
	unsigned bits; /* of the index */
	uint64_t count;
	double sum, least, most;
	uint64_t *bins;
	size_t bin_count;
};

struct histogram *histogram_create(unsigned digits, double unit)
{
	struct histogram *histogram = calloc(1, sizeof(*histogram));
	double needed = 2;

	assert(histogram && digits >= 1 && digits <= HISTOGRAM_DIGITS_MAX && unit > 0);
	for (unsigned i = 0; i < digits; i++)
		needed *= 10;
	histogram->unit = unit;
	histogram->bits = (unsigned)ceil(log2(needed));
	histogram->least = INFINITY;
	histogram->most = -INFINITY;
	return histogram;
}

void histogram_destroy(struct histogram *histogram)
{
	if (!histogram)
		return;
	free(histogram->bins);
	free(histogram);
}

/* Returns the bin of a value in units. Each further power of two has half a range of bins. */
static size_t bin_of(const struct histogram *histogram, uint64_t units)
{
	uint64_t range = UINT64_C(1) << histogram->bits;
	unsigned shift = 0;

	while (units >> shift >= range)
		shift++;
	return (size_t)shift * (range / 2) + (size_t)(units >> shift);
}

/* Returns the middle of a bin in units. */
static double middle_of(const struct histogram *histogram, size_t bin)
{
	size_t half = (size_t)1 << (histogram->bits - 1);
	size_t shift = bin < half * 2 ? 0 : bin / half - 1;
	double width = ldexp(1, (int)shift);

	return (double)(bin - shift * half) * width + (width - 1) / 2;
}

static void make_room(struct histogram *histogram, size_t bins)
{
	if (bins <= histogram->bin_count)
		return;
	histogram->bins = realloc(histogram->bins, bins * sizeof(histogram->bins[0]));
	assert(histogram->bins);
	memset(histogram->bins + histogram->bin_count, 0,
	       (bins - histogram->bin_count) * sizeof(histogram->bins[0]));
	histogram->bin_count = bins;
}

void histogram_add(struct histogram *histogram, double value)
{
	double units = floor(value / histogram->unit);
	size_t bin;

	assert(isfinite(value) && value >= 0);
	bin = bin_of(histogram, units < 0x1p63 ? (uint64_t)units : UINT64_MAX);
	make_room(histogram, bin + 1);
	histogram->bins[bin]++;
	histogram->count++;
	histogram->sum += value;
	histogram->least = fmin(histogram->least, value);
	histogram->most = fmax(histogram->most, value);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	assert(into->bits == from->bits && !(into->unit < from->unit || into->unit > from->unit));
	make_room(into, from->bin_count);
	for (size_t i = 0; i < from->bin_count; i++)
		into->bins[i] += from->bins[i];
	into->count += from->count;
	into->sum += from->sum;
	into->least = fmin(into->least, from->least);
	into->most = fmax(into->most, from->most);
}

uint64_t histogram_count(const struct histogram *histogram)
{
	return histogram->count;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? histogram->sum / (double)histogram->count : NAN;
}

double histogram_least(const struct histogram *histogram)
{
	return histogram->count ? histogram->least : NAN;
}

double histogram_most(const struct histogram *histogram)
{
	return histogram->count ? histogram->most : NAN;
}

double histogram_quantile(const struct histogram *histogram, double share)
{
	double rank = fmax(1, ceil(share * (double)histogram->count));
	uint64_t before = 0;

	assert(share >= 0 && share <= 1);
	for (size_t i = 0; i < histogram->bin_count; i++) {
		double value = middle_of(histogram, i) * histogram->unit;

		before += histogram->bins[i];
		if ((double)before >= rank)
			return fmin(fmax(value, histogram->least), histogram->most);
	}
	return NAN;
}
