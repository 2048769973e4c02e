/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_abi: uverbs commands that arrive by write() on the command file, or by the ioctl method
 * INVOKE_WRITE: <rdma/ib_user_verbs.h>. One table has the function, the lengths and the time of
 * each command.
 */
#include <errno.h>

#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/netlink.h"
#include "verbs-shim/kernel/siw.h"

#define END_OF(structure, member) \
	(offsetof(struct structure, member) + sizeof(((struct structure *)0)->member))
#define NO_RESPONSE 0
#define COST(name)  offsetof(struct kernel_params, name##_latency)

static const struct write_row {
	const char *name;
	command_function *run; /* NULL: refused */
	uint32_t in, out;      /* least lengths of the common part */
	size_t cost;           /* in struct kernel_params */
} write_rows[] = {
/* clang-format off */
#define ROW(number, run, in, out, cost) \
	[IB_USER_VERBS_CMD_##number] = {#number, run, in, out, COST(cost)}
#define REFUSED(number) [IB_USER_VERBS_CMD_##number] = {#number, NULL, 0, 0, COST(call)}
#define SIZE(structure) sizeof(struct ib_uverbs_##structure)
	ROW(GET_CONTEXT, get_context, SIZE(get_context), SIZE(get_context_resp), open),
	ROW(QUERY_DEVICE, query_device, SIZE(query_device), SIZE(query_device_resp), call),
	ROW(QUERY_PORT, query_port, SIZE(query_port), SIZE(query_port_resp), query),
	ROW(ALLOC_PD, alloc_pd, SIZE(alloc_pd), SIZE(alloc_pd_resp), query),
	ROW(DEALLOC_PD, dealloc_pd, SIZE(dealloc_pd), NO_RESPONSE, query),
	ROW(CREATE_AH, create_ah, SIZE(create_ah), SIZE(create_ah_resp), call),
	REFUSED(MODIFY_AH),
	REFUSED(QUERY_AH),
	ROW(DESTROY_AH, destroy_ah, SIZE(destroy_ah), NO_RESPONSE, call),
	ROW(REG_MR, reg_mr, SIZE(reg_mr), SIZE(reg_mr_resp), register),
	REFUSED(REG_SMR),
	ROW(REREG_MR, rereg_mr, SIZE(rereg_mr), SIZE(rereg_mr_resp), register),
	REFUSED(QUERY_MR),
	ROW(DEREG_MR, dereg_mr, SIZE(dereg_mr), NO_RESPONSE, register),
	ROW(ALLOC_MW, alloc_mw, SIZE(alloc_mw), SIZE(alloc_mw_resp), register),
	REFUSED(BIND_MW),
	ROW(DEALLOC_MW, dealloc_mw, SIZE(dealloc_mw), NO_RESPONSE, register),
	ROW(CREATE_COMP_CHANNEL, create_comp_channel,
	    SIZE(create_comp_channel), SIZE(create_comp_channel_resp), call),
	ROW(CREATE_CQ, create_cq, SIZE(create_cq), SIZE(create_cq_resp), create),
	ROW(RESIZE_CQ, resize_cq, SIZE(resize_cq), 4, create),
	ROW(DESTROY_CQ, destroy_cq, SIZE(destroy_cq), SIZE(destroy_cq_resp), destroy),
	REFUSED(POLL_CQ),
	REFUSED(PEEK_CQ),
	REFUSED(REQ_NOTIFY_CQ),
	ROW(CREATE_QP, create_qp, SIZE(create_qp), SIZE(create_qp_resp), create_qp),
	ROW(QUERY_QP, query_qp, SIZE(query_qp), SIZE(query_qp_resp), query),
	ROW(MODIFY_QP, modify_qp, SIZE(modify_qp), NO_RESPONSE, modify_qp),
	ROW(DESTROY_QP, destroy_qp, SIZE(destroy_qp), SIZE(destroy_qp_resp), destroy),
	ROW(POST_SEND, post_send, SIZE(post_send), SIZE(post_send_resp), call),
	REFUSED(POST_RECV),
	ROW(ATTACH_MCAST, attach_mcast, SIZE(attach_mcast), NO_RESPONSE, query),
	ROW(DETACH_MCAST, detach_mcast, SIZE(detach_mcast), NO_RESPONSE, query),
	ROW(CREATE_SRQ, create_srq, SIZE(create_srq), SIZE(create_srq_resp), create),
	ROW(MODIFY_SRQ, modify_srq, SIZE(modify_srq), NO_RESPONSE, query),
	ROW(QUERY_SRQ, query_srq, SIZE(query_srq), SIZE(query_srq_resp), query),
	ROW(DESTROY_SRQ, destroy_srq, SIZE(destroy_srq), SIZE(destroy_srq_resp), destroy),
	REFUSED(POST_SRQ_RECV),
	ROW(OPEN_XRCD, open_xrcd, SIZE(open_xrcd), SIZE(open_xrcd_resp), query),
	ROW(CLOSE_XRCD, close_xrcd, SIZE(close_xrcd), NO_RESPONSE, query),
	ROW(CREATE_XSRQ, create_xsrq, SIZE(create_xsrq), SIZE(create_srq_resp), create),
	REFUSED(OPEN_QP),
#undef ROW
#undef REFUSED
	/* clang-format on */
};

static const struct write_row extended_rows[] = {
/* clang-format off */
#define ROW(number, run, in, out, cost) \
	[IB_USER_VERBS_EX_CMD_##number] = {"EX_" #number, run, in, out, COST(cost)}
#define REFUSED(number) \
	[IB_USER_VERBS_EX_CMD_##number] = {"EX_" #number, NULL, 0, 0, COST(call)}
	ROW(QUERY_DEVICE, query_device_ex,
	    SIZE(ex_query_device), END_OF(ib_uverbs_ex_query_device_resp, response_length), call),
	ROW(CREATE_CQ, create_cq_ex, SIZE(ex_create_cq), SIZE(ex_create_cq_resp), create),
	ROW(CREATE_QP, create_qp_ex,
	    END_OF(ib_uverbs_ex_create_qp, create_flags), SIZE(ex_create_qp_resp), create_qp),
	ROW(MODIFY_QP, modify_qp_ex, SIZE(modify_qp), SIZE(ex_modify_qp_resp), modify_qp),
	REFUSED(CREATE_FLOW),
	REFUSED(DESTROY_FLOW),
	REFUSED(CREATE_WQ),
	REFUSED(MODIFY_WQ),
	REFUSED(DESTROY_WQ),
	REFUSED(CREATE_RWQ_IND_TBL),
	REFUSED(DESTROY_RWQ_IND_TBL),
	ROW(MODIFY_CQ, modify_cq, SIZE(ex_modify_cq), NO_RESPONSE, query),
	/* clang-format on */
};

static const struct write_row *row_of(uint32_t number)
{
	bool extended = number & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	uint32_t index = number & ~IB_USER_VERBS_CMD_FLAG_EXTENDED;
	if (index >= (extended ? ARRAY_SIZE(extended_rows) : ARRAY_SIZE(write_rows)))
		return NULL;
	const struct write_row *row = extended ? &extended_rows[index] : &write_rows[index];
	return row->name ? row : NULL;
}

bool write_abi_command_sizes(uint32_t number, uint32_t *in, uint32_t *out)
{
	const struct write_row *row = row_of(number);
	if (!row || (number & IB_USER_VERBS_CMD_FLAG_EXTENDED))
		return false;
	*in = row->in;
	*out = row->out;
	return true;
}

int write_abi_command(struct command *command, uint32_t number)
{
	struct kernel *kernel = command->kernel;
	const struct write_row *row = row_of(number);
	if (!row)
		return -EINVAL;
	command_function *run = row->run;
	if (run && siw_rnic(kernel)) {
		run = siw_command(run);
		if (!run)
			return -EOPNOTSUPP;
	}
	if (!run)
		return kernel_refuse(kernel, row->name, EOPNOTSUPP);
	if (command->core.length < row->in || command->core_out.length < row->out)
		return -ENOSPC;
	if (!command->context->established && row->run != get_context)
		return -EINVAL;
	command->call->latency =
		*(const sim_time *)(const void *)((const char *)&kernel->params + row->cost);
	return run(command);
}

static bool copy_in(struct command *command, struct command_in *in, uint64_t address,
		    uint64_t length)
{
	in->length = (uint32_t)length;
	return length == 0 || memory_read(command->memory, address, in->bytes, in->length);
}

/* header | common part, which begins with the address of the answer | driver's part */
static int legacy_write(struct command *command, const struct ib_uverbs_cmd_hdr *header,
			uint64_t bytes)
{
	uint32_t in, out;
	uint64_t in_bytes = (uint64_t)header->in_words * 4,
		 out_bytes = (uint64_t)header->out_words * 4;
	if (!write_abi_command_sizes(header->command, &in, &out))
		return -EINVAL;
	in_bytes -= sizeof(*header);
	if (in_bytes < in || out_bytes < out)
		return -ENOSPC;
	if (in_bytes - in > COMMAND_IN_MAX)
		return -EINVAL;
	bytes += sizeof(*header);
	if (!copy_in(command, &command->core, bytes, in) ||
	    !copy_in(command, &command->driver, bytes + in, in_bytes - in))
		return -EFAULT;
	if (out) {
		uint64_t response;
		memcpy(&response, command->core.bytes, sizeof(response));
		command->core_out = (struct command_out){.address = response, .length = out};
		command->driver_out = (struct command_out){.address = response + out,
							   .length = (uint32_t)out_bytes - out};
	}
	return write_abi_command(command, header->command);
}

/* header | extended header | common part | driver's part; lengths in words of 8 bytes */
static int extended_write(struct command *command, const struct ib_uverbs_cmd_hdr *header,
			  uint64_t bytes)
{
	struct ib_uverbs_ex_cmd_hdr extended;
	uint64_t in = (uint64_t)header->in_words * 8, out = (uint64_t)header->out_words * 8;
	if (!memory_read(command->memory, bytes + sizeof(*header), &extended, sizeof(extended)))
		return -EFAULT;
	uint64_t driver_in = (uint64_t)extended.provider_in_words * 8;
	uint64_t driver_out = (uint64_t)extended.provider_out_words * 8;
	if (extended.cmd_hdr_reserved)
		return -EINVAL;
	if (extended.response ? !out && !driver_out : out || driver_out)
		return -EINVAL;
	if (in > COMMAND_IN_MAX || driver_in > COMMAND_IN_MAX)
		return -EINVAL;
	bytes += sizeof(*header) + sizeof(extended);
	if (!copy_in(command, &command->core, bytes, in) ||
	    !copy_in(command, &command->driver, bytes + in, driver_in))
		return -EFAULT;
	command->core_out =
		(struct command_out){.address = extended.response, .length = (uint32_t)out};
	command->driver_out = (struct command_out){.address = extended.response + out,
						   .length = (uint32_t)driver_out};
	return write_abi_command(command, header->command);
}

static int write_bytes(struct command *command, uint64_t bytes, uint64_t length)
{
	struct ib_uverbs_cmd_hdr header;
	if (length < sizeof(header))
		return -EINVAL;
	if (!memory_read(command->memory, bytes, &header, sizeof(header)))
		return -EFAULT;
	if (header.command & ~(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK))
		return -EINVAL;
	if (!(header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED)) {
		if ((uint64_t)header.in_words * 4 != length)
			return -EINVAL;
		return legacy_write(command, &header, bytes);
	}

	struct ib_uverbs_ex_cmd_hdr extended;
	uint64_t headers = sizeof(header) + sizeof(extended);
	if (length < headers)
		return -EINVAL;
	if (!memory_read(command->memory, bytes + sizeof(header), &extended, sizeof(extended)))
		return -EFAULT;
	if (((uint64_t)header.in_words + extended.provider_in_words) * 8 != length - headers)
		return -EINVAL;
	return extended_write(command, &header, bytes);
}

void kernel_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		  uint64_t length)
{
	if (file->kind == KERNEL_FD_MESSAGE) {
		cm_write(file, call, bytes, length);
		return;
	}
	if (file->kind == KERNEL_FD_NETLINK) {
		netlink_write(file, call, bytes, length);
		return;
	}
	if (file->kind != KERNEL_FD_COMMAND) {
		call->result = -EINVAL;
		return;
	}
	struct command command = command_of(file, call);
	call->latency = file->kernel->params.call_latency;
	int error = write_bytes(&command, bytes, length);
	call->result = error ? error : (int64_t)length;
}
