/* SPDX-License-Identifier: Apache-2.0 */
/* install_paths: see install_paths.h. */
#include "sim/install_paths.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libhcasim.so"

/* Cuts the name of a file behind its folder. */
static void keep_folder(char path[PATH_MAX])
{
	char *slash = strrchr(path, '/');

	if (slash)
		slash[1] = '\0';
	else
		*path = '\0';
}

/* If this code is in libhcasim.so, writes the folder of the program that was installed with it.
 * Returns false if this code is in the program. */
static bool find_by_library(char path[PATH_MAX])
{
	static const char *const programs[] = {HCASIM_PROGRAMS, "../bin/"}; /* the build tree's */
	char library[PATH_MAX], data[PATH_MAX + 64];
	const char *name;
	Dl_info info;

	if (!dladdr((const void *)programs, &info) || !info.dli_fname)
		return false;
	name = strrchr(info.dli_fname, '/');
	name = name ? name + 1 : info.dli_fname;
	if (strncmp(name, LIBRARY, strlen(LIBRARY)) != 0 || !realpath(info.dli_fname, library))
		return false;
	keep_folder(library);
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		int length = snprintf(path, PATH_MAX, "%s%s", library, programs[i]);

		snprintf(data, sizeof(data), "%s../share/hcasim", path);
		if (length < PATH_MAX && access(data, R_OK) == 0)
			break;
	}
	return true;
}

static void find_program(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[length > 0 ? length : 0] = '\0';
	keep_folder(path);
}

static char program[PATH_MAX];

static void find(void)
{
	if (!find_by_library(program))
		find_program(program);
}

const char *install_paths_program(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find);
	return program;
}

static bool is_there(char path[PATH_MAX], const char *place, const char *name)
{
	int length = snprintf(path, PATH_MAX, "%s%s%s", install_paths_program(), place, name);

	return length < PATH_MAX && access(path, R_OK) == 0;
}

bool install_paths_library(const char *name, char path[PATH_MAX])
{
	if (!*install_paths_program())
		return false;
	return is_there(path, "", name) || is_there(path, "../lib/", name) ||
	       is_there(path, HCASIM_LIBRARIES, name);
}

bool install_paths_module(const char *name, char path[PATH_MAX])
{
	char file[NAME_MAX + 1];

	snprintf(file, sizeof(file), "hcasim/%s.so", name);
	return is_there(path, HCASIM_LIBRARIES, file) || is_there(path, "../lib/", file);
}

bool install_paths_data(const char *name, char path[PATH_MAX])
{
	return is_there(path, "../share/hcasim/", name);
}
