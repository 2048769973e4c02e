/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: whole files in memory, for the tests of this folder.
 */
#ifndef TESTS_WIRE_SUPPORT_FILES_H
#define TESTS_WIRE_SUPPORT_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Returns NULL if the file cannot be read. The caller frees the result. */
uint8_t *file_load(const char *path, size_t *length);

/* Calls visit(path) for each *.pcap and *.pcapng of the folder, in order of name. Returns their
 * number, or 0 if the folder does not exist. */
unsigned folder_visit(const char *folder, void (*visit)(const char *path));

#endif
