/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests traffic between queue pairs of one adapter. It does not reach the port. A WRITE takes the
 * time over a cable, minus the time of the cable and of both packets on the link, to the
 * picosecond. With loopback_rate it takes the packets' time at that rate in addition, without
 * delaying traffic of the port. Without loopback_rate only PCIe limits it. Data that are not
 * accepted yet are limited, and nothing is lost. A queue pair can be connected to itself.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)          \
	TEST(latency)        \
	TEST(against_a_link) \
	TEST(beside_a_link)  \
	TEST(rate)
SUITE(TESTS)

enum { STREAM_BYTES = 1 << 20, STREAM_COUNT = 16 };

struct local { /* beside the pair of a rig: two queue pairs of one host */
	struct rig rig;
	struct mini_qp *one, *two;
	uint64_t target;
};

static struct local local_create(struct mini *mini, bool self)
{
	struct local local = {.rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, 4096)};
	struct mini_host *host = local.rig.other;
	struct hca_qp_state state;
	struct path path;

	local.one = mini_qp_create(host, QP_RC);
	local.two = self ? local.one : mini_qp_create(host, QP_RC);
	local.target = mini_alloc(host, STREAM_BYTES);
	state = mini_state(host, 4096);
	path = *state.path;
	path.destination = path.source;
	state.path = path_intern(endpoints_paths(mini->endpoints), &path);
	mini_connect_with(local.one, state, local.two->number);
	if (!self)
		mini_connect_with(local.two, state, local.one->number);
	return local;
}

static void local_destroy(struct local *local)
{
	mini_run(local->rig.mini);
	if (local->two != local->one)
		mini_qp_destroy(local->two);
	mini_qp_destroy(local->one);
	rig_destroy(&local->rig);
}

static void post(struct local *local, uint32_t bytes, bool is_inline)
{
	mini_post(local->one, &(struct mini_send){.opcode = WQE_WRITE,
						  .address = local->rig.target,
						  .length = bytes,
						  .remote = local->target,
						  .rkey = local->rig.other->key,
						  .is_inline = is_inline,
						  .blueflame = is_inline});
}

static sim_time latency(uint64_t loopback_rate)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct local local;
	sim_time start = 0;

	mini->params.transmit.loopback_rate = loopback_rate;
	local = local_create(mini, false);
	for (unsigned i = 0; i < 3; i++) { /* the caches are warm for the last */
		mini_run(mini);
		start = sim_now(mini->sim);
		post(&local, 8, true);
		CHECK_WC(mini_wait(local.one->send_cq), CQE_SENT, 0);
	}
	start = sim_now(mini->sim) - start;
	local_destroy(&local);
	return start;
}

/* A WQE with inline data by BlueFlame needs no read. The ACK is early: it does not wait for the
 * data. */
static void test_latency(void)
{
	sim_time free = latency(0);

	/* 8 B of WRITE with 26 + 16 B of headers, and an ACK of 30 B, at 80 ps a byte */
	CU_ASSERT_EQUAL(latency(UINT64_C(100000000000)) - free, (50 + 30) * 80);
	CU_ASSERT_EQUAL(latency(UINT64_C(10000000000)) - free, (50 + 30) * 800);
}

/* Loopback compared with a link: the difference is twice the link. */
static void test_against_a_link(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct local local = local_create(mini, false);
	struct rig *rig = &local.rig;
	sim_time inside = latency(0), start = 0, outside;
	const struct port_params *port = &mini->params.port;

	for (unsigned i = 0; i < 3; i++) {
		mini_run(mini);
		start = sim_now(mini->sim);
		mini_post(rig->qp, &(struct mini_send){.opcode = WQE_WRITE,
						       .address = rig->source,
						       .length = 8,
						       .remote = rig->target,
						       .is_inline = true,
						       .blueflame = true});
		CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	}
	outside = sim_now(mini->sim) - start;
	CU_ASSERT_EQUAL(outside - inside,
			2 * (sim_time)((double)port->length * (double)port->propagation) +
				port_serialization(hca_port(rig->one->adapter), 50) +
				port_serialization(hca_port(rig->one->adapter), 30));
	local_destroy(&local);
}

/* A WRITE from the other host, alone, or while a packet of 4 KiB is in flight back at 1 Gb/s, which
 * takes 33 us. */
static void test_beside_a_link(void)
{
	sim_time taken[2];

	for (unsigned loopback = 0; loopback < 2; loopback++) {
		struct mini *mini = mini_create(SIM_ENGINE_native);
		struct local local;
		sim_time start = 0;

		mini->params.transmit.loopback_rate = UINT64_C(1000000000);
		local = local_create(mini, false);
		for (unsigned i = 0; i < 3; i++) {
			mini_run(mini);
			if (loopback)
				post(&local, 4096, false);
			sim_run(mini->sim, sim_now(mini->sim) + 10 * US);
			start = sim_now(mini->sim);
			mini_post(local.rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
								    .address = local.rig.source,
								    .length = 8,
								    .remote = local.rig.target,
								    .is_inline = true,
								    .blueflame = true});
			CHECK_WC(mini_wait(local.rig.qp->send_cq), CQE_SENT, 0);
		}
		taken[loopback] = sim_now(mini->sim) - start;
		if (loopback) {
			CHECK_WC(mini_wait(local.one->send_cq), CQE_SENT, 0);
			CHECK_WC(mini_wait(local.one->send_cq), CQE_SENT, 0);
			CHECK_WC(mini_wait(local.one->send_cq), CQE_SENT, 0);
			CU_ASSERT(sim_now(mini->sim) - start > 23 * US);
		}
		local_destroy(&local);
	}
	CU_ASSERT_EQUAL(taken[1], taken[0]);
}

/* Returns the rate of 16 MiB in Gb/s. */
static double rate(uint64_t loopback_rate, uint64_t loopback_bytes, bool self)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct local local;
	sim_time start;
	double gbps;

	mini->params.transmit.loopback_rate = loopback_rate;
	mini->params.transmit.loopback_bytes = loopback_bytes;
	mini->params.pcie.generation = 3; /* the fourth: 16 GT/s a lane */
	local = local_create(mini, self);
	mini_fill(local.rig.other, local.rig.target, STREAM_BYTES, 5);
	mini_run(mini);
	start = sim_now(mini->sim);
	for (unsigned i = 0; i < STREAM_COUNT; i++)
		post(&local, STREAM_BYTES, false);
	for (unsigned i = 0; i < STREAM_COUNT; i++)
		CHECK_WC(mini_wait(local.one->send_cq), CQE_SENT, 0);
	gbps = 8000.0 * STREAM_COUNT * STREAM_BYTES / (double)(sim_now(mini->sim) - start);
	mini_run(mini);
	CU_ASSERT_TRUE(mini_matches(local.rig.other, local.target, STREAM_BYTES, 5));
	CU_ASSERT_EQUAL(rig_count_other(&local.rig, "transmit", "packets"), 0);
	CU_ASSERT_EQUAL(rig_count_other(&local.rig, "transmit", "loopback"),
			STREAM_COUNT * STREAM_BYTES / 4096 +
				4 * STREAM_COUNT); /* an ACK of each 64 packets */
	CU_ASSERT_EQUAL(rig_count_other(&local.rig, "transport", "packets_retransmitted"), 0);
	local_destroy(&local);
	return gbps;
}

static void test_rate(void)
{
	double limited = rate(UINT64_C(100000000000), 65536, false);
	double free = rate(0, 65536, false);

	CU_ASSERT_DOUBLE_EQUAL(limited, 100.0 * 4096 / 4122, 0.5);
	/* observed: PCIe of 252 Gb/s, and one packet at a time */
	CU_ASSERT_DOUBLE_EQUAL(free, 203.8, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(rate(0, 8192, false), 172.9, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(rate(0, 65536, true), 203.9, 0.1);
}
