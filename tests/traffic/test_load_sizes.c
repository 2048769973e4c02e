/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a load whose messages have a list of sizes in turn (load.bytes). With one message at a
 * time, the round trips are exactly the round trips of each size alone. Counts the WQE blocks and
 * the payload of such a list. A list of equal sizes is one size. Each verb and transport ends.
 * Lists that cannot be posted are refused with the reason.
 */
#include <string.h>

#include "tests/hcasim/support/one_load.h"
#include "tests/support/suite.h"

#define TESTS(TEST)       \
	TEST(round_trips) \
	TEST(blocks)      \
	TEST(payload)     \
	TEST(equal_sizes) \
	TEST(all_verbs)   \
	TEST(refused)     \
	TEST(parse_and_print)
SUITE(TESTS)

static const struct param *find(const char *name)
{
	for (const struct param *param = load_param_list; param->name; param++)
		if (strcmp(param->name, name) == 0)
			return param;
	CU_FAIL_FATAL("no such parameter");
	return NULL;
}

static void set(const char *name, const char *text)
{
	char error[256] = "";

	CU_ASSERT_TRUE_FATAL(param_parse(find(name), text, &setup.load, error, sizeof(error)));
}

static void begin(const char *sizes)
{
	load_setup_default(&setup);
	setup.load.topology = LOAD_CABLE;
	setup.load.warm_up = 30;
	setup.load.operations = 300;
	set("bytes", sizes);
}

static double round_trip(const char *verb, const char *sizes)
{
	begin(sizes);
	set("verb", verb);
	set("tx_depth", "1");
	measure();
	return result.mean_ns;
}

/* The measurement covers the list a hundred times. */
static void test_round_trips(void)
{
	static const char *const verbs[] = {"write", "read", "send"};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		double alone = (round_trip(verbs[i], "64B") + round_trip(verbs[i], "64KiB") +
				round_trip(verbs[i], "1KiB")) /
			       3;

		CU_ASSERT_DOUBLE_EQUAL(round_trip(verbs[i], "[64B, 64KiB, 1KiB]"), alone, 1e-6);
		CU_ASSERT_DOUBLE_EQUAL(result.mops * alone, 1000, 1e-6);
		CU_ASSERT_DOUBLE_EQUAL(result.gbps, 66624 * 8 / 3.0 / alone, 1e-9);
	}
}

/* 16 + 16 + 4 B and the data, in blocks of 64 B: 1, 3, 6 and 1. Posted by doorbell, so that they
 * are read. Each queue pair begins with the first size. */
static void test_blocks(void)
{
	begin("[8B, 100B, 300B, 0B]");
	set("inline_data", "true");
	set("posting", "doorbell");
	set("tx_depth", "1");
	setup.counter = "wqe_fetch.read_blocks";
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 11 / 4.0, 1e-9);
	set("tx_depth", "37");
	set("cq_mod", "5");
	set("qps", "3");
	setup.load.operations = 12000;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 11 / 4.0, 0.02); /* some more have been read */
	setup.counter = NULL;
}

/* The link carries 64 KiB in packets of 4 KiB with 26 + 4 B, the first with 16 B more, and 64 B in
 * one packet. */
static void test_payload(void)
{
	begin("[64KiB, 64B]");
	set("tx_depth", "16");
	setup.load.warm_up = 100;
	setup.load.operations = 2000;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.gbps, result.mops * 65600 / 2 * 8 / 1000,
			       result.gbps * 0.001);
	CU_ASSERT_DOUBLE_EQUAL(result.gbps / 100, 65600.0 / (16 * (4096 + 26) + 16 + 64 + 26 + 16),
			       0.002);
}

static void test_equal_sizes(void)
{
	static const char *const lists[] = {"5000B", "[5000B]", "[5000B, 5000B, 5000B]"};
	struct load_result first;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		begin(lists[i]);
		set("tx_depth", "37");
		set("qps", "3");
		set("cq_mod", "5");
		set("inline_data", "false");
		measure();
		if (i == 0)
			first = result;
#define SAME(name, unit, meaning) CU_ASSERT_EQUAL(result.name, first.name);
		LOAD_METRICS(SAME)
	}
}

static void test_all_verbs(void)
{
	static const struct {
		const char *verb, *transport, *sizes, *inline_data;
	} rows[] = {{"write", "rc", "[0B, 64B, 9000B]", "false"},
		    {"read", "rc", "[8B, 64KiB]", "false"},
		    {"send", "rc", "[0B, 64B, 9000B, 1B, 4096B]", "false"},
		    {"write", "uc", "[8B, 200B, 1B]", "true"},
		    {"send", "uc", "[8B, 200B, 1B]", "true"},
		    {"send", "ud", "[8B, 200B, 0B, 1B]", "true"},
		    {"send", "ud", "[0B, 4096B]", "false"},
		    {"write", "dc", "[64KiB, 8B]", "false"},
		    {"read", "dc", "[64KiB, 8B]", "false"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(rows[i].sizes);
		set("verb", rows[i].verb);
		set("transport", rows[i].transport);
		set("inline_data", rows[i].inline_data);
		set("tx_depth", "37");
		set("cq_mod", "5");
		set("qps", "2");
		setup.load.operations = 3000;
		measure();
		CU_ASSERT_TRUE(result.gbps > 0);
	}
}

static void test_refused(void)
{
	begin("[8B, 64B]");
	set("verb", "fetch_add");
	refuse("verb fetch_add needs bytes 8");
	begin("[8B, 2KiB]");
	set("inline_data", "true");
	refuse("2048 B are too many for inline_data; set inline_data: false, or reduce bytes");
	begin("[64B, 65B]");
	set("verb", "send");
	set("receive_sges", "[64B]");
	refuse("receive_sges have room for 64 B; expected at least 65 B");
	begin("[32B, 64B]");
	set("pattern", "inbound");
	setup.load.server.cores = 1;
	refuse("server.cores needs bytes of one size");
}

static void test_parse_and_print(void)
{
	const struct param *bytes = find("bytes");
	struct load_params params;
	char error[256] = "", many[33 * 10 + 1] = "", text[PARAM_TEXT_BYTES];

	load_params_default(&params);
	param_print(bytes, &params, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "64B");
	CU_ASSERT_TRUE(param_parse(bytes, "[64B]", &params, error, sizeof(error)));
	param_print(bytes, &params, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "64B");
	CU_ASSERT_TRUE(param_parse(bytes, "[64B, 64KiB]", &params, error, sizeof(error)));
	param_print(bytes, &params, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "[64B, 64KiB]");
	CU_ASSERT_FALSE(param_parse(bytes, "[]", &params, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "an empty list; expected a size, or a list of at most 32 "
				      "sizes: [64B, 64KiB]");
	for (size_t i = 0; i < 32; i++)
		snprintf(many + i * 10, sizeof(many) - i * 10, "67108863B ");
	CU_ASSERT_TRUE(param_parse(bytes, many, &params, error, sizeof(error)));
	param_print(bytes, &params, text, sizeof(text));
	CU_ASSERT_EQUAL(strlen(text), 2 + 32 * 9 + 31 * 2);
	snprintf(many + 320, sizeof(many) - 320, "1B");
	CU_ASSERT_FALSE(param_parse(bytes, many, &params, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "too many sizes; expected a size, or a list of at most 32 "
				      "sizes: [64B, 64KiB]");
}
