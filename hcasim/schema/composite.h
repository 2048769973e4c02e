/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composite: what a preset describes: an HCA, a switch or a link, each with the parameter lists of the blocks it is
 * made of. One table; `hcasim params`, presets, the reader and the effective configuration all go by it.
 */
#ifndef HCASIM_SCHEMA_COMPOSITE_H
#define HCASIM_SCHEMA_COMPOSITE_H

#include <stdio.h>

#include "sim/block.h"
#include "sim/yaml.h"

enum composite_kind {
	COMPOSITE_HCA,
	COMPOSITE_SWITCH,
	COMPOSITE_LINK,
	COMPOSITE_ENDPOINT,
	COMPOSITE_HOST, /* what the host decides of an HCA's params struct */
	COMPOSITE_CARD,
	COMPOSITE_COUNT
};

/* One key whose values no list describes. */
struct composite_extra {
	const char *key;
	void (*init)(void *params); /* NULL: nothing to do */
	void (*read_map)(struct yaml_node *node, void *params, struct yaml_errors *errors);
	void (*print)(const void *params, unsigned indent, FILE *out);
};

struct composite {
	const char *name; /* as a preset's `kind:` says it */
	const char *meaning;
	size_t bytes;                         /* of its params struct */
	const struct param *list;             /* its own parameters; NULL: none */
	const struct param_section *sections; /* those of its blocks; NULL: none */
	const struct composite_extra *extra;  /* NULL: none */
	/* What else its map means, after its values were read; NULL: nothing. */
	void (*finish)(struct yaml_node *map, void *params, struct yaml_errors *errors);
};

const struct composite *composite_of(enum composite_kind kind);

/* A params struct with all defaults, for free(); of COMPOSITE_ENDPOINT for endpoint_device_destroy(). */
void *composite_create(enum composite_kind kind);

/* Overrides what the map says; keys of nobody are errors, but for those in `others` (NULL-terminated or NULL). */
void composite_override(enum composite_kind kind, struct yaml_node *map, const char *const *others,
			void *params, struct yaml_errors *errors);

/* As YAML, `indent` blanks before each line. */
void composite_print(enum composite_kind kind, const void *params, unsigned indent, FILE *out);

#endif
