/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests iWARP connections of endpoint adapters. Messages take exactly the wire time of their FPDUs,
 * and the wire carries exactly the bytes of RFC 5044, 5041 and 5040. Segments have the bytes of a
 * stream that a reader of MPA takes apart. Losses and narrow windows change none of it.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/codec.h"
#include "fabric/wire/mpa.h"
#include "fabric/wire/rdmap.h"
#include "fabric/wire/tcp_packet.h"
#include "tests/hca/support/silence.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                 \
	TEST(one_write_takes_exactly_its_time)      \
	TEST(a_send_has_four_bytes_more)            \
	TEST(many_segments_take_exactly_their_time) \
	TEST(startup_frames_take_a_round_trip)      \
	TEST(a_read_takes_exactly_its_time)         \
	TEST(reads_wait_for_their_depth)            \
	TEST(a_write_completes_after_a_read)        \
	TEST(bytes_of_a_read)                       \
	TEST(both_ends_read)                        \
	TEST(both_ends_read_with_losses)            \
	TEST(silence_fails_reads)                   \
	TEST(bytes_of_the_stream)                   \
	TEST(bytes_with_losses)                     \
	TEST(bytes_with_a_narrow_window)            \
	TEST(an_odd_mtu_is_rounded_down)            \
	TEST(markers_take_their_time)               \
	TEST(bytes_with_markers)                    \
	TEST(markers_in_narrow_segments)            \
	TEST(reads_with_markers)
SUITE(TESTS)

#define FRAME(payload)  (8 + 14 + 20 + 20 + (payload) + 4) /* without time stamps */
#define FPDU(header, n) ((2 + (header) + (n) + 3) / 4 * 4 + 4)
#define BYTE            80 /* ps, at 100 Gb/s */
#define CABLE           (10 * NS)
#define MSS             1460
#define WRITE_PAYLOAD   (MSS - 6 - DDP_TAGGED_BYTES)

static struct study study;
static struct endpoint_tcp_params tcp;

static void begin(void)
{
	study_init(&study, LINK_ETHERNET, "newreno", 1, 32);
	study.params.transport = ENDPOINT_IWARP;
	study.switch_params.port.length = 2;
	params_default(endpoint_tcp_param_list, &tcp);
	tcp.timestamps = false;
}

static void pair(void)
{
	unsigned one = study_add_host(&study), other = study_add_host(&study);

	study_link(&study, one, 0, other, 0);
	study_finish(&study);
	for (unsigned i = 0; i < study.host_count; i++) {
		endpoint_set_tcp(study.hosts[i], &tcp);
		endpoint_set_iwarp(study.hosts[i]);
	}
}

static void end(void)
{
	CU_ASSERT_EQUAL(packet_pool_in_use(study.pool), 0);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(study.pool), 0);
	study_fini(&study);
}

static const struct endpoint_iwarp_counters *counters(unsigned host)
{
	return endpoint_iwarp_counters(study.hosts[host]);
}

/* send_latency, the segments, cable, receive_latency, the ACK of the last, cable, receive_latency,
 * complete_latency. */
static sim_time transfer_time(unsigned segments, uint32_t last)
{
	return 600 * NS + ((segments - 1) * (sim_time)(FRAME(MSS) + 12) + FRAME(last)) * BYTE +
	       CABLE + 100 * NS + (64 + 8) * BYTE + CABLE + 100 * NS + 100 * NS;
}

/* One message takes exactly the expected time. Returns the queue pair that posted it. */
static struct endpoint_qp *check_message(enum endpoint_operation operation, uint64_t bytes,
					 sim_time expected)
{
	struct transfer transfer;
	unsigned done = 0;
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);

	transfer_post(&transfer, qp, operation, bytes, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(transfer.message.status, ENDPOINT_OK);
	CU_ASSERT_EQUAL(transfer.message.done_at, expected);
	if (transfer.message.done_at != expected)
		printf("\n%llu, not %llu", (unsigned long long)transfer.message.done_at,
		       (unsigned long long)expected);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), bytes);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), bytes);
	return qp;
}

static void check_time(enum endpoint_operation operation, uint64_t bytes, sim_time expected)
{
	check_message(operation, bytes, expected);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_bytes_sent, bytes);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received, bytes);
	CU_ASSERT_EQUAL(counters(0)->payload_bytes, bytes);
	CU_ASSERT_EQUAL(counters(0)->split_segments, 0);
}

static void test_one_write_takes_exactly_its_time(void)
{
	begin();
	pair();
	/* 2 + 14 + 1001 + 3 of pad + 4 */
	check_time(ENDPOINT_WRITE, 1001, transfer_time(1, 1024));
	CU_ASSERT_EQUAL(FPDU(DDP_TAGGED_BYTES, 1001), 1024);
	CU_ASSERT_EQUAL(counters(0)->writes, 1);
	CU_ASSERT_EQUAL(counters(0)->fpdus, 1);
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 23);
	CU_ASSERT_EQUAL(counters(0)->connections, 1);
	CU_ASSERT_EQUAL(counters(1)->connections, 1);
	end();
}

static void test_a_send_has_four_bytes_more(void)
{
	begin();
	pair();
	check_time(ENDPOINT_SEND, 1001, transfer_time(1, 1028));
	CU_ASSERT_EQUAL(counters(0)->sends, 1);
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 27);
	end();
}

static void test_many_segments_take_exactly_their_time(void)
{
	begin();
	pair();
	/* an initial window of ten segments */
	check_time(ENDPOINT_WRITE, 10 * WRITE_PAYLOAD - 40, transfer_time(10, MSS - 40));
	CU_ASSERT_EQUAL(counters(0)->fpdus, 10);
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 200);
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->data_sent, 10);
	end();
}

/* The packets are SYN, SYN and ACK, ACK with the request behind it, then the reply. */
static void test_startup_frames_take_a_round_trip(void)
{
	const sim_time hop = CABLE + 100 * NS, syn = FRAME(12) * BYTE + hop,
		       ack = (64 + 8 + 12) * BYTE, frame = FRAME(24) * BYTE + hop;

	begin();
	tcp.handshake = true;
	tcp.delayed_ack = 0;
	pair();
	/* each end acknowledges the other's startup frame just before it sends */
	check_time(ENDPOINT_WRITE, 1000, 2 * syn + 3 * ack + 2 * frame + transfer_time(1, 1020));
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 24 + 20);
	CU_ASSERT_EQUAL(counters(1)->overhead_bytes, 24);
	end();
}

/* ---- READs ---- */

#define READ_REQUEST (FRAME(FPDU(DDP_UNTAGGED_BYTES, 28)) * BYTE)

/* From the Read Request at the port to the end of the Read Response, whose last FPDU is `last`. */
static sim_time read_time(unsigned segments, uint32_t last)
{
	return READ_REQUEST + CABLE + 100 * NS + study.params.read_latency +
	       ((segments - 1) * (sim_time)(FRAME(MSS) + 12) + FRAME(last)) * BYTE + CABLE +
	       100 * NS;
}

static void check_read(uint64_t bytes, sim_time expected)
{
	struct endpoint_qp *qp = check_message(ENDPOINT_READ, bytes, expected);

	CU_ASSERT_EQUAL(endpoint_acked_bytes(endpoint_peer(qp)), 0);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(endpoint_peer(qp)), 0);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_packets_sent, 0);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_sent, bytes);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_bytes_received, bytes);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_read_requests, 1);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_sends, 0);
	CU_ASSERT_EQUAL(counters(0)->reads, 1);
	CU_ASSERT_EQUAL(counters(0)->payload_bytes, 0);
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 52);
	CU_ASSERT_EQUAL(counters(1)->read_responses, 1);
	CU_ASSERT_EQUAL(counters(1)->payload_bytes, bytes);
	CU_ASSERT_EQUAL(counters(0)->split_segments + counters(1)->split_segments, 0);
}

static void test_a_read_takes_exactly_its_time(void)
{
	begin();
	pair();
	check_read(1001, 600 * NS + read_time(1, 1024) + 100 * NS);
	CU_ASSERT_EQUAL(counters(1)->overhead_bytes, 23);
	end();
	begin();
	pair();
	check_read(10 * WRITE_PAYLOAD - 40, 600 * NS + read_time(10, MSS - 40) + 100 * NS);
	CU_ASSERT_EQUAL(counters(1)->fpdus, 10);
	end();
}

/* The lower depth of the two ends is the number of READs in progress. */
static void test_reads_wait_for_their_depth(void)
{
	struct transfer transfers[3];
	unsigned done = 0;

	begin();
	tcp.delayed_ack = 0;
	study.params.max_rd_atomic = 1;
	pair();
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);

	for (unsigned i = 0; i < 3; i++)
		transfer_post(&transfers[i], qp, ENDPOINT_READ, 1000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 3);
	/* the requester acknowledges a Read Response just before it sends the next request */
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(transfers[i].message.done_at,
				700 * NS + (i + 1) * read_time(1, 1020) +
					i * (sim_time)(64 + 8 + 12) * BYTE);
	end();
	begin();
	pair();
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	for (unsigned i = 0; i < 3; i++)
		transfer_post(&transfers[i], qp, ENDPOINT_READ, 1000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 6);
	/* responses follow one another */
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(transfers[i].message.done_at,
				700 * NS + read_time(1, 1020) + i * (FRAME(1020) + 12) * BYTE);
	end();
}

static void test_a_write_completes_after_a_read(void)
{
	struct transfer transfers[2];
	unsigned done = 0;

	begin();
	tcp.delayed_ack = 0;
	study.params.read_latency = 50 * US;
	pair();
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);

	transfer_post(&transfers[0], qp, ENDPOINT_READ, 1000, &done);
	transfer_post(&transfers[1], qp, ENDPOINT_WRITE, 3000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_EQUAL(transfers[0].message.done_at, 700 * NS + read_time(1, 1020));
	CU_ASSERT_EQUAL(transfers[1].message.done_at, transfers[0].message.done_at);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), 4000);
	end();
}

/* ---- the stream ---- */

#define MESSAGES 120

/* A tap puts the stream of host 0 together, as the bytes on the wire tell it. */
static struct {
	uint8_t bytes[1 << 21];
	bool there[1 << 21];
	uint32_t initial;
	uint64_t wire_payload; /* bytes of TCP, each once */
	bool begun;
} stream;

static void look(void *context, struct port *port, const struct packet *packet, sim_time at_time)
{
	static uint8_t frame[PACKET_BYTES_MAX];
	struct packet parsed = {0};
	struct path path;
	size_t length = codec_build(packet, frame, sizeof(frame));
	uint32_t at;

	(void)context, (void)port, (void)at_time;
	CU_ASSERT_EQUAL_FATAL(codec_parse(frame, length, LINK_ETHERNET, &parsed, &path), PARSE_OK);
	CU_ASSERT_EQUAL(parsed.payload_bytes, packet->payload_bytes);
	CU_ASSERT_EQUAL(parsed.wire_bytes, packet->wire_bytes);
	if (parsed.tcp.flags & TCP_SYN || !parsed.payload_bytes)
		return;
	if (!stream.begun)
		stream.initial = parsed.tcp.sequence;
	stream.begun = true;
	at = parsed.tcp.sequence - stream.initial;
	CU_ASSERT_TRUE_FATAL(at + parsed.payload_bytes <= sizeof(stream.bytes));
	for (uint32_t i = 0; i < parsed.payload_bytes; i++) {
		const uint8_t byte = frame[length - parsed.payload_bytes + i];

		/* what is sent again is the same */
		CU_ASSERT_TRUE_FATAL(!stream.there[at + i] || stream.bytes[at + i] == byte);
		stream.wire_payload += !stream.there[at + i];
		stream.there[at + i] = true;
		stream.bytes[at + i] = byte;
	}
}

static uint64_t message_bytes(uint32_t number)
{
	return 1 + number * 7919 % 20000;
}

static enum endpoint_operation message_operation(uint32_t number)
{
	return number % 3 ? ENDPOINT_WRITE : ENDPOINT_SEND;
}

/* Takes the stream apart and compares it with the messages. Returns its length. */
static uint64_t read_stream(uint64_t startup, uint32_t stag)
{
	uint64_t at = startup;
	static uint8_t ulpdu[MPA_ULPDU_MAX];
	struct rdmap_header header;
	uint32_t ulpdu_bytes, msn = 1;
	size_t fpdu_bytes;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		bool send = message_operation(i) == ENDPOINT_SEND;
		uint64_t offset = 0;

		do {
			CU_ASSERT_EQUAL_FATAL(
				mpa_fpdu_parse((struct mpa_place){tcp.markers, at - startup},
					       stream.bytes + at, stream.wire_payload - at, ulpdu,
					       &ulpdu_bytes, &fpdu_bytes),
				PARSE_OK);
			CU_ASSERT_EQUAL_FATAL(rdmap_header_parse(ulpdu, ulpdu_bytes, &header),
					      PARSE_OK);
			CU_ASSERT_EQUAL(header.opcode, send ? RDMAP_SEND : RDMAP_WRITE);
			CU_ASSERT_EQUAL(send ? header.message_offset : header.tagged_offset,
					offset);
			CU_ASSERT_EQUAL(send ? header.msn : header.stag, send ? msn : stag);
			offset += ulpdu_bytes - rdmap_header_bytes(header.opcode);
			at += fpdu_bytes;
			CU_ASSERT_EQUAL_FATAL(header.last, offset == message_bytes(i));
		} while (!header.last);
		msn += send;
	}
	return at;
}

static void many_messages(void)
{
	static struct transfer transfers[MESSAGES];
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	const struct endpoint_iwarp_counters *count = counters(0);
	uint64_t startup = tcp.handshake ? 24 : 0, bytes = 0;
	unsigned done = 0;

	memset(&stream, 0, sizeof(stream));
	port_tap(endpoint_port(study.hosts[0]), look, NULL);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		transfer_post(&transfers[i], qp, message_operation(i), message_bytes(i), &done);
		bytes += message_bytes(i);
	}
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, MESSAGES);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), bytes);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), bytes);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received, bytes);
	CU_ASSERT_EQUAL(count->payload_bytes, bytes);
	CU_ASSERT_EQUAL(count->payload_bytes + count->overhead_bytes, stream.wire_payload);
	CU_ASSERT_EQUAL(read_stream(startup, endpoint_qp_number(endpoint_peer(qp)) << 8),
			stream.wire_payload);
}

static void test_bytes_of_the_stream(void)
{
	begin();
	tcp.handshake = true;
	pair();
	many_messages();
	CU_ASSERT_EQUAL(
		memcmp(stream.bytes, "MPA ID Req Frame\x50\x02\x00\x04\x00\x10\x00\x10", 24), 0);
	CU_ASSERT_EQUAL(counters(0)->split_segments, 0);
	end();
}

/* A READ sends the Read Request of RFC 5040 4.4 on queue 1, with the STags of both ends. */
static void test_bytes_of_a_read(void)
{
	struct transfer transfers[2];
	struct rdmap_read_request request;
	struct rdmap_header header;
	uint8_t ulpdu[MPA_ULPDU_MAX];
	uint32_t ulpdu_bytes;
	size_t fpdu_bytes;
	unsigned done = 0;

	begin();
	pair();
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);

	memset(&stream, 0, sizeof(stream));
	port_tap(endpoint_port(study.hosts[0]), look, NULL);
	for (unsigned i = 0; i < 2; i++)
		transfer_post(&transfers[i], qp, ENDPOINT_READ, 5000 + i, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_EQUAL(stream.wire_payload, 2 * 52);
	for (unsigned i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(mpa_fpdu_parse((struct mpa_place){0}, stream.bytes + i * 52,
						     52, ulpdu, &ulpdu_bytes, &fpdu_bytes),
				      PARSE_OK);
		CU_ASSERT_EQUAL(rdmap_header_parse(ulpdu, ulpdu_bytes, &header), PARSE_OK);
		CU_ASSERT_EQUAL(header.opcode, RDMAP_READ_REQUEST);
		CU_ASSERT_EQUAL(header.msn, i + 1);
		CU_ASSERT_TRUE(header.last);
		CU_ASSERT_EQUAL(rdmap_read_request_parse(
					ulpdu + rdmap_header_bytes(header.opcode),
					ulpdu_bytes - rdmap_header_bytes(header.opcode), &request),
				PARSE_OK);
		CU_ASSERT_EQUAL(request.bytes, 5000 + i);
		CU_ASSERT_EQUAL(request.sink_stag, endpoint_qp_number(qp) << 8);
		CU_ASSERT_EQUAL(request.source_stag, endpoint_qp_number(endpoint_peer(qp)) << 8);
	}
	end();
}

/* Both ends read, write and send at once, with few READs in progress. */
static void read_at_both_ends(void)
{
	static struct transfer transfers[2][MESSAGES];
	struct endpoint_qp *qps[2];
	uint64_t bytes = 0;
	unsigned done = 0;

	qps[0] = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	qps[1] = endpoint_peer(qps[0]);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		bool read = i % 4 < 2;

		for (unsigned end = 0; end < 2; end++)
			transfer_post(&transfers[end][i], qps[end],
				      read ? ENDPOINT_READ : message_operation(i), message_bytes(i),
				      &done);
		bytes += message_bytes(i);
	}
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2 * MESSAGES);
	for (unsigned end = 0; end < 2; end++) {
		for (uint32_t i = 0; i < MESSAGES; i++) {
			CU_ASSERT_EQUAL(transfers[end][i].message.status, ENDPOINT_OK);
			CU_ASSERT_TRUE(!i || transfers[end][i].message.done_at >=
						     transfers[end][i - 1].message.done_at);
		}
		CU_ASSERT_EQUAL(endpoint_acked_bytes(qps[end]), bytes);
		CU_ASSERT_EQUAL(endpoint_arrived_bytes(qps[end]), bytes);
		CU_ASSERT_EQUAL(endpoint_counters(study.hosts[end])->data_bytes_received, bytes);
		CU_ASSERT_EQUAL(counters(end)->payload_bytes, bytes);
		CU_ASSERT_EQUAL(counters(end)->reads, MESSAGES / 2);
		CU_ASSERT_EQUAL(counters(end)->read_responses, MESSAGES / 2);
	}
}

static void test_both_ends_read(void)
{
	begin();
	study.params.max_rd_atomic = 1;
	pair();
	read_at_both_ends();
	end();
}

static void test_both_ends_read_with_losses(void)
{
	begin();
	study.params.max_rd_atomic = 2;
	tcp.receive_buffer = 4001; /* cuts FPDUs into segments */
	tcp.mtu = 9000;
	tcp.delayed_ack = 0;
	pair();
	study_lose(&study, 0, 0.02);
	port_set_transmit_fault(endpoint_port(study.hosts[1]), study.fault);
	read_at_both_ends();
	CU_ASSERT_TRUE(endpoint_tcp_counters(study.hosts[0])->retransmissions > 5);
	CU_ASSERT_TRUE(endpoint_tcp_counters(study.hosts[1])->retransmissions > 5);
	end();
}

static void test_silence_fails_reads(void)
{
	begin();
	tcp.retries = 2;
	pair();
	silence_fails(&study, ENDPOINT_READ);
	end();
}

static void test_bytes_with_losses(void)
{
	begin();
	pair();
	study_lose(&study, 0, 0.02);
	many_messages();
	CU_ASSERT_TRUE(endpoint_tcp_counters(study.hosts[0])->retransmissions > 5);
	CU_ASSERT_EQUAL(counters(0)->split_segments, 0);
	end();
}

/* A window below the MSS cuts FPDUs into segments. */
static void test_bytes_with_a_narrow_window(void)
{
	begin();
	tcp.mtu = 9000;
	tcp.receive_buffer = 4001;
	tcp.delayed_ack = 0;
	pair();
	study_lose(&study, 0, 0.02);
	many_messages();
	CU_ASSERT_TRUE(counters(0)->split_segments > MESSAGES);
	end();
}

static void test_an_odd_mtu_is_rounded_down(void)
{
	begin();
	tcp.mtu = 1503;
	pair();
	many_messages();
	CU_ASSERT_EQUAL(counters(0)->split_segments, 0);
	CU_ASSERT_EQUAL(tcp_mss(endpoint_tcp_connection(
				endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0))),
			MSS);
	end();
}

/* 1024 bytes have markers before byte 0, 508 and 1016. */
static void test_markers_take_their_time(void)
{
	begin();
	tcp.markers = true;
	pair();
	check_time(ENDPOINT_WRITE, 1001, transfer_time(1, 1024 + 3 * 4));
	CU_ASSERT_EQUAL(counters(0)->overhead_bytes, 23 + 3 * 4);
	end();
}

static void test_bytes_with_markers(void)
{
	begin();
	tcp.markers = tcp.handshake = true;
	pair();
	many_messages();
	CU_ASSERT_EQUAL(
		memcmp(stream.bytes, "MPA ID Req Frame\xd0\x02\x00\x04\x00\x10\x00\x10", 24), 0);
	CU_ASSERT_EQUAL(counters(0)->split_segments, 0);
	end();
}

static void test_markers_in_narrow_segments(void)
{
	begin();
	tcp.markers = true;
	tcp.mtu = 9000;
	tcp.receive_buffer = 4001;
	tcp.delayed_ack = 0;
	pair();
	study_lose(&study, 0, 0.02);
	many_messages();
	CU_ASSERT_TRUE(counters(0)->split_segments > 10);
	end();
}

static void test_reads_with_markers(void)
{
	begin();
	tcp.markers = true;
	study.params.max_rd_atomic = 2;
	pair();
	read_at_both_ends();
	end();
}
