/* SPDX-License-Identifier: Apache-2.0 */
/* scenario: reads a scenario completely, and collects every error, so that one run reports all of
 * them. */
#include "hcasim/schema/scenario.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/key_places.h"
#include "hcasim/schema/scenario_sections.h"

#define KEYS_MAX 64

static void read_all(struct scenario_reader *reader);

static struct scenario *read_document(struct yaml_document *document, const char *const *overrides,
				      size_t count, struct yaml_errors *errors)
{
	unsigned before = errors->count;
	if (!document)
		return NULL;
	struct scenario *scenario = calloc(1, sizeof(*scenario));
	if (!scenario)
		abort();
	scenario->document = document;
	scenario->file = yaml_root(document)->file;
	errors->key_places = key_places_hint;
	for (size_t i = 0; i < count; i++)
		yaml_set(document, overrides[i], errors);
	if (errors->count == before)
		read_all(&(struct scenario_reader){
			.scenario = scenario, .errors = errors, .root = yaml_root(document)});
	if (errors->count == before)
		return scenario;
	scenario_destroy(scenario);
	return NULL;
}

struct scenario *scenario_read(const char *file, const char *const *overrides, size_t count,
			       struct yaml_errors *errors)
{
	return read_document(yaml_read_file(file, errors), overrides, count, errors);
}

struct scenario *scenario_read_text(const char *name, const char *text,
				    const char *const *overrides, size_t count,
				    struct yaml_errors *errors)
{
	return read_document(yaml_read_text(name, text, errors), overrides, count, errors);
}

/* Checks the sections first, then the rules between them. */
static void read_all(struct scenario_reader *reader)
{
	if (!yaml_expect_map(reader->root, "a scenario", reader->errors))
		return;
	scenario_sections_read(reader);
	scenario_workload_check_fidelities(reader);
	scenario_faults_check(reader);
	scenario_flow_check(reader);
	scenario_tcp_check(reader);
	scenario_tcp_check_siw(reader);
	scenario_congestion_check(reader);
	scenario_effects_check(reader);
}

void scenario_refuse_unused(struct scenario_reader *reader, const struct yaml_node *map,
			    const struct param *list, const char *const *others)
{
	scenario_refuse_sections(reader, map, list, NULL, others);
}

void scenario_refuse_sections(struct scenario_reader *reader, const struct yaml_node *map,
			      const struct param *list, const struct param_section *sections,
			      const char *const *others)
{
	const char *known[KEYS_MAX];
	size_t count = 0;
	for (; list && list->name; list++)
		known[count++] = list->name;
	for (; sections && sections->name; sections++)
		known[count++] = sections->name;
	for (; others && *others; others++)
		known[count++] = *others;
	assert(count <= KEYS_MAX);
	yaml_refuse_unused(map, known, count, reader->errors);
}

void *scenario_take_entries(const struct yaml_node *node, size_t element_bytes, uint32_t *count)
{
	size_t entries = 0;
	for (const struct yaml_node *child = node->children; child; child = child->next)
		entries++;
	void *elements = calloc(entries > 0 ? entries : 1, element_bytes);
	if (!elements)
		abort();
	*count = 0;
	return elements;
}

bool scenario_name_valid(const char *name)
{
	size_t length = strlen(name);
	return length > 0 && length <= SCENARIO_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       length;
}

/* Adds an error and returns false if the node is not a list. */
bool scenario_expect_list(struct scenario_reader *reader, const struct yaml_node *node,
			  const char *what)
{
	if (node->kind == YAML_LIST)
		return true;
	yaml_error(reader->errors, node, "found %s; expected a list of %s",
		   yaml_kind_name(node->kind), what);
	return false;
}

const char *scenario_node_name(const struct scenario *scenario, const struct scenario_node *node)
{
	return node->is_switch ? scenario->switches[node->number].name
			       : scenario->hosts[node->number].name;
}

uint32_t scenario_find_host(const struct scenario *scenario, const char *name)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (strcmp(scenario->hosts[i].name, name) == 0)
			return i;
	}
	return NO_HOST;
}

const char *scenario_suggest_host(const struct scenario *scenario, const char *name)
{
	const char **names = calloc(scenario->host_count + 1, sizeof(*names));
	if (!names)
		abort();
	for (uint32_t i = 0; i < scenario->host_count; i++)
		names[i] = scenario->hosts[i].name;
	const char *near = yaml_suggest(name, names, scenario->host_count);
	free(names);
	return near;
}

bool scenario_has(const struct scenario *scenario, enum adapter_fidelity fidelity)
{
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		if (fidelity == FIDELITY_ENDPOINT ? !!host->endpoint : !!host->detailed)
			return true;
	}
	return false;
}

void scenario_destroy(struct scenario *scenario)
{
	if (!scenario)
		return;
	scenario_sections_release(scenario);
	yaml_errors_free(&scenario->warnings);
	yaml_close(scenario->document);
	free(scenario);
}
