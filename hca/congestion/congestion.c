/*
 * congestion: see congestion.h. Here are the list of algorithms, the loading of others, and their parameters.
 */
#include "hca/congestion/congestion.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/congestion/algorithms.h"

/* clang-format off */
#define ALGORITHM_OPS(name) &congestion_##name,
static const struct congestion_ops *const algorithms[] = { CONGESTION_ALGORITHMS(ALGORITHM_OPS) NULL };
/* clang-format on */

const struct congestion_ops *const *congestion_list(void)
{
	return algorithms;
}

static const struct congestion_ops *find(const char *name)
{
	for (const struct congestion_ops *const *ops = algorithms; *ops; ops++)
		if (!strcmp((*ops)->name, name))
			return *ops;
	return NULL;
}

static void list_names(char *why, size_t why_bytes, const char *name)
{
	size_t length =
		(size_t)snprintf(why, why_bytes, "no congestion control `%s`; there are", name);

	for (const struct congestion_ops *const *ops = algorithms; *ops; ops++)
		if (length < why_bytes)
			length += (size_t)snprintf(why + length, why_bytes - length, " %s",
						   (*ops)->name);
	for (const struct congestion_preset *preset = congestion_presets(); preset->name; preset++)
		if (length < why_bytes)
			length += (size_t)snprintf(why + length, why_bytes - length, " %s",
						   preset->name);
}

/* Does the table fit this program? */
static bool usable(const struct congestion_ops *ops, const char *name, char *why, size_t why_bytes)
{
	const char *wrong = NULL;

	if (ops->version != CONGESTION_VERSION)
		wrong = "is for another version of the interface";
	else if (!ops->name || !ops->flow_init)
		wrong = "has no name or no flow_init()";
	else if (ops->flow_bytes < sizeof(struct congestion_flow) ||
		 ops->flow_bytes > CONGESTION_FLOW_BYTES_MAX)
		wrong = "has a flow state that is too small or too large";
	if (wrong)
		snprintf(why, why_bytes, "%s: %s", name, wrong);
	return !wrong;
}

static bool load(struct congestion *congestion, const char *path, char *why, size_t why_bytes)
{
	congestion->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!congestion->library) {
		snprintf(why, why_bytes, "%s", dlerror());
		return false;
	}
	congestion->ops = dlsym(congestion->library, "congestion_plugin");
	if (!congestion->ops) {
		snprintf(why, why_bytes, "%s: exports no congestion_plugin", path);
		return false;
	}
	return usable(congestion->ops, path, why, why_bytes);
}

static bool set_preset(struct congestion *congestion, const struct congestion_preset *preset,
		       char *why, size_t why_bytes)
{
	for (const struct congestion_value *value = preset->values; value->name; value++)
		if (!congestion_set(congestion, value->name, value->value, why, why_bytes))
			return false;
	return true;
}

bool congestion_init(struct congestion *congestion, const char *name, char *why, size_t why_bytes)
{
	const struct congestion_preset *preset = congestion_preset(name);

	*congestion = (struct congestion){.ops = find(preset ? preset->algorithm : name)};
	if (!congestion->ops && strchr(name, '/') && !load(congestion, name, why, why_bytes)) {
		congestion_fini(congestion);
		return false;
	}
	if (!congestion->ops) {
		list_names(why, why_bytes, name);
		return false;
	}
	if (congestion->ops->params_bytes) {
		congestion->params = calloc(1, congestion->ops->params_bytes);
		assert(congestion->params);
		params_default(congestion->ops->params, congestion->params);
	}
	return !preset || set_preset(congestion, preset, why, why_bytes);
}

void congestion_fini(struct congestion *congestion)
{
	free(congestion->params);
	if (congestion->library)
		dlclose(congestion->library);
	*congestion = (struct congestion){0};
}

bool congestion_set(struct congestion *congestion, const char *name, const char *value, char *why,
		    size_t why_bytes)
{
	const struct param *param = congestion->ops->params;

	for (; param && param->name; param++)
		if (!strcmp(param->name, name))
			return param_parse(param, value, congestion->params, why, why_bytes) &&
			       (!congestion->ops->check ||
				congestion->ops->check(congestion->params, why, why_bytes));
	snprintf(why, why_bytes, "%s has no parameter `%s`", congestion->ops->name, name);
	return false;
}

sim_time congestion_paid_at(const struct congestion *congestion, const struct congestion_flow *flow,
			    sim_time since, uint64_t bytes)
{
	_Alignas(16) char copy[CONGESTION_FLOW_BYTES_MAX];
	struct congestion_flow *ahead = (struct congestion_flow *)(void *)copy;
	double bits = (double)bytes * 8;
	sim_time paid_at = since + (sim_time)(bits * (double)SEC / (double)flow->rate_bps);

	if (paid_at <= flow->next_step)
		return paid_at;
	memcpy(copy, flow, congestion->ops->flow_bytes);
	for (;;) {
		sim_time until = ahead->next_step > since ? ahead->next_step : since;
		double rate = (double)ahead->rate_bps;

		paid_at = since + (sim_time)(bits * (double)SEC / rate);
		if (paid_at <= until)
			return paid_at;
		bits -= rate * (double)(until - since) / (double)SEC;
		since = until;
		congestion->ops->step(ahead, congestion->params, until);
	}
}
