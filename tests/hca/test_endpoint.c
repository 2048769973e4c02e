/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the endpoint HCA. Messages take exactly the sum of their parameters and the wire time.
 * Every operation completes and is counted once. Queue pairs share a port. A slow host holds the
 * sender back through flow control. Timeouts, retries and flushes occur at the right times.
 */
#include "fabric/fault.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                  \
	TEST(write_takes_exactly_its_time)           \
	TEST(infiniband_has_its_own_headers)         \
	TEST(long_write_reaches_the_ceiling)         \
	TEST(every_operation_completes_in_order)     \
	TEST(reads_are_limited_by_those_outstanding) \
	TEST(queue_pairs_share_the_port)             \
	TEST(slow_host_holds_the_sender_back)        \
	TEST(slow_source_sends_at_its_rate)          \
	TEST(payload_arrives_with_the_head)          \
	TEST(retries_are_exceeded_on_time)
SUITE(TESTS)

/* Makes two hosts and one cable of 100 Gb/s and 2 m, which takes 10 ns. */
static void pair_init(struct study *study, enum link_layer link_layer)
{
	study_init(study, link_layer, "none", 0, 2);
	study->switch_params.port.length = 2;
}

static void pair_link(struct study *study)
{
	unsigned one = study_add_host(study), other = study_add_host(study);

	study_link(study, one, 0, other, 0);
	study_finish(study);
}

/* The time is the sum of send_latency, the bytes at 80 ps each, 10 ns of cable and receive_latency.
 * The bytes are preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, payload 1000, ICRC 4 and
 * FCS 4. The ACK takes the same path back with 8 + 14 + 20 + 8 + 12 + 4 + 4 + 4 bytes. */
static void test_write_takes_exactly_its_time(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;
	sim_time expected = 600 * NS + (8 + 78 + 1000) * 80 + 10 * NS + 100 * NS + (8 + 66) * 80 +
			    10 * NS + 100 * NS + 100 * NS;

	pair_init(&study, LINK_ETHERNET);
	pair_link(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 1000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(transfer.message.status, ENDPOINT_OK);
	CU_ASSERT_EQUAL(transfer.message.started_at, 600 * NS);
	CU_ASSERT_EQUAL(transfer.message.done_at, expected);
	CU_ASSERT_EQUAL(sim_now(study.sim), expected);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_packets_sent, 1);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->acks_sent, 1);
	CU_ASSERT_EQUAL(packet_pool_in_use(study.pool), 0);
	study_fini(&study);
}

/* The headers are LRH 8, BTH 12, RETH 16, ICRC 4, VCRC 2 bytes, at 100 Gb/s. */
static void test_infiniband_has_its_own_headers(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;

	pair_init(&study, LINK_INFINIBAND);
	pair_link(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 1000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(transfer.message.done_at,
			600 * NS + (42 + 1000) * 80 + 110 * NS + 30 * 80 + 110 * NS + 100 * NS);
	study_fini(&study);
}

/* C-05: middle packets of 4096 bytes on RoCE reach 98.04 % of the line. */
static void test_long_write_reaches_the_ceiling(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;
	double gbps;

	pair_init(&study, LINK_ETHERNET);
	pair_link(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 100000000, &done);
	sim_run(study.sim, SIM_NEVER);
	gbps = 100000000 * 8e3 / (double)(transfer.message.done_at - transfer.message.started_at);
	CU_ASSERT_DOUBLE_EQUAL(gbps, 98.04, 0.02);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_packets_sent, 24415);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->acks_sent, 24415 / 64 + 1);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received, 100000000);
	study_fini(&study);
}

static void test_every_operation_completes_in_order(void)
{
	static const enum endpoint_operation operations[] = {
		ENDPOINT_WRITE, ENDPOINT_READ,  ENDPOINT_SEND, ENDPOINT_ATOMIC,
		ENDPOINT_READ,  ENDPOINT_WRITE, ENDPOINT_READ, ENDPOINT_ATOMIC};
	struct transfer transfers[ARRAY_SIZE(operations)];
	struct study study;
	struct endpoint_qp *qp;
	unsigned done = 0;

	pair_init(&study, LINK_ETHERNET);
	pair_link(&study);
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(operations); i++)
		transfer_post(&transfers[i], qp, operations[i],
			      operations[i] == ENDPOINT_ATOMIC ? 8 : 10000 + i, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, ARRAY_SIZE(operations));
	for (unsigned i = 1; i < ARRAY_SIZE(operations); i++)
		CU_ASSERT(transfers[i].message.done_at >= transfers[i - 1].message.done_at);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_write_requests, 2);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_read_requests, 3);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_sends, 1);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->rx_atomic_requests, 2);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_bytes_received,
			10001 + 10004 + 10006);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received,
			10000 + 10002 + 10005);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->packets_retransmitted, 0);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->stale_responses, 0);
	study_fini(&study);
}

/* F-03: sixteen reads outstanding, so a round trip brings sixteen. */
static void test_reads_are_limited_by_those_outstanding(void)
{
	static struct transfer transfers[1600];
	struct study study;
	struct endpoint_qp *qp;
	unsigned done = 0;
	sim_time round_trip, whole;

	pair_init(&study, LINK_ETHERNET);
	study.params.complete_latency = 0;
	study.params.read_latency = 10 * US;
	pair_link(&study);
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(transfers); i++)
		transfer_post(&transfers[i], qp, ENDPOINT_READ, 64, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, ARRAY_SIZE(transfers));
	round_trip = transfers[0].message.done_at - transfers[0].message.started_at;
	whole = transfers[1599].message.done_at - transfers[0].message.started_at;
	CU_ASSERT(round_trip > 10 * US && round_trip < 11 * US);
	CU_ASSERT_DOUBLE_EQUAL((double)whole / (double)round_trip, 100, 1);
	study_fini(&study);
}

static void test_queue_pairs_share_the_port(void)
{
	struct transfer transfers[4];
	struct study study;
	unsigned done = 0;

	pair_init(&study, LINK_ETHERNET);
	pair_link(&study);
	for (unsigned i = 0; i < 4; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[0], study.hosts[1], 0, i),
			      ENDPOINT_WRITE, 4096 * 1000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 4);
	/* the first had filled the port's queue of four when the others came; then they take
	 * turns */
	for (unsigned i = 1; i < 3; i++)
		CU_ASSERT_EQUAL(transfers[i + 1].message.done_at - transfers[i].message.done_at,
				(4096 + 62 + 20) * 80);
	study_fini(&study);
}

/* A host that takes in 40 Gb/s lets the input buffer fill: pause frames, no loss, 40 Gb/s in the
 * end. */
static void test_slow_host_holds_the_sender_back(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;
	double gbps;

	pair_init(&study, LINK_ETHERNET);
	study.params.receive_rate = 40000000000;
	pair_link(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 20000000, &done);
	sim_run(study.sim, SIM_NEVER);
	gbps = 20000000 * 8e3 / (double)(transfer.message.done_at - transfer.message.started_at);
	CU_ASSERT_DOUBLE_EQUAL(gbps, 40.0 * 4096 / (4096 + 62), 0.3);
	CU_ASSERT_EQUAL(port_counters(endpoint_port(study.hosts[1]))->pause_sent, 2436); /* seen */
	CU_ASSERT_EQUAL(port_counters(endpoint_port(study.hosts[1]))->overflow_drops, 0);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->packets_retransmitted, 0);
	study_fini(&study);
}

static void test_slow_source_sends_at_its_rate(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;
	double gbps;

	pair_init(&study, LINK_ETHERNET);
	study.params.send_rate = 40000000000;
	pair_link(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 20000000, &done);
	sim_run(study.sim, SIM_NEVER);
	gbps = 20000000 * 8e3 / (double)(transfer.message.done_at - transfer.message.started_at);
	CU_ASSERT_DOUBLE_EQUAL(gbps, 40.0 * 4096 / (4096 + 62), 0.1);
	CU_ASSERT_EQUAL(port_counters(endpoint_port(study.hosts[1]))->pause_sent, 0);
	study_fini(&study);
}

/* Payload counts as arrived with the head of its packet: not `before`, but 80 ps later. */
static void payload_arrives(enum endpoint_operation operation, sim_time before)
{
	struct study study;
	struct transfer transfer;
	struct endpoint_qp *qp;
	unsigned done = 0;

	pair_init(&study, LINK_ETHERNET);
	pair_link(&study);
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	transfer_post(&transfer, qp, operation, 1000, &done);
	sim_run(study.sim, before);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), 0);
	sim_run(study.sim, before + 80);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), 1000);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), 0);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), 1000);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), 1000);
	study_fini(&study);
}

/* The payload of a write and of a read arrives alike. If a read counted later than a write, a
 * window could count more than the wire carries. The read's request is 86 bytes with its
 * preamble. */
static void test_payload_arrives_with_the_head(void)
{
	payload_arrives(ENDPOINT_WRITE, 600 * NS + 8 * 80 + 10 * NS);
	payload_arrives(ENDPOINT_READ, 600 * NS + (8 + 78) * 80 + 10 * NS + 100 * NS + 600 * NS +
					       8 * 80 + 10 * NS);
}

/* All packets are lost. The message fails eight times 4.096 us * 2^4 after the first packet, and
 * the next message is flushed. */
static void fail_with(unsigned mode, unsigned timeout, uint64_t expired, sim_time waited)
{
	const struct fault_rule all = {.action = FAULT_drop,
				       .kind = PACKET_DATA,
				       .opcode = FAULT_ANY_OPCODE,
				       .probability = 1};
	struct study study;
	struct fault *fault;
	struct transfer transfers[2];
	struct endpoint_qp *qp;
	unsigned done = 0;

	pair_init(&study, LINK_ETHERNET);
	study.params.timeout_mode = mode;
	study.params.timeout = timeout;
	pair_link(&study);
	fault = study.fault = fault_create(study.sim, "host0.port.fault");
	fault_add(fault, &all);
	port_set_transmit_fault(endpoint_port(study.hosts[0]), fault);
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	transfer_post(&transfers[0], qp, ENDPOINT_WRITE, 100, &done);
	transfer_post(&transfers[1], qp, ENDPOINT_WRITE, 100, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_TRUE(endpoint_failed(qp));
	CU_ASSERT_EQUAL(transfers[0].message.status, ENDPOINT_RETRY_EXCEEDED);
	CU_ASSERT_EQUAL(transfers[1].message.status, ENDPOINT_FLUSHED);
	CU_ASSERT_EQUAL(transfers[0].message.done_at, 600 * NS + waited + 100 * NS);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->local_ack_timeouts, expired);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->messages_failed, 2);
	transfer_post(&transfers[0], qp, ENDPOINT_WRITE, 100, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(transfers[0].message.status, ENDPOINT_FLUSHED);
	study_fini(&study);
}

static void test_retries_are_exceeded_on_time(void)
{
	fail_with(0, 4, 8, 8 * 16 * 4096 * NS);
	/* C-27: seven steps of the table, the last one again for each further retry */
	fail_with(1, 14, 14,
		  (5600 + 4100 + 8400 + 16700 + 25100 + 67100 + 8 * UINT64_C(134200)) * US);
	fail_with(2, 0, 8, 8 * 5 * MS);
}
