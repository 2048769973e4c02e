/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that each order violation of a run is reported: a send WQE that completes ahead of its
 * ring, a CQE before the data of its response, a receive WQE out of order. Also a CQE or a write
 * that becomes visible after a later one. Each is one line with block, law and figures. Without a
 * violation nothing is reported, even if one doorbell brings a whole ring.
 */
#include <stdlib.h>
#include <string.h>

#include "hca/device/adapter.h"
#include "hca/host/pcie_state.h"
#include "hca/transport/qp.h"
#include "hca/transport/transport.h"
#include "hca/work/completion_state.h"
#include "hca/work/receive_queue_state.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(in_order)             \
	TEST(full_ring)            \
	TEST(send_wqe)             \
	TEST(data_before_cqe)      \
	TEST(receive_wqe)          \
	TEST(cqe)                  \
	TEST(write_to_host_memory) \
	TEST(violations_are_counted)
SUITE(TESTS)

static void send(struct rig *rig)
{
	mini_receive(rig->peer, rig->target, 4096);
	mini_post(rig->qp,
		  &(struct mini_send){.opcode = WQE_SEND, .address = rig->source, .length = 64});
	mini_run(rig->mini);
}

/* The checks of the run report exactly these violations, which are then cleared. */
static void expect(struct rig *rig, const char *wanted)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	unsigned violations = blocks_check(rig->mini->sim, out);

	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, wanted);
	CU_ASSERT_EQUAL(violations, *wanted != '\0');
	free(text);
}

static struct hca *one(struct rig *rig)
{
	return rig->one->adapter;
}

static struct hca *other(struct rig *rig)
{
	return rig->other->adapter;
}

static struct qp *qp_of(struct rig *rig)
{
	return qp_find(one(rig)->transport, rig->qp->number);
}

/* Returns the text of the violation, with its time and queue. */
static void expect_order(struct rig *rig, struct audit_order *order, const char *format)
{
	char wanted[256];

	CU_ASSERT_TRUE(order->at > 0 && order->at <= sim_now(rig->mini->sim));
	snprintf(wanted, sizeof(wanted), format, (unsigned)order->queue, (unsigned long)order->at);
	expect(rig, wanted);
	*order = (struct audit_order){0};
	rig_destroy(rig);
}

static void test_in_order(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (unsigned i = 0; i < 5; i++)
		send(&rig);
	expect(&rig, "");
	CU_ASSERT_EQUAL(qp_of(&rig)->requester.complete_block, 5);
	rig_destroy(&rig);
}

/* One doorbell brings as many WQEs as the ring holds. One that brings more is implausible. */
static void test_full_ring(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (unsigned i = 0; i < 64; i++)
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
						      .address = rig.source,
						      .length = 8,
						      .remote = rig.target,
						      .no_doorbell = i < 63});
	for (unsigned i = 0; i < 64; i++) {
		struct mini_wc wc = mini_wait(rig.qp->send_cq);

		CU_ASSERT_EQUAL(wc.wqe_counter, i);
		CU_ASSERT_EQUAL(wc.opcode, CQE_SENT);
	}
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "doorbell", "doorbells"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "doorbell", "implausible"), 0);
	expect(&rig, "");
	for (unsigned i = 0; i < 65; i++)
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
						      .address = rig.source,
						      .length = 8,
						      .remote = rig.target,
						      .no_doorbell = i < 64});
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "doorbell", "implausible"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "wqes_completed"), 64);
	rig_destroy(&rig);
}

static void test_send_wqe(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	send(&rig);
	qp_of(&rig)->requester.complete_block = 3;
	send(&rig);
	CU_ASSERT_EQUAL(one(&rig)->transport->send_order.queue, rig.qp->number);
	expect_order(&rig, &one(&rig)->transport->send_order,
		     "host0.hca.transport: order of WQEs of a send queue: number 1 of queue %u at "
		     "%lu ps; expected number 3; 1 violations\n");
}

static void test_data_before_cqe(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct audit_order *order = &one(&rig)->transport->data_order;

	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 64,
					      .remote = rig.target});
	while (qp_of(&rig)->sq.oldest == qp_of(&rig)->sq.tail)
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 10 * NS);
	qp_slot(qp_of(&rig), qp_of(&rig)->sq.oldest)->unposted = 2;
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(order->queue, rig.qp->number);
	expect_order(&rig, order,
		     "host0.hca.transport: order of unwritten data of a response: "
		     "number 2 of queue %u at %lu ps; expected number 0; 1 violations\n");
}

static void test_receive_wqe(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	send(&rig);
	qp_find(other(&rig)->transport, rig.peer->number)->rq->completed = 0;
	send(&rig);
	expect_order(&rig, &other(&rig)->receive_queues->order,
		     "host1.hca.receive_queue: order of WQEs of a receive queue: number 1 of queue "
		     "%u at %lu ps; expected number 0; 1 violations\n");
}

static void test_cqe(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct completion_queue *cq = qp_of(&rig)->send_cq;

	send(&rig);
	cq->visible = 7;
	send(&rig);
	CU_ASSERT_EQUAL(one(&rig)->completion->order.queue, cq->number);
	expect_order(&rig, &one(&rig)->completion->order,
		     "host0.hca.completion: order of CQEs of a CQ: number 1 of queue %u at %lu ps; "
		     "expected number 7; 1 violations\n");
}

static void test_write_to_host_memory(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct pcie *pcie = one(&rig)->pcie;
	uint32_t serial;

	send(&rig);
	serial = pcie->strict_serial;
	CU_ASSERT_EQUAL(serial, 1); /* the CQE of the SEND */
	pcie->strict_serial = 9;
	send(&rig);
	CU_ASSERT_EQUAL(pcie->strict_serial, 9);
	expect_order(&rig, &pcie->write_order,
		     "host0.hca.pcie: order of writes to host memory: number 2 of queue %u at %lu "
		     "ps; expected number 10; 1 violations\n");
}

static void test_violations_are_counted(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct pcie *pcie = one(&rig)->pcie;

	pcie->strict_serial = 9;
	for (unsigned i = 0; i < 3; i++)
		send(&rig);
	CU_ASSERT_EQUAL(pcie->write_order.violations, 3);
	expect_order(&rig, &pcie->write_order,
		     "host0.hca.pcie: order of writes to host memory: number 1 of queue %u at %lu "
		     "ps; expected number 10; 3 violations\n");
}
