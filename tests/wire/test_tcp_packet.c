/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests TCP segments as packets: two frames byte by byte (one around a segment that Linux 6.18
 * sent). Random packets return unchanged, each kind of damage is found, and lengths on the wire are
 * right.
 */
#include <string.h>

#include "fabric/wire/codec.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                     \
	TEST(ipv4_frame)                \
	TEST(ipv6_frame_with_tag)       \
	TEST(random_packets_return)     \
	TEST(each_wrong_bit_is_found)   \
	TEST(damage_is_a_wrong_sum)     \
	TEST(jumbo_payload_is_a_length) \
	TEST(bytes_on_the_wire)         \
	TEST(way_back)
SUITE(TESTS)

/* 10.9.0.1 port 5001 to 10.9.0.2 port 4000, DSCP 18, ECT(0), TTL 63. */
static const uint8_t ipv4_frame[] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45,
	0x4a, 0x00, 0x3c, 0x12, 0x34, 0x40, 0x00, 0x3f, 0x06, 0x15, 0x2a, 0x0a, 0x09, 0x00, 0x01,
	0x0a, 0x09, 0x00, 0x02, 0x13, 0x89, 0x0f, 0xa0, 0x62, 0x8f, 0xde, 0xf1, 0x00, 0x00, 0x03,
	0xe9, 0xa0, 0x12, 0xfe, 0x88, 0x95, 0xeb, 0x00, 0x00, 0x02, 0x04, 0x05, 0xb4, 0x04, 0x02,
	0x08, 0x0a, 0x7a, 0xe9, 0xbb, 0xe6, 0x00, 0x00, 0x00, 0x01, 0x01, 0x03, 0x03, 0x0a};

/* fd00::1 port 40000 to fd00::2 port 5001, VLAN 100 with priority 3, DSCP 10, CE, "hello". */
static const uint8_t ipv6_frame[] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x81, 0x00,
	0x60, 0x64, 0x86, 0xdd, 0x62, 0xb5, 0x43, 0x21, 0x00, 0x25, 0x06, 0x07, 0xfd, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xfd, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x02, 0x9c, 0x40, 0x13, 0x89, 0xff, 0xff, 0xff, 0xfe, 0x80, 0x00, 0x00, 0x01,
	0x80, 0x98, 0x01, 0x02, 0xf7, 0x79, 0x00, 0x00, 0x01, 0x01, 0x08, 0x0a, 0x01, 0x02,
	0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x68, 0x65, 0x6c, 0x6c, 0x6f};

static const uint8_t ipv4_mapped[12] = {[10] = 0xff, [11] = 0xff};
static struct payload payload, parsed_payload;

/* Returns the path of both frames, except for the fields that the encapsulation selects. */
static struct path make_path(enum roce_version version)
{
	struct path path;

	memset(&path, 0, sizeof(path)); /* padding too */
	path.source = path.destination = NO_ENDPOINT;
	path.link_layer = LINK_ETHERNET;
	path.roce_version = (uint8_t)version;
	path.has_grh = true;
	memcpy(path.smac, ipv4_frame + 6, 6);
	memcpy(path.dmac, ipv4_frame, 6);
	if (version == ROCE_V2_IPV4) {
		memcpy(path.sgid, ipv4_mapped, 12);
		memcpy(path.dgid, ipv4_mapped, 12);
		memcpy(path.sgid + 12, ipv4_frame + 26, 4);
		memcpy(path.dgid + 12, ipv4_frame + 30, 4);
		path.traffic_class = 18 << 2;
		path.hop_limit = 63;
		path.tcp_source_port = 5001;
		path.tcp_destination_port = 4000;
	} else {
		memcpy(path.sgid, ipv6_frame + 26, 16);
		memcpy(path.dgid, ipv6_frame + 42, 16);
		path.traffic_class = 10 << 2;
		path.hop_limit = 7;
		path.flow_label = 0x54321;
		path.vlan = 3 << 13 | 100;
		path.service_level = 3;
		path.tcp_source_port = 40000;
		path.tcp_destination_port = 5001;
	}
	return path;
}

static void make_packet(struct packet *packet, const struct path *path, uint8_t ecn,
			uint32_t payload_bytes, const struct tcp_header *header)
{
	memset(packet, 0, sizeof(*packet));
	packet->path = path;
	packet->ecn = ecn;
	packet->hop_limit = path->hop_limit;
	packet->payload = &payload;
	packet->payload_bytes = payload_bytes;
	packet->vl = path->service_level;
	tcp_packet_set(packet, header);
	packet->wire_bytes = packet_wire_bytes(packet);
}

/* Returns true if the frame parses to the packet, its path and its payload. */
static bool parses_to(const uint8_t *bytes, size_t length, const struct packet *expected)
{
	struct packet packet = {.payload = &parsed_payload};
	struct path path;

	if (codec_parse(bytes, length, LINK_ETHERNET, &packet, &path) != PARSE_OK)
		return false;
	packet.payload = expected->payload;
	packet.path = expected->path;
	return memcmp(&packet, expected, sizeof(packet)) == 0 &&
	       memcmp(&path, expected->path, sizeof(path)) == 0 &&
	       memcmp(parsed_payload.bytes, payload.bytes, packet.payload_bytes) == 0;
}

static void check_frame(const struct packet *packet, const uint8_t *frame, size_t length)
{
	uint8_t bytes[PACKET_BYTES_MAX];

	CU_ASSERT_EQUAL_FATAL(codec_build(packet, bytes, sizeof(bytes)), length);
	CU_ASSERT_EQUAL(memcmp(bytes, frame, length), 0);
	CU_ASSERT_TRUE(parses_to(frame, length, packet));
}

static void make_ipv4(struct packet *packet, struct path *path)
{
	static const struct tcp_header header = {
		.sequence = 0x628fdef1,
		.acknowledgment = 1001,
		.flags = TCP_SYN | TCP_ACK,
		.window = 65160,
		.options = TCP_OPTION_MSS | TCP_OPTION_SACK_PERMITTED | TCP_OPTION_TIMESTAMPS |
			   TCP_OPTION_WINDOW_SCALE,
		.mss = 1460,
		.timestamp = 0x7ae9bbe6,
		.timestamp_echo = 1,
		.window_scale = 10,
	};

	*path = make_path(ROCE_V2_IPV4);
	make_packet(packet, path, ECN_ECT0, 0, &header);
	packet->ip_identification = 0x1234;
}

static void test_ipv4_frame(void)
{
	struct packet packet;
	struct path path;

	make_ipv4(&packet, &path);
	check_frame(&packet, ipv4_frame, sizeof(ipv4_frame));
	CU_ASSERT_EQUAL(packet.wire_bytes, sizeof(ipv4_frame) + 4);
}

static void make_ipv6(struct packet *packet, struct path *path)
{
	static const struct tcp_header header = {
		.sequence = 0xfffffffe,
		.acknowledgment = 0x80000001,
		.flags = TCP_PSH | TCP_ACK | TCP_CWR,
		.window = 0x0102,
		.options = TCP_OPTION_TIMESTAMPS,
		.timestamp = 0x01020304,
		.timestamp_echo = 0x05060708,
	};

	memcpy(payload.bytes, "hello", 5);
	*path = make_path(ROCE_V2_IPV6);
	make_packet(packet, path, ECN_CE, 5, &header);
}

static void test_ipv6_frame_with_tag(void)
{
	struct packet packet;
	struct path path;

	make_ipv6(&packet, &path);
	check_frame(&packet, ipv6_frame, sizeof(ipv6_frame));
	CU_ASSERT_EQUAL(packet.wire_bytes, sizeof(ipv6_frame) + 4);
}

static uint32_t next32(struct random *random)
{
	return (uint32_t)random_u64(random);
}

static void random_header(struct random *random, struct tcp_header *header)
{
	bool syn = random_u64(random) & 1;

	*header = (struct tcp_header){
		.sequence = next32(random),
		.acknowledgment = next32(random),
		.window = (uint16_t)next32(random),
		.urgent = (uint16_t)next32(random),
		.flags = (uint8_t)((next32(random) & ~(uint32_t)TCP_SYN) | (syn ? TCP_SYN : 0)),
		.options = (uint8_t)(next32(random) & (syn ? 15 : TCP_OPTION_TIMESTAMPS)),
	};
	if (header->options & TCP_OPTION_MSS)
		header->mss = (uint16_t)next32(random);
	if (header->options & TCP_OPTION_WINDOW_SCALE)
		header->window_scale = (uint8_t)next32(random);
	if (header->options & TCP_OPTION_TIMESTAMPS) {
		header->timestamp = next32(random);
		header->timestamp_echo = next32(random);
	}
	if (!syn)
		header->sack_count = (uint8_t)(next32(random) % (tcp_sack_room(header) + 1));
	for (unsigned i = 0; i < header->sack_count; i++)
		header->sack[i] = (struct tcp_sack){next32(random), next32(random)};
}

static void test_random_packets_return(void)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 4, 5, 536, 1447, 1448, 4095, 4096};
	struct random random;
	uint8_t bytes[PACKET_BYTES_MAX];

	random_init_named(&random, 7, "test", "packets");
	for (size_t i = 0; i < sizeof(payload.bytes); i++)
		payload.bytes[i] = (uint8_t)next32(&random);
	for (unsigned round = 0; round < 2000; round++) {
		enum roce_version version = round % 2 ? ROCE_V2_IPV4 : ROCE_V2_IPV6;
		struct path path = make_path(version);
		struct tcp_header header;
		struct packet packet;
		size_t length;

		path.tcp_source_port = (uint16_t)next32(&random);
		path.tcp_destination_port = (uint16_t)(next32(&random) | 1);
		random_header(&random, &header);
		make_packet(&packet, &path, (uint8_t)(next32(&random) & 3),
			    sizes[round % ARRAY_SIZE(sizes)], &header);
		packet.ip_identification = version == ROCE_V2_IPV4 ? (uint16_t)next32(&random) : 0;
		length = codec_build(&packet, bytes, sizeof(bytes));
		CU_ASSERT_TRUE(parses_to(bytes, length, &packet));
		CU_ASSERT_EQUAL(packet.wire_bytes, length + 4 < 64 ? 64 : length + 4);
	}
}

/* The TCP checksum covers addresses, header and payload; IPv4 has a sum of its own. */
static void test_each_wrong_bit_is_found(void)
{
	uint8_t bytes[sizeof(ipv4_frame)];
	struct packet expected;
	struct path path;

	make_ipv4(&expected, &path);
	for (size_t at = 14; at < sizeof(ipv4_frame); at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(bytes, ipv4_frame, sizeof(bytes));
			bytes[at] ^= (uint8_t)(1 << bit);
			CU_ASSERT_FALSE(parses_to(bytes, sizeof(bytes), &expected));
		}
	}
	memcpy(bytes, ipv4_frame, sizeof(bytes));
	bytes[sizeof(bytes) - 1] ^= 1; /* the window scale */
	expected.payload = NULL;
	CU_ASSERT_EQUAL(codec_parse(bytes, sizeof(bytes), LINK_ETHERNET, &expected, &path),
			PARSE_TCP_CHECKSUM);
}

static void test_damage_is_a_wrong_sum(void)
{
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet, parsed = {0};
	struct path path, parsed_path;
	size_t length;

	make_ipv6(&packet, &path);
	packet.damage = DAMAGE_ICRC;
	length = codec_build(&packet, bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(length, sizeof(ipv6_frame));
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_ETHERNET, &parsed, &parsed_path),
			PARSE_TCP_CHECKSUM);
}

static void test_jumbo_payload_is_a_length(void)
{
	static const struct tcp_header header = {.flags = TCP_ACK};
	static uint8_t bytes[PACKET_BYTES_MAX];
	struct path path = make_path(ROCE_V2_IPV4), parsed_path;
	struct packet packet, parsed = {0};
	size_t length;

	make_packet(&packet, &path, 0, 8948, &header);
	packet.payload = NULL;
	length = codec_build(&packet, bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(length, 14 + 20 + 20 + 8948);
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_ETHERNET, &parsed, &parsed_path), PARSE_OK);
	CU_ASSERT_EQUAL(parsed.payload_bytes, 8948);
	parsed.payload = &parsed_payload;
	CU_ASSERT_EQUAL(codec_parse(bytes, length, LINK_ETHERNET, &parsed, &parsed_path),
			PARSE_PAYLOAD_LENGTH);
}

static void test_bytes_on_the_wire(void)
{
	static const struct tcp_header plain = {.flags = TCP_ACK};
	static const struct tcp_header timed = {.flags = TCP_ACK, .options = TCP_OPTION_TIMESTAMPS};
	struct path path = make_path(ROCE_V2_IPV4);
	struct packet packet;

	make_packet(&packet, &path, 0, 1460, &plain);
	CU_ASSERT_EQUAL(packet.wire_bytes, 1518);
	make_packet(&packet, &path, 0, 1448, &timed);
	CU_ASSERT_EQUAL(packet.wire_bytes, 1518);
	make_packet(&packet, &path, 0, 5, &plain);
	CU_ASSERT_EQUAL(packet.wire_bytes, 64); /* padded by the MAC */
	make_packet(&packet, &path, 0, 6, &plain);
	CU_ASSERT_EQUAL(packet.wire_bytes, 64);
	make_packet(&packet, &path, 0, 7, &plain);
	CU_ASSERT_EQUAL(packet.wire_bytes, 65);
}

static void test_way_back(void)
{
	struct path path = make_path(ROCE_V2_IPV6);
	struct paths *paths = paths_create();
	const struct path *there = path_intern(paths, &path);
	const struct path *back = path_reverse(paths, there);

	CU_ASSERT_EQUAL(back->tcp_source_port, 5001);
	CU_ASSERT_EQUAL(back->tcp_destination_port, 40000);
	CU_ASSERT_PTR_EQUAL(path_reverse(paths, back), there);
	paths_destroy(paths);
}
