/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset: parameters of a real device, in its own YAML file, used by name:
 *
 *     hca: connectx4-edr                                   the preset unchanged
 *     hca: {preset: connectx4-edr, pcie: {lanes: 8}}       the preset with single keys changed
 *
 * A preset may be based on another preset in the same way. hcasim searches three folders: the
 * folder of the file that names the preset, `presets/` in that folder, and
 * share/hcasim/scenarios/presets of the installation or build tree. A name with a slash is a path
 * relative to the first folder.
 */
#ifndef HCASIM_SCHEMA_PRESET_H
#define HCASIM_SCHEMA_PRESET_H

#include "hcasim/schema/composite.h"

/* Reads a preset's name or a map over the values in `params`. `others` lists further keys that the
 * caller reads. Sets bit i of *given if the value of entry i of the composite's own list is set.
 * `given` may be NULL. */
void preset_read(enum composite_kind kind, struct yaml_node *node, const char *const *others,
		 void *params, uint64_t *given, struct yaml_errors *errors);

/* Replaces values of a preset from now on: "pcie.lanes=8" (yaml_set()). A count of 0 restores the
 * file. The caller keeps the strings until then. */
void preset_replace(const char *name, const char *const *assignments, size_t count);
bool preset_was_replaced(void); /* true if the replaced preset has been read since */

/* Returns the folder of presets of the installation or build tree, or "" if there is none. */
const char *preset_directory(void);

#endif
