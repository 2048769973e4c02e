/*
 * netlink: see netlink.h. A request is about all devices (a dump, which a message NLMSG_DONE ends) or about one, by its index; an
 * error, or 0 where the asker wants an acknowledgment, is a message NLMSG_ERROR.
 *
 * Source: <rdma/rdma_netlink.h>, <linux/netlink.h>. Which attributes an answer has, and in which order: recalled, of the Linux
 * driver core (infiniband/core/nldev.c).
 */
#include "verbs-shim/kernel/netlink.h"

#include <assert.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "fabric/wire/bytes.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/limits.h"

#define REQUEST_BYTES 1024 /* of which more is not read */
#define MESSAGE_BYTES 1024
#define DEVICE_INDEX  0
#define NODE_CA       1 /* IBTA vol. 1, 14.2.5.3 */

enum { NETNS_SHARED = 1 };

#define TYPE_MASK    UINT16_C(0x3fff) /* without NLA_F_NESTED and NLA_F_NET_BYTEORDER */
#define HEADER_BYTES sizeof(struct nlmsghdr)
#define VALUE_AT     sizeof(struct nlattr)

/* The headers' own macros are of mixed signs. */
static uint32_t aligned(uint32_t length)
{
	return (length + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

struct message {
	_Alignas(8) uint8_t bytes[MESSAGE_BYTES];
	uint32_t length;
};

struct request {
	struct kernel *kernel;
	struct kernel_file *file;
	struct nlmsghdr header;
	const uint8_t *attributes[RDMA_NLDEV_ATTR_MAX]; /* their values; NULL: absent */
	uint16_t lengths[RDMA_NLDEV_ATTR_MAX];
};

/* ---- answers ---- */

static void put(struct message *message, uint16_t type, const void *bytes, size_t length)
{
	struct nlattr header = {.nla_len = (uint16_t)(VALUE_AT + length), .nla_type = type};

	assert(message->length + aligned(header.nla_len) <= sizeof(message->bytes));
	memcpy(message->bytes + message->length, &header, sizeof(header));
	memcpy(message->bytes + message->length + VALUE_AT, bytes, length);
	message->length += aligned(header.nla_len);
}

static void put_u8(struct message *message, uint16_t type, uint8_t value)
{
	put(message, type, &value, sizeof(value));
}

static void put_u32(struct message *message, uint16_t type, uint32_t value)
{
	put(message, type, &value, sizeof(value));
}

static void put_u64(struct message *message, uint16_t type, uint64_t value)
{
	put(message, type, &value, sizeof(value));
}

static void put_text(struct message *message, uint16_t type, const char *text)
{
	put(message, type, text, strlen(text) + 1);
}

/* An attribute of attributes: those that are put before nest_end(), which takes what this returns. */
static uint32_t nest_begin(struct message *message, uint16_t type)
{
	uint32_t at = message->length;

	put(message, type, NULL, 0);
	return at;
}

static void nest_end(struct message *message, uint32_t at)
{
	uint16_t length = (uint16_t)(message->length - at);

	memcpy(message->bytes + at + offsetof(struct nlattr, nla_len), &length, sizeof(length));
}

static struct message begin(const struct request *request, uint16_t type, uint16_t flags)
{
	struct message message = {.length = HEADER_BYTES};
	struct nlmsghdr header = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = request->header.nlmsg_seq,
		.nlmsg_pid = (uint32_t)request->file->process->pid,
	};

	memcpy(message.bytes, &header, sizeof(header));
	return message;
}

static void answer(const struct request *request, struct message *message)
{
	struct kernel_host *host = request->kernel->host;
	uint32_t length = message->length;

	memcpy(message->bytes + offsetof(struct nlmsghdr, nlmsg_len), &length, sizeof(length));
	host->channel_write(host, request->file, message->bytes, length);
}

/* ---- what there is ---- */

static bool on_ethernet(const struct kernel *kernel)
{
	return kernel_endpoint(kernel)->link_layer == LINK_ETHERNET;
}

static void put_name(struct message *message)
{
	put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, DEVICE_INDEX);
	put_text(message, RDMA_NLDEV_ATTR_DEV_NAME, DEVICE_NAME);
}

static int device(const struct request *request, struct message *message)
{
	const struct kernel *kernel = request->kernel;
	char firmware[32];

	put_name(message);
	put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, device_limits.phys_port_cnt);
	put_u64(message, RDMA_NLDEV_ATTR_CAP_FLAGS, device_limits.device_cap_flags);
	snprintf(firmware, sizeof(firmware), "%d.%d.%04d", FIRMWARE_MAJOR, FIRMWARE_MINOR,
		 FIRMWARE_PATCH);
	put_text(message, RDMA_NLDEV_ATTR_FW_VERSION, firmware);
	put_u64(message, RDMA_NLDEV_ATTR_NODE_GUID, kernel_endpoint(kernel)->guid);
	put_u64(message, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, kernel_endpoint(kernel)->guid);
	put_u8(message, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, NODE_CA);
	put_text(message, RDMA_NLDEV_ATTR_DEV_PROTOCOL, on_ethernet(kernel) ? "roce" : "ib");
	return 0;
}

static int port(const struct request *request, struct message *message)
{
	const struct kernel *kernel = request->kernel;
	struct ib_uverbs_query_port_resp state;
	uint32_t number = 1;
	int error;

	if (request->attributes[RDMA_NLDEV_ATTR_PORT_INDEX])
		memcpy(&number, request->attributes[RDMA_NLDEV_ATTR_PORT_INDEX], sizeof(number));
	else if (!(request->header.nlmsg_flags & NLM_F_DUMP))
		return -EINVAL;
	error = device_port(kernel, number, &state);
	if (error)
		return error;
	put_name(message);
	put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (!on_ethernet(kernel)) {
		put_u64(message, RDMA_NLDEV_ATTR_CAP_FLAGS, state.port_cap_flags);
		put_u64(message, RDMA_NLDEV_ATTR_SUBNET_PREFIX,
			be64_get(kernel_endpoint(kernel)->gids[0].bytes));
		put_u32(message, RDMA_NLDEV_ATTR_LID, state.lid);
		put_u32(message, RDMA_NLDEV_ATTR_SM_LID, state.sm_lid);
		put_u8(message, RDMA_NLDEV_ATTR_LMC, state.lmc);
	}
	put_u8(message, RDMA_NLDEV_ATTR_PORT_STATE, state.state);
	put_u8(message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, state.phys_state);
	if (on_ethernet(kernel)) {
		put_u32(message, RDMA_NLDEV_ATTR_NDEV_INDEX, NETWORK_INTERFACE_INDEX);
		put_text(message, RDMA_NLDEV_ATTR_NDEV_NAME, NETWORK_INTERFACE);
	}
	return 0;
}

static uint32_t count_objects(const struct kernel *kernel, enum object_type type)
{
	uint32_t count = 0;

	for (const struct context *context = kernel->contexts; context; context = context->next)
		for (const struct object *object = context->objects.newest; object;
		     object = object->older)
			count += object->type == type;
	return count;
}

static void put_count(struct message *message, const char *name, uint64_t count)
{
	uint32_t entry = nest_begin(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	put_text(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	put_u64(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
	nest_end(message, entry);
}

/* What programs have; the kernel itself has nothing. */
static int resources(const struct request *request, struct message *message)
{
	const struct kernel *kernel = request->kernel;
	uint32_t table, ids = 0, contexts = 0;

	for (const struct cm_id *id = kernel->cm_ids; id; id = id->next)
		ids++;
	for (const struct context *context = kernel->contexts; context; context = context->next)
		contexts += context->established;
	put_name(message);
	table = nest_begin(message, RDMA_NLDEV_ATTR_RES_SUMMARY);
	put_count(message, "pd", count_objects(kernel, OBJECT_PD));
	put_count(message, "cq", count_objects(kernel, OBJECT_CQ));
	put_count(message, "qp", count_objects(kernel, OBJECT_QP));
	put_count(message, "cm_id", ids);
	put_count(message, "mr", count_objects(kernel, OBJECT_MR));
	put_count(message, "ctx", contexts);
	put_count(message, "srq", count_objects(kernel, OBJECT_SRQ));
	nest_end(message, table);
	return 0;
}

/* Which file of /dev/infiniband one of the interfaces is. */
static int character_device(const struct request *request, struct message *message)
{
	const char *type = (const char *)request->attributes[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	bool verbs = type && strcmp(type, "uverbs") == 0;

	if (!type)
		return -EINVAL;
	if (!verbs && strcmp(type, "rdma_cm") != 0)
		return -ENOENT;
	if (verbs && !request->attributes[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EINVAL;
	if (verbs)
		put_u32(message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, RDMA_DRIVER_MLX5);
	put_u64(message, RDMA_NLDEV_ATTR_CHARDEV,
		verbs ? makedev(VERBS_MAJOR, VERBS_MINOR) : makedev(CM_MAJOR, CM_MINOR));
	put_u64(message, RDMA_NLDEV_ATTR_CHARDEV_ABI,
		verbs ? MLX5_IB_UVERBS_ABI_VERSION : RDMA_USER_CM_ABI_VERSION);
	put_text(message, RDMA_NLDEV_ATTR_CHARDEV_NAME, verbs ? "uverbs0" : "rdma_cm");
	return 0;
}

/* A forked child has pages of its own at once: nothing is to be kept from it (ibv_fork_init()). */
static int system_wide(const struct request *request, struct message *message)
{
	(void)request;
	put_u8(message, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, NETNS_SHARED);
	put_u8(message, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	return 0;
}

/* ---- requests ---- */

static const struct method {
	int (*fill)(const struct request *request, struct message *message); /* 0 or -errno */
	bool dumps;
	bool of_device; /* alone: DEV_INDEX has to say which */
	bool always;    /* dumped too */
} methods[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = {device, .dumps = true, .of_device = true},
	[RDMA_NLDEV_CMD_PORT_GET] = {port, .dumps = true, .of_device = true, .always = true},
	[RDMA_NLDEV_CMD_RES_GET] = {resources, .dumps = true, .of_device = true},
	[RDMA_NLDEV_CMD_SYS_GET] = {system_wide},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {character_device},
};

static int parse(struct request *request, const uint8_t *bytes, uint32_t length)
{
	for (uint32_t at = HEADER_BYTES; at + VALUE_AT <= length;) {
		struct nlattr header;
		uint16_t type;

		memcpy(&header, bytes + at, sizeof(header));
		type = header.nla_type & TYPE_MASK;
		if (header.nla_len < VALUE_AT || at + header.nla_len > length)
			return -EINVAL;
		if (type < RDMA_NLDEV_ATTR_MAX) {
			request->attributes[type] = bytes + at + VALUE_AT;
			request->lengths[type] = (uint16_t)(header.nla_len - VALUE_AT);
		}
		at += aligned(header.nla_len);
	}
	return 0;
}

/* Of those that are read. */
static int check(const struct request *request, const struct method *method, bool dump)
{
	const uint8_t *index = request->attributes[RDMA_NLDEV_ATTR_DEV_INDEX];
	const uint8_t *port_index = request->attributes[RDMA_NLDEV_ATTR_PORT_INDEX];
	const uint8_t *type = request->attributes[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	uint16_t type_length = request->lengths[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	uint32_t number = DEVICE_INDEX;

	if ((index && request->lengths[RDMA_NLDEV_ATTR_DEV_INDEX] < sizeof(number)) ||
	    (port_index && request->lengths[RDMA_NLDEV_ATTR_PORT_INDEX] < sizeof(number)) ||
	    (type && !memchr(type, 0, type_length)))
		return -EINVAL;
	if (method->of_device && (!dump || method->always) && !index)
		return -EINVAL;
	if (index)
		memcpy(&number, index, sizeof(number));
	return number == DEVICE_INDEX ? 0 : -ENODEV;
}

static int carry_out(struct request *request, const uint8_t *bytes)
{
	uint16_t type = request->header.nlmsg_type;
	uint32_t number = RDMA_NL_GET_OP(type);
	const struct method *method = number < ARRAY_SIZE(methods) ? &methods[number] : NULL;
	bool dump;
	int error;

	if (RDMA_NL_GET_CLIENT(type) != RDMA_NL_NLDEV || !method)
		return -EINVAL;
	if (!method->fill)
		return kernel_refuse(request->kernel,
				     "a command of RDMA netlink (rdma ... set, statistic, lists)",
				     EOPNOTSUPP);
	dump = method->dumps && request->header.nlmsg_flags & NLM_F_DUMP;
	error = parse(request, bytes, request->header.nlmsg_len);
	if (!error)
		error = check(request, method, dump);
	if (error)
		return error;

	struct message message = begin(request, type, dump ? NLM_F_MULTI : 0);
	error = method->fill(request, &message);
	if (error)
		return error;
	answer(request, &message);
	if (dump) {
		message = begin(request, NLMSG_DONE, NLM_F_MULTI);
		message.length += (uint32_t)sizeof(int32_t); /* 0 */
		answer(request, &message);
		request->header.nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	}
	return 0;
}

static void acknowledge(const struct request *request, int error)
{
	struct message message = begin(request, NLMSG_ERROR, 0);
	struct nlmsgerr body = {.error = error, .msg = request->header};

	memcpy(message.bytes + message.length, &body, sizeof(body));
	message.length += (uint32_t)sizeof(body);
	answer(request, &message);
}

void netlink_open(struct kernel *kernel, struct kernel_call *call)
{
	struct kernel_file *file = calloc(1, sizeof(*file));

	assert(file);
	file_init(file, kernel, call->process, KERNEL_FD_NETLINK);
	call->files[call->file_count++] =
		(struct kernel_new_file){.file = file, .kind = KERNEL_FD_NETLINK};
	call->result = 0;
}

void netlink_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		   uint64_t length)
{
	uint8_t in[REQUEST_BYTES];
	uint32_t left = length < sizeof(in) ? (uint32_t)length : sizeof(in);
	const uint8_t *at = in;

	call->latency = file->kernel->params.call_latency;
	call->result = (int64_t)length;
	if (!memory_read(call->process->memory, bytes, in, left)) {
		call->result = -EFAULT;
		return;
	}
	while (left >= HEADER_BYTES) {
		struct request request = {.kernel = file->kernel, .file = file};
		uint32_t step;
		int error;

		memcpy(&request.header, at, sizeof(request.header));
		if (request.header.nlmsg_len < HEADER_BYTES || request.header.nlmsg_len > left)
			return;
		error = request.header.nlmsg_flags & NLM_F_REQUEST ? carry_out(&request, at) : 0;
		if (error || request.header.nlmsg_flags & NLM_F_ACK)
			acknowledge(&request, error);
		step = aligned(request.header.nlmsg_len);
		at += step;
		left -= step < left ? step : left;
	}
}

void netlink_close(struct kernel_file *file)
{
	file_fini(file);
	free(file);
}
