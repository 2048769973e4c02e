/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: queries of the device, its port and its GID table.
 */
#include "verbs-shim/kernel/device.h"

#include <errno.h>
#include <stdio.h>

#include "hca/device/hca_params.h"
#include "verbs-shim/kernel/commands.h"
#include "verbs-shim/kernel/limits.h"
#include "verbs-shim/kernel/siw.h"

enum {
	PORT_ACTIVE = 4,
	PHYSICAL_LINK_UP = 5,
	LAYER_INFINIBAND = 1,
	LAYER_ETHERNET = 2,
	MTU_4096 = 5
};

/* Encoding of IBTA's PortInfo, with the Mb/s of one lane. */
static const struct speed {
	const char *name;
	uint8_t code;
	uint32_t lane_mbps;
} speeds[] = {
	{"SDR", 1, 2500},    {"DDR", 2, 5000},     {"QDR", 4, 10000},
	{"FDR10", 8, 10000}, {"FDR", 16, 14062},   {"EDR", 32, 25000},
	{"HDR", 64, 50000},  {"NDR", 128, 100000}, {"XDR", 0, 200000},
};
static const struct width {
	uint8_t lanes, code;
} widths[] = {{1, 1}, {2, 16}, {4, 2}, {8, 4}, {12, 8}};

static bool on_ethernet(const struct kernel *kernel)
{
	return kernel_endpoint(kernel)->link_layer == LINK_ETHERNET;
}

uint32_t device_gid_table_length(const struct kernel *kernel)
{
	return on_ethernet(kernel) ? GID_TABLE_ETHERNET : GID_TABLE_INFINIBAND;
}

uint32_t device_pkey_table_length(const struct kernel *kernel)
{
	return on_ethernet(kernel) ? PKEY_TABLE_ETHERNET : PKEY_TABLE_INFINIBAND;
}

void device_rate_text(const struct kernel *kernel, char *text, uint32_t text_bytes)
{
	const struct speed *speed = &speeds[kernel->params.link_speed];
	const struct width *width = &widths[kernel->params.link_width];
	uint32_t mbps = speed->lane_mbps * width->lanes;
	if (mbps % 1000 >= 500 && mbps < 10000)
		snprintf(text, text_bytes, "%u.5 Gb/sec (%uX %s)", mbps / 1000, width->lanes,
			 speed->name);
	else
		snprintf(text, text_bytes, "%u Gb/sec (%uX %s)", mbps / 1000, width->lanes,
			 speed->name);
}

const char *device_name(const struct kernel *kernel)
{
	return siw_rnic(kernel) ? "siw0" : "mlx5_0";
}

/* Returns the P_Key at an index of the port's table; 0, which is invalid, after the last one. */
uint16_t device_pkey(const struct kernel *kernel, uint32_t index)
{
	const struct partitions *partitions = kernel_endpoint(kernel)->partitions;
	return index < partitions->count ? partitions->keys[index] : 0;
}

/* PortInfo's counters have 16 bits and stay at the top: IBTA vol. 1, 14.2.5.6. */
static uint32_t saturated(uint64_t count)
{
	return count < UINT16_MAX ? (uint32_t)count : UINT16_MAX;
}

int device_port(const struct kernel *kernel, uint64_t port,
		struct ib_uverbs_query_port_resp *response)
{
	const struct endpoint *endpoint = kernel_endpoint(kernel);
	if (port != 1)
		return -EINVAL;
	*response = (struct ib_uverbs_query_port_resp){
		.bad_pkey_cntr = saturated(hca_pkey_violations(kernel->hca)),
		.qkey_viol_cntr = saturated(hca_qkey_violations(kernel->hca)),
		.max_msg_sz = MESSAGE_BYTES_MAX,
		.gid_tbl_len = device_gid_table_length(kernel),
		.pkey_tbl_len = (uint16_t)device_pkey_table_length(kernel),
		.state = PORT_ACTIVE,
		.max_mtu = MTU_4096,
		.active_mtu = (uint8_t)(kernel->params.port_mtu + 1),
		.active_width = widths[kernel->params.link_width].code,
		.active_speed = speeds[kernel->params.link_speed].code,
		.phys_state = PHYSICAL_LINK_UP,
	};
	if (on_ethernet(kernel)) {
		response->link_layer = LAYER_ETHERNET;
		response->port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS;
		return 0;
	}
	response->link_layer = LAYER_INFINIBAND;
	response->port_cap_flags = IB_UVERBS_PCF_TRAP_SUP | IB_UVERBS_PCF_SL_MAP_SUP |
				   IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP |
				   IB_UVERBS_PCF_EXTENDED_SPEEDS_SUP | IB_UVERBS_PCF_CM_SUP;
	response->lid = endpoint->lid;
	response->sm_lid = 1;
	response->max_vl_num = 4; /* VL0-7 */
	response->subnet_timeout = 18;
	return 0;
}

int device_gid(const struct kernel *kernel, uint64_t port, uint64_t index,
	       struct ib_uverbs_gid_entry *entry)
{
	const struct endpoint *endpoint = kernel_endpoint(kernel);
	if (port != 1 || index >= device_gid_table_length(kernel))
		return -EINVAL;
	if (index >= endpoint->gid_count)
		return -ENODATA;
	const struct endpoint_gid *gid = &endpoint->gids[index];
	*entry = (struct ib_uverbs_gid_entry){.gid_index = (uint32_t)index,
					      .port_num = (uint32_t)port};
	memcpy(entry->gid, gid->bytes, sizeof(gid->bytes));
	if (!on_ethernet(kernel))
		entry->gid_type = IB_UVERBS_GID_TYPE_IB;
	else if (gid->roce_version == ROCE_V1)
		entry->gid_type = IB_UVERBS_GID_TYPE_ROCE_V1;
	else
		entry->gid_type = IB_UVERBS_GID_TYPE_ROCE_V2;
	return 0;
}

int query_port(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_query_port, request);
	struct ib_uverbs_query_port_resp response;
	int error = device_port(command->kernel, request.port_num, &response);
	return error ? error : command_reply(command, &response, sizeof(response));
}

static void device_attributes(const struct kernel *kernel,
			      struct ib_uverbs_query_device_resp *response)
{
	*response = limits_of_device;
	response->node_guid = __builtin_bswap64(kernel_endpoint(kernel)->guid);
	response->sys_image_guid = response->node_guid;
}

int query_device(struct command *command)
{
	struct ib_uverbs_query_device_resp response;
	device_attributes(command->kernel, &response);
	return command_reply(command, &response, sizeof(response));
}

int query_device_ex(struct command *command)
{
	COMMAND_CORE(command, ib_uverbs_ex_query_device, request);
	struct ib_uverbs_ex_query_device_resp response = {0};
	struct mlx5_ib_query_device_resp driver = {0};
	if (request.comp_mask || request.reserved)
		return -EINVAL;
	if (command->driver_out.length && command->driver_out.length < 8)
		return -EINVAL;
	device_attributes(command->kernel, &response.base);
	response.device_cap_flags_ex = response.base.device_cap_flags;
	if (hca_params(command->kernel->hca)->device.compressed_cqes) {
		driver.cqe_comp_caps.max_num =
			(uint32_t)hca_params(command->kernel->hca)->completion.compression_max;
		driver.cqe_comp_caps.supported_format =
			MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	}
	response.timestamp_mask = TIMESTAMP_MASK;
	response.hca_core_clock =
		hca_params(command->kernel->hca)->device.core_clock / 1000; /* kHz */
	response.odp_caps.general_caps = ODP_SUPPORTED | ODP_IMPLICIT;
	response.odp_caps.per_transport_caps.rc_odp_caps = ODP_OF_RELIABLE;
	response.xrc_odp_caps = ODP_OF_RELIABLE;
	response.cq_moderation_caps.max_cq_moderation_count = HCA_MODERATION_COUNT_MAX;
	response.cq_moderation_caps.max_cq_moderation_period =
		(uint16_t)(HCA_MODERATION_PERIOD_MAX / US);
	response.response_length = command_room(&command->core_out, sizeof(response));
	int error = command_reply(command, &response, sizeof(response));
	if (error || !command->driver_out.length)
		return error;

	driver.response_length = command_room(&command->driver_out, sizeof(driver));
	return command_reply_driver(command, &driver, sizeof(driver));
}
