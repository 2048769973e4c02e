/* SPDX-License-Identifier: Apache-2.0 */
/* cm: see cm.h. Files, identifiers, the queue of events, and the table of commands. */
#include "verbs-shim/kernel/cm.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PORT_FIRST 49152 /* first of the ports assigned to callers without a preference */

void cm_open(struct kernel *kernel, struct kernel_call *call)
{
	struct cm_file *file = calloc(1, sizeof(*file));

	assert(file);
	file_init(&file->file, kernel, call->process, KERNEL_FD_MESSAGE);
	call->files[call->file_count++] =
		(struct kernel_new_file){.file = &file->file, .kind = KERNEL_FD_MESSAGE};
	call->result = 0;
}

struct cm_id *cm_find(const struct kernel *kernel, uint32_t handle)
{
	struct cm_id *id = kernel->cm_ids;

	while (id && id->handle != handle)
		id = id->next;
	return id;
}

struct cm_id *cm_new(struct kernel *kernel, struct cm_file *file, uint64_t uid)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	assert(id);
	*id = (struct cm_id){
		.file = file, .next = kernel->cm_ids, .handle = kernel->cm_last++, .uid = uid};
	kernel->cm_ids = id;
	return id;
}

/* Keeps one byte in the program's file as long as there are events, so that poll() reports it. */
static void show(struct cm_file *file, bool had)
{
	struct kernel_host *host = file->file.kernel->host;

	if (!had && file->events)
		host->channel_write(host, &file->file, "", 1);
	else if (had && !file->events)
		host->channel_discard(host, &file->file);
}

static void append(struct cm_file *file, struct cm_event *event)
{
	struct cm_event **end = &file->events;
	bool had = file->events;

	while (*end)
		end = &(*end)->next;
	*end = event;
	show(file, had);
}

struct cm_event *cm_notify(struct cm_id *id, enum cm_event_type what, int status)
{
	struct cm_event *event = calloc(1, sizeof(*event));

	assert(event);
	event->id = event->reports = id;
	event->response = (struct rdma_ucm_event_resp){
		.uid = id->uid, .id = id->handle, .event = what, .status = (uint32_t)status};
	append(id->file, event);
	return event;
}

/* Takes an identifier's events out of its file's queue, in order. */
static struct cm_event *take_events(struct cm_id *id)
{
	struct cm_event *taken = NULL, **end = &taken, **link = &id->file->events;
	bool had = *link;

	while (*link) {
		struct cm_event *event = *link;

		if (event->id != id && event->reports != id) {
			link = &event->next;
			continue;
		}
		*link = event->next;
		event->next = NULL;
		*end = event;
		end = &event->next;
	}
	show(id->file, had);
	return taken;
}

void cm_free(struct cm_id *id)
{
	struct kernel *kernel = id->file->file.kernel;
	struct cm_event *events = take_events(id);
	struct cm_id **link = &kernel->cm_ids;

	while (*link != id)
		link = &(*link)->next;
	*link = id->next;
	cm_leave_groups(id);
	cm_leave(id);
	while (events) {
		struct cm_event *event = events;

		events = event->next;
		if (event->id != id) /* a request that was not reported */
			cm_free(event->id);
		free(event);
	}
	free(id);
}

void cm_forget_events(struct cm_membership *membership)
{
	struct cm_event **link = &membership->id->file->events;
	bool had = *link;

	while (*link) {
		struct cm_event *event = *link;

		if (event->membership != membership) {
			link = &event->next;
			continue;
		}
		*link = event->next;
		free(event);
	}
	show(membership->id->file, had);
}

int cm_reply(struct cm_call *call, uint64_t address, const void *bytes, uint32_t length)
{
	uint32_t count = length < call->out_bytes ? length : call->out_bytes;

	return memory_write(call->call->process->memory, address, bytes, count) ? 0 : -EFAULT;
}

static int create_id(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_create_id, request);
	struct rdma_ucm_create_id_resp response;

	if (call->out_bytes < sizeof(response))
		return -ENOSPC;
	if (request.ps == RDMA_PS_IB) /* how the library finds out about AF_IB */
		return -EOPNOTSUPP;
	if (!(request.ps == RDMA_PS_TCP && request.qp_type == CM_QP_RC) &&
	    !(request.ps == RDMA_PS_UDP && request.qp_type == CM_QP_UD))
		return kernel_refuse(call->kernel,
				     "rdma_cm for other QPs than RC (port space TCP) and UD (UDP)",
				     EOPNOTSUPP);
	struct cm_id *id = cm_new(call->kernel, call->file, request.uid);

	id->qp_type = request.qp_type;
	response.id = id->handle;
	return cm_reply(call, request.response, &response, sizeof(response));
}

static int destroy_id(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_destroy_id, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	struct rdma_ucm_destroy_id_resp response = {.events_reported = id->events_reported};

	cm_free(id);
	return cm_reply(call, request.response, &response, sizeof(response));
}

static bool is_taken(const struct kernel *kernel, const struct cm_id *id, in_port_t port)
{
	for (const struct cm_id *other = kernel->cm_ids; other; other = other->next)
		if (other != id && other->source.sin6_port == port &&
		    other->qp_type == id->qp_type &&
		    (other->state == CM_BOUND || other->state == CM_LISTENING) &&
		    !(other->reuses_address && id->reuses_address))
			return true;
	return false;
}

int cm_bind(struct cm_id *id, const struct sockaddr_in6 *to)
{
	const struct kernel *kernel = id->file->file.kernel;
	struct sockaddr_in6 address = *to;

	if (!cm_address_known(&address))
		return -EAFNOSUPPORT;
	if (!cm_address_is_any(&address) && !cm_address_is_of(kernel_endpoint(kernel), &address))
		return -EADDRNOTAVAIL;
	for (uint16_t port = PORT_FIRST; !address.sin6_port && port; port++)
		if (!is_taken(kernel, id, htons(port)))
			address.sin6_port = htons(port);
	if (!address.sin6_port || is_taken(kernel, id, address.sin6_port))
		return -EADDRINUSE;
	id->source = address;
	id->state = CM_BOUND;
	return 0;
}

static int bind_ip(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_bind_ip, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state != CM_IDLE)
		return -EINVAL;
	return cm_bind(id, &request.addr);
}

static int listen_for(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_listen, request);
	struct cm_id *id = cm_own(call, request.id);

	if (!id)
		return -ENOENT;
	if (id->state != CM_BOUND)
		return -EINVAL;
	id->state = CM_LISTENING;
	id->backlog = request.backlog > 0 && request.backlog < 1024 ? request.backlog : 1024;
	return 0;
}

static int get_event(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_get_event, request);
	struct cm_event *event = call->file->events;

	if (call->out_bytes < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	if (!event)
		return -EAGAIN; /* a blocking caller waits until the file is readable */
	int error = cm_reply(call, request.response, &event->response, sizeof(event->response));

	if (error)
		return error;
	call->file->events = event->next;
	event->reports->events_reported++;
	if (event->membership)
		event->membership->events_reported++;
	show(call->file, true);
	free(event);
	return 0;
}

static int migrate_id(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_migrate_id, request);
	struct kernel_host *host = call->kernel->host;
	struct kernel_file *from = host->file_of(host, call->call->process, (int32_t)request.fd);
	struct cm_id *id = cm_find(call->kernel, request.id);

	if (!id || !from || id->file != container_of(from, struct cm_file, file))
		return -ENOENT;
	struct rdma_ucm_migrate_resp response = {.events_reported = id->events_reported};
	struct cm_event *events = take_events(id);

	id->file = call->file;
	while (events) {
		struct cm_event *event = events;

		events = event->next;
		event->next = NULL;
		event->id->file = call->file;
		append(call->file, event);
	}
	return cm_reply(call, request.response, &response, sizeof(response));
}

static int set_option(struct cm_call *call)
{
	CM_INPUT(call, rdma_ucm_set_option, request);
	struct cm_id *id = cm_own(call, request.id);
	uint8_t value[4] = {0};

	if (!id)
		return -ENOENT;
	if (request.level != RDMA_OPTION_ID || request.optlen < 1 || request.optlen > 4)
		return kernel_refuse(call->kernel, "an option of rdma_cm", ENOSYS);
	if (!memory_read(call->call->process->memory, request.optval, value, request.optlen))
		return -EFAULT;
	switch (request.optname) {
	case RDMA_OPTION_ID_REUSEADDR:
		id->reuses_address = value[0];
		return 0;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		id->ack_timeout = value[0] & 31;
		return 0;
	case RDMA_OPTION_ID_AFONLY:
		id->own_family_only = value[0];
		return 0;
	case RDMA_OPTION_ID_TOS:
		id->type_of_service = value[0];
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct cm_row {
	const char *name;
	int (*run)(struct cm_call *call); /* NULL: not modelled */
	uint32_t in;
} cm_rows[] = {
/* clang-format off */
#define ROW(number, run, structure) \
	[RDMA_USER_CM_CMD_##number] = {"rdma_cm " #number, run, sizeof(struct structure)}
#define REFUSED(number) [RDMA_USER_CM_CMD_##number] = {"rdma_cm " #number, NULL, 0}
	ROW(CREATE_ID,     create_id,        rdma_ucm_create_id),
	ROW(DESTROY_ID,    destroy_id,       rdma_ucm_destroy_id),
	ROW(BIND_IP,       bind_ip,          rdma_ucm_bind_ip),
	ROW(RESOLVE_IP,    cm_resolve_ip,    rdma_ucm_resolve_ip),
	ROW(RESOLVE_ROUTE, cm_resolve_route, rdma_ucm_resolve_route),
	ROW(QUERY_ROUTE,   cm_query_route,   rdma_ucm_query),
	ROW(CONNECT,       cm_connect,       rdma_ucm_conn_param),
	ROW(LISTEN,        listen_for,       rdma_ucm_listen),
	ROW(ACCEPT,        cm_accept,        rdma_ucm_conn_param),
	ROW(REJECT,        cm_reject,        rdma_ucm_disconnect),
	ROW(DISCONNECT,    cm_disconnect,    rdma_ucm_disconnect),
	ROW(INIT_QP_ATTR,  cm_init_qp_attr,  rdma_ucm_init_qp_attr),
	ROW(GET_EVENT,     get_event,        rdma_ucm_get_event),
	ROW(SET_OPTION,    set_option,       rdma_ucm_set_option),
	ROW(MIGRATE_ID,    migrate_id,       rdma_ucm_migrate_id),
	ROW(JOIN_IP_MCAST, cm_join_ip_group, rdma_ucm_join_ip_mcast),
	ROW(JOIN_MCAST,    cm_join_group,    rdma_ucm_join_mcast),
	ROW(LEAVE_MCAST,   cm_leave_group,   rdma_ucm_destroy_id),
	REFUSED(GET_OPTION),
	REFUSED(NOTIFY),
	REFUSED(QUERY),
	REFUSED(BIND),
	REFUSED(RESOLVE_ADDR),
	/* clang-format on */
};

static int run(struct cm_call *call, uint64_t bytes, uint64_t length)
{
	struct memory *memory = call->call->process->memory;
	struct rdma_ucm_cmd_hdr header;

	if (length < sizeof(header))
		return -EINVAL;
	if (!memory_read(memory, bytes, &header, sizeof(header)))
		return -EFAULT;
	if (header.cmd >= ARRAY_SIZE(cm_rows) || header.in + sizeof(header) > length)
		return -EINVAL;
	const struct cm_row *row = &cm_rows[header.cmd];

	if (!row->run)
		return kernel_refuse(call->kernel, row->name, EOPNOTSUPP);
	if (header.in < row->in)
		return -EINVAL;
	uint32_t count = header.in < sizeof(call->in) ? header.in : (uint32_t)sizeof(call->in);

	if (!memory_read(memory, bytes + sizeof(header), call->in, count))
		return -EFAULT;
	call->out_bytes = header.out;
	return row->run(call);
}

void cm_write(struct kernel_file *file, struct kernel_call *kernel_call, uint64_t bytes,
	      uint64_t length)
{
	struct cm_call call = {.kernel = file->kernel,
			       .file = container_of(file, struct cm_file, file),
			       .call = kernel_call};
	int error = run(&call, bytes, length);

	kernel_call->latency = file->kernel->params.call_latency;
	kernel_call->result = error ? error : (int64_t)length;
}

void cm_close(struct kernel_file *file)
{
	struct cm_file *own = container_of(file, struct cm_file, file);

	for (struct cm_id *id = file->kernel->cm_ids; id;) {
		bool found = id->file == own;

		if (found)
			cm_free(id);
		/* other identifiers may have been freed with it */
		id = found ? file->kernel->cm_ids : id->next;
	}
	file_fini(file);
	free(own);
}
