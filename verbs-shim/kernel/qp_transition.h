/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_transition: attributes that a modification of a QP must or may contain, by transition and QP
 * type: IBTA vol. 1, 11.2.5.2, tables 91 to 96.
 */
#ifndef VERBS_SHIM_KERNEL_QP_TRANSITION_H
#define VERBS_SHIM_KERNEL_QP_TRANSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "hca/device/hca.h"

/* X(name, bit): enum ib_qp_attr_mask of the verbs ABI */
/* clang-format off */
#define QP_ATTRIBUTES(X) \
	X(STATE, 0) X(CUR_STATE, 1) X(EN_SQD_ASYNC_NOTIFY, 2) X(ACCESS_FLAGS, 3) \
	X(PKEY_INDEX, 4) X(PORT, 5) X(QKEY, 6) X(AV, 7) X(PATH_MTU, 8) X(TIMEOUT, 9) \
	X(RETRY_CNT, 10) X(RNR_RETRY, 11) X(RQ_PSN, 12) X(MAX_QP_RD_ATOMIC, 13) \
	X(ALT_PATH, 14) X(MIN_RNR_TIMER, 15) X(SQ_PSN, 16) \
	X(MAX_DEST_RD_ATOMIC, 17) X(PATH_MIG_STATE, 18) X(CAP, 19) X(DEST_QPN, 20) X(RATE_LIMIT, 25)
#define QP_ATTRIBUTE_ENUM(name, bit) ATTRIBUTE_##name = 1U << (bit),
enum qp_attribute { QP_ATTRIBUTES(QP_ATTRIBUTE_ENUM) };
/* clang-format on */

/* Returns true if the transition allows this attribute mask. */
bool qp_transition_allowed(enum qp_state from, enum qp_state to, enum qp_type type, uint32_t mask);

#endif
