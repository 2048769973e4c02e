/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a CSV file is read as it was written, including quotes. A file with a value too few or
 * too many, or an empty one, is refused by name. Means over seeds have the intervals of Student's
 * t: 1, 2, 3 is 2 +- 4.30265 / sqrt 3.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/means.h"
#include "analysis/table.h"
#include "tests/support/suite.h"

#define TESTS(TEST)   \
	TEST(reads)   \
	TEST(refuses) \
	TEST(quotes)  \
	TEST(means)
SUITE(TESTS)

static const char file[] = "table.csv";
static char error[256];

static struct table *read_text(const char *text)
{
	FILE *out = fopen(file, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(text, out);
	fclose(out);
	*error = '\0';
	return table_read(file, error, sizeof(error));
}

static void test_reads(void)
{
	struct table *table = read_text("name,\"a,b\",x\none,\"say \"\"so\"\"\",1.5\n,2,\n");

	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_EQUAL(table->columns, 3);
	CU_ASSERT_EQUAL(table->rows, 2);
	CU_ASSERT_STRING_EQUAL(table->names[1], "a,b");
	CU_ASSERT_STRING_EQUAL(table_cell(table, 0, 1), "say \"so\"");
	CU_ASSERT_STRING_EQUAL(table_cell(table, 1, 0), "");
	CU_ASSERT_EQUAL(table_number(table, 0, 2), 1.5);
	CU_ASSERT(isnan(table_number(table, 1, 2)));
	CU_ASSERT(isnan(table_number(table, 0, 0)));
	CU_ASSERT_EQUAL(table_column(table, "x"), 2);
	CU_ASSERT_EQUAL(table_column(table, "y"), 3);
	table_free(table);
}

static void test_refuses(void)
{
	static const char *const wrong[] = {"", "a,b\n1\n", "a,b\n1,2,3\n", "a,b\n\"1,2\n"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_PTR_NULL(read_text(wrong[i]));
		CU_ASSERT_EQUAL(strncmp(error, file, strlen(file)), 0);
	}
	CU_ASSERT_PTR_NULL(table_read("/nowhere/at.all", error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "/nowhere/at.all: No such file or directory");
}

static void test_quotes(void)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	table_print_field("plain", out);
	fputc(',', out);
	table_print_field("a,\"b\"", out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, "plain,\"a,\"\"b\"\"\"");
	free(text);
}

/* The table has two keys besides the seed. One run of the second group has no number. The third
 * group has a single run. */
static void test_means(void)
{
	struct table *results = read_text("kind,seed,load,point,exit_code,x\n"
					  "a,1,0.2,p,0,1\na,2,0.2,p,0,2\na,3,0.2,p,0,3\n"
					  "a,1,0.4,p,0,5\na,2,0.4,p,1,\na,3,0.4,p,0,5\n"
					  "b,1,0.2,p,0,7\n");
	struct table *table;

	CU_ASSERT_PTR_NOT_NULL_FATAL(results);
	CU_ASSERT_TRUE_FATAL(means_write(results, 3, 1, 5, file));
	table_free(results);
	table = table_read(file, error, sizeof(error));
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_EQUAL(table->columns, 5);
	CU_ASSERT_EQUAL(table->rows, 3);
	CU_ASSERT_STRING_EQUAL(table->names[2], "runs");
	CU_ASSERT_STRING_EQUAL(table->names[4], "x_half");
	CU_ASSERT_EQUAL(table_number(table, 0, 2), 3);
	CU_ASSERT_EQUAL(table_number(table, 0, 3), 2);
	CU_ASSERT_DOUBLE_EQUAL(table_number(table, 0, 4), 4.302652729911275 / sqrt(3), 1e-8);
	CU_ASSERT_STRING_EQUAL(table_cell(table, 1, 1), "0.4");
	CU_ASSERT_EQUAL(table_number(table, 1, 3), 5);
	CU_ASSERT_EQUAL(table_number(table, 1, 4), 0);
	CU_ASSERT_STRING_EQUAL(table_cell(table, 2, 0), "b");
	CU_ASSERT_EQUAL(table_number(table, 2, 3), 7);
	CU_ASSERT_STRING_EQUAL(table_cell(table, 2, 4), "");
	table_free(table);
}
