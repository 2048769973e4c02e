/* SPDX-License-Identifier: Apache-2.0 */
/* silence: messages on a connection whose packets are all lost. */
#ifndef TESTS_HCA_SUPPORT_SILENCE_H
#define TESTS_HCA_SUPPORT_SILENCE_H

#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

/* Posts two messages from host 0 to host 1, and loses all packets of host 0. Checks that the first
 * message fails after the retries, and that the second message is flushed. Returns the time at
 * which the first message fails. */
static inline sim_time silence_fails(struct study *study, enum endpoint_operation operation)
{
	struct transfer transfers[2];
	unsigned done = 0;

	study_lose(study, 0, 1);
	struct endpoint_qp *qp = endpoint_create_pair(study->hosts[0], study->hosts[1], 0, 0);

	transfer_post(&transfers[0], qp, operation, 1000, &done);
	transfer_post(&transfers[1], qp, operation, 1000, &done);
	sim_run(study->sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	CU_ASSERT_EQUAL(transfers[0].message.status, ENDPOINT_RETRY_EXCEEDED);
	CU_ASSERT_EQUAL(transfers[1].message.status, ENDPOINT_FLUSHED);
	CU_ASSERT_TRUE(endpoint_failed(qp));
	return transfers[0].message.done_at;
}

#endif
