/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests parse(build(x)) == x for random packets of every opcode in every encapsulation, with the
 * CRCs that the bitwise judge computes. Also tests literal bytes of the link's own packets, damage
 * that is added and found, and each status.
 */
#include <string.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/bytes.h"
#include "fabric/wire/codec.h"
#include "fabric/wire/credit.h"
#include "fabric/wire/headers.h"
#include "fabric/wire/ip.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/pfc.h"
#include "tests/support/suite.h"
#include "tests/wire/support/judge.h"
#include "tests/wire/support/sample.h"

#define TESTS(TEST)                                             \
	TEST(parse_of_build_is_identity)                        \
	TEST(trailing_bytes_are_ignored_and_missing_ones_found) \
	TEST(headers_of_cut_packets)                            \
	TEST(cut_to_credits)                                    \
	TEST(damage)                                            \
	TEST(payload_by_length_is_zeros)                        \
	TEST(priority_is_in_the_tag)                            \
	TEST(pfc_bytes)                                         \
	TEST(dc_bytes)                                          \
	TEST(flow_control_bytes)                                \
	TEST(statuses)                                          \
	TEST(payload_where_there_must_be_none)                  \
	TEST(udp_checksum_of_others)                            \
	TEST(aeth)
SUITE(TESTS)

#define ROUNDS 12

static struct sample sample;
static struct payload parsed_payload;

/* Checks the received packet, made comparable byte by byte. The two pointers belong to the test. */
static bool comes_back(const uint8_t *bytes, size_t length)
{
	struct packet packet = {.payload = &parsed_payload};
	struct path path;
	enum parse_status status;

	status = codec_parse(bytes, length, sample.path.link_layer, &packet, &path);
	if (status != PARSE_OK || packet.damage)
		return false;
	packet.payload = sample.packet.payload;
	packet.path = sample.packet.path;
	return memcmp(&packet, &sample.packet, sizeof(packet)) == 0 &&
	       memcmp(&path, &sample.path, sizeof(path)) == 0 &&
	       memcmp(parsed_payload.bytes, sample.payload.bytes, packet.payload_bytes) == 0;
}

static bool crcs_right(const uint8_t *bytes, size_t length)
{
	uint8_t crcs[6];
	uint8_t untagged[PACKET_BYTES_MAX];

	if (sample.path.link_layer == LINK_INFINIBAND) {
		judge_infiniband_crcs(bytes, length, crcs);
		return memcmp(bytes + length - 6, crcs, 6) == 0;
	}
	if (sample.path.vlan) {
		memcpy(untagged, bytes, 12);
		memcpy(untagged + 12, bytes + 16, length - 16);
		length -= 4;
		bytes = untagged;
	}
	judge_roce_icrc(bytes, length, crcs);
	return memcmp(bytes + length - 4, crcs, 4) == 0;
}

static void test_parse_of_build_is_identity(void)
{
	static const uint32_t sizes[ROUNDS] = {0, 1, 2, 3, 4, 5, 255, 256, 1023, 1024, 4095, 4096};
	struct sampler sampler = {1};
	uint8_t bytes[PACKET_BYTES_MAX];

	for (unsigned encapsulation = 0; encapsulation < SAMPLE_ENCAPSULATION_COUNT;
	     encapsulation++) {
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			for (unsigned round = 0; round < ROUNDS && opcode_known((uint8_t)opcode);
			     round++) {
				size_t length;

				sample_fill(&sample, &sampler, encapsulation, (uint8_t)opcode,
					    sizes[round]);
				length = codec_build(&sample.packet, bytes, sizeof(bytes));
				CU_ASSERT_TRUE(comes_back(bytes, length));
				CU_ASSERT_TRUE(crcs_right(bytes, length));
				/* wire_bytes includes the bytes that the MAC adds: FCS and
				 * padding */
				if (sample.path.link_layer == LINK_ETHERNET)
					length = length + 4 < 64 ? 64 : length + 4;
				CU_ASSERT_EQUAL(length, sample.packet.wire_bytes);
			}
		}
	}
}

static void test_trailing_bytes_are_ignored_and_missing_ones_found(void)
{
	struct sampler sampler = {2};
	uint8_t bytes[PACKET_BYTES_MAX + 16];

	for (unsigned encapsulation = 0; encapsulation < SAMPLE_ENCAPSULATION_COUNT;
	     encapsulation++) {
		size_t length, least;

		sample_fill(&sample, &sampler, encapsulation, UC_WRITE_ONLY_IMM, 7);
		length = codec_build(&sample.packet, bytes, PACKET_BYTES_MAX);
		memset(bytes + length, 0xa5, 16);
		CU_ASSERT_TRUE(comes_back(bytes, length + 16));
		least = sample.path.link_layer == LINK_INFINIBAND ? length - 2 : length;
		CU_ASSERT_TRUE(comes_back(bytes, least)); /* a capture without VCRC */
		for (size_t cut = 0; cut < least; cut++) {
			struct packet packet = {0};
			struct path path;

			if (cut == CREDIT_BYTES && sample.path.link_layer == LINK_INFINIBAND)
				continue;
			CU_ASSERT_EQUAL(
				codec_parse(bytes, cut, sample.path.link_layer, &packet, &path),
				PARSE_TRUNCATED);
		}
	}
}

/* If a capture cut a packet after its headers, all fields are known. */
static void test_headers_of_cut_packets(void)
{
	static const uint8_t opcodes[] = {UC_WRITE_ONLY_IMM, RC_READ_REQUEST, RC_ACK,
					  RC_COMPARE_SWAP, RC_SEND_MIDDLE};
	struct sampler sampler = {11};
	uint8_t bytes[PACKET_BYTES_MAX];

	for (unsigned i = 0; i < SAMPLE_ENCAPSULATION_COUNT * ARRAY_SIZE(opcodes); i++) {
		uint8_t opcode = opcodes[i / SAMPLE_ENCAPSULATION_COUNT];
		uint32_t payload_bytes = opcode_has_payload(opcode) ? 4096 : 0;
		struct packet whole = {0}, packet = {0};
		struct path path, whole_path;
		size_t length, headers;

		sample_fill(&sample, &sampler, i % SAMPLE_ENCAPSULATION_COUNT, opcode,
			    payload_bytes);
		length = codec_build(&sample.packet, bytes, PACKET_BYTES_MAX);
		headers = path_header_bytes(&sample.path) + opcode_info[opcode].bytes;
		CU_ASSERT_EQUAL_FATAL(
			codec_parse(bytes, length, sample.path.link_layer, &whole, &whole_path),
			PARSE_OK);
		for (size_t cut = 0; cut < headers + 40 && cut < length; cut++) {
			enum parse_status status = codec_parse_cut(
				bytes, cut, length, sample.path.link_layer, &packet, &path);

			CU_ASSERT_EQUAL(status, cut < headers ? PARSE_TRUNCATED : PARSE_OK);
			if (status != PARSE_OK)
				continue;
			CU_ASSERT(packet.opcode == whole.opcode && packet.psn == whole.psn &&
				  packet.dest_qp == whole.dest_qp &&
				  packet.wire_bytes == whole.wire_bytes &&
				  packet.payload_bytes == whole.payload_bytes &&
				  packet.remote_address == whole.remote_address &&
				  packet.compare == whole.compare && packet.msn == whole.msn);
			CU_ASSERT_EQUAL(packet.damage, 0);
		}
	}
}

/* A cut packet that could be credits, and that claims to be longer than any packet, has a path. */
static void test_cut_to_credits(void)
{
	static const uint8_t bytes[CREDIT_BYTES];
	struct packet packet = {0};
	struct path path = {0};

	CU_ASSERT_EQUAL(codec_parse_cut(bytes, CREDIT_BYTES, PACKET_BYTES_MAX + 1, LINK_INFINIBAND,
					&packet, &path),
			PARSE_TRUNCATED);
	CU_ASSERT_PTR_EQUAL(packet.path, &path);
	CU_ASSERT_EQUAL(path.link_layer, LINK_INFINIBAND);
}

static void test_damage(void)
{
	struct sampler sampler = {3};
	uint8_t bytes[PACKET_BYTES_MAX];

	for (unsigned encapsulation = 0; encapsulation < SAMPLE_ENCAPSULATION_COUNT;
	     encapsulation++) {
		for (uint8_t damage = 0; damage < 4; damage++) {
			struct packet packet = {0};
			struct path path;
			uint8_t expected = damage;
			size_t length;

			sample_fill(&sample, &sampler, encapsulation, RC_SEND_LAST, 30);
			sample.packet.damage = damage;
			length = codec_build(&sample.packet, bytes, sizeof(bytes));
			if (sample.path.link_layer == LINK_ETHERNET)
				expected &= DAMAGE_ICRC; /* there is no VCRC, and the FCS is not
							    captured */
			CU_ASSERT_EQUAL(
				codec_parse(bytes, length, sample.path.link_layer, &packet, &path),
				PARSE_OK);
			CU_ASSERT_EQUAL(packet.damage, expected);
		}
	}
}

static void test_payload_by_length_is_zeros(void)
{
	struct sampler sampler = {4};
	uint8_t with_bytes[PACKET_BYTES_MAX], without[PACKET_BYTES_MAX];
	size_t length;

	sample_fill(&sample, &sampler, SAMPLE_IPV6, RC_READ_RESP_ONLY, 100);
	memset(sample.payload.bytes, 0, 100);
	length = codec_build(&sample.packet, with_bytes, sizeof(with_bytes));
	sample.packet.payload = NULL;
	CU_ASSERT_EQUAL(codec_build(&sample.packet, without, sizeof(without)), length);
	CU_ASSERT_EQUAL(memcmp(with_bytes, without, length), 0);
}

static void test_priority_is_in_the_tag(void)
{
	struct path path = {.link_layer = LINK_ETHERNET,
			    .roce_version = ROCE_V2_IPV4,
			    .vlan = 5,
			    .service_level = 3};
	struct packet packet = {.path = &path, .opcode = RC_ACK};
	uint8_t bytes[PACKET_BYTES_MAX];

	codec_build(&packet, bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(be32_get(bytes + 12), 0x81006005);
}

/* The bytes are those of a PFC frame of a switch. It pauses priority 3 for the longest time, and
 * resumes priority 5. */
static void test_pfc_bytes(void)
{
	static const uint8_t expected[PFC_BYTES] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00,
						    0x00, 0x00, 0x00, 0x07, 0x88, 0x08, 0x01, 0x01,
						    0x00, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
						    0xff, 0xff, 0x00, 0x00, 0x00, 0x00};
	struct path path = {.link_layer = LINK_ETHERNET, .smac = {2, 0, 0, 0, 0, 7}};
	struct packet packet = {.kind = PACKET_PFC,
				.path = &path,
				.pause_enable = 0x28,
				.pause_quanta = {[3] = 0xffff}};
	struct packet parsed = {0};
	struct path parsed_path;
	uint8_t bytes[PACKET_BYTES_MAX];

	CU_ASSERT_EQUAL(codec_build(&packet, bytes, sizeof(bytes)), PFC_BYTES);
	CU_ASSERT_EQUAL(memcmp(bytes, expected, PFC_BYTES), 0);
	CU_ASSERT_EQUAL(codec_parse(bytes, PFC_BYTES, LINK_ETHERNET, &parsed, &parsed_path),
			PARSE_OK);
	CU_ASSERT_EQUAL(parsed.kind, PACKET_PFC);
	CU_ASSERT_EQUAL(parsed.pause_enable, 0x28);
	CU_ASSERT_EQUAL(
		memcmp(parsed.pause_quanta, packet.pause_quanta, sizeof(packet.pause_quanta)), 0);
	CU_ASSERT_EQUAL(memcmp(parsed_path.smac, path.smac, 6), 0);
	CU_ASSERT_EQUAL(parsed.wire_bytes, 64);
	bytes[0] = 3; /* another address */
	CU_ASSERT_EQUAL(codec_parse(bytes, PFC_BYTES, LINK_ETHERNET, &parsed, &parsed_path),
			PARSE_PFC_OPCODE);
	bytes[0] = 1;
	bytes[15] = 2;
	CU_ASSERT_EQUAL(codec_parse(bytes, PFC_BYTES, LINK_ETHERNET, &parsed, &parsed_path),
			PARSE_PFC_OPCODE);
	packet.path = NULL;
	CU_ASSERT_EQUAL(codec_build(&packet, bytes, sizeof(bytes)), PFC_BYTES);
	CU_ASSERT_EQUAL(be_get(bytes + 6, 6), 0);
}

/* The bytes are a connect and a disconnect of DC initiator 0x47 to target 0x55, from the BTH on. */
static void test_dc_bytes(void)
{
	static const uint8_t connect[] = {
		0xd8, 0x40, 0xff, 0xff, 0x00, 0x00,
		0x00, 0x55, 0x80, 0x01, 0x02, 0x03, /* BTH */
		0x00, 0x00, 0x00, 0x47,             /* DCETH */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
		0x77, 0x88, 0x00, 0x00, 0x00, 0x09, /* key, session */
	};
	static const uint8_t disconnect[] = {0xd9, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x55,
					     0x00, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00, 0x47};
	struct path path = {.link_layer = LINK_INFINIBAND, .slid = 1, .dlid = 2};
	struct packet packet = {.kind = PACKET_DATA,
				.path = &path,
				.opcode = DC_CONNECT,
				.migration = true,
				.pkey = 0xffff,
				.dest_qp = 0x55,
				.psn = 0x010203,
				.ack_request = true,
				.source_qp = 0x47,
				.dc_key = UINT64_C(0x1122334455667788),
				.dc_session = 9};
	struct packet parsed = {0};
	struct path parsed_path;
	uint8_t bytes[PACKET_BYTES_MAX];
	size_t length = codec_build(&packet, bytes, sizeof(bytes));

	CU_ASSERT_EQUAL(length, 8 + sizeof(connect) + 4 + 2);
	CU_ASSERT_EQUAL(memcmp(bytes + 8, connect, sizeof(connect)), 0);
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_INFINIBAND, &parsed, &parsed_path),
			PARSE_OK);
	CU_ASSERT_EQUAL(parsed.dc_key, packet.dc_key);
	CU_ASSERT_EQUAL(parsed.dc_session, 9);
	CU_ASSERT_EQUAL(parsed.source_qp, 0x47);
	packet.opcode = DC_DISCONNECT;
	packet.ack_request = false;
	CU_ASSERT_EQUAL(codec_build(&packet, bytes, sizeof(bytes)), 8 + sizeof(disconnect) + 6);
	CU_ASSERT_EQUAL(memcmp(bytes + 8, disconnect, sizeof(disconnect)), 0);
	CU_ASSERT_EQUAL(headers_parse(bytes + 8, 12, &parsed, &length), PARSE_BTH_LENGTH);
}

static void test_flow_control_bytes(void)
{
	static const uint8_t start[4] = {0x1a, 0xbc, 0x3d, 0xef};
	struct packet packet = {.kind = PACKET_FLOW_CONTROL,
				.opcode = CREDIT_INITIALIZE,
				.vl = 3,
				.credit_total = 0xabc,
				.credit_limit = 0xdef};
	struct packet parsed = {0};
	struct path path;
	uint8_t bytes[CREDIT_BYTES], crc[2];

	CU_ASSERT_EQUAL(codec_build(&packet, bytes, sizeof(bytes)), CREDIT_BYTES);
	judge_link_crc(start, crc);
	CU_ASSERT_EQUAL(memcmp(bytes, start, 4), 0);
	CU_ASSERT_EQUAL(memcmp(bytes + 4, crc, 2), 0);
	CU_ASSERT_EQUAL(codec_parse(bytes, sizeof(bytes), LINK_INFINIBAND, &parsed, &path),
			PARSE_OK);
	CU_ASSERT_EQUAL(parsed.kind, PACKET_FLOW_CONTROL);
	CU_ASSERT_EQUAL(parsed.opcode, CREDIT_INITIALIZE);
	CU_ASSERT_EQUAL(parsed.vl, 3);
	CU_ASSERT_EQUAL(parsed.credit_total, 0xabc);
	CU_ASSERT_EQUAL(parsed.credit_limit, 0xdef);
	bytes[1] ^= 1;
	CU_ASSERT_EQUAL(codec_parse(bytes, sizeof(bytes), LINK_INFINIBAND, &parsed, &path),
			PARSE_LPCRC);
}

/* Each row has one changed byte in an otherwise correct packet, and the reported reason. */
static void test_statuses(void)
{
	/* clang-format off */
	static const struct {
		enum sample_encapsulation encapsulation;
		uint8_t at, flip;
		enum parse_status status;
	} rows[] = {
		{SAMPLE_IB_LOCAL,  0,  0x01, PARSE_LRH_VERSION},
		{SAMPLE_IB_LOCAL,  1,  0x02, PARSE_NOT_RDMA},         /* LNH: raw */
		{SAMPLE_IB_LOCAL,  4,  0x04, PARSE_TRUNCATED},
		{SAMPLE_IB_LOCAL,  8,  0x11, PARSE_BTH_OPCODE},       /* 0x04 becomes 0x15 */
		{SAMPLE_IB_LOCAL,  9,  0x01, PARSE_BTH_VERSION},
		{SAMPLE_IB_GLOBAL, 8,  0x10, PARSE_GRH_VERSION},
		{SAMPLE_IB_GLOBAL, 13, 0x08, PARSE_GRH_LENGTH},
		{SAMPLE_IB_GLOBAL, 14, 0x01, PARSE_GRH_NEXT_HEADER},
		{SAMPLE_V1,        20, 0x01, PARSE_GRH_NEXT_HEADER},
		{SAMPLE_V1,        12, 0x01, PARSE_NOT_RDMA},         /* Ethernet type */
		{SAMPLE_IPV4,      14, 0x01, PARSE_IP_HEADER},        /* four bytes of options */
		{SAMPLE_IPV4,      20, 0x20, PARSE_IP_FRAGMENT},
		{SAMPLE_IPV4,      24, 0x01, PARSE_IP_CHECKSUM},
		{SAMPLE_IPV4,      23, 0x10, PARSE_NOT_RDMA},         /* ICMP */
		{SAMPLE_IPV4,      37, 0x01, PARSE_NOT_RDMA},         /* another UDP port */
		{SAMPLE_IPV4,      39, 0x04, PARSE_UDP_LENGTH},
		{SAMPLE_IPV4,      41, 0x01, PARSE_UDP_CHECKSUM},
		{SAMPLE_IPV6,      14, 0x10, PARSE_IP_HEADER},
		{SAMPLE_IPV6,      20, 0x10, PARSE_NOT_RDMA},
	};
	/* clang-format on */
	struct sampler sampler = {5};
	uint8_t bytes[PACKET_BYTES_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet packet = {0};
		struct path path;
		size_t length;

		sample_fill(&sample, &sampler, rows[i].encapsulation, RC_SEND_ONLY, 40);
		length = codec_build(&sample.packet, bytes, sizeof(bytes));
		bytes[rows[i].at] ^= rows[i].flip;
		CU_ASSERT_EQUAL(codec_parse(bytes, length, sample.path.link_layer, &packet, &path),
				rows[i].status);
	}
	CU_ASSERT_STRING_EQUAL(parse_status_meaning(PARSE_LPCRC), "link packet CRC is wrong");
}

static void test_payload_where_there_must_be_none(void)
{
	struct sampler sampler = {6};
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet = {0};
	struct path path;
	size_t length;

	sample_fill(&sample, &sampler, SAMPLE_IB_LOCAL, RC_SEND_ONLY, 20);
	length = codec_build(&sample.packet, bytes, sizeof(bytes));
	bytes[8] = RC_READ_REQUEST; /* 16 bytes of RETH, four too many */
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_INFINIBAND, &packet, &path),
			PARSE_BTH_LENGTH);
	bytes[8] = RC_COMPARE_SWAP; /* eight too few */
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_INFINIBAND, &packet, &path),
			PARSE_BTH_LENGTH);
}

static void test_udp_checksum_of_others(void)
{
	struct sampler sampler = {7};
	uint8_t bytes[PACKET_BYTES_MAX];
	uint8_t pseudo[12];
	size_t length;
	uint32_t sum;

	sample_fill(&sample, &sampler, SAMPLE_IPV4, UD_SEND_ONLY, 41);
	length = codec_build(&sample.packet, bytes, sizeof(bytes));
	memcpy(pseudo, bytes + 26, 8);
	pseudo[8] = 0;
	pseudo[9] = 17;
	memcpy(pseudo + 10, bytes + 38, 2);
	sum = ip_sum(pseudo, sizeof(pseudo), 0);
	be16_put(bytes + 40, (uint16_t)~ip_sum(bytes + 34, length - 34, sum));
	CU_ASSERT_TRUE(comes_back(bytes, length)); /* the ICRC does not cover it */
}

static void test_aeth(void)
{
	char text[64];

	CU_ASSERT_EQUAL(aeth_rnr_delay(0), 655360 * US);
	CU_ASSERT_EQUAL(aeth_rnr_delay(1), 10 * US);
	CU_ASSERT_EQUAL(aeth_rnr_delay(12), 640 * US);
	CU_ASSERT_EQUAL(aeth_rnr_delay(31), 491520 * US);
	CU_ASSERT_EQUAL(aeth_credits(0), 0);
	CU_ASSERT_EQUAL(aeth_credits(1), 1);
	CU_ASSERT_EQUAL(aeth_credits(2), 2);
	CU_ASSERT_EQUAL(aeth_credits(3), 3);
	CU_ASSERT_EQUAL(aeth_credits(5), 6);
	CU_ASSERT_EQUAL(aeth_credits(8), 16);
	CU_ASSERT_EQUAL(aeth_credits(9), 24);
	CU_ASSERT_EQUAL(aeth_credits(30), 32768);
	CU_ASSERT_EQUAL(aeth_syndrome(SYNDROME_NAK, NAK_REMOTE_ACCESS), 0x62);
	CU_ASSERT_EQUAL(aeth_syndrome(SYNDROME_RNR_NAK, 14), 0x2e);
	aeth_print(0x1f, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "ACK");
	aeth_print(0x05, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "ACK credits 6");
	aeth_print(0x2e, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "RNR NAK timer 1.28 ms");
	aeth_print(0x60, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "NAK PSN sequence error");
	aeth_print(0x65, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "NAK reserved code");
	aeth_print(0x40, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "reserved syndrome 0x40");
}
