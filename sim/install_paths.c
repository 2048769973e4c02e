/* SPDX-License-Identifier: Apache-2.0 */
/* install_paths: see install_paths.h. */
#include "sim/install_paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *install_paths_program(void)
{
	static char own[PATH_MAX];
	ssize_t length;

	if (*own)
		return own;
	length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	own[length > 0 ? length : 0] = '\0';
	if (*own)
		*(strrchr(own, '/') + 1) = '\0';
	return own;
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
