/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context: opens the device, and returns the parts of a context: the asynchronous event channel
 * and, in the mlx5 part, doorbell pages and sizes.
 */
#include <assert.h>
#include <errno.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hca/host/core_clock.h"
#include "hca/host/memory.h"
#include "verbs-shim/kernel/clock_info.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/netlink.h"
#include "verbs-shim/kernel/siw.h"

/* Requests that never reach the kernel, because the library refuses them or a file does not
 * exist. */
static const struct {
	const char *path, *what;
} refusals[] = {
	{"refused:alloc_dm", "ibv_alloc_dm: device memory, which the device does not offer"},
	{"refused:alloc_null_mr", "ibv_alloc_null_mr: null MR, which the device does not offer"},
	{"refused:create_srq_ex",
	 "ibv_create_srq_ex: SRQ with tag matching, which the device does not offer"},
	{"refused:modify_qp_rate_limit",
	 "ibv_modify_qp_rate_limit: rate limit, which the device does not offer"},
	{KERNEL_REFUSED_MAD,
	 "umad (/dev/infiniband/umad0): MADs of programs, such as subnet managers and perfquery"},
};

static const char *refusal_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++)
		if (strcmp(refusals[i].path, path) == 0)
			return refusals[i].what;
	return NULL;
}

bool kernel_has_path(const struct kernel *kernel, const char *path)
{
	(void)kernel;
	return refusal_of(path) || strcmp(path, DEVICE_NODE) == 0 || strcmp(path, CM_NODE) == 0 ||
	       strcmp(path, NETLINK_NODE) == 0;
}

void kernel_open(struct kernel *kernel, struct kernel_call *call, const char *path, int flags)
{
	const char *refused = refusal_of(path);

	if (refused) {
		call->result = kernel_refuse(kernel, refused, flags);
		return;
	}
	call->latency = kernel->params.call_latency;
	if (!kernel_has_path(kernel, path)) {
		call->result = -ENOENT;
		return;
	}
	if (strcmp(path, CM_NODE) == 0) {
		cm_open(kernel, call);
		return;
	}
	if (strcmp(path, NETLINK_NODE) == 0) {
		netlink_open(kernel, call);
		return;
	}
	assert(kernel->hca);
	struct context *context = calloc(1, sizeof(*context));
	assert(context);
	file_init(&context->file, kernel, call->process, KERNEL_FD_COMMAND);
	context->next = kernel->contexts;
	kernel->contexts = context;
	call->files[call->file_count++] =
		(struct kernel_new_file){.file = &context->file, .kind = KERNEL_FD_COMMAND};
	call->result = 0;
}

/* mlx5: the request of libmlx5 grew over the years. The first form has two fields; later fields are
 * zero if absent. */
static int check_ucontext(struct command *command, struct mlx5_ib_alloc_ucontext_req_v2 *request)
{
	if (command->driver.length < sizeof(struct mlx5_ib_alloc_ucontext_req))
		return -EINVAL;
	memcpy(request, command->driver.bytes, sizeof(*request));
	if (request->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX)
		return -EINVAL;
	/* libmlx5 then repeats the request without it */
	if (request->flags & MLX5_IB_ALLOC_UCTX_DEVX)
		return -EPERM;
	if (request->comp_mask || request->reserved0 || request->reserved1 || request->reserved2)
		return -EOPNOTSUPP;
	if (request->max_cqe_version < 1) /* CQEs of version 0 name the QP by number */
		return kernel_refuse(command->kernel, "GET_CONTEXT with CQE version 0", EINVAL);
	return 0;
}

void context_establish(struct command *command)
{
	struct context *context = command->context;

	context->async = channel_create(command->kernel, command->call->process,
					sizeof(struct ib_uverbs_async_event_desc));
	channel_hold(context->async);
	command_new_file(command, &context->async->file, KERNEL_FD_CHANNEL,
			 command->core_out.address +
				 offsetof(struct ib_uverbs_get_context_resp, async_fd));
	context->established = true;
}

int get_context(struct command *command)
{
	struct context *context = command->context;
	struct mlx5_ib_alloc_ucontext_req_v2 request;
	if (context->established)
		return -EINVAL;
	int error = check_ucontext(command, &request);
	if (!error)
		error = uars_init(&context->uars, command->kernel, request.total_num_bfregs,
				  request.num_low_latency_bfregs);
	if (error)
		return error;

	struct ib_uverbs_get_context_resp response = {.num_comp_vectors = COMPLETION_VECTORS};
	struct mlx5_ib_alloc_ucontext_resp driver = limits_of_ucontext;
	driver.tot_bfregs = context->uars.static_pages * UAR_BFREGS_PER_PAGE;
	driver.num_dyn_bfregs = UAR_DYNAMIC_PAGES_MAX * UAR_BFREGS_PER_PAGE;
	driver.cqe_version = 1;
	driver.cmds_supp_uhw =
		MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	driver.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	driver.hca_core_clock_offset = CORE_CLOCK_AT % MEMORY_PAGE;
	driver.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
	driver.eth_min_inline = MLX5_USER_INLINE_MODE_L2;
	driver.response_length = command_room(&command->driver_out, sizeof(driver));
	error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		return error;
	context_establish(command);
	return 0;
}

/* Destroys objects, newest first, repeatedly, because an object cannot be destroyed while others
 * depend on it. */
static void destroy_all(struct context *context)
{
	while (context->objects.newest) {
		uint32_t before = context->objects.count;
		for (struct object *object = context->objects.newest, *older; object;
		     object = older) {
			older = object->older;
			destroy_object(object);
		}
		assert(context->objects.count < before);
	}
}

static void context_close(struct context *context)
{
	struct kernel *kernel = context->file.kernel;
	destroy_all(context);
	objects_fini(&context->objects);
	siw_close(context);
	if (context->async)
		channel_drop(context->async);
	struct context **link = &kernel->contexts;
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	file_fini(&context->file);
	free(context);
}

static void file_close(struct kernel_file *file)
{
	if (file->kind == KERNEL_FD_COMMAND) {
		context_close(container_of(file, struct context, file));
		return;
	}
	if (file->kind == KERNEL_FD_MESSAGE) {
		cm_close(file);
		return;
	}
	if (file->kind == KERNEL_FD_NETLINK) {
		netlink_close(file);
		return;
	}
	file_fini(file);
	channel_drop(container_of(file, struct channel, file));
}

void kernel_close(struct kernel_file *file, struct kernel_call *call)
{
	call->latency = file->kind == KERNEL_FD_COMMAND ? file->kernel->params.destroy_latency
							: file->kernel->params.call_latency;
	file_close(file);
	call->result = 0;
}

/* Releases command files first, because their objects write to channels when they are destroyed. */
void kernel_process_exit(struct kernel *kernel, struct kernel_process *process)
{
	(void)kernel;
	for (struct kernel_file *file = process->files, *next; file; file = next) {
		next = file->next;
		if (file->kind == KERNEL_FD_COMMAND)
			file_close(file);
	}
	while (process->files)
		file_close(process->files);
}

void kernel_ioctl(struct kernel_file *file, struct kernel_call *call, uint64_t request,
		  uint64_t argument)
{
	call->latency = file->kernel->params.call_latency;
	if (file->kind != KERNEL_FD_COMMAND || request != RDMA_VERBS_IOCTL) {
		call->result = -ENOTTY;
		return;
	}
	struct command command = command_of(file, call);
	call->result = ioctl_abi_command(&command, argument);
}

void kernel_mmap(struct kernel_file *file, struct kernel_call *call, uint64_t offset,
		 uint64_t length, int prot)
{
	call->latency = file->kernel->params.call_latency;
	struct context *context = container_of(file, struct context, file);
	if (file->kind != KERNEL_FD_COMMAND || !context->established) {
		call->result = -ENODEV;
		return;
	}
	int error;
	if (siw_rnic(file->kernel)) {
		error = siw_map(context, call, offset, length);
	} else if (uars_command(offset) == MLX5_IB_MMAP_CLOCK_INFO) {
		error = clock_info_map(file->kernel, call, uars_page(offset), length, prot);
	} else {
		error = uars_map(&context->uars, file->kernel, offset, length, prot);
		call->registers = !error;
	}
	call->result = error ? error : (int64_t)offset;
}

void kernel_map_ring(struct kernel_file *file, struct kernel_call *call, uint64_t offset,
		     uint64_t address)
{
	struct context *context = container_of(file, struct context, file);

	call->result = file->kind == KERNEL_FD_COMMAND && siw_rnic(file->kernel)
			       ? siw_map_ring(context, call, offset, address)
			       : -EINVAL;
}

/* Refuses loads of doorbell pages, which hold no values. */
void kernel_load(struct kernel_file *file, uint64_t file_offset, struct pcie_mmio_read *read)
{
	assert(file->kind == KERNEL_FD_COMMAND);
	read->offset = uars_command(file_offset) == MLX5_IB_MMAP_CORE_CLOCK
			       ? CORE_CLOCK_AT + file_offset % MEMORY_PAGE
			       : 0;
	hca_load(file->kernel->hca, read);
}

void kernel_host_ran(struct kernel *kernel, sim_time until)
{
	hca_host_ran(kernel->hca, until);
}

bool kernel_uar_has_room(struct kernel_file *file, sim_time *ask_at)
{
	return hca_uar_has_room(file->kernel->hca, ask_at);
}

sim_time kernel_uar_delay(const struct kernel *kernel)
{
	return hca_uar_delay(kernel->hca);
}

void kernel_uar_write(struct kernel_file *file, uint64_t file_offset, const void *bytes,
		      uint32_t length)
{
	struct context *context = container_of(file, struct context, file);
	uint64_t bar_offset;
	assert(file->kind == KERNEL_FD_COMMAND);
	if (uars_translate(&context->uars, file_offset, &bar_offset))
		hca_uar_write(file->kernel->hca, bar_offset, bytes, length);
}
