/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the order of threads. The thread with the earliest time acts first. At equal times it is
 * the thread of the lower host, process and slot. Among polling threads it is the one whose
 * interval ends first, and among timers the one that fires first. Another test checks when a thread
 * that waits in the operating system acts.
 */
#include <stdlib.h>

#include "tests/support/suite.h"
#include "verbs-shim/session/state.h"

#define TESTS(TEST)     \
	TEST(earliest)  \
	TEST(equals)    \
	TEST(not_ready) \
	TEST(impatient) \
	TEST(timers)    \
	TEST(in_the_os)
SUITE(TESTS)

static struct session *session;

/* Two processes on each of two hosts, a thread each, in that order. */
static void begin(void)
{
	session = calloc(1, sizeof(*session));
	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	session->process_count = session->thread_count = 4;
	for (uint32_t i = 0; i < 4; i++) {
		session->processes[i] = (struct process){
			.session = session, .number = i, .alive = true, .host = i / 2};
		session->threads[i] = (struct thread){
			.process = &session->processes[i], .state = THREAD_READY, .clock = 100};
	}
}

static void end(void)
{
	free(session);
}

static void expect(unsigned thread, sim_time at, sim_time after)
{
	sim_time when, second;
	struct thread *picked = order_pick(session, &when, &second);

	CU_ASSERT_EQUAL(picked - session->threads, thread);
	CU_ASSERT_EQUAL(when, at);
	CU_ASSERT_EQUAL(second, after);
}

static void test_earliest(void)
{
	begin();
	session->threads[2].clock = 70;
	session->threads[1].clock = 90;
	expect(2, 70, 90);
	session->threads[2].state = THREAD_ASLEEP;
	session->threads[2].deadline = 80;
	expect(2, 80, 90);
	session->threads[0].clock = 60;
	expect(0, 60, 80);
	end();
}

static void test_equals(void)
{
	begin();
	expect(0, 100, 100);
	session->processes[0].host = 2; /* the lower host, though its process comes later */
	expect(1, 100, 100);
	session->processes[0].host = 0;
	session->processes[0].number = 7; /* the lower process, though its thread comes later */
	expect(1, 100, 100);
	session->threads[1].process = &session->processes[0];
	expect(0, 100, 100);
	end();
}

static void test_not_ready(void)
{
	sim_time when, second;

	begin();
	session->threads[0].state = THREAD_FREE;
	session->processes[1].alive = false;
	expect(2, 100, 100);
	session->threads[2].state = THREAD_VISIBLE_WRITE; /* not of itself */
	expect(3, 100, SIM_NEVER);
	session->threads[2].by_clocks = true;
	session->threads[2].deadline = 50;
	expect(2, 50, 100);
	session->processes[1].host = 0;
	session->thread_count = 0;
	CU_ASSERT_PTR_NULL(order_pick(session, &when, &second));
	CU_ASSERT_EQUAL(when, SIM_NEVER);
	end();
}

static void test_impatient(void)
{
	static const sim_time deadlines[] = {90, 70, 80, 60};

	begin();
	CU_ASSERT_PTR_NULL(order_impatient(session, SIM_NEVER));
	for (unsigned i = 0; i < 4; i++) {
		session->threads[i].state = THREAD_VISIBLE_WRITE;
		session->threads[i].deadline = deadlines[i];
	}
	session->threads[3].by_clocks = true; /* it goes on at its deadline anyway */
	CU_ASSERT_PTR_EQUAL(order_impatient(session, SIM_NEVER), &session->threads[1]);
	CU_ASSERT_PTR_NULL(order_impatient(session, 70));
	CU_ASSERT_PTR_EQUAL(order_impatient(session, 71), &session->threads[1]);
	session->processes[1].alive = false;
	CU_ASSERT_PTR_EQUAL(order_impatient(session, SIM_NEVER), &session->threads[2]);
	end();
}

static void test_timers(void)
{
	uint32_t timer;
	sim_time when;

	begin();
	CU_ASSERT_PTR_NULL(order_timer(session, &timer, &when));
	CU_ASSERT_EQUAL(when, SIM_NEVER);
	session->processes[1].timer_count = 3;
	session->processes[1].timers[0] = (struct process_timer){.at = 10}; /* disarmed */
	session->processes[1].timers[1] = (struct process_timer){.at = 50, .signal = 14};
	session->processes[1].timers[2] = (struct process_timer){.at = 40, .signal = 14};
	session->processes[2].timer_count = 1;
	session->processes[2].timers[0] = (struct process_timer){.at = 45, .signal = 14};
	CU_ASSERT_PTR_EQUAL(order_timer(session, &timer, &when), &session->processes[1]);
	CU_ASSERT_EQUAL(timer, 2);
	CU_ASSERT_EQUAL(when, 40);
	session->threads[1].signalled = 3; /* a thread has its signal, and no turn yet */
	CU_ASSERT_PTR_EQUAL(order_timer(session, &timer, &when), &session->processes[2]);
	CU_ASSERT_EQUAL(timer, 0);
	CU_ASSERT_EQUAL(when, 45);
	end();
}

/* A thread that waits in the operating system acts one socket call after the last action of other
 * threads. It acts at most two socket calls after the first action that it has not seen. It never
 * acts before its own clock or after its timeout. */
static void test_in_the_os(void)
{
	struct thread *thread;

	begin();
	thread = &session->threads[0];
	thread->state = THREAD_OS;
	thread->deadline = 5000;
	session->cpu.socket = 300;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 5000);
	session->visible = 1;
	session->visible_at = thread->unseen_at = 1000;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 1300);
	session->visible_at = 1250;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 1550);
	session->visible_at = 1400;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 1600);
	thread->clock = 1700;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 1700);
	thread->deadline = 1650;
	CU_ASSERT_EQUAL(order_next_act(session, thread), 1650);
	end();
}
