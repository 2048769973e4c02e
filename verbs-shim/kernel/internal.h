/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal: the emulated kernel's own state, for the files of this folder.
 */
#ifndef VERBS_SHIM_KERNEL_INTERNAL_H
#define VERBS_SHIM_KERNEL_INTERNAL_H

#include "fabric/endpoints.h"
#include "sim/block.h"
#include "verbs-shim/kernel/channel.h"
#include "verbs-shim/kernel/file.h"
#include "verbs-shim/kernel/kernel.h"
#include "verbs-shim/kernel/kernel_params.h"
#include "verbs-shim/kernel/object.h"
#include "verbs-shim/kernel/uar.h"

#define DEVICE_NAME "mlx5_0"
#define DEVICE_NODE "/dev/infiniband/uverbs0"

struct xrc_domain;

struct kernel {
	struct block block;
	struct kernel_params params;
	struct hca *hca;
	struct endpoints *endpoints;
	uint32_t endpoint;
	struct kernel_host *host;
	struct hca_driver driver;
	struct address_resolver resolver;
	struct context *contexts;   /* open command files, newest first */
	struct xrc_domain *domains; /* those shared through a file */
	struct numbers numbers;
	uint32_t last_pd, last_xrcd; /* numbers given so far */
	uint32_t last_uar_page;
	struct cm_id *cm_ids;           /* identifiers of the connection manager, newest first */
	struct cm_message *cm_messages; /* on their way to it */
	uint32_t cm_last;
	uint8_t key_variant;     /* low 8 bits of the last memory key */
	const void *refused[64]; /* names already told to the host */
	uint32_t refused_count;
};

/* One open of the device. */
struct context {
	struct kernel_file file;
	struct context *next;
	bool established; /* GET_CONTEXT was done */
	struct objects objects;
	struct channel *async;
	struct uars uars;
};

/* Tells the host once for each `what` (a literal) and answers -error. */
int kernel_refuse(struct kernel *kernel, const char *what, int error);

static inline const struct endpoint *kernel_endpoint(const struct kernel *kernel)
{
	return endpoints_get(kernel->endpoints, kernel->endpoint);
}

#endif
