/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: see files.h.
 */
#include "tests/wire/support/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t *file_load(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long end;

	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	end = ftell(file);
	rewind(file);
	if (end < 0) {
		fclose(file);
		return NULL;
	}
	*length = (size_t)end;
	bytes = malloc(*length + 1);
	if (!bytes)
		abort();
	if (fread(bytes, 1, *length, file) != *length) {
		free(bytes);
		bytes = NULL;
	}
	fclose(file);
	return bytes;
}

static int is_capture(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && (!strcmp(dot, ".pcap") || !strcmp(dot, ".pcapng"));
}

unsigned folder_visit(const char *folder, void (*visit)(const char *path))
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_capture, alphasort);
	char path[1024];

	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		visit(path);
		free(entries[i]);
	}
	free(entries);
	return (unsigned)count;
}
