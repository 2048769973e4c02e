/* SPDX-License-Identifier: Apache-2.0 */
/* json: functions that all writers of JSON in the simulator share. */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdint.h>
#include <stdio.h>

/* Writes a string with its quotes. Escapes control characters, quotes and backslashes. */
void json_text(FILE *out, const char *text);

/* Writes a number. A number above 2^53 becomes a string in hexadecimal, because readers that
 * use doubles would round it. */
void json_u64(FILE *out, uint64_t value);

#endif
