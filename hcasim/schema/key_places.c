/* SPDX-License-Identifier: Apache-2.0 */
/* key_places: see key_places.h. */
#include "hcasim/schema/key_places.h"

#include <stdio.h>
#include <string.h>

#include "hca/congestion/congestion.h"
#include "hcasim/schema/scenario_sections.h"

#define PLACES_MAX 5
#define PATH_BYTES 96
#define TOP_BYTES  (sizeof("hosts.") - 1)

struct places {
	const char *key;
	char own[YAML_PATH_BYTES]; /* where the key was found */
	bool here; /* this map has the key in another form, such as another kind of topology */
	char paths[PLACES_MAX][PATH_BYTES];
	unsigned count;
};

static void add(struct places *places, const char *map)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s%s%s", map, *map != '\0' ? "." : "", places->key);
	places->here |= strcmp(path, places->own) == 0;
	for (unsigned i = 0; i < places->count; i++)
		if (strcmp(places->paths[i], path) == 0)
			return;
	if (places->count < PLACES_MAX)
		memcpy(places->paths[places->count++], path, sizeof(path));
}

static void search_list(struct places *places, const char *map, const struct param *list)
{
	for (; list && list->name; list++)
		if (strcmp(list->name, places->key) == 0)
			add(places, map);
}

static void search(struct places *places, const char *map, const struct param *list,
		   const struct param_section *sections)
{
	char path[PATH_BYTES];

	search_list(places, map, list);
	for (; sections && sections->name; sections++) {
		snprintf(path, sizeof(path), "%s%s%s", map, *map != '\0' ? "." : "",
			 sections->name);
		search_list(places, path, sections->list);
		if (strcmp(sections->name, places->key) == 0)
			add(places, map);
	}
}

/* The maps of an adapter, a switch and a link. A path of --set reaches those of all hosts. */
static const struct {
	enum composite_kind kind;
	const char *map, *owner, *name, *fidelity;
} maps[] = {{COMPOSITE_HCA, "hosts.hca", "hosts", "hca", "detailed"},
	    {COMPOSITE_ENDPOINT, "hosts.hca", "hosts", "hca", "endpoint"},
	    {COMPOSITE_SWITCH, "fabric.switch", "fabric", "switch", NULL},
	    {COMPOSITE_LINK, "fabric.link", "fabric", "link", NULL}};

static void search_composites(struct places *places)
{
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const struct composite *composite = composite_of(maps[i].kind);

		if (strcmp(maps[i].name, places->key) == 0)
			add(places, maps[i].owner);
		search(places, maps[i].map, composite->list, composite->sections);
	}
}

/* Entries of these lists have keys, but no path that could be named. */
static bool is_list(const char *section)
{
	return strcmp(section, "faults") == 0 || strcmp(section, "mirrors") == 0 ||
	       strcmp(section, "programs") == 0;
}

static void search_sections(struct places *places)
{
	for (const struct scenario_section *section = scenario_sections; section->name; section++) {
		const char *dot = strrchr(section->name, '.');
		char owner[PATH_BYTES] = "";

		if (dot)
			snprintf(owner, sizeof(owner), "%.*s", (int)(dot - section->name),
				 section->name);
		if (strcmp(dot ? dot + 1 : section->name, places->key) == 0)
			add(places, owner);
		if (!is_list(section->name))
			search(places, strcmp(section->name, "scenario") == 0 ? "" : section->name,
			       section->list, section->sections);
	}
	for (const struct congestion_ops *const *ops = congestion_list(); *ops; ops++)
		search_list(places, "hosts.hca.congestion", (*ops)->params);
}

/* Takes the path of a key. The name of a host is left out, as in the paths of the places. */
static void take_path(struct places *places, const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *host = strncmp(path, "hosts.", TOP_BYTES) == 0 ? path + TOP_BYTES : NULL;
	const char *below = host ? strchr(host, '.') : NULL;

	places->key = dot ? dot + 1 : path;
	if (below && strncmp(below, ".hca", sizeof(".hca") - 1) == 0)
		snprintf(places->own, sizeof(places->own), "hosts%s", below);
	else
		snprintf(places->own, sizeof(places->own), "%s", path);
}

/* Returns the fidelity of adapters that have this key in this place, or NULL. */
static const char *find_fidelity(const struct places *places)
{
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		const struct composite *composite = composite_of(maps[i].kind);
		struct places own = {.key = places->key};

		search(&own, maps[i].map, composite->list, composite->sections);
		for (unsigned j = 0; maps[i].fidelity && j < own.count; j++)
			if (strcmp(own.paths[j], places->own) == 0)
				return maps[i].fidelity;
	}
	return NULL;
}

void key_places_hint(const char *path, char *hint, size_t hint_bytes)
{
	struct places places = {.count = 0};
	const char *fidelity;
	size_t used = 0;

	take_path(&places, path);
	fidelity = find_fidelity(&places);
	search_composites(&places);
	search_sections(&places);
	*hint = '\0';
	if (fidelity)
		snprintf(hint, hint_bytes, "; adapters with fidelity: %s have it", fidelity);
	if (fidelity || places.here)
		return;
	if (places.count == 1)
		snprintf(hint, hint_bytes, "; did you mean \"%s\"?", places.paths[0]);
	for (unsigned i = 0; places.count > 1 && i < places.count && used < hint_bytes; i++)
		used += (size_t)snprintf(hint + used, hint_bytes - used, "%s%s",
					 i == 0                  ? "; expected "
					 : i + 1 == places.count ? " or "
								 : ", ",
					 places.paths[i]);
}
