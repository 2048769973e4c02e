/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests cores of threads, to the picosecond. Threads get the first of the least used cores that
 * they may use. The work of a core delays its thread and counts for it, for the idle task, or in
 * ksoftirqd.
 */
#include <stdlib.h>

#include "tests/support/suite.h"
#include "verbs-shim/session/state.h"

#define TESTS(TEST) TEST(places) TEST(interrupted) TEST(idle) TEST(threaded) TEST(polling)
SUITE(TESTS)

enum { GRO = 60, RECEIVE = 1260 };

static struct session *session;
static const uint64_t work[CPU_KIND_COUNT] = {[CPU_gro] = GRO, [CPU_receive] = RECEIVE};

static void begin(void)
{
	session = calloc(1, sizeof(*session));
	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	session->shared = calloc(1, sizeof(*session->shared));
	CU_ASSERT_PTR_NOT_NULL_FATAL(session->shared);
	session->sim = sim_create(SIM_ENGINE_native, 1);
	session->cpu.cores = 4;
	session->thread_count = 4;
	session->host_count = 1;
	for (uint32_t i = 0; i < 4; i++) {
		session->processes[i] = (struct process){.session = session, .alive = true};
		session->threads[i] = (struct thread){.process = &session->processes[i],
						      .slot = &session->shared->slots[i],
						      .state = THREAD_READY,
						      .last = OP_YIELD,
						      .clock = 5000};
	}
}

static void end(void)
{
	sim_destroy(session->sim);
	free(session->shared);
	free(session);
}

static void test_places(void)
{
	begin();
	session->shared->cpus[1].words[0] = 1 << 2 | 1 << 0;
	session->shared->cpus[3].words[0] = 1 << 0;
	for (uint32_t i = 0; i < 4; i++)
		cores_place(session, &session->threads[i]);
	CU_ASSERT_EQUAL(session->shared->cores[0], 0);
	CU_ASSERT_EQUAL(session->shared->cores[1], 2);
	CU_ASSERT_EQUAL(session->shared->cores[2], 1);
	CU_ASSERT_EQUAL(session->shared->cores[3], 0);
	session->shared->cpus[2].words[0] = 1 << 3;
	cores_place(session, &session->threads[2]);
	CU_ASSERT_EQUAL(session->shared->cores[2], 3);
	end();
}

/* The first thread works until 5000 on core 0, which processes frames meanwhile. */
static void test_interrupted(void)
{
	begin();
	cores_place(session, &session->threads[0]);
	session->threads[0].request = true;
	session->threads[0].slot->clock = 5000;
	session->threads[0].slot->store_count = 1;
	session->threads[0].slot->stores[0].clock = 4000;
	cores_occupy(session, 0, 0, work, false);
	CU_ASSERT_EQUAL(session->threads[0].clock, 5000 + GRO + RECEIVE);
	CU_ASSERT_EQUAL(session->threads[0].slot->clock, 5000 + GRO + RECEIVE);
	CU_ASSERT_EQUAL(session->threads[0].slot->stores[0].clock, 4000 + GRO + RECEIVE);
	CU_ASSERT_EQUAL(session->shared->charged[0][CPU_gro], GRO);
	CU_ASSERT_EQUAL(session->shared->charged[0][CPU_receive], RECEIVE);
	CU_ASSERT_EQUAL(session->shared->preempted[0], 0);
	CU_ASSERT_EQUAL(session->hosts[0].softirq[0].total, 0);
	CU_ASSERT(cores_run(session, 0, 0));
	end();
}

/* Core 1 has no thread, and the thread of core 0 waits. */
static void test_idle(void)
{
	begin();
	cores_place(session, &session->threads[0]);
	session->threads[0].state = THREAD_OS;
	cores_occupy(session, 0, 1, work, false);
	cores_occupy(session, 0, 0, work, false);
	CU_ASSERT_EQUAL(session->threads[0].clock, 5000);
	CU_ASSERT_EQUAL(session->hosts[0].softirq[0].total, 2 * (GRO + RECEIVE));
	CU_ASSERT_EQUAL(session->hosts[0].softirq[0].kinds[CPU_gro], 2 * GRO);
	CU_ASSERT(!cores_run(session, 0, 0));
	end();
}

static void test_threaded(void)
{
	begin();
	cores_place(session, &session->threads[0]);
	cores_occupy(session, 0, 0, work, true);
	CU_ASSERT_EQUAL(session->threads[0].clock, 5000 + GRO + RECEIVE);
	CU_ASSERT_EQUAL(session->shared->preempted[0], GRO + RECEIVE);
	CU_ASSERT_EQUAL(session->shared->charged[0][CPU_gro], 0);
	CU_ASSERT_EQUAL(session->hosts[0].softirq[1].total, GRO + RECEIVE);
	end();
}

/* A polling thread is on its core. Its clock moves when it finds what it polls for. */
static void test_polling(void)
{
	begin();
	cores_place(session, &session->threads[0]);
	session->threads[0].state = THREAD_VISIBLE_WRITE;
	cores_occupy(session, 0, 0, work, false);
	CU_ASSERT_EQUAL(session->threads[0].clock, 5000);
	CU_ASSERT_EQUAL(session->shared->charged[0][CPU_receive], RECEIVE);
	end();
}
