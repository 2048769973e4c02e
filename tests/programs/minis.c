/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minis: a program that reads compressed CQEs itself, as DPDK does. Two queue pairs of this process
 * are connected. One sends a list of messages of increasing length. The other's completions arrive
 * in a completion queue of mlx5dv_create_cq() with mini-CQEs. It prints the number of titles,
 * mini-CQEs and plain CQEs, and ends with 1 if a length differs.
 */
#include <arpa/inet.h>
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 20, STEP = 16, ENTRIES = 64 };
enum { FORMAT_COMPRESSED = 3, MINIS_IN_SLOT = 8 };

struct mini_cqe { /* mlx5_mini_cqe8 */
	__be32 word, byte_count;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint8_t memory[2][1 << 16];

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static struct ibv_qp *create(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attributes = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = ENTRIES,
			.max_recv_wr = ENTRIES,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attributes);

	check(qp != NULL, "ibv_create_qp");
	return qp;
}

static void connect_to(struct ibv_qp *qp, const struct ibv_qp *peer, uint16_t lid)
{
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	check(!ibv_modify_qp(qp, &attributes,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	      "INIT");
	attributes = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer->qp_num,
		.min_rnr_timer = 12,
		.ah_attr = {.dlid = lid, .port_num = 1},
	};
	check(!ibv_modify_qp(qp, &attributes,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER),
	      "RTR");
	attributes = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	check(!ibv_modify_qp(qp, &attributes,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	      "RTS");
}

static void post_all(struct ibv_qp *sender, struct ibv_qp *receiver)
{
	static struct ibv_sge from[MESSAGES], to[MESSAGES];
	static struct ibv_send_wr sends[MESSAGES];
	static struct ibv_recv_wr receives[MESSAGES];
	struct ibv_send_wr *bad_send;
	struct ibv_recv_wr *bad_receive;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		from[i] = (struct ibv_sge){(uintptr_t)memory[0], (i + 1) * STEP, mr->lkey};
		to[i] = (struct ibv_sge){(uintptr_t)memory[1] + i * 1024, 1024, mr->lkey};
		sends[i] = (struct ibv_send_wr){.next = i + 1 < MESSAGES ? &sends[i + 1] : NULL,
						.sg_list = &from[i],
						.num_sge = 1,
						.opcode = IBV_WR_SEND,
						.send_flags =
							i + 1 == MESSAGES ? IBV_SEND_SIGNALED : 0};
		receives[i] =
			(struct ibv_recv_wr){.next = i + 1 < MESSAGES ? &receives[i + 1] : NULL,
					     .sg_list = &to[i],
					     .num_sge = 1};
	}
	check(!ibv_post_recv(receiver, receives, &bad_receive), "ibv_post_recv");
	check(!ibv_post_send(sender, sends, &bad_send), "ibv_post_send");
}

/* Waits for the next CQE. At first all CQEs of a ring belong to the adapter. */
static volatile struct mlx5_cqe64 *await(const struct mlx5dv_cq *cq, uint32_t number)
{
	volatile struct mlx5_cqe64 *cqe =
		(volatile struct mlx5_cqe64 *)((uint8_t *)cq->buf + number % cq->cqe_cnt * 64);

	while (cqe->op_own >> 4 == MLX5_CQE_INVALID || (cqe->op_own & 1) != 0)
		;
	return cqe;
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_cq_init_attr_ex wanted = {.cqe = ENTRIES - 1};
	struct mlx5dv_cq_init_attr driver = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
		.cqe_comp_res_format = MLX5DV_CQE_RES_FORMAT_HASH,
	};
	struct mlx5dv_context can = {.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION};
	struct mlx5dv_obj object = {0};
	struct mlx5dv_cq ring = {0};
	struct ibv_port_attr port;
	struct ibv_cq *plain;
	struct ibv_cq_ex *compressed;
	struct ibv_qp *sender, *receiver;
	struct ibv_wc done;
	uint32_t titles = 0, minis = 0, others = 0;

	context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	check(context && !ibv_query_port(context, 1, &port), "ibv_open_device");
	check(!mlx5dv_query_device(context, &can), "mlx5dv_query_device");
	printf("up to %u in one\n", can.cqe_comp_caps.max_num);
	pd = ibv_alloc_pd(context);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	plain = ibv_create_cq(context, ENTRIES, NULL, NULL, 0);
	compressed = mlx5dv_create_cq(context, &wanted, &driver);
	check(mr && plain && compressed, "mlx5dv_create_cq");
	object.cq.in = ibv_cq_ex_to_cq(compressed);
	object.cq.out = &ring;
	check(!mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ) && ring.cqe_size == 64, "mlx5dv_init_obj");
	sender = create(plain);
	receiver = create(ibv_cq_ex_to_cq(compressed));
	connect_to(sender, receiver, port.lid);
	connect_to(receiver, sender, port.lid);
	post_all(sender, receiver);

	for (uint32_t i = 0; i < MESSAGES;) {
		volatile struct mlx5_cqe64 *cqe = await(&ring, i);

		if ((cqe->op_own >> 2 & 3) != FORMAT_COMPRESSED) {
			check(ntohl(cqe->byte_cnt) == (i + 1) * STEP, "a length");
			others++;
			i++;
			continue;
		}
		titles++;
		for (uint32_t count = ntohl(cqe->byte_cnt), k = 0; k < count; k++, i++, minis++) {
			uint32_t slot = k < MINIS_IN_SLOT ? 1 : k / MINIS_IN_SLOT * MINIS_IN_SLOT;
			const struct mini_cqe *mini =
				(const struct mini_cqe *)(const volatile void *)(cqe + slot);

			check(ntohl(mini[k % MINIS_IN_SLOT].byte_count) == (i + 1) * STEP,
			      "a length");
		}
	}
	while (ibv_poll_cq(plain, 1, &done) == 0)
		;
	check(done.status == IBV_WC_SUCCESS, "the last send");
	printf("%u messages: %u titles, %u mini-CQEs, %u others\n", MESSAGES, titles, minis,
	       others);
	return 0;
}
