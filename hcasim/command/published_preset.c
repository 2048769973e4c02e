/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_preset: driver preset: reads one parameter of a congestion control preset, as a flow
 * with this preset has it. Keys: preset, parameter, times (a factor; times are in ps, sizes in
 * bytes, rates in bit/s).
 */
#include <string.h>

#include "hca/congestion/congestion.h"
#include "hcasim/command/published.h"

/* Sets the value of a parameter as a number: 0 or 1 for a flag, the place in the list for a choice.
 * Returns false for other kinds. */
static bool value_of(const struct param *param, const void *params, double *value)
{
	const void *field = (const char *)params + param->offset;

	switch (param->kind) {
	case PARAM_COUNT:
	case PARAM_BYTES:
	case PARAM_RATE:
	case PARAM_FREQ:
		*value = (double)*(const uint64_t *)field;
		return true;
	case PARAM_TIME:
		*value = (double)*(const sim_time *)field;
		return true;
	case PARAM_METRES:
	case PARAM_RATIO:
		*value = *(const double *)field;
		return true;
	case PARAM_FLAG:
		*value = *(const bool *)field;
		return true;
	case PARAM_CHOICE:
		*value = (double)*(const uint32_t *)field;
		return true;
	case PARAM_TEXT:
	case PARAM_SIZES:
	case PARAM_CYCLE:
	case PARAM_KIND_COUNT:
		break;
	}
	return false;
}

static bool take(const struct congestion *congestion, const char *name, double *value, char *error)
{
	const struct param *param = congestion->ops->params;

	for (; param && param->name; param++)
		if (strcmp(param->name, name) == 0 && value_of(param, congestion->params, value))
			return true;
	snprintf(error, PUBLISHED_ERROR_BYTES, "%s has no number \"%s\"", congestion->ops->name,
		 name);
	return false;
}

bool published_preset(const struct published_settings *settings, double *ours, char *error)
{
	const char *preset = published_text(settings, "preset", "");
	const char *name = published_text(settings, "parameter", "");
	struct congestion congestion;
	bool good;

	if (!congestion_init(&congestion, preset, error, PUBLISHED_ERROR_BYTES))
		return false;
	good = take(&congestion, name, ours, error);
	congestion_fini(&congestion);
	*ours *= published_number(settings, "times", 1);
	return good;
}
