/* SPDX-License-Identifier: Apache-2.0 */
/* comparison: see comparison.h. */
#include "hcasim/report/comparison.h"

#include <string.h>

static struct comparison_part make_part(const char *name, const char *heading,
					const struct values *one, const struct values *other,
					double slack, size_t shown)
{
	struct comparison_part part = {.name = name, .heading = heading, .shown = shown};
	bool settings = strcmp(name, "settings") == 0;

	part.count = differences_find(one, other, slack, &part.list);
	if (!settings) /* they stay as the file has them */
		differences_sort(part.list, part.count);
	if (settings || strcmp(name, "uses") == 0) /* equal hosts */
		part.count = differences_merge(part.list, part.count);
	return part;
}

void comparison_make(struct comparison_part parts[COMPARISON_PART_COUNT],
		     const struct run_values runs[2])
{
	size_t count = 0;

#define PART(name, heading, slack, shown) \
	parts[count++] = make_part(#name, heading, &runs[0].name, &runs[1].name, slack, shown);
	COMPARISON_PARTS(PART)
#undef PART
}

void comparison_free(struct comparison_part parts[COMPARISON_PART_COUNT])
{
	for (size_t i = 0; i < COMPARISON_PART_COUNT; i++)
		differences_free(parts[i].list, parts[i].count);
}
