/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_chakra: any bytes as the Chakra traces of two ranks: refused with a reason, or a workload
 * that a run can play. The first two bytes are the length of the trace of rank 0.
 */
#include <sys/stat.h>

#include "tests/fuzz/workload_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void write_file(const char *folder, int rank, const void *bytes, size_t length)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/rank%d", folder, rank);
	out = fopen(path, "wb");
	if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0)
		abort();
}

static void remove_files(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/shm/fuzz_chakra.%d/rank0", getpid());
	unlink(path);
	path[strlen(path) - 1] = '1';
	unlink(path);
	path[strlen(path) - strlen("/rank1")] = '\0';
	rmdir(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static char folder[32], files[48];
	size_t first;

	if (length < 2)
		return 0;
	if (!folder[0]) {
		snprintf(folder, sizeof(folder), "/dev/shm/fuzz_chakra.%d", getpid());
		snprintf(files, sizeof(files), "%s/rank%%d", folder);
		if (mkdir(folder, 0700) != 0 || atexit(remove_files) != 0)
			abort();
	}
	first = (size_t)(bytes[0] | bytes[1] << 8);
	if (first > length - 2)
		first = length - 2;
	write_file(folder, 0, bytes + 2, first);
	write_file(folder, 1, bytes + 2 + first, length - 2 - first);
	workload_check_file(PATTERN_chakra, files, "trace: ");
	return 0;
}
