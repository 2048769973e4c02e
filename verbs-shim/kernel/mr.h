/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mr: memory regions of the kernel.
 */
#ifndef VERBS_SHIM_KERNEL_MR_H
#define VERBS_SHIM_KERNEL_MR_H

#include "hca/context/mr_table.h"
#include "verbs-shim/kernel/object.h"

struct region {
	struct object object; /* number: key */
	struct object *pd;
	struct mr mr; /* as passed to the adapter */
};

#endif
