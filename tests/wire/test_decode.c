/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the output of `hcasim decode` in its three forms, line by line, and its exit status: 0 for
 * correct packets, 1 for a wrong CRC or a malformed packet, 2 for files that cannot be read or
 * written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/decode.h"
#include "fabric/wire/opcode.h"
#include "fabric/wire/pcapng.h"
#include "tests/support/suite.h"
#include "tests/wire/support/files.h"

#define TESTS(TEST)                 \
	TEST(lines)                 \
	TEST(fields)                \
	TEST(json)                  \
	TEST(wrong_crcs)            \
	TEST(malformed_and_unknown) \
	TEST(cut_by_the_capture)    \
	TEST(unreadable)            \
	TEST(output_that_cannot_be_written)
SUITE(TESTS)

static const char file_name[] = "packets.pcapng";
static char out_text[65536], err_text[1024];

static const struct path infiniband = {.link_layer = LINK_INFINIBAND, .slid = 1, .dlid = 2};
static const struct path ethernet = {
	.link_layer = LINK_ETHERNET,
	.roce_version = ROCE_V2_IPV4,
	.has_grh = true,
	.sgid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1},
	.dgid = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2},
};
static const struct packet write_only = {.path = &infiniband,
					 .opcode = RC_WRITE_ONLY,
					 .dest_qp = 0x48,
					 .psn = 0xffffff,
					 .ack_request = true,
					 .remote_address = 0x1000,
					 .rkey = 0x99,
					 .dma_length = 5,
					 .payload_bytes = 5};
static const struct packet nak = {.path = &ethernet,
				  .opcode = RC_ACK,
				  .hop_limit = 64,
				  .dest_qp = 0x49,
				  .psn = 7,
				  .syndrome = 0x62,
				  .msn = 3};
static const struct packet credits = {
	.kind = PACKET_FLOW_CONTROL, .vl = 1, .credit_total = 2, .credit_limit = 3};

/* Writes three packets, the first one with that damage. */
static void capture_write(uint8_t damage)
{
	struct pcapng *pcapng = pcapng_create(file_name);
	struct packet first = write_only;

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	first.damage = damage;
	pcapng_interface_add(pcapng, "host0", LINK_INFINIBAND);
	pcapng_interface_add(pcapng, "host1", LINK_ETHERNET);
	pcapng_write(pcapng, 0, 1500 * NS, &first, NULL);
	pcapng_write(pcapng, 1, 2 * US, &nak, NULL);
	pcapng_write(pcapng, 0, 3 * SEC, &credits, NULL);
	CU_ASSERT_EQUAL(pcapng_destroy(pcapng), 0);
}

static int decode(const char *path, bool verbose, bool json)
{
	const struct decode_options options = {.verbose = verbose, .json = json};
	FILE *out = fmemopen(out_text, sizeof(out_text), "w");
	FILE *err = fmemopen(err_text, sizeof(err_text), "w");
	int status;

	CU_ASSERT_FATAL(out && err);
	memset(out_text, 0, sizeof(out_text));
	memset(err_text, 0, sizeof(err_text));
	status = decode_file(path, out, err, &options);
	fclose(out);
	fclose(err);
	return status;
}

static void test_lines(void)
{
	capture_write(0);
	CU_ASSERT_EQUAL(decode(file_name, false, false), 0);
	CU_ASSERT_STRING_EQUAL(out_text,
			       "1 0.000001500 host0 lid 1 > lid 2 RC_WRITE_ONLY qp 0x000048 psn "
			       "16777215 address 0x1000 rkey "
			       "0x00000099 length 5 payload 5 ack-request (50 bytes)\n"
			       "2 0.000002000 host1 10.0.0.1 > 10.0.0.2 RC_ACK qp 0x000049 psn 7 "
			       "NAK remote access error msn 3 "
			       "(66 bytes)\n"
			       "3 3.000000000 host0 credits op 0 vl 1 sent 2 limit 3 (6 bytes)\n"
			       "3 packets, 3 checked: 0 wrong ICRC, 0 wrong VCRC, 0 malformed\n");
	CU_ASSERT_STRING_EQUAL(err_text, "");
}

static void test_fields(void)
{
	capture_write(0);
	CU_ASSERT_EQUAL(decode(file_name, true, false), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "    LRH vl 0 sl 0 slid 1 dlid 2\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "    RETH           dma_length     0x5 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "    payload 5 bytes, pad 3\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text,
		       "    IP source ::ffff:10.0.0.1 destination ::ffff:10.0.0.2 class 0x00 flow "
		       "0x00000 hops 64\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "    AETH           syndrome       0x62 "));
	CU_ASSERT_PTR_NULL(strstr(out_text, "DETH"));
}

static void test_json(void)
{
	capture_write(DAMAGE_VCRC);
	CU_ASSERT_EQUAL(decode(file_name, true, true), 1);
	CU_ASSERT_STRING_EQUAL(
		out_text,
		"{\"number\":1,\"time\":0.000001500,\"interface\":\"host0\",\"captured_bytes\":50,"
		"\"wrong\":true,"
		"\"status\":\"well "
		"formed\",\"link\":\"infiniband\",\"icrc_wrong\":false,\"vcrc_wrong\":true,"
		"\"source\":\"lid 1\",\"destination\":\"lid "
		"2\",\"name\":\"RC_WRITE_ONLY\",\"payload_bytes\":5,"
		"\"wire_bytes\":50,\"BTH.opcode\":10,\"BTH.solicited\":0,\"BTH.migration\":0,\"BTH."
		"pkey\":0,"
		"\"BTH.becn\":0,\"BTH.dest_qp\":72,\"BTH.ack_request\":1,\"BTH.psn\":16777215,"
		"\"RETH.remote_address\":4096,\"RETH.rkey\":153,\"RETH.dma_length\":5,\"ecn\":0}\n"
		"{\"number\":2,\"time\":0.000002000,\"interface\":\"host1\",\"captured_bytes\":62,"
		"\"wrong\":false,"
		"\"status\":\"well "
		"formed\",\"link\":\"ethernet\",\"icrc_wrong\":false,\"vcrc_wrong\":false,"
		"\"source\":\"10.0.0.1\",\"destination\":\"10.0.0.2\",\"name\":\"RC_ACK\","
		"\"payload_bytes\":0,"
		"\"wire_bytes\":66,\"BTH.opcode\":17,\"BTH.solicited\":0,\"BTH.migration\":0,\"BTH."
		"pkey\":0,"
		"\"BTH.becn\":0,\"BTH.dest_qp\":73,\"BTH.ack_request\":0,\"BTH.psn\":7,\"AETH."
		"syndrome\":98,"
		"\"AETH.msn\":3,\"ecn\":0}\n"
		"{\"number\":3,\"time\":3.000000000,\"interface\":\"host0\",\"captured_bytes\":6,"
		"\"wrong\":false,"
		"\"status\":\"well "
		"formed\",\"link\":\"infiniband\",\"icrc_wrong\":false,\"vcrc_wrong\":false,"
		"\"name\":\"CREDITS\",\"op\":0,\"vl\":1,\"fctbs\":2,\"fccl\":3}\n");
}

static void test_wrong_crcs(void)
{
	capture_write(DAMAGE_ICRC);
	CU_ASSERT_EQUAL(decode(file_name, false, false), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "(50 bytes) WRONG ICRC\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text, "3 checked: 1 wrong ICRC, 0 wrong VCRC, 0 malformed\n"));
	capture_write(DAMAGE_ICRC | DAMAGE_VCRC);
	CU_ASSERT_EQUAL(decode(file_name, false, false), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "(50 bytes) WRONG ICRC WRONG VCRC\n"));
}

/* Writes the file of test_lines with one byte changed, or cut at `length`. */
static void file_spoil(size_t at, uint8_t value, size_t cut)
{
	size_t length;
	uint8_t *bytes;
	FILE *file;

	capture_write(0);
	bytes = file_load(file_name, &length);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	CU_ASSERT_FATAL(at < length && cut < length);
	bytes[at] = value;
	file = fopen(file_name, "wb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fwrite(bytes, 1, length - cut, file), length - cut);
	fclose(file);
	free(bytes);
}

static void test_malformed_and_unknown(void)
{
	/* section 44 bytes, interfaces 44 each; block header 28, ERF 16, LRH 8, then the BTH */
	const size_t lrh = 44 + 44 + 44 + 28 + 16, bth = lrh + 8;

	file_spoil(bth + 1, 0x31, 0); /* transport version 1 */
	CU_ASSERT_EQUAL(decode(file_name, false, false), 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text, "MALFORMED: BTH transport version is not 0 (50 bytes captured)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "1 malformed\n"));
	file_spoil(bth, 0xe0, 0); /* a manufacturer's opcode; the CRCs no longer fit */
	CU_ASSERT_EQUAL(decode(file_name, false, false), 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text, " opcode 0xe0 BTH opcode is unknown (50 bytes captured)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out_text, "1 wrong ICRC, 1 wrong VCRC, 0 malformed\n"));
	file_spoil(44 + 8, 113, 0); /* a link type that is not known: nothing is judged */
	CU_ASSERT_EQUAL(decode(file_name, false, false), 0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text, "1 0.000001500 host0 unknown link type, 66 bytes\n"));
}

/* Bytes that the capture did not keep are not checked. */
static void test_cut_by_the_capture(void)
{
	const size_t captured_bytes = 44 + 44 + 44 + 20;

	file_spoil(captured_bytes, 40, 0);
	CU_ASSERT_EQUAL(decode(file_name, false, false), 0);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(out_text, " lid 1 > lid 2 ends before the length in its headers (24 bytes "
				 "captured) cut short by the capture\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(
		out_text, "3 packets, 2 checked: 0 wrong ICRC, 0 wrong VCRC, 0 malformed\n"));
}

static void test_unreadable(void)
{
	char expected[256];

	CU_ASSERT_EQUAL(decode("nonexistent.pcapng", false, false), 2);
	CU_ASSERT_STRING_EQUAL(err_text, "nonexistent.pcapng: No such file or directory\n");
	CU_ASSERT_EQUAL(decode(".", false, false), 2);
	CU_ASSERT_STRING_EQUAL(err_text, ".: Is a directory\n");
	CU_ASSERT_EQUAL(decode("/dev/null", false, false), 2);
	CU_ASSERT_STRING_EQUAL(err_text, "/dev/null: neither a pcap nor a pcapng file\n");
	file_spoil(0, 0x0a, 4);
	CU_ASSERT_EQUAL(decode(file_name, false, false), 2);
	snprintf(expected, sizeof(expected), "%s: after packet 2: the file ends inside a block\n",
		 file_name);
	CU_ASSERT_STRING_EQUAL(err_text, expected);
}

static void test_output_that_cannot_be_written(void)
{
	const struct decode_options options = {0};
	FILE *out = fopen("/dev/full", "w");
	FILE *err = fmemopen(err_text, sizeof(err_text), "w");
	char expected[256];

	CU_ASSERT_FATAL(out && err);
	capture_write(0);
	CU_ASSERT_EQUAL(decode_file(file_name, out, err, &options), 2);
	fclose(out);
	fclose(err);
	snprintf(expected, sizeof(expected), "%s: the packets cannot be written: %s\n", file_name,
		 strerror(ENOSPC));
	CU_ASSERT_STRING_EQUAL(err_text, expected);
}
