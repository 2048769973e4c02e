/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_load: a load that a test configures, and its results. Common part of the tests of loads.
 */
#ifndef TESTS_HCASIM_SUPPORT_ONE_LOAD_H
#define TESTS_HCASIM_SUPPORT_ONE_LOAD_H

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "traffic/load/load.h"

static struct load_setup setup;
static struct load_result result;

/* Runs it, which succeeds. */
static inline void measure(void)
{
	char error[256] = "";
	bool good = load_run(&setup, &result, error, sizeof(error));

	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_TRUE_FATAL(good);
}

/* Checks that the load is refused with that reason. */
static inline void refuse(const char *reason)
{
	char error[256] = "";

	CU_ASSERT_FALSE(load_run(&setup, &result, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, reason);
	if (strcmp(error, reason) != 0)
		printf("[%s] ", error);
}

#endif
