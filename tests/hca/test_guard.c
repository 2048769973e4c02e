/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the guard of congestion controls in shared objects. If a plug-in breaks a rule of the
 * interface, the program ends with exit code 2. The message names the object, the function and the
 * result. Covers impossible rates, windows and times, a crash, a stack overflow and an endless
 * loop. A plug-in that obeys the rules is not affected.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hca/congestion/congestion.h"
#include "hca/congestion/pace.h"
#include "tests/support/suite.h"

#define TESTS(TEST)   \
	TEST(good)    \
	TEST(rates)   \
	TEST(windows) \
	TEST(steps)   \
	TEST(sender)  \
	TEST(crashes) \
	TEST(loop)
SUITE(TESTS)

#define LINE_BPS UINT64_C(100000000000)

/* Makes the calls of an adapter in a round trip. */
static void use(const char *fault)
{
	const struct congestion_path path = {
		.line_rate_bps = LINE_BPS, .base_rtt = 8 * US, .mtu_bytes = 1024};
	const struct congestion_ack ack = {
		.rtt = 8 * US, .acked_bytes = 1024, .acked_total = 1024, .packets = 1};
	_Alignas(16) char state[CC_STATE_BYTES_MAX] = {0};
	struct cc_state *cc = (struct cc_state *)(void *)state;
	struct congestion congestion;
	char error[256] = "";

	if (!congestion_init(&congestion, WRONG_PLUGIN, error, sizeof(error)) ||
	    !congestion_set(&congestion, "fault", fault, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		_exit(99);
	}
	congestion.ops->state_init(cc, congestion.params, &path, 1 * US);
	congestion.ops->on_send(cc, congestion.params, 1 * US, 1090);
	congestion_paid_at(&congestion, cc, 1 * US, 1000000);
	congestion_on_ack(&congestion, cc, 9 * US, &ack);
	congestion_settle(&congestion, cc, 10 * US);
	congestion_fini(&congestion);
}

/* Runs a function in a child process. Returns its exit code, or 1000 and more for a signal, and its
 * message. */
static int outcome(const char *fault, char *said, size_t said_bytes)
{
	int ends[2], status = 0;
	size_t length = 0;
	ssize_t count;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		use(fault);
		_exit(0);
	}
	close(ends[1]);
	while (length + 1 < said_bytes &&
	       (count = read(ends[0], said + length, said_bytes - length - 1)) > 0)
		length += (size_t)count;
	said[length] = '\0';
	close(ends[0]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Checks that the program ends, with this text after the plug-in's name. */
static void refused(const char *fault, const char *message)
{
	char said[1024], expected[1024];
	int code = outcome(fault, said, sizeof(said));

	snprintf(expected, sizeof(expected), "hcasim: congestion control %s: %s", WRONG_PLUGIN,
		 message);
	CU_ASSERT_EQUAL(code, 2);
	CU_ASSERT_STRING_EQUAL(said, expected);
	if (code != 2 || strcmp(said, expected) != 0)
		fprintf(stderr, "%s: exit code %d: %s", fault, code, said);
}

static void test_good(void)
{
	char said[1024];

	CU_ASSERT_EQUAL(outcome("none", said, sizeof(said)), 0);
	CU_ASSERT_STRING_EQUAL(said, "");
}

#define RATES "expected RATE_UNLIMITED or 1000 to 1000000000000000 bit/s\n"

static void test_rates(void)
{
	refused("rate_zero", "on_ack(): left rate_bps 0 at 9.000000 us; " RATES);
	refused("rate_one", "on_ack(): left rate_bps 1 at 9.000000 us; " RATES);
	refused("rate_nan", "on_ack(): left rate_bps 9223372036854775808 at 9.000000 us; " RATES);
}

#define WINDOWS "expected CWND_UNLIMITED or 1 to 1099511627776 bytes\n"

static void test_windows(void)
{
	refused("window_zero", "on_ack(): left cwnd_bytes 0 at 9.000000 us; " WINDOWS);
	refused("window_huge",
		"on_ack(): left cwnd_bytes 9223372036854775808 at 9.000000 us; " WINDOWS);
}

static void test_steps(void)
{
	refused("step_past", "on_ack(): left next_step 9.000000 us at 9.000000 us; expected "
			     "SIM_NEVER or a later time\n");
	refused("step_none", "step(): left next_step 1.000001 us at 1.000001 us; expected "
			     "SIM_NEVER or a later time\n");
	/* a million steps of 1 ps from 1.000001 us on */
	refused("step_slow", "step(): is called more than 1000 times for each other call, the last "
			     "time for 2.000001 us; expected a later next_step\n");
}

static void test_sender(void)
{
	refused("sender", "on_ack(): changed burst_payload, burst_wire or flight_bytes, which "
			  "belong to the sender\n");
}

static void test_crashes(void)
{
	refused("crash", "on_ack() crashed (SIGSEGV)\n");
	refused("stack", "on_ack() crashed (SIGSEGV)\n");
}

static void test_loop(void)
{
	refused("loop", "on_ack(): has not returned after 5 s\n");
}
