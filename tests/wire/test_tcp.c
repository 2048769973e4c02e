/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the TCP header: three segments of Linux 6.18 are read and rebuilt byte by byte. Random
 * headers return unchanged, and damaged headers are refused with the reason.
 */
#include <string.h>

#include "fabric/wire/tcp.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(syn_ack_of_linux)             \
	TEST(sack_of_linux)                \
	TEST(two_blocks_of_linux)          \
	TEST(random_headers_return)        \
	TEST(every_cut_is_refused)         \
	TEST(wrong_options)                \
	TEST(options_on_the_wrong_segment) \
	TEST(checksum_of_odd_lengths)
SUITE(TESTS)

/* 10.9.0.1 to 10.9.0.2. */
static const uint8_t addresses[] = {10, 9, 0, 1, 10, 9, 0, 2};

static const uint8_t syn_ack[] = {0x13, 0x89, 0x0f, 0xa0, 0x62, 0x8f, 0xde, 0xf1, 0x00, 0x00,
				  0x03, 0xe9, 0xa0, 0x12, 0xfe, 0x88, 0x95, 0xeb, 0x00, 0x00,
				  0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a, 0x7a, 0xe9,
				  0xbb, 0xe6, 0x00, 0x00, 0x00, 0x01, 0x01, 0x03, 0x03, 0x0a};

static const uint8_t one_block[] = {
	0x13, 0x89, 0x0f, 0xa0, 0x62, 0x8f, 0xde, 0xf2, 0x00, 0x00, 0x03, 0xe9, 0xb0, 0x10, 0x00,
	0x40, 0x84, 0x47, 0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0x7a, 0xe9, 0xbb, 0xe6, 0x00, 0x00,
	0x00, 0x02, 0x01, 0x01, 0x05, 0x0a, 0x00, 0x00, 0x04, 0x4d, 0x00, 0x00, 0x04, 0x57};

static const uint8_t two_blocks[] = {
	0x13, 0x89, 0x0f, 0xa0, 0x62, 0x8f, 0xde, 0xf2, 0x00, 0x00, 0x03, 0xe9, 0xd0,
	0x10, 0x00, 0x40, 0x5a, 0xcb, 0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0x7a, 0xe9,
	0xbb, 0xe6, 0x00, 0x00, 0x00, 0x02, 0x01, 0x01, 0x05, 0x12, 0x00, 0x00, 0x04,
	0xb1, 0x00, 0x00, 0x04, 0xbb, 0x00, 0x00, 0x04, 0x4d, 0x00, 0x00, 0x04, 0x57};

static void read_and_build(const uint8_t *bytes, size_t length, struct tcp_header *header)
{
	uint8_t built[TCP_HEADER_BYTES_MAX];
	size_t header_bytes;

	CU_ASSERT_EQUAL(tcp_checksum(addresses, 4, bytes, length), 0);
	CU_ASSERT_EQUAL_FATAL(tcp_header_parse(bytes, length, header, &header_bytes), PARSE_OK);
	CU_ASSERT_EQUAL(header_bytes, length);
	CU_ASSERT_EQUAL_FATAL(tcp_header_bytes(header), length);
	tcp_header_build(header, built);
	tcp_checksum_put(built, tcp_checksum(addresses, 4, built, length));
	CU_ASSERT_EQUAL(memcmp(built, bytes, length), 0);
}

static void test_syn_ack_of_linux(void)
{
	struct tcp_header header;

	read_and_build(syn_ack, sizeof(syn_ack), &header);
	CU_ASSERT_EQUAL(header.source_port, 5001);
	CU_ASSERT_EQUAL(header.destination_port, 4000);
	CU_ASSERT_EQUAL(header.acknowledgment, 1001);
	CU_ASSERT_EQUAL(header.flags, TCP_SYN | TCP_ACK);
	CU_ASSERT_EQUAL(header.window, 65160);
	CU_ASSERT_EQUAL(header.options, TCP_OPTION_MSS | TCP_OPTION_SACK_PERMITTED |
						TCP_OPTION_TIMESTAMPS | TCP_OPTION_WINDOW_SCALE);
	CU_ASSERT_EQUAL(header.mss, 1460);
	CU_ASSERT_EQUAL(header.window_scale, 10);
	CU_ASSERT_EQUAL(header.timestamp_echo, 1);
}

static void test_sack_of_linux(void)
{
	struct tcp_header header;

	read_and_build(one_block, sizeof(one_block), &header);
	CU_ASSERT_EQUAL(header.sack_count, 1);
	CU_ASSERT_EQUAL(header.sack[0].left, 1101);
	CU_ASSERT_EQUAL(header.sack[0].right, 1111);
	CU_ASSERT_EQUAL(tcp_sack_room(&header), 3);
}

static void test_two_blocks_of_linux(void)
{
	struct tcp_header header;

	read_and_build(two_blocks, sizeof(two_blocks), &header);
	CU_ASSERT_EQUAL(header.sack_count, 2);
	CU_ASSERT_EQUAL(header.sack[0].left, 1201);
	CU_ASSERT_EQUAL(header.sack[1].right, 1111);
}

static void fill(struct tcp_header *header, struct random *random)
{
	memset(header, 0, sizeof(*header));
	header->source_port = (uint16_t)random_u64(random);
	header->destination_port = (uint16_t)random_u64(random);
	header->sequence = (uint32_t)random_u64(random);
	header->acknowledgment = (uint32_t)random_u64(random);
	header->window = (uint16_t)random_u64(random);
	header->urgent = (uint16_t)random_u64(random);
	header->flags = (uint8_t)random_u64(random);
	header->options = (uint8_t)(random_below(random, 2) * TCP_OPTION_TIMESTAMPS);
	if (header->options) {
		header->timestamp = (uint32_t)random_u64(random);
		header->timestamp_echo = (uint32_t)random_u64(random);
	}
	if (header->flags & TCP_SYN) {
		header->options |= (uint8_t)random_below(random, 8);
		if (header->options & TCP_OPTION_MSS)
			header->mss = (uint16_t)random_u64(random);
		if (header->options & TCP_OPTION_WINDOW_SCALE)
			header->window_scale = (uint8_t)random_u64(random);
		return;
	}
	header->sack_count = (uint8_t)random_below(random, tcp_sack_room(header) + 1);
	for (unsigned i = 0; i < header->sack_count; i++)
		header->sack[i] = (struct tcp_sack){(uint32_t)random_u64(random),
						    (uint32_t)random_u64(random)};
}

static void test_random_headers_return(void)
{
	struct random random;

	random_init_named(&random, 1, "test", "headers");
	for (unsigned i = 0; i < 10000; i++) {
		struct tcp_header one, other;
		uint8_t bytes[TCP_HEADER_BYTES_MAX];
		size_t length;

		fill(&one, &random);
		CU_ASSERT_FATAL(tcp_header_bytes(&one) <= sizeof(bytes));
		tcp_header_build(&one, bytes);
		CU_ASSERT_EQUAL_FATAL(
			tcp_header_parse(bytes, tcp_header_bytes(&one), &other, &length), PARSE_OK);
		CU_ASSERT_EQUAL(length, tcp_header_bytes(&one));
		CU_ASSERT_EQUAL(memcmp(&one, &other, sizeof(one)), 0);
	}
}

static void test_every_cut_is_refused(void)
{
	struct tcp_header header;
	size_t length;

	for (size_t cut = 0; cut < sizeof(two_blocks); cut++)
		CU_ASSERT_EQUAL(tcp_header_parse(two_blocks, cut, &header, &length),
				cut < TCP_HEADER_BYTES ? PARSE_TRUNCATED : PARSE_TCP_HEADER);
}

static enum parse_status parse_with(unsigned at, uint8_t value)
{
	uint8_t bytes[sizeof(one_block)];
	struct tcp_header header;
	size_t length;

	memcpy(bytes, one_block, sizeof(bytes));
	bytes[at] = value;
	return tcp_header_parse(bytes, sizeof(bytes), &header, &length);
}

static void test_wrong_options(void)
{
	CU_ASSERT_EQUAL(parse_with(12, 0x40), PARSE_TCP_HEADER); /* data offset */
	CU_ASSERT_EQUAL(parse_with(23, 1), PARSE_TCP_OPTION);    /* shorter than itself */
	CU_ASSERT_EQUAL(parse_with(23, 23), PARSE_TCP_OPTION);   /* longer than the header */
	CU_ASSERT_EQUAL(parse_with(43, 0x57), PARSE_OK);
	CU_ASSERT_EQUAL(parse_with(34, 253), PARSE_OK); /* unknown, with a right length */
	CU_ASSERT_EQUAL(parse_with(32, 0), PARSE_OK);   /* end of the options */
}

/* SYN options count only on a SYN, and SACK blocks only on other segments. */
static void test_options_on_the_wrong_segment(void)
{
	uint8_t bytes[sizeof(one_block)];
	struct tcp_header header;
	size_t length;

	memcpy(bytes, syn_ack, sizeof(syn_ack));
	bytes[13] = TCP_ACK;
	CU_ASSERT_EQUAL(tcp_header_parse(bytes, sizeof(syn_ack), &header, &length), PARSE_OK);
	CU_ASSERT_EQUAL(header.options, TCP_OPTION_TIMESTAMPS);
	memcpy(bytes, one_block, sizeof(one_block));
	bytes[13] = TCP_ACK | TCP_SYN;
	CU_ASSERT_EQUAL(tcp_header_parse(bytes, sizeof(one_block), &header, &length), PARSE_OK);
	CU_ASSERT_EQUAL(header.sack_count, 0);
}

/* A byte of 0 behind the segment changes nothing: RFC 9293 3.1. */
static void test_checksum_of_odd_lengths(void)
{
	uint8_t bytes[24] = {1, 2, 3, [12] = 0x50, [20] = 0xab, [21] = 0xcd, [22] = 0xef};
	uint16_t odd = tcp_checksum(addresses, 4, bytes, 23);
	uint16_t even = tcp_checksum(addresses, 4, bytes, 24);

	CU_ASSERT_EQUAL((uint16_t)~odd + 1, (uint16_t)~even); /* lengths differ by one */
	tcp_checksum_put(bytes, odd);
	CU_ASSERT_EQUAL(tcp_checksum(addresses, 4, bytes, 23), 0);
	bytes[22] ^= 1;
	CU_ASSERT_NOT_EQUAL(tcp_checksum(addresses, 4, bytes, 23), 0);
}
