/* beside: see beside.h. */
#include "sim/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *beside_program(void)
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

static bool is_there(char path[PATH_MAX], const char *place, const char *folder, const char *name)
{
	int length = snprintf(path, PATH_MAX, "%s%s%s%s", beside_program(), place, folder, name);

	return length < PATH_MAX && access(path, R_OK) == 0;
}

bool beside_find(const char *folder, const char *name, char path[PATH_MAX])
{
	if (!*beside_program())
		return false;
	return is_there(path, "", "", name) || is_there(path, "../", folder, name) ||
	       is_there(path, "../lib/", "", name) ||
	       is_there(path, "../lib/x86_64-linux-gnu/", "", name);
}
