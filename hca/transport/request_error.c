/* SPDX-License-Identifier: Apache-2.0 */
/* request_error: see request_error.h. */
#include "hca/transport/request_error.h"

#define ASYNC_OF_NOTHING       -1
#define ASYNC_OF_REQUEST_ERROR ASYNC_QP_REQUEST_ERROR
#define ASYNC_OF_ACCESS_ERROR  ASYNC_QP_ACCESS_ERROR

#define REQUEST_ERROR_RULE(error, reply, nak, async, status, meaning)  \
	[ERROR_##error] = {#error,           REPLY_##reply, NAK_##nak, \
			   ASYNC_OF_##async, WORK_##status, meaning},

const struct request_error_rule request_error_rule[ERROR_COUNT] = {
	REQUEST_ERRORS(REQUEST_ERROR_RULE)};
