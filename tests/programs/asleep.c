/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asleep: stores to a doorbell, then sleeps in an untracked call (its own futex). Another thread,
 * which polls the CQ, wakes it after a completion. The message goes to a LID without a host, and
 * the completion reports this. The program exits with 0 if the completion arrives. This requires
 * that the store has left although its thread made no further request.
 */
#include <infiniband/verbs.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 0x100

static struct ibv_cq *cq;
static struct ibv_wc completion;
static uint32_t woken;

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static void *watch(void *argument)
{
	(void)argument;
	while (ibv_poll_cq(cq, 1, &completion) == 0)
		;
	__atomic_store_n(&woken, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &woken, FUTEX_WAKE, 1, NULL, NULL, 0);
	return NULL;
}

static void connect_to_nobody(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
		     0,
	     "to INIT");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = 1000,
				    .max_dest_rd_atomic = 1,
				    .min_rnr_timer = 12,
				    .ah_attr = {.dlid = NOBODY, .port_num = 1}};
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER) == 0,
	     "to RTR");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 4, .retry_cnt = 1, .max_rd_atomic = 1};
	need(ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
	     "to RTS");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_context *context;
	struct ibv_pd *pd;
	pthread_t watcher;

	need(list && list[0], "finding a device");
	context = ibv_open_device(list[0]);
	need(context != NULL, "ibv_open_device");
	pd = ibv_alloc_pd(context);
	init.send_cq = init.recv_cq = cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	need(pd && cq, "ibv_create_cq");
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	need(qp != NULL, "ibv_create_qp");
	connect_to_nobody(qp);
	need(pthread_create(&watcher, NULL, watch, NULL) == 0, "pthread_create");
	usleep(10); /* it polls */

	struct ibv_send_wr *bad, request = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	need(ibv_post_send(qp, &request, &bad) == 0, "ibv_post_send");
	while (__atomic_load_n(&woken, __ATOMIC_SEQ_CST) == 0)
		(void)syscall(SYS_futex, &woken, FUTEX_WAIT, 0, NULL, NULL, 0);
	need(pthread_join(watcher, NULL) == 0, "pthread_join");
	printf("woken by a completion: %s\n", ibv_wc_status_str(completion.status));
	return 0;
}
