/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits: the two structures in which programs read them, from the lists in limits.h.
 */
#include "verbs-shim/kernel/limits.h"

#define LIMIT_FIELD(name, value) .name = value,

const struct ib_uverbs_query_device_resp limits_of_device = {
	DEVICE_LIMITS(LIMIT_FIELD).fw_ver =
		(uint64_t)FIRMWARE_MAJOR << 32 | FIRMWARE_MINOR << 16 | FIRMWARE_PATCH,
	.device_cap_flags = IB_UVERBS_DEVICE_BAD_PKEY_CNTR | IB_UVERBS_DEVICE_BAD_QKEY_CNTR |
			    IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT | IB_UVERBS_DEVICE_SYS_IMAGE_GUID |
			    IB_UVERBS_DEVICE_RC_RNR_NAK_GEN | IB_UVERBS_DEVICE_MEM_WINDOW |
			    IB_UVERBS_DEVICE_XRC | IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B |
			    IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS,
};

const struct mlx5_ib_alloc_ucontext_resp limits_of_ucontext = {UCONTEXT_LIMITS(LIMIT_FIELD)};
