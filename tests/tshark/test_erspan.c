/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that tshark reads mirrored frames as intended: random ERSPAN headers of both types around
 * random RoCE packets. No frame is malformed, and the fields of GRE, ERSPAN and of the packet
 * inside are those that were written. Exit status 77: tshark is not installed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/codec.h"
#include "fabric/wire/erspan.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/ip.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/pcapng.h"
#include "tests/support/suite.h"
#include "tests/wire/support/sample.h"

#define TESTS(TEST) TEST(both_types)
SUITE_AFTER(need_tshark, TESTS)

#define FRAMES 200

static const char file_name[] = "erspan.pcapng";
static const uint8_t ipv4_mapped[12] = {[10] = 0xff, [11] = 0xff};
static char expected[FRAMES][256];

static void need_tshark(void)
{
	if (system("command -v tshark >/dev/null") != 0) {
		printf("skipped: tshark is not installed\n");
		exit(SUITE_SKIP);
	}
}

static struct erspan random_header(struct sampler *sampler, unsigned number)
{
	bool three = number % 2;

	return (struct erspan){
		.type = three ? ERSPAN_III : ERSPAN_II,
		.sequence = (uint32_t)sampler_next(sampler),
		.session = sampler_next(sampler) & ERSPAN_SESSION_MAX,
		.vlan = sampler_next(sampler) & 0xfff,
		.cos = sampler_next(sampler) & 7,
		.tagged = !three && sampler_next(sampler) & 1,
		.index = three ? 0 : sampler_next(sampler) & 0xfffff,
		.timestamp = three ? (uint32_t)sampler_next(sampler) : 0,
		.egress = three && sampler_next(sampler) & 1,
	};
}

/* The fields in the order of tshark_open(). A field that the type lacks is empty. */
static void describe(const struct erspan *erspan, const struct packet *inner, char text[256])
{
	bool three = erspan->type == ERSPAN_III;
	char own[64];

	if (three)
		snprintf(own, sizeof(own), "\t\t%" PRIu32 "\t%u", erspan->timestamp,
			 erspan->egress);
	else
		snprintf(own, sizeof(own), "%u\t%" PRIu32 "\t\t", erspan->tagged ? 3u : 0u,
			 erspan->index);
	snprintf(text, 256, "\t%" PRIu32 "\t%u\t%u\t%u\t%u\t%u\t%s\t0x%06" PRIx32 "\t%" PRIu32 "\n",
		 erspan->sequence, three ? 2u : 1u, erspan->vlan, erspan->cos, erspan->truncated,
		 erspan->session, own, inner->dest_qp, inner->psn);
}

static void write_frame(struct pcapng *pcapng, unsigned number, struct sampler *sampler)
{
	struct path path = {.link_layer = LINK_ETHERNET,
			    .roce_version = ROCE_V2_IPV4,
			    .has_grh = true,
			    .smac = {2, 0, 0, 0, 0, 1},
			    .dmac = {2, 0, 0, 0, 0, 2}};
	struct erspan erspan = random_header(sampler, number);
	struct packet packet = {.kind = PACKET_RAW, .path = &path, .hop_limit = 255};
	static struct payload payload;
	static struct sample sample;
	uint8_t headers[ERSPAN_HEADERS_MAX], inner[512];
	size_t headers_bytes = erspan_build(&erspan, headers), inner_bytes, at;

	memcpy(path.sgid, ipv4_mapped, sizeof(ipv4_mapped));
	memcpy(path.dgid, ipv4_mapped, sizeof(ipv4_mapped));
	sample_fill(&sample, sampler, SAMPLE_V1 + number % 6, RC_WRITE_ONLY, 64);
	inner_bytes = codec_build(&sample.packet, inner, sizeof(inner));
	at = ethernet_build(&path, ETHERTYPE_IPV4, payload.bytes);
	at += ip_build(&packet, IP_GRE, headers_bytes + inner_bytes, payload.bytes + at);
	memcpy(payload.bytes + at, headers, headers_bytes);
	memcpy(payload.bytes + at + headers_bytes, inner, inner_bytes);
	packet.payload = &payload;
	packet.payload_bytes = (uint32_t)(at + headers_bytes + inner_bytes);
	pcapng_write(pcapng, 0, number * US, &packet, NULL);
	describe(&erspan, &sample.packet, expected[number]);
}

static FILE *tshark_open(void)
{
	char command[1024];

	snprintf(
		command, sizeof(command),
		"tshark -n -r %s --disable-heuristic rpcrdma_infiniband --disable-heuristic "
		"mellanox_eoib --disable-heuristic eth_over_ib -o ip.check_checksum:TRUE -T fields "
		"-E occurrence=f -e _ws.malformed -e gre.sequence_number -e erspan.version "
		"-e erspan.vlan -e erspan.cos -e erspan.truncated -e erspan.spanid -e erspan.encap "
		"-e erspan.index -e erspan.timestamp -e erspan.direction -e infiniband.bth.destqp "
		"-e infiniband.bth.psn 2>/dev/null",
		file_name);
	return popen(command, "r");
}

static void test_both_types(void)
{
	struct pcapng *pcapng = pcapng_create(file_name);
	struct sampler sampler = {7};
	char line[1024];
	unsigned number = 0;
	FILE *tshark;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	pcapng_interface_add(pcapng, "leaf1.port3", LINK_ETHERNET);
	for (unsigned i = 0; i < FRAMES; i++)
		write_frame(pcapng, i, &sampler);
	CU_ASSERT_EQUAL_FATAL(pcapng_destroy(pcapng), 0);
	tshark = tshark_open();
	CU_ASSERT_PTR_NOT_NULL_FATAL(tshark);
	while (fgets(line, sizeof(line), tshark)) {
		CU_ASSERT_FATAL(number < FRAMES);
		CU_ASSERT_STRING_EQUAL(line, expected[number]);
		if (strcmp(line, expected[number]) != 0)
			printf("\nframe %u: \"%s\", not \"%s\"", number + 1, line,
			       expected[number]);
		number++;
	}
	CU_ASSERT_EQUAL(number, FRAMES);
	CU_ASSERT_EQUAL(pclose(tshark), 0);
}
