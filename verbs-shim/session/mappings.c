/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings: finds private memory of a process: private, anonymous and writable, and not its stack.
 * When a region of such memory is registered, its pages can be replaced by shared pages with the
 * same contents. Memory that other processes share, files and huge pages are not replaced. The
 * process does not run meanwhile.
 *
 * A process with n regions has at least n mappings. Linux 6.11 and later can query one mapping by
 * its address. On older kernels the whole list is read for each region, which takes n^2 steps.
 *
 * Source: proc(5), /proc/PID/maps; Linux, include/uapi/linux/fs.h, PROCMAP_QUERY.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "verbs-shim/session/state.h"

/* Debian 12's headers are older. */
struct procmap_query {
	uint64_t size, flags, address;
	uint64_t first, end, rights, page_bytes, offset, inode;
	uint32_t device_major, device_minor;
	uint32_t name_bytes, build_id_bytes;
	uint64_t name, build_id; /* addresses */
};
_Static_assert(sizeof(struct procmap_query) == 104, "as Linux has it");

#define QUERY         _IOWR('f', 17, struct procmap_query)
#define QUERY_OR_NEXT 0x10 /* mapping that contains the address, or the next one */

enum { READABLE = 1, WRITABLE = 2, EXECUTABLE = 4, SHARED = 8 };

struct mapping {
	uint64_t first, end, inode;
	uint32_t rights;
	char name[PATH_MAX];
};

static bool is_own(const struct mapping *mapping)
{
	return mapping->rights == (READABLE | WRITABLE) && mapping->inode == 0 &&
	       (mapping->name[0] == '\0' || strcmp(mapping->name, "[heap]") == 0 ||
		strncmp(mapping->name, "[anon:", 6) == 0);
}

/* Queries the first mapping that ends after the address. Returns 1 on success, 0 if there is none,
 * -1 if this system does not support the query. */
static int ask(int fd, uint64_t address, struct mapping *mapping)
{
	struct procmap_query query = {.size = sizeof(query),
				      .flags = QUERY_OR_NEXT,
				      .address = address,
				      .name_bytes = sizeof(mapping->name),
				      .name = (uint64_t)(uintptr_t)mapping->name};

	mapping->name[0] = '\0';
	if (ioctl(fd, QUERY, &query) != 0)
		return errno == ENOENT ? 0 : -1;
	mapping->first = query.first;
	mapping->end = query.end;
	mapping->inode = query.inode;
	mapping->rights = (uint32_t)query.rights;
	if (query.name_bytes == 0)
		mapping->name[0] = '\0';
	return 1;
}

static bool parse(const char *line, struct mapping *mapping)
{
	char rights[8];

	mapping->name[0] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*s %" SCNu64 " %255s", &mapping->first,
		   &mapping->end, rights, &mapping->inode, mapping->name) < 4)
		return false;
	mapping->rights = (rights[0] == 'r' ? READABLE : 0U) | (rights[1] == 'w' ? WRITABLE : 0U) |
			  (rights[2] == 'x' ? EXECUTABLE : 0U) | (rights[3] == 's' ? SHARED : 0U);
	return true;
}

static bool take(const struct mapping *mapping, uint64_t *address, uint64_t *end)
{
	if (mapping->end <= *address || mapping->first >= *end || !is_own(mapping))
		return false;
	*address = *address > mapping->first ? *address : mapping->first;
	*end = *end < mapping->end ? *end : mapping->end;
	return true;
}

static bool find_in_list(int fd, uint64_t *address, uint64_t *end)
{
	char line[PATH_MAX + 128];
	struct mapping mapping;
	bool found = false;
	FILE *file = fdopen(fd, "re");

	if (!file) {
		close(fd);
		return false;
	}
	while (!found && fgets(line, sizeof(line), file)) {
		uint64_t last;
		char *rest = strchr(line, '-');

		/* most searches end at this entry */
		last = rest ? strtoull(rest + 1, NULL, 16) : 0;
		if (last <= *address || !parse(line, &mapping))
			continue;
		if (mapping.first >= *end)
			break;
		found = take(&mapping, address, end);
	}
	fclose(file);
	return found;
}

bool mappings_own(int32_t real_pid, uint64_t *address, uint64_t *end)
{
	struct mapping mapping;
	char path[32];
	int fd, known;

	snprintf(path, sizeof(path), "/proc/%d/maps", real_pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	known = ask(fd, *address, &mapping);
	if (known < 0)
		return find_in_list(fd, address, end);
	for (; known > 0 && mapping.first < *end; known = ask(fd, mapping.end, &mapping))
		if (take(&mapping, address, end)) {
			close(fd);
			return true;
		}
	close(fd);
	return false;
}
