/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests shared receive queues: WQEs in the order of the links, responders that wait, the event of
 * the limit, and the reads of the doorbell record for it.
 */
#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(shared_receive_queue) \
	TEST(record_read_below_the_limit)
SUITE(TESTS)

#define SRQ_ENTRIES 16
#define SRQ_STRIDE  32

struct mini_srq {
	struct mini_host *host;
	uint64_t buffer, record;
	uint32_t number, posted;
};

static void put_word(struct mini_host *host, uint64_t address, uint32_t value)
{
	uint8_t bytes[4];

	be32_put(bytes, value);
	CU_ASSERT_TRUE(memory_write(host->memory, address, bytes, 4));
}

/* Links the entries in steps of 5 so that hardly any two lie side by side. */
static struct mini_srq srq_create(struct mini_host *host)
{
	struct mini_srq srq = {.host = host};
	int error;

	srq.buffer = mini_alloc(host, SRQ_ENTRIES * SRQ_STRIDE);
	srq.record = mini_alloc(host, 8);
	for (uint32_t i = 0; i < SRQ_ENTRIES; i++)
		put_word(host, srq.buffer + i * SRQ_STRIDE, (i + 5) % SRQ_ENTRIES);
	error = hca_srq_create(host->adapter,
			       &(struct hca_srq_attr){.memory = host->memory,
						      .buffer = srq.buffer,
						      .doorbell_record = srq.record,
						      .entries = SRQ_ENTRIES,
						      .stride_bytes = SRQ_STRIDE,
						      .pd = PD},
			       &srq.number);
	CU_ASSERT_EQUAL(error, 0);
	return srq;
}

static void srq_post(struct mini_srq *srq, uint64_t address, uint32_t length)
{
	uint64_t at = srq->buffer + srq->posted * 5 % SRQ_ENTRIES * SRQ_STRIDE + 16;

	put_word(srq->host, at, length);
	put_word(srq->host, at + 4, srq->host->key);
	put_word(srq->host, at + 8, (uint32_t)(address >> 32));
	put_word(srq->host, at + 12, (uint32_t)address);
	srq->posted++;
	put_word(srq->host, srq->record, srq->posted & 0xffff);
}

/* The adapter reads the doorbell record for the limit when fewer WQEs than the limit remain, not
 * before: at exactly the limit there is nothing to report. */
static void test_record_read_below_the_limit(void)
{
	enum { POSTED = 8, LIMIT = 5 };
	struct mini *mini = mini_create(SIM_ENGINE_native);

	mini->params.receive_queue.low_water = 0; /* the limit is the only reason for a read */
	struct rig rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, 1024);
	struct mini_srq srq = srq_create(rig.other);
	struct mini_qp *qp = mini_qp_create(rig.one, QP_RC), *peer;
	uint32_t reads;

	peer = mini_qp_create_with(
		rig.other,
		(struct hca_qp_attr){.type = QP_RC, .sq_blocks = 64, .srqn = srq.number});
	mini_connect(qp, peer, 1024);
	for (uint32_t i = 0; i < POSTED; i++)
		srq_post(&srq, rig.target + i * 4096, 4096);
	hca_srq_arm(rig.other->adapter, srq.number, LIMIT);
	for (uint32_t left = POSTED - 1; left >= LIMIT - 1; left--) {
		reads = rig_count_other(&rig, "receive_queue", "record_reads");
		mini_post(qp, &(struct mini_send){
				      .opcode = WQE_SEND, .address = rig.source, .length = 10});
		mini_wait(peer->recv_cq);
		mini_run(rig.mini);
		CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_queue", "record_reads") - reads,
				left < LIMIT);
		CU_ASSERT_EQUAL(rig.other->async_count, left < LIMIT);
	}
	mini_qp_destroy(qp);
	mini_qp_destroy(peer);
	hca_srq_destroy(rig.other->adapter, srq.number);
	rig_destroy(&rig);
}

static void test_shared_receive_queue(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_srq srq = srq_create(rig.other);
	struct mini_qp *qps[2], *peers[2];
	uint32_t limit;

	for (unsigned i = 0; i < 2; i++) {
		qps[i] = mini_qp_create(rig.one, QP_RC);
		peers[i] = mini_qp_create_with(
			rig.other,
			(struct hca_qp_attr){.type = QP_RC, .sq_blocks = 64, .srqn = srq.number});
		mini_connect(qps[i], peers[i], 1024);
	}
	for (uint32_t i = 0; i < 14; i++)
		srq_post(&srq, rig.target + i * 4096, 4096);
	hca_srq_arm(rig.other->adapter, srq.number, 4);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig.other->async_count, 0);
	for (uint32_t i = 0; i < 14; i++) {
		struct mini_qp *qp = qps[i % 2], *peer = peers[i % 2];
		struct mini_wc wc;

		mini_fill(rig.one, rig.source, 3000, i);
		mini_post(qp, &(struct mini_send){
				      .opcode = WQE_SEND, .address = rig.source, .length = 3000});
		wc = mini_wait(peer->recv_cq);
		CU_ASSERT_EQUAL(wc.wqe_counter, i * 5 % SRQ_ENTRIES);
		CU_ASSERT_EQUAL(wc.qpn, peer->number);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + i * 4096, 3000, i));
		mini_run(rig.mini);
		CU_ASSERT_EQUAL(rig.other->async_count, i >= 10);
	}
	CU_ASSERT_EQUAL(rig.other->asyncs[0].what, ASYNC_SRQ_LIMIT);
	hca_srq_query(rig.other->adapter, srq.number, &limit);
	CU_ASSERT_EQUAL(limit, 0);
	for (unsigned i = 0; i < 2; i++) /* both wait for a receive WQE */
		mini_post(qps[i], &(struct mini_send){
					  .opcode = WQE_SEND, .address = rig.source, .length = 10});
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 50 * US);
	srq_post(&srq, rig.target, 4096);
	srq_post(&srq, rig.target, 4096);
	CHECK_WC(mini_wait(peers[0]->recv_cq), CQE_RECEIVED_SEND, 0);
	CHECK_WC(mini_wait(peers[1]->recv_cq), CQE_RECEIVED_SEND, 0);
	mini_to(peers[0], STATE_ERR);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig.other->asyncs[1].what, ASYNC_LAST_WQE_REACHED);
	for (unsigned i = 0; i < 2; i++) {
		mini_qp_destroy(qps[i]);
		mini_qp_destroy(peers[i]);
	}
	hca_srq_destroy(rig.other->adapter, srq.number);
	rig_destroy(&rig);
}
