/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that each error in a user's YAML is reported at its exact file:line:column, all of them in
 * one run. YAML features that scenarios do not support are refused by name.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/block.h"
#include "sim/yaml.h"
#include "tests/support/suite.h"

#define TESTS(TEST)           \
	TEST(texts)           \
	TEST(maps)            \
	TEST(tree)            \
	TEST(override_groups) \
	TEST(files)           \
	TEST(depth)           \
	TEST(suggest)
SUITE(TESTS)

/* clang-format off */
#define PIPE_PARAMS(X) \
	X(rate,   RATE,   "100Gbps", "1Mbps..3.2Tbps", "data rate", "choice") \
	X(delay,  TIME,   "5ns",     "..1ms",          "delay",     "choice") \
	X(depth,  COUNT,  "8",       "1..64",          "entries",   "choice") \
	X(policy, CHOICE, "drop",    "drop|stall",     "when full", "choice")
struct pipe_params { PIPE_PARAMS(PARAM_FIELD) };
#define ROW(...) PARAM_ROW(struct pipe_params, __VA_ARGS__)
static const struct param pipe_list[] = { PIPE_PARAMS(ROW) {0} };

struct pair_params { struct pipe_params left, right; };
static const struct param_section pair_sections[] = {
	{"left",  pipe_list, offsetof(struct pair_params, left),  "the left pipe"},
	{"right", pipe_list, offsetof(struct pair_params, right), "the right pipe"},
	{0}};

/* Returns the messages of the reader for the text, or "" for a valid text. */
static const struct { const char *text, *errors; } texts[] = {
	{"", ""},
	{"a: 1\n", ""},
	{"# only a comment\n", ""},
	{"a: 1\nb: 2\na: 3\n",        "t.yaml:3:1: \"a\" is defined twice; first on line 1\n"},
	{"a: {b: 1,\n  c: 2,\n  b: 3}\n", "t.yaml:3:3: \"b\" is defined twice; first on line 1\n"},
	{"a: &x 1\n",
	 "t.yaml:1:4: anchors (&name) and aliases (*name) are not allowed; write it out\n"},
	{"a: &x 1\nb: *x\n",
	 "t.yaml:1:4: anchors (&name) and aliases (*name) are not allowed; write it out\n"
	 "t.yaml:2:4: anchors (&name) and aliases (*name) are not allowed; write it out\n"},
	{"a: !!int 3\n",              "t.yaml:1:4: tags (!name) are not allowed\n"},
	{"a: !secret [1]\nb: !x {c: 1}\n",
	 "t.yaml:1:4: tags (!name) are not allowed\nt.yaml:2:4: tags (!name) are not allowed\n"},
	{"<<: {a: 1}\n",              "t.yaml:1:1: merge keys (<<) are not allowed; write it "
	 "out\n"},
	{"[a, b]: 1\n",               "t.yaml:1:1: a key must be a plain text\n"},
	{"~: 1\n",                    "t.yaml:1:1: a key is missing before the colon\n"},
	{"a: 1\n---\nb: 2\n",         "t.yaml:2:1: a second document (---) is not allowed\n"},
	{"a: [1, 2\nb: 3\n",
	 "t.yaml:2:2: not YAML: did not find expected ',' or ']', while parsing a flow sequence\n"},
	{"a:\n\tb: 1\n",
	 "t.yaml:2:1: not YAML: found character that cannot start any token, while scanning for "
	 "the next token"
	 " (YAML is indented with blanks, not with tabs)\n"},
	{"a: b: c\n",                 "t.yaml:1:5: not YAML: mapping values are not allowed in "
	 "this context\n"},
	{"a: \"x\\0y\"\n",            "t.yaml:1:4: a text must not contain a zero byte\n"},
};

/* Returns the messages of reading {rate, delay, depth, policy} from the text. */
static const struct { const char *text, *errors; } maps[] = {
	{"rate: 25Gbps\n", ""},
	{"rat: 25Gbps\n",             "t.yaml:1:1: unknown key \"rat\"; did you mean \"rate\"?\n"},
	{"depth: 4\nPolicy: drop\n",  "t.yaml:2:1: unknown key \"Policy\"; did you mean "
	 "\"policy\"?\n"},
	{"zzzzzz: 1\n",
	 "t.yaml:1:1: unknown key \"zzzzzz\"; expected rate, delay, depth or policy\n"},
	{"rate: 25\n",
	 "t.yaml:1:7: rate: \"25\" has no unit; expected a rate: bps, Kbps, Mbps, Gbps, Tbps "
	 "(1Mbps..3.2Tbps)\n"},
	{"depth:\n  - 1\n",           "t.yaml:2:3: depth: found a list; expected a whole number\n"},
	{"depth:\n",                  "t.yaml:1:7: depth: found nothing; expected a whole "
	 "number\n"},
	{"policy: stal\n",            "t.yaml:1:9: policy: \"stal\" is not one of the choices "
	 "(did you mean \"stall\"?); expected one of drop|stall\n"},
	{"delay: 2ms\ndepth: 0\nrate: fast\n",
	 "t.yaml:3:7: rate: \"fast\" is not a number; expected a rate: bps, Kbps, Mbps, Gbps, Tbps "
	 "(1Mbps..3.2Tbps)\n"
	 "t.yaml:1:8: delay: \"2ms\" is out of range; expected a time: ps, ns, us, ms, s (..1ms)\n"
	 "t.yaml:2:8: depth: \"0\" is out of range; expected a whole number (1..64)\n"},
	{"- 1\n",                     "t.yaml:1:1: found a list; expected parameters, as a map "
	 "(key: value)\n"},
};
/* clang-format on */

static const char *text_of(struct yaml_errors *errors)
{
	return yaml_errors_text(errors) != NULL ? yaml_errors_text(errors) : "";
}

static void test_texts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct yaml_errors errors = {0};
		struct yaml_document *document = yaml_read_text("t.yaml", texts[i].text, &errors);
		CU_ASSERT_STRING_EQUAL(text_of(&errors), texts[i].errors);
		if (strcmp(text_of(&errors), texts[i].errors) != 0)
			printf("\n%s-> %s", texts[i].text, text_of(&errors));
		CU_ASSERT_EQUAL(document == NULL, *texts[i].errors != '\0');
		yaml_close(document);
		yaml_errors_free(&errors);
	}
}

static void test_maps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct yaml_errors errors = {0};
		struct pipe_params params;
		struct yaml_document *document = yaml_read_text("t.yaml", maps[i].text, &errors);
		CU_ASSERT_PTR_NOT_NULL_FATAL(document);
		yaml_read_params(yaml_root(document), pipe_list, &params, &errors);
		CU_ASSERT_STRING_EQUAL(text_of(&errors), maps[i].errors);
		if (strcmp(text_of(&errors), maps[i].errors) != 0)
			printf("\n%s-> %s", maps[i].text, text_of(&errors));
		yaml_close(document);
		yaml_errors_free(&errors);
	}
}

static void test_tree(void)
{
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_text(
		"t.yaml", "one: 1\ntwo:\n  - x\n  - \"7\"\n  - ~\nthree: {}\n", &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	struct yaml_node *root = yaml_root(document), *two = yaml_get(root, "two");
	CU_ASSERT_EQUAL(root->kind, YAML_MAP);
	CU_ASSERT_PTR_NOT_NULL_FATAL(two);
	CU_ASSERT_EQUAL(two->kind, YAML_LIST);
	CU_ASSERT_EQUAL(two->key_line, 2);
	CU_ASSERT_EQUAL(two->key_column, 1);
	CU_ASSERT_PTR_EQUAL(two->parent, root);
	CU_ASSERT_STRING_EQUAL(two->children->text, "x");
	CU_ASSERT_EQUAL(two->children->line, 3);
	CU_ASSERT_EQUAL(two->children->column, 5);
	CU_ASSERT_FALSE(two->children->quoted);
	CU_ASSERT_TRUE(two->children->next->quoted);
	CU_ASSERT_EQUAL(two->children->next->next->kind, YAML_NULL);
	CU_ASSERT_TRUE(two->used);
	CU_ASSERT_PTR_NULL(yaml_get(root, "four"));
	CU_ASSERT_PTR_NULL(yaml_get(two, "one"));
	const char *const known[] = {"two"};
	yaml_refuse_unused(root, known, 1, &errors);
	CU_ASSERT_STRING_EQUAL(text_of(&errors),
			       "t.yaml:1:1: unknown key \"one\"; expected two\n"
			       "t.yaml:6:1: unknown key \"three\"; expected two\n");
	yaml_errors_free(&errors);
	yaml_close(document);
}

static void test_override_groups(void)
{
	struct yaml_errors errors = {0};
	struct pair_params pair;
	struct yaml_document *document = yaml_read_text(
		"t.yaml", "left: {depth: 9}\nright:\n  dept: 3\n  delay: 7ns\nother: 1\n", &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(document);
	params_default(pipe_list, &pair.left);
	params_default(pipe_list, &pair.right);
	yaml_override_sections(yaml_root(document), pair_sections, &pair, &errors);
	CU_ASSERT_EQUAL(pair.left.depth, 9);
	CU_ASSERT_EQUAL(pair.left.delay, 5 * NS);
	CU_ASSERT_EQUAL(pair.right.depth, 8);
	CU_ASSERT_EQUAL(pair.right.delay, 7 * NS);
	CU_ASSERT_STRING_EQUAL(text_of(&errors),
			       "t.yaml:3:3: unknown key \"dept\"; did you mean \"depth\"?\n");
	CU_ASSERT_FALSE(yaml_root(document)->children->next->next->used);
	yaml_errors_free(&errors);
	yaml_close(document);
}

static void test_files(void)
{
	struct yaml_errors errors = {0};
	CU_ASSERT_PTR_NULL(yaml_read_file("/nonexistent/s.yaml", &errors));
	CU_ASSERT_PTR_NULL(yaml_read_file("/", &errors));
	CU_ASSERT_STRING_EQUAL(text_of(&errors),
			       "/nonexistent/s.yaml: cannot be read: No such file or directory\n"
			       "/: cannot be read: Is a directory\n");
	CU_ASSERT_EQUAL(errors.count, 2);
	yaml_errors_free(&errors);
	CU_ASSERT_PTR_NULL(yaml_read_text("t.yaml", "a: \xff\n", &errors));
	CU_ASSERT_EQUAL(errors.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(text_of(&errors), "not a text in UTF-8"));
	yaml_errors_free(&errors);
}

static void test_depth(void)
{
	char text[300];
	struct yaml_errors errors = {0};
	memset(text, '[', 200);
	text[200] = '\0';
	CU_ASSERT_PTR_NULL(yaml_read_text("t.yaml", text, &errors));
	CU_ASSERT_STRING_EQUAL(text_of(&errors), "t.yaml:1:66: nested too deeply\n");
	yaml_errors_free(&errors);
}

static void test_suggest(void)
{
	static const char *const words[] = {"hosts", "links", "switches", "seed", "qpc_cache"};
	CU_ASSERT_STRING_EQUAL(yaml_suggest("host", words, ARRAY_SIZE(words)), "hosts");
	CU_ASSERT_STRING_EQUAL(yaml_suggest("siwtches", words, ARRAY_SIZE(words)), "switches");
	CU_ASSERT_STRING_EQUAL(yaml_suggest("QPC-Cache", words, ARRAY_SIZE(words)), "qpc_cache");
	CU_ASSERT_PTR_NULL(yaml_suggest("fabric", words, ARRAY_SIZE(words)));
	CU_ASSERT_PTR_NULL(yaml_suggest("", words, ARRAY_SIZE(words)));
	CU_ASSERT_PTR_NULL(yaml_suggest("host", words, 0));

	/* a synonym, whose letters are less similar than another name's */
	static const char *const names[] = {"scatter_segments", "response_units", "read_delay",
					    "unit_bytes"};
	CU_ASSERT_STRING_EQUAL(yaml_suggest("answer_units", names, ARRAY_SIZE(names)),
			       "response_units");
	CU_ASSERT_STRING_EQUAL(yaml_suggest("Reply-units", names, ARRAY_SIZE(names)),
			       "response_units");
	CU_ASSERT_STRING_EQUAL(yaml_suggest("read_latency", names, ARRAY_SIZE(names)),
			       "read_delay");
	CU_ASSERT_STRING_EQUAL(yaml_suggest("unit_size", names, ARRAY_SIZE(names)), "unit_bytes");
}
