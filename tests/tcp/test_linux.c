/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests interoperation of a connection with the TCP of the Linux kernel: transfers both ways,
 * half-closes, loss and reordering. Also SACK, window scale, time stamps, ECN, zero windows, RST
 * and refusals. Exit status 77: the system permits no network namespace or no tun device.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tests/support/suite.h"
#include "tests/tcp/support/tunnel.h"

#define TESTS(TEST)                    \
	TEST(engine_sends)             \
	TEST(kernel_sends)             \
	TEST(both_at_once)             \
	TEST(engine_half_closes)       \
	TEST(kernel_half_closes)       \
	TEST(loss)                     \
	TEST(loss_without_sack)        \
	TEST(reordering)               \
	TEST(loss_with_newreno)        \
	TEST(options_of_the_engine)    \
	TEST(options_of_the_kernel)    \
	TEST(window_scale_is_meant)    \
	TEST(ecn)                      \
	TEST(jumbo_frames)             \
	TEST(kernel_closes_its_window) \
	TEST(engine_closes_its_window) \
	TEST(engine_resets)            \
	TEST(kernel_resets)            \
	TEST(refusals)
SUITE_AFTER(need_tun, TESTS)

#define LIMIT_MS 20000

static struct tunnel_setup setup;
static struct tunnel *tunnel;
static struct tunnel_end *engine, *kernel;
static struct tcp_report report;

static void need_tun(void)
{
	if (tunnel_possible())
		return;
	printf("skipped: a network namespace with a tun device is not allowed\n");
	exit(SUITE_SKIP);
}

static void begin(bool kernel_opens)
{
	setup.kernel_opens = kernel_opens;
	tunnel = tunnel_create(&setup);
	engine = tunnel_engine(tunnel);
	kernel = tunnel_kernel(tunnel);
}

static void end(void)
{
	CU_ASSERT_FALSE(engine->wrong_byte || kernel->wrong_byte);
	tunnel_destroy(tunnel);
}

static bool is_closed(struct tunnel *of)
{
	tunnel_report(of, &report);
	return engine->peer_closed && kernel->peer_closed && engine->read == kernel->write_bytes &&
	       kernel->read == engine->write_bytes && report.acknowledged == engine->write_bytes;
}

static bool is_connected(struct tunnel *of)
{
	(void)of;
	return engine->connected && kernel->connected;
}

static void transfer(uint64_t from_engine, uint64_t from_kernel)
{
	engine->write_bytes = from_engine;
	kernel->write_bytes = from_kernel;
	engine->shuts = kernel->shuts = true;
	CU_ASSERT_TRUE(tunnel_run(tunnel, is_closed, LIMIT_MS));
	CU_ASSERT_EQUAL(engine->error, 0);
	CU_ASSERT_EQUAL(kernel->error, 0);
	tunnel_report(tunnel, &report);
}

static void test_engine_sends(void)
{
	tunnel_default(&setup);
	begin(false);
	transfer(4000000, 0);
	end();
}

static void test_kernel_sends(void)
{
	tunnel_default(&setup);
	begin(true);
	transfer(0, 4000000);
	CU_ASSERT_EQUAL(report.received, 4000000);
	end();
}

static void test_both_at_once(void)
{
	for (unsigned opener = 0; opener < 2; opener++) {
		tunnel_default(&setup);
		begin(opener);
		transfer(1500000, 1500000);
		end();
	}
}

static bool kernel_saw_end(struct tunnel *of)
{
	(void)of;
	return kernel->peer_closed;
}

static bool engine_saw_end(struct tunnel *of)
{
	(void)of;
	return engine->peer_closed;
}

static void test_engine_half_closes(void)
{
	tunnel_default(&setup);
	begin(false);
	engine->write_bytes = 1000;
	engine->shuts = true;
	CU_ASSERT_TRUE(tunnel_run(tunnel, kernel_saw_end, LIMIT_MS));
	tunnel_report(tunnel, &report);
	transfer(1000, 500000);
	CU_ASSERT_EQUAL(kernel->read, 1000);
	end();
}

static void test_kernel_half_closes(void)
{
	tunnel_default(&setup);
	begin(true);
	kernel->write_bytes = 1000;
	kernel->shuts = true;
	CU_ASSERT_TRUE(tunnel_run(tunnel, engine_saw_end, LIMIT_MS));
	tunnel_report(tunnel, &report);
	CU_ASSERT_EQUAL(report.state, TCP_STATE_CLOSE_WAIT);
	transfer(500000, 1000);
	end();
}

static void lossy(const char *congestion)
{
	tunnel_default(&setup);
	setup.congestion = congestion;
	setup.loss = 0.01;
	setup.delay = 200 * US;
	setup.params.rto_min = 20 * MS;
	begin(false);
	transfer(1000000, 1000000);
	CU_ASSERT(report.counts.retransmissions > 0);
	CU_ASSERT(report.counts.recoveries > 0);
	CU_ASSERT(report.counts.out_of_order > 0);
	end();
}

static void test_loss(void)
{
	lossy("cubic");
}

static void test_loss_with_newreno(void)
{
	lossy("newreno");
}

static void test_loss_without_sack(void)
{
	tunnel_sysctl("tcp_sack", "0");
	lossy("cubic");
	tunnel_sysctl("tcp_sack", "1");
}

static void test_reordering(void)
{
	tunnel_default(&setup);
	setup.reorder = 0.02;
	setup.delay = 1 * MS;
	begin(true);
	transfer(1000000, 1000000);
	CU_ASSERT(report.counts.out_of_order > 0);
	end();
}

static struct tcp_info info_of_kernel(void)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);

	CU_ASSERT_EQUAL(getsockopt(tunnel_socket(tunnel), IPPROTO_TCP, TCP_INFO, &info, &length),
			0);
	return info;
}

static void test_options_of_the_engine(void)
{
	for (unsigned options = 0; options < 8; options++) {
		struct tcp_info info;

		tunnel_default(&setup);
		setup.params.timestamps = options & 1;
		setup.params.sack = options & 2;
		setup.params.window_scale = options & 4;
		begin(options % 3 == 0);
		transfer(100000, 100000);
		info = info_of_kernel();
		CU_ASSERT_EQUAL(!!(info.tcpi_options & TCPI_OPT_TIMESTAMPS), !!(options & 1));
		CU_ASSERT_EQUAL(!!(info.tcpi_options & TCPI_OPT_SACK), !!(options & 2));
		CU_ASSERT_EQUAL(!!(info.tcpi_options & TCPI_OPT_WSCALE), !!(options & 4));
		end();
	}
}

static void test_options_of_the_kernel(void)
{
	static const char *const names[] = {"tcp_timestamps", "tcp_sack", "tcp_window_scaling"};

	for (unsigned i = 0; i < 3; i++) {
		tunnel_sysctl(names[i], "0");
		tunnel_default(&setup);
		begin(i % 2);
		transfer(100000, 100000);
		end();
		tunnel_sysctl(names[i], "1");
	}
}

/* 1 MB is in flight only if both sides scale windows alike: the path has 10 ms. */
static bool window_took_all(struct tunnel *of)
{
	tunnel_report(of, &report);
	return report.received == kernel->write_bytes;
}

static void test_window_scale_is_meant(void)
{
	tunnel_default(&setup);
	setup.params.receive_buffer = 2000000;
	begin(false);
	CU_ASSERT_TRUE(tunnel_run(tunnel, is_connected, LIMIT_MS));
	CU_ASSERT_EQUAL(info_of_kernel().tcpi_snd_wscale, 5); /* 2,000,000 >> 5 fits 16 bits */
	engine->stops_reading = true;
	kernel->write_bytes = 1900000;
	CU_ASSERT_TRUE(tunnel_run(tunnel, window_took_all, LIMIT_MS));
	CU_ASSERT_EQUAL(engine->read, 0);
	engine->stops_reading = false;
	transfer(0, 1900000);
	end();
}

static void test_ecn(void)
{
	tunnel_sysctl("tcp_ecn", "1");
	for (unsigned opener = 0; opener < 2; opener++) {
		tunnel_default(&setup);
		setup.params.ecn = TCP_ECN_CLASSIC;
		setup.mark = 0.02;
		setup.delay = 100 * US;
		begin(opener);
		transfer(500000, 500000);
		CU_ASSERT(report.counts.ce_received > 0);
		CU_ASSERT(info_of_kernel().tcpi_options & TCPI_OPT_ECN);
		CU_ASSERT(report.counts.ece_received > 0);
		CU_ASSERT(report.counts.window_reductions > 0);
		end();
	}
	tunnel_sysctl("tcp_ecn", "2");
}

static void test_jumbo_frames(void)
{
	tunnel_default(&setup);
	setup.mtu = 9000;
	begin(true);
	transfer(2000000, 2000000);
	CU_ASSERT_EQUAL(report.mss, 9000 - 52); /* time stamps */
	CU_ASSERT_EQUAL(info_of_kernel().tcpi_snd_mss, 9000 - 52);
	end();
}

static bool engine_probed(struct tunnel *of)
{
	tunnel_report(of, &report);
	return report.counts.window_probes >= 2;
}

static void test_kernel_closes_its_window(void)
{
	tunnel_default(&setup);
	setup.kernel_buffer = 20000;
	setup.params.rto_min = 20 * MS;
	begin(false);
	kernel->stops_reading = true;
	engine->write_bytes = 500000;
	CU_ASSERT_TRUE(tunnel_run(tunnel, engine_probed, LIMIT_MS));
	CU_ASSERT_EQUAL(kernel->read, 0);
	CU_ASSERT_TRUE(report.acknowledged > 5000 && report.acknowledged < 100000);
	kernel->stops_reading = false;
	transfer(500000, 0);
	end();
}

/* tcpi_backoff holds until the window opens; each ACK resets tcpi_probes. */
static bool kernel_probed(struct tunnel *of)
{
	tunnel_report(of, &report);
	return tunnel_socket(of) >= 0 && kernel->connected && info_of_kernel().tcpi_backoff >= 1;
}

static void test_engine_closes_its_window(void)
{
	tunnel_default(&setup);
	setup.params.receive_buffer = 20000;
	begin(true);
	engine->stops_reading = true;
	kernel->write_bytes = 500000;
	CU_ASSERT_TRUE(tunnel_run(tunnel, kernel_probed, LIMIT_MS));
	tunnel_report(tunnel, &report);
	CU_ASSERT_TRUE(report.received > 15000 && report.received <= 20000);
	engine->stops_reading = false;
	transfer(0, 500000);
	end();
}

static bool kernel_failed(struct tunnel *of)
{
	(void)of;
	return kernel->error;
}

static bool engine_failed(struct tunnel *of)
{
	(void)of;
	return engine->error;
}

static void test_engine_resets(void)
{
	tunnel_default(&setup);
	begin(false);
	CU_ASSERT_TRUE(tunnel_run(tunnel, is_connected, LIMIT_MS));
	tunnel_abort(tunnel);
	CU_ASSERT_TRUE(tunnel_run(tunnel, kernel_failed, LIMIT_MS));
	CU_ASSERT_EQUAL(kernel->error, ECONNRESET);
	end();
}

static void test_kernel_resets(void)
{
	tunnel_default(&setup);
	begin(true);
	CU_ASSERT_TRUE(tunnel_run(tunnel, is_connected, LIMIT_MS));
	tunnel_kernel_reset(tunnel);
	CU_ASSERT_TRUE(tunnel_run(tunnel, engine_failed, LIMIT_MS));
	CU_ASSERT_EQUAL(engine->error, ECONNRESET);
	end();
}

static void test_refusals(void)
{
	tunnel_default(&setup);
	setup.no_listener = true;
	begin(false);
	CU_ASSERT_TRUE(tunnel_run(tunnel, engine_failed, LIMIT_MS));
	CU_ASSERT_EQUAL(engine->error, ECONNREFUSED);
	end();
	begin(true);
	CU_ASSERT_TRUE(tunnel_run(tunnel, kernel_failed, LIMIT_MS));
	CU_ASSERT_EQUAL(kernel->error, ECONNREFUSED);
	end();
}
