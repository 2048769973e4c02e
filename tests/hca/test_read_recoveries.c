/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the limit of recoveries from lost READ responses (row D-34), to the picosecond, in both
 * kinds of adapters. Within the limit a queue pair without losses is not affected. Beyond it, the
 * queue pair waits until the first recovery ends.
 */
#include "fabric/fault.h"
#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "hca/transport/read_recoveries.h"
#include "tests/hca/support/rig.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                 \
	TEST(the_oldest_makes_room) \
	TEST(endpoints_stand_still) \
	TEST(detailed_adapters_stand_still)
SUITE(TESTS)

#define GOOD 0

enum { READS = 3, READ_BYTES = 16 * 1024 };

static void test_the_oldest_makes_room(void)
{
	struct read_recoveries recoveries;

	read_recoveries_init(&recoveries, 2);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1000, 100), 1000);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1010, 100), 1010);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1020, 100), 1100);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1020, 100), 1110);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1200, 100), 1200);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 1205, 100), 1210);
	read_recoveries_fini(&recoveries);
	read_recoveries_init(&recoveries, 0);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 7, 100), 7);
	CU_ASSERT_EQUAL(read_recoveries_begin(&recoveries, 7, 100), 7);
	read_recoveries_fini(&recoveries);
}

/* ---- endpoint ---- */

struct outcome {
	sim_time innocent; /* when the read that lost nothing was complete */
	uint64_t stalls, gaps, timeouts;
};

/* Three reads at once: the first responses to two of them are lost. */
static struct outcome endpoint_reads(uint64_t limit, sim_time delay)
{
	struct transfer transfers[READS];
	struct outcome outcome;
	struct study study;
	unsigned done = 0;

	study_init(&study, LINK_ETHERNET, "none", 0, 2);
	study.switch_params.port.mtu = 1024;
	study.params.read_recoveries = limit;
	study.params.read_loss_delay = delay;
	unsigned one = study_add_host(&study), other = study_add_host(&study);

	study_link(&study, one, 0, other, 0);
	study_finish(&study);
	study.fault = fault_create(study.sim, "fault");
	/* a packet that the first drops is not seen by the second */
	for (unsigned i = 0; i < 2; i++)
		fault_add(study.fault, &(struct fault_rule){.action = FAULT_drop,
							    .kind = PACKET_DATA,
							    .opcode = RC_READ_RESP_FIRST,
							    .nth = 1});
	port_set_transmit_fault(endpoint_port(study.hosts[1]), study.fault);
	for (unsigned i = 0; i < READS; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[0], study.hosts[1], 0, i),
			      ENDPOINT_READ, READ_BYTES, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, READS);
	outcome = (struct outcome){
		.innocent = transfers[2].message.done_at,
		.stalls = endpoint_counters(study.hosts[0])->read_recovery_stalls,
		.gaps = endpoint_counters(study.hosts[0])->implied_nak_seq_err,
		.timeouts = endpoint_counters(study.hosts[0])->local_ack_timeouts,
	};
	CU_ASSERT_EQUAL(packet_pool_in_use(study.pool), 0);
	study_fini(&study);
	return outcome;
}

/* ---- detailed ---- */

/* No packet reaches its transport while the adapter is stalled. This includes packets that are in
 * the receive pipeline when the stall begins. */
static void check_stand_still(const struct rig *rig, sim_time delay)
{
	sim_time step = 10 * NS, limit = sim_now(rig->mini->sim) + delay;
	uint32_t packets;

	while (!rig_count(rig, "transport", "read_recovery_stalls") &&
	       sim_now(rig->mini->sim) < limit)
		sim_run(rig->mini->sim, sim_now(rig->mini->sim) + step);
	packets = rig_count(rig, "receive", "packets");
	sim_run(rig->mini->sim, sim_now(rig->mini->sim) + delay / 2);
	CU_ASSERT_EQUAL(rig_count(rig, "receive", "packets"), packets);
}

static struct outcome detailed_reads(uint64_t limit, sim_time delay)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_qp *qps[READS], *peers[READS];
	struct outcome outcome;
	struct rig rig;

	mini->params.transport.read_recoveries = limit;
	mini->params.transport.read_loss_delay = delay;
	rig = rig_create_on(mini, QP_RC, LINK_ETHERNET, 1024);
	for (unsigned i = 0; i < 2; i++)
		rig_drop(&rig, true, RC_READ_RESP_FIRST, 1, 0);
	for (unsigned i = 0; i < READS; i++) {
		qps[i] = mini_qp_create(rig.one, QP_RC);
		peers[i] = mini_qp_create(rig.other, QP_RC);
		mini_connect(qps[i], peers[i], 1024);
	}
	for (unsigned i = 0; i < READS; i++)
		mini_post(qps[i], &(struct mini_send){.opcode = WQE_READ,
						      .address = rig.source,
						      .length = READ_BYTES,
						      .remote = rig.target});
	if (limit == 1)
		check_stand_still(&rig, delay);
	CHECK_WC(mini_wait(qps[2]->send_cq), CQE_SENT, GOOD);
	outcome.innocent = sim_now(mini->sim);
	mini_run(mini);
	outcome.stalls = rig_count(&rig, "transport", "read_recovery_stalls");
	outcome.gaps = rig_count(&rig, "transport", "implied_nak_seq_err");
	outcome.timeouts = rig_count(&rig, "transport", "local_ack_timeouts");
	for (unsigned i = 0; i < READS; i++) {
		mini_qp_destroy(qps[i]);
		mini_qp_destroy(peers[i]);
	}
	rig_destroy(&rig);
	return outcome;
}

static void check_reads(struct outcome (*reads)(uint64_t limit, sim_time delay))
{
	struct outcome free = reads(0, 50 * US), enough = reads(2, 50 * US);
	struct outcome stalled = reads(1, 50 * US), longer = reads(1, 80 * US);

	CU_ASSERT_EQUAL(free.gaps, 2);
	CU_ASSERT_EQUAL(free.stalls, 0);
	CU_ASSERT_EQUAL(reads(0, 80 * US).innocent, free.innocent);
	CU_ASSERT_EQUAL(enough.stalls, 0);
	CU_ASSERT_EQUAL(enough.innocent, free.innocent);
	CU_ASSERT_EQUAL(stalled.gaps, 2);
	CU_ASSERT_EQUAL(stalled.stalls, 1);
	CU_ASSERT_EQUAL(stalled.timeouts, 0);
	CU_ASSERT(stalled.innocent > 50 * US);
	CU_ASSERT_EQUAL(longer.innocent, stalled.innocent + 30 * US);
}

static void test_endpoints_stand_still(void)
{
	check_reads(endpoint_reads);
}

static void test_detailed_adapters_stand_still(void)
{
	check_reads(detailed_reads);
}
