/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr: memory regions and memory windows. Rights follow IBTA vol. 1, 10.6.3 (remote write and
 * atomics need local write). The range must exist and, for local write, be writable, because a
 * kernel pins it.
 */
#include "verbs-shim/kernel/mr.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "hca/host/memory.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"

enum {
	REREG_TRANSLATION = 1,
	REREG_PD = 2,
	REREG_ACCESS = 4,
	WINDOW_TYPE_1 = 1,
	WINDOW_TYPE_2 = 2
};

#define ACCESS_SERVED                                                    \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED)
#define IMPLICIT_LENGTH UINT64_MAX /* length of a region of the whole address space: */
#define ADDRESS_SPACE   (UINT64_C(1) << 47)

struct window {
	struct object object; /* number: key */
	struct object *pd;
};

static int check_access(struct kernel *kernel, uint32_t access)
{
	uint32_t known = ACCESS_SERVED | IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB |
			 IB_UVERBS_ACCESS_OPTIONAL_RANGE;
	if (access & IB_UVERBS_ACCESS_ON_DEMAND && access & IB_UVERBS_ACCESS_MW_BIND)
		return kernel_refuse(kernel, "memory window over on-demand paging", EOPNOTSUPP);
	if (access & ~known)
		return -EINVAL;
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/* Checks that each page is readable, and that the first and last byte are writable. */
static int check_memory(struct memory *memory, uint64_t address, uint64_t length, bool writable)
{
	uint64_t pages_end = (address + length + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
	if (length == 0 || address + length < address || pages_end < address + length)
		return -EINVAL;
	if (!memory_probe(memory, address, length))
		return -EFAULT;
	uint8_t byte;
	if (writable &&
	    (!memory_read(memory, address, &byte, 1) || !memory_write(memory, address, &byte, 1) ||
	     !memory_read(memory, address + length - 1, &byte, 1) ||
	     !memory_write(memory, address + length - 1, &byte, 1)))
		return -EFAULT;
	return 0;
}

/* Returns the time to pin the pages. On-demand pages are not pinned. */
static sim_time page_latency(const struct kernel *kernel, const struct mr *mr)
{
	return mr->on_demand ? 0 : mr_table_page_count(mr) * kernel->params.register_page_latency;
}

static int check_range(struct command *command, uint64_t start, uint64_t length, uint64_t hca_va,
		       uint32_t access)
{
	if (start % MEMORY_PAGE != hca_va % MEMORY_PAGE)
		return -EINVAL;
	if (access & IB_UVERBS_ACCESS_ON_DEMAND && length == IMPLICIT_LENGTH)
		return start || hca_va ? -EINVAL : 0;
	if (access & IB_UVERBS_ACCESS_ON_DEMAND) /* missing pages fail when they are used */
		return length && start + length > start ? 0 : -EINVAL;
	return check_memory(command->memory, start, length, access & IB_UVERBS_ACCESS_LOCAL_WRITE);
}

static uint64_t length_of(uint64_t requested)
{
	return requested == IMPLICIT_LENGTH ? ADDRESS_SPACE : requested;
}

/* Returns true for an implicit region. It is not watched, because the HCA may write anywhere in it.
 * Polled memory in it is watched if another region contains it. */
static bool is_implicit(const struct mr *mr)
{
	return mr->on_demand && !mr->host_address && mr->length == ADDRESS_SPACE;
}

static void region_give(struct region *region)
{
	struct kernel *kernel = region->object.context->file.kernel;
	trace(&kernel->block, TRACE_MR_DEREGISTER, 0, region->mr.key,
	      mr_table_page_count(&region->mr));
	hca_mr_destroy(kernel->hca, region->mr.key);
	object_drop(region->pd);
}

/* Adds the region to the memory that is watched for polling, because the HCA may write to it. */
static void watch_region(struct command *command, const struct mr *mr)
{
	if (mr->access & IB_UVERBS_ACCESS_LOCAL_WRITE && !is_implicit(mr))
		command->call->watched = (struct kernel_range){mr->host_address, mr->length};
}

static bool overlaps(const struct mr *one, const struct mr *other)
{
	uint64_t first = one->host_address / MEMORY_PAGE,
		 second = other->host_address / MEMORY_PAGE;
	return first <= (other->host_address + other->length - 1) / MEMORY_PAGE &&
	       second <= (one->host_address + one->length - 1) / MEMORY_PAGE;
}

/* Stops the watching of a region, because the HCA no longer writes there. If another region shares
 * a page with it, the watching continues. */
static void unwatch_region(struct command *command, const struct region *region)
{
	if (is_implicit(&region->mr))
		return;
	for (const struct context *context = command->kernel->contexts; context;
	     context = context->next)
		for (const struct object *object = context->objects.newest; object;
		     object = object->older) {
			const struct region *other = container_of(object, struct region, object);
			if (object->type == OBJECT_MR && other != region &&
			    !is_implicit(&other->mr) && overlaps(&region->mr, &other->mr))
				return;
		}
	command->call->unwatched =
		(struct kernel_range){region->mr.host_address, region->mr.length};
}

int reg_mr(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_reg_mr, request);
	struct kernel *kernel = command->kernel;
	int error = check_access(kernel, request.access_flags);
	if (!error)
		error = check_range(command, request.start, request.length, request.hca_va,
				    request.access_flags);
	if (error)
		return error;
	command->call->registers_memory = true;
	struct object *pd = command_object(command, OBJECT_PD, request.pd_handle);
	if (!pd)
		return -EINVAL;

	struct mr mr = {
		.key = ++kernel->key_variant,
		.pd = pd->number,
		.access = request.access_flags & ACCESS_SERVED,
		.page_shift = 12,
		.memory = command->memory,
		.address = request.hca_va,
		.host_address = request.start,
		.length = length_of(request.length),
		.valid = true,
		.on_demand = request.access_flags & IB_UVERBS_ACCESS_ON_DEMAND,
	};
	error = hca_mr_create(kernel->hca, &mr, &mr.key);
	if (error)
		return error;
	struct region *region = object_new(&command->context->objects, command->context, OBJECT_MR,
					   sizeof(*region));
	region->object.number = mr.key;
	region->pd = pd;
	region->mr = mr;
	trace(&kernel->block, TRACE_MR_REGISTER, 0, mr.key, mr_table_page_count(&mr));
	object_hold(pd);
	command->call->latency += page_latency(kernel, &mr);
	struct ib_uverbs_reg_mr_resp response = {
		.mr_handle = region->object.handle, .lkey = mr.key, .rkey = mr.key};
	error = command_reply(command, &response, sizeof(response));
	if (error)
		destroy_object(&region->object);
	else
		watch_region(command, &mr);
	return error;
}

/* Changes the rights or the protection domain of the same pages. The key does not change. */
static int change_region(struct command *command, struct region *region, const struct mr *mr,
			 struct object *pd)
{
	int error = hca_mr_modify(command->kernel->hca, mr->key, mr->pd, mr->access);
	if (error)
		return error;
	object_hold(pd);
	object_drop(region->pd);
	region->pd = pd;
	region->mr = *mr;
	watch_region(command, mr);
	struct ib_uverbs_rereg_mr_resp response = {.lkey = mr->key, .rkey = mr->key};
	return command_reply(command, &response, sizeof(response));
}

/* Registers other pages: a new region replaces the old one and has a new key. If this fails, the
 * old region stays. */
int rereg_mr(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_rereg_mr, request);
	struct kernel *kernel = command->kernel;
	if (!request.flags ||
	    (request.flags & ~(uint32_t)(REREG_TRANSLATION | REREG_PD | REREG_ACCESS)))
		return -EINVAL;
	struct object *object = command_object(command, OBJECT_MR, request.mr_handle);
	if (!object)
		return -EINVAL;
	command->call->registers_memory = true;
	struct region *region = container_of(object, struct region, object);
	struct mr mr = region->mr;
	struct object *pd = region->pd;
	int error = 0;

	if (request.flags & REREG_ACCESS) {
		error = check_access(kernel, request.access_flags);
		mr.access = request.access_flags & ACCESS_SERVED;
		mr.on_demand = request.access_flags & IB_UVERBS_ACCESS_ON_DEMAND;
	}
	if (request.flags & REREG_PD) {
		pd = command_object(command, OBJECT_PD, request.pd_handle);
		if (!pd)
			return -EINVAL;
		mr.pd = pd->number;
	}
	if (request.flags & REREG_TRANSLATION) {
		mr.address = request.hca_va;
		mr.host_address = request.start;
		mr.length = request.length;
	}
	if (!error)
		error = check_range(command, mr.host_address, mr.length, mr.address,
				    mr.access | (mr.on_demand ? IB_UVERBS_ACCESS_ON_DEMAND : 0));
	mr.length = length_of(mr.length);
	if (!error && !(request.flags & REREG_TRANSLATION) && mr.on_demand == region->mr.on_demand)
		return change_region(command, region, &mr, pd);
	mr.key = ++kernel->key_variant;
	if (!error)
		error = hca_mr_create(kernel->hca, &mr, &mr.key);
	if (error)
		return error;

	object_hold(pd);
	unwatch_region(command, region);
	region_give(region);
	region->pd = pd;
	region->mr = mr;
	region->object.number = mr.key;
	trace(&kernel->block, TRACE_MR_REGISTER, 0, mr.key, mr_table_page_count(&mr));
	command->call->latency += page_latency(kernel, &mr);
	watch_region(command, &mr);
	struct ib_uverbs_rereg_mr_resp response = {.lkey = mr.key, .rkey = mr.key};
	return command_reply(command, &response, sizeof(response));
}

int dereg_mr(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_dereg_mr, request);
	struct object *region;
	int error = destroy_find(command, OBJECT_MR, request.mr_handle, &region);
	if (error)
		return error;
	command->call->registers_memory = true;
	unwatch_region(command, container_of(region, struct region, object));
	return destroy_object(region);
}

int release_mr(struct object *object)
{
	region_give(container_of(object, struct region, object));
	return 0;
}

/* Returns the region with that key in the caller's context, or NULL. */
static const struct region *region_of_key(const struct command *command, uint32_t key)
{
	for (const struct object *object = command->context->objects.newest; object;
	     object = object->older)
		if (object->type == OBJECT_MR && object->number == key)
			return container_of(object, struct region, object);
	return NULL;
}

int advise_mr(struct command *command, uint32_t pd_handle, uint64_t advice, bool wait,
	      const struct ib_uverbs_sge *list, uint32_t count)
{
	const struct object *pd = command_object(command, OBJECT_PD, pd_handle);
	if (!pd)
		return -EINVAL;
	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE)
		return kernel_refuse(command->kernel, "prefetch of pages that are mapped only",
				     EOPNOTSUPP);
	for (uint32_t i = 0; i < count; i++) {
		const struct region *region = region_of_key(command, list[i].lkey);
		sim_time latency;
		if (!region)
			return -ENOENT;
		if (region->pd != pd || (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
					 !(region->mr.access & MR_LOCAL_WRITE)))
			return -EPERM;
		int error = hca_mr_prefetch(command->kernel->hca, list[i].lkey, list[i].addr,
					    list[i].length, &latency);
		if (error)
			return error;
		if (wait && latency > command->call->latency)
			command->call->latency = latency;
	}
	return 0;
}

/* Allocates a memory window, which a work request binds later. */
int alloc_mw(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_alloc_mw, request);
	COMMAND_DRIVER(command, mlx5_ib_alloc_mw, driver);
	struct kernel *kernel = command->kernel;
	struct object *pd = command_object(command, OBJECT_PD, request.pd_handle);
	if (!pd || (request.mw_type != WINDOW_TYPE_1 && request.mw_type != WINDOW_TYPE_2))
		return -EINVAL;
	if (driver.comp_mask || driver.num_klms || driver.reserved1 || driver.reserved2)
		return -EOPNOTSUPP;

	struct mr mr = {.key = ++kernel->key_variant,
			.pd = pd->number,
			.page_shift = 12,
			.memory = command->memory};
	int error = hca_mr_create(kernel->hca, &mr, &mr.key);
	if (error)
		return error;
	struct window *window = object_new(&command->context->objects, command->context, OBJECT_MW,
					   sizeof(*window));
	window->object.number = mr.key;
	window->pd = pd;
	object_hold(pd);
	struct ib_uverbs_alloc_mw_resp response = {.mw_handle = window->object.handle,
						   .rkey = mr.key};
	error = command_reply(command, &response, sizeof(response));
	if (error)
		destroy_object(&window->object);
	return error;
}

int dealloc_mw(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_dealloc_mw, request);
	struct object *window;
	int error = destroy_find(command, OBJECT_MW, request.mw_handle, &window);
	return error ? error : destroy_object(window);
}

int release_mw(struct object *object)
{
	struct window *window = container_of(object, struct window, object);
	hca_mr_destroy(object->context->file.kernel->hca, object->number);
	object_drop(window->pd);
	return 0;
}
