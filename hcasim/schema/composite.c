/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composite: see composite.h. The table is the only place that knows which lists make up an HCA, a
 * switch, a link.
 */
#include "hcasim/schema/composite.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "hca/device/hca_params.h"
#include "hca/host/dma_probe_params.h"
#include "hcasim/schema/congestion_key.h"
#include "hcasim/schema/endpoint_device.h"
#include "hcasim/schema/modules.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/plugins.h"
#include "switch/switch_params.h"

#define KEYS_MAX    128
#define ERROR_BYTES 1024

/* Refuses values of a group that have no effect because the key that enables it is set neither here
 * nor by a preset. */
static void refuse_idle(struct yaml_node *map, const char *group, const char *key, bool on,
			const char *expected, struct yaml_errors *errors)
{
	struct yaml_node *node = yaml_get(map, group);
	if (on || !node || node->kind != YAML_MAP || !node->children || yaml_get(node, key))
		return;
	yaml_error(errors, node,
		   "%s has no effect: without `%s` the switch marks nothing; expected %s", group,
		   key, expected);
}

static void check_mask(struct yaml_node *map, const char *key, const char *text,
		       struct yaml_errors *errors)
{
	struct yaml_node *fecn = yaml_get(map, "fecn");
	struct yaml_node *node = fecn && fecn->kind == YAML_MAP ? yaml_get(fecn, key) : NULL;
	struct port_set ports;
	if (node && !switch_parse_mask(text, &ports))
		yaml_error(errors, node,
			   "%s: \"%s\" is not a mask of ports; expected a number, or 0x and up to "
			   "%d hexadecimal digits, for example 0xff",
			   key, text, PORT_SET_PORTS / 4);
}

/* Opens the plug-in of a switch, as a check, and keeps its whole path. */
static void check_plugin(struct yaml_node *map, enum plugin_kind kind, struct param_text *file,
			 const struct param_text *values, struct yaml_errors *errors)
{
	struct yaml_node *node = yaml_get(map, plugins_key(kind));
	char path[PATH_MAX], whole[PATH_MAX], error[ERROR_BYTES];
	struct plugin_object object;
	if (*file->text == '\0') {
		if (*values->text != '\0')
			yaml_error(errors, map, "%s_values has no effect; expected %s: FILE.so",
				   plugins_key(kind), plugins_key(kind));
		return;
	}
	if (node && node->kind == YAML_SCALAR) {
		yaml_path(node, file->text, path);
		if (realpath(path, whole) && strlen(whole) < sizeof(file->text))
			memcpy(file->text, whole, strlen(whole) + 1);
	}
	if (plugins_open(&object, kind, file->text, values->text, error, sizeof(error)))
		plugins_close(&object);
	else
		yaml_error(errors, node ? node : map, "%s", error);
}

static void check_plugins(struct yaml_node *map, struct switch_params *sw,
			  struct yaml_errors *errors)
{
	struct switch_plugin_params *plugins = &sw->plugins;
	struct yaml_node *node = yaml_get(map, "plugins");
	if (node && node->kind == YAML_MAP) {
#define CHECK(kind, key, meaning) \
	check_plugin(node, PLUGIN_##kind, &plugins->key, &plugins->key##_values, errors);
		PLUGIN_KINDS(CHECK)
#undef CHECK
	}
	if (*plugins->balance.text != '\0')
		sw->balance = BALANCE_PLUGIN;
	else if (sw->balance == BALANCE_PLUGIN)
		yaml_error(errors, map,
			   "balance: plugin needs plugins: {balance: FILE.so}, which is missing");
	if (*plugins->buffer.text != '\0' && sw->buffer.size == 0)
		yaml_error(errors, map,
			   "plugins.buffer has no effect: the switch has no shared buffer; "
			   "expected buffer: {size: ...}");
}

static void check_switch(struct yaml_node *map, void *params, struct yaml_errors *errors)
{
	struct switch_params *sw = params;
	refuse_idle(map, "ecn", "mark", sw->ecn.mark != ECN_MARK_OFF,
		    "mark: dequeue or enqueue, or off", errors);
	if (sw->ecn.mark != ECN_MARK_OFF && sw->ecn.kmin > sw->ecn.kmax)
		yaml_error(errors, map, "ecn: kmin is greater than kmax; expected kmin <= kmax");
	refuse_idle(map, "fecn", "threshold", sw->fecn.threshold != 0 || sw->fecn.cs_threshold != 0,
		    "threshold: 1..15, or 0 for none", errors);
	check_mask(map, "victim_mask", sw->fecn.victim_mask.text, errors);
	check_mask(map, "credit_mask", sw->fecn.credit_mask.text, errors);
	check_plugins(map, sw, errors);
}

static uint64_t count_in(const struct param *param, const char *params)
{
	return *(const uint64_t *)(const void *)(params + param->offset);
}

/* Checks that a cache consists of whole sets. The list of a cache begins with its size and ways. */
static void check_sets(struct yaml_node *map, const struct param_section *section,
		       const char *params, struct yaml_errors *errors)
{
	const struct param *entries = &section->list[0], *ways = &section->list[1];
	struct yaml_node *node = yaml_get(map, section->name);
	if (!node || strcmp(entries->name, "entries") != 0 || strcmp(ways->name, "ways") != 0)
		return;
	uint64_t set = count_in(ways, params + section->offset);
	for (const struct param *param = entries; param->name; param++) {
		if (param != entries && strcmp(param->name, "second_entries") != 0)
			continue;
		uint64_t held = count_in(param, params + section->offset);
		if (held % set != 0)
			yaml_error_key(errors, node,
				       "%" PRIu64 " entries are not a multiple of %" PRIu64
				       " ways; expected for example %s: %" PRIu64,
				       held, set, param->name, (held / set + 1) * set);
	}
}

/* Refuses keys of endpoint adapters that detailed adapters have in a section. */
static void refuse_endpoint_keys(struct yaml_node *map, struct yaml_errors *errors)
{
	for (const struct param *param = endpoint_param_list; param->name; param++) {
		struct yaml_node *node = yaml_get(map, param->name);
		for (const struct param_section *section = hca_sections; node && section->name;
		     section++) {
			const struct param *own = section->list;
			while (own->name && strcmp(own->name, param->name) != 0)
				own++;
			if (!own->name)
				continue;
			yaml_error_key(errors, node,
				       "\"%s\" is for fidelity: endpoint; a detailed adapter has "
				       "%s: {%s: ...}",
				       param->name, section->name, param->name);
			node = NULL;
		}
	}
}

static void check_hca(struct yaml_node *map, void *params, struct yaml_errors *errors)
{
	const struct hca_params *adapter = params;
	struct yaml_node *transport = yaml_get(map, "transport");
	if (transport && adapter->transport.recovery != TRANSPORT_GO_BACK_N)
		yaml_error(errors, transport,
			   "recovery: a detailed adapter supports go_back_n only; remove the key, "
			   "or use an adapter of fidelity: endpoint");
	for (const struct param_section *section = hca_sections; section->name; section++)
		check_sets(map, section, params, errors);
	modules_find(map, params, errors);
}

static void check_endpoint(struct yaml_node *map, void *params, struct yaml_errors *errors)
{
	for (const struct param_section *section = endpoint_device_sections; section->name;
	     section++)
		check_sets(map, section, params, errors);
}

static void read_congestion(struct yaml_node *node, void *params, struct yaml_errors *errors)
{
	struct hca_params *adapter = params;
	congestion_key_read(node, &adapter->congestion, errors);
}

static void print_congestion(const void *params, unsigned indent, FILE *out)
{
	const struct hca_params *adapter = params;
	congestion_key_print(&adapter->congestion, indent, out);
}

static const struct composite_extra hca_extra = {"congestion", NULL, read_congestion,
						 print_congestion};

/* clang-format off */
static const struct composite composites[COMPOSITE_COUNT] = {
	[COMPOSITE_HCA] = {"hca", "a host channel adapter", sizeof(struct hca_params), NULL,
			   hca_sections, &hca_extra, check_hca},
	[COMPOSITE_SWITCH] = {"switch", "a switch", sizeof(struct switch_params),
			      switch_param_list, switch_sections, NULL, check_switch},
	[COMPOSITE_LINK] = {"link", "one end of a link; in a scenario's link: both ends",
			    sizeof(struct port_params), port_param_list, NULL, NULL, NULL},
	[COMPOSITE_ENDPOINT] = {"endpoint", "a host channel adapter of fidelity `endpoint`",
				sizeof(struct endpoint_device), endpoint_param_list,
				endpoint_device_sections, &endpoint_device_extra,
				check_endpoint},
	[COMPOSITE_HOST] = {"host",
		"a host and the PCIe slot of its adapter: replaces the adapter's values",
		sizeof(struct hca_params), NULL, hca_host_sections, NULL, NULL},
	[COMPOSITE_CARD] = {"card",
		"a card that measures PCIe by DMA, of the published measurements",
		sizeof(struct dma_probe_params), dma_probe_param_list, NULL, NULL, NULL},
};
/* clang-format on */

const struct composite *composite_of(enum composite_kind kind)
{
	assert(kind < COMPOSITE_COUNT);
	return &composites[kind];
}

static char *take(const struct composite *composite)
{
	char *params = calloc(1, composite->bytes > 0 ? composite->bytes : 1);
	if (!params)
		abort();
	return params;
}

/* Returns the parsed defaults of all lists. They are parsed once, because each host has one. */
static const char *defaults_of(enum composite_kind kind)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static char *defaults[COMPOSITE_COUNT];
	const struct composite *composite = composite_of(kind);
	pthread_mutex_lock(&lock);
	if (!defaults[kind]) {
		char *params = take(composite);
		if (composite->list)
			params_default(composite->list, params);
		for (const struct param_section *section = composite->sections;
		     section && section->name; section++)
			params_default(section->list, params + section->offset);
		defaults[kind] = params;
	}
	pthread_mutex_unlock(&lock);
	return defaults[kind];
}

void *composite_create(enum composite_kind kind)
{
	const struct composite *composite = composite_of(kind);
	char *params = take(composite);
	memcpy(params, defaults_of(kind), composite->bytes);
	if (composite->extra && composite->extra->init)
		composite->extra->init(params);
	return params;
}

void composite_override(enum composite_kind kind, struct yaml_node *map, const char *const *others,
			void *params, struct yaml_errors *errors)
{
	const struct composite *composite = composite_of(kind);
	const char *known[KEYS_MAX];
	size_t count = 0;
	if (composite->list)
		yaml_override_params(map, composite->list, params, errors);
	if (composite->sections)
		yaml_override_sections(map, composite->sections, params, errors);
	if (composite->extra) {
		struct yaml_node *node = yaml_get(map, composite->extra->key);
		if (node)
			composite->extra->read_map(node, params, errors);
		known[count++] = composite->extra->key;
	}
	for (; others && *others; others++)
		known[count++] = *others;
	for (const struct param *param = composite->list; param && param->name; param++)
		known[count++] = param->name;
	for (const struct param_section *section = composite->sections; section && section->name;
	     section++)
		known[count++] = section->name;
	assert(count <= KEYS_MAX);
	if (kind == COMPOSITE_HCA)
		refuse_endpoint_keys(map, errors);
	yaml_refuse_unused(map, known, count, errors);
	if (composite->finish)
		composite->finish(map, params, errors);
}

static void print_list(const struct param *list, const void *params, unsigned indent, FILE *out)
{
	char text[PARAM_TEXT_BYTES];
	for (const struct param *param = list; param && param->name; param++) {
		param_print(param, params, text, sizeof(text));
		fprintf(out, "%*s%s: ", (int)indent, "", param->name);
		if (param->kind == PARAM_TEXT)
			scenario_print_name(text, out);
		else
			fputs(text, out);
		fputc('\n', out);
	}
}

void composite_print(enum composite_kind kind, const void *params, unsigned indent, FILE *out)
{
	const struct composite *composite = composite_of(kind);
	print_list(composite->list, params, indent, out);
	for (const struct param_section *section = composite->sections; section && section->name;
	     section++) {
		fprintf(out, "%*s%s:\n", (int)indent, "", section->name);
		print_list(section->list, (const char *)params + section->offset, indent + 2, out);
	}
	if (composite->extra)
		composite->extra->print(params, indent, out);
}
