/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pd: protection domains, and XRC domains, which several processes may share through a file.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "verbs-shim/kernel/commands.h"

struct xrc_domain {
	struct xrc_domain *next;
	uint64_t identity; /* identity of the file */
	uint32_t number;
	uint32_t handles; /* open in how many contexts */
};

struct xrcd {
	struct object object;
	struct xrc_domain *domain; /* NULL: private */
};

int alloc_pd(struct command *command)
{
	struct object *pd =
		object_new(&command->context->objects, command->context, OBJECT_PD, sizeof(*pd));
	struct ib_uverbs_alloc_pd_resp response = {.pd_handle = pd->handle};
	struct mlx5_ib_alloc_pd_resp driver;
	pd->number = driver.pdn = ++command->kernel->last_pd;
	int error = command_reply(command, &response, sizeof(response));
	if (!error)
		error = command_reply_driver(command, &driver, sizeof(driver));
	if (error)
		object_free(&command->context->objects, pd);
	return error;
}

int dealloc_pd(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_dealloc_pd, request);
	struct object *pd;
	int error = destroy_find(command, OBJECT_PD, request.pd_handle, &pd);
	return error ? error : destroy_object(pd);
}

int release_pd(struct object *object)
{
	(void)object;
	return 0;
}

/* Finds or creates the domain of a file. As in the kernel, O_CREAT allows a new domain and O_EXCL
 * requires one. */
static int find_domain(struct command *command, const struct ib_uverbs_open_xrcd *request,
		       struct xrc_domain **domain)
{
	struct kernel *kernel = command->kernel;
	struct kernel_host *host = kernel->host;
	if (!host->file_identity)
		return kernel_refuse(kernel, "XRC domain shared through a file", EOPNOTSUPP);
	uint64_t identity = host->file_identity(host, command->call->process, (int32_t)request->fd);
	if (identity == 0)
		return -EBADF;
	for (*domain = kernel->domains; *domain; *domain = (*domain)->next) {
		if ((*domain)->identity == identity)
			return request->oflags & O_EXCL ? -EINVAL : 0;
	}
	if (!(request->oflags & O_CREAT))
		return -EAGAIN;
	*domain = calloc(1, sizeof(**domain));
	assert(*domain);
	**domain = (struct xrc_domain){
		.next = kernel->domains, .identity = identity, .number = ++kernel->last_xrcd};
	kernel->domains = *domain;
	return 0;
}

int open_xrcd(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_open_xrcd, request);
	struct xrc_domain *domain = NULL;
	int error = (int32_t)request.fd == -1 ? 0 : find_domain(command, &request, &domain);
	if (error)
		return error;

	struct xrcd *xrcd = object_new(&command->context->objects, command->context, OBJECT_XRCD,
				       sizeof(*xrcd));
	xrcd->domain = domain;
	xrcd->object.number = domain ? domain->number : ++command->kernel->last_xrcd;
	if (domain)
		domain->handles++;
	struct ib_uverbs_open_xrcd_resp response = {.xrcd_handle = xrcd->object.handle};
	error = command_reply(command, &response, sizeof(response));
	if (error)
		destroy_object(&xrcd->object);
	return error;
}

int close_xrcd(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_close_xrcd, request);
	struct object *xrcd;
	int error = destroy_find(command, OBJECT_XRCD, request.xrcd_handle, &xrcd);
	return error ? error : destroy_object(xrcd);
}

int release_xrcd(struct object *object)
{
	struct xrcd *xrcd = container_of(object, struct xrcd, object);
	struct xrc_domain *domain = xrcd->domain;
	if (!domain || --domain->handles)
		return 0;
	struct xrc_domain **link = &object->context->file.kernel->domains;
	while (*link != domain)
		link = &(*link)->next;
	*link = domain->next;
	free(domain);
	return 0;
}
