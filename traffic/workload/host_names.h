/* SPDX-License-Identifier: Apache-2.0 */
/* host_names: the hosts of a workload by name or number, as a user writes them. */
#ifndef TRAFFIC_WORKLOAD_HOST_NAMES_H
#define TRAFFIC_WORKLOAD_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_names;

/* `names` has the name of each host, and the caller owns it. NULL: hosts have only numbers. */
struct host_names *host_names_create(const char *const *names, uint32_t hosts);
void host_names_destroy(struct host_names *host_names);

/* Finds the host of a name, or of a number from 0 on. A text of digits is a number. Returns false
 * on failure and writes the reason to `error`, with the nearest name. */
bool host_names_find(struct host_names *host_names, const char *text, uint32_t *host, char *error,
		     size_t error_bytes);

#endif
