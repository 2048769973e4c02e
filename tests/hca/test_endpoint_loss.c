/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cost of a loss with each kind of recovery. Go-back-N's goodput follows the law of row
 * E-01 within 5 %, and selective repeat's is 1 - p. Go-back-0 has no goodput when every message
 * loses a packet (D-19). The reaction times of E-02 and E-03 add to a message exactly. Lost reads,
 * atomics and responses are requested again.
 */
#include "fabric/fault.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                    \
	TEST(go_back_n_follows_the_law)                \
	TEST(selective_repeat_loses_only_what_is_lost) \
	TEST(what_a_timeout_loses)                     \
	TEST(few_in_flight_wait_less)                  \
	TEST(what_fills_a_gap_is_acknowledged)         \
	TEST(few_behind_a_response_wait_less)          \
	TEST(what_starts_the_timer_anew)               \
	TEST(go_back_0_is_a_livelock)                  \
	TEST(reaction_times_add_up)                    \
	TEST(a_repeated_nak_waits_for_its_interval)    \
	TEST(an_early_read_is_asked_again)             \
	TEST(all_operations_survive_loss)              \
	TEST(without_nak_the_timeout_finds_it)
SUITE(TESTS)

enum { GO_BACK_N, SELECTIVE_REPEAT, GO_BACK_0 };

struct loss {
	struct study study;
	struct endpoint_qp *qp;
};

/* Makes two hosts and one cable. The rule applies to packets from `from`. */
static void loss_init(struct loss *loss, uint64_t rate_bps, sim_time round_trip, unsigned recovery)
{
	study_init(&loss->study, LINK_ETHERNET, "none", 0, 2);
	loss->study.switch_params.port.rate = rate_bps;
	loss->study.switch_params.port.mtu = 1024;
	loss->study.switch_params.port.length = (double)round_trip / 2 / (5.0 * NS);
	loss->study.switch_params.port.input_buffer = 8 << 20;
	loss->study.params.receive_latency = 0;
	loss->study.params.recovery = recovery;
	loss->study.params.repeat_nak = true;
}

static void loss_link(struct loss *loss, unsigned from, const struct fault_rule *rules,
		      unsigned rule_count)
{
	struct study *study = &loss->study;
	unsigned one = study_add_host(study), other = study_add_host(study);

	study_link(study, one, 0, other, 0);
	study_finish(study);
	study->fault = fault_create(study->sim, "fault");
	for (unsigned i = 0; i < rule_count; i++)
		fault_add(study->fault, &rules[i]);
	port_set_transmit_fault(endpoint_port(study->hosts[from]), study->fault);
	loss->qp = endpoint_create_pair(study->hosts[0], study->hosts[1], 0, 0);
}

static struct fault_rule drop(uint16_t opcode, double probability, uint64_t nth)
{
	return (struct fault_rule){.action = FAULT_drop,
				   .kind = PACKET_DATA,
				   .opcode = opcode,
				   .probability = probability,
				   .nth = nth};
}

/* Returns the goodput of one endless message as a share of the goodput without loss. */
static double goodput(uint64_t rate_bps, sim_time round_trip, unsigned recovery, double p,
		      double *window)
{
	const struct fault_rule rule = drop(FAULT_ANY_OPCODE, p, 0);
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;
	uint64_t packets = 200000;
	double packet_time = (1024 + 62 + 20) * 8.0 * (double)SEC / (double)rate_bps;

	loss_init(&loss, rate_bps, round_trip, recovery);
	loss_link(&loss, 0, &rule, 1);
	*window = (double)round_trip / packet_time + 1;
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, packets * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[1])->data_packets_received, packets);
	double share = (double)packets * packet_time /
		       (double)(transfer.message.done_at - transfer.message.started_at);

	study_fini(&loss.study);
	return share;
}

static void test_go_back_n_follows_the_law(void)
{
	static const struct {
		uint64_t rate_bps;
		sim_time round_trip;
		double p;
	} rows[] = {
		{40000000000, 10 * US, 1e-4},      {40000000000, 10 * US, 1e-3},
		{40000000000, 10 * US, 1.0 / 256}, {40000000000, 10 * US, 1e-2},
		{100000000000, 8 * US, 1e-4},      {100000000000, 8 * US, 1e-3},
		{100000000000, 8 * US, 1.0 / 256}, {100000000000, 8 * US, 1e-2},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		double window, p = rows[i].p;
		double got = goodput(rows[i].rate_bps, rows[i].round_trip, GO_BACK_N, p, &window);
		double law = (1 - p) / (1 - p + p * window);

		if (getenv("HCASIM_TEST_PRINT"))
			printf("go-back-N %3.0fG p=%.5f W=%.1f: %.4f, law %.4f\n",
			       (double)rows[i].rate_bps / 1e9, p, window, got, law);
		CU_ASSERT_DOUBLE_EQUAL(got / law, 1, 0.05);
	}
}

static void test_selective_repeat_loses_only_what_is_lost(void)
{
	static const double losses[] = {1e-3, 1.0 / 256, 1e-2};

	for (unsigned i = 0; i < ARRAY_SIZE(losses); i++) {
		double window;
		double got = goodput(100000000000, 8 * US, SELECTIVE_REPEAT, losses[i], &window);

		if (getenv("HCASIM_TEST_PRINT"))
			printf("selective p=%.5f: %.4f\n", losses[i], got);
		CU_ASSERT_DOUBLE_EQUAL(got, 1 - losses[i], 0.05);
	}
}

/* Returns the number of timeouts after all ten packets of a message are lost once, and the number
 * of packets retransmitted. */
static uint64_t timeouts_of_tail(unsigned retransmits, const char *window, uint64_t *retransmitted,
				 sim_time *took)
{
	struct fault_rule rules[10];
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;
	uint64_t timeouts;
	char error[128];

	for (unsigned i = 0; i < ARRAY_SIZE(rules);
	     i++) /* a rule does not count packets that an earlier rule dropped */
		rules[i] = drop(FAULT_ANY_OPCODE, 0, 1);
	loss_init(&loss, 40000000000, 4 * US, SELECTIVE_REPEAT);
	loss.study.params.timeout_retransmits = retransmits;
	congestion_fini(&loss.study.congestion);
	CU_ASSERT_TRUE_FATAL(
		congestion_init(&loss.study.congestion, "window", error, sizeof(error)));
	CU_ASSERT_TRUE(
		congestion_set(&loss.study.congestion, "cwnd", window, error, sizeof(error)));
	loss_link(&loss, 0, rules, ARRAY_SIZE(rules));
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 10 * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(transfer.message.status, ENDPOINT_OK);
	timeouts = endpoint_counters(loss.study.hosts[0])->local_ack_timeouts;
	*retransmitted = endpoint_counters(loss.study.hosts[0])->packets_retransmitted;
	*took = transfer.message.done_at - transfer.message.started_at;
	study_fini(&loss.study);
	return timeouts;
}

static void test_what_a_timeout_loses(void)
{
	enum { FIRST, ALL };
	/* at 40 Gb/s, with preamble: a packet and its ACK, and both ways; the host adds 100 ns at
	 * the end */
	const sim_time round_trip = (1024 + 62 + 8) * 200 + 74 * 200 + 4 * US, reth = 16 * 200;
	uint64_t retransmitted;
	sim_time took;

	/* each ACK in the recovery shows that the next one is lost, too: IRN's partial ACK */
	CU_ASSERT_EQUAL(timeouts_of_tail(FIRST, "1MiB", &retransmitted, &took), 1);
	CU_ASSERT_EQUAL(retransmitted, 10);
	CU_ASSERT_EQUAL(took, 320 * US + 10 * round_trip + reth + 100 * NS);
	CU_ASSERT_EQUAL(timeouts_of_tail(ALL, "1MiB", &retransmitted, &took), 1);
	CU_ASSERT_EQUAL(retransmitted, 10);
	/* windows of two: five times two are lost, and two come again at a time */
	CU_ASSERT_EQUAL(timeouts_of_tail(ALL, "2KiB", &retransmitted, &took), 5);
	CU_ASSERT_EQUAL(retransmitted, 10);
}

/* Returns the time from the first packet of an idle queue pair to the end of the last message. The
 * first packets of all messages are lost once. `before` messages start 60 us before the others. */
static sim_time time_of_lost(unsigned lost, unsigned before, unsigned packets)
{
	struct fault_rule rules[4];
	struct transfer transfers[2];
	struct loss loss;
	unsigned done = 0;
	sim_time took;

	for (unsigned i = 0; i < lost; i++)
		rules[i] = drop(FAULT_ANY_OPCODE, 0, 1);
	loss_init(&loss, 100000000000, 4 * US, SELECTIVE_REPEAT);
	loss.study.params.timeout_retransmits = 1; /* all */
	loss_link(&loss, 0, rules, lost);
	if (before) {
		transfer_post(&transfers[0], loss.qp, ENDPOINT_WRITE, before * 1024, &done);
		sim_run(loss.study.sim, 60 * US);
	}
	transfer_post(&transfers[1], loss.qp, ENDPOINT_WRITE, (packets - before) * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, before ? 2 : 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, lost ? 1 : 0);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packets_retransmitted, lost);
	took = transfers[1].message.done_at - transfers[before ? 0 : 1].message.started_at;
	study_fini(&loss.study);
	return took;
}

/* D-27: up to three packets in flight wait for 100 us. Four wait for 320 us, also if the fourth
 * follows 60 us later. */
static void test_few_in_flight_wait_less(void)
{
	const sim_time header = 16 * 80; /* of the second message */

	for (unsigned packets = 1; packets <= 4; packets++)
		CU_ASSERT_EQUAL(time_of_lost(packets, 0, packets),
				time_of_lost(0, 0, packets) + (packets < 4 ? 100 : 320) * US);
	CU_ASSERT_EQUAL(time_of_lost(3, 2, 3), time_of_lost(0, 0, 3) + 100 * US + header);
	CU_ASSERT_EQUAL(time_of_lost(4, 2, 4), time_of_lost(0, 0, 4) + 320 * US + header);
}

/* Duration of a message whose packets are all lost once, while the response to an earlier packet
 * arms the timer. */
static sim_time time_behind_response(unsigned packets)
{
	struct fault_rule rules[4];
	struct transfer transfers[2];
	struct loss loss;
	unsigned done = 0;
	sim_time took;

	for (unsigned i = 0; i < packets; i++)
		rules[i] = drop(FAULT_ANY_OPCODE, 0, 2);
	loss_init(&loss, 100000000000, 4 * US, SELECTIVE_REPEAT);
	loss.study.params.timeout_retransmits = 1; /* all */
	loss_link(&loss, 0, rules, packets);
	transfer_post(&transfers[0], loss.qp, ENDPOINT_WRITE, 1024, &done);
	transfer_post(&transfers[1], loss.qp, ENDPOINT_WRITE, packets * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packets_retransmitted, packets);
	took = transfers[1].message.done_at - transfers[0].message.done_at;
	study_fini(&loss.study);
	return took;
}

/* A response arms the timer while four packets are in flight. Each packet then takes its time on
 * the wire. */
static void test_few_behind_a_response_wait_less(void)
{
	const sim_time slot = (1024 + 82) * 80, two = time_behind_response(2);

	CU_ASSERT_EQUAL(time_behind_response(3), two + slot);
	CU_ASSERT_EQUAL(time_behind_response(4), two + 2 * slot + 220 * US);
}

/* The message has ten packets. The first packet is lost. Nine NAKs follow. The retransmission after
 * the first NAK is lost, too. */
static sim_time time_of_lost_twice(unsigned restart)
{
	const struct fault_rule rules[] = {drop(FAULT_ANY_OPCODE, 0, 1),
					   drop(FAULT_ANY_OPCODE, 0, 10)}; /* of those left */
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;
	sim_time took;

	loss_init(&loss, 40000000000, 4 * US, SELECTIVE_REPEAT);
	loss.study.params.timeout_restart = restart;
	loss_link(&loss, 0, rules, ARRAY_SIZE(rules));
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 10 * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packets_retransmitted, 2);
	took = transfer.message.done_at - transfer.message.started_at;
	study_fini(&loss.study);
	return took;
}

static void test_what_starts_the_timer_anew(void)
{
	enum { PROGRESS, NAK };
	const sim_time round_trip = (1024 + 62 + 8) * 200 + 74 * 200 + 4 * US, reth = 16 * 200;
	const sim_time last_nak = 9 * (1024 + 62 + 20) * 200 + reth + round_trip;
	const sim_time progress = 320 * US + round_trip + reth + 100 * NS;

	CU_ASSERT_EQUAL(time_of_lost_twice(PROGRESS), progress);
	CU_ASSERT_EQUAL(time_of_lost_twice(NAK), last_nak + progress);
}

/* D-19: 4 MB messages of 1 KB packets, every 256th packet on the wire is lost. */
static uint64_t livelock(unsigned recovery, uint64_t *sent)
{
	struct fault_rule rules[400];
	static struct transfer transfer;
	struct loss loss;
	unsigned done = 0;
	uint64_t completed;

	for (unsigned i = 0; i < ARRAY_SIZE(rules);
	     i++) /* a rule does not count packets that an earlier rule dropped */
		rules[i] = drop(FAULT_ANY_OPCODE, 0, 256 * (i + 1) - i);
	loss_init(&loss, 40000000000, 4 * US, recovery);
	loss_link(&loss, 0, rules, ARRAY_SIZE(rules));
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 4 << 20, &done);
	sim_run(loss.study.sim, 20 * MS);
	completed = endpoint_counters(loss.study.hosts[0])->messages_completed;
	*sent = endpoint_counters(loss.study.hosts[0])->data_packets_sent;
	study_fini(&loss.study);
	return completed;
}

/*
 * Of a window of two packets the first comes after the second, which alone has asked for an ACK.
 * Fabrics that spray packets need receivers without NAKs. The packet that fills the gap is then
 * acknowledged, and no timeout passes.
 */
static void test_what_fills_a_gap_is_acknowledged(void)
{
	struct fault_rule rule = drop(FAULT_ANY_OPCODE, 0, 3);
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;
	char error[128];

	rule.action = FAULT_reorder;
	rule.delay = 2 * US;
	loss_init(&loss, 40000000000, 4 * US, SELECTIVE_REPEAT);
	loss.study.params.nak = false;
	congestion_fini(&loss.study.congestion);
	CU_ASSERT_TRUE_FATAL(
		congestion_init(&loss.study.congestion, "window", error, sizeof(error)));
	CU_ASSERT_TRUE(
		congestion_set(&loss.study.congestion, "cwnd", "2KiB", error, sizeof(error)));
	loss_link(&loss, 0, &rule, 1);
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 10 * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[1])->out_of_sequence, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, 0);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packets_retransmitted, 0);
	study_fini(&loss.study);
}

static void test_go_back_0_is_a_livelock(void)
{
	uint64_t sent;

	CU_ASSERT_EQUAL(livelock(GO_BACK_0, &sent), 0);
	CU_ASSERT(sent > 80000); /* of 90400 that the line takes in that time: busy all along */
	CU_ASSERT_EQUAL(livelock(GO_BACK_N, &sent), 1);
	CU_ASSERT(sent < 4096 + 4096 / 256 * 40);
}

/* E-05: packet k of 100 is lost: base time, plus generation and reaction, plus the packets sent
 * again. */
static void test_reaction_times_add_up(void)
{
	sim_time done_at[2];

	for (unsigned lossy = 0; lossy < 2; lossy++) {
		const struct fault_rule rule = drop(FAULT_ANY_OPCODE, 0, lossy ? 40 : 1000000);
		struct transfer transfer;
		struct loss loss;
		unsigned done = 0;

		loss_init(&loss, 100000000000, 2 * US, GO_BACK_N);
		loss.study.params.nak_delay = 1200 * NS;
		loss.study.params.nak_reaction = 2800 * NS;
		loss_link(&loss, 0, &rule, 1);
		transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 100 * 1024, &done);
		sim_run(loss.study.sim, SIM_NEVER);
		done_at[lossy] = transfer.message.done_at;
		CU_ASSERT_EQUAL(done, 1);
		if (lossy) { /* packets sent before the NAK arrived are retransmitted */
			CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packet_seq_err, 1);
			CU_ASSERT_EQUAL(
				endpoint_counters(loss.study.hosts[0])->packets_retransmitted,
				transfer.message.packets_sent - 100);
			CU_ASSERT(transfer.message.packets_sent > 140);
		}
		study_fini(&loss.study);
	}
	/* without loss packet 40 would have begun 60 packets before the last; its retransmission
	 * begins after packet 41 has arrived, the NAK's time there and back, and both reactions */
	sim_time packet = (1024 + 62 + 20) * 80,
		 retransmitted_after = 2 * packet + 2 * US + 4 * US + 74 * 80;

	CU_ASSERT_DOUBLE_EQUAL((double)(done_at[1] - done_at[0]), (double)retransmitted_after,
			       (double)packet);
}

/* Sends 100 packets. Loses the 40th, and of the others the one that leaves as number `again`.
 * Returns the time of the end. */
static sim_time lose_twice(uint64_t again, sim_time interval, uint64_t *sent, uint64_t *naks)
{
	const struct fault_rule rules[] = {drop(FAULT_ANY_OPCODE, 0, 40),
					   drop(FAULT_ANY_OPCODE, 0, again)};
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;

	loss_init(&loss, 100000000000, 2 * US, GO_BACK_N);
	loss.study.params.repeat_nak = false;
	loss.study.params.nak_interval = interval;
	loss_link(&loss, 0, rules, 2);
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 100 * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	*sent = transfer.message.packets_sent;
	*naks = endpoint_counters(loss.study.hosts[0])->packet_seq_err;
	study_fini(&loss.study);
	return transfer.message.done_at;
}

/* The retransmitted packet is lost, too. With an interval a later packet causes the NAK again, once
 * the interval has passed. Without an interval only the timeout finds the loss. */
static void test_a_repeated_nak_waits_for_its_interval(void)
{
	uint64_t sent, naks, retransmission;
	sim_time once = lose_twice(1000000, 0, &sent, &naks), twice;

	CU_ASSERT_EQUAL(naks, 1);
	retransmission = sent - 100 + 39;
	twice = lose_twice(retransmission, 3 * US, &sent, &naks);
	CU_ASSERT_EQUAL(naks, 2);
	CU_ASSERT(twice > once + 2 * US && twice < once + 5 * US);
	CU_ASSERT(lose_twice(retransmission, 0, &sent, &naks) > once + 60 * MS);
	CU_ASSERT_EQUAL(naks, 1);
}

/* A READ after a lost WRITE is not stored. The packets that the NAK names are therefore
 * retransmitted, too. */
static void test_an_early_read_is_asked_again(void)
{
	const struct fault_rule rule = drop(FAULT_ANY_OPCODE, 0, 1);
	struct transfer transfers[3];
	struct loss loss;
	unsigned done = 0;

	loss_init(&loss, 100000000000, 2 * US, SELECTIVE_REPEAT);
	loss_link(&loss, 0, &rule, 1);
	transfer_post(&transfers[0], loss.qp, ENDPOINT_WRITE, 1024, &done);
	transfer_post(&transfers[1], loss.qp, ENDPOINT_READ, 1024, &done);
	transfer_post(&transfers[2], loss.qp, ENDPOINT_WRITE, 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 3);
	for (unsigned i = 0; i < ARRAY_SIZE(transfers); i++)
		CU_ASSERT_EQUAL(transfers[i].message.status, ENDPOINT_OK);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, 0);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->packets_retransmitted, 2);
	study_fini(&loss.study);
}

/* Any packet of either side may be lost. All requests complete, and each is executed exactly
 * once. */
static void test_all_operations_survive_loss(void)
{
	static const unsigned recoveries[] = {GO_BACK_N, SELECTIVE_REPEAT};

	for (unsigned from = 0; from < 2; from++) {
		for (unsigned i = 0; i < ARRAY_SIZE(recoveries); i++) {
			const struct fault_rule rule = drop(FAULT_ANY_OPCODE, 0.02, 0);
			static struct transfer transfers[400];
			struct loss loss;
			unsigned done = 0, good = 0;

			loss_init(&loss, 100000000000, 2 * US, recoveries[i]);
			loss.study.params.timeout = 4;
			loss_link(&loss, from, &rule, 1);
			for (unsigned j = 0; j < ARRAY_SIZE(transfers); j++)
				transfer_post(&transfers[j], loss.qp, j % 4,
					      j % 4 == ENDPOINT_ATOMIC ? 8 : 1 + j * 37, &done);
			sim_run(loss.study.sim, SIM_NEVER);
			for (unsigned j = 0; j < ARRAY_SIZE(transfers); j++)
				good += transfers[j].message.status == ENDPOINT_OK;
			CU_ASSERT_EQUAL(done, ARRAY_SIZE(transfers));
			CU_ASSERT_EQUAL(good, ARRAY_SIZE(transfers));
			CU_ASSERT(endpoint_counters(loss.study.hosts[0])->packets_retransmitted >
				  0);
			CU_ASSERT_EQUAL(packet_pool_in_use(loss.study.pool), 0);
			study_fini(&loss.study);
		}
	}
}

/* E-07: without NAKs only the timeout finds a loss: one loss costs one timeout. */
static void test_without_nak_the_timeout_finds_it(void)
{
	const struct fault_rule rule = drop(FAULT_ANY_OPCODE, 0, 500);
	struct transfer transfer;
	struct loss loss;
	unsigned done = 0;

	loss_init(&loss, 100000000000, 2 * US, GO_BACK_N);
	loss.study.params.nak = false;
	loss.study.params.timeout_mode = 2;
	loss.study.params.timeout_fixed = 5 * MS;
	loss_link(&loss, 0, &rule, 1);
	transfer_post(&transfer, loss.qp, ENDPOINT_WRITE, 1000 * 1024, &done);
	sim_run(loss.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[0])->local_ack_timeouts, 1);
	CU_ASSERT_EQUAL(endpoint_counters(loss.study.hosts[1])->naks_sent, 0);
	CU_ASSERT(transfer.message.done_at > 5 * MS &&
		  transfer.message.done_at < 5 * MS + 200 * US);
	study_fini(&loss.study);
}
