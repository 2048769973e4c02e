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
	_Alignas(16) char state[CC_STATE_BYTES_MAX];
	struct cc_state *cc;
};

static inline void fixture_init(struct fixture *fixture, const char *name)
{
	char error[256];

	memset(fixture, 0, sizeof(*fixture));
	CU_ASSERT_TRUE_FATAL(congestion_init(&fixture->congestion, name, error, sizeof(error)));
	fixture->cc = (struct cc_state *)(void *)fixture->state;
}

static inline void fixture_start(struct fixture *fixture, const struct congestion_path *path)
{
	fixture->congestion.ops->state_init(fixture->cc, fixture->congestion.params, path, 0);
}

#endif
