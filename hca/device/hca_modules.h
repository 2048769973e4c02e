/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca_modules: the modules that an adapter's parameters name, for checks before a run begins.
 */
#ifndef HCA_DEVICE_HCA_MODULES_H
#define HCA_DEVICE_HCA_MODULES_H

#include "hca/device/hca_params.h"
#include "hca/module/module.h"

/* Returns the parameter that names the block's module. Its text is "" for the built-in block. */
struct param_text *hca_module_text(struct hca_params *params, enum module_kind kind);

/* Returns the head of the table that the shared object exports for that kind of module. Returns
 * NULL if it holds none, and writes the reason to `error`. */
const struct module_head *hca_module_find(enum module_kind kind, const char *path, char *error,
					  size_t error_bytes);

/* Returns true if all named modules support these parameters. Otherwise writes the reason to
 * `error`. */
bool hca_modules_accept(const struct hca_params *params, char *error, size_t error_bytes);

#endif
