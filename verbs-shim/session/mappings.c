/*
 * mappings: which memory of a process is its alone: private, anonymous and writable, and not its stack. When a region of such
 * memory is registered, its pages can be replaced by shared ones with the same bytes; memory that other processes see too, files
 * and huge pages stay as they are. The process stands still meanwhile.
 *
 * Source: proc(5), /proc/PID/maps.
 */
#include <inttypes.h>
#include <string.h>

#include "verbs-shim/session/state.h"

static bool is_own(const char *rights, uint64_t inode, const char *name)
{
	return strcmp(rights, "rw-p") == 0 && inode == 0 &&
	       (name[0] == '\0' || strcmp(name, "[heap]") == 0 || strncmp(name, "[anon:", 6) == 0);
}

bool mappings_own(int32_t real_pid, uint64_t *address, uint64_t *end)
{
	char path[32], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", real_pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		uint64_t first, last, inode;
		char rights[8], name[8] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*s %" SCNu64 " %7s", &first,
			   &last, rights, &inode, name) < 4 ||
		    last <= *address || first >= *end || !is_own(rights, inode, name))
			continue;
		*address = *address > first ? *address : first;
		*end = *end < last ? *end : last;
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}
