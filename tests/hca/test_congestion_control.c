/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests congestion control of detailed adapters, to the picosecond and the packet. Segments and
 * read responses leave at their flow's rate, and this time is the stage `pacing` of their WQE. A
 * window passes packets up to its size and requests ACKs. Marked packets cause as many CNPs as each
 * limiter allows, or BECN in ACKs. Losses leave no account behind. Features that were not
 * configured are absent, and datagrams are not affected. NAKs and the reactions to them take the
 * times of their parameters.
 */
#include <string.h>

#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "hca/transport/cc_unit.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                               \
	TEST(writes_go_at_their_pace)             \
	TEST(read_responses_go_at_their_pace)     \
	TEST(small_packets_have_the_same_rate)    \
	TEST(pacing_is_a_stage)                   \
	TEST(rate_limits_of_verbs_are_that_stage) \
	TEST(a_window_of_one_packet)              \
	TEST(a_window_of_four_packets)            \
	TEST(losses_leave_no_account)             \
	TEST(limits_of_cnps)                      \
	TEST(cnps_cut_rates)                      \
	TEST(becn_in_acks)                        \
	TEST(notifies_alone)                      \
	TEST(off_is_not_there)                    \
	TEST(datagrams_are_let_alone)             \
	TEST(times_of_losses)                     \
	TEST(late_naks_are_forgotten)
SUITE(TESTS)

#define ACK_STATUS 0
#define MTU        4096
#define SLOT_BYTES (MTU + 62 + 20) /* headers of RoCE over IPv4, preamble and gap */
#define RETH_BYTES 16
#define AETH_BYTES 4
#define PACKETS    40
/* of one bit at 5 Gb/s and at 10 Gb/s */
#define BIT_SLOW 200
#define BIT_FAST 100

static struct congestion_choice choice;

static void choose(struct mini *mini, const char *algorithm)
{
	char error[128];

	CU_ASSERT_TRUE_FATAL(congestion_choose(&choice, algorithm, error, sizeof(error)));
	mini->params.congestion = choice;
}

static void set(const char *name, const char *value)
{
	char error[128];

	CU_ASSERT_TRUE_FATAL(congestion_set(&choice.congestion, name, value, error, sizeof(error)));
}

static void end(struct rig *rig)
{
	rig_destroy(rig);
	congestion_choice_fini(&choice);
}

static void mark_all(struct rig *rig)
{
	fault_add(rig->fault, &(struct fault_rule){.action = FAULT_mark,
						   .kind = PACKET_DATA,
						   .opcode = FAULT_ANY_OPCODE,
						   .probability = 1.0});
}

/* Returns the time from the post to the CQE. */
static sim_time time_of(struct rig *rig, uint8_t opcode, uint32_t bytes)
{
	sim_time start = sim_now(rig->mini->sim);

	rig_post(rig, opcode, bytes);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, ACK_STATUS);
	return sim_now(rig->mini->sim) - start;
}

/* ---- rates ---- */

static sim_time paced_time(const char *rate, uint8_t opcode)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;
	sim_time time;

	choose(mini, "window");
	set("cwnd", "1GB");
	set("rate", rate);
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	time = time_of(&rig, opcode, PACKETS * MTU);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "holds"),
			opcode == WQE_WRITE ? PACKETS - 1 : 0);
	end(&rig);
	return time;
}

static void test_writes_go_at_their_pace(void)
{
	CU_ASSERT_EQUAL(paced_time("5Gbps", WQE_WRITE) - paced_time("10Gbps", WQE_WRITE),
			((PACKETS - 1) * SLOT_BYTES + RETH_BYTES) * 8 * (BIT_SLOW - BIT_FAST));
}

static void test_read_responses_go_at_their_pace(void)
{
	CU_ASSERT_EQUAL(paced_time("5Gbps", WQE_READ) - paced_time("10Gbps", WQE_READ),
			((PACKETS - 1) * SLOT_BYTES + AETH_BYTES) * 8 * (BIT_SLOW - BIT_FAST));
}

/* Segments of four packets are paid for as one: the same rate. */
static void test_small_packets_have_the_same_rate(void)
{
	sim_time times[2];
	static const char *const rates[] = {"5Gbps", "10Gbps"};

	for (unsigned i = 0; i < 2; i++) {
		struct mini *mini = mini_create(SIM_ENGINE_native);
		struct rig rig;

		choose(mini, "window");
		set("cwnd", "1GB");
		set("rate", rates[i]);
		rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
		times[i] = time_of(&rig, WQE_WRITE, PACKETS * 1024);
		CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "holds"), PACKETS / 4 - 1);
		end(&rig);
	}
	CU_ASSERT_EQUAL(times[0] - times[1], ((PACKETS - 4) * (1024 + 62 + 20) + RETH_BYTES) * 8 *
						     (BIT_SLOW - BIT_FAST));
}

/* For a single work request, its whole delay by pacing is in the stage `pacing`. */
static void test_pacing_is_a_stage(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	const struct latency_counters *latency;
	struct rig rig;
	sim_time time;
	uint64_t sum = 0;

	choose(mini, "window");
	set("cwnd", "1GB");
	set("rate", "5Gbps");
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	time = time_of(&rig, WQE_WRITE, PACKETS * MTU);
	latency = latency_stages_counters(rig.one->adapter->latency);
	CU_ASSERT_EQUAL(latency->pacing,
			cc_unit_counters(rig.one->adapter->transport->congestion)->held_time);
	CU_ASSERT_TRUE(latency->pacing > (PACKETS - 1) * SLOT_BYTES * 8 * BIT_SLOW - 39 * 200 * NS);
	CU_ASSERT_TRUE(latency->pacing < (PACKETS - 1) * (SLOT_BYTES + 1) * 8 * BIT_SLOW);
#define ADD(name, field, end) sum += latency->field;
	LATENCY_STAGES(ADD)
#undef ADD
	CU_ASSERT_EQUAL(sum, latency->latency);
	CU_ASSERT_TRUE(latency->latency <= time);
	end(&rig);
}

/* A plain rate limit of verbs is that stage too, without congestion control. */
static void test_rate_limits_of_verbs_are_that_stage(void)
{
	struct rig rig = rig_create_with(SIM_ENGINE_native, QP_RC, LINK_ETHERNET, MTU);
	struct hca_qp_state state = {.mask = QP_SET_RATE_LIMIT,
				     .rate_limit_bps = UINT64_C(5000000000)};

	CU_ASSERT_EQUAL(hca_qp_modify(rig.one->adapter, rig.qp->number, &state), 0);
	time_of(&rig, WQE_WRITE, 4 * MTU);
	CU_ASSERT_TRUE(latency_stages_counters(rig.one->adapter->latency)->pacing > 3 * 6 * US);
	CU_ASSERT_TRUE(latency_stages_counters(rig.one->adapter->latency)->pacing < 3 * 7 * US);
	rig_destroy(&rig);
}

/* ---- windows ---- */

static void test_a_window_of_one_packet(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	sim_time times[3];
	struct rig rig;

	choose(mini, "window");
	set("cwnd", "4096B");
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	time_of(&rig, WQE_WRITE, 24 * MTU); /* fills caches */
	for (unsigned i = 0; i < 3; i++)
		times[i] = time_of(&rig, WQE_WRITE, (8 * i + 8) * MTU);
	CU_ASSERT_EQUAL(times[2] - times[1], times[1] - times[0]);
	/* each packet waits for the ACK of the previous packet */
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "acks_sent"), 24 + 8 + 16 + 24);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "holds"), 23 + 7 + 15 + 23);
	end(&rig);
}

/* A window has four packets, of which only the last requests an ACK. No packet waits for the ACK of
 * the third. */
static void test_a_window_of_four_packets(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	choose(mini, "window");
	set("cwnd", "4096B");
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
	time_of(&rig, WQE_WRITE, 32 * 1024);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "acks_sent"), 8);
	end(&rig);
}

static const struct qp_congestion *state_of(const struct mini_qp *qp)
{
	return qp_find(qp->host->adapter->transport, qp->number)->congestion;
}

static void test_losses_leave_no_account(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	choose(mini, "swift");
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
	rig_drop(&rig, false, FAULT_ANY_OPCODE, 0, 0.02);
	rig_drop(&rig, true, FAULT_ANY_OPCODE, 0, 0.02);
	for (unsigned i = 0; i < 20; i++)
		time_of(&rig, i % 5 == 3 ? WQE_READ : WQE_WRITE, 50000 + i);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "packets_retransmitted"), 97); /* seen */
	CU_ASSERT_EQUAL(state_of(rig.qp)->acked_bytes, 16 * 50000 + 190 - 3 - 8 - 13 - 18);
	CU_ASSERT_EQUAL(state_of(rig.qp)->sent_bytes, state_of(rig.qp)->acked_bytes);
	end(&rig);
}

/* ---- notifications ---- */

/* Returns the CNPs for that many packets of each of two queue pairs. The packets arrive at
 * intervals of 3.34 us. */
static uint32_t cnps(enum cnp_limit limit, sim_time interval, bool two)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_qp *qp, *peer;
	struct rig rig;
	uint32_t sent;

	choose(mini, "window");
	set("cwnd", "1GB");
	set("rate", "10Gbps");
	mini->params.notification.cnp_limit = limit;
	mini->params.notification.cnp_interval = interval;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	mark_all(&rig);
	qp = mini_qp_create(rig.one, QP_RC);
	peer = mini_qp_create(rig.other, QP_RC);
	mini_connect(qp, peer, MTU);
	rig_post(&rig, WQE_WRITE, PACKETS * MTU);
	if (two)
		mini_post(qp, &(struct mini_send){.opcode = WQE_WRITE,
						  .address = rig.source,
						  .length = PACKETS * MTU,
						  .remote = rig.target});
	mini_run(rig.mini);
	sent = rig_count_other(&rig, "congestion", "cnp_sent");
	CU_ASSERT_EQUAL(rig_count_other(&rig, "congestion", "ecn_marked_packets"),
			two ? 2 * PACKETS : PACKETS);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "cnp_received"), sent);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "cnp_ignored"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "receive", "notifications"), 0);
	mini_qp_destroy(qp);
	mini_qp_destroy(peer);
	end(&rig);
	return sent;
}

static void test_limits_of_cnps(void)
{
	CU_ASSERT_EQUAL(cnps(CNP_PER_QP, 0, false), PACKETS);
	CU_ASSERT_EQUAL(cnps(CNP_PER_QP, 1 * SEC, false), 1);
	CU_ASSERT_EQUAL(cnps(CNP_PER_QP, 9 * US, false), (PACKETS + 2) / 3); /* each third */
	CU_ASSERT_EQUAL(cnps(CNP_PER_QP, 1 * SEC, true), 2);
	CU_ASSERT_EQUAL(cnps(CNP_PER_ADDRESS, 1 * SEC, true), 1);
	CU_ASSERT_EQUAL(cnps(CNP_PER_PORT, 1 * SEC, true), 1);
	CU_ASSERT_EQUAL(cnps(CNP_PER_QP, 9 * US, true), 2 * ((PACKETS + 2) / 3));
	CU_ASSERT_EQUAL(cnps(CNP_PER_PORT, 0, true), 2 * PACKETS);
}

/* The first CNP halves the rate of DCQCN. The second CNP halves it again, before the rate can
 * rise. */
static void test_cnps_cut_rates(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	const struct cc_unit_counters *count;
	uint64_t line;
	struct rig rig;

	choose(mini, "dcqcn-paper");
	mini->params.notification.cnp_interval = 1 * SEC;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	count = cc_unit_counters(rig.one->adapter->transport->congestion);
	line = port_rate_bps(hca_port(rig.one->adapter));
	mark_all(&rig);
	rig_post(&rig, WQE_WRITE, 8 * MTU);
	while (!count->cnp_received)
		sim_run(mini->sim, sim_now(mini->sim) + 100 * NS);
	CU_ASSERT_EQUAL(count->cnp_received, 1);
	CU_ASSERT_EQUAL(count->cc_states, 1);
	CU_ASSERT_EQUAL(count->rate_now, line / 2);
	end(&rig);
}

/* InfiniBand: FECN leads to BECN in each ACK behind it. */
static void test_becn_in_acks(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	choose(mini, "infiniband");
	mini->params.notification.notify = NOTIFICATION_ACK;
	rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, 1024);
	mark_all(&rig);
	time_of(&rig, WQE_WRITE, 160 * 1024);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "congestion", "ecn_marked_packets"), 160);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "congestion", "cnp_sent"), 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "acks_sent"), 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "cnp_received"), 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "holds"), 13); /* seen */
	end(&rig);
}

/* An adapter that notifies and does not react does not pace, and ignores CNPs. */
static void test_notifies_alone(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	mini->params.notification.notify = NOTIFICATION_CNP;
	mini->params.notification.cnp_priority = 5;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, MTU);
	mark_all(&rig);
	time_of(&rig, WQE_WRITE, 8 * MTU);
	mini_run(mini);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "congestion", "cnp_sent"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "cnp_received"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "cnp_ignored"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "congestion", "holds"), 0);
	end(&rig);
}

static void test_off_is_not_there(void)
{
	struct rig rig = rig_create_with(SIM_ENGINE_native, QP_RC, LINK_ETHERNET, MTU);

	mark_all(&rig);
	time_of(&rig, WQE_WRITE, 8 * MTU);
	CU_ASSERT_PTR_NULL(rig.one->adapter->transport->congestion);
	CU_ASSERT_PTR_NULL(state_of(rig.qp));
	CU_ASSERT_EQUAL(fault_counters(rig.fault)->packets_marked, 0); /* they are not ECT */
	end(&rig);
}

static void test_datagrams_are_let_alone(void)
{
	uint8_t vector[48] = {[15] = 1};
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	choose(mini, "window");
	set("rate", "1Mbps");
	rig = rig_create_on(mini, QP_UD, LINK_ETHERNET, MTU);
	mark_all(&rig);
	mini_receive(rig.peer, rig.target, 4096);
	mini_receive(rig.peer, rig.target, 4096);
	for (unsigned i = 0; i < 2; i++)
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
						      .address = rig.source,
						      .length = 1000,
						      .vector = vector});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, ACK_STATUS);
	CU_ASSERT_TRUE(sim_now(mini->sim) < 100 * US);
	CU_ASSERT_EQUAL(fault_counters(rig.fault)->packets_marked, 0);
	CU_ASSERT_PTR_NULL(state_of(rig.qp));
	end(&rig);
}

/* ---- losses ---- */

/* A packet of the write, or of the read's response, is lost. */
static sim_time lossy_time(uint8_t opcode, sim_time nak_delay, sim_time nak_reaction,
			   sim_time read_loss_delay)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;
	sim_time time;

	mini->params.transport.nak_delay = nak_delay;
	mini->params.transport.nak_reaction = nak_reaction;
	mini->params.transport.read_loss_delay = read_loss_delay;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
	rig_drop(&rig, false, RC_WRITE_MIDDLE, 5, 0);
	rig_drop(&rig, true, RC_READ_RESP_MIDDLE, 5, 0);
	time = time_of(&rig, opcode, 16 * 1024);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport",
				  opcode == WQE_READ ? "implied_nak_seq_err" : "packet_seq_err"),
			1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "local_ack_timeouts"), 0);
	end(&rig);
	return time;
}

static void test_times_of_losses(void)
{
	sim_time write = lossy_time(WQE_WRITE, 0, 0, 0), read = lossy_time(WQE_READ, 0, 0, 0);

	CU_ASSERT_EQUAL(lossy_time(WQE_WRITE, 1200 * NS, 0, 0), write + 1200 * NS);
	CU_ASSERT_EQUAL(lossy_time(WQE_WRITE, 0, 2800 * NS, 0), write + 2800 * NS);
	CU_ASSERT_EQUAL(lossy_time(WQE_WRITE, 1200 * NS, 2800 * NS, 9 * US), write + 4000 * NS);
	CU_ASSERT_EQUAL(lossy_time(WQE_READ, 0, 0, 2 * US), read + 2 * US);
	CU_ASSERT_EQUAL(lossy_time(WQE_READ, 1200 * NS, 2800 * NS, 2 * US), read + 2 * US);
}

/* A delayed NAK is not sent if its queue pair is destroyed or reset meanwhile. */
static void test_late_naks_are_forgotten(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig;

	mini->params.transport.nak_delay = 50 * US;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
	rig_drop(&rig, false, RC_WRITE_MIDDLE, 5, 0);
	rig_post(&rig, WQE_WRITE, 16 * 1024);
	while (!rig_count_other(&rig, "transport", "out_of_sequence"))
		sim_run(mini->sim, sim_now(mini->sim) + 100 * NS);
	mini_to(rig.peer, STATE_RESET);
	sim_run(mini->sim, sim_now(mini->sim) + 100 * US);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "naks_sent"), 0);
	mini_to(rig.qp, STATE_RESET);
	end(&rig);
}
