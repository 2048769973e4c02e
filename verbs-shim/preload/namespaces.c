/* SPDX-License-Identifier: Apache-2.0 */
/* namespaces: see namespaces.h. */
#include "verbs-shim/preload/namespaces.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#define NSFS_MINOR 4

static const struct namespace
{
	const char *file, *type;
	uint32_t inode;
}
namespaces[] = {
	{"ipc", "ipc", 0xefffffff},
	{"uts", "uts", 0xeffffffe},
	{"user", "user", 0xeffffffd},
	{"pid", "pid", 0xeffffffc},
	{"pid_for_children", "pid", 0xeffffffc},
	{"cgroup", "cgroup", 0xeffffffb},
	{"time", "time", 0xeffffffa},
	{"time_for_children", "time", 0xeffffffa},
	{"net", "net", 0xeffffff9},
	{"mnt", "mnt", 0xeffffff8},
};

static const struct namespace *namespace_at(const char *path)
{
	static const char start[] = "/proc/", folder[] = "/ns/";
	const char *process = path + sizeof(start) - 1, *file;

	if (!path || strncmp(path, start, sizeof(start) - 1) != 0)
		return NULL;
	file = strchr(process, '/');
	if (!file || strncmp(file, folder, sizeof(folder) - 1) != 0)
		return NULL;
	file += sizeof(folder) - 1;
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++)
		if (strcmp(file, namespaces[i].file) == 0)
			return &namespaces[i];
	return NULL;
}

uint64_t namespaces_inode(const char *path)
{
	const struct namespace *found = namespace_at(path);

	return found ? found->inode : 0;
}

dev_t namespaces_device(void)
{
	return makedev(0, NSFS_MINOR);
}

ssize_t namespaces_link(const char *path, char *target, size_t bytes)
{
	const struct namespace *found = namespace_at(path);
	char text[32];
	size_t length;

	if (!found)
		return 0;
	length = (size_t)snprintf(text, sizeof(text), "%s:[%u]", found->type, found->inode);
	length = length < bytes ? length : bytes;
	memcpy(target, text, length);
	return (ssize_t)length;
}
