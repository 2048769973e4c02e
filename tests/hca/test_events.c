/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the path of an event to its driver, to the picosecond: EQE, MSI-X write after it, handler.
 * Covers events that share an interrupt, and an event whose EQE the handler did not see. Covers
 * moderation by count, by time since the last event, and by time since the last completion. A queue
 * that is not armed causes no event, and no event is lost when moderation ends.
 *
 * EQE and MSI-X are writes of 64 B and 4 B with 24 B of TLP each. 116 B at 15.28 GB/s (gen3 x16, 3
 * % DLLPs) take 7.591 ns. The link takes 60 ns, the root complex 100 ns, the interrupt 300 ns.
 */
#include <errno.h>
#include <stdlib.h>

#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                        \
	TEST(eqe_msi_x_handler)                            \
	TEST(events_that_share_an_interrupt)               \
	TEST(moderation_by_count)                          \
	TEST(moderation_by_time_since_the_last_event)      \
	TEST(moderation_by_time_since_the_last_completion) \
	TEST(moderation_that_ends)                         \
	TEST(a_completion_queue)
SUITE(TESTS)

#define EQE_TIME     5759 /* 88 B on the link */
#define WRITES       7591 /* 116 B */
#define VISIBLE      (160 * NS)
#define INTERRUPT    (300 * NS)
#define EVENT_TIME   (WRITES + VISIBLE + INTERRUPT)
#define HANDLER_TIME (20 * NS)

struct bench {
	struct mini *mini;
	struct hca *adapter;
	struct moderation moderation;
	struct event note;
	const sim_time *times; /* when completions become visible; 0 ends the list */
	uint32_t due;
};

static void due(struct moderation *moderation)
{
	container_of(moderation, struct bench, moderation)->due++;
}

static void note(struct event *event)
{
	struct bench *bench = container_of(event, struct bench, note);

	if (bench->times[1])
		sim_schedule_at(event, bench->times[1]);
	bench->times++;
	event_queue_moderation_note(&bench->moderation);
}

static struct bench *bench_create(uint32_t from, uint32_t count, sim_time period)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	CU_ASSERT_PTR_NOT_NULL_FATAL(bench);
	bench->mini = mini_create(SIM_ENGINE_native);
	bench->mini->params.event_queue.moderation_from = from;
	bench->mini->params.event_queue.moderation_count = count;
	bench->mini->params.event_queue.moderation_period = period;
	mini_start(bench->mini, LINK_INFINIBAND);
	bench->adapter = bench->mini->hosts[0].adapter;
	event_queue_moderation_init(&bench->moderation, bench->adapter->events, due);
	bench->moderation.cqn = 77;
	event_init(&bench->note, &bench->adapter->block, note);
	return bench;
}

static void run(struct bench *bench, const sim_time *times)
{
	bench->times = times;
	sim_schedule_at(&bench->note, times[0]);
	mini_run(bench->mini);
}

static uint32_t count_of(struct bench *bench, const char *counter)
{
	return mini_block_count(&bench->mini->hosts[0], "event_queue", counter);
}

static void check_events(struct bench *bench, const sim_time *times)
{
	struct mini_host *host = &bench->mini->hosts[0];
	uint32_t count = 0;

	for (; times[count]; count++)
		CU_ASSERT_EQUAL(host->cq_event_at[count], times[count]);
	CU_ASSERT_EQUAL(host->cq_events, count);
	CU_ASSERT_EQUAL(bench->due, count);
	CU_ASSERT_EQUAL(count_of(bench, "completions"), count);
}

static void bench_destroy(struct bench *bench)
{
	event_queue_moderation_close(&bench->moderation);
	mini_destroy(bench->mini);
	free(bench);
}

static void test_eqe_msi_x_handler(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_EVENT, 0, 0);

	run(bench, (const sim_time[]){1 * US, 0});
	check_events(bench, (const sim_time[]){1 * US + EVENT_TIME, 0});
	CU_ASSERT_EQUAL(count_of(bench, "interrupts"), 1);
	CU_ASSERT_EQUAL(count_of(bench, "shared"), 0);
	CU_ASSERT_EQUAL(mini_block_count(&bench->mini->hosts[0], "pcie", "write_packets"), 2);
	CU_ASSERT_EQUAL(mini_block_count(&bench->mini->hosts[0], "pcie", "write_bytes"), 68);
	bench_destroy(bench);
}

/* The second is visible before the handler runs, the third is not when it ends. */
static void test_events_that_share_an_interrupt(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_EVENT, 0, 0);
	sim_time first = 1 * US + EVENT_TIME, second = first + HANDLER_TIME;
	sim_time end = second + HANDLER_TIME, third = first - 10 * NS;
	sim_time msi_done = third + EQE_TIME + VISIBLE; /* its EQE is visible, later than `end` */

	run(bench, (const sim_time[]){1 * US, 1 * US + 100 * NS, third, 0});
	CU_ASSERT_TRUE(msi_done > end);
	/* the MSI-X write of `end` takes 28 B on the link */
	check_events(bench, (const sim_time[]){first, second,
					       end + WRITES - EQE_TIME + VISIBLE + INTERRUPT, 0});
	CU_ASSERT_EQUAL(count_of(bench, "interrupts"), 2);
	CU_ASSERT_EQUAL(count_of(bench, "shared"), 2);
	bench_destroy(bench);
}

/* The first event leaves at once, because no event came before it. Then four completions make one
 * event. */
static void test_moderation_by_count(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_EVENT, 4, 100 * US);

	run(bench, (const sim_time[]){1 * US, 10 * US, 11 * US, 12 * US, 13 * US, 0});
	check_events(bench, (const sim_time[]){1 * US + EVENT_TIME, 13 * US + EVENT_TIME, 0});
	CU_ASSERT_EQUAL(count_of(bench, "moderated"), 3);
	CU_ASSERT_EQUAL(count_of(bench, "by_count"), 1);
	CU_ASSERT_EQUAL(count_of(bench, "by_period"), 1);
	CU_ASSERT_EQUAL(count_of(bench, "interrupts"), 2);
	bench_destroy(bench);
}

/* An event comes 16 us after the last event. Later events leave at once. */
static void test_moderation_by_time_since_the_last_event(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_EVENT, 100, 16 * US);

	run(bench, (const sim_time[]){1 * US, 6 * US, 9 * US, 50 * US, 0});
	check_events(bench, (const sim_time[]){1 * US + EVENT_TIME, 17 * US + EVENT_TIME,
					       50 * US + EVENT_TIME, 0});
	CU_ASSERT_EQUAL(count_of(bench, "moderated"), 2);
	CU_ASSERT_EQUAL(count_of(bench, "by_period"), 3);
	bench_destroy(bench);

	/* just then: there is nothing to wait for */
	bench = bench_create(MODERATION_FROM_EVENT, 100, 16 * US);
	run(bench, (const sim_time[]){1 * US, 17 * US, 0});
	check_events(bench, (const sim_time[]){1 * US + EVENT_TIME, 17 * US + EVENT_TIME, 0});
	CU_ASSERT_EQUAL(count_of(bench, "moderated"), 0);
	CU_ASSERT_EQUAL(count_of(bench, "by_period"), 2);
	bench_destroy(bench);
}

/* 16 us after the last completion, which restarts the time. */
static void test_moderation_by_time_since_the_last_completion(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_CQE, 100, 16 * US);

	run(bench, (const sim_time[]){1 * US, 6 * US, 21 * US, 50 * US, 0});
	check_events(bench, (const sim_time[]){37 * US + EVENT_TIME, 66 * US + EVENT_TIME, 0});
	CU_ASSERT_EQUAL(count_of(bench, "moderated"), 4);
	bench_destroy(bench);
}

static void test_moderation_that_ends(void)
{
	struct bench *bench = bench_create(MODERATION_FROM_CQE, 100, 1 * MS);

	bench->times = (const sim_time[]){1 * US, 0};
	sim_schedule_at(&bench->note, 1 * US);
	sim_run(bench->mini->sim, 5 * US);
	event_queue_moderation_set(&bench->moderation, 0, 0);
	mini_run(bench->mini);
	check_events(bench, (const sim_time[]){5 * US + EVENT_TIME, 0});
	event_queue_moderation_set(&bench->moderation, 100, 1 * MS);
	run(bench, (const sim_time[]){2 * MS, 0});
	check_events(bench, (const sim_time[]){5 * US + EVENT_TIME, 3 * MS + EVENT_TIME, 0});
	bench->times = (const sim_time[]){5 * MS, 0};
	sim_schedule_at(&bench->note, 5 * MS);
	sim_run(bench->mini->sim, 5 * MS + 1 * US);
	event_queue_moderation_close(&bench->moderation);
	mini_run(bench->mini);
	CU_ASSERT_EQUAL(bench->due, 2);
	bench_destroy(bench);
}

static void post_sends(struct rig *rig, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		rig_post(rig, WQE_SEND, 8);
	mini_run(rig->mini);
}

static void take_all_and_arm(struct rig *rig)
{
	struct mini_wc wc;

	while (mini_poll(rig->peer->recv_cq, &wc))
		continue;
	mini_arm(rig->peer->recv_cq, false);
	mini_run(rig->mini);
}

/* Through the adapter: only completions that are not polled when the queue is armed count, and
 * later completions. The queue is disarmed when its event leaves. */
static void test_a_completion_queue(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca *adapter = rig.other->adapter;
	uint32_t cqn = rig.peer->recv_cq->number;

	for (unsigned i = 0; i < 32; i++)
		mini_receive(rig.peer, rig.target, 64);
	CU_ASSERT_EQUAL(hca_cq_moderate(adapter, cqn, 65536, 1 * US), -EINVAL);
	CU_ASSERT_EQUAL(hca_cq_moderate(adapter, cqn, 1, 4096 * US), -EINVAL);
	CU_ASSERT_EQUAL(hca_cq_moderate(adapter, cqn + 100, 1, 1 * US), -EINVAL);
	CU_ASSERT_EQUAL(hca_cq_moderate(adapter, cqn, 4, 4095 * US), 0);
	post_sends(&rig, 3); /* not armed */
	take_all_and_arm(&rig);
	post_sends(&rig, 1); /* there was no event before it: at once */
	CU_ASSERT_EQUAL(rig.other->cq_events, 1);
	take_all_and_arm(&rig);
	post_sends(&rig, 6); /* 4 make an event, 2 come behind it */
	CU_ASSERT_EQUAL(rig.other->cq_events, 2);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "event_queue", "by_count"), 1);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "event_queue", "moderated"), 3);
	take_all_and_arm(&rig);
	post_sends(&rig, 2); /* too few: the period brings them */
	CU_ASSERT_EQUAL(rig.other->cq_events, 3);
	CU_ASSERT_EQUAL(rig.other->cq_event_at[2] - rig.other->cq_event_at[1], 4095 * US);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "completion", "events"), 3);
	take_all_and_arm(&rig);
	post_sends(&rig, 7); /* 4 make an event, 3 come behind it */
	CU_ASSERT_EQUAL(rig.other->cq_events, 4);
	mini_arm(rig.peer->recv_cq, false); /* those 3 count */
	post_sends(&rig, 1);
	CU_ASSERT_EQUAL(rig.other->cq_events, 5);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "event_queue", "by_count"), 3);
	rig_destroy(&rig);
}
