/* SPDX-License-Identifier: Apache-2.0 */
/* machine: see machine.h. */
#include "tests/kernel/support/machine.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/device/hca_params.h"
#include "verbs-shim/kernel/qp_transition.h"

static struct machine *machine_of(struct kernel_host *host)
{
	return container_of(host, struct machine, host);
}

static int32_t number_of(struct machine *machine, const struct kernel_file *file)
{
	for (int32_t number = 0; number < FILES_MAX; number++) {
		if (machine->files[number] == file)
			return number;
	}
	abort();
}

static void channel_bytes(struct kernel_host *host, struct kernel_file *file, const void *bytes,
			  uint32_t length)
{
	struct machine *machine = machine_of(host);
	struct pipe_bytes *pipe = &machine->pipes[number_of(machine, file)];
	assert(pipe->length + length <= sizeof(pipe->bytes));
	memcpy(pipe->bytes + pipe->length, bytes, length);
	pipe->length += length;
}

static uint32_t channel_unread(struct kernel_host *host, struct kernel_file *file)
{
	struct machine *machine = machine_of(host);
	return machine->pipes[number_of(machine, file)].length;
}

static void channel_discard(struct kernel_host *host, struct kernel_file *file)
{
	struct machine *machine = machine_of(host);
	machine->pipes[number_of(machine, file)].length = 0;
}

static struct kernel_file *file_of(struct kernel_host *host, struct kernel_process *process,
				   int32_t number)
{
	(void)process;
	return number >= 0 && number < FILES_MAX ? machine_of(host)->files[number] : NULL;
}

static uint64_t file_identity(struct kernel_host *host, struct kernel_process *process,
			      int32_t number)
{
	(void)process;
	return number >= 0 && number < FILES_MAX ? machine_of(host)->identities[number] : 0;
}

static void not_modelled(struct kernel_host *host, const char *what, int error)
{
	struct machine *machine = machine_of(host);
	assert(error > 0);
	snprintf(machine->refused, sizeof(machine->refused), "%s", what);
	machine->refused_count++;
}

/* Does what the session does at the end of a call. */
static void place_files(struct machine *machine)
{
	struct kernel_call *call = &machine->call;
	for (uint32_t i = 0; i < call->file_count; i++) {
		int32_t number = 3;
		while (machine->files[number])
			number++;
		machine->files[number] = call->files[i].file;
		machine->kinds[number] = call->files[i].kind;
		machine->pipes[number].length = 0;
		if (call->files[i].number_at &&
		    !memory_write(call->process->memory, call->files[i].number_at, &number, 4))
			abort();
		if (call->result == 0 && call->files[i].kind == KERNEL_FD_COMMAND)
			call->result = number;
	}
}

static struct kernel_process *process_of(struct machine *machine)
{
	return machine->files[machine->command_fd]->process;
}

static void write_legacy(struct machine *machine, uint32_t command, const void *in,
			 uint32_t in_bytes, const void *driver_in, uint32_t driver_in_bytes,
			 uint32_t out_bytes)
{
	struct memory *memory = process_of(machine)->memory;
	struct ib_uverbs_cmd_hdr header = {
		command, (uint16_t)((sizeof(header) + in_bytes + driver_in_bytes) / 4),
		(uint16_t)(out_bytes / 4)};
	uint64_t response = RESPONSE_AREA;
	memory_write(memory, CALL_AREA, &header, sizeof(header));
	memory_write(memory, CALL_AREA + sizeof(header), in, in_bytes);
	if (out_bytes) /* such commands begin with the address of the answer */
		memory_write(memory, CALL_AREA + sizeof(header), &response, sizeof(response));
	if (driver_in_bytes)
		memory_write(memory, CALL_AREA + sizeof(header) + in_bytes, driver_in,
			     driver_in_bytes);
	kernel_write(machine->files[machine->command_fd], &machine->call, CALL_AREA,
		     header.in_words * 4);
	if (machine->call.result == header.in_words * 4)
		machine->call.result = 0;
}

static void write_extended(struct machine *machine, uint32_t command, const void *in,
			   uint32_t in_bytes, const void *driver_in, uint32_t driver_in_bytes,
			   uint32_t out_bytes, uint32_t driver_out_bytes)
{
	struct memory *memory = process_of(machine)->memory;
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_ex_cmd_hdr extended;
	} headers = {
		{command, (uint16_t)(in_bytes / 8), (uint16_t)(out_bytes / 8)},
		{out_bytes ? RESPONSE_AREA : 0, (uint16_t)(driver_in_bytes / 8),
		 (uint16_t)(driver_out_bytes / 8), 0},
	};
	uint64_t length = sizeof(headers) + in_bytes + driver_in_bytes;
	memory_write(memory, CALL_AREA, &headers, sizeof(headers));
	memory_write(memory, CALL_AREA + sizeof(headers), in, in_bytes);
	if (driver_in_bytes)
		memory_write(memory, CALL_AREA + sizeof(headers) + in_bytes, driver_in,
			     driver_in_bytes);
	kernel_write(machine->files[machine->command_fd], &machine->call, CALL_AREA, length);
	if (machine->call.result == (int64_t)length)
		machine->call.result = 0;
}

static void invoke(struct machine *machine, uint32_t command, const void *in, uint32_t in_bytes,
		   const void *driver_in, uint32_t driver_in_bytes, uint32_t out_bytes,
		   uint32_t driver_out_bytes)
{
	struct memory *memory = process_of(machine)->memory;
	uint64_t inputs = CALL_AREA + 0x800;
	struct ib_uverbs_ioctl_hdr header = {.object_id = UVERBS_OBJECT_DEVICE,
					     .method_id = UVERBS_METHOD_INVOKE_WRITE,
					     .driver_id = RDMA_DRIVER_MLX5};
	struct ib_uverbs_attr attributes[5];
	uint16_t count = 0;
	attributes[count++] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_WRITE_CMD,
						      .len = 4,
						      .flags = UVERBS_ATTR_F_MANDATORY,
						      .data = command};
#define ATTRIBUTE(id, length, address)                                                  \
	if (length)                                                                     \
	attributes[count++] = (struct ib_uverbs_attr){.attr_id = id,                    \
						      .len = (uint16_t)(length),        \
						      .flags = UVERBS_ATTR_F_MANDATORY, \
						      .data = address}
	ATTRIBUTE(UVERBS_ATTR_CORE_IN, in_bytes, inputs);
	if (in_bytes && in_bytes <= 8) /* as small ones travel in the attribute itself */
		memcpy(&attributes[count - 1].data, in, in_bytes);
	ATTRIBUTE(UVERBS_ATTR_UHW_IN, driver_in_bytes, inputs + 0x400);
	if (driver_in_bytes && driver_in_bytes <= 8)
		memcpy(&attributes[count - 1].data, driver_in, driver_in_bytes);
	ATTRIBUTE(UVERBS_ATTR_CORE_OUT, out_bytes, RESPONSE_AREA);
	ATTRIBUTE(UVERBS_ATTR_UHW_OUT, driver_out_bytes, RESPONSE_AREA + out_bytes);
	header.num_attrs = count;
	header.length = (uint16_t)(sizeof(header) + count * sizeof(struct ib_uverbs_attr));
	memory_write(memory, inputs, in, in_bytes);
	if (driver_in_bytes)
		memory_write(memory, inputs + 0x400, driver_in, driver_in_bytes);
	memory_write(memory, CALL_AREA, &header, sizeof(header));
	memory_write(memory, CALL_AREA + sizeof(header), attributes,
		     count * (uint32_t)sizeof(*attributes));
	kernel_ioctl(machine->files[machine->command_fd], &machine->call, RDMA_VERBS_IOCTL,
		     CALL_AREA);
}

int64_t machine_command(struct machine *machine, uint32_t command, const void *in,
			uint32_t in_bytes, const void *driver_in, uint32_t driver_in_bytes,
			void *out, uint32_t out_bytes, void *driver_out, uint32_t driver_out_bytes)
{
	struct kernel_process *process = process_of(machine);
	machine->call = (struct kernel_call){.process = process};
	if (!machine->by_write)
		invoke(machine, command, in, in_bytes, driver_in, driver_in_bytes, out_bytes,
		       driver_out_bytes);
	else if (command & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		write_extended(machine, command, in, in_bytes, driver_in, driver_in_bytes,
			       out_bytes, driver_out_bytes);
	else
		write_legacy(machine, command, in, in_bytes, driver_in, driver_in_bytes,
			     out_bytes + driver_out_bytes);
	place_files(machine);
	if (machine->call.result == 0) {
		if (out_bytes)
			memory_read(process->memory, RESPONSE_AREA, out, out_bytes);
		if (driver_out_bytes)
			memory_read(process->memory, RESPONSE_AREA + out_bytes, driver_out,
				    driver_out_bytes);
	}
	return machine->call.result;
}

int32_t machine_open(struct machine *machine, struct kernel_process *process, bool with_context)
{
	machine->call = (struct kernel_call){.process = process};
	kernel_open(machine->kernel, &machine->call, "/dev/infiniband/uverbs0", 2);
	place_files(machine);
	machine->command_fd = (int32_t)machine->call.result;
	assert(machine->command_fd > 0);
	if (!with_context)
		return machine->command_fd;
	struct ib_uverbs_get_context request = {0};
	struct ib_uverbs_get_context_resp response;
	struct mlx5_ib_alloc_ucontext_req_v2 driver = {
		.total_num_bfregs = 16, .num_low_latency_bfregs = 4, .max_cqe_version = 1};
	struct mlx5_ib_alloc_ucontext_resp driver_response;
	if (RUN_DRIVER(machine, IB_USER_VERBS_CMD_GET_CONTEXT, request, driver, response,
		       driver_response))
		abort();
	return machine->command_fd;
}

int64_t machine_close(struct machine *machine, int32_t number)
{
	struct kernel_file *file = machine->files[number];
	machine->call = (struct kernel_call){.process = file->process};
	kernel_close(file, &machine->call);
	machine->files[number] = NULL;
	return machine->call.result;
}

uint32_t machine_read(struct machine *machine, int32_t number, void *bytes, uint32_t length)
{
	struct pipe_bytes *pipe = &machine->pipes[number];
	if (length > pipe->length)
		length = pipe->length;
	memcpy(bytes, pipe->bytes, length);
	pipe->length -= length;
	memmove(pipe->bytes, pipe->bytes + length, pipe->length);
	return length;
}

static void adapter_create(struct machine *machine, enum link_layer link_layer,
			   const struct hca_params *params)
{
	machine->pool = packet_pool_create();
	machine->adapter = hca_create(machine->sim, "host0.hca", params, link_layer, machine->pool,
				      kernel_driver(machine->kernel),
				      kernel_address_resolver(machine->kernel));
}

struct machine *machine_create(enum link_layer link_layer)
{
	struct hca_params params;
	hca_params_default(&params);
	return machine_create_with(link_layer, &params);
}

struct machine *machine_create_with(enum link_layer link_layer, const struct hca_params *params)
{
	static const uint8_t addresses[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
	struct machine *machine = calloc(1, sizeof(*machine));
	assert(machine);
	machine->host = (struct kernel_host){
		.channel_write = channel_bytes,
		.channel_unread = channel_unread,
		.channel_discard = channel_discard,
		.file_of = file_of,
		.file_identity = file_identity,
		.not_modelled = not_modelled,
	};
	machine->sim = sim_create(SIM_ENGINE_native, 1);
	machine->endpoints = endpoints_create();
	endpoints_add(machine->endpoints, "host0", link_layer, addresses[0]);
	endpoints_add(machine->endpoints, "host1", link_layer, addresses[1]);
	machine->kernel = kernel_create(machine->sim, "host0.kernel", NULL, machine->endpoints, 0,
					&machine->host);
	adapter_create(machine, link_layer, params);
	kernel_attach(machine->kernel, machine->adapter);
	machine->process.memory = memory_buffer_create(MEMORY_BASE, MEMORY_BYTES);
	machine->other.memory = memory_buffer_create(MEMORY_BASE, MEMORY_BYTES);
	return machine;
}

void machine_destroy(struct machine *machine)
{
	memset(machine->pipes, 0, sizeof(machine->pipes));
	kernel_process_exit(machine->kernel, &machine->process);
	kernel_process_exit(machine->kernel, &machine->other);
	sim_run(machine->sim, SIM_NEVER); /* interrupts on their way */
	hca_destroy(machine->adapter);
	kernel_destroy(machine->kernel);
	memory_buffer_destroy(machine->process.memory);
	memory_buffer_destroy(machine->other.memory);
	endpoints_destroy(machine->endpoints);
	packet_pool_destroy(machine->pool);
	sim_destroy(machine->sim);
	free(machine);
}

uint32_t make_pd(struct machine *machine)
{
	struct ib_uverbs_alloc_pd request = {0};
	struct ib_uverbs_alloc_pd_resp response;
	struct mlx5_ib_alloc_pd_resp driver_response;
	if (machine_command(machine, IB_USER_VERBS_CMD_ALLOC_PD, &request, sizeof(request), NULL, 0,
			    &response, sizeof(response), &driver_response, sizeof(driver_response)))
		abort();
	return response.pd_handle;
}

uint32_t make_mr(struct machine *machine, uint32_t pd, uint32_t *key)
{
	struct ib_uverbs_reg_mr request = {.start = RING_AREA,
					   .length = 0x2000,
					   .hca_va = RING_AREA,
					   .pd_handle = pd,
					   .access_flags = 1};
	struct ib_uverbs_reg_mr_resp response;
	if (RUN(machine, IB_USER_VERBS_CMD_REG_MR, request, response))
		abort();
	if (key)
		*key = response.lkey;
	return response.mr_handle;
}

int32_t make_channel(struct machine *machine)
{
	struct ib_uverbs_create_comp_channel request = {0};
	struct ib_uverbs_create_comp_channel_resp response;
	if (RUN(machine, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, request, response))
		abort();
	return (int32_t)response.fd;
}

uint32_t make_cq(struct machine *machine, int32_t channel, uint64_t user_handle, uint32_t *cqn)
{
	struct ib_uverbs_create_cq request = {
		.user_handle = user_handle, .cqe = 15, .comp_channel = channel};
	struct ib_uverbs_create_cq_resp response;
	struct mlx5_ib_create_cq driver = {
		.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8000, .cqe_size = 64};
	struct mlx5_ib_create_cq_resp driver_response;
	if (RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request, driver, response,
		       driver_response))
		abort();
	if (cqn)
		*cqn = driver_response.cqn;
	return response.cq_handle;
}

uint32_t make_srq(struct machine *machine, uint32_t pd, uint32_t *srqn)
{
	struct ib_uverbs_create_srq request = {
		.user_handle = 0x5a5a, .pd_handle = pd, .max_wr = 31, .max_sge = 1};
	struct ib_uverbs_create_srq_resp response;
	struct mlx5_ib_create_srq driver = {.buf_addr = RING_AREA + 0x9000,
					    .db_addr = RING_AREA + 0x8080};
	struct mlx5_ib_create_srq_resp driver_response;
	if (RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_SRQ, request, driver, response,
		       driver_response))
		abort();
	if (srqn)
		*srqn = driver_response.srqn;
	return response.srq_handle;
}

void qp_request(struct ib_uverbs_create_qp *request, uint32_t pd, uint32_t cq, uint8_t type)
{
	*request = (struct ib_uverbs_create_qp){
		.user_handle = 0x1234,
		.pd_handle = pd,
		.send_cq_handle = cq,
		.recv_cq_handle = cq,
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.max_inline_data = 28,
		.qp_type = type,
	};
}

struct mlx5_ib_create_qp qp_driver_request(void)
{
	return (struct mlx5_ib_create_qp){
		.buf_addr = RING_AREA + 0x4000,
		.db_addr = RING_AREA + 0x8040,
		.sq_wqe_count = 16,
		.rq_wqe_count = 16,
		.rq_wqe_shift = 4,
		.flags = MLX5_QP_FLAG_SCATTER_CQE,
		.uidx = 7,
	};
}

uint32_t make_qp(struct machine *machine, uint32_t pd, uint32_t cq, uint8_t type, uint32_t *qpn)
{
	struct ib_uverbs_create_qp request;
	qp_request(&request, pd, cq, type);
	struct mlx5_ib_create_qp driver = qp_driver_request();
	struct ib_uverbs_create_qp_resp response;
	struct mlx5_ib_create_qp_resp driver_response;
	if (RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver, response,
		       driver_response))
		abort();
	if (qpn)
		*qpn = response.qpn;
	return response.qp_handle;
}

int64_t qp_to_init(struct machine *machine, uint32_t qp, uint8_t type)
{
	struct ib_uverbs_modify_qp request = {
		.qp_handle = qp,
		.attr_mask = ATTRIBUTE_STATE | ATTRIBUTE_PKEY_INDEX | ATTRIBUTE_PORT |
			     (type == IB_UVERBS_QPT_UD ? ATTRIBUTE_QKEY : ATTRIBUTE_ACCESS_FLAGS),
		.qp_state = STATE_INIT,
		.port_num = 1,
		.qkey = 0x11111111,
		.qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE,
	};
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request);
}

int64_t qp_to_rtr(struct machine *machine, uint32_t qp, uint8_t type, uint32_t remote_qp)
{
	const struct endpoint *peer = endpoints_get(machine->endpoints, 1);
	struct ib_uverbs_modify_qp request = {
		.qp_handle = qp,
		.attr_mask = ATTRIBUTE_STATE,
		.qp_state = STATE_RTR,
		.path_mtu = 5,
		.dest_qp_num = remote_qp,
		.rq_psn = 0x123456,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.dest = {.dlid = peer->lid, .port_num = 1},
	};
	if (type != IB_UVERBS_QPT_UD)
		request.attr_mask |=
			ATTRIBUTE_AV | ATTRIBUTE_PATH_MTU | ATTRIBUTE_DEST_QPN | ATTRIBUTE_RQ_PSN;
	if (type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_XRC_TGT)
		request.attr_mask |= ATTRIBUTE_MAX_DEST_RD_ATOMIC | ATTRIBUTE_MIN_RNR_TIMER;
	if (peer->link_layer == LINK_ETHERNET) {
		request.dest.is_global = 1;
		request.dest.sgid_index = 3;
		request.dest.hop_limit = 64;
		memcpy(request.dest.dgid, peer->gids[3].bytes, 16);
	}
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request);
}

int64_t qp_to_rts(struct machine *machine, uint32_t qp, uint8_t type)
{
	struct ib_uverbs_modify_qp request = {
		.qp_handle = qp,
		.attr_mask = ATTRIBUTE_STATE | ATTRIBUTE_SQ_PSN,
		.qp_state = STATE_RTS,
		.sq_psn = 0xabcdef,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	if (type == IB_UVERBS_QPT_RC || type == IB_UVERBS_QPT_XRC_INI)
		request.attr_mask |= ATTRIBUTE_TIMEOUT | ATTRIBUTE_RETRY_CNT | ATTRIBUTE_RNR_RETRY |
				     ATTRIBUTE_MAX_QP_RD_ATOMIC;
	if (type == IB_UVERBS_QPT_XRC_TGT)
		request.attr_mask |= ATTRIBUTE_TIMEOUT;
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request);
}
