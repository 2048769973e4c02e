/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that an error is a record with position, key, text found, text expected and suggestion. It
 * is rendered as one line of text or as JSON, and rendered text becomes a record again. Errors can
 * be moved and appended.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/yaml.h"
#include "tests/support/suite.h"

#define TESTS(TEST)  \
	TEST(record) \
	TEST(set)    \
	TEST(parse)  \
	TEST(append) \
	TEST(json)
SUITE(TESTS)

static void test_record(void)
{
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_text("t.yaml", "one:\n  - {two: 3}\n", &errors);
	const struct yaml_node *node = yaml_find(yaml_root(document), "one.0.two");
	yaml_error(&errors, node, "two: \"3\" is odd; expected 2 or 4; did you mean \"%d\"?", 4);
	yaml_error_key(&errors, node, "unknown key \"two\"; it is now \"second\"");
	CU_ASSERT_EQUAL_FATAL(errors.kept, 2);
	const struct yaml_problem *first = &errors.list[0], *second = &errors.list[1];
	CU_ASSERT_STRING_EQUAL(first->file, "t.yaml");
	CU_ASSERT_EQUAL(first->line, 2);
	CU_ASSERT_EQUAL(first->column, 11);
	CU_ASSERT_STRING_EQUAL(first->key, "one.0.two");
	CU_ASSERT_STRING_EQUAL(first->found, "3");
	CU_ASSERT_STRING_EQUAL(first->expected, "2 or 4");
	CU_ASSERT_STRING_EQUAL(first->suggestion, "4");
	CU_ASSERT_EQUAL(second->column, 6);
	CU_ASSERT_STRING_EQUAL(second->found, "two");
	CU_ASSERT_PTR_NULL(second->expected);
	CU_ASSERT_STRING_EQUAL(second->suggestion, "second");
	CU_ASSERT_STRING_EQUAL(
		yaml_errors_text(&errors),
		"t.yaml:2:11: two: \"3\" is odd; expected 2 or 4; did you mean \"4\"?\n"
		"t.yaml:2:6: unknown key \"two\"; it is now \"second\"\n");
	yaml_errors_free(&errors);
	yaml_close(document);
}

/* A value of --set has its path in the scenario. */
static void test_set(void)
{
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_text("t.yaml", "one: {two: 3}\n", &errors);
	CU_ASSERT_TRUE(yaml_set(document, "one={three: {four: 5}}", &errors));
	yaml_error(&errors, yaml_find(yaml_root(document), "one.three.four"), "wrong");
	CU_ASSERT_EQUAL_FATAL(errors.kept, 1);
	CU_ASSERT_STRING_EQUAL(errors.list[0].file, "--set one={three: {four: 5}}");
	CU_ASSERT_STRING_EQUAL(errors.list[0].key, "one.three.four");
	yaml_errors_free(&errors);
	yaml_close(document);
}

static void test_parse(void)
{
	static const struct {
		const char *text, *file;
		uint32_t line, column;
		const char *message;
	} rows[] = {
		{"a/b.yaml:3:14: links: no", "a/b.yaml", 3, 14, "links: no"},
		{"s.yaml: no hosts", "s.yaml", 0, 0, "no hosts"},
		{"links: no", "s.yaml", 0, 0, "links: no"},
		{"no colon", "s.yaml", 0, 0, "no colon"},
		{"x:3: not a place", "s.yaml", 0, 0, "x:3: not a place"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct yaml_errors errors = {0};
		yaml_error_parse(&errors, "s.yaml", rows[i].text);
		CU_ASSERT_EQUAL_FATAL(errors.kept, 1);
		CU_ASSERT_STRING_EQUAL(errors.list[0].file, rows[i].file);
		CU_ASSERT_EQUAL(errors.list[0].line, rows[i].line);
		CU_ASSERT_EQUAL(errors.list[0].column, rows[i].column);
		CU_ASSERT_STRING_EQUAL(errors.list[0].message, rows[i].message);
		yaml_errors_free(&errors);
	}
}

/* The reader keeps a hundred errors, and the number of all errors. */
static void test_append(void)
{
	struct yaml_errors errors = {0}, more = {0};
	for (unsigned i = 0; i < 60; i++) {
		yaml_error_parse(&errors, "s.yaml", "one");
		yaml_error_parse(&more, "s.yaml", "two");
	}
	yaml_error_move(&more.list[0], "t.yaml", 7, 8, "sweep: x=1");
	CU_ASSERT_STRING_EQUAL_FATAL(yaml_errors_text(&errors) + 59 * strlen("s.yaml: one\n"),
				     "s.yaml: one\n");
	yaml_errors_append(&errors, &more);
	CU_ASSERT_EQUAL(errors.count, 120);
	CU_ASSERT_EQUAL_FATAL(errors.kept, 100);
	CU_ASSERT_EQUAL(more.count, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(yaml_errors_text(&errors), "t.yaml:7:8: sweep: x=1: two\n"));
	yaml_errors_free(&errors);
}

static void test_json(void)
{
	struct yaml_errors errors = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	yaml_errors_print_json(&errors, out);
	yaml_error_parse(&errors, "s.yaml", "s.yaml:1:2: \"a\"; expected b");
	yaml_errors_print_json(&errors, out);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(
		text, "[][\n    {\"file\": \"s.yaml\", \"line\": 1, \"column\": 2, \"key\": \"\", "
		      "\"message\": \"\\\"a\\\"; expected b\", \"found\": null, "
		      "\"expected\": \"b\", \"suggestion\": null}\n  ]");
	free(text);
	yaml_errors_free(&errors);
}
