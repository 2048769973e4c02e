/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the codec with packets that two Linux kernels exchanged (Soft-RoCE, RoCEv2 over IPv4). Each
 * packet parses, and is rebuilt to the same bytes. It carries the ICRC that both icrc.c and the
 * bitwise judge compute. The ICRC detects a changed bit in its range, and no changed bit outside
 * its range.
 *
 *     CAPTURES=FOLDER wire_test_golden all_files      another folder than tests/data
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/capture.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/opcode.h"
#include "tests/support/suite.h"
#include "tests/wire/support/files.h"
#include "tests/wire/support/judge.h"

#define TESTS(TEST)                  \
	TEST(all_files)              \
	TEST(every_opcode_was_there) \
	TEST(each_bit_counts)
SUITE(TESTS)

static unsigned packets_seen, files_seen;
static unsigned opcode_seen[256];

static void check_frame(const char *path, const struct capture_record *record)
{
	static struct payload payload;
	struct packet packet = {.payload = &payload};
	uint8_t rebuilt[PACKET_BYTES_MAX];
	struct path wire_path;
	enum parse_status status;
	uint8_t crcs[6];
	size_t length;

	CU_ASSERT_TRUE(record->readable);
	status =
		codec_parse(record->bytes, record->length, record->link_layer, &packet, &wire_path);
	if (status == PARSE_NOT_RDMA)
		return;
	packets_seen++;
	CU_ASSERT_EQUAL(status, PARSE_OK);
	CU_ASSERT_EQUAL(packet.damage, 0);
	if (status != PARSE_OK || packet.damage) {
		printf("\n%s packet %llu: %s, damage %u\n", path,
		       (unsigned long long)record->number, parse_status_meaning(status),
		       packet.damage);
		return;
	}
	opcode_seen[packet.opcode]++;
	length = codec_build(&packet, rebuilt, sizeof(rebuilt));
	CU_ASSERT_EQUAL(length, record->length);
	CU_ASSERT_EQUAL(memcmp(rebuilt, record->bytes, length), 0);
	if (record->link_layer == LINK_ETHERNET) {
		judge_roce_icrc(record->bytes, record->length, crcs);
		CU_ASSERT_EQUAL(memcmp(record->bytes + record->length - 4, crcs, 4), 0);
	} else {
		judge_infiniband_crcs(record->bytes, record->length, crcs);
		CU_ASSERT_EQUAL(memcmp(record->bytes + record->length - 6, crcs, 6), 0);
	}
}

static void check_file(const char *path)
{
	struct capture_record record;
	enum capture_status status;
	struct capture *capture;
	size_t length;
	uint8_t *bytes = file_load(path, &length);

	files_seen++;
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	capture = capture_create(bytes, length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
	while ((status = capture_next(capture, &record)) == CAPTURE_RECORD)
		check_frame(path, &record);
	CU_ASSERT_EQUAL(status, CAPTURE_END);
	capture_destroy(capture);
	free(bytes);
}

static void test_all_files(void)
{
	const char *other = getenv("CAPTURES");

	if (other) {
		CU_ASSERT(folder_visit(other, check_file) > 0);
	} else {
		CU_ASSERT_EQUAL(folder_visit(TEST_DATA "/soft-roce", check_file), 116);
		CU_ASSERT_EQUAL(folder_visit(TEST_DATA "/soft-roce-cm", check_file), 3);
		CU_ASSERT_EQUAL(packets_seen, 780);
	}
	printf("%u files, %u packets ... ", files_seen, packets_seen);
}

/* The captures have all opcodes of RC and UC, except those that Soft-RoCE's tests did not send, and
 * UD. */
static void test_every_opcode_was_there(void)
{
	if (!packets_seen)
		test_all_files();
	for (unsigned opcode = 0; opcode < 256; opcode++)
		if (opcode_known((uint8_t)opcode) && opcode_info[opcode].transport < TRANSPORT_CNP)
			CU_ASSERT(opcode_seen[opcode] > 0);
}

static void flip_each_bit(const uint8_t *bytes, size_t length)
{
	/* The network may change DSCP and ECN, TTL and header checksum, UDP checksum, FECN and
	 * BECN. This test does not check which layer detects a change. */
	static const size_t variant[] = {15, 22, 24, 25, 40, 41, 46};
	uint8_t copy[PACKET_BYTES_MAX];

	memcpy(copy, bytes, length);
	for (size_t at = 14; at < length; at++) {
		bool is_variant = false;

		for (size_t i = 0; i < ARRAY_SIZE(variant); i++)
			is_variant |= at == variant[i];
		for (unsigned bit = 0; bit < 8; bit++) {
			struct packet packet = {0};
			struct path path;
			enum parse_status status;

			copy[at] ^= (uint8_t)(1u << bit);
			status = codec_parse(copy, length, LINK_ETHERNET, &packet, &path);
			if (is_variant) {
				CU_ASSERT_FALSE(packet.damage & DAMAGE_ICRC);
			} else {
				CU_ASSERT(status != PARSE_OK || packet.damage & DAMAGE_ICRC);
			}
			copy[at] ^= (uint8_t)(1u << bit);
		}
	}
}

static void test_each_bit_counts(void)
{
	size_t length;
	uint8_t *bytes = file_load(TEST_DATA "/soft-roce/rc_write_imm_s5_m1024.pcap", &length);
	struct capture_record record;
	struct capture *capture;

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	capture = capture_create(bytes, length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(capture);
	while (capture_next(capture, &record) == CAPTURE_RECORD)
		flip_each_bit(record.bytes, record.length);
	capture_destroy(capture);
	free(bytes);
}
