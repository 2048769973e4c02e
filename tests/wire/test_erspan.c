/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the headers of mirrored frames: both types byte by byte, after the figures of
 * draft-foschiano-erspan-03, random headers that return unchanged, frames that are none, and the
 * length of a truncated frame.
 */
#include <string.h>

#include "fabric/wire/erspan.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                   \
	TEST(type_two_byte_by_byte)   \
	TEST(type_three_byte_by_byte) \
	TEST(random_headers_return)   \
	TEST(other_frames_are_none)   \
	TEST(length_before_the_cut)
SUITE(TESTS)

/* Ethernet and IPv4 from 127.78.0.1 to 127.77.0.8; total length 20 + 16 + 60. */
static const uint8_t outer[] = {0x02, 0, 0,    0,  0, 2,  0x02, 0,  0,    0, 0,   1,
				0x08, 0, 0x45, 0,  0, 96, 0,    0,  0x40, 0, 255, 47,
				0,    0, 127,  78, 0, 1,  127,  77, 0,    8};

/* GRE with sequence number 258; version 1, VLAN 100, COS 5, tag preserved, truncated, session 513,
 * index 3 */
static const uint8_t two[] = {0x10, 0x00, 0x88, 0xbe, 0, 0, 1, 2,
			      0x10, 0x64, 0xbe, 0x01, 0, 0, 0, 3};

/* GRE with sequence number 1; version 2, no VLAN, COS 0, whole, session 7, 10 us, Ethernet, egress,
 * unit of 100 ns */
static const uint8_t three[] = {0x10, 0x00, 0x22, 0xeb, 0, 0,   0, 1, 0x20, 0x00,
				0x00, 0x07, 0,    0,    0, 100, 0, 0, 0x80, 0x0a};

static void check_bytes(const struct erspan *erspan, const uint8_t *expected, size_t length)
{
	uint8_t bytes[ERSPAN_HEADERS_MAX];

	CU_ASSERT_EQUAL_FATAL(erspan_build(erspan, bytes), length);
	CU_ASSERT_EQUAL(memcmp(bytes, expected, length), 0);
}

static void test_type_two_byte_by_byte(void)
{
	const struct erspan erspan = {.type = ERSPAN_II,
				      .sequence = 258,
				      .session = 513,
				      .truncated = true,
				      .vlan = 100,
				      .cos = 5,
				      .tagged = true,
				      .index = 3};

	check_bytes(&erspan, two, sizeof(two));
}

static void test_type_three_byte_by_byte(void)
{
	const struct erspan erspan = {
		.type = ERSPAN_III, .sequence = 1, .session = 7, .timestamp = 100, .egress = true};

	check_bytes(&erspan, three, sizeof(three));
}

/* Writes a frame with the headers. Returns the offset behind them. */
static size_t make_frame(uint8_t *frame, const uint8_t *headers, size_t length)
{
	memset(frame, 0, 128);
	memcpy(frame, outer, sizeof(outer));
	memcpy(frame + sizeof(outer), headers, length);
	return sizeof(outer) + length;
}

static void test_random_headers_return(void)
{
	struct random random;
	uint8_t bytes[ERSPAN_HEADERS_MAX], frame[128];

	random_init_named(&random, 1, "erspan", "test");
	for (unsigned i = 0; i < 1000; i++) {
		bool is_three = random_below(&random, 2);
		struct erspan erspan = {
			.type = is_three ? ERSPAN_III : ERSPAN_II,
			.sequence = (uint32_t)random_u64(&random),
			.session = (uint16_t)random_below(&random, ERSPAN_SESSION_MAX + 1),
			.truncated = random_below(&random, 2),
			.vlan = (uint16_t)random_below(&random, 4096),
			.cos = (uint8_t)random_below(&random, 8),
			.tagged = !is_three && random_below(&random, 2),
			.index = is_three ? 0 : (uint32_t)random_below(&random, 1 << 20),
			.timestamp = is_three ? (uint32_t)random_u64(&random) : 0,
			.egress = is_three && random_below(&random, 2),
			.source = {127, 78, 0, 1},
			.destination = {127, 77, 0, 8},
		};
		size_t length = erspan_build(&erspan, bytes), inner = 0;
		size_t start = make_frame(frame, bytes, length);
		struct erspan parsed;

		CU_ASSERT_EQUAL_FATAL(erspan_parse(frame, sizeof(frame), &parsed, &inner), start);
		CU_ASSERT_EQUAL(inner, 96 - 20 - length);
		CU_ASSERT_EQUAL(parsed.type, erspan.type);
		CU_ASSERT_EQUAL(parsed.sequence, erspan.sequence);
		CU_ASSERT_EQUAL(parsed.session, erspan.session);
		CU_ASSERT_EQUAL(parsed.truncated, erspan.truncated);
		CU_ASSERT_EQUAL(parsed.vlan, erspan.vlan);
		CU_ASSERT_EQUAL(parsed.cos, erspan.cos);
		CU_ASSERT_EQUAL(parsed.tagged, erspan.tagged);
		CU_ASSERT_EQUAL(parsed.index, erspan.index);
		CU_ASSERT_EQUAL(parsed.timestamp, erspan.timestamp);
		CU_ASSERT_EQUAL(parsed.egress, erspan.egress);
		CU_ASSERT_EQUAL(memcmp(parsed.source, erspan.source, 4), 0);
		CU_ASSERT_EQUAL(memcmp(parsed.destination, erspan.destination, 4), 0);
	}
}

static void test_other_frames_are_none(void)
{
	/* ethertype, IP options, protocol, GRE flags, GRE protocol, version of ERSPAN, total length
	 * below the headers */
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = {{13, 6}, {14, 0x46}, {23, 17}, {34, 0x30}, {36, 0x89}, {42, 0x20}, {17, 20}};
	uint8_t frame[128];
	struct erspan erspan;
	size_t inner, start = make_frame(frame, two, sizeof(two));

	CU_ASSERT_EQUAL(erspan_parse(frame, start, &erspan, &inner), start);
	for (size_t length = 0; length < start; length++)
		CU_ASSERT_EQUAL(erspan_parse(frame, length, &erspan, &inner), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		make_frame(frame, two, sizeof(two));
		frame[changes[i].at] = changes[i].value;
		CU_ASSERT_EQUAL(erspan_parse(frame, sizeof(frame), &erspan, &inner), 0);
	}
}

static void test_length_before_the_cut(void)
{
	static const uint8_t ipv6[60] = {[12] = 0x86, [13] = 0xdd, [18] = 0x10, [19] = 0x20};
	static const uint8_t tagged[60] = {[12] = 0x81, [16] = 0x08, [20] = 0x05, [21] = 0xdc};

	CU_ASSERT_EQUAL(erspan_whole(outer, sizeof(outer)), sizeof(outer)); /* too short to tell */
	CU_ASSERT_EQUAL(erspan_whole(ipv6, sizeof(ipv6)), 14 + 40 + 0x1020);
	CU_ASSERT_EQUAL(erspan_whole(tagged, sizeof(tagged)), 18 + 0x05dc);
}
