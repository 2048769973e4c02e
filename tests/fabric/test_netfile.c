/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reader of net files, with output of ibnetdiscover for two switches, four adapters and
 * one with two ports, and a file of ibsim. Ports, rates and machines are exact. A link named from
 * one end or both is one link. Each kind of mistake is refused with its line.
 */
#include <string.h>

#include "fabric/netfile.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(discovered) \
	TEST(described)  \
	TEST(simulated)  \
	TEST(refused)
SUITE(TESTS)

static struct layout layout;
static char error[256];

static bool read_text(const char *text)
{
	layout_fini(&layout);
	error[0] = 0;
	return netfile_read(&layout, text, strlen(text), error, sizeof(error));
}

static const char discovered[] =
	"#\n# Topology file: generated on a quiet day\n#\n"
	"# Initiated from node 0002c90300000010 port 0002c90300000011\n\n"
	"vendid=0x2c9\ndevid=0xc738\nsysimgguid=0x2c90300000003\n"
	"switchguid=0x2c90300000001(2c90300000001)\n"
	"Switch\t36 \"S-0002c90300000001\"\t\t# \"leaf one\" enhanced port 0 lid 3 lmc 0\n"
	"[1]\t\"H-0002c90300000010\"[1](2c90300000011) \t\t# \"node01 HCA-1\" lid 1 4xFDR\n"
	"[2]\t\"H-0002c90300000020\"[1](2c90300000021) \t\t# \"node02 HCA-1\" lid 2 4xQDR\n"
	"[36]\t\"S-0002c90300000002\"[35]\t\t# \"leaf two\" lid 4 12xEDR\n\n"
	"vendid=0x2c9\nswitchguid=0x2c90300000002(2c90300000002)\n"
	"Switch\t36 \"S-0002c90300000002\"\t\t# \"leaf two\" enhanced port 0 lid 4 lmc 0\n"
	"[35]\t\"S-0002c90300000001\"[36]\t\t# \"leaf one\" lid 3 12xEDR\n"
	"[7]\t\"H-0002c90300000020\"[2](2c90300000022) \t\t# \"node02 HCA-1\" lid 5 4xFDR\n\n"
	"vendid=0x2c9\ncaguid=0x2c90300000010\n"
	"Ca\t2 \"H-0002c90300000010\"\t\t# \"node01 HCA-1\"\n"
	"[1](2c90300000011) \t\"S-0002c90300000001\"[1]\t\t# lid 1 lmc 0 \"leaf one\" lid 3 "
	"4xFDR\n\n"
	"Ca\t2 \"H-0002c90300000020\"\t\t# \"node02 HCA-1\"\n"
	"[1](2c90300000021) \t\"S-0002c90300000001\"[2]\t\t# lid 2 lmc 0 \"leaf one\" lid 3 4xQDR\n"
	"[2](2c90300000022) \t\"S-0002c90300000002\"[7]\t\t# lid 5 lmc 0 \"leaf two\" lid 4 "
	"4xFDR\n";

static void test_discovered(void)
{
	CU_ASSERT_TRUE(read_text(discovered));
	CU_ASSERT_STRING_EQUAL(error, "");
	CU_ASSERT_EQUAL(layout.node_count, 5);
	CU_ASSERT_EQUAL(layout.link_count, 4);
	CU_ASSERT_EQUAL(layout_hosts(&layout), 3);
	CU_ASSERT_STRING_EQUAL(layout.nodes[0].name, "S-0002c90300000001");
	CU_ASSERT_EQUAL(layout.nodes[0].ports, 36);
	CU_ASSERT_TRUE(layout.nodes[1].is_switch);
	CU_ASSERT_STRING_EQUAL(layout.nodes[2].name, "node01");
	CU_ASSERT_STRING_EQUAL(layout.nodes[3].name, "node02");
	CU_ASSERT_STRING_EQUAL(layout.nodes[4].name, "node02-port2");
	CU_ASSERT_EQUAL(layout.nodes[4].host, layout.nodes[3].host); /* one machine, ... */
	CU_ASSERT_EQUAL(layout.nodes[4].rail, 1);                    /* ... its second port */
	CU_ASSERT_NOT_EQUAL(layout.nodes[3].host, layout.nodes[2].host);
	CU_ASSERT_EQUAL(layout.links[0].one, 0);
	CU_ASSERT_EQUAL(layout.links[0].one_port, 0);
	CU_ASSERT_EQUAL(layout.links[0].other, 2);
	CU_ASSERT_EQUAL(layout.links[0].rate_bps, UINT64_C(54545454545));
	CU_ASSERT_EQUAL(layout.links[1].rate_bps, UINT64_C(32000000000));
	CU_ASSERT_EQUAL(layout.links[2].one_port, 35);
	CU_ASSERT_EQUAL(layout.links[2].other_port, 34);
	CU_ASSERT_EQUAL(layout.links[2].rate_bps, UINT64_C(300000000000));
	CU_ASSERT_EQUAL(layout.links[3].one, 1);
	CU_ASSERT_EQUAL(layout.links[3].one_port, 6);
	CU_ASSERT_EQUAL(layout.links[3].other, 4);
}

/* Hosts are named by their adapters. A switch's own adapter is not a host. */
static void test_described(void)
{
	CU_ASSERT_TRUE(read_text(
		"Switch\t41 \"S-1\"\t# \"MF0;sw:MQM8700/U1\" enhanced port 0 lid 9 lmc 0\n"
		"[1]\t\"H-a\"[1](a1)\t# \"node01 mlx5_0\" lid 1 4xHDR\n"
		"[2]\t\"H-b\"[1](b1)\t# \"node02 mlx5_0\" lid 2 4xHDR\n"
		"[3]\t\"H-c\"[1](c1)\t# \"node02 mlx5_1\" lid 3 4xHDR\n"
		"[4]\t\"H-d\"[1](d1)\t# \"MT4123 ConnectX6   Mellanox Technologies\" lid 4 4xHDR\n"
		"[5]\t\"H-e\"[1](e1)\t# \"same mlx5_0\" lid 5 4xHDR\n"
		"[6]\t\"H-f\"[1](f1)\t# \"same mlx5_0\" lid 6 4xHDR\n"
		"[7]\t\"H-g\"[1](g1)\t# \"node.of.a.domain mlx5_0\" lid 7 4xHDR\n"
		"[41]\t\"H-x\"[1](x1)\t# \"Mellanox Technologies Aggregation Node\" lid 8 4xHDR\n"
		"Ca\t1 \"H-x\"\t# \"Mellanox Technologies Aggregation Node\"\n"
		"[1](x1)\t\"S-1\"[41]\t# lid 8 lmc 0 \"MF0;sw:MQM8700/U1\" lid 9 4xHDR\n"
		"Ca\t1 \"H-a\"\t# \"node01 mlx5_0\"\nCa\t1 \"H-b\"\t# \"node02 mlx5_0\"\n"
		"Ca\t1 \"H-c\"\t# \"node02 mlx5_1\"\n"
		"Ca\t1 \"H-d\"\t# \"MT4123 ConnectX6   Mellanox Technologies\"\n"
		"Ca\t1 \"H-e\"\t# \"same mlx5_0\"\nCa\t1 \"H-f\"\t# \"same mlx5_0\"\n"
		"Ca\t1 \"H-g\"\t# \"node.of.a.domain mlx5_0\"\n"));
	CU_ASSERT_EQUAL(layout_hosts(&layout), 7);
	CU_ASSERT_EQUAL(layout.node_count, 8);
	CU_ASSERT_EQUAL(layout.link_count, 7);
	static const char *const hosts[] = {
		"node01", "node02-mlx5_0", "node02-mlx5_1", "H-d", "H-e", "H-f", "H-g"};
	for (unsigned i = 0; i < ARRAY_SIZE(hosts) && i + 1 < layout.node_count; i++)
		CU_ASSERT_STRING_EQUAL(layout.nodes[i + 1].name, hosts[i]);
}

static void test_simulated(void)
{
	CU_ASSERT_TRUE(read_text("Switch\t8 \"SW1\"\n[1]\t\"Hca1\"[1]\n[2]\t\"Hca2\"[1]\n\n"
				 "Hca\t2 \"Hca1\"\n[1] \"SW1\"[1]\n\nHca 1 \"Hca2\"\n"));
	CU_ASSERT_EQUAL(layout.node_count, 3);
	CU_ASSERT_EQUAL(layout.link_count, 2);
	CU_ASSERT_EQUAL(layout.links[1].rate_bps, RATE_OF_PARAMS);
	CU_ASSERT_TRUE(read_text("Hca 1 \"a\"\r\n[1] \"b\"[1]\r\nHca 1 \"b\"\r\n")); /* no switch */
	CU_ASSERT_EQUAL(layout.link_count, 1);
}

static void refused(const char *text, const char *reason)
{
	CU_ASSERT_FALSE(read_text(text));
	CU_ASSERT_STRING_EQUAL(error, reason);
}

static void test_refused(void)
{
	refused("", "line 0: the file has no links");
	refused("Switch 4 \"s\"\n", "line 1: the file has no links");
	refused("Switch 257 \"s\"\n", "line 1: s: 257 ports; expected 1 to 256");
	refused("Hca 0 \"h\"\n", "line 1: h: 0 ports; expected 1 to 8");
	refused("Switch 4 s\n", "line 1: expected Switch PORTS \"NAME\", NAME of 1 to 31 bytes");
	refused("Switch 4 \"s\"\n\nSwitch 4 \"s\"\n", "line 3: s: is defined twice");
	refused("Switch 4 \"s\"\n[1] \"h\"[1]\n", "line 2: h: no such node in the file");
	refused("[1] \"h\"[1]\nHca 1 \"h\"\n", "line 1: a line of a port before the first node");
	refused("Switch 4 \"s\"\n[5] \"h\"[1]\nHca 1 \"h\"\n",
		"line 2: s[5] or h[1]: no such port");
	refused("Switch 4 \"s\"\n[0] \"h\"[1]\nHca 1 \"h\"\n",
		"line 2: s[0] or h[1]: no such port");
	refused("Switch 4 \"s\"\n[1] h\nHca 1 \"h\"\n", "line 2: expected [PORT] \"NAME\"[PORT]");
	refused("Switch 4 \"s\"\n[1] \"h\"[1]\n[2] \"h\"[1]\nHca 1 \"h\"\n",
		"line 3: s[2] and h[1]: one end is linked to another port");
	refused("Switch 4 \"s\"\n[1] \"s\"[1]\n",
		"line 2: s[1] and s[1]: one end is linked to another port");
	refused("Switch 4 \"s\"\n[1] \"h\"[1]\n[2] \"i\"[1]\nHca 1 \"h\"\n[1] \"s\"[2]\nHca 1 "
		"\"i\"\n",
		"line 5: h[1] and s[2]: one end is linked to another port");
	refused("Swich 4 \"s\"\n", "line 1: not a line of a node or a port, and not KEY=VALUE");
	layout_fini(&layout);
}
