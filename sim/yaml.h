/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml: a scenario file as a tree in which every node knows its file, line and column, read with libyaml.
 * Aliases, merge keys and tags are refused with a clear message; duplicate keys too.
 */
#ifndef SIM_YAML_H
#define SIM_YAML_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	const char *file;
	uint32_t line, column; /* from 1 */
	const char *text;      /* YAML_SCALAR */
	bool quoted;           /* YAML_SCALAR: never a number or a flag */
	const char *key;       /* of this entry, when the parent is a map */
	uint32_t key_line, key_column;
	struct yaml_node *parent, *next, *children;
	bool used; /* set by whoever understood the key; what nobody used is an error */
};

/* Problems of a user's input, each "file:line:column: ...", collected so that one run shows all. */
struct yaml_errors {
	char *text; /* lines; the first hundred */
	size_t length;
	unsigned count;
};

struct yaml_document;

/* NULL: could not be read or parsed, and errors says why. */
struct yaml_document *yaml_read_file(const char *file, struct yaml_errors *errors);
struct yaml_document *yaml_read_text(const char *name, const char *text,
				     struct yaml_errors *errors);
void yaml_close(struct yaml_document *document);
struct yaml_node *yaml_root(struct yaml_document *document);

/* What stands at that path, of keys and numbers of list entries as of yaml_set(), or the nearest above it. It is not marked as used. */
const struct yaml_node *yaml_find(const struct yaml_node *root, const char *path);

/* Replaces or adds one value: "hosts.host0.hca.pcie.lanes=8". A path is made of keys, numbers of list entries (from 0), and
 * *, which stands for all entries; a text on the way becomes a map {preset: text}. The value is YAML. false: errors. */
bool yaml_set(struct yaml_document *document, const char *assignment, struct yaml_errors *errors);

/* The entry of a map, marked as used; NULL: absent. */
struct yaml_node *yaml_get(struct yaml_node *map, const char *key);

/* Adds "file:line:column: ...", where the node is. */
void yaml_error(struct yaml_errors *errors, const struct yaml_node *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "did you mean ...?": the nearest of the candidates by edit distance, in which a word that is taken for another (delay for
 * latency) counts as a letter; NULL if none is near. */
const char *yaml_suggest(const char *word, const char *const *candidates, size_t count);

/* As yaml_error(), at the key of the entry. */
void yaml_error_key(struct yaml_errors *errors, const struct yaml_node *node, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));
void yaml_errors_free(struct yaml_errors *errors); /* what it collected, and leaves it empty */

/* "nothing", "text", "a list", "a map": what was found, for messages. */
const char *yaml_kind_name(enum yaml_kind kind);

/* Is it a map? If not, that is an error, with `what` it should have been. */
bool yaml_expect_map(const struct yaml_node *node, const char *what, struct yaml_errors *errors);

/* The text of a scalar; NULL, and an error that says what was expected, if it is none. */
const char *yaml_expect_text(const struct yaml_node *node, const char *what,
			     struct yaml_errors *errors);

/* Where the file is whose name a text of that node gives: from where the node's own file is; what --set says, from here. */
void yaml_path(const struct yaml_node *node, const char *name, char path[PATH_MAX]);

/* Errors for all entries of the map that nobody used, each with the nearest of the known keys. */
void yaml_refuse_unused(const struct yaml_node *map, const char *const *known, size_t count,
			struct yaml_errors *errors);

struct param;
struct param_section;

/* Reads a map into a params struct by its list (sim/block.h): defaults for what is absent; unknown keys, wrong
 * units and values out of range go to errors with what was found, what was expected and a suggestion. map NULL:
 * only defaults. */
void yaml_read_params(struct yaml_node *map, const struct param *list, void *params,
		      struct yaml_errors *errors);

/* As yaml_read_params(), but what is absent stays as it is, and keys that are not in the list are left to others. */
void yaml_override_params(struct yaml_node *map, const struct param *list, void *params,
			  struct yaml_errors *errors);

/* The same for a composite: one sub-map for each of its groups (which end with a NULL name). Unknown groups are
 * left to others, unknown keys inside of a group are errors. */
void yaml_override_sections(struct yaml_node *map, const struct param_section *sections,
			    void *params, struct yaml_errors *errors);

#endif
