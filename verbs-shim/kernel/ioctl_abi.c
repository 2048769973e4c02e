/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ioctl_abi: RDMA_VERBS_IOCTL: a header and attributes, <rdma/rdma_user_ioctl_cmds.h>. Supports the
 * method that wraps a write command, and the queries of port and GIDs. Other methods are reported
 * as unsupported. libibverbs then uses the write commands, as on older kernels; see
 * docs/reference/verbs.md.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/siw.h"

#define ATTRIBUTES_MAX 64

struct request {
	struct command *command;
	uint64_t address; /* address of the first attribute */
	struct ib_uverbs_attr attributes[ATTRIBUTES_MAX];
	uint32_t count;
};

/* Returns an attribute, or NULL if it is absent. */
static const struct ib_uverbs_attr *attribute(const struct request *request, uint16_t id)
{
	for (uint32_t i = 0; i < request->count; i++) {
		if (request->attributes[i].attr_id == id)
			return &request->attributes[i];
	}
	return NULL;
}

/* Refuses a mandatory attribute that the method does not know, so that user space falls back to an
 * older interface. */
static int check_known(const struct request *request, const uint16_t *known, uint32_t count)
{
	for (uint32_t i = 0; i < request->count; i++) {
		bool found = false;
		for (uint32_t j = 0; j < count; j++)
			found |= request->attributes[i].attr_id == known[j];
		if (!found && (request->attributes[i].flags & UVERBS_ATTR_F_MANDATORY))
			return -EPROTONOSUPPORT;
	}
	return 0;
}

static int attribute_in(const struct request *request, uint16_t id, struct command_in *in)
{
	const struct ib_uverbs_attr *from = attribute(request, id);
	if (!from)
		return 0;
	if (from->len > COMMAND_IN_MAX)
		return -EINVAL;
	in->length = from->len;
	if (from->len <= sizeof(from->data)) {
		memcpy(in->bytes, &from->data, from->len);
		return 0;
	}
	return memory_read(request->command->memory, from->data, in->bytes, from->len) ? 0
										       : -EFAULT;
}

static void attribute_out(const struct request *request, uint16_t id, struct command_out *out)
{
	const struct ib_uverbs_attr *to = attribute(request, id);
	if (!to)
		return;
	uint64_t index = (uint64_t)(to - request->attributes);
	*out = (struct command_out){
		.address = to->data,
		.length = to->len,
		.flags_at = request->address + index * sizeof(*to) +
			    offsetof(struct ib_uverbs_attr, flags),
		.flags = to->flags,
	};
}

/* Reads a number that fits into the attribute itself. */
static int attribute_number(const struct request *request, uint16_t id, uint32_t length,
			    uint64_t *number)
{
	const struct ib_uverbs_attr *from = attribute(request, id);
	if (!from || from->len < length || from->len > sizeof(from->data))
		return -EINVAL;
	*number = from->data;
	if (from->len < sizeof(*number))
		*number &= (UINT64_C(1) << 8 * from->len) - 1;
	return 0;
}

static int reply_to(const struct request *request, uint16_t id, const void *bytes, uint32_t length)
{
	attribute_out(request, id, &request->command->core_out);
	return command_reply(request->command, bytes, length);
}

static int invoke_write(struct request *request)
{
	static const uint16_t known[] = {UVERBS_ATTR_CORE_IN, UVERBS_ATTR_CORE_OUT,
					 UVERBS_ATTR_WRITE_CMD, UVERBS_ATTR_UHW_IN,
					 UVERBS_ATTR_UHW_OUT};
	struct command *command = request->command;
	uint64_t number;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_WRITE_CMD, sizeof(uint32_t), &number);
	if (!error)
		error = attribute_in(request, UVERBS_ATTR_CORE_IN, &command->core);
	if (!error)
		error = attribute_in(request, UVERBS_ATTR_UHW_IN, &command->driver);
	if (error)
		return error;
	attribute_out(request, UVERBS_ATTR_CORE_OUT, &command->core_out);
	attribute_out(request, UVERBS_ATTR_UHW_OUT, &command->driver_out);
	return write_abi_command(command, (uint32_t)number);
}

static int query_port_method(struct request *request)
{
	static const uint16_t known[] = {UVERBS_ATTR_QUERY_PORT_PORT_NUM,
					 UVERBS_ATTR_QUERY_PORT_RESP};
	struct ib_uverbs_query_port_resp_ex response = {0};
	uint64_t port;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, &port);
	if (!error)
		error = device_port(request->command->kernel, port, &response.legacy_resp);
	if (error)
		return error;
	request->command->call->latency = request->command->kernel->params.query_latency;
	return reply_to(request, UVERBS_ATTR_QUERY_PORT_RESP, &response, sizeof(response));
}

/* Implements mlx5dv_query_port(), which reports the port of the adapter's switch between virtual
 * functions. There is no such switch, as on an adapter that is not in switchdev mode. */
static int query_switch_port(struct request *request)
{
	static const uint16_t known[] = {MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, MLX5_IB_ATTR_QUERY_PORT};
	struct mlx5_ib_uapi_query_port response = {0};
	struct ib_uverbs_query_port_resp port;
	uint64_t number;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, 4, &number);
	if (!error)
		error = device_port(request->command->kernel, number, &port);
	if (error)
		return error;
	return reply_to(request, MLX5_IB_ATTR_QUERY_PORT, &response, sizeof(response));
}

static int query_gid_entry(struct request *request)
{
	static const uint16_t known[] = {
		UVERBS_ATTR_QUERY_GID_ENTRY_PORT, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX,
		UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY};
	struct ib_uverbs_gid_entry entry;
	uint64_t port, index, flags;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, &port);
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4, &index);
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, &flags);
	if (!error && flags)
		error = -EOPNOTSUPP;
	if (!error)
		error = device_gid(request->command->kernel, port, index, &entry);
	if (error)
		return error;
	return reply_to(request, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
}

static int query_gid_table(struct request *request)
{
	static const uint16_t known[] = {UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE,
					 UVERBS_ATTR_QUERY_GID_TABLE_FLAGS,
					 UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
					 UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES};
	struct ib_uverbs_gid_entry entries[ENDPOINT_GIDS];
	uint64_t entry_bytes, flags, count = 0;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 4,
					 &entry_bytes);
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, &flags);
	if (error)
		return error;
	if (flags)
		return -EOPNOTSUPP;
	if (entry_bytes < sizeof(*entries))
		return -EINVAL;
	const struct ib_uverbs_attr *room =
		attribute(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	if (!room)
		return -EINVAL;

	while (count < ENDPOINT_GIDS &&
	       !device_gid(request->command->kernel, 1, count, &entries[count]))
		count++;
	if (count * entry_bytes > room->len)
		return -EINVAL;
	for (uint64_t i = 0; i < count && !error; i++)
		error = command_copy_out(request->command, room->data + i * entry_bytes,
					 &entries[i], sizeof(entries[i]));
	if (error)
		return error;
	return reply_to(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &count,
			sizeof(count));
}

static int advise_method(struct request *request)
{
	static const uint16_t known[] = {UVERBS_ATTR_ADVISE_MR_PD_HANDLE,
					 UVERBS_ATTR_ADVISE_MR_ADVICE, UVERBS_ATTR_ADVISE_MR_FLAGS,
					 UVERBS_ATTR_ADVISE_MR_SGE_LIST};
	struct command *command = request->command;
	const struct ib_uverbs_attr *pd = attribute(request, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	struct ib_uverbs_sge list[COMMAND_IN_MAX / sizeof(struct ib_uverbs_sge)];
	uint64_t advice, flags;
	int error = check_known(request, known, ARRAY_SIZE(known));
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_ADVISE_MR_ADVICE, 4, &advice);
	if (!error)
		error = attribute_number(request, UVERBS_ATTR_ADVISE_MR_FLAGS, 4, &flags);
	if (!error)
		error = attribute_in(request, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &command->core);
	if (error)
		return error;
	if (!pd || flags & ~(uint64_t)IB_UVERBS_ADVISE_MR_FLAG_FLUSH || !command->core.length ||
	    command->core.length % sizeof(*list))
		return -EINVAL;
	memcpy(list, command->core.bytes, command->core.length);
	return advise_mr(command, (uint32_t)pd->data, advice,
			 flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH, list,
			 command->core.length / (uint32_t)sizeof(*list));
}

static const struct method {
	uint16_t object, method;
	int (*run)(struct request *request);
} methods[] = {
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, invoke_write},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, query_port_method},
	{UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT, query_switch_port},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, query_gid_table},
	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, query_gid_entry},
	{UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, advise_method},
};

/* Returns true for methods that libibverbs and libmlx5 can replace: by a write command, by the
 * static doorbell pages instead of a private one, or by the capabilities of GET_CONTEXT. */
static bool has_substitute(uint16_t object, uint16_t method)
{
	static const struct {
		uint16_t object, method;
	} substituted[] = {
		{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT},
		{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY},
		{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE},
		{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY},
		{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE},
		{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY},
		{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE},
		{UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY},
		{UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY},
		{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY},
		{UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY},
		{UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY},
		{MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC},
		{MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER},
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(substituted); i++) {
		if (substituted[i].object == object && substituted[i].method == method)
			return true;
	}
	return false;
}

static const char *method_name(uint16_t object)
{
	/* clang-format off */
	static const char *const names[] = {
		[UVERBS_OBJECT_DEVICE] = "ioctl on DEVICE",
		[UVERBS_OBJECT_PD] = "ioctl on PD",
		[UVERBS_OBJECT_COMP_CHANNEL] = "ioctl on COMP_CHANNEL",
		[UVERBS_OBJECT_CQ] = "ioctl on CQ",
		[UVERBS_OBJECT_QP] = "ioctl on QP",
		[UVERBS_OBJECT_SRQ] = "ioctl on SRQ",
		[UVERBS_OBJECT_AH] = "ioctl on AH",
		[UVERBS_OBJECT_MR] = "ioctl on MR (query, device memory, dma-buf)",
		[UVERBS_OBJECT_MW] = "ioctl on MW",
		[UVERBS_OBJECT_FLOW] = "ioctl on FLOW",
		[UVERBS_OBJECT_XRCD] = "ioctl on XRCD",
		[UVERBS_OBJECT_RWQ_IND_TBL] = "ioctl on RWQ_IND_TBL",
		[UVERBS_OBJECT_WQ] = "ioctl on WQ",
		[UVERBS_OBJECT_FLOW_ACTION] = "ioctl on FLOW_ACTION",
		[UVERBS_OBJECT_DM] = "ioctl on DM",
		[UVERBS_OBJECT_COUNTERS] = "ioctl on COUNTERS",
		[UVERBS_OBJECT_ASYNC_EVENT] = "ioctl on ASYNC_EVENT",
	};
	/* clang-format on */
	if (object < ARRAY_SIZE(names))
		return names[object];
	return "ioctl on an mlx5 object (DEVX, UAR, VAR, flow matcher ...)";
}

int ioctl_abi_command(struct command *command, uint64_t argument)
{
	struct ib_uverbs_ioctl_hdr header;
	struct request request = {.command = command, .address = argument + sizeof(header)};
	if (!memory_read(command->memory, argument, &header, sizeof(header)))
		return -EFAULT;
	if (header.num_attrs > ATTRIBUTES_MAX ||
	    header.length != sizeof(header) + header.num_attrs * sizeof(struct ib_uverbs_attr))
		return -EINVAL;
	if (header.reserved1 || header.reserved2)
		return -EPROTONOSUPPORT;
	if (header.driver_id != (siw_rnic(command->kernel) ? RDMA_DRIVER_SIW : RDMA_DRIVER_MLX5))
		return -EINVAL;
	request.count = header.num_attrs;
	if (request.count && !memory_read(command->memory, request.address, request.attributes,
					  request.count * (uint32_t)sizeof(*request.attributes)))
		return -EFAULT;

	for (uint32_t i = 0; i < ARRAY_SIZE(methods); i++) {
		if (methods[i].object != header.object_id || methods[i].method != header.method_id)
			continue;
		if (methods[i].run != invoke_write && !command->context->established)
			return -EINVAL;
		return methods[i].run(&request);
	}
	if (has_substitute(header.object_id, header.method_id))
		return -EPROTONOSUPPORT;
	return kernel_refuse(command->kernel, method_name(header.object_id), EPROTONOSUPPORT);
}
