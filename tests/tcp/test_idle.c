/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests connections on which nothing happens: keep-alive probes (RFC 9293 3.8.4, Linux
 * tcp_keepalive_timer()), and FIN-WAIT-2 without an application (Linux tcp_fin_time()).
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                \
	TEST(keepalive_fails)      \
	TEST(keepalive_confirmed)  \
	TEST(keepalive_after_data) \
	TEST(keepalive_user_limit) \
	TEST(fin_wait_2_ends)      \
	TEST(fin_wait_2_is_long)   \
	TEST(fin_wait_2_reset)
SUITE(TESTS)

#define KEEPALIVE "keepalive=true keepalive_idle=10s keepalive_interval=2s keepalive_probes=3"

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

/* Three probes without an ACK, then a reset. */
static void test_keepalive_fails(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"10000100 > A 0(0) ack 1",
		"12000100 > A 0(0) ack 1",
		"14000100 > A 0(0) ack 1",
		"14000100 is keepalive-probes 3",
		"16000100 > R 1(0)",
		"16000100 is state CLOSED",
		"16000100 event timed-out",
		NULL,
	};

	run(KEEPALIVE, lines);
}

/* The idle time starts again with each ACK. The connection then only waits for an application. */
static void test_keepalive_confirmed(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200      is stuck 0",
		"10000100 > A 0(0) ack 1",
		"10000100 is stuck 0",
		"10000300 < A 1(0) ack 1 win 60000",
		"10000300 is stuck 1",
		"20000300 > A 0(0) ack 1",
		"22000300 > A 0(0) ack 1",
		"22000400 < A 1(0) ack 1 win 60000",
		"32000400 > A 0(0) ack 1",
		"32000500 < A 1(0) ack 1 win 60000",
		"32000500 is state ESTABLISHED",
		NULL,
	};

	run(KEEPALIVE, lines);
}

/* The idle time starts with the last ACK. */
static void test_keepalive_after_data(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"3000000  write 1000",
		"3000000  > A 1(1000) ack 1",
		"3000100  < A 1(0) ack 1001 win 60000",
		"13000100 > A 1000(0) ack 1",
		"13000200 < A 1(0) ack 1001 win 60000",
		"13000200 is keepalive-probes 1",
		NULL,
	};

	run(KEEPALIVE, lines);
}

/* TCP_USER_TIMEOUT decides in place of the number of probes. */
static void test_keepalive_user_limit(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"10000100 > A 0(0) ack 1",
		"12000100 > R 1(0)",
		"12000100 event timed-out",
		NULL,
	};

	run(KEEPALIVE " user_timeout=11s", lines);
}

#define FIN_WAIT_2                                                                       \
	SCRIPT_OPEN, "200      shutdown", "200      > FA 1(0) ack 1", "210      orphan", \
		"300      < A 1(0) ack 2 win 60000", "300      is state FIN_WAIT_2"

static void test_fin_wait_2_ends(void)
{
	static const char *const lines[] = {
		FIN_WAIT_2,
		"59000000 is state FIN_WAIT_2",
		"60000300 is state CLOSED",
		"60000300 event finished",
		NULL,
	};

	run(NULL, lines);
}

/* TCP_LINGER2 of 90 s: 30 s as a socket, and 30 s as an address. */
static void test_fin_wait_2_is_long(void)
{
	static const char *const lines[] = {
		FIN_WAIT_2,
		"60000300 is state CLOSED",
		"60000300 event finished",
		NULL,
	};

	run("fin_timeout=90s", lines);
}

/* TCP_LINGER2 below 0. */
static void test_fin_wait_2_reset(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200      shutdown",
		"200      > FA 1(0) ack 1",
		"210      orphan",
		"300      < A 1(0) ack 2 win 60000",
		"300      > R 2(0)",
		"300      is state CLOSED",
		NULL,
	};

	run("fin_timeout=0ps", lines);
}
