/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_transition: the table.
 */
#include "verbs-shim/kernel/qp_transition.h"

#define A(name) ATTRIBUTE_##name

/* clang-format off */
#define MIGRATION  (A(ALT_PATH) | A(PATH_MIG_STATE))
#define ADDRESSING (A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN))
#define REQUESTER  (A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(SQ_PSN) | A(MAX_QP_RD_ATOMIC))
#define IN_RTS     (A(CUR_STATE) | A(ACCESS_FLAGS) | MIGRATION)
#define SQD_COMMON (A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX) | A(PATH_MIG_STATE))

/* Attributes that each type of QP needs, and further ones that it allows. A missing row is not a
 * transition. */
static const struct transition {
	enum qp_state from, to;
	struct {
		uint32_t needed, allowed;
	} by_type[QP_DCT + 1];
} transitions[] = {
	{STATE_RESET, STATE_INIT, {
		[QP_RC]      = {A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0},
		[QP_UC]      = {A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0},
		[QP_UD]      = {A(PKEY_INDEX) | A(PORT) | A(QKEY), 0},
		[QP_XRC_INI] = {A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0},
		[QP_XRC_TGT] = {A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0},
		[QP_GSI]     = {A(PKEY_INDEX) | A(QKEY), 0},
		[QP_DCI]     = {A(PKEY_INDEX) | A(PORT), 0},
		[QP_DCT]     = {A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS), 0},
	}},
	{STATE_INIT, STATE_INIT, {
		[QP_RC]      = {0, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS)},
		[QP_UC]      = {0, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS)},
		[QP_UD]      = {0, A(PKEY_INDEX) | A(PORT) | A(QKEY)},
		[QP_XRC_INI] = {0, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS)},
		[QP_XRC_TGT] = {0, A(PKEY_INDEX) | A(PORT) | A(ACCESS_FLAGS)},
		[QP_GSI]     = {0, A(PKEY_INDEX) | A(QKEY)},
		[QP_DCI]     = {0, A(PKEY_INDEX) | A(PORT)},
	}},
	{STATE_INIT, STATE_RTR, {
		[QP_RC]      = {ADDRESSING | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
				A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)},
		[QP_UC]      = {ADDRESSING, A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)},
		[QP_UD]      = {0, A(PKEY_INDEX) | A(QKEY)},
		[QP_XRC_INI] = {ADDRESSING, A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)},
		[QP_XRC_TGT] = {ADDRESSING | A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
				A(ALT_PATH) | A(ACCESS_FLAGS) | A(PKEY_INDEX)},
		[QP_GSI]     = {0, A(PKEY_INDEX) | A(QKEY)},
		[QP_DCI]     = {A(PATH_MTU), A(AV) | A(PKEY_INDEX)},
		[QP_DCT]     = {A(AV) | A(PATH_MTU) | A(MIN_RNR_TIMER), A(PKEY_INDEX)},
	}},
	{STATE_RTR, STATE_RTS, {
		[QP_RC]      = {REQUESTER, IN_RTS | A(MIN_RNR_TIMER)},
		[QP_UC]      = {A(SQ_PSN), IN_RTS},
		[QP_UD]      = {A(SQ_PSN), A(CUR_STATE) | A(QKEY)},
		[QP_XRC_INI] = {REQUESTER, IN_RTS},
		[QP_XRC_TGT] = {A(TIMEOUT) | A(SQ_PSN), IN_RTS | A(MIN_RNR_TIMER)},
		[QP_GSI]     = {A(SQ_PSN), A(CUR_STATE) | A(QKEY)},
		[QP_DCI]     = {REQUESTER, A(CUR_STATE) | A(MIN_RNR_TIMER)},
	}},
	{STATE_RTS, STATE_RTS, {
		[QP_RC]      = {0, IN_RTS | A(MIN_RNR_TIMER)},
		[QP_UC]      = {0, IN_RTS},
		[QP_UD]      = {0, A(CUR_STATE) | A(QKEY)},
		[QP_XRC_INI] = {0, IN_RTS},
		[QP_XRC_TGT] = {0, IN_RTS | A(MIN_RNR_TIMER)},
		[QP_GSI]     = {0, A(CUR_STATE) | A(QKEY)},
		[QP_DCI]     = {0, A(CUR_STATE) | A(MIN_RNR_TIMER)},
	}},
	{STATE_RTS, STATE_SQD, {
		[QP_RC]      = {0, A(EN_SQD_ASYNC_NOTIFY)},
		[QP_UC]      = {0, A(EN_SQD_ASYNC_NOTIFY)},
		[QP_UD]      = {0, A(EN_SQD_ASYNC_NOTIFY)},
		[QP_XRC_INI] = {0, A(EN_SQD_ASYNC_NOTIFY)},
		[QP_XRC_TGT] = {0, A(EN_SQD_ASYNC_NOTIFY)},
		[QP_GSI]     = {0, A(EN_SQD_ASYNC_NOTIFY)},
	}},
	{STATE_SQD, STATE_RTS, {
		[QP_RC]      = {0, IN_RTS | A(MIN_RNR_TIMER)},
		[QP_UC]      = {0, IN_RTS},
		[QP_UD]      = {0, A(CUR_STATE) | A(QKEY)},
		[QP_XRC_INI] = {0, IN_RTS},
		[QP_XRC_TGT] = {0, IN_RTS | A(MIN_RNR_TIMER)},
		[QP_GSI]     = {0, A(CUR_STATE) | A(QKEY)},
	}},
	{STATE_SQD, STATE_SQD, {
		[QP_RC]      = {0, SQD_COMMON | A(PORT) | A(AV) | A(TIMEOUT) | A(RETRY_CNT) |
				   A(RNR_RETRY) | A(MAX_QP_RD_ATOMIC) | A(MAX_DEST_RD_ATOMIC) |
				   A(MIN_RNR_TIMER)},
		[QP_UC]      = {0, SQD_COMMON | A(AV)},
		[QP_UD]      = {0, A(PKEY_INDEX) | A(QKEY)},
		[QP_XRC_INI] = {0, SQD_COMMON | A(PORT) | A(AV) | A(TIMEOUT) | A(RETRY_CNT) |
				   A(RNR_RETRY) | A(MAX_QP_RD_ATOMIC)},
		[QP_XRC_TGT] = {0, SQD_COMMON | A(PORT) | A(AV) | A(TIMEOUT) |
				   A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER)},
		[QP_GSI]     = {0, A(PKEY_INDEX) | A(QKEY)},
	}},
	{STATE_SQE, STATE_RTS, {
		[QP_UC]      = {0, A(CUR_STATE) | A(ACCESS_FLAGS)},
		[QP_UD]      = {0, A(CUR_STATE) | A(QKEY)},
		[QP_GSI]     = {0, A(CUR_STATE) | A(QKEY)},
	}},
};
/* clang-format on */

/* A DCT is never more than ready to receive, a DCI cannot be drained: modify_dci_qp_is_ok() and
 * mlx5_ib_modify_dct() of Linux. */
static bool is_of_dc(const struct transition *row, enum qp_type type)
{
	if (type == QP_DCT)
		return row->to <= STATE_RTR && row->from != row->to;
	return row->from <= STATE_RTS && row->to <= STATE_RTS;
}

/* RC and XRC have no SQE state: their errors stop both directions. */
static bool is_transition(const struct transition *row, enum qp_state from, enum qp_state to,
			  enum qp_type type)
{
	if (row->from != from || row->to != to)
		return false;
	if (type == QP_DCI || type == QP_DCT)
		return is_of_dc(row, type);
	return from != STATE_SQE || type == QP_UC || type == QP_UD || type == QP_GSI;
}

bool qp_transition_allowed(enum qp_state from, enum qp_state to, enum qp_type type, uint32_t mask)
{
	if ((mask & A(CUR_STATE)) && from != STATE_RTR && from != STATE_RTS && from != STATE_SQD &&
	    from != STATE_SQE)
		return false;
	if (to == STATE_RESET || to == STATE_ERR) /* from all states, without other attributes */
		return (to == STATE_RESET || from != STATE_RESET) && !(mask & ~(uint32_t)A(STATE));

	for (const struct transition *row = transitions;
	     row < transitions + ARRAY_SIZE(transitions); row++) {
		if (!is_transition(row, from, to, type))
			continue;
		uint32_t needed = row->by_type[type].needed, allowed = row->by_type[type].allowed;
		return (mask & needed) == needed && !(mask & ~(needed | allowed | A(STATE)));
	}
	return false;
}
