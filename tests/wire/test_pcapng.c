/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the capture writer byte by byte for one packet, and that the reader returns the written
 * packets. The reader accepts pcap and pcapng of both byte orders and all time resolutions, and
 * reports damage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/capture.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/erf.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/pcapng.h"
#include "tests/support/suite.h"
#include "tests/wire/support/files.h"
#include "tests/wire/support/sample.h"

#define TESTS(TEST)                                 \
	TEST(literal_file)                          \
	TEST(erf_time)                              \
	TEST(written_is_read)                       \
	TEST(files_that_cannot_be_made)             \
	TEST(pcap_of_both_orders)                   \
	TEST(pcapng_of_both_orders_and_resolutions) \
	TEST(broken_pcapng)
SUITE(TESTS)

static const char file_name[] = "packets.pcapng";

static void credits_write(struct pcapng *pcapng, uint32_t interface, sim_time at,
			  const char *comment)
{
	struct packet packet = {
		.kind = PACKET_FLOW_CONTROL, .credit_total = 0x123, .credit_limit = 0x456};

	pcapng_write(pcapng, interface, at, &packet, comment);
}

static void test_literal_file(void)
{
	/* clang-format off */
	static const uint8_t expected[] = {
		0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		4, 0, 6, 0, 'h', 'c', 'a', 's', 'i', 'm', 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,

		1, 0, 0, 0, 40, 0, 0, 0, 197, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 2, 0, 'p', '0', 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,

		/* 2000000002 ns */
		6, 0, 0, 0, 108, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x94, 0x35, 0x77,
		64, 0, 0, 0, 64, 0, 0, 0,
		0x0c, 0, 0, 0, 2, 0, 0, 0, 25, 4, 0, 64, 0, 0, 0, 48, /* 2.00000000299 s in 2^-32 */
		0x01, 0x23, 0x04, 0x56, 0, 0, 0, 0, /* LPCRC: below; padding */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 2, 0, 'h', 'i', 0, 0, 0, 0, 0, 0, 108, 0, 0, 0,
	};
	/* clang-format on */
	struct pcapng *pcapng = pcapng_create(file_name);
	uint8_t *bytes;
	size_t length;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	CU_ASSERT_EQUAL(pcapng_interface_add(pcapng, "p0", LINK_INFINIBAND), 0);
	credits_write(pcapng, 0, 2 * SEC + 2990 * PS, "hi");
	CU_ASSERT_EQUAL(pcapng_packets(pcapng), 1);
	CU_ASSERT_EQUAL(pcapng_destroy(pcapng), 0);
	bytes = file_load(file_name, &length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	CU_ASSERT_EQUAL_FATAL(length, sizeof(expected));
	memset(bytes + length - 60, 0, 2); /* its LPCRC is judged in test_codec.c */
	CU_ASSERT_EQUAL(memcmp(bytes, expected, length), 0);
	free(bytes);
}

static void test_erf_time(void)
{
	uint8_t bytes[ERF_BYTES];

	erf_build(ERF_INFINIBAND, 6, 3 * SEC + SEC / 2, 100, bytes);
	CU_ASSERT_EQUAL(le_get(bytes, 8), UINT64_C(0x380000000));
	CU_ASSERT_EQUAL(bytes[9], 4 | 2); /* two bits of the interface */
	erf_build(ERF_INFINIBAND, 0, SEC - 1, 100, bytes);
	CU_ASSERT_EQUAL(le_get(bytes, 8), UINT64_C(0xffffffff));
	erf_build(ERF_INFINIBAND, 0, 233, 100, bytes); /* 2^-32 s is 232.83 ps */
	CU_ASSERT_EQUAL(le_get(bytes, 8), 1);
	erf_build(ERF_INFINIBAND, 0, 232, 100, bytes);
	CU_ASSERT_EQUAL(le_get(bytes, 8), 0);
}

static void test_written_is_read(void)
{
	static struct sample samples[SAMPLE_ENCAPSULATION_COUNT];
	static const char *const names[] = {"host0.hca.port", "switch0.port12"};
	struct sampler sampler = {11};
	struct pcapng *pcapng = pcapng_create(file_name);
	struct capture_record record;
	struct capture *capture;
	uint8_t expected[PACKET_BYTES_MAX];
	uint8_t *bytes;
	size_t length;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	pcapng_interface_add(pcapng, names[0], LINK_INFINIBAND);
	pcapng_interface_add(pcapng, names[1], LINK_ETHERNET);
	for (unsigned i = 0; i < SAMPLE_ENCAPSULATION_COUNT; i++) {
		sample_fill(&samples[i], &sampler, i, RC_WRITE_ONLY, 4096 - i);
		pcapng_write(pcapng, samples[i].path.link_layer == LINK_ETHERNET, i * 7 * MS + 999,
			     &samples[i].packet, i % 2 ? "comment" : NULL);
	}
	CU_ASSERT_EQUAL(pcapng_destroy(pcapng), 0);

	bytes = file_load(file_name, &length);
	capture = capture_create(bytes, length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
	for (unsigned i = 0; i < SAMPLE_ENCAPSULATION_COUNT; i++) {
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_RECORD);
		CU_ASSERT_EQUAL(record.number, i + 1);
		CU_ASSERT_EQUAL(record.seconds, 0);
		CU_ASSERT_EQUAL(record.nanoseconds, i * 7000000);
		CU_ASSERT_EQUAL(record.link_layer, samples[i].path.link_layer);
		CU_ASSERT_STRING_EQUAL(record.interface_name,
				       names[record.link_layer == LINK_ETHERNET]);
		CU_ASSERT_TRUE(record.readable);
		CU_ASSERT_FALSE(record.cut);
		CU_ASSERT_EQUAL(record.length,
				codec_build(&samples[i].packet, expected, sizeof(expected)));
		CU_ASSERT_EQUAL(memcmp(record.bytes, expected, record.length), 0);
	}
	CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_END);
	CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_END);
	capture_destroy(capture);
	free(bytes);
}

static void test_files_that_cannot_be_made(void)
{
	struct pcapng *pcapng;

	errno = 0;
	CU_ASSERT_PTR_NULL(pcapng_create("/nonexistent/folder/x.pcapng"));
	CU_ASSERT_EQUAL(errno, ENOENT);
	pcapng = pcapng_create("/dev/full");
	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	CU_ASSERT_EQUAL(pcapng_destroy(pcapng), ENOSPC);
}

/* Writes files of either byte order into memory. */
struct image {
	bool big_endian;
	size_t used;
	uint8_t bytes[1024];
};

static void put(struct image *image, unsigned count, uint64_t value)
{
	if (image->big_endian)
		be_put(image->bytes + image->used, count, value);
	else
		le_put(image->bytes + image->used, count, value);
	image->used += count;
}

static void pcap_image(struct image *image, bool big_endian, uint32_t magic, uint32_t link_type)
{
	memset(image, 0, sizeof(*image));
	image->big_endian = big_endian;
	put(image, 4, magic);
	put(image, 2, 2);
	put(image, 2, 4);
	put(image, 8, 0);
	put(image, 4, 65535);
	put(image, 4, link_type);
	put(image, 4, 1700000000);
	put(image, 4, 123456);
	put(image, 4, 20); /* captured */
	put(image, 4, 64); /* of */
	image->used += 20;
}

static void test_pcap_of_both_orders(void)
{
	struct image image;
	struct capture_record record;

	for (unsigned i = 0; i < 4; i++) {
		bool nano = i & 1;
		struct capture *capture;

		pcap_image(&image, i & 2, nano ? 0xa1b23c4d : 0xa1b2c3d4, i & 2 ? 247 : 1);
		capture = capture_create(image.bytes, image.used);
		CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_RECORD);
		CU_ASSERT_EQUAL(record.seconds, 1700000000);
		CU_ASSERT_EQUAL(record.nanoseconds, nano ? 123456 : 123456000);
		CU_ASSERT_EQUAL(record.length, 20);
		CU_ASSERT_TRUE(record.cut);
		CU_ASSERT_TRUE(record.readable);
		CU_ASSERT_EQUAL(record.link_layer, i & 2 ? LINK_INFINIBAND : LINK_ETHERNET);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_END);
		capture_destroy(capture);
	}
	pcap_image(&image, false, 0xa1b2c3d4, 113); /* Linux cooked */
	{
		struct capture *capture = capture_create(image.bytes, image.used);

		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_RECORD);
		CU_ASSERT_FALSE(record.readable);
		capture_destroy(capture);
		capture = capture_create(image.bytes, image.used - 1);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_BROKEN);
		CU_ASSERT_STRING_EQUAL(capture_error(capture), "the file ends inside a packet");
		capture_destroy(capture);
		capture = capture_create(image.bytes, 30);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_BROKEN);
		CU_ASSERT_STRING_EQUAL(capture_error(capture),
				       "the file ends inside a record header");
		capture_destroy(capture);
	}
	CU_ASSERT_PTR_NULL(capture_create(image.bytes, 23));
	CU_ASSERT_PTR_NULL(capture_create(image.bytes + 1, 200));
}

static void pcapng_image(struct image *image, bool big_endian, uint8_t resolution, uint64_t ticks)
{
	memset(image, 0, sizeof(*image));
	image->big_endian = big_endian;
	put(image, 4, 0x0a0d0d0a);
	put(image, 4, 28);
	put(image, 4, 0x1a2b3c4d);
	put(image, 4, big_endian ? 0x00010000 : 1);
	put(image, 8, UINT64_MAX);
	put(image, 4, 28);
	put(image, 4, 1); /* interface, Ethernet, 10 bytes at most of a packet */
	put(image, 4, 44);
	put(image, 2, 1);
	put(image, 2, 0);
	put(image, 4, 10);
	put(image, 2, 9);
	put(image, 2, 1);
	put(image, 1, resolution);
	image->used += 3;
	put(image, 2, 14);
	put(image, 2, 8);
	put(image, 8, 1000); /* seconds to add */
	put(image, 4, 0);    /* end of options */
	put(image, 4, 44);
	put(image, 4, 6); /* packet */
	put(image, 4, 44);
	put(image, 4, 0);
	put(image, 4, ticks >> 32);
	put(image, 4, ticks & UINT32_MAX);
	put(image, 4, 9);
	put(image, 4, 9);
	image->used += 12;
	put(image, 4, 44);
	put(image, 4, 0xbad); /* a block that a reader must skip */
	put(image, 4, 12);
	put(image, 4, 12);
	put(image, 4, 3); /* simple packet */
	put(image, 4, 28);
	put(image, 4, 5000);
	image->used += 12;
	put(image, 4, 28);
}

static void test_pcapng_of_both_orders_and_resolutions(void)
{
	/* clang-format off */
	static const struct {
		uint8_t resolution;
		uint64_t ticks, seconds;
		uint32_t nanoseconds;
	} rows[] = {
		{6,    UINT64_C(1700000000123456),    1700000000, 123456000},
		{9,    UINT64_C(1700000000123456789), 1700000000, 123456789},
		{12,   UINT64_C(5000123456789012),    5000,       123456789},
		{0,    77,                            77,         0},
		{0x80, 77,                            77,         0},
		{0xa0, UINT64_C(0x580000000),         5,          500000000},
		{0xbf, UINT64_C(0x4000000000000000),  0,          500000000},
	};
	/* clang-format on */
	struct capture_record record;
	struct image image;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		struct capture *capture;

		pcapng_image(&image, i % 2, rows[i / 2].resolution, rows[i / 2].ticks);
		capture = capture_create(image.bytes, image.used);
		CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_RECORD);
		CU_ASSERT_EQUAL(record.seconds, rows[i / 2].seconds + 1000);
		CU_ASSERT_EQUAL(record.nanoseconds, rows[i / 2].nanoseconds);
		CU_ASSERT_EQUAL(record.length, 9);
		CU_ASSERT_FALSE(record.cut);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_RECORD);
		CU_ASSERT_EQUAL(record.number, 2);
		CU_ASSERT_EQUAL(record.length, 10);
		CU_ASSERT_TRUE(record.cut);
		CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_END);
		capture_destroy(capture);
	}
}

static void expect_broken(const struct image *image, size_t length, const char *error)
{
	struct capture *capture = capture_create(image->bytes, length);
	enum capture_status status = CAPTURE_RECORD;
	struct capture_record record;

	CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
	while (status == CAPTURE_RECORD)
		status = capture_next(capture, &record);
	CU_ASSERT_EQUAL(status, CAPTURE_BROKEN);
	if (status == CAPTURE_BROKEN)
		CU_ASSERT_STRING_EQUAL(capture_error(capture), error);
	CU_ASSERT_EQUAL(capture_next(capture, &record), CAPTURE_BROKEN); /* it stays so */
	capture_destroy(capture);
}

static void test_broken_pcapng(void)
{
	/* clang-format off */
	static const struct { size_t at; uint8_t value; const char *error; } rows[] = {
		{8,   0x11, "a section has no byte-order magic"},
		{4,   30,   "a block has an impossible length"},
		{32,  4,    "a block has an impossible length"},
		{24,  32,   "the two lengths of a block differ"},
		{33,  9,    "the file ends inside a block"},
		{46,  40,   "an option is longer than its block"},
		{80,  1,    "a packet names an interface that is not described"},
		{92,  13,   "a packet is longer than its block"},
	};
	/* clang-format on */
	struct image image;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		pcapng_image(&image, false, 9, 0);
		image.bytes[rows[i].at] = rows[i].value;
		expect_broken(&image, image.used, rows[i].error);
	}
	pcapng_image(&image, false, 9, 0);
	expect_broken(&image, image.used - 1, "the file ends inside a block");
	expect_broken(&image, 28 + 5, "the file ends inside a block");
}
