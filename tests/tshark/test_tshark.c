/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that tshark reads the output of pcapng.c as intended: random packets of every opcode in
 * every encapsulation, credits and PFC. No packet is malformed, and each displayed field equals the
 * field of struct packet. tshark 4.0 does not know XRC, DC and CNP, so only their BTH is compared.
 * It checks no CRC (tests/wire does). Exit status 77: tshark is not installed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "fabric/wire/pcapng.h"
#include "tests/support/suite.h"
#include "tests/wire/support/sample.h"

#define TESTS(TEST)                               \
	TEST(every_opcode_in_every_encapsulation) \
	TEST(credits_and_pause)
SUITE_AFTER(need_tshark, TESTS)

#define SAMPLES_MAX    1024
#define LINE_MAX_BYTES 4096

/* The packets that have a column. */
enum presence { IN_HEADER, IN_LRH, IN_GRH, IN_IPV4, IN_IPV6, IN_UDP };

struct column {
	const char *field; /* of tshark */
	enum presence presence;
	enum header header; /* IN_HEADER */
	bool of_path;
	uint8_t bytes; /* of the member */
	uint8_t base;  /* 0: as C writes numbers; 16: bytes in hexadecimal */
	size_t member;
};

/* clang-format off */
#define MEMBER(owner, member) sizeof(((struct owner *)0)->member)
#define TRANSPORT(field, header, base, member) \
	{field, IN_HEADER, HDR_##header, false, MEMBER(packet, member), base, \
	 offsetof(struct packet, member)}
#define NETWORK(field, presence, member) \
	{field, presence, HDR_COUNT, true, MEMBER(path, member), 0, offsetof(struct path, member)}
#define VARIANT(field, presence, member) \
	{field, presence, HDR_COUNT, false, MEMBER(packet, member), 0, \
	 offsetof(struct packet, member)}

static const struct column columns[] = {
	TRANSPORT("infiniband.bth.opcode",             BTH,            0,  opcode),
	TRANSPORT("infiniband.bth.se",                 BTH,            0,  solicited),
	TRANSPORT("infiniband.bth.m",                  BTH,            0,  migration),
	TRANSPORT("infiniband.bth.p_key",              BTH,            0,  pkey),
	TRANSPORT("infiniband.bth.destqp",             BTH,            0,  dest_qp),
	TRANSPORT("infiniband.bth.a",                  BTH,            0,  ack_request),
	TRANSPORT("infiniband.bth.psn",                BTH,            0,  psn),
	TRANSPORT("infiniband.deth.q_key",             DETH,           0,  qkey),
	TRANSPORT("infiniband.deth.srcqp",             DETH,           0,  source_qp),
	TRANSPORT("infiniband.reth.dmalen",            RETH,           0,  dma_length),
	TRANSPORT("infiniband.atomiceth.swapdt",       ATOMIC_ETH,     0,  swap_or_add),
	TRANSPORT("infiniband.atomiceth.cmpdt",        ATOMIC_ETH,     0,  compare),
	TRANSPORT("infiniband.aeth.syndrome",          AETH,           0,  syndrome),
	TRANSPORT("infiniband.aeth.msn",               AETH,           0,  msn),
	TRANSPORT("infiniband.atomicacketh.origremdt", ATOMIC_ACK_ETH, 0,  compare),
	TRANSPORT("infiniband.immdt",                  IMM,            16, immediate),
	TRANSPORT("infiniband.ieth",                   IETH,           16, immediate),
	NETWORK("infiniband.lrh.sl",                   IN_LRH,  service_level),
	NETWORK("infiniband.lrh.slid",                 IN_LRH,  slid),
	NETWORK("infiniband.lrh.dlid",                 IN_LRH,  dlid),
	VARIANT("infiniband.lrh.vl",                   IN_LRH,  vl),
	NETWORK("infiniband.grh.tclass",               IN_GRH,  traffic_class),
	NETWORK("infiniband.grh.flowlabel",            IN_GRH,  flow_label),
	VARIANT("infiniband.grh.hoplmt",               IN_GRH,  hop_limit),
	VARIANT("ip.ttl",                              IN_IPV4, hop_limit),
	VARIANT("ip.id",                               IN_IPV4, ip_identification),
	VARIANT("ip.dsfield.ecn",                      IN_IPV4, ecn),
	VARIANT("ipv6.hlim",                           IN_IPV6, hop_limit),
	VARIANT("ipv6.tclass.ecn",                     IN_IPV6, ecn),
	NETWORK("ipv6.flow",                           IN_IPV6, flow_label),
	NETWORK("udp.srcport",                         IN_UDP,  udp_source_port),
};

/* Fields that are not one member of the packet. check_others() checks them. */
#define OTHER_FIELDS(X) \
	X(MALFORMED, "_ws.malformed") X(INTERFACE, "frame.interface_name") \
	X(TIME, "frame.time_epoch") X(ADDRESS, "infiniband.reth.va") \
	X(RKEY, "infiniband.reth.r_key") X(PAD, "infiniband.bth.padcnt") \
	X(VLAN, "vlan.id") X(PRIORITY, "vlan.priority") X(CHECKSUM, "ip.checksum.status")
#define OTHER_ENUM(name, field) OTHER_##name,
#define OTHER_NAME(name, field) field,
enum other { OTHER_FIELDS(OTHER_ENUM) OTHER_COUNT };
static const char *const other_fields[] = { OTHER_FIELDS(OTHER_NAME) };
/* clang-format on */

#define COLUMN_COUNT ARRAY_SIZE(columns)

static const char *const interfaces[] = {"host0.hca.port", "host1.hca.port"};
static const char file_name[] = "packets.pcapng";
static struct sample samples[SAMPLES_MAX];
static unsigned sample_count;

static void need_tshark(void)
{
	if (system("command -v tshark >/dev/null") != 0) {
		printf("skipped: tshark is not installed\n");
		exit(SUITE_SKIP);
	}
}

static sim_time time_of(unsigned number)
{
	return SEC + number * (US + 1234 * NS) + 777; /* the last 777 ps are cut off */
}

static void samples_write(void)
{
	struct pcapng *pcapng = pcapng_create(file_name);
	struct sampler sampler = {2024};

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	pcapng_interface_add(pcapng, interfaces[0], LINK_INFINIBAND);
	pcapng_interface_add(pcapng, interfaces[1], LINK_ETHERNET);
	for (unsigned encapsulation = 0; encapsulation < SAMPLE_ENCAPSULATION_COUNT;
	     encapsulation++) {
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			struct sample *sample = &samples[sample_count];

			if (!opcode_known((uint8_t)opcode))
				continue;
			CU_ASSERT_FATAL(sample_count < SAMPLES_MAX);
			sample_fill(sample, &sampler, encapsulation, (uint8_t)opcode,
				    64 + opcode % 4);
			pcapng_write(pcapng, sample->path.link_layer == LINK_ETHERNET,
				     time_of(sample_count), &sample->packet, NULL);
			sample_count++;
		}
	}
	CU_ASSERT_EQUAL_FATAL(pcapng_destroy(pcapng), 0);
	CU_ASSERT_EQUAL(sample_count, 86 * SAMPLE_ENCAPSULATION_COUNT);
}

/* Starts tshark with these fields, tab-separated. */
static FILE *tshark_open(const char *fields)
{
	char command[8192];

	snprintf(command, sizeof(command),
		 "tshark -n -r %s --disable-heuristic rpcrdma_infiniband --disable-heuristic "
		 "mellanox_eoib "
		 "--disable-heuristic eth_over_ib -o ip.check_checksum:TRUE -T fields -E "
		 "occurrence=f %s "
		 "2>/dev/null",
		 file_name, fields);
	return popen(command, "r");
}

/* Returns the value of a column, and cuts it off the line. */
static const char *value_next(char **line)
{
	const char *value = strsep(line, "\t\n");

	return value ? value : "";
}

static bool known_to_tshark(const struct packet *packet)
{
	return opcode_info[packet->opcode].transport < TRANSPORT_CNP;
}

static bool column_present(const struct column *column, const struct sample *sample)
{
	const struct path *path = &sample->path;

	switch (column->presence) {
	case IN_HEADER:
		return opcode_has(sample->packet.opcode, column->header) &&
		       (column->header == HDR_BTH || known_to_tshark(&sample->packet));
	case IN_LRH:
		return path->link_layer == LINK_INFINIBAND;
	case IN_GRH:
		return path->has_grh && path->roce_version <= ROCE_V1;
	case IN_IPV4:
		return path->roce_version == ROCE_V2_IPV4;
	case IN_IPV6:
		return path->roce_version == ROCE_V2_IPV6;
	case IN_UDP:
		return path->roce_version >= ROCE_V2_IPV4;
	}
	return false;
}

static uint64_t column_value(const struct column *column, const struct sample *sample)
{
	const uint8_t *owner =
		column->of_path ? (const uint8_t *)&sample->path : (const uint8_t *)&sample->packet;
	uint64_t value = 0;

	memcpy(&value, owner + column->member, column->bytes); /* of a little-endian machine */
	return value;
}

static void check_number(const char *field, unsigned number, const char *text, bool present,
			 uint64_t expected, int base)
{
	char *end;
	bool right =
		present ? text[0] && strtoull(text, &end, base) == expected && !*end : !text[0];

	CU_ASSERT_TRUE(right);
	if (!right)
		printf("\npacket %u (%s): %s is '%s', not %s0x%" PRIx64, number + 1,
		       opcode_name(samples[number].packet.opcode), field, text,
		       present ? "" : "absent, ", expected);
}

static void check_others(unsigned number, const char *const values[OTHER_COUNT])
{
	const struct sample *sample = &samples[number];
	const struct packet *packet = &sample->packet;
	bool remote = known_to_tshark(packet) && (opcode_has(packet->opcode, HDR_RETH) ||
						  opcode_has(packet->opcode, HDR_ATOMIC_ETH));
	bool tagged = sample->path.vlan != 0;
	uint64_t nanoseconds = time_of(number) / NS;
	char time[64];

	snprintf(time, sizeof(time), "%" PRIu64 ".%09" PRIu64, nanoseconds / 1000000000,
		 nanoseconds % 1000000000);
	CU_ASSERT_STRING_EQUAL(values[OTHER_MALFORMED], "");
	CU_ASSERT_STRING_EQUAL(values[OTHER_INTERFACE],
			       interfaces[sample->path.link_layer == LINK_ETHERNET]);
	CU_ASSERT_STRING_EQUAL(values[OTHER_TIME], time);
	check_number("address", number, values[OTHER_ADDRESS], remote, packet->remote_address, 0);
	check_number("R_Key", number, values[OTHER_RKEY], remote, packet->rkey, 0);
	check_number("pad", number, values[OTHER_PAD], true, packet_pad_bytes(packet), 0);
	check_number("VLAN", number, values[OTHER_VLAN], tagged, sample->path.vlan & 0xfff, 0);
	check_number("priority", number, values[OTHER_PRIORITY], tagged, sample->path.vlan >> 13,
		     0);
	check_number("IP checksum", number, values[OTHER_CHECKSUM],
		     sample->path.roce_version == ROCE_V2_IPV4, 1, 0);
}

static void check_line(unsigned number, char *line)
{
	const char *values[OTHER_COUNT];

	for (size_t i = 0; i < OTHER_COUNT; i++)
		values[i] = value_next(&line);
	check_others(number, values);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		check_number(columns[i].field, number, value_next(&line),
			     column_present(&columns[i], &samples[number]),
			     column_value(&columns[i], &samples[number]), columns[i].base);
}

static void test_every_opcode_in_every_encapsulation(void)
{
	char fields[4096] = "";
	char line[LINE_MAX_BYTES];
	unsigned number = 0;
	FILE *tshark;

	samples_write();
	for (size_t i = 0; i < OTHER_COUNT; i++)
		snprintf(fields + strlen(fields), sizeof(fields) - strlen(fields), "-e %s ",
			 other_fields[i]);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		snprintf(fields + strlen(fields), sizeof(fields) - strlen(fields), "-e %s ",
			 columns[i].field);
	tshark = tshark_open(fields);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tshark);
	while (fgets(line, sizeof(line), tshark)) {
		CU_ASSERT_FATAL(number < sample_count);
		check_line(number++, line);
	}
	CU_ASSERT_EQUAL(number, sample_count);
	CU_ASSERT_EQUAL(pclose(tshark), 0);
}

static void test_credits_and_pause(void)
{
	static const struct packet credits = {
		.kind = PACKET_FLOW_CONTROL, .vl = 7, .credit_total = 0xabf, .credit_limit = 0xcdf};
	static const struct packet pause = {
		.kind = PACKET_PFC, .pause_enable = 0x48, .pause_quanta = {[3] = 0xffff, [6] = 1}};
	static const char *const expected[] = {
		"\terf:infiniband_link\t25\t2751\t3295\t7\t\t\t\t\n",
		"\teth:ethertype:macc\t\t\t\t\t0x0048\t65535\t1\t0\n",
	};
	struct pcapng *pcapng = pcapng_create(file_name);
	char line[LINE_MAX_BYTES];
	FILE *tshark;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	pcapng_interface_add(pcapng, interfaces[0], LINK_INFINIBAND);
	pcapng_interface_add(pcapng, interfaces[1], LINK_ETHERNET);
	pcapng_write(pcapng, 0, 0, &credits, NULL);
	pcapng_write(pcapng, 1, 0, &pause, NULL);
	CU_ASSERT_EQUAL(pcapng_destroy(pcapng), 0);
	tshark = tshark_open(
		"-e _ws.malformed -e frame.protocols -e erf.types.type -e infiniband_link.fctbs "
		"-e infiniband_link.fccl -e infiniband_link.vl -e macc.cbfc.enbv "
		"-e macc.cbfc.pause_time.c3 -e macc.cbfc.pause_time.c6 -e macc.cbfc.pause_time.c0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(tshark);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof(line), tshark));
		CU_ASSERT_STRING_EQUAL(line, expected[i]);
	}
	CU_ASSERT_EQUAL(pclose(tshark), 0);
}
