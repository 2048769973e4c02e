/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that each kind of parameter reads exactly its text (units, ranges, no rounding, no
 * overflow). A refused value changes nothing, and a printed value reads back as the same value.
 */
#include <string.h>

#include "sim/block.h"
#include "tests/support/suite.h"

#define TESTS(TEST)    \
	TEST(defaults) \
	TEST(whole)    \
	TEST(real)     \
	TEST(names)    \
	TEST(wrong)    \
	TEST(print_any)
SUITE(TESTS)

/* clang-format off */
#define ALL_PARAMS(X) \
	X(count,  COUNT,  "7",       "",               "any",      "choice") \
	X(few,    COUNT,  "1",       "1..64",          "bounded",  "choice") \
	X(mtu,    COUNT,  "4096",    "256|512|1024|2048|4096", "listed", "choice") \
	X(time,   TIME,   "1us",     "",               "any",      "choice") \
	X(bytes,  BYTES,  "64KiB",   "",               "any",      "choice") \
	X(rate,   RATE,   "100Gbps", "1Mbps..3.2Tbps", "bounded",  "choice") \
	X(freq,   FREQ,   "1GHz",    "",               "any",      "choice") \
	X(metres, METRES, "0.5m",    "0m..100km",      "bounded",  "choice") \
	X(ratio,  RATIO,  "1%",      "0..1",           "bounded",  "choice") \
	X(flag,   FLAG,   "true",    "",               "any",      "choice") \
	X(choice, CHOICE, "b",       "a|b|long_c",     "any",      "choice")
struct all_params { ALL_PARAMS(PARAM_FIELD) };
#define ROW(...) PARAM_ROW(struct all_params, __VA_ARGS__)
static const struct param list[] = { ALL_PARAMS(ROW) {0} };

/* whole-number kinds: text, value, and how it is printed */
static const struct { const char *name, *text; uint64_t value; const char *printed; } whole[] = {
	{"count", "0",                     0,                          "0"},
	{"count", "0x1f",                  31,                         "31"},
	{"count", "18446744073709551615",  UINT64_MAX,                 "18446744073709551615"},
	{"count", "2.0",                   2,                          "2"},
	{"count", "1e3",                   1000,                       "1000"},
	{"count", "1.25E+2",               125,                        "125"},
	{"count", "18446744073709551615e0", UINT64_MAX,                "18446744073709551615"},
	{"count", "0e99",                  0,                          "0"},
	{"time",  "25e-1us",               2500 * NS,                  "2.5us"},
	{"time",  "0.00000000000000000000000000000", 0,                "0ps"},
	{"time",  "2305843.009213693951s", SIM_NEVER,                  "2305843.009213693951s"},
	{"mtu",   "1024",                  1024,                       "1024"},
	{"time",  "4.096us",               4096 * NS,                  "4.096us"},
	{"time",  "4.096 us",              4096 * NS,                  "4.096us"},
	{"time",  "0",                     0,                          "0ps"},
	{"time",  "1ps",                   1,                          "1ps"},
	{"time",  "0.001ns",               1,                          "1ps"},
	{"time",  "1000ns",                US,                         "1us"},
	{"time",  "1.000000000001s",       SEC + 1,                    "1.000000000001s"},
	{"time",  "67.108864ms",           UINT64_C(67108864000),      "67.108864ms"},
	{"bytes", "64KiB",                 65536,                      "64KiB"},
	{"bytes", "1.5KiB",                1536,                       "1536B"},
	{"bytes", "1MB",                   1000000,                    "1000000B"},
	{"bytes", "3GiB",                  UINT64_C(3) << 30,          "3GiB"},
	{"rate",  "25.78125Gbps",          UINT64_C(25781250000),      "25.78125Gbps"},
	{"rate",  "3.2Tbps",               UINT64_C(3200000000000),    "3.2Tbps"},
	{"rate",  "1000Kbps",              1000000,                    "1Mbps"},
	{"freq",  "322.265625MHz",         UINT64_C(322265625),        "322.265625MHz"},
};

static const struct { const char *name, *text; double value; const char *printed; } real[] = {
	{"metres", "0.5m",   0.5,    "0.5m"},
	{"metres", "30cm",   0.3,    "0.3m"},
	{"metres", "2 km",   2000,   "2000m"},
	{"metres", "0",      0,      "0m"},
	{"ratio",  "1%",     0.01,   "0.01"},
	{"ratio",  "0.1",    0.1,    "0.1"},
	{"ratio",  "1e-6",   1e-6,   "1e-06"},
	{"ratio",  "100 %",  1,      "1"},
	{"ratio",  "-0",     0,      "0"},
};

static const struct { const char *name, *text, *error; } wrong[] = {
	{"count",  "",        "\"\" is not a number; expected a whole number"},
	{"count",  "-1",      "\"-1\" is negative; expected a whole number"},
	{"count",  "1.5",     "\"1.5\" is not a whole number; expected a whole number"},
	{"count",  "12x",     "\"12x\" has \"x\" after the number; expected a whole number"},
	{"count",  "0x",      "\"0x\" is not a number; expected a whole number"},
	{"count",  "0x12345678123456789",
	 "\"0x12345678123456789\" is too large; expected a whole number (0..18446744073709551615)"},
	{"count",  "1e",      "\"1e\" has \"e\" after the number; expected a whole number"},
	{"count",  "1e-3",    "\"1e-3\" is not a whole number; expected a whole number"},
	{"count",  "1e-40",   "\"1e-40\" has too many digits; expected a whole number"},
	{"count",  "0.11111111111111111111111111",
	 "\"0.11111111111111111111111111\" has too many digits; expected a whole number"},
	{"count",  "18446744073709551616",
	 "\"18446744073709551616\" is too large; expected a whole number "
	 "(0..18446744073709551615)"},
	{"count",  "99999999999999999999999999",
	 "\"99999999999999999999999999\" is too large; expected a whole number "
	 "(0..18446744073709551615)"},
	{"count",  "1e20",    "\"1e20\" is too large; expected a whole number "
	 "(0..18446744073709551615)"},
	{"count",  "1e999999999999999999999",
	 "\"1e999999999999999999999\" is too large; expected a whole number "
	 "(0..18446744073709551615)"},
	{"few",    "1e30",    "\"1e30\" is too large; expected a whole number (1..64)"},
	{"few",    "0",       "\"0\" is out of range; expected a whole number (1..64)"},
	{"few",    "65",      "\"65\" is out of range; expected a whole number (1..64)"},
	{"mtu",    "1500",    "\"1500\" is out of range; expected a whole number "
	 "(256|512|1024|2048|4096)"},
	{"time",   "5",       "\"5\" has no unit; expected a time: ps, ns, us, ms, s"},
	{"time",   "5us3",    "\"5us3\" has the unknown unit \"us3\"; expected a time: ps, ns, us, "
	 "ms, s"},
	{"time",   "5US",     "\"5US\" has the unit \"US\": did you mean \"us\"?; expected a time: "
	 "ps, ns, us, ms, s"},
	{"time",   "0.3ps",   "\"0.3ps\" is not a whole number of ps; expected a time: ps, ns, us, "
	 "ms, s"},
	{"time",   "18446744073709551615s",
	 "\"18446744073709551615s\" is too large; expected a time: ps, ns, us, ms, s "
	 "(0..2305843.009213693951s)"},
	{"time",   "2305843.009213693952s",
	 "\"2305843.009213693952s\" is too large; expected a time: ps, ns, us, ms, s "
	 "(0..2305843.009213693951s)"},
	{"bytes",  "1e30GB",  "\"1e30GB\" is too large; expected a size: B, KiB, MiB, GiB, KB, MB, "
	 "GB (0..18446744073709551615B)"},
	{"bytes",  "1e30gB",  "\"1e30gB\" has the unit \"gB\": did you mean \"GB\"?; expected a "
	 "size: B, KiB, MiB, GiB, KB, MB, GB"},
	{"time",   "1.",      "\"1.\" is not a number; expected a time: ps, ns, us, ms, s"},
	{"time",   ".",       "\".\" is not a number; expected a time: ps, ns, us, ms, s"},
	{"bytes",  "1.3KiB",  "\"1.3KiB\" is not a whole number of B; expected a size: B, KiB, "
	 "MiB, GiB, KB, MB, GB"},
	{"bytes",  "0x",      "\"0x\" has the unknown unit \"x\"; expected a size: B, KiB, MiB, "
	 "GiB, KB, MB, GB"},
	{"rate",   "100gbps", "\"100gbps\" has the unit \"gbps\": did you mean \"Gbps\"?; expected "
	 "a rate: bps, Kbps, Mbps, Gbps, Tbps (1Mbps..3.2Tbps)"},
	{"rate",   "4Tbps",   "\"4Tbps\" is out of range; expected a rate: bps, Kbps, Mbps, Gbps, "
	 "Tbps (1Mbps..3.2Tbps)"},
	{"metres", "1",       "\"1\" has no unit; expected a length: m, cm, km (0m..100km)"},
	{"metres", "3ft",     "\"3ft\" has the unknown unit \"ft\"; expected a length: m, cm, km "
	 "(0m..100km)"},
	{"metres", "-1m",     "\"-1m\" is out of range; expected a length: m, cm, km (0m..100km)"},
	{"ratio",  "nan",     "\"nan\" is not a number; expected a number, or a percentage with % "
	 "(0..1)"},
	{"metres", "1e400km", "\"1e400km\" is too large; expected a length: m, cm, km (0m..100km)"},
	{"ratio",  "1e999",   "\"1e999\" is too large; expected a number, or a percentage with % "
	 "(0..1)"},
	{"ratio",  "1.2.3",   "\"1.2.3\" is not a number; expected a number, or a percentage with "
	 "% (0..1)"},
	{"ratio",  "101%",    "\"101%\" is out of range; expected a number, or a percentage with % "
	 "(0..1)"},
	{"flag",   "yes",     "\"yes\" is neither; expected true or false"},
	{"choice", "c",       "\"c\" is not one of the choices; expected one of a|b|long_c"},
	{"choice", "",        "\"\" is not one of the choices; expected one of a|b|long_c"},
	{"choice", "a|b",     "\"a|b\" is not one of the choices; expected one of a|b|long_c"},
};
/* clang-format on */

static const struct param *find(const char *name)
{
	const struct param *param = list;
	while (strcmp(param->name, name) != 0)
		param++;
	return param;
}

static void test_defaults(void)
{
	struct all_params params;
	memset(&params, 0xff, sizeof(params));
	params_default(list, &params);
	CU_ASSERT_EQUAL(params.count, 7);
	CU_ASSERT_EQUAL(params.time, US);
	CU_ASSERT_EQUAL(params.bytes, 65536);
	CU_ASSERT_EQUAL(params.rate, UINT64_C(100000000000));
	CU_ASSERT_EQUAL(params.freq, 1000000000);
	CU_ASSERT_EQUAL(params.metres, 0.5);
	CU_ASSERT_EQUAL(params.ratio, 0.01);
	CU_ASSERT_TRUE(params.flag);
	CU_ASSERT_EQUAL(params.choice, 1);
}

static void check_reads_back(const struct param *param, const char *text, const char *printed,
			     struct all_params *params)
{
	char error[256] = "", shown[64];
	struct all_params again;
	memset(&again, 0, sizeof(again));
	CU_ASSERT_TRUE(param_parse(param, text, params, error, sizeof(error)));
	param_print(param, params, shown, sizeof(shown));
	CU_ASSERT_STRING_EQUAL(shown, printed);
	CU_ASSERT_TRUE(param_parse(param, shown, &again, error, sizeof(error)));
	CU_ASSERT_EQUAL(memcmp(params, &again, sizeof(again)), 0);
}

static void test_whole(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		struct all_params params;
		uint64_t value = 0;
		const struct param *param = find(whole[i].name);
		memset(&params, 0, sizeof(params));
		check_reads_back(param, whole[i].text, whole[i].printed, &params);
		memcpy(&value, (char *)&params + param->offset, sizeof(value));
		CU_ASSERT_EQUAL(value, whole[i].value);
	}
}

static void test_real(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(real); i++) {
		struct all_params params;
		double value = -1;
		const struct param *param = find(real[i].name);
		memset(&params, 0, sizeof(params));
		check_reads_back(param, real[i].text, real[i].printed, &params);
		memcpy(&value, (char *)&params + param->offset, sizeof(value));
		CU_ASSERT_EQUAL(value, real[i].value);
	}
}

static void test_names(void)
{
	struct all_params params;
	memset(&params, 0, sizeof(params));
	check_reads_back(find("flag"), "true", "true", &params);
	CU_ASSERT_TRUE(params.flag);
	check_reads_back(find("flag"), "false", "false", &params);
	CU_ASSERT_FALSE(params.flag);
	check_reads_back(find("choice"), "long_c", "long_c", &params);
	CU_ASSERT_EQUAL(params.choice, 2);
	check_reads_back(find("choice"), "a", "a", &params);
	CU_ASSERT_EQUAL(params.choice, 0);
}

static void test_wrong(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct all_params params, before;
		char error[256] = "";
		memset(&params, 0x5a, sizeof(params));
		before = params;
		CU_ASSERT_FALSE(param_parse(find(wrong[i].name), wrong[i].text, &params, error,
					    sizeof(error)));
		CU_ASSERT_STRING_EQUAL(error, wrong[i].error);
		if (strcmp(error, wrong[i].error) != 0)
			printf("\n%s", error);
		CU_ASSERT_EQUAL(memcmp(&params, &before, sizeof(before)), 0);
	}
}

/* No value of 64 bits may be lost between printing and reading, with any unit. */
static void test_print_any(void)
{
	uint64_t state = 1;
	for (int i = 0; i < 20000; i++) {
		struct all_params params, again;
		char text[64], error[256];
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		memset(&params, 0, sizeof(params));
		memset(&again, 0, sizeof(again));
		params.bytes = state >> (state & 63);
		params.time = params.bytes % SIM_NEVER;
		param_print(find("bytes"), &params, text, sizeof(text));
		CU_ASSERT_TRUE(param_parse(find("bytes"), text, &again, error, sizeof(error)));
		param_print(find("time"), &params, text, sizeof(text));
		CU_ASSERT_TRUE(param_parse(find("time"), text, &again, error, sizeof(error)));
		CU_ASSERT_EQUAL(memcmp(&params, &again, sizeof(again)), 0);
	}
}
