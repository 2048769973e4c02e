/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the hash of RSS with the vectors that Microsoft publishes ("Verifying the RSS hash
 * calculation"), the table of queues, and the form of a key.
 */
#include <string.h>

#include "tests/support/suite.h"
#include "verbs-shim/sockets/rss.h"
#include "verbs-shim/sockets/sockets.h"

#define TESTS(TEST) TEST(vectors) TEST(table) TEST(keys)
SUITE(TESTS)

static struct shim_address four(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port)
{
	return (struct shim_address){
		.ip = {[10] = 0xff, [11] = 0xff, [12] = a, [13] = b, [14] = c, [15] = d},
		.port = port};
}

static void test_vectors(void)
{
	static const struct {
		uint8_t to[4], from[4];
		uint16_t to_port, from_port;
		uint32_t hash;
	} rows[] = {
		{{161, 142, 100, 80}, {66, 9, 149, 187}, 1766, 2794, 0x51ccc178},
		{{65, 69, 140, 83}, {199, 92, 111, 2}, 4739, 14230, 0xc626b0ea},
		{{12, 22, 207, 184}, {24, 19, 198, 95}, 38024, 12898, 0x5c2b394a},
		{{209, 142, 163, 6}, {38, 27, 205, 30}, 2217, 48228, 0xafc7327f},
		{{202, 188, 127, 2}, {153, 39, 163, 191}, 1303, 44251, 0x10e828a2},
	};
	/* 3ffe:2501:200:3::1 port 1766 from 3ffe:2501:200:1fff::7 port 2794 */
	const struct shim_address to = {{0x3f, 0xfe, 0x25, 1, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1},
					1766};
	const struct shim_address from = {
		{0x3f, 0xfe, 0x25, 1, 2, 0, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7}, 2794};
	uint8_t key[RSS_KEY_BYTES];

	CU_ASSERT_FATAL(rss_read_key(RSS_KEY_DEFAULT, key));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shim_address source = four(rows[i].from[0], rows[i].from[1], rows[i].from[2],
						  rows[i].from[3], rows[i].from_port);
		struct shim_address destination = four(rows[i].to[0], rows[i].to[1], rows[i].to[2],
						       rows[i].to[3], rows[i].to_port);

		CU_ASSERT_EQUAL(rss_hash(key, &source, &destination), rows[i].hash);
	}
	CU_ASSERT_EQUAL(rss_hash(key, &from, &to), 0x40207d3d);
}

static void test_table(void)
{
	CU_ASSERT_EQUAL(rss_queue(0x51ccc178, 16), 0x78 % 16);
	CU_ASSERT_EQUAL(rss_queue(0xffffffff, 3), 255 % 3);
	CU_ASSERT_EQUAL(rss_queue(0x51ccc178, 1), 0);
}

static void test_keys(void)
{
	uint8_t key[RSS_KEY_BYTES];

	CU_ASSERT(!rss_read_key("", key));
	CU_ASSERT(!rss_read_key(RSS_KEY_DEFAULT "0", key));
	CU_ASSERT(!rss_read_key(&RSS_KEY_DEFAULT[1], key));
	CU_ASSERT(!rss_read_key("g" RSS_KEY_DEFAULT, key));
}
