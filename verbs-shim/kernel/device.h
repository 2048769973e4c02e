/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: attributes of the device and its port, for query commands and for sysfs.
 */
#ifndef VERBS_SHIM_KERNEL_DEVICE_H
#define VERBS_SHIM_KERNEL_DEVICE_H

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>

struct kernel;

/* Returns the name of the device: mlx5_0 or siw0. */
const char *device_name(const struct kernel *kernel);

/* Returns 0, or -EINVAL if there is no such port. */
int device_port(const struct kernel *kernel, uint64_t port,
		struct ib_uverbs_query_port_resp *response);
/* Returns 0, -EINVAL if there is no such port or index, or -ENODATA for an empty entry. */
int device_gid(const struct kernel *kernel, uint64_t port, uint64_t index,
	       struct ib_uverbs_gid_entry *entry);

uint32_t device_gid_table_length(const struct kernel *kernel);
uint32_t device_pkey_table_length(const struct kernel *kernel);
uint16_t device_pkey(const struct kernel *kernel, uint32_t index);
/* Writes for example "100 Gb/sec (4X EDR)". */
void device_rate_text(const struct kernel *kernel, char *text, uint32_t text_bytes);

#endif
