/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_error: writes the error text of a reader of text files: "line 7: ...". hpccfile.c and
 * netfile.c call these functions.
 */
#ifndef FABRIC_LINE_ERROR_H
#define FABRIC_LINE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the line and the message to `error`. Returns false. */
__attribute__((format(printf, 4, 5))) bool line_error(char *error, size_t error_bytes,
						      uint32_t line, const char *format, ...);

/* Does the same for a reader with the members error, error_bytes and line. */
#define LINE_ERROR(reader, ...) \
	line_error((reader)->error, (reader)->error_bytes, (reader)->line, __VA_ARGS__)

#endif
