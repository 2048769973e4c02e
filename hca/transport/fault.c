/* SPDX-License-Identifier: Apache-2.0 */
/* fault: see fault.h. */
#include "hca/transport/fault.h"

#define ASYNC_OF_NOTHING       -1
#define ASYNC_OF_REQUEST_ERROR ASYNC_QP_REQUEST_ERROR
#define ASYNC_OF_ACCESS_ERROR  ASYNC_QP_ACCESS_ERROR

#define FAULT_RULE(fault, reply, nak, async, status, meaning)          \
	[FAULT_##fault] = {#fault,           REPLY_##reply, NAK_##nak, \
			   ASYNC_OF_##async, WORK_##status, meaning},

const struct fault_rule fault_rule[FAULT_COUNT] = {FAULTS(FAULT_RULE)};
