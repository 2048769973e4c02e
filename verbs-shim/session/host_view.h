/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_view: what programs see of their host beside RDMA, whatever the machine is: processors, memory, huge
 * pages and the kernel's release, as the parameters of `cpu` say. This file writes files below /proc and /sys;
 * verbs-shim/preload/host.c answers functions.
 */
#ifndef VERBS_SHIM_SESSION_HOST_VIEW_H
#define VERBS_SHIM_SESSION_HOST_VIEW_H

#include <stdbool.h>
#include <stddef.h>

struct cpu_params;
struct shim_host_view;

/* false: *error says which parameter is not possible. */
bool host_view_is_possible(const struct cpu_params *cpu, char *error, size_t error_bytes);

void host_view_fill(const struct cpu_params *cpu, struct shim_host_view *view);

/* Writes the files of a host into its tree. directory: of the run, where all hosts share the processors' files.
 * Returns false on failure; errno says why. */
bool host_view_write(const struct cpu_params *cpu, const char *directory, const char *tree);

/* Writes `text` to the file `name` of a tree and makes its folders. Returns false on failure; errno says why. */
bool host_view_file(const char *tree, const char *name, const char *text);

#endif
