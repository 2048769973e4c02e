/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml: reads a scenario file with libyaml into a tree whose nodes know their file, line and
 * column. Refuses aliases, merge keys, tags and duplicate keys, with a message that names the
 * problem.
 */
#ifndef SIM_YAML_H
#define SIM_YAML_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/yaml_error.h"

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	const char *file;
	uint32_t line, column; /* from 1 */
	const char *text;      /* YAML_SCALAR */
	bool quoted;           /* YAML_SCALAR: never a number or a flag */
	const char *key;       /* key of this entry if the parent is a map */
	uint32_t key_line, key_column;
	struct yaml_node *parent, *next, *children;
	bool used; /* set when the key is read; an entry that remains unused is an error */
};

struct yaml_document;

/* Reads a file or a text. Returns NULL on failure and adds the reason to `errors`. */
struct yaml_document *yaml_read_file(const char *file, struct yaml_errors *errors);
struct yaml_document *yaml_read_text(const char *name, const char *text,
				     struct yaml_errors *errors);
void yaml_close(struct yaml_document *document);
struct yaml_node *yaml_root(struct yaml_document *document);

/* Returns the node at a path of keys and numbers of list entries, as in yaml_set(), or its
 * nearest existing ancestor. Does not mark the node as used. */
const struct yaml_node *yaml_find(const struct yaml_node *root, const char *path);

/* Replaces or adds one value: "hosts.host0.hca.pcie.lanes=8". A path consists of keys, numbers of
 * list entries (from 0), and *, which matches all entries. A text on the path becomes a map
 * {preset: text}. The value is YAML. Returns false on failure and adds the reason to `errors`. */
bool yaml_set(struct yaml_document *document, const char *assignment, struct yaml_errors *errors);

/* Returns true if the node's value comes from --set. */
bool yaml_is_set(const struct yaml_node *node);

/* Returns the entry of a map and marks it as used. Returns NULL if the key is absent. */
struct yaml_node *yaml_get(struct yaml_node *map, const char *key);

/* Returns the nearest candidate by edit distance, for "did you mean ...?". A word that is often
 * confused with another (delay with latency) counts as one letter. Without a near candidate, the
 * only one that has a part in common is suggested (congestion for congestion_control). Returns NULL
 * if there is none. */
const char *yaml_suggest(const char *word, const char *const *candidates, size_t count);

/* Returns the kind of node found, for messages: "nothing", "text", "a list" or "a map". */
const char *yaml_kind_name(enum yaml_kind kind);

/* Returns true if the node is a map. Otherwise adds an error that expects `what` as a map, and
 * returns false. */
bool yaml_expect_map(const struct yaml_node *node, const char *what, struct yaml_errors *errors);

/* Returns the text of a scalar. Otherwise adds an error that expects `what`, and returns NULL. */
const char *yaml_expect_text(const struct yaml_node *node, const char *what,
			     struct yaml_errors *errors);

/* Writes the path of a file that the node names. The name is relative to the folder of the
 * node's own file. A name given by --set is relative to the current folder. */
void yaml_path(const struct yaml_node *node, const char *name, char path[PATH_MAX]);

/* Adds an error for each unused entry of the map, with the nearest of the known keys. */
void yaml_refuse_unused(const struct yaml_node *map, const char *const *known, size_t count,
			struct yaml_errors *errors);

struct param;
struct param_section;

/* Reads a map into a params struct by its list (sim/block.h). Absent keys take their defaults.
 * Adds an error for each unknown key, wrong unit and value out of range, with the text found,
 * the expected form and a suggestion. `map` NULL gives only defaults. */
void yaml_read_params(struct yaml_node *map, const struct param *list, void *params,
		      struct yaml_errors *errors);

/* Reads like yaml_read_params(), but leaves absent values as they are, and ignores keys outside
 * the list. */
void yaml_override_params(struct yaml_node *map, const struct param *list, void *params,
			  struct yaml_errors *errors);

/* Overrides the parameters of a composite, from one sub-map for each section. `sections` ends
 * with a NULL name. Ignores unknown sections; unknown keys in a section are errors. */
void yaml_override_sections(struct yaml_node *map, const struct param_section *sections,
			    void *params, struct yaml_errors *errors);

#endif
