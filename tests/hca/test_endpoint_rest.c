/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests queue pairs at rest. They carry messages at the same times and with the same counters as
 * queue pairs that never rest: with losses, with timeouts that are too short, so that duplicates
 * and old ACKs come after the end, and with CNPs. Before and after their messages they rest.
 */
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(rest_changes_nothing)              \
	TEST(with_selective_repeat_neither)     \
	TEST(queue_pairs_rest_before_and_after) \
	TEST(a_queue_pair_in_use_stays_awake)
SUITE(TESTS)

#define PAIRS   300u
#define SENDERS 3u

enum { GO_BACK_N, SELECTIVE_REPEAT };

struct crowd {
	struct study study;
	struct endpoint_slot *slots[PAIRS];
	struct post {
		struct endpoint_message message; /* first */
		struct crowd *crowd;
		unsigned pair;
	} posts[PAIRS];
	bool rests;
	unsigned done;
};

static void post_done(struct endpoint_message *message)
{
	struct post *post = (struct post *)(void *)message;

	post->crowd->done++;
	if (post->crowd->rests)
		endpoint_retire(post->crowd->slots[post->pair]);
}

static void add_pair(struct crowd *crowd, unsigned pair)
{
	static const enum endpoint_operation operations[] = {ENDPOINT_WRITE, ENDPOINT_SEND,
							     ENDPOINT_READ, ENDPOINT_ATOMIC};
	struct endpoint_hca *from = crowd->study.hosts[1 + pair % SENDERS];
	struct endpoint_message *message = &crowd->posts[pair].message;

	crowd->posts[pair].crowd = crowd;
	crowd->posts[pair].pair = pair;
	message->operation = operations[pair % 4];
	message->bytes = message->operation == ENDPOINT_ATOMIC ? 8 : 1000 + pair % 7 * 2000;
	message->done = post_done;
	crowd->slots[pair] =
		endpoint_slot(endpoint_create_pair(from, crowd->study.hosts[0], 0, pair));
	if (!crowd->rests)
		return;
	endpoint_let_rest(crowd->slots[pair]);
	endpoint_retire(endpoint_slot_peer(crowd->slots[pair]));
}

/* Makes three senders, one receiver and a switch, which marks. Packets of the first sender are
 * lost. */
static void crowd_init(struct crowd *crowd, bool rests, unsigned recovery, sim_time timeout)
{
	struct study *study = &crowd->study;
	const struct fault_rule rule = {.action = FAULT_drop,
					.kind = PACKET_DATA,
					.opcode = FAULT_ANY_OPCODE,
					.probability = 0.1};

	memset(crowd, 0, sizeof(*crowd));
	crowd->rests = rests;
	study_init(study, LINK_ETHERNET, "dcqcn-paper", 1, SENDERS + 1);
	study->params.recovery = recovery;
	study->params.timeout_mode = 2; /* fixed */
	study->params.timeout_fixed = timeout;
	study->params.retry_count = 8;
	study->switch_params.ecn.mark = ECN_MARK_DEQUEUE;
	study->switch_params.ecn.kmin = 1000;
	study->switch_params.ecn.kmax = 2000;
	study->switch_params.ecn.pmax = 1;
	study_star(study, SENDERS + 1);
	study->fault = fault_create(study->sim, "fault");
	fault_add(study->fault, &rule);
	port_set_transmit_fault(endpoint_port(study->hosts[1]), study->fault);
	for (unsigned i = 0; i < PAIRS; i++)
		add_pair(crowd, i);
}

static void crowd_run(struct crowd *crowd)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		sim_run(crowd->study.sim, i * US);
		endpoint_post(endpoint_at(crowd->slots[i]), &crowd->posts[i].message);
	}
	sim_run(crowd->study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(crowd->done, PAIRS);
}

static void compare_ends(struct endpoint_slot *one, struct endpoint_slot *other)
{
	struct endpoint_qp *first = endpoint_look(one), *second = endpoint_look(other);

	CU_ASSERT_EQUAL(endpoint_acked_bytes(first), endpoint_acked_bytes(second));
	CU_ASSERT_EQUAL(endpoint_arrived_bytes(first), endpoint_arrived_bytes(second));
	CU_ASSERT_EQUAL(endpoint_inflight_bytes(first), endpoint_inflight_bytes(second));
	CU_ASSERT_EQUAL(endpoint_cnps(first), endpoint_cnps(second));
	CU_ASSERT_EQUAL(endpoint_marks(first), endpoint_marks(second));
	CU_ASSERT_EQUAL(endpoint_rate_bps(first), endpoint_rate_bps(second));
	CU_ASSERT_EQUAL(endpoint_rtt(first), endpoint_rtt(second));
}

static void compare(unsigned recovery)
{
	static struct crowd awake, resting;
	uint64_t stale = 0, timeouts = 0, cnps = 0;

	crowd_init(&awake, false, recovery, 1300 * NS);
	crowd_init(&resting, true, recovery, 1300 * NS);
	crowd_run(&awake);
	crowd_run(&resting);
	for (unsigned i = 0; i <= SENDERS; i++) {
		const struct endpoint_counters *counters = endpoint_counters(awake.study.hosts[i]);

		stale += counters->stale_responses;
		timeouts += counters->local_ack_timeouts;
		cnps += counters->cnp_received;
		CU_ASSERT_EQUAL(memcmp(counters, endpoint_counters(resting.study.hosts[i]),
				       sizeof(*counters)),
				0);
	}
	CU_ASSERT(stale > 0 || recovery != GO_BACK_N);
	CU_ASSERT(timeouts > 0 && cnps > 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		CU_ASSERT_EQUAL(awake.posts[i].message.done_at, resting.posts[i].message.done_at);
		compare_ends(awake.slots[i], resting.slots[i]);
		compare_ends(endpoint_slot_peer(awake.slots[i]),
			     endpoint_slot_peer(resting.slots[i]));
	}
	CU_ASSERT_EQUAL(sim_now(awake.study.sim), sim_now(resting.study.sim));
	study_fini(&awake.study);
	study_fini(&resting.study);
}

static void test_rest_changes_nothing(void)
{
	compare(GO_BACK_N);
}

static void test_with_selective_repeat_neither(void)
{
	compare(SELECTIVE_REPEAT);
}

/* The copies of queue pairs at rest of one HCA are in one place. */
static bool both_rest(struct endpoint_slot *one, struct endpoint_slot *other)
{
	const struct endpoint_qp *first = endpoint_look(one);

	return endpoint_look(other) == first;
}

static unsigned count_at_rest(const struct crowd *crowd)
{
	unsigned count = 0;

	for (unsigned i = SENDERS; i < PAIRS; i++)
		count += both_rest(crowd->slots[i - SENDERS], crowd->slots[i]);
	return count;
}

static void test_queue_pairs_rest_before_and_after(void)
{
	static struct crowd crowd;

	crowd_init(&crowd, true, GO_BACK_N, MS);
	CU_ASSERT_EQUAL(count_at_rest(&crowd), PAIRS - SENDERS);
	crowd_run(&crowd);
	CU_ASSERT(count_at_rest(&crowd) > PAIRS * 8 / 10);
	study_fini(&crowd.study);
}

/* Without endpoint_retire() its congestion control may be needed again. */
static void test_a_queue_pair_in_use_stays_awake(void)
{
	static struct crowd crowd;
	struct endpoint_qp *qp;
	struct transfer transfer;
	unsigned done = 0;

	crowd_init(&crowd, true, GO_BACK_N, MS);
	qp = endpoint_at(crowd.slots[1]);
	transfer_post(&transfer, qp, ENDPOINT_WRITE, 10000, &done);
	for (unsigned i = 4; i < PAIRS; i += SENDERS)
		endpoint_post(endpoint_at(crowd.slots[i]), &crowd.posts[i].message);
	sim_run(crowd.study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	CU_ASSERT_PTR_EQUAL(endpoint_at(crowd.slots[1]), qp);
	study_fini(&crowd.study);
}
