/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused: prints the errors of verbs that the device does not support, and of a raw OPEN_XRCD of a
 * file without a domain. Also prints whether O_NONBLOCK of device files is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *what, int error)
{
	printf("%s: %s\n", what, error ? strerror(error) : "done");
}

static void open_domain(struct ibv_context *context, const char *path)
{
	struct ib_uverbs_open_xrcd_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_open_xrcd core;
	} command = {
		.header = {.command = IB_USER_VERBS_CMD_OPEN_XRCD,
			   .in_words = sizeof(command) / 4,
			   .out_words = 1},
		.core = {.response = (uintptr_t)&answer, .fd = (uint32_t)open(path, O_RDONLY)},
	};
	ssize_t written = write(context->cmd_fd, &command, sizeof(command));

	say("OPEN_XRCD", written < 0 ? errno : 0);
}

static void keep_flags(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK);

	printf("%s: %s\n", path,
	       fd >= 0 && fcntl(fd, F_GETFL) & O_NONBLOCK ? "does not block" : "blocks");
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = context ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {4, 4, 1, 1, 0}};
	struct ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &init) : NULL;
	struct ibv_alloc_dm_attr dm = {.length = 64};
	struct ibv_qp_rate_limit_attr limit = {.rate_limit = 1000};
	struct ibv_srq_init_attr_ex tags = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.srq_type = IBV_SRQT_TM,
		.pd = pd,
		.cq = cq,
		.tm_cap = {4, 4},
	};

	if (!qp || argc != 2)
		return 2;
	say("ibv_alloc_dm", ibv_alloc_dm(context, &dm) ? 0 : errno);
	say("ibv_alloc_dm", ibv_alloc_dm(context, &dm) ? 0 : errno);
	say("ibv_alloc_null_mr", ibv_alloc_null_mr(pd) ? 0 : errno);
	say("ibv_create_srq_ex", ibv_create_srq_ex(context, &tags) ? 0 : errno);
	say("ibv_modify_qp_rate_limit", ibv_modify_qp_rate_limit(qp, &limit));
	open_domain(context, argv[1]);
	keep_flags("/dev/infiniband/uverbs0");
	keep_flags("/dev/infiniband/rdma_cm");
	return 0;
}
