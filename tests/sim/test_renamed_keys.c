/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that each old key of the table is refused at its position, with its new name. No new name
 * is an old name. */
#include <stdio.h>
#include <string.h>

#include "sim/renamed_keys.h"
#include "sim/yaml.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(keys)       \
	TEST(other_maps) \
	TEST(blocks)     \
	TEST(columns)    \
	TEST(hints)      \
	TEST(one_step)
SUITE(TESTS)

static bool is_kind(const char *section)
{
	static const char *const kinds[] = {"option", "metric",  "block", "counter",
					    "preset", "command", "list"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(section, kinds[i]) == 0)
			return true;
	}
	return strncmp(section, "value.", 6) == 0;
}

/* Returns the message about an entry `old` of a map at that path. The last map of the path is entry
 * 0 of a list. */
static void expect_said(const char *section, const char *old, const char *said)
{
	char text[512] = "", line[64];
	int depth = 0;
	for (const char *key = section; *key; depth++) {
		int length = (int)strcspn(key, ".");
		snprintf(line, sizeof(line), "%*s%.*s:\n", depth, "", length,
			 *key == '*' ? "x" : key);
		strncat(text, line, sizeof(text) - strlen(text) - 1);
		key += length + (key[length] == '.');
	}
	snprintf(line, sizeof(line), "%*s- %s: 1\n", depth, "", old);
	strncat(text, line, sizeof(text) - strlen(text) - 1);
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_text("t.yaml", text, &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	struct yaml_node *map = yaml_root(document);
	while (map->kind == YAML_LIST || !yaml_get(map, old))
		map = map->children;
	for (struct yaml_node *entry = map->children; entry; entry = entry->next)
		entry->used = false;
	yaml_refuse_unused(map, NULL, 0, &errors);
	char expected[256];
	snprintf(expected, sizeof(expected), "t.yaml:%d:%d: unknown key \"%s\"%s\n", depth + 1,
		 depth + 3, old, said);
	CU_ASSERT_STRING_EQUAL(yaml_errors_text(&errors), expected);
	yaml_errors_free(&errors);
	yaml_close(document);
}

static void test_keys(void)
{
	char said[128];
	for (const struct renamed_key *key = renamed_keys; key->section; key++) {
		snprintf(said, sizeof(said), "; it is now \"%s\"", key->now);
		char sections[256], *rest = NULL;
		snprintf(sections, sizeof(sections), "%s", key->section);
		for (char *section = strtok_r(sections, "|", &rest); section && !is_kind(section);
		     section = strtok_r(NULL, "|", &rest))
			expect_said(section, key->old, said);
		if (is_kind(key->section))
			CU_ASSERT_STRING_EQUAL(renamed_key(key->section, key->old), key->now);
	}
}

static void test_other_maps(void)
{
	expect_said("load.cpu", "sharers", "");
	expect_said("cpu.reload", "sharers", "");
	expect_said("a.load", "sharers", "; it is now \"cores_per_thread\"");
	CU_ASSERT_PTR_NULL(renamed_key("metric", "sharers"));
}

static void test_blocks(void)
{
	CU_ASSERT_STRING_EQUAL(renamed_key_of_block("host0.hca.why"), "latency");
	CU_ASSERT_STRING_EQUAL(renamed_key_of_block("*.why"), "latency");
	CU_ASSERT_STRING_EQUAL(renamed_key_of_counter("why.pacing"), "latency");
	CU_ASSERT_PTR_NULL(renamed_key_of_block("host0.why2"));
	CU_ASSERT_PTR_NULL(renamed_key_of_block("host0.anywhy"));
}

static void test_columns(void)
{
	CU_ASSERT_STRING_EQUAL(renamed_key_of_column("load.sharers"), "cores_per_thread");
	CU_ASSERT_STRING_EQUAL(renamed_key_of_column("a.load.sharers"), "cores_per_thread");
	CU_ASSERT_STRING_EQUAL(renamed_key_of_column("rival_mops"), "background_mops");
	CU_ASSERT_PTR_NULL(renamed_key_of_column("overload.sharers"));
	CU_ASSERT_PTR_NULL(renamed_key_of_column("load.cores_per_thread"));
}

static void test_hints(void)
{
	static const char *const names[] = {"bytes", "depth"};
	char hint[64];
	renamed_key_hint("size", "byte", names, 2, hint, sizeof(hint));
	CU_ASSERT_STRING_EQUAL(hint, "; it is now \"size\"");
	renamed_key_hint(NULL, "byte", names, 2, hint, sizeof(hint));
	CU_ASSERT_STRING_EQUAL(hint, "; did you mean \"bytes\"?");
	renamed_key_hint(NULL, "colour", names, 2, hint, sizeof(hint));
	CU_ASSERT_STRING_EQUAL(hint, "");
}

static void test_one_step(void)
{
	for (const struct renamed_key *key = renamed_keys; key->section; key++)
		CU_ASSERT_PTR_NULL(renamed_key(key->section, key->now));
}
