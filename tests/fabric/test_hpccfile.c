/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reader of the HPCC study's topology files. Nodes, names, ports, rates and lengths are
 * exact. Each kind of mistake is refused with its line.
 */
#include <string.h>

#include "fabric/hpccfile.h"
#include "tests/support/suite.h"

#define TESTS(TEST) \
	TEST(read)  \
	TEST(refused)
SUITE(TESTS)

static struct layout layout;
static char error[256];

static bool read_text(const char *text)
{
	layout_fini(&layout);
	error[0] = 0;
	return hpccfile_read(&layout, text, strlen(text), error, sizeof(error));
}

static void test_read(void)
{
	CU_ASSERT_TRUE(read_text("5 2 4\n3 4\n0 3 100Gbps 1us 0.000000\n1 3 25Gbps 1000ns 0\n"
				 "2 4 100Gbps 0.001ms 0\n3 4 400Gbps 50ns 0\n"));
	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_EQUAL(layout.node_count, 5);
	CU_ASSERT_EQUAL(layout.link_count, 4);
	CU_ASSERT_EQUAL(layout_hosts(&layout), 3);
	CU_ASSERT_STRING_EQUAL(layout.nodes[2].name, "host2");
	CU_ASSERT_STRING_EQUAL(layout.nodes[3].name, "switch0");
	CU_ASSERT_TRUE(layout.nodes[3].is_switch);
	CU_ASSERT_EQUAL(layout.nodes[3].ports, 3);
	CU_ASSERT_EQUAL(layout.nodes[4].ports, 2);
	CU_ASSERT_EQUAL(layout.links[1].rate_bps, UINT64_C(25000000000));
	CU_ASSERT_EQUAL(layout.links[1].other_port, 1);
	CU_ASSERT_EQUAL(layout.links[0].metres, 200);
	CU_ASSERT_EQUAL(layout.links[2].metres, 200);
	CU_ASSERT_EQUAL(layout.links[3].metres, 10);
	CU_ASSERT_EQUAL(layout.links[3].one, 3);
	CU_ASSERT_EQUAL(layout.links[3].one_port, 2);
	layout_fini(&layout);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"", "line 1: the file ends; expected the number of nodes"},
		{"1 0 1", "line 1: found 1; expected the number of nodes, 2 to 200000"},
		{"3 1 2\n5\n", "line 2: found 5; expected the number of a switch, 0 to 2"},
		{"3 1 2\n0\n", "line 2: switch 0 has a lower number than a host; expected hosts 0 "
			       "to 1, then switches"},
		{"3 1 2\n2\n0 2 100Gbps 1us 0\n", "line 4: the file ends; expected the number of "
						  "a node"},
		{"3 1 2\n2\n0 2 fast 1us 0\n", "line 3: \"fast\" is not a number; expected a rate"},
		{"3 1 2\n2\n0 2 100Gbps 1us 0.01\n",
		 "line 3: error rate 0.01; expected 0, and `faults` in the scenario"},
		{"3 1 2\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n",
		 "line 4: node 0 has more than 1 link"},
		{"3 1 2\n2\n2 2 100Gbps 1us 0\n", "line 3: a link from node 2 to itself"},
		{"3 2 2\n2 2\n", "line 2: switch 2 is listed twice"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_FALSE(read_text(cases[i].text));
		CU_ASSERT_EQUAL(strncmp(error, cases[i].error, strlen(cases[i].error)), 0);
		if (strncmp(error, cases[i].error, strlen(cases[i].error)) != 0)
			printf("[%s] ", error);
	}
	layout_fini(&layout);
}
