/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_error: the response of a responder to a request that it cannot execute. The checks in
 * responder.c find the error. The table holds the consequences of each error.
 *
 * IBTA vol. 1, 9.7.4.1 (order of the checks), 9.7.5.2 (NAK codes), 9.9.3 (responder errors).
 */
#ifndef HCA_TRANSPORT_REQUEST_ERROR_H
#define HCA_TRANSPORT_REQUEST_ERROR_H

#include "fabric/wire/aeth.h"
#include "hca/formats/cqe.h"
#include "hca/formats/services.h"

/* clang-format off */
/* error, reply, NAK code, driver's event, status of the receive WQE, meaning */
#define REQUEST_ERRORS(X) \
	X(NONE, NOTHING, PSN_SEQUENCE, NOTHING, OK, "execute it") \
	X(WAIT, NOTHING, PSN_SEQUENCE, NOTHING, OK, "its receive WQE is being fetched") \
	X(DUPLICATE, REPEAT, PSN_SEQUENCE, NOTHING, OK, "PSN seen: response lost") \
	X(PSN_GAP, NAK, PSN_SEQUENCE, NOTHING, OK, "PSN skipped: request lost") \
	X(NO_RECEIVE_WQE, RNR, PSN_SEQUENCE, NOTHING, OK, "receiver not ready") \
	X(NO_PAGE, RNR, PSN_SEQUENCE, NOTHING, OK, "a page fault brings it") \
	X(BAD_SEQUENCE, FATAL, INVALID_REQUEST, REQUEST_ERROR, FLUSHED, "segment out of order") \
	X(NOT_PERMITTED, FATAL, INVALID_REQUEST, REQUEST_ERROR, FLUSHED, "operation not enabled") \
	X(TOO_MANY, FATAL, INVALID_REQUEST, REQUEST_ERROR, FLUSHED, \
	  "more reads and atomics than agreed") \
	X(MISALIGNED, FATAL, INVALID_REQUEST, REQUEST_ERROR, FLUSHED, \
	  "atomic address not a multiple of 8") \
	X(BAD_LENGTH, FATAL, INVALID_REQUEST, REQUEST_ERROR, FLUSHED, \
	  "wrong size for its segment") \
	X(TOO_LONG, FATAL, INVALID_REQUEST, NOTHING, LOCAL_LENGTH, "longer than the receive WQE") \
	X(BAD_RKEY, FATAL, REMOTE_ACCESS, ACCESS_ERROR, FLUSHED, "R_Key, range or rights") \
	X(BAD_WQE, FATAL, REMOTE_OPERATIONAL, NOTHING, LOCAL_PROTECTION, "receive WQE unusable")
/* clang-format on */

#define REQUEST_ERROR_ENUM(error, reply, nak, async, status, meaning) ERROR_##error,
enum request_error { REQUEST_ERRORS(REQUEST_ERROR_ENUM) ERROR_COUNT };
enum request_error_reply { REPLY_NOTHING, REPLY_REPEAT, REPLY_RNR, REPLY_NAK, REPLY_FATAL };

struct request_error_rule {
	const char *name;
	enum request_error_reply reply;
	enum nak_code nak;
	int async; /* enum hca_async, or -1 for no event */
	enum work_status status;
	const char *meaning;
};

extern const struct request_error_rule request_error_rule[ERROR_COUNT];

#endif
