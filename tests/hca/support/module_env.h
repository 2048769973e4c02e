/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_env: runs a test of a block with a module in its place. The environment variable
 * HCASIM_TEST_MODULE names the shared object.
 */
#ifndef TESTS_HCA_SUPPORT_MODULE_ENV_H
#define TESTS_HCA_SUPPORT_MODULE_ENV_H

#include <stdio.h>
#include <stdlib.h>

#include "sim/block.h"

/* Returns the requested engine if it supports the module, or if the environment names no module. */
static inline enum sim_engine module_env(enum sim_engine engine, struct param_text *module)
{
	const char *path = getenv("HCASIM_TEST_MODULE");

	if (!path)
		return engine;
	snprintf(module->text, sizeof(module->text), "%s", path);
	return engine == SIM_ENGINE_native ? SIM_ENGINE_systemc : engine;
}

#endif
