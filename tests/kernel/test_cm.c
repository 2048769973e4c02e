/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests requests of librdmacm through /dev/infiniband/rdma_cm: a connection from address to end
 * with each event at its exact time. Also attributes for the QPs of both sides, private data,
 * rejections, and refused requests. Both sides are on one host, because there is one kernel.
 * Messages between them take their time nevertheless.
 */
#include <errno.h>

#include "tests/kernel/support/cm.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(connection) \
	TEST(rejected)   \
	TEST(backlog)    \
	TEST(service)    \
	TEST(refused)
SUITE(TESTS)

static uint32_t create(struct machine *machine, int32_t file, uint64_t uid)
{
	return create_id_of(machine, file, uid, RDMA_PS_TCP, CM_QP_RC);
}

/* Listens in one file, and resolves from another file until it can connect. 20 us have passed. */
static struct machine *machine_at_route(enum link_layer link_layer, int32_t files[2],
					uint32_t ids[2])
{
	struct machine *machine = machine_create(link_layer);
	struct rdma_ucm_listen listening = {.backlog = 3};
	struct rdma_ucm_resolve_route route = {.timeout_ms = 2000};

	files[0] = open_cm(machine);
	files[1] = open_cm(machine);
	ids[0] = listening.id = create(machine, files[0], 0x1000);
	ids[1] = route.id = create(machine, files[1], 0x2000);
	CU_ASSERT_EQUAL(bind_to(machine, files[0], ids[0], INADDR_ANY), 0);
	CU_ASSERT_EQUAL(CM(machine, files[0], LISTEN, listening, 0), 0);
	CU_ASSERT_EQUAL(resolve(machine, files[1], ids[1], 0x0a000001), 0);
	(void)expect(machine, files[1], 10 * US, CM_EVENT_ADDR_RESOLVED, 0x2000, 0);
	CU_ASSERT_EQUAL(CM(machine, files[1], RESOLVE_ROUTE, route, 0), 0);
	(void)expect(machine, files[1], 10 * US, CM_EVENT_ROUTE_RESOLVED, 0x2000, 0);
	return machine;
}

static int64_t connect_to(struct machine *machine, int32_t file, uint32_t id)
{
	struct rdma_ucm_connect in = {.id = id,
				      .conn_param = {.qp_num = 0x77,
						     .valid = 1,
						     .responder_resources = 3,
						     .initiator_depth = 5,
						     .retry_count = 15,
						     .rnr_retry_count = 6,
						     .private_data = "hello",
						     .private_data_len = 5}};

	return CM(machine, file, CONNECT, in, 0);
}

static struct ib_uverbs_qp_attr attributes(struct machine *machine, int32_t file, uint32_t id,
					   uint32_t state)
{
	struct rdma_ucm_init_qp_attr in = {.response = RESPONSE_AREA, .id = id, .qp_state = state};
	struct ib_uverbs_qp_attr response;

	CU_ASSERT_EQUAL_FATAL(CM(machine, file, INIT_QP_ATTR, in, sizeof(response)), 0);
	response_of(machine, &response, sizeof(response));
	return response;
}

static void test_connection(void)
{
	int32_t files[2];
	uint32_t ids[2];
	struct machine *machine = machine_at_route(LINK_INFINIBAND, files, ids);
	struct rdma_ucm_event_resp event;
	struct rdma_ucm_accept accept = {.uid = 0x3000,
					 .conn_param = {.qp_num = 0x88,
							.valid = 1,
							.responder_resources = 4,
							.initiator_depth = 2}};
	struct rdma_ucm_accept ready = {.id = ids[1]};
	struct rdma_ucm_disconnect end = {.id = ids[1]};

	CU_ASSERT_EQUAL(connect_to(machine, files[1], ids[1]), 0);
	event = expect(machine, files[0], 50 * US, CM_EVENT_CONNECT_REQUEST, 0x1000, 0);
	CU_ASSERT_EQUAL(event.param.conn.qp_num, 0x77);
	/* the reads that the other side initiates */
	CU_ASSERT_EQUAL(event.param.conn.responder_resources, 5);
	CU_ASSERT_EQUAL(event.param.conn.initiator_depth, 3);
	CU_ASSERT_EQUAL(event.param.conn.retry_count, 7);
	CU_ASSERT_EQUAL(event.param.conn.private_data_len, 56);
	CU_ASSERT_STRING_EQUAL((char *)event.param.conn.private_data, "hello");
	accept.id = event.id;
	CU_ASSERT_NOT_EQUAL(event.id, ids[0]);

	struct ib_uverbs_qp_attr passive = attributes(machine, files[0], event.id, 2);
	struct ib_uverbs_qp_attr passive_send = attributes(machine, files[0], event.id, 3);

	CU_ASSERT_EQUAL(passive.dest_qp_num, 0x77);
	CU_ASSERT_EQUAL(passive.ah_attr.dlid, 1);
	CU_ASSERT_EQUAL(passive.max_dest_rd_atomic, 5);
	CU_ASSERT_EQUAL(passive_send.rnr_retry, 6);
	CU_ASSERT_EQUAL(passive_send.retry_cnt, 7);
	CU_ASSERT_EQUAL(CM(machine, files[0], ACCEPT, accept, 0), 0);
	event = expect(machine, files[1], 50 * US, CM_EVENT_CONNECT_RESPONSE, 0x2000, 0);
	CU_ASSERT_EQUAL(event.param.conn.qp_num, 0x88);

	struct ib_uverbs_qp_attr active = attributes(machine, files[1], ids[1], 2);

	CU_ASSERT_EQUAL(active.dest_qp_num, 0x88);
	CU_ASSERT_EQUAL(active.rq_psn, passive_send.sq_psn);
	CU_ASSERT_EQUAL(attributes(machine, files[1], ids[1], 3).sq_psn, passive.rq_psn);
	CU_ASSERT_NOT_EQUAL(active.rq_psn, passive.rq_psn);
	CU_ASSERT_EQUAL(CM(machine, files[1], ACCEPT, ready, 0), 0);
	(void)expect(machine, files[0], 50 * US, CM_EVENT_ESTABLISHED, 0x3000, 0);
	CU_ASSERT_EQUAL(CM(machine, files[1], DISCONNECT, end, 0), 0);
	(void)expect(machine, files[0], 50 * US, CM_EVENT_DISCONNECTED, 0x3000, 0);
	end.id = accept.id;
	CU_ASSERT_EQUAL(CM(machine, files[0], DISCONNECT, end, 0), 0);
	(void)expect(machine, files[1], 50 * US, CM_EVENT_DISCONNECTED, 0x2000, 0);
	CU_ASSERT_EQUAL(CM(machine, files[0], DISCONNECT, end, 0), -EINVAL);
	machine_destroy(machine);
}

/* A destination without a listener, a listener that rejects, and a listener that goes away. */
/* A backlog of 3: three requests wait, the fourth is rejected. A request that is fetched makes room
 * for another one. */
static void test_backlog(void)
{
	int32_t files[2];
	uint32_t ids[2], more[4];
	struct machine *machine = machine_at_route(LINK_INFINIBAND, files, ids);

	for (uint32_t i = 0; i < ARRAY_SIZE(more); i++) {
		struct rdma_ucm_resolve_route route = {.timeout_ms = 2000};

		more[i] = route.id = create(machine, files[1], 0x3000 + i);
		CU_ASSERT_EQUAL(resolve(machine, files[1], more[i], 0x0a000001), 0);
		(void)expect(machine, files[1], 10 * US, CM_EVENT_ADDR_RESOLVED, 0x3000 + i, 0);
		CU_ASSERT_EQUAL(CM(machine, files[1], RESOLVE_ROUTE, route, 0), 0);
		(void)expect(machine, files[1], 10 * US, CM_EVENT_ROUTE_RESOLVED, 0x3000 + i, 0);
	}
	CU_ASSERT_EQUAL(connect_to(machine, files[1], ids[1]), 0);
	for (uint32_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(connect_to(machine, files[1], more[i]), 0);
	sim_run(machine->sim, sim_now(machine->sim) + 60 * US);
	CU_ASSERT_EQUAL(connect_to(machine, files[1], more[2]), 0);
	(void)expect(machine, files[1], 100 * US, CM_EVENT_REJECTED, 0x3002, CM_REASON_NO_SERVICE);

	struct rdma_ucm_event_resp event = {0};
	CU_ASSERT_EQUAL(next_event(machine, files[0], &event), 0);
	CU_ASSERT_EQUAL(event.event, CM_EVENT_CONNECT_REQUEST);
	CU_ASSERT_EQUAL(connect_to(machine, files[1], more[3]), 0);
	sim_run(machine->sim, sim_now(machine->sim) + 110 * US);
	CU_ASSERT_EQUAL(next_event(machine, files[1], &event), -EAGAIN);
	machine_destroy(machine);
}

static void test_rejected(void)
{
	int32_t files[2];
	uint32_t ids[2];
	struct machine *machine = machine_at_route(LINK_INFINIBAND, files, ids);
	struct rdma_ucm_destroy_id destroy = {.response = RESPONSE_AREA, .id = ids[0]};
	struct rdma_ucm_destroy_id_resp response;

	CU_ASSERT_EQUAL(connect_to(machine, files[1], ids[1]), 0);
	sim_run(machine->sim,
		sim_now(machine->sim) + 50 * US + 1); /* the request is there, and not fetched */
	CU_ASSERT_EQUAL(CM(machine, files[0], DESTROY_ID, destroy, sizeof(response)), 0);
	response_of(machine, &response, sizeof(response));
	CU_ASSERT_EQUAL(response.events_reported, 0);
	(void)expect(machine, files[1], 50 * US, CM_EVENT_REJECTED, 0x2000, CM_REASON_CONSUMER);
	machine_destroy(machine);

	machine = machine_at_route(LINK_INFINIBAND, files, ids);
	CU_ASSERT_EQUAL(CM(machine, files[0], DESTROY_ID, destroy, sizeof(response)), 0);
	CU_ASSERT_EQUAL(connect_to(machine, files[1], ids[1]), 0);
	(void)expect(machine, files[1], 100 * US, CM_EVENT_REJECTED, 0x2000, CM_REASON_NO_SERVICE);
	destroy.id = ids[1];
	CU_ASSERT_EQUAL(CM(machine, files[1], DESTROY_ID, destroy, sizeof(response)), 0);
	response_of(machine, &response, sizeof(response));
	CU_ASSERT_EQUAL(response.events_reported, 3);
	machine_destroy(machine);
}

/* The traffic class of both ends by RoCE; by InfiniBand there is none. */
static void test_service(void)
{
	for (unsigned layer = 0; layer < 2; layer++) {
		bool ethernet = layer == 1;
		int32_t files[2];
		uint32_t ids[2];
		struct machine *machine =
			machine_at_route(ethernet ? LINK_ETHERNET : LINK_INFINIBAND, files, ids);
		struct rdma_ucm_set_option option = {.optval = RESPONSE_AREA,
						     .id = ids[1],
						     .level = RDMA_OPTION_ID,
						     .optname = RDMA_OPTION_ID_TOS,
						     .optlen = 1};
		struct rdma_ucm_event_resp event;
		struct rdma_ucm_accept accept = {.conn_param = {.valid = 1}};

		memory_write(machine->process.memory, RESPONSE_AREA, &(uint8_t){106}, 1);
		CU_ASSERT_EQUAL(CM(machine, files[1], SET_OPTION, option, 0), 0);
		CU_ASSERT_EQUAL(connect_to(machine, files[1], ids[1]), 0);
		event = expect(machine, files[0], 50 * US, CM_EVENT_CONNECT_REQUEST, 0x1000, 0);
		accept.id = event.id;
		CU_ASSERT_EQUAL(
			attributes(machine, files[0], event.id, 2).ah_attr.grh.traffic_class,
			ethernet ? 106 : 0);
		CU_ASSERT_EQUAL(CM(machine, files[0], ACCEPT, accept, 0), 0);
		(void)expect(machine, files[1], 50 * US, CM_EVENT_CONNECT_RESPONSE, 0x2000, 0);
		CU_ASSERT_EQUAL(attributes(machine, files[1], ids[1], 2).ah_attr.grh.traffic_class,
				ethernet ? 106 : 0);
		CU_ASSERT_EQUAL(machine->refused_count, 0);
		machine_destroy(machine);
	}
}

static void test_refused(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	int32_t file = open_cm(machine), other = open_cm(machine);
	struct rdma_ucm_create_id in = {
		.response = RESPONSE_AREA, .ps = RDMA_PS_IPOIB, .qp_type = 4};
	struct rdma_ucm_listen listening = {0};
	struct rdma_ucm_get_event fetch = {.response = 8};

	CU_ASSERT_EQUAL(CM(machine, file, CREATE_ID, in, 4), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(machine->refused_count, 1);
	CU_ASSERT_EQUAL(CM(machine, file, CREATE_ID, in, 0), -ENOSPC);
	CU_ASSERT_EQUAL(CM(machine, file, QUERY, in, 0), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(
		cm_command(machine, file, RDMA_USER_CM_CMD_JOIN_MCAST + 1, &in, sizeof(in), 0),
		-EINVAL);
	CU_ASSERT_EQUAL(cm_command(machine, file, RDMA_USER_CM_CMD_LISTEN, &listening, 4, 0),
			-EINVAL);

	uint32_t first = listening.id = create(machine, file, 1), second = create(machine, file, 2);

	CU_ASSERT_EQUAL(CM(machine, file, LISTEN, listening, 0), -EINVAL); /* not bound */
	CU_ASSERT_EQUAL(CM(machine, other, LISTEN, listening, 0), -ENOENT);
	CU_ASSERT_EQUAL(bind_to(machine, file, first, 0x0a000002), -EADDRNOTAVAIL);
	CU_ASSERT_EQUAL(bind_to(machine, file, first, 0x0a000001), 0);
	CU_ASSERT_EQUAL(bind_to(machine, file, second, INADDR_ANY), -EADDRINUSE);
	CU_ASSERT_EQUAL(connect_to(machine, file, second), -EINVAL);
	CU_ASSERT_EQUAL(resolve(machine, file, second, 0x0a0000ff), 0);
	sim_run(machine->sim, 10 * US + 1);
	CU_ASSERT_EQUAL(CM(machine, file, GET_EVENT, fetch, 336), -EFAULT);
	(void)bind_to(machine, file, 1000, INADDR_ANY);
	CU_ASSERT_EQUAL(machine->call.result, -ENOENT);

	struct rdma_ucm_event_resp event;

	CU_ASSERT_EQUAL(next_event(machine, file, &event), 0);
	CU_ASSERT_EQUAL(event.event, CM_EVENT_ADDR_ERROR);
	CU_ASSERT_EQUAL((int32_t)event.status, -EHOSTUNREACH);
	machine_destroy(machine);
}
