/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs: verbs that the stock libraries refuse because the device does not offer them. They do not
 * reach the emulated kernel, which logs refused requests. The library intercepts these verbs in
 * each opened context. A refused verb is logged ("refused:VERB", verbs-shim/kernel/context.c). The
 * program gets the library's unchanged result.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>

#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/shim.h"

/* The library's own functions. One driver serves all contexts. */
static struct {
	struct ibv_dm *(*alloc_dm)(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
} library;

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	struct ibv_dm *dm = library.alloc_dm(context, attr);

	if (!dm)
		device_refused("alloc_dm", errno);
	return dm;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
	struct ibv_mr *mr = library.alloc_null_mr(pd);

	if (!mr)
		device_refused("alloc_null_mr", errno);
	return mr;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq = library.create_srq_ex(context, attr);

	if (!srq && attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_TM)
		device_refused("create_srq_ex", errno);
	return srq;
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	int error = library.modify_qp_rate_limit(qp, attr);

	if (error)
		device_refused("modify_qp_rate_limit", error);
	return error;
}

/* Not RTLD_NEXT: interpreters load the library into a private namespace. */
static struct ibv_context *(*opener(void))(struct ibv_device *device)
{
	void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *found = verbs ? dlsym(verbs, "ibv_open_device") : NULL;
	struct ibv_context *(*open)(struct ibv_device * device) = NULL;

	*(void **)(void *)&open = found;
	return open;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*open)(struct ibv_device * device) = opener();
	struct ibv_context *context;
	struct verbs_context *verbs;

	if (!open) {
		errno = ENOSYS;
		return NULL;
	}
	context = open(device);
	verbs = context && shim_active() ? verbs_get_ctx(context) : NULL;
	if (!verbs || verbs->sz < sizeof(*verbs))
		return context;
#define WRAP(name)                                \
	if (verbs->name && verbs->name != name) { \
		library.name = verbs->name;       \
		verbs->name = name;               \
	}
	WRAP(alloc_dm)
	WRAP(alloc_null_mr)
	WRAP(create_srq_ex)
	WRAP(modify_qp_rate_limit)
	return context;
}
