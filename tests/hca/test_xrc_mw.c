/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests XRC (one QP, two SRQs on the other side, CQEs with the SRQ number) and UD multicast. Also
 * tests memory windows: bind, use, local and remote invalidation, destruction, refusal.
 */
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "hca/work/doorbell.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                            \
	TEST(xrc)                              \
	TEST(range_of_a_window)                \
	TEST(a_window_invalidated)             \
	TEST(a_window_invalidated_from_remote) \
	TEST(a_window_destroyed)               \
	TEST(a_window_that_may_not_be_bound)   \
	TEST(multicast)
SUITE(TESTS)

#define XRCD 5

struct xrc_queue {
	uint32_t number;
	struct mini_cq cq;
};

static void put_word(struct mini_host *host, uint64_t address, uint32_t value)
{
	uint8_t bytes[4];

	be32_put(bytes, value);
	CU_ASSERT_TRUE(memory_write(host->memory, address, bytes, 4));
}

/* Creates an XRC queue with one WQE of 4096 bytes at target. */
static struct xrc_queue xrc_queue_create(struct rig *rig, uint32_t xrcd, uint32_t user_index,
					 uint64_t target)
{
	struct mini_host *host = rig->other;
	struct xrc_queue queue = {.cq = mini_cq_create(host, 16, 64)};
	uint64_t buffer = mini_alloc(host, 4096), record = mini_alloc(host, 8);
	int error = hca_srq_create(host->adapter,
				   &(struct hca_srq_attr){.memory = host->memory,
							  .buffer = buffer,
							  .doorbell_record = record,
							  .entries = 4,
							  .stride_bytes = 32,
							  .pd = PD,
							  .xrc = true,
							  .xrcd = xrcd,
							  .cqn = queue.cq.number,
							  .user_index = user_index},
				   &queue.number);

	CU_ASSERT_EQUAL_FATAL(error, 0);
	put_word(host, buffer + 16, 4096);
	put_word(host, buffer + 20, host->key);
	put_word(host, buffer + 24, 0);
	put_word(host, buffer + 28, (uint32_t)target);
	put_word(host, record, 1);
	return queue;
}

static uint32_t xrc_qp(struct mini_host *host, enum qp_type type, struct mini_qp *qp)
{
	struct hca_qp_attr attr = qp->attr;
	uint32_t number = 0;
	int error;

	attr.type = type;
	attr.xrcd = XRCD;
	attr.rq_entries = 0;
	if (type == QP_XRC_TGT) {
		attr.sq_blocks = 0;
		attr.pd = PD + 1;
	}
	error = hca_qp_create(host->adapter, &attr, &number);
	CU_ASSERT_EQUAL_FATAL(error, 0);
	return number;
}

static void post_wqe(struct mini_qp *qp, uint8_t *wqe, uint32_t size)
{
	be32_put(wqe + 4, qp->number << 8 | size / 16);
	for (uint32_t i = 0; i < size; i += 64)
		CU_ASSERT_TRUE(memory_write(qp->host->memory,
					    qp->attr.sq_buffer + (qp->sq_post + i / 64) %
									 qp->attr.sq_blocks * 64,
					    wqe + i, 64));
	qp->sq_post += (size + 63) / 64;
	hca_uar_write(qp->host->adapter, UAR_BLUEFLAME, wqe, 8);
}

static void post_xrc(struct rig *rig, struct mini_qp *qp, uint32_t srqn, uint32_t length)
{
	uint8_t wqe[64] = {0};

	be32_put(wqe, qp->sq_post << 8 | WQE_SEND);
	wqe[11] = 8;
	be32_put(wqe + 16, srqn);
	be32_put(wqe + 32, length);
	be32_put(wqe + 36, rig->one->key);
	be64_put(wqe + 40, rig->source);
	post_wqe(qp, wqe, 48);
}

static void write_xrc(struct rig *rig, struct mini_qp *qp, uint32_t srqn, uint32_t length)
{
	uint8_t wqe[64] = {0};

	be32_put(wqe, qp->sq_post << 8 | WQE_WRITE);
	wqe[11] = 8;
	be32_put(wqe + 16, srqn);
	be64_put(wqe + 32, rig->target);
	be32_put(wqe + 40, rig->other->key);
	be32_put(wqe + 48, length);
	be32_put(wqe + 52, rig->one->key);
	be64_put(wqe + 56, rig->source);
	post_wqe(qp, wqe, 64);
}

static void test_xrc(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_qp initiator = *rig.qp, target = *rig.peer;
	struct xrc_queue queues[2];
	uint32_t foreign;
	struct mini_wc wc;

	initiator.number = xrc_qp(rig.one, QP_XRC_INI, rig.qp);
	initiator.sq_post = 0;
	target.number = xrc_qp(rig.other, QP_XRC_TGT, rig.peer);
	mini_connect(&initiator, &target, 1024);
	for (uint32_t i = 0; i < 2; i++)
		queues[i] = xrc_queue_create(&rig, XRCD, 0x700 + i, rig.target + i * 4096);
	foreign = xrc_queue_create(&rig, XRCD + 1, 0, rig.target).number;
	for (uint32_t i = 0; i < 2; i++) {
		mini_fill(rig.one, rig.source, 3000, i);
		post_xrc(&rig, &initiator, queues[i].number, 3000);
		wc = mini_wait(&queues[i].cq);
		CHECK_WC(wc, CQE_RECEIVED_SEND, 0);
		CU_ASSERT_EQUAL(wc.user_index, 0x700 + i);
		CU_ASSERT_EQUAL(wc.qpn, target.number);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + i * 4096, 3000, i));
		CHECK_WC(mini_wait(initiator.send_cq), CQE_SENT, 0);
	}
	/* a write: the named SRQ provides its protection domain, independent of the target's */
	mini_fill(rig.one, rig.source, 3000, 9);
	write_xrc(&rig, &initiator, queues[1].number, 3000);
	CHECK_WC(mini_wait(initiator.send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 3000, 9));
	write_xrc(&rig, &initiator, foreign, 3000);
	CHECK_WC(mini_wait(initiator.send_cq), CQE_SEND_ERROR, 0x13);
	mini_run(rig.mini);
	hca_qp_destroy(rig.one->adapter, initiator.number);
	hca_qp_destroy(rig.other->adapter, target.number);
	rig_destroy(&rig);
}

/* A UMR WQE as libmlx5 writes it: control, UMR control, mkey context, 64 bytes of data segment. */
static void post_bind(struct mini_qp *qp, uint32_t key, uint8_t new_low, uint64_t address,
		      uint64_t length, bool bind)
{
	uint8_t wqe[256] = {0};

	be32_put(wqe, qp->sq_post << 8 | WQE_UMR);
	wqe[11] = 8;
	be32_put(wqe + 12, key);
	be64_put(wqe + 16 + 8, UINT64_C(1) << 14); /* mask: QPN, a window of type 2 */
	wqe[64] = bind ? 0 : 1 << 6;
	wqe[64 + 2] = 1 << 5; /* remote write */
	be32_put(wqe + 64 + 4, qp->number << 8 | new_low);
	be64_put(wqe + 64 + 16, address);
	be64_put(wqe + 64 + 24, length);
	be32_put(wqe + 128 + 4, qp->host->key);
	be64_put(wqe + 128 + 8, address);
	post_wqe(qp, wqe, bind ? 192 : 128);
}

static uint32_t window_create(struct mini_host *host)
{
	uint32_t key = 0;
	int error = hca_mr_create(host->adapter,
				  &(struct mr){.pd = PD, .page_shift = 12, .memory = host->memory},
				  &key);

	CU_ASSERT_EQUAL_FATAL(error, 0);
	return key;
}

static void write_by(struct rig *rig, uint32_t key, uint64_t offset, uint32_t length)
{
	mini_post(rig->qp, &(struct mini_send){.opcode = WQE_WRITE,
					       .address = rig->source,
					       .length = length,
					       .remote = rig->target + offset,
					       .rkey = key});
}

static uint32_t bound_window(struct rig *rig)
{
	uint32_t key = window_create(rig->other);

	post_bind(rig->peer, key, 0x5a, rig->target + 4096, 8192, true);
	CHECK_WC(mini_wait(rig->peer->send_cq), CQE_SENT, 0);
	key = (key & ~UINT32_C(0xff)) | 0x5a;
	/* its pages are the region's, from the start of the window */
	CU_ASSERT_EQUAL(hca_mr_find(rig->other->adapter, key)->mtt_index,
			hca_mr_find(rig->other->adapter, rig->other->key)->mtt_index +
				(rig->target + 4096 - MEMORY_BASE) / 4096);
	mini_fill(rig->one, rig->source, 8192, 1);
	write_by(rig, key, 4096, 8192);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	mini_run(rig->mini);
	CU_ASSERT_TRUE(mini_matches(rig->other, rig->target + 4096, 8192, 1));
	return key;
}

static void test_range_of_a_window(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = bound_window(&rig);

	write_by(&rig, key, 4095, 10);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x13);
	rig_destroy(&rig);
}

static void test_a_window_invalidated(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = bound_window(&rig);

	post_bind(rig.peer, key, 0, 0, 0, false);
	CHECK_WC(mini_wait(rig.peer->send_cq), CQE_SENT, 0);
	write_by(&rig, key, 4096, 10);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x13);
	rig_destroy(&rig);
}

static void test_a_window_invalidated_from_remote(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = bound_window(&rig);
	struct mini_wc wc;

	mini_receive(rig.peer, rig.target, 100);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND_INVALIDATE,
					      .address = rig.source,
					      .length = 10,
					      .immediate = key});
	wc = mini_wait(rig.peer->recv_cq);
	CHECK_WC(wc, CQE_RECEIVED_SEND_INVALIDATE, 0);
	CU_ASSERT_EQUAL(wc.immediate, key);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	write_by(&rig, key, 4096, 10);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x13);
	rig_destroy(&rig);
}

/* Destroys the window by the key of its creation, because the driver knows no other key. */
static void test_a_window_destroyed(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = bound_window(&rig);

	CU_ASSERT_EQUAL(hca_mr_destroy(rig.other->adapter, key & ~UINT32_C(0xff)), 0);
	write_by(&rig, key, 4096, 10);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x13);
	rig_destroy(&rig);
}

static void test_a_window_that_may_not_be_bound(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = window_create(rig.other);

	post_bind(rig.peer, key, 1, MEMORY_BASE + MEMORY_BYTES - 4096, 8192, true);
	CHECK_WC(mini_wait(rig.peer->send_cq), CQE_SEND_ERROR, 0x06);
	rig_destroy(&rig);
}

static void test_multicast(void)
{
	static const uint8_t gid[16] = {0xff, 0x12, [15] = 7};
	struct rig rig = rig_create(QP_UD, 4096);
	struct mini_qp *second = mini_qp_create(rig.other, QP_UD);
	struct path path = *rig.mini->paths[0];
	uint8_t vector[48] = {0};

	mini_connect(second, rig.qp, 4096);
	memcpy(path.dgid, gid, 16);
	path.has_grh = true;
	rig.mini->paths[0] = path_intern(endpoints_paths(rig.mini->endpoints), &path);
	CU_ASSERT_EQUAL(hca_multicast_attach(rig.other->adapter, rig.peer->number, gid), 0);
	CU_ASSERT_EQUAL(hca_multicast_attach(rig.other->adapter, second->number, gid), 0);
	for (unsigned i = 0; i < 2; i++) {
		mini_receive(rig.peer, rig.target, 1000);
		mini_receive(second, rig.target + 4096, 1000);
	}
	be32_put(vector, 0x11111111);
	be32_put(vector + 8, UINT32_C(0x80ffffff));
	be16_put(vector + 14, 1);
	mini_fill(rig.one, rig.source, 500, 3);
	for (unsigned i = 0; i < 2; i++) {
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
						      .address = rig.source,
						      .length = 500,
						      .vector = vector});
		CU_ASSERT_EQUAL(mini_wait(rig.peer->recv_cq).byte_count, 540);
		mini_run(rig.mini);
		if (i == 0) {
			CU_ASSERT_EQUAL(mini_wait(second->recv_cq).byte_count, 540);
			CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + 4096 + 40, 500, 3));
			CU_ASSERT_EQUAL(
				hca_multicast_detach(rig.other->adapter, second->number, gid), 0);
		}
	}
	CU_ASSERT_FALSE(mini_poll(second->recv_cq, &(struct mini_wc){0}));
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive", "multicast"), 2);
	mini_qp_destroy(second);
	rig_destroy(&rig);
}
