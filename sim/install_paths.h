/* SPDX-License-Identifier: Apache-2.0 */
/*
 * install_paths: finds the files that come with the program. An installation and the build tree
 * have the same folders: bin/ holds the program, lib/ its shared objects, share/hcasim/ its data.
 */
#ifndef SIM_INSTALL_PATHS_H
#define SIM_INSTALL_PATHS_H

#include <limits.h>
#include <stdbool.h>

/* Returns the folder of the program with a slash at its end, or "" if the system does not report
 * it. In a process that has loaded libhcasim.so, it is the folder of the program beside that
 * library. */
const char *install_paths_program(void);

/* Finds the shared object `name` in the program's folder, in ../lib/, or in the folder where
 * libraries are installed. Writes its path. Returns false if it is in none of them. */
bool install_paths_library(const char *name, char path[PATH_MAX]);

/* Finds NAME.so among the SystemC modules that come with the program. Writes its path. Returns
 * false if the file does not exist, and then writes its expected path. */
bool install_paths_module(const char *name, char path[PATH_MAX]);

/* Finds a file of share/hcasim/, such as "scenarios/two-hosts-ib.yaml". Writes its path. Returns
 * false if it is not there. */
bool install_paths_data(const char *name, char path[PATH_MAX]);

#endif
