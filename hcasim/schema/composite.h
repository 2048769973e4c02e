/* SPDX-License-Identifier: Apache-2.0 */
/*
 * composite: objects that a preset describes: an HCA, a switch or a link, each with the parameter
 * lists of its blocks. `hcasim params`, presets, the reader and the effective configuration all use
 * this one table.
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
	COMPOSITE_HOST, /* parameters of an HCA that the host determines */
	COMPOSITE_CARD,
	COMPOSITE_COUNT
};

/* One key that no parameter list describes. */
struct composite_extra {
	const char *key;
	void (*init)(void *params); /* NULL: nothing to do */
	void (*read_map)(struct yaml_node *node, void *params, struct yaml_errors *errors);
	void (*print)(const void *params, unsigned indent, FILE *out);
};

struct composite {
	const char *name; /* value of a preset's `kind:` */
	const char *meaning;
	size_t bytes;                         /* size of its params struct */
	const struct param *list;             /* its own parameters; NULL: none */
	const struct param_section *sections; /* parameters of its blocks; NULL: none */
	const struct composite_extra *extra;  /* NULL: none */
	/* Derives further values after the map has been read. NULL means none. */
	void (*finish)(struct yaml_node *map, void *params, struct yaml_errors *errors);
};

const struct composite *composite_of(enum composite_kind kind);

/* Returns a params struct with all defaults. The caller releases it with free(), and
 * COMPOSITE_ENDPOINT with endpoint_device_destroy(). */
void *composite_create(enum composite_kind kind);

/* Overrides parameters with the values of a map. Unknown keys are errors, except those in `others`
 * (NULL-terminated, or NULL). */
void composite_override(enum composite_kind kind, struct yaml_node *map, const char *const *others,
			void *params, struct yaml_errors *errors);

/* Prints the parameters as YAML, indented by `indent` spaces. */
void composite_print(enum composite_kind kind, const void *params, unsigned indent, FILE *out);

#endif
