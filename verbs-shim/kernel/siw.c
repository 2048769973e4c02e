/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siw: see siw.h. Limits and errno values are recalled from Linux 6.1 (drivers/infiniband/sw/siw).
 */
#include "verbs-shim/kernel/siw.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/siw-abi.h>
#include <stdlib.h>

#include "hca/iwarp/rnic.h"
#include "verbs-shim/kernel/cq.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/qp.h"
#include "verbs-shim/kernel/ring.h"

enum {
	QPS_MAX = 1024 * 100,
	WRS_MAX = 1024 * 32,
	DEPTH_MAX = 128, /* IRD and ORD */
	VENDOR = 0x626d74,
	MEMORY_EXTENSIONS = 1 << 21, /* IB_DEVICE_MEM_MGT_EXTENSIONS */
};

struct siw_srq {
	struct object object;
	struct object *pd;
	uint32_t entries, sges;
};

struct rnic *siw_rnic(const struct kernel *kernel)
{
	return kernel->hca ? hca_rnic(kernel->hca) : NULL;
}

/* ---- context and device ---- */

static int siw_get_context(struct command *command)
{
	struct context *context = command->context;
	struct ib_uverbs_get_context_resp response = {.num_comp_vectors = 1};
	const struct siw_uresp_alloc_ctx driver = {.dev_id = 0};
	int error;

	if (context->established)
		return -EINVAL;
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		return error;
	context_establish(command);
	return 0;
}

static int siw_query_device(struct command *command)
{
	const uint64_t guid = __builtin_bswap64(kernel_endpoint(command->kernel)->guid);
	const struct ib_uverbs_query_device_resp response = {
		.node_guid = guid,
		.sys_image_guid = guid,
		.max_mr_size = UINT64_MAX,
		.page_size_cap = MEMORY_PAGE,
		.vendor_id = VENDOR,
		.device_cap_flags = MEMORY_EXTENSIONS,
		.max_qp = QPS_MAX,
		.max_qp_wr = WRS_MAX,
		.max_sge = SIW_MAX_SGE,
		.max_sge_rd = 1,
		.max_cq = QPS_MAX,
		.max_cqe = WRS_MAX * 100,
		.max_mr = QPS_MAX * 10,
		.max_pd = QPS_MAX,
		.max_qp_rd_atom = DEPTH_MAX,
		.max_res_rd_atom = QPS_MAX * DEPTH_MAX,
		.max_qp_init_rd_atom = DEPTH_MAX,
		.max_srq = QPS_MAX,
		.max_srq_wr = WRS_MAX * 10,
		.max_srq_sge = SIW_MAX_SGE,
		.phys_port_cnt = 1,
	};

	return command_reply(command, &response, sizeof(response));
}

/* ---- rings ---- */

/* A key has the bucket of its ring. SIW_INVAL_UOBJ_KEY is no key: libsiw takes it for an error. */
_Static_assert(SIW_INVAL_UOBJ_KEY < SIW_BUCKETS * MEMORY_PAGE, "keys are larger");

static uint64_t add_ring(struct command *command, enum rnic_ring_kind kind, uint32_t number,
			 uint32_t entries)
{
	struct context *context = command->context;
	struct siw_ring *ring = calloc(1, sizeof(*ring));
	struct siw_ring **rings = &context->rings[number % SIW_BUCKETS];

	assert(ring);
	*ring = (struct siw_ring){
		.next = *rings,
		.key = (++context->last_ring * SIW_BUCKETS + number % SIW_BUCKETS) * MEMORY_PAGE,
		.bytes = rnic_ring_bytes(kind, entries),
		.number = number,
		.kind = (uint8_t)kind};
	*rings = ring;
	return ring->key;
}

static struct siw_ring *find_ring(const struct context *context, uint64_t key)
{
	struct siw_ring *ring = context->rings[key / MEMORY_PAGE % SIW_BUCKETS];

	while (ring && ring->key != key)
		ring = ring->next;
	return ring;
}

static void forget_rings(struct context *context, uint32_t number, bool cq, bool srq)
{
	struct siw_ring **link = &context->rings[number % SIW_BUCKETS], *ring;

	while ((ring = *link)) {
		bool of_cq = ring->kind == RNIC_CQ, of_srq = ring->kind == RNIC_SRQ;

		if (ring->number != number || of_cq != cq || of_srq != srq) {
			link = &ring->next;
			continue;
		}
		*link = ring->next;
		free(ring);
	}
}

int siw_map(struct context *context, struct kernel_call *call, uint64_t key, uint64_t length)
{
	const struct siw_ring *ring = find_ring(context, key);
	uint64_t mask = MEMORY_PAGE - 1;

	if (!ring || ((length + mask) & ~mask) != ((ring->bytes + mask) & ~mask))
		return -EINVAL;
	call->ring = true;
	return 0;
}

int siw_map_ring(struct context *context, struct kernel_call *call, uint64_t key, uint64_t address)
{
	const struct siw_ring *ring = find_ring(context, key);

	if (!ring)
		return -EINVAL;
	rnic_set_ring(siw_rnic(context->file.kernel), ring->kind, ring->number, address);
	call->shared_polled[call->shared_count] = ring->kind == RNIC_CQ;
	call->shared[call->shared_count++] = (struct kernel_range){address, ring->bytes};
	return 0;
}

void siw_close(struct context *context)
{
	for (unsigned i = 0; i < SIW_BUCKETS; i++) {
		while (context->rings[i]) {
			struct siw_ring *ring = context->rings[i];

			context->rings[i] = ring->next;
			free(ring);
		}
	}
}

/* ---- completion queues ---- */

static int find_channel(struct command *command, int32_t number, struct channel **channel)
{
	struct kernel_host *host = command->kernel->host;
	struct kernel_file *file;

	*channel = NULL;
	if (number < 0)
		return 0;
	file = host->file_of(host, command->call->process, number);
	if (!file)
		return -EBADF;
	if (file->kind != KERNEL_FD_CHANNEL || file->kernel != command->kernel)
		return -EINVAL;
	*channel = container_of(file, struct channel, file);
	return 0;
}

static int siw_create_cq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_cq, request);
	struct kernel *kernel = command->kernel;
	struct rnic *rnic = siw_rnic(kernel);
	struct siw_uresp_create_cq driver = {0};
	struct channel *channel;
	struct cq *cq;
	int error;

	if (request.cqe < 1 || request.cqe > WRS_MAX * 100)
		return -EINVAL;
	error = find_channel(command, request.comp_channel, &channel);
	if (error)
		return error;
	cq = object_new(&command->context->objects, command->context, OBJECT_CQ, sizeof(*cq));
	cq->entries = (uint32_t)ring_round_up(request.cqe);
	cq->cqe_bytes = sizeof(struct siw_cqe);
	cq->object.user_handle = request.user_handle;
	cq->object.number = rnic_create_cq(rnic, command->memory, cq->entries);
	cq->channel = channel;
	if (channel)
		channel_hold(channel);
	object_numbers_add(&kernel->numbers, &cq->object);
	trace(&kernel->block, TRACE_CQ_CREATE, 0, cq->object.number, cq->entries);
	driver.cq_id = cq->object.number;
	driver.num_cqe = cq->entries;
	driver.cq_key = add_ring(command, RNIC_CQ, cq->object.number, cq->entries);
	const struct ib_uverbs_create_cq_resp response = {.cq_handle = cq->object.handle,
							  .cqe = cq->entries};
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		destroy_object(&cq->object);
	return error;
}

int siw_release_cq(struct object *object)
{
	struct kernel *kernel = object->context->file.kernel;

	forget_rings(object->context, object->number, true, false);
	rnic_destroy_cq(siw_rnic(kernel), object->number);
	return 0;
}

/* ---- shared receive queues ---- */

static int siw_create_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_srq, request);
	struct kernel *kernel = command->kernel;
	struct object *pd = command_object(command, OBJECT_PD, request.pd_handle);
	struct siw_uresp_create_srq driver = {0};
	struct siw_srq *srq;
	int error;

	if (!pd || request.max_wr < 1 || request.max_wr > WRS_MAX * 10 ||
	    request.max_sge > SIW_MAX_SGE || request.srq_limit > request.max_wr)
		return -EINVAL;
	srq = object_new(&command->context->objects, command->context, OBJECT_SRQ, sizeof(*srq));
	srq->entries = (uint32_t)ring_round_up(request.max_wr);
	srq->sges = request.max_sge;
	srq->pd = pd;
	object_hold(pd);
	srq->object.user_handle = request.user_handle;
	srq->object.number =
		rnic_create_srq(siw_rnic(kernel), command->memory, srq->entries, pd->number);
	object_numbers_add(&kernel->numbers, &srq->object);
	driver.num_rqe = srq->entries;
	driver.srq_key = add_ring(command, RNIC_SRQ, srq->object.number, srq->entries);
	const struct ib_uverbs_create_srq_resp response = {
		.srq_handle = srq->object.handle, .max_wr = srq->entries, .max_sge = srq->sges};
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		destroy_object(&srq->object);
	return error;
}

static int siw_query_srq(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_query_srq, request);
	struct object *object = command_object(command, OBJECT_SRQ, request.srq_handle);

	if (!object)
		return -EINVAL;
	const struct siw_srq *srq = container_of(object, struct siw_srq, object);
	const struct ib_uverbs_query_srq_resp response = {.max_wr = srq->entries,
							  .max_sge = srq->sges};

	return command_reply(command, &response, sizeof(response));
}

int siw_release_srq(struct object *object)
{
	struct siw_srq *srq = container_of(object, struct siw_srq, object);
	struct kernel *kernel = object->context->file.kernel;

	forget_rings(object->context, object->number, false, true);
	rnic_destroy_srq(siw_rnic(kernel), object->number);
	object_numbers_remove(&kernel->numbers, object);
	channel_forget(object->context->async, object);
	object_drop(srq->pd);
	return 0;
}

/* ---- queue pairs ---- */

static int check_qp(const struct ib_uverbs_create_qp *request, const struct qp *draft)
{
	if (request->qp_type != IB_UVERBS_QPT_RC)
		return -EOPNOTSUPP;
	if (!draft->pd || !draft->send_cq || !draft->recv_cq || (request->is_srq && !draft->srq))
		return -EINVAL;
	if (request->max_send_wr > WRS_MAX || request->max_recv_wr > WRS_MAX ||
	    request->max_send_sge > SIW_MAX_SGE || request->max_recv_sge > SIW_MAX_SGE ||
	    request->max_inline_data > SIW_MAX_INLINE)
		return -EINVAL;
	/* siw: a queue pair that neither sends nor receives */
	return request->max_send_wr || request->max_recv_wr ? 0 : -EINVAL;
}

static struct qp *new_qp(struct command *command, const struct ib_uverbs_create_qp *request,
			 const struct qp *draft, const struct rnic_qp_attr *attr)
{
	struct qp *qp =
		object_new(&command->context->objects, command->context, OBJECT_QP, sizeof(*qp));
	struct object object = qp->object;

	*qp = *draft;
	qp->object = object;
	qp->object.user_handle = request->user_handle;
	qp->object.number = rnic_create_qp(siw_rnic(command->kernel), attr);
	object_hold(qp->pd);
	object_hold(qp->send_cq);
	object_hold(qp->recv_cq);
	object_hold(qp->srq);
	object_numbers_add(&command->kernel->numbers, &qp->object);
	trace(&command->kernel->block, TRACE_QP_CREATE, 0, qp->object.number, request->qp_type);
	return qp;
}

static int siw_create_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_create_qp, request);
	struct qp draft = {
		.type = QP_RC,
		.pd = command_object(command, OBJECT_PD, request.pd_handle),
		.send_cq = command_object(command, OBJECT_CQ, request.send_cq_handle),
		.recv_cq = command_object(command, OBJECT_CQ, request.recv_cq_handle),
		.srq = request.is_srq ? command_object(command, OBJECT_SRQ, request.srq_handle)
				      : NULL,
		.signal_all = request.sq_sig_all,
		.capacity = {request.max_send_wr, request.max_recv_wr, SIW_MAX_SGE, SIW_MAX_SGE,
			     SIW_MAX_INLINE},
	};
	int error = check_qp(&request, &draft);

	if (error)
		return error;
	const struct rnic_qp_attr attr = {
		.memory = command->memory,
		.sq_entries = (uint32_t)ring_round_up(request.max_send_wr),
		.rq_entries = draft.srq ? 0 : (uint32_t)ring_round_up(request.max_recv_wr),
		.pd = draft.pd->number,
		.send_cqn = draft.send_cq->number,
		.recv_cqn = draft.recv_cq->number,
		.srqn = draft.srq ? draft.srq->number : 0,
	};
	struct qp *qp = new_qp(command, &request, &draft, &attr);
	const struct siw_uresp_create_qp driver = {
		.qp_id = qp->object.number,
		.num_sqe = attr.sq_entries,
		.num_rqe = attr.rq_entries,
		.sq_key = add_ring(command, RNIC_SQ, qp->object.number, attr.sq_entries),
		.rq_key = draft.srq
				  ? 0
				  : add_ring(command, RNIC_RQ, qp->object.number, attr.rq_entries),
	};
	const struct ib_uverbs_create_qp_resp response = {
		.qp_handle = qp->object.handle,
		.qpn = qp->object.number,
		.max_send_wr = qp->capacity.max_send_wr,
		.max_recv_wr = qp->capacity.max_recv_wr,
		.max_send_sge = qp->capacity.max_send_sge,
		.max_recv_sge = qp->capacity.max_recv_sge,
		.max_inline_data = qp->capacity.max_inline_data,
	};

	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		destroy_object(&qp->object);
	return error;
}

int siw_release_qp(struct object *object)
{
	struct qp *qp = container_of(object, struct qp, object);
	struct kernel *kernel = object->context->file.kernel;

	forget_rings(object->context, object->number, false, false);
	rnic_destroy_qp(siw_rnic(kernel), object->number);
	trace(&kernel->block, TRACE_QP_DESTROY, 0, object->number, 0);
	object_numbers_remove(&kernel->numbers, object);
	channel_forget(object->context->async, object);
	object_drop(qp->pd);
	object_drop(qp->send_cq);
	object_drop(qp->recv_cq);
	object_drop(qp->srq);
	return 0;
}

/* The connection manager moves a queue pair to RTS. A program can only end it. */
static int siw_modify_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_modify_qp, request);
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);
	struct rnic *rnic = siw_rnic(command->kernel);

	if (!object)
		return -EINVAL;
	if (request.attr_mask & 8) /* ACCESS_FLAGS */
		container_of(object, struct qp, object)->attributes.qp_access_flags =
			request.qp_access_flags;
	if (!(request.attr_mask & 1)) /* STATE */
		return 0;
	if (request.qp_state == STATE_ERR || request.qp_state == STATE_SQD)
		rnic_qp_fail(rnic, object->number);
	else if (request.qp_state == STATE_RTS && rnic_qp_state(rnic, object->number) != STATE_RTS)
		return -EINVAL;
	return 0;
}

static int siw_query_qp(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_query_qp, request);
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);

	if (!object)
		return -EINVAL;
	const struct qp *qp = container_of(object, struct qp, object);
	const uint8_t state = (uint8_t)rnic_qp_state(siw_rnic(command->kernel), object->number);
	const struct ib_uverbs_query_qp_resp response = {
		.max_send_wr = qp->capacity.max_send_wr,
		.max_recv_wr = qp->capacity.max_recv_wr,
		.max_send_sge = qp->capacity.max_send_sge,
		.max_recv_sge = qp->capacity.max_recv_sge,
		.max_inline_data = qp->capacity.max_inline_data,
		.qp_access_flags = qp->attributes.qp_access_flags,
		.qp_state = state,
		.cur_qp_state = state,
		.path_mtu = 5,
		.port_num = 1,
		.sq_sig_all = qp->signal_all,
	};

	return command_reply(command, &response, sizeof(response));
}

int post_send(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_post_send, request);
	const struct ib_uverbs_post_send_resp response = {.bad_wr = 0};
	struct object *object = command_object(command, OBJECT_QP, request.qp_handle);

	if (!siw_rnic(command->kernel))
		return kernel_refuse(command->kernel, "POST_SEND", EOPNOTSUPP);
	if (!object || request.wr_count)
		return -EINVAL;
	rnic_ring(siw_rnic(command->kernel), object->number);
	return command_reply(command, &response, sizeof(response));
}

/* ---- commands ---- */

command_function *siw_command(command_function *of_mlx5)
{
	static const struct {
		command_function *of, *run;
	} rows[] = {
		{get_context, siw_get_context}, {query_device, siw_query_device},
		{query_port, query_port},       {alloc_pd, alloc_pd},
		{dealloc_pd, dealloc_pd},       {reg_mr, reg_mr},
		{dereg_mr, dereg_mr},           {create_comp_channel, create_comp_channel},
		{create_cq, siw_create_cq},     {destroy_cq, destroy_cq},
		{create_srq, siw_create_srq},   {query_srq, siw_query_srq},
		{destroy_srq, destroy_srq},     {create_qp, siw_create_qp},
		{modify_qp, siw_modify_qp},     {query_qp, siw_query_qp},
		{destroy_qp, destroy_qp},       {post_send, post_send},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].of == of_mlx5)
			return rows[i].run;
	return NULL;
}
