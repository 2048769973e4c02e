/*
 * composite: what a preset describes: an HCA, a switch or a link, each with the parameter lists of the blocks it is
 * made of. One table; `hcasim params`, presets, the reader and the effective configuration all go by it.
 */
#ifndef SCENARIOS_COMPOSITE_H
#define SCENARIOS_COMPOSITE_H

#include <stdio.h>

#include "sim/block.h"
#include "sim/yaml.h"

enum composite_kind { COMPOSITE_HCA, COMPOSITE_SWITCH, COMPOSITE_LINK, COMPOSITE_COUNT };

struct composite {
	const char *name; /* as a preset's `kind:` says it */
	const char *meaning;
	size_t bytes;                     /* of its params struct */
	const struct param *list;         /* its own parameters; NULL: none */
	const struct param_group *groups; /* those of its blocks; NULL: none */
};

const struct composite *composite_of(enum composite_kind kind);

/* A params struct with all defaults, for free(). */
void *composite_create(enum composite_kind kind);

/* Overrides what the map says; keys of nobody are errors, but for those in `others` (NULL-terminated or NULL). */
void composite_override(enum composite_kind kind, struct yaml_node *map, const char *const *others,
			void *params, struct yaml_errors *errors);

/* As YAML, `indent` blanks before each line. */
void composite_print(enum composite_kind kind, const void *params, unsigned indent, FILE *out);

#endif
