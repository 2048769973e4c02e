/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loopback: two queue pairs of one process, connected to each other. It posts one WRITE after the
 * other. After each completion it reads the target immediately, and prints how many targets held
 * old data.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WRITES = 50, BYTES = 65536 };

static uint8_t source[BYTES], target[BYTES];
static struct ibv_qp *qps[2];

static int to_rts(struct ibv_qp *qp, uint16_t lid, uint32_t other)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = other,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.dlid = lid, .port_num = 1},
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	int error = ibv_modify_qp(
		qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr.qp_state = IBV_QPS_RTR;
	error |= ibv_modify_qp(qp, &attr,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	return error |
	       ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}};
	struct ibv_mr *from, *to;
	struct ibv_port_attr port;
	unsigned old = 0;

	if (!pd || !cq || ibv_query_port(context, 1, &port))
		return 2;
	from = ibv_reg_mr(pd, source, BYTES, IBV_ACCESS_LOCAL_WRITE);
	to = ibv_reg_mr(pd, target, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qps[0] = ibv_create_qp(pd, &init);
	qps[1] = ibv_create_qp(pd, &init);
	if (!from || !to || !qps[0] || !qps[1] || to_rts(qps[0], port.lid, qps[1]->qp_num) ||
	    to_rts(qps[1], port.lid, qps[0]->qp_num))
		return 2;
	for (unsigned i = 1; i <= WRITES; i++) {
		struct ibv_sge sge = {(uintptr_t)source, BYTES, from->lkey};
		struct ibv_send_wr *bad, wr = {.sg_list = &sge,
					       .num_sge = 1,
					       .opcode = IBV_WR_RDMA_WRITE,
					       .send_flags = IBV_SEND_SIGNALED,
					       .wr.rdma = {(uintptr_t)target, to->rkey}};
		struct ibv_wc wc;

		memset(source, (int)i, BYTES);
		if (ibv_post_send(qps[0], &wr, &bad))
			return 2;
		while (ibv_poll_cq(cq, 1, &wc) == 0)
			;
		if (wc.status != IBV_WC_SUCCESS)
			return 2;
		old += target[BYTES - 1] != (uint8_t)i;
	}
	printf("%u of %u held old data\n", old, WRITES);
	return 0;
}
