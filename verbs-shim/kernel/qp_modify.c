/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_modify: moves a QP from state to state, and queries its attributes.
 */
#include <errno.h>

#include "fabric/wire/bytes.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/path.h"
#include "verbs-shim/kernel/qp.h"

_Static_assert(TRACE_QP_RESET + STATE_ERR == TRACE_QP_ERR, "a point for each state");

#define A(name) ATTRIBUTE_##name

static struct ib_uverbs_ah_attr address_from(const struct ib_uverbs_qp_dest *dest)
{
	struct ib_uverbs_ah_attr address = {
		.grh = {.flow_label = dest->flow_label,
			.sgid_index = dest->sgid_index,
			.hop_limit = dest->hop_limit,
			.traffic_class = dest->traffic_class},
		.dlid = dest->dlid,
		.sl = dest->sl,
		.src_path_bits = dest->src_path_bits,
		.static_rate = dest->static_rate,
		.is_global = dest->is_global,
		.port_num = dest->port_num,
	};
	memcpy(address.grh.dgid, dest->dgid, 16);
	return address;
}

static struct ib_uverbs_qp_dest address_to(const struct ib_uverbs_ah_attr *address)
{
	struct ib_uverbs_qp_dest dest = {
		.flow_label = address->grh.flow_label,
		.dlid = address->dlid,
		.sgid_index = address->grh.sgid_index,
		.hop_limit = address->grh.hop_limit,
		.traffic_class = address->grh.traffic_class,
		.sl = address->sl,
		.src_path_bits = address->src_path_bits,
		.static_rate = address->static_rate,
		.is_global = address->is_global,
		.port_num = address->port_num,
	};
	memcpy(dest.dgid, address->grh.dgid, 16);
	return dest;
}

/* Refuses values that the standard or the device excludes in every transition. */
static int check_values(struct kernel *kernel, const struct ib_uverbs_modify_qp *request)
{
	uint32_t mask = request->attr_mask;
	if ((mask & A(STATE) && request->qp_state > STATE_ERR) ||
	    (mask & A(CUR_STATE) && request->cur_qp_state > STATE_ERR) ||
	    (mask & A(PORT) && request->port_num != 1) ||
	    (mask & A(PKEY_INDEX) && request->pkey_index >= device_pkey_table_length(kernel)) ||
	    (mask & A(PATH_MTU) && (request->path_mtu < 1 || request->path_mtu > 5)) ||
	    (mask & A(MAX_QP_RD_ATOMIC) &&
	     request->max_rd_atomic > limits_of_device.max_qp_init_rd_atom) ||
	    (mask & A(MAX_DEST_RD_ATOMIC) &&
	     request->max_dest_rd_atomic > limits_of_device.max_qp_rd_atom) ||
	    (mask & A(TIMEOUT) && request->timeout > 31) ||
	    (mask & A(RETRY_CNT) && request->retry_cnt > 7) ||
	    (mask & A(RNR_RETRY) && request->rnr_retry > 7) ||
	    (mask & A(MIN_RNR_TIMER) && request->min_rnr_timer > 31))
		return -EINVAL;
	if (mask & A(AV)) {
		struct ib_uverbs_ah_attr address = address_from(&request->dest);
		int error = path_check(kernel, &address);
		if (error)
			return error;
	}
	if (mask & (A(ALT_PATH) | A(PATH_MIG_STATE)))
		return kernel_refuse(kernel, "automatic path migration", EOPNOTSUPP);
	return 0;
}

/* Converts the access rights of verbs to the adapter's. */
static uint32_t responder_rights(uint32_t flags)
{
	return flags & (MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC);
}

/* Stores each attribute of the request, and passes it to the adapter. */
static void apply(const struct kernel *kernel, struct qp *qp,
		  const struct ib_uverbs_modify_qp *request, struct hca_qp_state *state)
{
	struct ib_uverbs_qp_attr *own = &qp->attributes;
	uint32_t mask = request->attr_mask;
	/* clang-format off */
#define TAKE(attribute, field, bit, target, value) \
	if (mask & A(attribute)) { \
		own->field = request->field; \
		state->target = value; \
		state->mask |= bit; \
	}
	TAKE(ACCESS_FLAGS, qp_access_flags, QP_SET_ACCESS, access,
	     responder_rights(request->qp_access_flags))
	TAKE(PKEY_INDEX, pkey_index, QP_SET_PKEY, pkey, device_pkey(kernel, request->pkey_index))
	TAKE(QKEY, qkey, QP_SET_QKEY, qkey, request->qkey)
	TAKE(PATH_MTU, path_mtu, QP_SET_MTU, mtu_bytes, 128U << request->path_mtu)
	TAKE(TIMEOUT, timeout, QP_SET_TIMEOUT, timeout, request->timeout)
	TAKE(RETRY_CNT, retry_cnt, QP_SET_RETRY, retry, request->retry_cnt)
	TAKE(RNR_RETRY, rnr_retry, QP_SET_RNR_RETRY, rnr_retry, request->rnr_retry)
	TAKE(RQ_PSN, rq_psn, QP_SET_RQ_PSN, rq_psn, request->rq_psn & MASK_24)
	TAKE(SQ_PSN, sq_psn, QP_SET_SQ_PSN, sq_psn, request->sq_psn & MASK_24)
	TAKE(MAX_QP_RD_ATOMIC, max_rd_atomic, QP_SET_MAX_RD_ATOMIC, max_rd_atomic,
	     request->max_rd_atomic)
	TAKE(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, QP_SET_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic,
	     request->max_dest_rd_atomic)
	TAKE(MIN_RNR_TIMER, min_rnr_timer, QP_SET_MIN_RNR_TIMER, min_rnr_timer,
	     request->min_rnr_timer)
	TAKE(DEST_QPN, dest_qp_num, QP_SET_DEST_QP, dest_qp, request->dest_qp_num & MASK_24)
#undef TAKE
	/* clang-format on */
	if (mask & A(PORT))
		own->port_num = request->port_num;
	if (mask & A(EN_SQD_ASYNC_NOTIFY))
		own->en_sqd_async_notify = request->en_sqd_async_notify;
	if (mask & A(AV))
		own->ah_attr = address_from(&request->dest);
}

/* Returns attributes that have no effect on one half of a connection because they belong to the
 * other half. Programs that treat XRC as RC set them. */
static uint32_t attributes_without_effect(enum qp_type type)
{
	switch (type) {
	case QP_XRC_INI:
		return A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER);
	case QP_XRC_TGT:
		return A(MAX_QP_RD_ATOMIC) | A(RETRY_CNT) | A(RNR_RETRY);
	default:
		return 0;
	}
}

static int modify(struct command *command, const struct ib_uverbs_modify_qp *asked)
{
	struct kernel *kernel = command->kernel;
	struct object *object = command_object(command, OBJECT_QP, asked->qp_handle);
	if (!object)
		return -EINVAL;
	struct qp *qp = container_of(object, struct qp, object);
	struct ib_uverbs_modify_qp applicable = *asked, *request = &applicable;
	applicable.attr_mask &= ~attributes_without_effect(qp->type);
	int error = check_values(kernel, request);
	struct hca_qp_state current, next = {0};
	if (!error)
		error = hca_qp_query(kernel->hca, object->number, &current);
	if (error)
		return error;

	/* Uses the current state that the program names, because the QP may have moved
	 * meanwhile. */
	enum qp_state from = request->attr_mask & A(CUR_STATE)
				     ? (enum qp_state)request->cur_qp_state
				     : current.state;
	enum qp_state to = request->attr_mask & A(STATE) ? (enum qp_state)request->qp_state : from;
	if (!qp_transition_allowed(from, to, qp->type, request->attr_mask))
		return -EINVAL;

	struct ib_uverbs_qp_attr before = qp->attributes;
	if (to == STATE_RESET)
		qp->attributes = (struct ib_uverbs_qp_attr){0};
	apply(kernel, qp, request, &next);
	/* each WQE of a DCI, and each connect of a DCT, has its own address; UCX sets no address in
	 * the QP */
	if (request->attr_mask & A(AV) && qp->type != QP_DCI && qp->type != QP_DCT) {
		next.path = path_build(kernel, &qp->attributes.ah_attr, object->number,
				       qp->attributes.dest_qp_num);
		next.mask |= QP_SET_PATH;
		if (!next.path)
			error = -EHOSTUNREACH;
	}
	if (qp->type == QP_DCT &&
	    to == STATE_RTR) { /* no attribute has the number; the device chooses it */
		next.max_dest_rd_atomic = (uint8_t)limits_of_device.max_qp_rd_atom;
		next.mask |= QP_SET_MAX_DEST_RD_ATOMIC;
	}
	next.state = to;
	next.mask |= QP_SET_STATE;
	if (!error)
		error = hca_qp_modify(kernel->hca, object->number, &next);
	if (error)
		qp->attributes = before;
	else if (request->attr_mask & A(STATE))
		trace(&kernel->block, TRACE_QP_RESET + (unsigned)to, 0, object->number,
		      current.state);
	return error;
}

int modify_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_modify_qp, request);
	if (request.attr_mask & ~(((uint32_t)A(DEST_QPN) << 1) - 1))
		return -EOPNOTSUPP;
	return modify(command, &request);
}

int modify_qp_ex(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_ex_modify_qp, request);
	struct ib_uverbs_ex_modify_qp_resp response = {.response_length = sizeof(response)};
	struct mlx5_ib_modify_qp_resp driver = {0};
	struct object *object;
	if (request.base.attr_mask & ~(((uint32_t)A(RATE_LIMIT) << 1) - 1))
		return -EOPNOTSUPP;
	if (request.base.attr_mask & A(RATE_LIMIT)) /* of RAW_PACKET QPs only */
		return -EINVAL;
	int error = modify(command, &request.base);
	if (!error)
		error = command_reply(command, &response, sizeof(response));
	if (error || !command->driver_out.length)
		return error;
	object = command_object(command, OBJECT_QP, request.base.qp_handle);
	if (container_of(object, struct qp, object)->type == QP_DCT)
		driver.dctn = object->number;
	driver.response_length = command_room(&command->driver_out, sizeof(driver));
	return command_reply_driver(command, &driver, sizeof(driver));
}

int query_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_query_qp, request);
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);
	if (!object)
		return -EINVAL;
	const struct qp *qp = container_of(object, struct qp, object);
	const struct ib_uverbs_qp_attr *own = &qp->attributes;
	struct hca_qp_state state;
	int error = hca_qp_query(command->kernel->hca, object->number, &state);
	if (error)
		return error;

	struct ib_uverbs_query_qp_resp response = {
		.dest = address_to(&own->ah_attr),
		.max_send_wr = qp->capacity.max_send_wr,
		.max_recv_wr = qp->capacity.max_recv_wr,
		.max_send_sge = qp->capacity.max_send_sge,
		.max_recv_sge = qp->capacity.max_recv_sge,
		.max_inline_data = qp->capacity.max_inline_data,
		.qkey = own->qkey,
		.rq_psn = state.rq_psn,
		.sq_psn = state.sq_psn,
		.dest_qp_num = own->dest_qp_num,
		.qp_access_flags = own->qp_access_flags,
		.pkey_index = own->pkey_index,
		.qp_state = (uint8_t)state.state,
		.cur_qp_state = (uint8_t)state.state,
		.path_mtu = (uint8_t)own->path_mtu,
		.sq_draining = state.state == STATE_SQD,
		.max_rd_atomic = own->max_rd_atomic,
		.max_dest_rd_atomic = own->max_dest_rd_atomic,
		.min_rnr_timer = own->min_rnr_timer,
		.port_num = own->port_num,
		.timeout = own->timeout,
		.retry_cnt = own->retry_cnt,
		.rnr_retry = own->rnr_retry,
		.sq_sig_all = qp->signal_all,
	};
	return command_reply(command, &response, sizeof(response));
}
