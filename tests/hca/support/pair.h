/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair: two connected queue pairs, each with one CQ for both of its queues, for tests of CQEs. The
 * settings of CQ and queue pair determine the contents of CQEs.
 */
#ifndef TESTS_HCA_SUPPORT_PAIR_H
#define TESTS_HCA_SUPPORT_PAIR_H

#include "tests/hca/support/mini_driver.h"

struct pair {
	struct mini *mini;
	struct mini_cq cqs[2]; /* of each host */
	struct mini_qp *qps[2];
	uint64_t source, target; /* 4 KiB each, on the first host, on the other */
};

static inline struct pair pair_begin(void)
{
	struct pair pair = {.mini = mini_create(SIM_ENGINE_native)};

	mini_start(pair.mini, LINK_INFINIBAND);
	return pair;
}

/* On that host, with the CQ that pair->cqs has for it. */
static inline void pair_add_qp(struct pair *pair, unsigned host, struct hca_qp_attr attr)
{
	attr.send_cqn = attr.recv_cqn = pair->cqs[host].number;
	pair->qps[host] = mini_qp_create_with(&pair->mini->hosts[host], attr);
}

static inline void pair_connect(struct pair *pair)
{
	pair->source = mini_alloc(&pair->mini->hosts[0], 4096);
	pair->target = mini_alloc(&pair->mini->hosts[1], 4096);
	mini_connect(pair->qps[0], pair->qps[1], 1024);
	mini_run(pair->mini);
}

static inline void pair_destroy(struct pair *pair)
{
	mini_run(pair->mini);
	mini_qp_destroy(pair->qps[0]);
	mini_qp_destroy(pair->qps[1]);
	mini_run(pair->mini);
	mini_destroy(pair->mini);
}

#endif
