/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_files: the scenarios that come with the program. They are found from any folder, by
 * their names in the source tree ("scenarios/two-hosts-ib.yaml").
 */
#ifndef HCASIM_COMMAND_SCENARIO_FILES_H
#define HCASIM_COMMAND_SCENARIO_FILES_H

/* Returns the absolute path of the scenario with that name, or NULL. The caller frees it. */
char *scenario_files_find(const char *name);

/* Prints the scenario that a word may mean which names no file: the one whose name is nearest,
 * without folder and ".yaml". Prints nothing if none is near. */
void scenario_files_suggest(const char *word);

#endif
