/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests membership reports: an IGMPv3 and an MLDv2 report byte by byte, after the figures of RFC
 * 3376 and 3810. Reports of all versions return, records with sources count as membership, and
 * short packets and other messages are none.
 */
#include <string.h>

#include "fabric/wire/igmp.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(igmp_byte_by_byte)    \
	TEST(mld_byte_by_byte)     \
	TEST(all_versions_return)  \
	TEST(records_with_sources) \
	TEST(other_packets_are_none)
SUITE(TESTS)

static const uint8_t host_four[16] = {[10] = 0xff, [11] = 0xff, 127, 77, 0, 1};
static const uint8_t host_six[16] = {0xfe, 0x80, [15] = 1};
static const uint8_t group_four[16] = {[10] = 0xff, [11] = 0xff, 239, 1, 2, 3};
static const uint8_t group_six[16] = {0xff, 0x15, [15] = 0x77};

/* 127.77.0.1 to 224.0.0.22, class 0xc0, TTL 1, Router Alert: change to exclude mode of 239.1.2.3 */
static const uint8_t igmp[] = {0x46, 0xc0, 0,   40, 0, 0,  0x40, 0, 1,   2, 0x84, 0xab, 127,  77,
			       0,    1,    224, 0,  0, 22, 0x94, 4, 0,   0, 0x22, 0,    0xe8, 0xf9,
			       0,    0,    0,   1,  4, 0,  0,    0, 239, 1, 2,    3};

/* fe80::1 to ff02::16, hop limit 1, Router Alert: change to include mode of ff15::77 */
static const uint8_t mld[] = {
	0x60, 0,    0,  0,    0,    36,   0, 1, 0xfe, 0x80, 0,   0, 0,    0,    0, 0, 0, 0, 0,
	0,    0,    0,  0,    1,    0xff, 2, 0, 0,    0,    0,   0, 0,    0,    0, 0, 0, 0, 0,
	0,    0x16, 58, 0,    5,    2,    0, 0, 1,    0,    143, 0, 0x70, 0x80, 0, 0, 0, 1, 3,
	0,    0,    0,  0xff, 0x15, 0,    0, 0, 0,    0,    0,   0, 0,    0,    0, 0, 0, 0, 0x77};

static struct igmp_report report_of(bool six, bool leaves)
{
	struct igmp_report report = {.leaves = leaves};

	memcpy(report.group, six ? group_six : group_four, 16);
	return report;
}

static void check_bytes(bool six, bool leaves, const uint8_t *expected, size_t length)
{
	struct igmp_report report = report_of(six, leaves);
	uint8_t bytes[IGMP_PACKET_MAX];

	CU_ASSERT_EQUAL_FATAL(igmp_build(&report, IGMP_V3, six ? host_six : host_four, bytes),
			      length);
	CU_ASSERT_EQUAL(memcmp(bytes, expected, length), 0);
}

static void test_igmp_byte_by_byte(void)
{
	check_bytes(false, false, igmp, sizeof(igmp));
}

static void test_mld_byte_by_byte(void)
{
	check_bytes(true, true, mld, sizeof(mld));
}

static void check_return(enum igmp_version version, bool six, bool leaves)
{
	struct igmp_report report = report_of(six, leaves), parsed;
	uint8_t bytes[IGMP_PACKET_MAX], destination[16];
	size_t length = igmp_build(&report, version, six ? host_six : host_four, bytes);

	CU_ASSERT_EQUAL_FATAL(igmp_parse(bytes, length, &parsed, 1), 1);
	CU_ASSERT_EQUAL(memcmp(parsed.group, report.group, 16), 0);
	CU_ASSERT_EQUAL(parsed.leaves, leaves);
	igmp_destination(&report, version, destination);
	CU_ASSERT_EQUAL(memcmp(bytes + (six ? 24 : 16), destination + (six ? 0 : 12), six ? 16 : 4),
			0);
	for (size_t cut = 0; cut < length; cut++)
		CU_ASSERT_EQUAL(igmp_parse(bytes, cut, &parsed, 1), 0);
}

static void test_all_versions_return(void)
{
	for (unsigned i = 0; i < 8; i++)
		check_return(i & 1 ? IGMP_V3 : IGMP_V2, i & 2, i & 4);
}

/* Two records: allow a source of 239.1.2.3, and include no source of 239.1.2.4. */
static void test_records_with_sources(void)
{
	static const uint8_t packet[] = {
		0x46, 0xc0, 0,    52, 0,  0, 0x40, 0, 1, 2, 0, 0, 127, 77, 0, 1, 224, 0,
		0,    22,   0x94, 4,  0,  0, 0x22, 0, 0, 0, 0, 0, 0,   2,  5, 0, 0,   1,
		239,  1,    2,    3,  10, 0, 0,    1, 3, 0, 0, 0, 239, 1,  2, 4};
	struct igmp_report reports[2];

	CU_ASSERT_EQUAL_FATAL(igmp_parse(packet, sizeof(packet), reports, 2), 2);
	CU_ASSERT_EQUAL(memcmp(reports[0].group, group_four, 16), 0);
	CU_ASSERT_FALSE(reports[0].leaves);
	CU_ASSERT_EQUAL(reports[1].group[15], 4);
	CU_ASSERT_TRUE(reports[1].leaves);
	CU_ASSERT_EQUAL(igmp_parse(packet, sizeof(packet), reports, 1), 1);
}

static void test_other_packets_are_none(void)
{
	struct igmp_report report;
	uint8_t bytes[sizeof(igmp)];

	memcpy(bytes, igmp, sizeof(igmp));
	bytes[9] = 17; /* UDP */
	CU_ASSERT_EQUAL(igmp_parse(bytes, sizeof(bytes), &report, 1), 0);
	memcpy(bytes, igmp, sizeof(igmp));
	bytes[24] = 0x11; /* a query */
	CU_ASSERT_EQUAL(igmp_parse(bytes, sizeof(bytes), &report, 1), 0);
	memcpy(bytes, igmp, sizeof(igmp));
	bytes[0] = 0x76; /* another IP version */
	CU_ASSERT_EQUAL(igmp_parse(bytes, sizeof(bytes), &report, 1), 0);
}
