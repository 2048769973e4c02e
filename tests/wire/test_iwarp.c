/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the formats of iWARP. The two FPDUs that RFC 5044 prints as examples, both with
 * markers, are built and read byte by byte. So are startup frames and headers.
 * CRC32C gives the values of RFC 3720 B.4. Random FPDUs return unchanged with markers at any place.
 */
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/crc32c.h"
#include "fabric/wire/iwarp_packet.h"
#include "fabric/wire/mpa.h"
#include "fabric/wire/rdmap.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(crc_of_the_standard)               \
	TEST(fpdu_of_the_standard_first_marker) \
	TEST(fpdu_of_the_standard_inner_marker) \
	TEST(lengths)                           \
	TEST(random_fpdus_return)               \
	TEST(damaged_fpdus_are_refused)         \
	TEST(startup_frames)                    \
	TEST(wrong_startup_frames)              \
	TEST(headers)                           \
	TEST(wrong_headers)                     \
	TEST(read_request)                      \
	TEST(terminate)                         \
	TEST(packets_have_the_bytes)
SUITE(TESTS)

static const struct mpa_place plain;

static void test_crc_of_the_standard(void)
{
	uint8_t bytes[48];

	memset(bytes, 0, 32);
	CU_ASSERT_EQUAL(crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	CU_ASSERT_EQUAL(crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	CU_ASSERT_EQUAL(crc32c(0, bytes, 32), 0x46dd794e);
	CU_ASSERT_EQUAL(crc32c(crc32c(0, bytes, 5), bytes + 5, 27), 0x46dd794e);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	CU_ASSERT_EQUAL(crc32c(0, bytes, 32), 0x113fdb5c);
}

/* A Send of 24 zeros: the first of its stream, and the second with a marker at octet 20. */
static const uint8_t first_marker[] = {
	0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x52, 0x23, 0x99, 0x83};
static const uint8_t inner_marker[] = {
	0x00, 0x2a, 0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x84, 0x92, 0x58, 0x98};

static void check_example(struct mpa_place place, uint32_t msn, const uint8_t *bytes, size_t length)
{
	static uint8_t read[MPA_ULPDU_MAX];
	struct rdmap_header header = {.opcode = RDMAP_SEND, .last = true, .msn = msn};
	uint8_t ulpdu[42] = {0}, built[64];
	uint32_t ulpdu_bytes;
	size_t fpdu_bytes;

	rdmap_header_build(&header, ulpdu);
	CU_ASSERT_EQUAL_FATAL(mpa_fpdu_bytes(place, sizeof(ulpdu)), length);
	mpa_fpdu_build(place, ulpdu, sizeof(ulpdu), built);
	CU_ASSERT_EQUAL(memcmp(built, bytes, length), 0);
	CU_ASSERT_EQUAL_FATAL(mpa_fpdu_parse(place, bytes, length, read, &ulpdu_bytes, &fpdu_bytes),
			      PARSE_OK);
	CU_ASSERT_EQUAL(ulpdu_bytes, sizeof(ulpdu));
	CU_ASSERT_EQUAL(fpdu_bytes, length);
	CU_ASSERT_EQUAL(memcmp(read, ulpdu, sizeof(ulpdu)), 0);
}

static void test_fpdu_of_the_standard_first_marker(void)
{
	check_example((struct mpa_place){true, 0}, 1, first_marker, sizeof(first_marker));
}

static void test_fpdu_of_the_standard_inner_marker(void)
{
	check_example((struct mpa_place){true, 492}, 2, inner_marker, sizeof(inner_marker));
}

static void test_lengths(void)
{
	const struct mpa_place at_marker = {true, 1024}, before = {true, 1020};

	CU_ASSERT_EQUAL(mpa_fpdu_bytes(plain, 0), 8);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(plain, 14), 20);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(plain, 15), 24);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(plain, 18), 24);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(at_marker, 14), 24);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(at_marker, 502), 4 + 508);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(at_marker, 503), 4 + 508 + 4 + 4);
	CU_ASSERT_EQUAL(mpa_fpdu_bytes(before, 14), 24);
	/* MSS of Ethernet with time stamps and without; the FPDU fills the segment */
	CU_ASSERT_EQUAL(mpa_ulpdu_max(1448, false), 1442);
	CU_ASSERT_EQUAL(mpa_ulpdu_max(1460, false), 1454);
	CU_ASSERT_EQUAL(mpa_ulpdu_max(1462, false), 1454);
	CU_ASSERT_EQUAL(mpa_ulpdu_max(1460, true), 1442);
	CU_ASSERT_EQUAL(mpa_ulpdu_max(6, false), 0);
	for (uint32_t position = 0; position < 512; position += 4)
		CU_ASSERT_FALSE(mpa_fpdu_bytes((struct mpa_place){true, position}, 1442) > 1460);
}

static void fill(struct random *random, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)random_u64(random);
}

static void test_random_fpdus_return(void)
{
	static uint8_t ulpdu[MPA_ULPDU_MAX], read[MPA_ULPDU_MAX], bytes[2 * MPA_ULPDU_MAX];
	struct random random;

	random_init_named(&random, 1, "iwarp", "fpdus");
	for (unsigned i = 0; i < 500; i++) {
		struct mpa_place place = {i & 1, 4 * random_below(&random, 1000)};
		uint32_t count = (uint32_t)random_below(&random, i % 50 ? 2000 : 65536), again;
		size_t length = mpa_fpdu_bytes(place, count), found;

		fill(&random, ulpdu, count);
		mpa_fpdu_build(place, ulpdu, count, bytes);
		CU_ASSERT_EQUAL(mpa_fpdu_parse(place, bytes, length, read, &again, &found),
				PARSE_OK);
		CU_ASSERT_EQUAL(again, count);
		CU_ASSERT_EQUAL(found, length);
		CU_ASSERT_EQUAL(memcmp(read, ulpdu, count), 0);
		CU_ASSERT_EQUAL(mpa_fpdu_parse(place, bytes, length - 1, read, &again, &found),
				PARSE_TRUNCATED);
	}
}

static void test_damaged_fpdus_are_refused(void)
{
	static uint8_t read[MPA_ULPDU_MAX];
	uint8_t bytes[sizeof(inner_marker)];
	uint32_t count;
	size_t found;

	for (size_t i = 2; i < sizeof(bytes); i++) {
		memcpy(bytes, inner_marker, sizeof(bytes));
		bytes[i] ^= 1;
		CU_ASSERT_EQUAL(mpa_fpdu_parse((struct mpa_place){true, 492}, bytes, sizeof(bytes),
					       read, &count, &found),
				PARSE_MPA_CRC);
	}
	memcpy(bytes, inner_marker, sizeof(bytes));
	bytes[23]++;
	le32_put(bytes + sizeof(bytes) - 4, crc32c(0, bytes, sizeof(bytes) - 4));
	CU_ASSERT_EQUAL(mpa_fpdu_parse((struct mpa_place){true, 492}, bytes, sizeof(bytes), read,
				       &count, &found),
			PARSE_MPA_MARKER);
	CU_ASSERT_EQUAL(mpa_fpdu_parse(plain, bytes, 1, read, &count, &found), PARSE_TRUNCATED);
}

static const uint8_t request[] = "MPA ID Req Frame\x50\x02\x00\x07\xc0\x10\x40\x08hi!";
static const uint8_t reply[] = "MPA ID Rep Frame\xe0\x01\x00\x02no";

static void test_startup_frames(void)
{
	struct mpa_startup startup;
	uint8_t built[64];

	CU_ASSERT_EQUAL_FATAL(mpa_startup_parse(request, sizeof(request) - 1, &startup), PARSE_OK);
	CU_ASSERT_FALSE(startup.reply || startup.markers || startup.reject || startup.rtr_write);
	CU_ASSERT_TRUE(startup.crc && startup.enhanced && startup.peer_to_peer);
	CU_ASSERT_TRUE(startup.rtr_empty && startup.rtr_read);
	CU_ASSERT_EQUAL(startup.revision, 2);
	CU_ASSERT_EQUAL(startup.ird, 16);
	CU_ASSERT_EQUAL(startup.ord, 8);
	CU_ASSERT_EQUAL(startup.private_bytes, 3);
	CU_ASSERT_EQUAL_FATAL(mpa_startup_bytes(&startup), sizeof(request) - 1);
	mpa_startup_build(&startup, built);
	CU_ASSERT_EQUAL(memcmp(built, request, sizeof(request) - 1), 0);

	CU_ASSERT_EQUAL_FATAL(mpa_startup_parse(reply, sizeof(reply) - 1, &startup), PARSE_OK);
	CU_ASSERT_TRUE(startup.reply && startup.markers && startup.crc && startup.reject);
	CU_ASSERT_FALSE(startup.enhanced);
	CU_ASSERT_EQUAL(startup.private_bytes, 2);
	CU_ASSERT_EQUAL(memcmp(startup.private_data, "no", 2), 0);
	mpa_startup_build(&startup, built);
	CU_ASSERT_EQUAL(memcmp(built, reply, sizeof(reply) - 1), 0);
}

static void test_wrong_startup_frames(void)
{
	struct mpa_startup startup;
	uint8_t bytes[sizeof(request)];

	for (size_t i = 0; i < sizeof(request) - 1; i++)
		CU_ASSERT_EQUAL(mpa_startup_parse(request, i, &startup), PARSE_TRUNCATED);
	memcpy(bytes, request, sizeof(bytes));
	bytes[3]++;
	CU_ASSERT_EQUAL(mpa_startup_parse(bytes, sizeof(bytes), &startup), PARSE_MPA_STARTUP);
	memcpy(bytes, request, sizeof(bytes));
	bytes[17] = 3;
	CU_ASSERT_EQUAL(mpa_startup_parse(bytes, sizeof(bytes), &startup), PARSE_MPA_STARTUP);
	memcpy(bytes, request, sizeof(bytes));
	bytes[19] = 3; /* no space for IRD and ORD */
	CU_ASSERT_EQUAL(mpa_startup_parse(bytes, sizeof(bytes), &startup), PARSE_MPA_STARTUP);
	bytes[18] = 3; /* longer than 512 */
	CU_ASSERT_EQUAL(mpa_startup_parse(bytes, sizeof(bytes), &startup), PARSE_MPA_STARTUP);
}

/* clang-format off */
static const struct {
	struct rdmap_header header;
	uint8_t bytes[DDP_HEADER_MAX];
} examples[] = {
	{{.opcode = RDMAP_WRITE, .stag = 0x01020304, .tagged_offset = 0x1122334455667788},
	 {0x81, 0x40, 1, 2, 3, 4, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}},
	{{.opcode = RDMAP_READ_RESPONSE, .last = true, .stag = 5, .tagged_offset = 6},
	 {0xc1, 0x42, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6}},
	{{.opcode = RDMAP_READ_REQUEST, .last = true, .msn = 7},
	 {0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0}},
	{{.opcode = RDMAP_SEND_SE, .msn = 8, .message_offset = 9},
	 {0x01, 0x45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 9}},
	{{.opcode = RDMAP_SEND_SE_INVALIDATE, .last = true, .msn = 8, .invalidate = 0x0a0b0c0d},
	 {0x41, 0x46, 10, 11, 12, 13, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0}},
	{{.opcode = RDMAP_TERMINATE, .last = true, .msn = 1},
	 {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0}},
};
/* clang-format on */

static void test_headers(void)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct rdmap_header *header = &examples[i].header;
		size_t length = rdmap_header_bytes(header->opcode);
		uint8_t built[DDP_HEADER_MAX] = {0};
		struct rdmap_header read;

		rdmap_header_build(header, built);
		CU_ASSERT_EQUAL(memcmp(built, examples[i].bytes, length), 0);
		CU_ASSERT_EQUAL(rdmap_header_parse(built, length, &read), PARSE_OK);
		CU_ASSERT_EQUAL(read.opcode, header->opcode);
		CU_ASSERT_EQUAL(read.last, header->last);
		rdmap_header_build(&read, built);
		CU_ASSERT_EQUAL(memcmp(built, examples[i].bytes, length), 0);
		for (size_t cut = 0; cut < length; cut++)
			CU_ASSERT_EQUAL(rdmap_header_parse(built, cut, &read), PARSE_TRUNCATED);
	}
	CU_ASSERT_STRING_EQUAL(rdmap_opcode_meaning(RDMAP_SEND_SE), "Send with Solicited Event");
}

static void check_refused(size_t byte, uint8_t value, enum parse_status expected)
{
	uint8_t bytes[DDP_HEADER_MAX];
	struct rdmap_header header;

	memcpy(bytes, examples[3].bytes, sizeof(bytes));
	bytes[byte] = value;
	CU_ASSERT_EQUAL(rdmap_header_parse(bytes, sizeof(bytes), &header), expected);
}

static void test_wrong_headers(void)
{
	check_refused(0, 0x02, PARSE_DDP_VERSION);
	check_refused(1, 0x05, PARSE_RDMAP_OPCODE); /* version 0 */
	check_refused(1, 0x48, PARSE_RDMAP_OPCODE);
	check_refused(1, 0x40, PARSE_RDMAP_QUEUE); /* an untagged WRITE */
	check_refused(0, 0x81, PARSE_RDMAP_QUEUE); /* a tagged Send */
	check_refused(9, 1, PARSE_RDMAP_QUEUE);    /* a Send on the queue of READs */
}

static void test_read_request(void)
{
	static const uint8_t bytes[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0,
					0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5};
	uint8_t built[RDMAP_READ_REQUEST_BYTES];
	struct rdmap_read_request read;

	CU_ASSERT_EQUAL(rdmap_read_request_parse(bytes, sizeof(bytes), &read), PARSE_OK);
	CU_ASSERT_EQUAL(read.sink_stag, 1);
	CU_ASSERT_EQUAL(read.sink_offset, 2);
	CU_ASSERT_EQUAL(read.bytes, 3);
	CU_ASSERT_EQUAL(read.source_stag, 4);
	CU_ASSERT_EQUAL(read.source_offset, 5);
	rdmap_read_request_build(&read, built);
	CU_ASSERT_EQUAL(memcmp(built, bytes, sizeof(built)), 0);
	CU_ASSERT_EQUAL(rdmap_read_request_parse(bytes, 27, &read), PARSE_TRUNCATED);
}

/* The Terminate reports an invalid STag, with the tagged header in error. */
static void test_terminate(void)
{
	static const uint8_t bytes[] = {0x11, 0x00, 0xc0, 0, 0x05, 0xa2, 0xc1, 0x40, 0, 0,
					0,    9,    0,    0, 0,    0,    0,    0,    0, 4};
	uint8_t built[RDMAP_TERMINATE_BYTES_MAX];
	struct rdmap_terminate terminate;

	CU_ASSERT_EQUAL(rdmap_terminate_parse(bytes, sizeof(bytes), &terminate), PARSE_OK);
	CU_ASSERT_EQUAL(terminate.layer, RDMAP_LAYER_DDP);
	CU_ASSERT_EQUAL(terminate.type, 1);
	CU_ASSERT_EQUAL(terminate.code, 0);
	CU_ASSERT_TRUE(terminate.has_length && terminate.has_ddp && !terminate.has_rdmap);
	CU_ASSERT_EQUAL(terminate.segment_bytes, 1442);
	CU_ASSERT_EQUAL(terminate.ddp.stag, 9);
	CU_ASSERT_EQUAL_FATAL(rdmap_terminate_bytes(&terminate), sizeof(bytes));
	rdmap_terminate_build(&terminate, built);
	CU_ASSERT_EQUAL(memcmp(built, bytes, sizeof(bytes)), 0);
	for (size_t cut = 0; cut < sizeof(bytes); cut++)
		CU_ASSERT_EQUAL(rdmap_terminate_parse(bytes, cut, &terminate), PARSE_TRUNCATED);
	terminate = (struct rdmap_terminate){.has_ddp = true, .has_rdmap = true};
	CU_ASSERT_EQUAL(rdmap_terminate_bytes(&terminate), RDMAP_TERMINATE_BYTES_MAX);
	built[2] = 0x20;
	CU_ASSERT_EQUAL(rdmap_terminate_parse(built, sizeof(built), &terminate),
			PARSE_RDMAP_TERMINATE);
}

static void test_packets_have_the_bytes(void)
{
	struct packet packet = {.kind = PACKET_TCP, .payload_bytes = 24};
	uint8_t bytes[48], ulpdu[17] = {0};
	struct rdmap_header header = {
		.opcode = RDMAP_WRITE, .last = true, .stag = 7, .tagged_offset = 100};

	iwarp_packet_set_startup(&packet, false, 16, 8);
	iwarp_packet_build(&packet, bytes);
	CU_ASSERT_EQUAL(memcmp(bytes, "MPA ID Req Frame\x50\x02\x00\x04\x00\x10\x00\x08", 24), 0);

	rdmap_header_build(&header, ulpdu);
	mpa_fpdu_build(plain, ulpdu, sizeof(ulpdu), bytes + 24);
	packet.tcp.ends_message = true;
	iwarp_packet_set_fpdu(&packet, RDMAP_WRITE, 7, 100, 3);
	iwarp_packet_build(&packet, bytes);
	CU_ASSERT_EQUAL(memcmp(bytes, bytes + 24, 24), 0);
}
