/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that tshark reads TCP segments of hcasim as intended: a transfer with a lost segment,
 * duplicate ACKs, a retransmission. Also segments out of order, a zero window and its probe. Exit
 * status 77: tshark is not installed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/pcapng.h"
#include "fabric/wire/tcp_packet.h"
#include "tests/support/suite.h"

#define TESTS(TEST) TEST(analysis)
SUITE_AFTER(need_tshark, TESTS)

static const char file_name[] = "tcp.pcapng";

struct line {
	sim_time at;
	bool back; /* from the receiver of the bytes */
	struct tcp_header header;
	uint32_t payload_bytes;
	const char *expected; /* output of tshark: the flags, and the findings of its analysis */
};

#define ACK_TO(number)                                                  \
	.flags = TCP_ACK, .sequence = 9001, .acknowledgment = (number), \
	.options = TCP_OPTION_TIMESTAMPS
#define DATA(number)                                                                   \
	.flags = TCP_ACK, .sequence = (number), .acknowledgment = 9001, .window = 500, \
	.options = TCP_OPTION_TIMESTAMPS

#define SYN_OPTIONS                                                                     \
	.options = TCP_OPTION_MSS | TCP_OPTION_SACK_PERMITTED | TCP_OPTION_TIMESTAMPS | \
		   TCP_OPTION_WINDOW_SCALE,                                             \
	.mss = 1460, .window_scale = 2

/* clang-format off */
/* Columns: relative sequence number, ACK and payload; calculated window; flags of the analysis. */
static const struct line lines[] = {
	{0,         false, {.flags = TCP_SYN, .sequence = 1000, .window = 64000, SYN_OPTIONS}, 0,
	 "0 0 0 64000"},
	{100 * US,  true,  {.flags = TCP_SYN | TCP_ACK, .sequence = 9000, .acknowledgment = 1001,
	                    .window = 8000, SYN_OPTIONS}, 0,
	 "0 1 0 8000"},
	{200 * US,  false, {DATA(1001)}, 0,    "1 1 0 2000"},
	{210 * US,  false, {DATA(1001)}, 1000, "1 1 1000 2000"},
	{230 * US,  false, {DATA(3001)}, 1000, "2001 1 1000 2000 lost_segment"}, /* 2001 is lost */
	{240 * US,  false, {DATA(4001)}, 1000, "3001 1 1000 2000"},
	{250 * US,  false, {DATA(5001)}, 1000, "4001 1 1000 2000"},
	{310 * US,  true,  {ACK_TO(2001), .window = 2000}, 0, "1 1001 0 8000"},
	{330 * US,  true,  {ACK_TO(2001), .window = 2000, .sack_count = 1, .sack = {{3001, 4001}}},
	 0,
	 "1 1001 0 8000 duplicate_ack sack 2001-3001"},
	{340 * US,  true,  {ACK_TO(2001), .window = 2000, .sack_count = 1, .sack = {{3001, 5001}}},
	 0,
	 "1 1001 0 8000 duplicate_ack sack 2001-4001"},
	{350 * US,  true,  {ACK_TO(2001), .window = 2000, .sack_count = 1, .sack = {{3001, 6001}}},
	 0,
	 "1 1001 0 8000 duplicate_ack sack 2001-5001"},
	{360 * US,  false, {DATA(2001)}, 1000,
	 "1001 1 1000 2000 retransmission fast_retransmission"},
	{460 * US,  true,  {ACK_TO(6001), .window = 250}, 0, "1 5001 0 1000"},
	{470 * US,  false, {DATA(6001)}, 1000, "5001 1 1000 2000 window_full"},
	{570 * US,  true,  {ACK_TO(7001), .window = 0}, 0, "1 6001 0 0 zero_window"},
	{900 * MS,  false, {DATA(7001)}, 1,    "6001 1 1 2000 zero_window_probe"},
	{900 * MS + 100 * US, true, {ACK_TO(7001), .window = 0}, 0,
	 "1 6001 0 0 zero_window zero_window_probe_ack"},
	{950 * MS,  true,  {ACK_TO(7001), .window = 2000}, 0, "1 6001 0 8000 window_update"},
	/* the next comes behind it */
	{951 * MS,  false, {DATA(8001)}, 1000, "7001 1 1000 2000 lost_segment"},
	{951 * MS + 1 * US, false, {DATA(7001)}, 1000, "6001 1 1000 2000 out_of_order"},
};
/* clang-format on */

static const char *const flags[] = {
	"lost_segment",  "duplicate_ack",         "retransmission", "fast_retransmission",
	"out_of_order",  "window_full",           "zero_window",    "zero_window_probe",
	"window_update", "zero_window_probe_ack",
};

static void need_tshark(void)
{
	if (system("command -v tshark >/dev/null") != 0) {
		printf("skipped: tshark is not installed\n");
		exit(SUITE_SKIP);
	}
}

static struct path make_path(bool back, bool six)
{
	struct path path = {
		.link_layer = LINK_ETHERNET,
		.has_grh = true,
		.roce_version = six ? ROCE_V2_IPV6 : ROCE_V2_IPV4,
		.hop_limit = 64,
		.smac = {2, 0, 0, 0, 0, back ? 2 : 1},
		.dmac = {2, 0, 0, 0, 0, back ? 1 : 2},
		.sgid = {[0] = six ? 0xfd : 0,
			 [10] = six ? 0 : 0xff,
			 [11] = six ? 0 : 0xff,
			 [12] = 10,
			 [15] = back ? 2 : 1},
		.dgid = {[0] = six ? 0xfd : 0,
			 [10] = six ? 0 : 0xff,
			 [11] = six ? 0 : 0xff,
			 [12] = 10,
			 [15] = back ? 1 : 2},
		.tcp_source_port = back ? 5001 : 40000,
		.tcp_destination_port = back ? 40000 : 5001,
	};

	return path;
}

static void write_capture(bool six)
{
	struct pcapng *pcapng = pcapng_create(file_name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(pcapng);
	pcapng_interface_add(pcapng, "host0.hca.port", LINK_ETHERNET);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct path path = make_path(lines[i].back, six);
		struct packet packet = {
			.path = &path, .hop_limit = 64, .payload_bytes = lines[i].payload_bytes};

		tcp_packet_set(&packet, &lines[i].header);
		packet.tcp.timestamp = packet.tcp.timestamp_echo = (uint32_t)i + 1;
		pcapng_write(pcapng, 0, lines[i].at, &packet, NULL);
	}
	CU_ASSERT_EQUAL_FATAL(pcapng_destroy(pcapng), 0);
}

static FILE *tshark_open(void)
{
	char command[2048];
	size_t used = (size_t)snprintf(
		command, sizeof(command),
		"tshark -n -r %s -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields "
		"-e _ws.malformed -e tcp.checksum.status -e tcp.seq -e tcp.ack -e tcp.len "
		"-e tcp.window_size -e tcp.options.sack_le -e tcp.options.sack_re",
		file_name);

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		used += (size_t)snprintf(command + used, sizeof(command) - used,
					 " -e tcp.analysis.%s", flags[i]);
	snprintf(command + used, sizeof(command) - used, " 2>/dev/null");
	return popen(command, "r");
}

/* Reads a line of tshark in the form of struct line's `expected`. */
static void read_line(char *line, char *text, size_t size)
{
	const char *malformed = strsep(&line, "\t"), *checksum = strsep(&line, "\t");
	size_t used = (size_t)snprintf(text, size, "%s%s", malformed,
				       strcmp(checksum, "1") == 0 ? "" : "wrong checksum: ");
	const char *left, *right;

	for (unsigned i = 0; i < 4; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
					 strsep(&line, "\t"));
	left = strsep(&line, "\t");
	right = strsep(&line, "\t");
	for (size_t i = 0; i < ARRAY_SIZE(flags) && line; i++)
		if (*strsep(&line, "\t\n"))
			used += (size_t)snprintf(text + used, size - used, " %s", flags[i]);
	if (*left)
		snprintf(text + used, size - used, " sack %s-%s", left, right);
}

static void check_capture(bool six)
{
	char line[4096], text[4096];
	size_t number = 0;
	FILE *tshark;

	write_capture(six);
	tshark = tshark_open();
	CU_ASSERT_PTR_NOT_NULL_FATAL(tshark);
	while (fgets(line, sizeof(line), tshark)) {
		CU_ASSERT_FATAL(number < ARRAY_SIZE(lines));
		read_line(line, text, sizeof(text));
		CU_ASSERT_STRING_EQUAL(text, lines[number].expected);
		if (strcmp(text, lines[number].expected) != 0)
			printf("\npacket %zu: \"%s\", not \"%s\"", number + 1, text,
			       lines[number].expected);
		number++;
	}
	CU_ASSERT_EQUAL(number, ARRAY_SIZE(lines));
	CU_ASSERT_EQUAL(pclose(tshark), 0);
}

static void test_analysis(void)
{
	check_capture(false);
	check_capture(true);
}
