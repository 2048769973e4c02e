/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_view: properties of a host that programs see apart from RDMA: processors, memory, huge pages
 * and the kernel's release. They are the parameters of `cpu`, independent of the machine. This file
 * writes files for /proc and /sys; verbs-shim/preload/host.c implements the functions.
 */
#ifndef VERBS_SHIM_SESSION_HOST_VIEW_H
#define VERBS_SHIM_SESSION_HOST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct cpu_params;
struct shim_host_view;

/* Checks the parameters. Returns false and writes the invalid parameter to *error. */
bool host_view_is_possible(const struct cpu_params *cpu, char *error, size_t error_bytes);

void host_view_fill(const struct cpu_params *cpu, struct shim_host_view *view);

/* Writes the files of a host into its tree. `directory` belongs to the run. All hosts share the
 * processors' files in it. Returns false with errno on failure. */
bool host_view_write(const struct cpu_params *cpu, const char *directory, const char *tree);

/* Writes `text` to the file `name` of a tree and creates its folders. Returns false with errno on
 * failure. */
bool host_view_file(const char *tree, const char *name, const char *text);

#endif
