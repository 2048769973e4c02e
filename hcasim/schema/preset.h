/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset: the numbers of a real part, in a YAML file of its own, by name:
 *
 *     hca: connectx4-edr                                   the preset as it is
 *     hca: {preset: connectx4-edr, pcie: {lanes: 8}}       the same with single keys of one's own
 *
 * A preset may stand on another one in the same way. It is looked for beside the file that names it (a name with
 * a slash is a path from there), in `presets/` there, then in share/hcasim/scenarios/presets of the installation or build tree.
 */
#ifndef HCASIM_SCHEMA_PRESET_H
#define HCASIM_SCHEMA_PRESET_H

#include "hcasim/schema/composite.h"

/* Reads what stands behind a key of that kind, a preset's name or a map, over the values in params. others: further
 * keys that the map may have, which the caller reads. given (may be NULL): bit i is set if something says the value of
 * entry i of the composite's own list. */
void preset_read(enum composite_kind kind, struct yaml_node *node, const char *const *others,
		 void *params, uint64_t *given, struct yaml_errors *errors);

/* What a preset of that name says from now on in the place of its file: "pcie.lanes=8" (yaml_set()); count 0: its file
 * again. The caller owns them as long. */
void preset_replace(const char *name, const char *const *assignments, size_t count);
bool preset_was_replaced(void); /* has anyone read it since? */

/* Where presets of the installation or build tree are: a directory, "" if there is none. */
const char *preset_directory(void);

#endif
