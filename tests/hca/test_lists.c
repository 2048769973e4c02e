/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cost of scatter/gather lists. A send WQE takes a block of 64 B for each four units of
 * 16 B (control segment, address and elements). All units are read. Each element of a part of 4 KB
 * is translated and moved separately, with its own PCIe requests and writes. Data go to the places
 * in the lists: when gathering a send, scattering into a receive WQE, and scattering a READ. A list
 * takes longer than the same bytes in one element, by the time of its additional requests. An
 * element with a wrong key, or a receive list that is too short, ends with the error of verbs.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                 \
	TEST(list_of_a_write)       \
	TEST(list_of_a_read)        \
	TEST(list_of_a_receive_wqe) \
	TEST(thirty_elements)       \
	TEST(a_wrong_key)           \
	TEST(too_short_a_receive_wqe)
SUITE(TESTS)

enum { ELEMENTS = 3 };

/* 128 B, 5000 B, 1 KiB: 6152 B, which are sent as 4096 and 2056. */
static const uint32_t lengths[ELEMENTS] = {128, 5000, 1024};

enum { LENGTH = 128 + 5000 + 1024 };

struct element_area {
	struct data_segment list[ELEMENTS];
};

static struct element_area elements(struct mini_host *host)
{
	struct element_area area;

	for (uint32_t i = 0; i < ELEMENTS; i++)
		area.list[i] = (struct data_segment){
			.address = mini_alloc(host, lengths[i]),
			.length = lengths[i],
			.key = host->key,
		};
	return area;
}

/* Each element's bytes have a seed of their own, wherever they are. */
static void fill(struct mini_host *host, const struct element_area *area, uint32_t seed)
{
	for (uint32_t i = 0; i < ELEMENTS; i++)
		mini_fill(host, area->list[i].address, lengths[i], seed + i);
}

static bool in_one(struct mini_host *host, uint64_t address, uint32_t seed)
{
	for (uint32_t i = 0; i < ELEMENTS; address += lengths[i++])
		if (!mini_matches(host, address, lengths[i], seed + i))
			return false;
	return true;
}

static bool in_elements(struct mini_host *host, const struct element_area *area, uint32_t seed)
{
	for (uint32_t i = 0; i < ELEMENTS; i++)
		if (!mini_matches(host, area->list[i].address, lengths[i], seed + i))
			return false;
	return true;
}

struct counts {
	uint32_t blocks, reads, requests, pieces, writes, other_writes, other_pieces;
};

static struct counts counts(const struct rig *rig)
{
	return (struct counts){
		.blocks = rig_count(rig, "wqe_fetch", "read_blocks"),
		.reads = rig_count(rig, "pcie", "reads"),
		.requests = rig_count(rig, "pcie", "read_requests"),
		.pieces = rig_count(rig, "dma", "pieces"),
		.writes = rig_count(rig, "pcie", "write_packets"),
		.other_writes = rig_count_other(rig, "pcie", "write_packets"),
		.other_pieces = rig_count_other(rig, "dma", "pieces"),
	};
}

/* Returns the counts of the last of several equal requests. Contexts, regions and receive WQEs are
 * in the caches. */
static struct counts difference(struct counts after, struct counts before)
{
	return (struct counts){
		after.blocks - before.blocks,
		after.reads - before.reads,
		after.requests - before.requests,
		after.pieces - before.pieces,
		after.writes - before.writes,
		after.other_writes - before.other_writes,
		after.other_pieces - before.other_pieces,
	};
}

static sim_time posted(struct rig *rig, const struct mini_send *send, struct counts *taken)
{
	sim_time start = 0, end = 0;

	for (unsigned i = 0; i < 3; i++) {
		struct counts before;

		mini_run(rig->mini);
		before = counts(rig);
		start = sim_now(rig->mini->sim);
		mini_post(rig->qp, send);
		CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
		end = sim_now(rig->mini->sim);
		mini_run(rig->mini);
		*taken = difference(counts(rig), before);
	}
	return end - start;
}

/*
 * The WQE has 16 + 16 + 3 x 16 = 80 B, two blocks in one read. Gathered: 128 and 3968 B, then 1032
 * and 1024 B. Requests of at most 512 B that do not cross 4 KiB: 1, 8, 1 + 2 (from 3968 on), 2.
 * Written: 16 + 9 packets of at most 256 B.
 */
static void test_list_of_a_write(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct element_area area = elements(rig.one);
	struct mini_send send = {
		.opcode = WQE_WRITE,
		.list = area.list,
		.list_count = ELEMENTS,
		.remote = rig.target,
	};
	struct counts taken;
	sim_time several, one;

	fill(rig.one, &area, 10);
	several = posted(&rig, &send, &taken);
	CU_ASSERT_TRUE(in_one(rig.other, rig.target, 10));
	CU_ASSERT_EQUAL(taken.blocks, 2);
	CU_ASSERT_EQUAL(taken.pieces, 4);
	CU_ASSERT_EQUAL(taken.reads, 1 + 4);
	CU_ASSERT_EQUAL(taken.requests, 1 + 1 + 8 + 3 + 2);
	CU_ASSERT_EQUAL(taken.writes, 1); /* the CQE */
	CU_ASSERT_EQUAL(taken.other_writes, 16 + 9);
	CU_ASSERT_EQUAL(taken.other_pieces, 2);
	send = (struct mini_send){
		.opcode = WQE_WRITE, .address = rig.source, .length = LENGTH, .remote = rig.target};
	one = posted(&rig, &send, &taken);
	CU_ASSERT_EQUAL(taken.blocks, 1);
	CU_ASSERT_EQUAL(taken.requests, 1 + 8 + 5);
	CU_ASSERT_TRUE(several > one);
	rig_destroy(&rig);
}

/* Scattered as they were gathered above: 1 + 16 packets, then 1 + 4 (from 3968 on) and 4; and the
 * CQE. */
static void test_list_of_a_read(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct element_area area = elements(rig.one);
	struct mini_send send = {
		.opcode = WQE_READ,
		.list = area.list,
		.list_count = ELEMENTS,
		.remote = rig.target,
	};
	struct counts taken;

	for (uint32_t i = 0, offset = 0; i < ELEMENTS; offset += lengths[i++])
		mini_fill(rig.other, rig.target + offset, lengths[i], 20 + i);
	posted(&rig, &send, &taken);
	CU_ASSERT_TRUE(in_elements(rig.one, &area, 20));
	CU_ASSERT_EQUAL(taken.blocks, 2);
	CU_ASSERT_EQUAL(taken.pieces, 4);
	CU_ASSERT_EQUAL(taken.writes, 1 + 16 + 5 + 4 + 1);
	rig_destroy(&rig);
}

/* Gathered in one, scattered into a receive WQE's list: as a READ's response. */
static void test_list_of_a_receive_wqe(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct element_area area = elements(rig.other);
	struct mini_send send = {.opcode = WQE_SEND, .address = rig.source, .length = LENGTH};
	struct counts taken;

	for (uint32_t i = 0, offset = 0; i < ELEMENTS; offset += lengths[i++])
		mini_fill(rig.one, rig.source + offset, lengths[i], 30 + i);
	for (unsigned i = 0; i < 3; i++)
		mini_receive_list(rig.peer, area.list, ELEMENTS);
	posted(&rig, &send, &taken);
	CU_ASSERT_TRUE(in_elements(rig.other, &area, 30));
	CU_ASSERT_EQUAL(taken.pieces, 2);
	CU_ASSERT_EQUAL(taken.other_pieces, 4);
	CU_ASSERT_EQUAL(taken.other_writes, 1 + 16 + 5 + 4 + 1);
	rig_destroy(&rig);
}

/* The WQE has 16 + 16 + 30 x 16 B, which are eight blocks. */
static void test_thirty_elements(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct data_segment list[30];
	struct mini_send send = {
		.opcode = WQE_WRITE, .list = list, .list_count = 30, .remote = rig.target};
	struct counts taken;

	for (uint32_t i = 0; i < 30; i++)
		list[i] = (struct data_segment){rig.source + i * UINT64_C(1000), 100, rig.one->key};
	posted(&rig, &send, &taken);
	CU_ASSERT_EQUAL(taken.blocks, 8);
	CU_ASSERT_EQUAL(taken.pieces, 30);
	CU_ASSERT_EQUAL(taken.other_pieces, 1);
	CU_ASSERT_EQUAL(taken.other_writes, 12); /* 3000 B */
	rig_destroy(&rig);
}

static void test_a_wrong_key(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct element_area area = elements(rig.one);

	area.list[1].key ^= 0x100;
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .list = area.list,
					      .list_count = ELEMENTS,
					      .remote = rig.target});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 4); /* local protection */
	rig_destroy(&rig);
}

/* The list has one byte less than the message. */
static void test_too_short_a_receive_wqe(void)
{
	struct rig rig = rig_create(QP_RC, 4096);
	struct element_area area = elements(rig.other);

	area.list[2].length--;
	mini_receive_list(rig.peer, area.list, ELEMENTS);
	mini_post(rig.qp,
		  &(struct mini_send){.opcode = WQE_SEND, .address = rig.source, .length = LENGTH});
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVE_ERROR, 1); /* local length */
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x12);   /* remote invalid request */
	rig_destroy(&rig);
}
