/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel: creation, files, and events of the adapter. Completion events and asynchronous events are
 * passed to the channel of their object.
 */
#include "verbs-shim/kernel/kernel.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/llc.h"
#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/cq.h"
#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/path.h"
#include "verbs-shim/kernel/qp.h"
#include "verbs-shim/kernel/siw.h"

#define ROW(...) PARAM_ROW(struct kernel_params, __VA_ARGS__)
const struct param kernel_param_list[] = {KERNEL_PARAMS(ROW){0}};
static const struct block_type kernel_type = {
	.name = "kernel",
	.params = kernel_param_list,
	.trace_points = (const struct trace_point[]){KERNEL_TRACE(TRACE_ENTRY){0}},
};

/* Events of the adapter, and the events that the program reads (enum ib_event_type of the verbs
 * ABI). */
static const struct async_row {
	uint32_t event_type;
	enum object_type about; /* OBJECT_TYPE_COUNT: the port */
} async_rows[] = {
	[ASYNC_CQ_ERROR] = {0, OBJECT_CQ},
	[ASYNC_QP_FATAL] = {1, OBJECT_QP},
	[ASYNC_QP_REQUEST_ERROR] = {2, OBJECT_QP},
	[ASYNC_QP_ACCESS_ERROR] = {3, OBJECT_QP},
	[ASYNC_COMM_ESTABLISHED] = {4, OBJECT_QP},
	[ASYNC_SQ_DRAINED] = {5, OBJECT_QP},
	[ASYNC_PATH_MIGRATED] = {6, OBJECT_QP},
	[ASYNC_LAST_WQE_REACHED] = {16, OBJECT_QP},
	[ASYNC_SRQ_LIMIT] = {15, OBJECT_SRQ},
	[ASYNC_SRQ_ERROR] = {14, OBJECT_SRQ},
	[ASYNC_PORT_ACTIVE] = {9, OBJECT_TYPE_COUNT},
	[ASYNC_PORT_ERROR] = {10, OBJECT_TYPE_COUNT},
};

static void completion_event(struct hca_driver *driver, uint32_t cqn)
{
	struct kernel *kernel = container_of(driver, struct kernel, driver);
	struct object *object = object_numbers_find(&kernel->numbers, OBJECT_CQ, cqn);
	trace(&kernel->block, TRACE_CQ_EVENT, 0, cqn, 0);
	if (object)
		cq_completion_event(container_of(object, struct cq, object));
}

static void async_event(struct hca_driver *driver, enum hca_async what, uint32_t number)
{
	struct kernel *kernel = container_of(driver, struct kernel, driver);
	const struct async_row *row = &async_rows[what];
	struct ib_uverbs_async_event_desc record = {.event_type = row->event_type};
	trace(&kernel->block, TRACE_ASYNC_EVENT, 0, number, row->event_type);
	if (row->about == OBJECT_TYPE_COUNT) {
		record.element = number;
		for (struct context *context = kernel->contexts; context; context = context->next) {
			if (context->async)
				channel_write(context->async, NULL, &record);
		}
		return;
	}

	struct object *object = object_numbers_find(&kernel->numbers, row->about, number);
	if (!object)
		return; /* destroyed while the interrupt was in flight */
	if (what == ASYNC_SQ_DRAINED && !qp_wants_drained_event(object))
		return;
	record.element = object->user_handle;
	object->async_events++;
	channel_write(object->context->async, object, &record);
}

int kernel_refuse(struct kernel *kernel, const char *what, int error)
{
	for (uint32_t i = 0; i < kernel->refused_count; i++) {
		if (kernel->refused[i] == what)
			return -error;
	}
	if (kernel->refused_count < ARRAY_SIZE(kernel->refused))
		kernel->refused[kernel->refused_count++] = what;
	kernel->host->not_modelled(kernel->host, what, error);
	return -error;
}

void file_init(struct kernel_file *file, struct kernel *kernel, struct kernel_process *process,
	       enum kernel_fd_kind kind)
{
	*file = (struct kernel_file){
		.kernel = kernel, .kind = kind, .process = process, .next = process->files};
	process->files = file;
}

void file_fini(struct kernel_file *file)
{
	if (!file->process)
		return;
	struct kernel_file **link = &file->process->files;
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	file->process = NULL;
}

struct kernel *kernel_create(struct sim *sim, const char *name, struct hca *hca,
			     struct endpoints *endpoints, uint32_t endpoint,
			     struct kernel_host *host)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	assert(kernel);
	params_default(kernel_param_list, &kernel->params);
	block_init(&kernel->block, sim, &kernel_type, name, &kernel->params, NULL);
	kernel->hca = hca;
	kernel->endpoints = endpoints;
	kernel->endpoint = endpoint;
	kernel->host = host;
	endpoints_set_manager(endpoints, endpoint, kernel);
	kernel->driver = (struct hca_driver){.completion_event = completion_event,
					     .async_event = async_event};
	kernel->resolver = (struct address_resolver){endpoints_paths(kernel->endpoints),
						     path_resolve_address_vector};
	return kernel;
}

struct hca *kernel_hca(const struct kernel *kernel)
{
	return kernel->hca;
}

void kernel_set_interface_mtu(struct kernel *kernel, uint32_t bytes)
{
	kernel->interface_mtu = bytes;
}

void kernel_attach(struct kernel *kernel, struct hca *hca)
{
	assert(!kernel->hca);
	kernel->hca = hca;
	if (siw_rnic(kernel))
		siw_cm_init(kernel);
}

sim_time kernel_dma_wait(const struct kernel *kernel)
{
	const struct llc *llc = hca_llc(kernel->hca);

	return llc ? llc_dma_wait(llc) : 0;
}

struct hca_driver *kernel_driver(struct kernel *kernel)
{
	return &kernel->driver;
}

struct address_resolver *kernel_address_resolver(struct kernel *kernel)
{
	return &kernel->resolver;
}

struct kernel_params *kernel_params(struct kernel *kernel)
{
	return &kernel->params;
}

void kernel_destroy(struct kernel *kernel)
{
	assert(!kernel->contexts && !kernel->cm_ids);
	endpoints_set_manager(kernel->endpoints, kernel->endpoint, NULL);
	cm_end(kernel);
	block_fini(&kernel->block);
	free(kernel);
}
