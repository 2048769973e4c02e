/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture: one flow under a congestion control, called by hand.
 */
#ifndef TESTS_HCA_SUPPORT_FIXTURE_H
#define TESTS_HCA_SUPPORT_FIXTURE_H

#include <CUnit/CUnit.h>
#include <string.h>

#include "hca/congestion/congestion.h"

struct fixture {
	struct congestion congestion;
	_Alignas(16) char state[CONGESTION_FLOW_BYTES_MAX];
	struct congestion_flow *flow;
};

static inline void fixture_init(struct fixture *fixture, const char *name)
{
	char error[256];

	memset(fixture, 0, sizeof(*fixture));
	CU_ASSERT_TRUE_FATAL(congestion_init(&fixture->congestion, name, error, sizeof(error)));
	fixture->flow = (struct congestion_flow *)(void *)fixture->state;
}

static inline void fixture_start(struct fixture *fixture, const struct congestion_path *path)
{
	fixture->congestion.ops->flow_init(fixture->flow, fixture->congestion.params, path, 0);
}

#endif
