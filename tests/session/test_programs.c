/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests programs under a session without RDMA devices. Sleeps end; threads, conditions, fork, exec,
 * signals, sockets and clocks work; two hosts can bind one port. A run is the same with other
 * quanta and on other cores. The programs are the parts of program.c.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/block.h"
#include "tests/support/suite.h"
#include "verbs-shim/session/session.h"

#define TESTS(TEST)                                         \
	TEST(unsuitable_programs_are_refused)               \
	TEST(sleeping_programs_end)                         \
	TEST(threads_take_turns)                            \
	TEST(processes_share_locks_and_conditions)          \
	TEST(who_wants_a_spin_lock_gets_it)                 \
	TEST(who_never_waits_holds_up_nobody)               \
	TEST(who_asks_is_not_interrupted)                   \
	TEST(who_goes_on_writing_holds_up_nobody)           \
	TEST(destructors_read_when_their_thread_ended)      \
	TEST(fork_exec_and_wait_work)                       \
	TEST(timers_run_on_virtual_time)                    \
	TEST(timers_end_in_signals_and_threads)             \
	TEST(processes_and_threads_have_numbers_of_the_run) \
	TEST(hosts_have_their_own_addresses)                \
	TEST(first_bad_exit_code_counts)                    \
	TEST(virtual_deadlock_ends)                         \
	TEST(hidden_sleeps_do_not_stop_the_run)             \
	TEST(descriptors_and_signals_run_on_virtual_time)   \
	TEST(who_polls_what_another_process_stores_wakes)   \
	TEST(who_ends_is_seen_at_its_time)                  \
	TEST(who_is_ended_has_ended)                        \
	TEST(real_time_signals_queue)                       \
	TEST(who_waits_for_a_file_lock_gets_it)             \
	TEST(who_waits_for_a_futex_wakes_in_order)          \
	TEST(calls_that_block_take_virtual_time)            \
	TEST(who_is_suspended_goes_on_in_virtual_time)      \
	TEST(runs_repeat_with_any_quantum_and_core)
SUITE(TESTS)

#define TEXT_BYTES 65536

struct result {
	int code;
	uint64_t hash;
	char text[TEXT_BYTES];
};

static sim_time lock_handoff; /* of the runs that follow; 0: as it is by default */

/* Runs the named parts of the program, one on each host, in a child process. Captures their
 * output. */
static void run_session(struct result *result, const char *const (*programs)[4], uint32_t count,
			uint64_t quantum, int core)
{
	int ends[2], status;
	size_t used = 0;
	pid_t child;

	memset(result, 0, sizeof(*result));
	fflush(NULL);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		struct cpu_params cpu;
		struct session_params params;
		char error[256];
		cpu_set_t cores;

		CPU_ZERO(&cores);
		CPU_SET((size_t)(core < 0 ? 0 : core), &cores);
		if (core >= 0)
			(void)sched_setaffinity(0, sizeof(cores), &cores);
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		session_supervise();
		params_default(session_cpu_param_list, &cpu);
		params_default(session_param_list, &params);
		params.quantum = quantum;
		if (lock_handoff)
			cpu.lock_handoff = lock_handoff;
		struct sim *sim = sim_create(SIM_ENGINE_native, 1);
		struct session *session = session_create(sim, &cpu, &params, false, false);
		for (uint32_t i = 0; i < count; i++) {
			char name[16];
			const uint8_t address[4] = {127, 77, 0, (uint8_t)(i + 1)};
			snprintf(name, sizeof(name), "host%u", i);
			session_add_host(session, name, address);
		}
		for (uint32_t i = 0; i < count; i++) {
			char **argv = calloc(5, sizeof(*argv));
			argv[0] = strdup(SESSION_PROGRAM);
			for (int a = 0; a < 3 && programs[i][a]; a++)
				argv[a + 1] = strdup(programs[i][a]);
			if (!session_add_program(session, i, argv, 0, false, error, sizeof(error)))
				_exit(99);
		}
		if (!session_prepare(session, error, sizeof(error)))
			_exit(98);
		int code = session_run(session);
		printf("hash %016lx\n", (unsigned long)session_trace_hash(session));
		fflush(stdout);
		_exit(code);
	}
	close(ends[1]);
	for (;;) {
		ssize_t got = read(ends[0], result->text + used, TEXT_BYTES - 1 - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(ends[0]);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	result->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const struct result *result, int code, const char *text)
{
	CU_ASSERT_EQUAL(result->code, code);
	CU_ASSERT_PTR_NOT_NULL(strstr(result->text, text));
	if (result->code != code || !strstr(result->text, text))
		fprintf(stderr, "expected %d and\n%s\ngot %d and\n%s\n", code, text, result->code,
			result->text);
}

static void test_sleeping_programs_end(void)
{
	static const char *const programs[][4] = {
		{"sleeps", "30000"}, {"sleeps", "10000"}, {"sleeps", "20000"}};
	struct result result;

	run_session(&result, programs, 3, 3 * MS, -1);
	/* Programs start when those before them wait; a sleep is no such wait, so they follow one
	 * another. */
	CU_ASSERT_EQUAL(result.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.text, "host0| first\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(result.text, "host2| second\n"));
}

static void test_threads_take_turns(void)
{
	static const char *const programs[][4] = {{"threads"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| 012301230123\nhost0| sum 60 timeout 1\n");
}

/* Fifteen iterations in order over three processes. Two forks of 500 us, the semaphore after 1 ms,
 * the mutex after 2 ms, and a second. */
static void test_processes_share_locks_and_conditions(void)
{
	static const char *const programs[][4] = {{"shared"}};
	static struct result first, second;

	run_session(&first, programs, 1, 3 * MS, -1);
	expect(&first, 0, "host0| timeout 1 turns 15 after 1004 ms\n");
	run_session(&second, programs, 1, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

/* The second program is started although the first never waits for anything. */
static void test_who_never_waits_holds_up_nobody(void)
{
	static const char *const programs[][4] = {{"looks"}, {"tells"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	expect(&result, 0, "host0| got word\n");
}

/* The simulator sends its own signal to a thread that runs for long. Some signals interrupt a
 * call. */
static void test_who_asks_is_not_interrupted(void)
{
	static const char *const programs[][4] = {{"asks"}};
	struct result result;

	run_session(&result, programs, 1, 1 * MS, -1);
	expect(&result, 0, "host0| asked 300000 times, 0 answers\n");
}

/* The time is 10 us for creation, 3 ms of sleep, and the cost of the calls. The clocks of
 * destructors do not advance. */
static void test_destructors_read_when_their_thread_ended(void)
{
	static const char *const programs[][4] = {{"ends"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| ended after 3010 us, 3010 us\n");
}

/* A visible action does not delay a thread that waits for an earlier action. */
static void test_who_goes_on_writing_holds_up_nobody(void)
{
	static const char *const programs[][4] = {{"sleeps", "1"}, {"answers"}, {"chats"}};
	struct result result;

	run_session(&result, programs, 3, 3 * MS, -1);
	expect(&result, 0, "host2| answered within 1 ms\n");
}

static void test_fork_exec_and_wait_work(void)
{
	static const char *const programs[][4] = {{"fork"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| hello 7 from 1001, system says 5\n");
}

static void test_timers_run_on_virtual_time(void)
{
	static const char *const programs[][4] = {{"signals"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| 3 alarms 1\n");
}

/* A thread that releases it sleeps for cpu.lock_handoff, to the nanosecond. */
static void test_who_wants_a_spin_lock_gets_it(void)
{
	static const char *const programs[][4] = {{"spin"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| turn 500\n");
	lock_handoff = 2 * US;
	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| turn 2000\n");
	lock_handoff = 0;
}

/* The program prints tenths of milliseconds. The first expires after 10, 15 and 20 ms; while its
 * signal is blocked, after 25, 30 and 35. */
static void test_timers_end_in_signals_and_threads(void)
{
	static const char *const programs[][4] = {{"timers"}};
	static struct result first, second;

	run_session(&first, programs, 1, 3 * MS, -1);
	expect(&first, 0,
	       "host0| signal 200 code 1 value 7 left 49 slept 360 taken 3 4 overrun 2 2 "
	       "waited 100 value 8\n"
	       "host0| own thread 1 100 called 30 200 30\n"
	       "host0| none 14999 0 prof 100 real 9900 alarm 1 3\n");
	run_session(&second, programs, 1, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

/* The first process is 1000, its child 1001; threads that are not the first of a process count from
 * 1256 by their slots. */
static void test_processes_and_threads_have_numbers_of_the_run(void)
{
	static const char *const programs[][4] = {{"ids"}};
	struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0,
	       "host0| process 1000 thread 1257 works 1 1 poked 1 1 child 1001 1 of 1000\n");
}

static void test_hosts_have_their_own_addresses(void)
{
	static const char *const programs[][4] = {{"server"}, {"client"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	expect(&result, 0, "host0| served 127.77.0.2\n");
	expect(&result, 0, "host1| host1: 50 round trips took ");
}

static void test_first_bad_exit_code_counts(void)
{
	static const char *const programs[][4] = {{"exit", "0"}, {"exit", "9"}, {"exit", "4"}};
	struct result result;

	run_session(&result, programs, 3, 3 * MS, -1);
	CU_ASSERT_EQUAL(result.code, 9);
}

/* Both programs wait for an action that never comes. The run reports this and ends. */
static void test_virtual_deadlock_ends(void)
{
	static const char *const programs[][4] = {{"stuck"}, {"stuck"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	CU_ASSERT_EQUAL(result.code, 3);
}

/* A thread that sleeps in an untracked call loses the token. It gets the token again after it
 * wakes, and can be part of a deadlock. */
static void test_hidden_sleeps_do_not_stop_the_run(void)
{
	static const char *const programs[][4] = {{"hidden"}, {"sleeps", "30000"}};
	static const char *const stuck[][4] = {{"hidden", "forever"}};
	struct result result;

	run_session(&result, programs, 2, 3 * MS, -1);
	expect(&result, 0, "host0| read 1\n");
	expect(&result, 0, "host1| second\n");
	run_session(&result, stuck, 1, 3 * MS, -1);
	CU_ASSERT_EQUAL(result.code, 3);
}

static void test_descriptors_and_signals_run_on_virtual_time(void)
{
	static const char *const programs[][4] = {{"events"}};
	static struct result first, second;

	run_session(&first, programs, 1, 3 * MS, -1);
	expect(&first, 0, "host0| timer 200 3 signal 14 200 1 child c limit 200 random ");
	run_session(&second, programs, 1, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

/* A round trip is twice cpu.shared (100 ns), whether or not clocks are read meanwhile. */
static void test_who_polls_what_another_process_stores_wakes(void)
{
	static const char *const programs[][4] = {{"peers"}};
	static struct result first, second;

	run_session(&first, programs, 1, 3 * MS, -1);
	expect(&first, 0, "host0| mapped 200 attached 200 by clocks 200\n");
	run_session(&second, programs, 1, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

/* A child's end closes its descriptors, and a terminal brings its lines, at the virtual time. */
static void test_who_ends_is_seen_at_its_time(void)
{
	static const char *const programs[][4] = {{"children"}};
	static struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| early 0 partial 0 usage 300 300\n");
}

/* Processes end by a signal, and threads with their destructors, before others see them. */
static void test_who_is_ended_has_ended(void)
{
	static const char *const programs[][4] = {{"ended"}};
	static struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| gone 20 destroyed 20 of 20\n");
}

static void test_real_time_signals_queue(void)
{
	static const char *const programs[][4] = {{"queues"}};
	static struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| taken 4: 1 2 3 4\n");
}

/* Runs a part of the program beside one that sleeps, twice, with other quanta and cores. Both runs
 * print the text, and no warning. */
static void expect_twice(const char *part, const char *text)
{
	const char *const programs[][4] = {{part}, {"sleeps", "1"}};
	static struct result first, second;

	run_session(&first, programs, 2, 3 * MS, -1);
	expect(&first, 0, text);
	CU_ASSERT_PTR_NULL(strstr(first.text, "warning"));
	run_session(&second, programs, 2, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

/* The child is made in 0.5 ms and keeps each lock for 5 ms. */
static void test_who_waits_for_a_file_lock_gets_it(void)
{
	expect_twice("locks",
		     "host0| whole 55 shared 55 record 55 open 55 lockf 55 number 55 end 55 close "
		     "55 holder 1 tries 1 1 1\n");
}

/* A mask selects the thread with bit 2. Then the thread that came first wakes, then all others. */
static void test_who_waits_for_a_futex_wakes_in_order(void)
{
	expect_twice(
		"futex",
		"host0| again 1 invalid 1 1 1 timeout 1 after 20 timeout 1 after 30 woken 2013 "
		"of 0 1 1 2\n");
}

/* Each call waits for an action of a child 5 ms after its creation, in 0.5 ms. "!" means that the
 * call failed. */
static void test_calls_that_block_take_virtual_time(void)
{
	static const char *const programs[][4] = {{"calls"}, {"times"}};
	static struct result first, second;

	run_session(&first, programs, 2, 3 * MS, -1);
	expect(&first, 0,
	       "host0| read 55 recv 55 recvfrom 55 poll 55 ppoll 55 preadv2 55 splice 55 tee 55 "
	       "recvmmsg 55 epoll 55 msgrcv 55 semop 55 mq 55 signal 55 \n");
	expect(&first, 0,
	       "host1| threads 7 after 30 lock 1 after 20 stamp 1 up 1 random 2 ring 1\n");
	CU_ASSERT_PTR_NULL(strstr(first.text, "warning"));
	run_session(&second, programs, 2, 1 * MS, 0);
	CU_ASSERT_STRING_EQUAL(first.text, second.text);
}

static void test_who_is_suspended_goes_on_in_virtual_time(void)
{
	static const char *const programs[][4] = {{"suspends"}};
	static struct result result;

	run_session(&result, programs, 1, 3 * MS, -1);
	expect(&result, 0, "host0| signal 200 child 7 55\n");
	CU_ASSERT_PTR_NULL(strstr(result.text, "warning"));
}

static void test_runs_repeat_with_any_quantum_and_core(void)
{
	static const char *const programs[][4] = {{"server"}, {"client"}, {"random"}, {"threads"}};
	static struct result first, other;

	run_session(&first, programs, 4, 3 * MS, -1);
	CU_ASSERT_EQUAL(first.code, 0);
	for (int i = 0; i < 8; i++) {
		run_session(&other, programs, 4, (uint64_t)(1 + i * 7 % 5) * MS, i % 2 ? 0 : -1);
		CU_ASSERT_STRING_EQUAL(first.text, other.text);
		if (strcmp(first.text, other.text) != 0)
			fprintf(stderr, "run %d differs:\n%s\n---\n%s\n", i, first.text,
				other.text);
	}
}

static void test_unsuitable_programs_are_refused(void)
{
	struct cpu_params cpu;
	struct session_params params;
	char error[256] = "", *argv[2] = {NULL, NULL};
	const uint8_t address[4] = {127, 77, 0, 1};

	params_default(session_cpu_param_list, &cpu);
	params_default(session_param_list, &params);
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct session *session = session_create(sim, &cpu, &params, false, false);
	session_add_host(session, "host0", address);
	argv[0] = strdup("no-such-program-anywhere");
	CU_ASSERT_FALSE(session_add_program(session, 0, argv, 0, false, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "no-such-program-anywhere: no such program in PATH");
	free(argv[0]);
	argv[0] = strdup("/etc/passwd");
	CU_ASSERT_FALSE(session_add_program(session, 0, argv, 0, false, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "/etc/passwd is not executable; run chmod +x");
	free(argv[0]);
	session_destroy(session);
	sim_destroy(sim);
}
