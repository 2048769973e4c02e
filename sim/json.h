/* SPDX-License-Identifier: Apache-2.0 */
/* json: the few pieces that every writer of JSON in the simulator shares. */
#ifndef SIM_JSON_H
#define SIM_JSON_H

#include <stdint.h>
#include <stdio.h>

/* With its quotes; control characters, quotes and backslashes escaped. */
void json_text(FILE *out, const char *text);

/* A number; as hexadecimal text above 2^53, where readers that keep doubles would round it. */
void json_u64(FILE *out, uint64_t value);

#endif
