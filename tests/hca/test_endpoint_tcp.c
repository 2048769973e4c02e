/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests TCP connections of endpoint adapters. Messages take exactly the sum of parameters and wire
 * time, and are delivered once and in order under loss. Connections share a link, and incast
 * recovers from drops.
 */
#include "tests/hca/support/silence.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                              \
	TEST(one_segment_takes_exactly_its_time) \
	TEST(an_initial_window_goes_at_once)     \
	TEST(a_handshake_takes_a_round_trip)     \
	TEST(messages_arrive_in_order)           \
	TEST(losses_are_repaired)                \
	TEST(silence_fails)
SUITE(TESTS)

#define FRAME(payload) (8 + 14 + 20 + 32 + (payload) + 4) /* with time stamps */
#define BYTE           80                                 /* ps, at 100 Gb/s */
#define CABLE          (10 * NS)
#define MSS            1448

static struct study study;
static struct endpoint_tcp_params tcp;

static void begin(const char *algorithm)
{
	study_init(&study, LINK_ETHERNET, algorithm, 1, 32);
	study.params.transport = ENDPOINT_TCP;
	study.switch_params.port.length = 2;
	params_default(endpoint_tcp_param_list, &tcp);
}

static void give_tcp(void)
{
	for (unsigned i = 0; i < study.host_count; i++)
		endpoint_set_tcp(study.hosts[i], &tcp);
}

static void pair(void)
{
	unsigned one = study_add_host(&study), other = study_add_host(&study);

	study_link(&study, one, 0, other, 0);
	study_finish(&study);
	give_tcp();
}

static void end(void)
{
	CU_ASSERT_EQUAL(packet_pool_in_use(study.pool), 0);
	study_fini(&study);
}

/* send_latency, the segments, cable, receive_latency, the ACK of the last, cable, receive_latency,
 * complete_latency. */
static sim_time transfer_time(unsigned segments, uint32_t last)
{
	return 600 * NS + ((segments - 1) * (sim_time)(FRAME(MSS) + 12) + FRAME(last)) * BYTE +
	       CABLE + 100 * NS + FRAME(0) * BYTE + CABLE + 100 * NS + 100 * NS;
}

static void check_time(uint64_t bytes, sim_time expected)
{
	struct transfer transfer;
	unsigned done = 0;

	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, bytes, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(transfer.message.status, ENDPOINT_OK);
	CU_ASSERT_EQUAL(transfer.message.done_at, expected);
	if (transfer.message.done_at != expected)
		printf("\n%llu, not %llu", (unsigned long long)transfer.message.done_at,
		       (unsigned long long)expected);
}

static void test_one_segment_takes_exactly_its_time(void)
{
	begin("newreno");
	pair();
	check_time(1000, transfer_time(1, 1000));
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->data_sent, 1);
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->connections, 1);
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[1])->connections, 1);
	end();
}

static void test_an_initial_window_goes_at_once(void)
{
	begin("cubic");
	pair();
	check_time(10 * MSS - 48, transfer_time(10, MSS - 48));
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->data_sent, 10);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->data_bytes_sent, 10 * MSS - 48);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received, 10 * MSS - 48);
	end();
}

/* A SYN has 40 bytes of TCP header: MSS, SACK permitted, time stamps, window scale. */
static void test_a_handshake_takes_a_round_trip(void)
{
	const sim_time syn = FRAME(8) * BYTE + CABLE + 100 * NS;

	begin("cubic");
	tcp.handshake = true;
	pair();
	/* the ACK of the SYN leaves just before the data */
	check_time(1000, 2 * syn + (FRAME(0) + 12) * BYTE + transfer_time(1, 1000));
	end();
}

struct receiver {
	struct endpoint_user user;
	uint32_t next;
	bool wrong;
};

static void delivered(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag,
		      uint32_t psn)
{
	struct receiver *receiver = container_of(user, struct receiver, user);

	(void)qp, (void)psn;
	receiver->wrong |= tag != ++receiver->next;
}

#define MESSAGES 300

/* Messages of 1 to some thousand bytes on one connection, posted all at once. */
static void many_messages(void)
{
	static struct transfer transfers[MESSAGES];
	struct endpoint_qp *qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	struct receiver receiver = {.user = {.delivered = delivered}};
	unsigned done = 0;
	uint64_t bytes = 0;

	endpoint_set_user(study.hosts[1], &receiver.user);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		transfer_post(&transfers[i], qp, ENDPOINT_SEND, 1 + i * 7919 % 20000, &done);
		transfers[i].message.tag = i + 1; /* it leaves later */
		bytes += 1 + i * 7919 % 20000;
	}
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, MESSAGES);
	CU_ASSERT_EQUAL(receiver.next, MESSAGES);
	CU_ASSERT_FALSE(receiver.wrong);
	CU_ASSERT_EQUAL(endpoint_acked_bytes(qp), bytes);
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(qp), bytes);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[0])->messages_completed, MESSAGES);
	CU_ASSERT_EQUAL(endpoint_counters(study.hosts[1])->data_bytes_received, bytes);
}

static void test_messages_arrive_in_order(void)
{
	begin("newreno");
	tcp.nagle = TCP_NAGLE_OFF;
	pair();
	many_messages();
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->retransmissions, 0);
	end();
}

static void test_losses_are_repaired(void)
{
	begin("cubic");
	pair();
	study_lose(&study, 0, 0.02);
	many_messages();
	CU_ASSERT_TRUE(endpoint_tcp_counters(study.hosts[0])->retransmissions > 20);
	CU_ASSERT_EQUAL(endpoint_tcp_counters(study.hosts[0])->retransmissions,
			endpoint_counters(study.hosts[0])->packets_retransmitted);
	end();
}

static void test_silence_fails(void)
{
	begin("cubic");
	tcp.retries = 2;
	pair();
	/* a tail loss probe after 1 s, RTOs of 1, 2 and 4 s: there was no RTT sample */
	CU_ASSERT_EQUAL(silence_fails(&study, ENDPOINT_WRITE), 600 * NS + 8 * SEC + 100 * NS);
	end();
}
