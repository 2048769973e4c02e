/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink: see netlink.h. A request concerns all devices (a dump, which ends with a message
 * NLMSG_DONE) or one device, by its index. An error is a message NLMSG_ERROR. An acknowledgement is
 * also a message NLMSG_ERROR, with error 0, if the request asks for it.
 *
 * Source: <rdma/rdma_netlink.h>, <linux/netlink.h>. The attributes of a response and their order
 * are recalled from the Linux driver core (infiniband/core/nldev.c).
 */
#include "verbs-shim/kernel/netlink.h"
#include "hca/device/hw_counters.h"

#include <assert.h>
#include <errno.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/siw-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "fabric/wire/bytes.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/netlink_list.h"
#include "verbs-shim/kernel/siw.h"

#define REQUEST_BYTES 1024 /* the rest of a longer request is not read */
#define DEVICE_INDEX  0
#define NODE_CA       1                /* IBTA vol. 1, 14.2.5.3 */
#define NODE_RNIC     4                /* enum rdma_node_type of Linux */
#define TYPE_MASK     UINT16_C(0x3fff) /* without NLA_F_NESTED and NLA_F_NET_BYTEORDER */

enum { NETNS_SHARED = 1 };

struct request {
	struct kernel *kernel;
	struct kernel_file *file;
	struct nlmsghdr header;
	const uint8_t *attributes[RDMA_NLDEV_ATTR_MAX]; /* values; NULL: absent */
	uint16_t lengths[RDMA_NLDEV_ATTR_MAX];
};

/* ---- answers ---- */

static struct nlmsg begin(const struct request *request, uint16_t type, uint16_t flags)
{
	struct nlmsghdr header = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = request->header.nlmsg_seq,
		.nlmsg_pid = (uint32_t)request->file->process->pid,
	};
	struct nlmsg message;

	nlmsg_begin(&message, &header);
	return message;
}

static void reply(const struct request *request, struct nlmsg *message)
{
	struct kernel_host *host = request->kernel->host;

	nlmsg_end(message);
	host->channel_write(host, request->file, message->bytes, message->length);
}

/* ---- queries ---- */

static bool on_ethernet(const struct kernel *kernel)
{
	return kernel_endpoint(kernel)->link_layer == LINK_ETHERNET;
}

static void put_name(const struct kernel *kernel, struct nlmsg *message)
{
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, DEVICE_INDEX);
	nlmsg_put_text(message, RDMA_NLDEV_ATTR_DEV_NAME, device_name(kernel));
}

static int device(const struct request *request, struct nlmsg *message)
{
	const struct kernel *kernel = request->kernel;
	char firmware[32];

	put_name(kernel, message);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, limits_of_device.phys_port_cnt);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_CAP_FLAGS, limits_of_device.device_cap_flags);
	snprintf(firmware, sizeof(firmware), "%d.%d.%04d", FIRMWARE_MAJOR, FIRMWARE_MINOR,
		 FIRMWARE_PATCH);
	nlmsg_put_text(message, RDMA_NLDEV_ATTR_FW_VERSION, firmware);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_NODE_GUID, kernel_endpoint(kernel)->guid);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, kernel_endpoint(kernel)->guid);
	nlmsg_put_u8(message, RDMA_NLDEV_ATTR_DEV_NODE_TYPE,
		     siw_rnic(kernel) ? NODE_RNIC : NODE_CA);
	nlmsg_put_text(message, RDMA_NLDEV_ATTR_DEV_PROTOCOL, on_ethernet(kernel) ? "roce" : "ib");
	return 0;
}

static int port(const struct request *request, struct nlmsg *message)
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
	put_name(kernel, message);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	if (!on_ethernet(kernel)) {
		nlmsg_put_u64(message, RDMA_NLDEV_ATTR_CAP_FLAGS, state.port_cap_flags);
		nlmsg_put_u64(message, RDMA_NLDEV_ATTR_SUBNET_PREFIX,
			      be64_get(kernel_endpoint(kernel)->gids[0].bytes));
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_LID, state.lid);
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_SM_LID, state.sm_lid);
		nlmsg_put_u8(message, RDMA_NLDEV_ATTR_LMC, state.lmc);
	}
	nlmsg_put_u8(message, RDMA_NLDEV_ATTR_PORT_STATE, state.state);
	nlmsg_put_u8(message, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, state.phys_state);
	if (on_ethernet(kernel)) {
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_NDEV_INDEX, NETWORK_INTERFACE_INDEX);
		nlmsg_put_text(message, RDMA_NLDEV_ATTR_NDEV_NAME, NETWORK_INTERFACE);
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

static void put_count(struct nlmsg *message, const char *name, uint64_t count)
{
	uint32_t entry = nlmsg_nest(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	nlmsg_put_text(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
	nlmsg_nest_end(message, entry);
}

/* Counts the objects of programs. The kernel itself has none. */
static int resources(const struct request *request, struct nlmsg *message)
{
	const struct kernel *kernel = request->kernel;
	uint32_t table, ids = 0, contexts = 0;

	for (const struct cm_id *id = kernel->cm_ids; id; id = id->next)
		ids++;
	for (const struct context *context = kernel->contexts; context; context = context->next)
		contexts += context->established;
	put_name(kernel, message);
	table = nlmsg_nest(message, RDMA_NLDEV_ATTR_RES_SUMMARY);
	put_count(message, "pd", count_objects(kernel, OBJECT_PD));
	put_count(message, "cq", count_objects(kernel, OBJECT_CQ));
	put_count(message, "qp", count_objects(kernel, OBJECT_QP));
	put_count(message, "cm_id", ids);
	put_count(message, "mr", count_objects(kernel, OBJECT_MR));
	put_count(message, "ctx", contexts);
	put_count(message, "srq", count_objects(kernel, OBJECT_SRQ));
	nlmsg_nest_end(message, table);
	return 0;
}

/* Returns the hw_counters of the port. Single queue pairs have no counters. */
static int statistic(const struct request *request, struct nlmsg *message)
{
	const struct kernel *kernel = request->kernel;
	uint32_t number = 0, table;

	if (request->attributes[RDMA_NLDEV_ATTR_STAT_RES])
		return kernel_refuse(request->kernel, "rdma statistic of queue pairs or regions",
				     EOPNOTSUPP);
	if (request->attributes[RDMA_NLDEV_ATTR_PORT_INDEX])
		memcpy(&number, request->attributes[RDMA_NLDEV_ATTR_PORT_INDEX], sizeof(number));
	if (number != 1)
		return -EINVAL;
	put_name(kernel, message);
	nlmsg_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, number);
	table = nlmsg_nest(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	for (const struct hw_counter *counter = hw_counters; counter->name; counter++) {
		uint32_t entry;

		if (counter->of_port || (counter->of_roce && !on_ethernet(kernel)))
			continue;
		entry = nlmsg_nest(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
		nlmsg_put_text(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter->name);
		nlmsg_put_u64(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
			      counter->value(kernel->hca));
		nlmsg_nest_end(message, entry);
	}
	nlmsg_nest_end(message, table);
	return 0;
}

/* Sends the file of /dev/infiniband that belongs to an interface. */
static int character_device(const struct request *request, struct nlmsg *message)
{
	const char *type = (const char *)request->attributes[RDMA_NLDEV_ATTR_CHARDEV_TYPE];
	bool verbs = type && strcmp(type, "uverbs") == 0;
	bool rnic = siw_rnic(request->kernel);

	if (!type)
		return -EINVAL;
	if (!verbs && strcmp(type, "rdma_cm") != 0)
		return -ENOENT;
	if (verbs && !request->attributes[RDMA_NLDEV_ATTR_DEV_INDEX])
		return -EINVAL;
	if (verbs)
		nlmsg_put_u32(message, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID,
			      rnic ? RDMA_DRIVER_SIW : RDMA_DRIVER_MLX5);
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_CHARDEV,
		      verbs ? makedev(VERBS_MAJOR, VERBS_MINOR) : makedev(CM_MAJOR, CM_MINOR));
	nlmsg_put_u64(message, RDMA_NLDEV_ATTR_CHARDEV_ABI,
		      !verbs ? RDMA_USER_CM_ABI_VERSION
		      : rnic ? SIW_ABI_VERSION
			     : MLX5_IB_UVERBS_ABI_VERSION);
	nlmsg_put_text(message, RDMA_NLDEV_ATTR_CHARDEV_NAME, verbs ? "uverbs0" : "rdma_cm");
	return 0;
}

/* Reports that a forked child has its own pages, so that ibv_fork_init() need not protect them. */
static int system_wide(const struct request *request, struct nlmsg *message)
{
	(void)request;
	nlmsg_put_u8(message, RDMA_NLDEV_SYS_ATTR_NETNS_MODE, NETNS_SHARED);
	nlmsg_put_u8(message, RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, 1);
	return 0;
}

/* ---- requests ---- */

static const struct method {
	int (*fill)(const struct request *request,
		    /* returns 0 or -errno; NULL: a list, or not supported */
		    struct nlmsg *message);
	bool dumps;
	bool of_device; /* requires DEV_INDEX */
	bool always;    /* dumped too */
} methods[RDMA_NLDEV_NUM_OPS] = {
#define LIST                                                           \
	{                                                              \
		NULL, .dumps = true, .of_device = true, .always = true \
	}
	[RDMA_NLDEV_CMD_GET] = {device, .dumps = true, .of_device = true},
	[RDMA_NLDEV_CMD_PORT_GET] = {port, .dumps = true, .of_device = true, .always = true},
	[RDMA_NLDEV_CMD_RES_GET] = {resources, .dumps = true, .of_device = true},
	[RDMA_NLDEV_CMD_RES_QP_GET] = LIST,
	[RDMA_NLDEV_CMD_RES_CQ_GET] = LIST,
	[RDMA_NLDEV_CMD_RES_MR_GET] = LIST,
	[RDMA_NLDEV_CMD_RES_PD_GET] = LIST,
	[RDMA_NLDEV_CMD_STAT_GET] = {statistic, .of_device = true},
	[RDMA_NLDEV_CMD_SYS_GET] = {.fill = system_wide},
	[RDMA_NLDEV_CMD_GET_CHARDEV] = {.fill = character_device},
};

static int parse(struct request *request, const uint8_t *bytes, uint32_t length)
{
	for (uint32_t at = sizeof(struct nlmsghdr); at + sizeof(struct nlattr) <= length;) {
		struct nlattr header;
		uint16_t type;

		memcpy(&header, bytes + at, sizeof(header));
		type = header.nla_type & TYPE_MASK;
		if (header.nla_len < sizeof(struct nlattr) || at + header.nla_len > length)
			return -EINVAL;
		if (type < RDMA_NLDEV_ATTR_MAX) {
			request->attributes[type] = bytes + at + sizeof(struct nlattr);
			request->lengths[type] = (uint16_t)(header.nla_len - sizeof(struct nlattr));
		}
		at += nlmsg_aligned(header.nla_len);
	}
	return 0;
}

/* Checks the attributes that are read. */
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

static void finish_dump(struct request *request)
{
	static const int32_t error = 0;
	struct nlmsg message = begin(request, NLMSG_DONE, NLM_F_MULTI);

	nlmsg_append(&message, &error, sizeof(error));
	reply(request, &message);
	request->header.nlmsg_flags &= (uint16_t)~NLM_F_ACK;
}

/* Sends as many messages as the list needs. */
static void dump_list(struct request *request, const struct netlink_list *list)
{
	const struct object *object = netlink_list_next(request->kernel, list, NULL);

	do {
		struct nlmsg message = begin(request, request->header.nlmsg_type, NLM_F_MULTI);
		uint32_t table;

		put_name(request->kernel, &message);
		table = nlmsg_nest(&message, list->table);
		while (object && message.length + NETLINK_LIST_ENTRY_BYTES <= NLMSG_BYTES) {
			uint32_t entry = nlmsg_nest(&message, list->table + 1);

			list->put(request->kernel, object, &message);
			nlmsg_nest_end(&message, entry);
			object = netlink_list_next(request->kernel, list, object);
		}
		nlmsg_nest_end(&message, table);
		reply(request, &message);
	} while (object);
	finish_dump(request);
}

static int carry_out_list(struct request *request, const struct netlink_list *list)
{
	const uint8_t *index = request->attributes[list->index];
	struct nlmsg message = begin(request, request->header.nlmsg_type, 0);
	const struct object *object = NULL;
	uint32_t number;

	if (request->header.nlmsg_flags & NLM_F_DUMP) {
		dump_list(request, list);
		return 0;
	}
	if (!index || request->lengths[list->index] < sizeof(number))
		return -EINVAL;
	memcpy(&number, index, sizeof(number));
	do
		object = netlink_list_next(request->kernel, list, object);
	while (object && netlink_list_index(list, object) != number);
	if (!object)
		return -ENOENT;
	put_name(request->kernel, &message);
	list->put(request->kernel, object, &message);
	reply(request, &message);
	return 0;
}

static int carry_out(struct request *request, const uint8_t *bytes)
{
	uint16_t type = request->header.nlmsg_type;
	uint32_t number = RDMA_NL_GET_OP(type);
	const struct method *method = number < ARRAY_SIZE(methods) ? &methods[number] : NULL;
	const struct netlink_list *list = netlink_list_of(number);
	bool dump;
	int error;

	if (RDMA_NL_GET_CLIENT(type) != RDMA_NL_NLDEV || !method)
		return -EINVAL;
	if (!method->fill && !list)
		return kernel_refuse(request->kernel,
				     "a command of RDMA netlink (rdma ... set ...)", EOPNOTSUPP);
	dump = method->dumps && request->header.nlmsg_flags & NLM_F_DUMP;
	error = parse(request, bytes, request->header.nlmsg_len);
	if (!error)
		error = check(request, method, dump);
	if (error)
		return error;
	if (list)
		return carry_out_list(request, list);

	struct nlmsg message = begin(request, type, dump ? NLM_F_MULTI : 0);
	error = method->fill(request, &message);
	if (error)
		return error;
	reply(request, &message);
	if (dump) {
		finish_dump(request);
	}
	return 0;
}

static void acknowledge(const struct request *request, int error)
{
	struct nlmsg message = begin(request, NLMSG_ERROR, 0);
	struct nlmsgerr body = {.error = error, .msg = request->header};

	nlmsg_append(&message, &body, sizeof(body));
	reply(request, &message);
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
	while (left >= sizeof(struct nlmsghdr)) {
		struct request request = {.kernel = file->kernel, .file = file};
		uint32_t step;
		int error;

		memcpy(&request.header, at, sizeof(request.header));
		if (request.header.nlmsg_len < sizeof(struct nlmsghdr) ||
		    request.header.nlmsg_len > left)
			return;
		error = request.header.nlmsg_flags & NLM_F_REQUEST ? carry_out(&request, at) : 0;
		if (error || request.header.nlmsg_flags & NLM_F_ACK)
			acknowledge(&request, error);
		step = nlmsg_aligned(request.header.nlmsg_len);
		at += step;
		left -= step < left ? step : left;
	}
}

void netlink_close(struct kernel_file *file)
{
	file_fini(file);
	free(file);
}
