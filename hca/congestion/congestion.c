/* SPDX-License-Identifier: Apache-2.0 */
/*
 * congestion: see congestion.h. This file has the list of algorithms, loads shared objects, and
 * sets parameters.
 */
#include "hca/congestion/congestion.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/congestion/algorithms.h"
#include "hca/congestion/guard.h"
#include "sim/renamed_keys.h"
#include "sim/yaml.h"

#define NAMES_MAX 64

/* clang-format off */
#define ALGORITHM_OPS(name) &congestion_##name,
static const struct congestion_ops *const algorithms[] = {
	CONGESTION_ALGORITHMS(ALGORITHM_OPS) NULL
};
/* clang-format on */

const struct congestion_ops *const *congestion_list(void)
{
	return algorithms;
}

/* The algorithms of the program that links the library. */
static _Thread_local const struct congestion_ops *const *attached;

void congestion_attach(const struct congestion_ops *const *list)
{
	attached = list;
}

static const struct congestion_ops *find(const struct congestion_ops *const *list, const char *name)
{
	for (; list && *list; list++)
		if (!strcmp((*list)->name, name))
			return *list;
	return NULL;
}

/* Returns the algorithm or preset whose name is most similar, or NULL if none is similar. */
static const char *nearest(const char *name)
{
	const char *names[NAMES_MAX];
	size_t count = 0;

	for (const struct congestion_ops *const *ops = algorithms; *ops && count < NAMES_MAX; ops++)
		names[count++] = (*ops)->name;
	for (const struct congestion_preset *preset = congestion_presets();
	     preset->name && count < NAMES_MAX; preset++)
		names[count++] = preset->name;
	return yaml_suggest(name, names, count);
}

static void list_names(char *error, size_t error_bytes, const char *name)
{
	const char *near = nearest(name);
	size_t length = (size_t)snprintf(
		error, error_bytes, "no congestion control `%s`%s%s%s; expected one of", name,
		near ? " (did you mean `" : "", near ? near : "", near ? "`?)" : "");

	for (const struct congestion_ops *const *ops = algorithms; *ops; ops++)
		if (length < error_bytes)
			length += (size_t)snprintf(error + length, error_bytes - length, " %s",
						   (*ops)->name);
	for (const struct congestion_preset *preset = congestion_presets(); preset->name; preset++)
		if (length < error_bytes)
			length += (size_t)snprintf(error + length, error_bytes - length, " %s",
						   preset->name);
}

uint32_t congestion_ack_interval(const struct congestion *congestion, uint64_t wanted,
				 uint64_t mtu_bytes)
{
	const struct congestion_ops *ops = congestion->ops;
	uint64_t bytes = ops && ops->ack_bytes ? ops->ack_bytes(congestion->params) : 0;
	uint64_t packets = bytes > mtu_bytes ? bytes / mtu_bytes : 1;

	if (wanted)
		return (uint32_t)wanted;
	return bytes && packets < ACK_INTERVAL ? (uint32_t)packets : ACK_INTERVAL;
}

/* Returns true if the table fits this program. Otherwise writes the reason to `error`. */
static bool usable(const struct congestion_ops *ops, const char *name, char *error,
		   size_t error_bytes)
{
	const char *wrong = NULL;

	if (ops->version != CONGESTION_VERSION)
		wrong = "was built for another version of the interface";
	else if (!ops->name || !ops->state_init)
		wrong = "has no name or no function state_init()";
	else if (ops->state_bytes < sizeof(struct cc_state) ||
		 ops->state_bytes > CC_STATE_BYTES_MAX)
		wrong = "has a state that is too small or too large";
	else if (ops->sending_offset &&
		 (ops->sending_offset < sizeof(struct cc_state) ||
		  ops->sending_offset + sizeof(struct congestion_sending) > ops->state_bytes))
		wrong = "has a sending_offset outside of its state";
	else if (ops->paths > CONGESTION_PATHS_MAX || (ops->paths > 1 && !ops->on_packet))
		wrong = "has too many paths, or paths without on_packet()";
	else if (ops->data_field_bytes > sizeof(struct congestion_fields) ||
		 ops->ack_field_bytes > sizeof(struct congestion_fields))
		wrong = "has more bytes of fields on the wire than fields";
	else if (ops->receiver_bytes && (ops->receiver_bytes < sizeof(struct cc_receiver) ||
					 !ops->receiver_init || !ops->on_data))
		wrong = "has a receiver's state that is too small, or no receiver_init() or "
			"on_data()";
	if (wrong)
		snprintf(error, error_bytes, "%s: %s", name, wrong);
	return !wrong;
}

/* The guard catches signals of the plug-in's code and checks its results. */
static void guard(struct congestion *congestion, const char *name)
{
	congestion->ops = guard_create(congestion->ops, name, &congestion->params);
	congestion->guarded = true;
}

static bool load(struct congestion *congestion, const char *path, char *error, size_t error_bytes)
{
	congestion->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!congestion->library) {
		snprintf(error, error_bytes, "%s", dlerror());
		return false;
	}
	congestion->ops = dlsym(congestion->library, "congestion_plugin");
	if (!congestion->ops) {
		snprintf(error, error_bytes, "%s: exports no symbol congestion_plugin", path);
		return false;
	}
	if (!usable(congestion->ops, path, error, error_bytes))
		return false;
	guard(congestion, path);
	return true;
}

bool congestion_fits(const struct congestion_ops *ops, char *error, size_t error_bytes)
{
	if (!usable(ops, ops->name ? ops->name : "the algorithm", error, error_bytes))
		return false;
	if (!find(algorithms, ops->name) && !congestion_preset(ops->name))
		return true;
	snprintf(error, error_bytes, "%s is the name of a built-in algorithm", ops->name);
	return false;
}

static bool set_preset(struct congestion *congestion, const struct congestion_preset *preset,
		       char *error, size_t error_bytes)
{
	for (const struct congestion_value *value = preset->values; value->name; value++)
		if (!congestion_set(congestion, value->name, value->value, error, error_bytes))
			return false;
	return true;
}

bool congestion_init(struct congestion *congestion, const char *name, char *error,
		     size_t error_bytes)
{
	const struct congestion_preset *preset = congestion_preset(name);

	*congestion =
		(struct congestion){.ops = find(algorithms, preset ? preset->algorithm : name)};
	if (!congestion->ops) {
		congestion->ops = find(attached, name);
		if (congestion->ops)
			guard(congestion, congestion->ops->name);
	}
	if (!congestion->ops && strchr(name, '/') && !load(congestion, name, error, error_bytes)) {
		congestion_fini(congestion);
		return false;
	}
	if (!congestion->ops) {
		list_names(error, error_bytes, name);
		return false;
	}
	if (congestion->ops->params_bytes) {
		if (!congestion->guarded)
			congestion->params = calloc(1, congestion->ops->params_bytes);
		assert(congestion->params);
		params_default(congestion->ops->params, congestion->params);
	}
	return !preset || set_preset(congestion, preset, error, error_bytes);
}

void congestion_fini(struct congestion *congestion)
{
	if (congestion->guarded)
		guard_destroy(congestion->params);
	else
		free(congestion->params);
	if (congestion->library)
		dlclose(congestion->library);
	*congestion = (struct congestion){0};
}

bool congestion_set(struct congestion *congestion, const char *name, const char *value, char *error,
		    size_t error_bytes)
{
	char hint[128];
	const struct param *param = congestion->ops->params;

	for (; param && param->name; param++)
		if (!strcmp(param->name, name))
			return param_parse(param, value, congestion->params, error, error_bytes) &&
			       (!congestion->ops->check ||
				congestion->ops->check(congestion->params, error, error_bytes));
	renamed_key_hint(renamed_key("congestion", name), NULL, NULL, 0, hint, sizeof(hint));
	snprintf(error, error_bytes, "%s has no parameter `%s`%s", congestion->ops->name, name,
		 hint);
	return false;
}

bool congestion_choose(struct congestion_choice *choice, const char *name, char *error,
		       size_t error_bytes)
{
	struct congestion congestion;

	if (strlen(name) >= CONGESTION_NAME_BYTES) {
		snprintf(error, error_bytes, "the name is too long");
		return false;
	}
	if (!congestion_init(&congestion, name, error, error_bytes))
		return false;
	congestion_choice_fini(choice);
	choice->congestion = congestion;
	snprintf(choice->name, sizeof(choice->name), "%s", name);
	return true;
}

void congestion_choice_fini(struct congestion_choice *choice)
{
	if (choice->congestion.ops)
		congestion_fini(&choice->congestion);
	choice->name[0] = '\0';
}

uint64_t congestion_on_ack(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			   const struct congestion_ack *ack)
{
	uint64_t rate_before;

	congestion_settle(congestion, cc, now);
	rate_before = cc->rate_bps;
	if (congestion->ops->on_ack)
		congestion->ops->on_ack(cc, congestion->params, now, ack);
	return rate_before;
}

uint64_t congestion_on_cnp(const struct congestion *congestion, struct cc_state *cc, sim_time now)
{
	uint64_t rate_before;

	congestion_settle(congestion, cc, now);
	rate_before = cc->rate_bps;
	if (congestion->ops->on_cnp)
		congestion->ops->on_cnp(cc, congestion->params, now);
	return rate_before;
}

uint64_t congestion_on_loss(const struct congestion *congestion, struct cc_state *cc, sim_time now,
			    enum congestion_loss loss)
{
	uint64_t rate_before;

	congestion_settle(congestion, cc, now);
	rate_before = cc->rate_bps;
	if (congestion->ops->on_loss)
		congestion->ops->on_loss(cc, congestion->params, now, loss);
	return rate_before;
}

sim_time congestion_paid_at(const struct congestion *congestion, const struct cc_state *cc,
			    sim_time since, uint64_t bytes)
{
	_Alignas(16) char copy[CC_STATE_BYTES_MAX];
	struct cc_state *ahead = (struct cc_state *)(void *)copy;
	double bits = (double)bytes * 8;
	sim_time paid_at = since + (sim_time)(bits * (double)SEC / (double)cc->rate_bps);

	if (paid_at <= cc->next_step)
		return paid_at;
	memcpy(copy, cc, congestion->ops->state_bytes);
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
