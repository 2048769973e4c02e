/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite: the main() of all test programs (suite.h).
 */
#include <CUnit/Basic.h>
#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"

static char folder[] = "/tmp/hcasim-test-XXXXXX";

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status;
	(void)type;
	(void)place;
	return remove(path);
}

static bool is_wanted(const char *name, char **wanted)
{
	if (!*wanted)
		return true;
	while (*wanted && strcmp(*wanted, name) != 0)
		wanted++;
	return *wanted != NULL;
}

static bool is_there(const char *name)
{
	const struct suite_test *test = suite.tests;

	while (test->name && strcmp(test->name, name) != 0)
		test++;
	return test->name != NULL;
}

static int no_such_test(const char *name)
{
	fprintf(stderr, "%s: no test '%s', but:\n", program_invocation_short_name, name);
	for (const struct suite_test *test = suite.tests; test->name; test++)
		fprintf(stderr, "  %s\n", test->name);
	return 2;
}

int main(int argument_count, char **arguments)
{
	CU_pSuite tests;
	int status;

	for (int i = 1; i < argument_count; i++)
		if (!is_there(arguments[i]))
			return no_such_test(arguments[i]);
	if (suite.set_up)
		suite.set_up();
	if (!mkdtemp(folder) || chdir(folder) != 0 || CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	tests = CU_add_suite(program_invocation_short_name, NULL, NULL);
	for (const struct suite_test *test = suite.tests; test->name; test++)
		if (is_wanted(test->name, arguments + 1) &&
		    !CU_add_test(tests, test->name, test->run))
			return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	status = CU_basic_run_tests() != CUE_SUCCESS || CU_get_number_of_failures();
	CU_cleanup_registry();
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
