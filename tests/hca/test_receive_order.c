/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that CQEs of a receive queue have the order of its WQEs for any end of a WQE: a message
 * that is too long, a list without a region. Also a region that is destroyed, or a change to ERR,
 * at any time. Covers RC, UC and UD.
 */
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/device/hca.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                          \
	TEST(too_long_behind_data_under_way) \
	TEST(bad_key_behind_data_under_way)  \
	TEST(writes_that_fail_under_way)     \
	TEST(region_that_goes_away)          \
	TEST(error_state_at_any_time)        \
	TEST(read_that_fails_beside_sends)
SUITE(TESTS)

enum {
	MESSAGES = 4,
	BYTES = 4000,
	GRH = 40,
	QKEY = 0x11111111,
	TOO_LONG = 0x01,
	PROTECTION = 0x04,
	FLUSHED = 0x05
};

static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};

static void send(struct rig *rig)
{
	uint8_t vector[48] = {0};

	be32_put(vector, QKEY);
	be32_put(vector + 8, rig->peer->number | UINT32_C(0x80000000));
	be16_put(vector + 14, 2);
	mini_post(rig->qp,
		  &(struct mini_send){.opcode = WQE_SEND,
				      .address = rig->source,
				      .length = BYTES,
				      .vector = rig->peer->attr.type == QP_UD ? vector : NULL});
}

/* Collects all CQEs of the receive CQ. statuses[i] is the status of the i-th posted WQE. Returns
 * the number of CQEs. */
static unsigned collect(struct rig *rig, uint8_t *statuses, unsigned max)
{
	struct mini_wc wc;
	unsigned count = 0;

	mini_run(rig->mini);
	for (; mini_poll(rig->peer->recv_cq, &wc); count++) {
		CU_ASSERT_EQUAL(wc.wqe_counter, count);
		if (count < max)
			statuses[count] = wc.opcode == CQE_RECEIVE_ERROR ? (uint8_t)wc.syndrome : 0;
	}
	return count;
}

/* The third of four receives is bad. All four messages are in flight at the same time. */
static void bad_third(enum qp_type type, uint32_t length, uint32_t key, uint8_t expected)
{
	const uint8_t order[MESSAGES] = {0, 0, expected, FLUSHED};
	struct rig rig = rig_create(type, 4096);
	uint8_t statuses[MESSAGES] = {0};

	for (unsigned i = 0; i < MESSAGES; i++) {
		uint64_t target = rig.target + i * 8192;

		if (i == 2 && key)
			mini_receive_key(rig.peer, target, length, key);
		else
			mini_receive(rig.peer, target, i == 2 ? length : BYTES + GRH);
	}
	for (unsigned i = 0; i < MESSAGES; i++)
		send(&rig);
	CU_ASSERT_EQUAL(collect(&rig, statuses, MESSAGES), MESSAGES);
	CU_ASSERT_EQUAL(memcmp(statuses, order, sizeof(order)), 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "rx_sends"), 2);
	rig_destroy(&rig);
}

static void test_too_long_behind_data_under_way(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		bad_third(types[i], 100, 0, TOO_LONG);
}

static void test_bad_key_behind_data_under_way(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		bad_third(types[i], BYTES + GRH, 0x12345600, PROTECTION);
}

/* The check finds the region, but there is no memory behind it: with late ACKs a transfer ends when
 * its writes have. */
static void test_writes_that_fail_under_way(void)
{
	const uint8_t order[MESSAGES] = {0, 0, PROTECTION, FLUSHED};
	struct mr nowhere = {
		.pd = PD,
		.access = MR_LOCAL_WRITE,
		.page_shift = 12,
		.address = MEMORY_BASE + MEMORY_BYTES,
		.host_address = MEMORY_BASE + MEMORY_BYTES,
		.length = MEMORY_BYTES,
		.valid = true,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
		struct mini *mini = mini_create(SIM_ENGINE_native);
		struct rig rig;
		uint8_t statuses[MESSAGES] = {0};
		uint32_t key;

		mini->params.transport.ack_when = ACK_LATE;
		rig = rig_create_on(mini, types[i], LINK_INFINIBAND, 4096);
		nowhere.memory = rig.other->memory;
		CU_ASSERT_EQUAL_FATAL(hca_mr_create(rig.other->adapter, &nowhere, &key), 0);
		for (unsigned j = 0; j < MESSAGES; j++)
			if (j == 2)
				mini_receive_key(rig.peer, nowhere.address, BYTES + GRH, key);
			else
				mini_receive(rig.peer, rig.target + j * 8192, BYTES + GRH);
		for (unsigned j = 0; j < MESSAGES; j++)
			send(&rig);
		CU_ASSERT_EQUAL(collect(&rig, statuses, MESSAGES), MESSAGES);
		CU_ASSERT_EQUAL(memcmp(statuses, order, sizeof(order)), 0);
		rig_destroy(&rig);
	}
}

/* Returns true for successful CQEs, at most one error, and then only flushed CQEs. */
static void check_order(const uint8_t *statuses, unsigned count)
{
	unsigned i = 0;

	while (i < count && !statuses[i])
		i++;
	if (i < count)
		CU_ASSERT(statuses[i] == PROTECTION || statuses[i] == FLUSHED);
	for (i++; i < count; i++)
		CU_ASSERT_EQUAL(statuses[i], FLUSHED);
}

/* Calls `change` at that time of an otherwise unchanged run. */
static void changed(enum qp_type type, sim_time at, void (*change)(struct rig *rig, uint32_t key))
{
	struct rig rig = rig_create(type, type == QP_UD ? 4096 : 1024);
	uint8_t statuses[MESSAGES] = {0};
	uint32_t key;
	struct mr all = {
		.pd = PD,
		.access = MR_LOCAL_WRITE,
		.page_shift = 12,
		.address = MEMORY_BASE,
		.host_address = MEMORY_BASE,
		.length = MEMORY_BYTES,
		.valid = true,
		.memory = rig.other->memory,
	};

	CU_ASSERT_EQUAL_FATAL(hca_mr_create(rig.other->adapter, &all, &key), 0);
	mini_run(rig.mini);
	for (unsigned i = 0; i < MESSAGES; i++)
		mini_receive_key(rig.peer, rig.target + i * 8192, BYTES + GRH, key);
	for (unsigned i = 0; i < MESSAGES; i++)
		send(&rig);
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + at);
	change(&rig, key);
	mini_run(rig.mini);
	mini_to(rig.peer, STATE_ERR); /* the remaining requests end, too */
	CU_ASSERT_EQUAL(collect(&rig, statuses, MESSAGES), MESSAGES);
	check_order(statuses, MESSAGES);
	rig_destroy(&rig);
}

/* Tests times from before the first packet to after the last CQE, in steps that are no multiple of
 * any period of the model. */
static void at_any_time(void (*change)(struct rig *rig, uint32_t key))
{
	enum { FIRST = 500, LAST = 4500, STEP = 37 };

	for (unsigned i = 0; i < ARRAY_SIZE(types); i++)
		for (sim_time at = FIRST; at < LAST; at += STEP)
			changed(types[i], at * NS, change);
}

static void destroy_region(struct rig *rig, uint32_t key)
{
	CU_ASSERT_EQUAL(hca_mr_destroy(rig->other->adapter, key), 0);
}

static void test_region_that_goes_away(void)
{
	at_any_time(destroy_region);
}

static void enter_error(struct rig *rig, uint32_t key)
{
	(void)key;
	mini_to(rig->peer, STATE_ERR);
}

static void test_error_state_at_any_time(void)
{
	at_any_time(enter_error);
}

/* The region of a READ is destroyed after its check, and SENDs follow the READ. Their WQEs end in
 * order. */
static void test_read_that_fails_beside_sends(void)
{
	enum { READ_BYTES = 1 << 16 };
	struct mr readable = {
		.pd = PD,
		.access = MR_REMOTE_READ,
		.page_shift = 12,
		.address = MEMORY_BASE,
		.host_address = MEMORY_BASE,
		.length = MEMORY_BYTES,
		.valid = true,
	};

	for (sim_time at = 1000; at < 9000; at += 137) {
		struct rig rig = rig_create(QP_RC, 1024);
		uint8_t statuses[MESSAGES] = {0};
		uint32_t key;
		unsigned count;

		readable.memory = rig.other->memory;
		CU_ASSERT_EQUAL_FATAL(hca_mr_create(rig.other->adapter, &readable, &key), 0);
		mini_run(rig.mini);
		for (unsigned i = 0; i < MESSAGES; i++)
			mini_receive(rig.peer, rig.target + i * 8192, BYTES);
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
						      .address = rig.source,
						      .length = READ_BYTES,
						      .remote = rig.target,
						      .rkey = key});
		for (unsigned i = 0; i < MESSAGES; i++)
			send(&rig);
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + at * NS);
		CU_ASSERT_EQUAL(hca_mr_destroy(rig.other->adapter, key), 0);
		count = collect(&rig, statuses, MESSAGES);
		CU_ASSERT_EQUAL(count, MESSAGES);
		check_order(statuses, count);
		rig_destroy(&rig);
	}
}
