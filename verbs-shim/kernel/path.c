/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: InfiniBand paths use the LID, and a GRH on request. RoCE paths use the source GID index,
 * which also selects the RoCE version.
 */
#include "verbs-shim/kernel/path.h"

#include <errno.h>
#include <string.h>

#include "verbs-shim/kernel/device.h"
#include "verbs-shim/kernel/internal.h"

#define LINK_LOCAL_PREFIX UINT64_C(0xfe80000000000000)

int path_check(const struct kernel *kernel, const struct ib_uverbs_ah_attr *address)
{
	struct ib_uverbs_gid_entry entry;
	if (address->port_num != 1)
		return -EINVAL;
	if (!address->is_global)
		return kernel_endpoint(kernel)->link_layer == LINK_ETHERNET ? -EINVAL : 0;
	return device_gid(kernel, address->port_num, address->grh.sgid_index, &entry) ? -EINVAL : 0;
}

int path_resolve_mac(const struct kernel *kernel, const uint8_t gid[16], uint8_t mac[6])
{
	if (group_has_gid(gid)) {
		group_mac(gid, mac);
		return 0;
	}
	uint32_t who = endpoints_by_gid(kernel->endpoints, gid);
	if (who == NO_ENDPOINT)
		return -EHOSTUNREACH;
	memcpy(mac, endpoints_get(kernel->endpoints, who)->mac, 6);
	return 0;
}

static void set_global(struct path *path, const struct endpoint *own,
		       const struct ib_uverbs_global_route *grh)
{
	path->has_grh = true;
	memcpy(path->sgid, own->gids[grh->sgid_index].bytes, 16);
	memcpy(path->dgid, grh->dgid, 16);
	path->traffic_class = grh->traffic_class;
	path->hop_limit = grh->hop_limit;
	path->flow_label = grh->flow_label & PATH_FLOW_LABEL_MASK;
}

static const struct path *intern(struct kernel *kernel, const struct path *path)
{
	return path_intern(endpoints_paths(kernel->endpoints), path);
}

/* Finds the owner of a LID: a port, or a group that the subnet manager knows. */
static uint32_t destination_of_lid(const struct kernel *kernel, uint16_t lid)
{
	if (lid >= GROUP_LID_FIRST)
		return groups_by_lid(endpoints_groups(kernel->endpoints), lid);
	return endpoints_by_lid(kernel->endpoints, lid);
}

static uint32_t destination_of_gid(const struct kernel *kernel, const uint8_t gid[16])
{
	if (group_has_gid(gid))
		return groups_by_gid(endpoints_groups(kernel->endpoints), gid);
	return endpoints_by_gid(kernel->endpoints, gid);
}

static const struct path *build_infiniband(struct kernel *kernel,
					   const struct ib_uverbs_ah_attr *address)
{
	const struct endpoint *own = kernel_endpoint(kernel);
	struct path path;
	memset(&path, 0, sizeof(path));
	path.link_layer = LINK_INFINIBAND;
	path.source = kernel->endpoint;
	path.destination = destination_of_lid(kernel, address->dlid);
	path.service_level = address->sl & 0xf;
	path.slid = own->lid;
	path.dlid = address->dlid;
	if (address->is_global)
		set_global(&path, own, &address->grh);
	return intern(kernel, &path);
}

static const struct path *build_ethernet(struct kernel *kernel,
					 const struct ib_uverbs_ah_attr *address,
					 uint16_t udp_source_port, const uint8_t mac[6])
{
	const struct endpoint *own = kernel_endpoint(kernel);
	struct path path;
	memset(&path, 0, sizeof(path));
	path.link_layer = LINK_ETHERNET;
	path.roce_version = own->gids[address->grh.sgid_index].roce_version;
	path.source = kernel->endpoint;
	path.destination = destination_of_gid(kernel, address->grh.dgid);
	path.service_level = address->sl & 7;
	set_global(&path, own, &address->grh);
	memcpy(path.smac, own->mac, 6);
	memcpy(path.dmac, mac, 6);
	if (path.roce_version != ROCE_V1)
		path.udp_source_port = udp_source_port;
	return intern(kernel, &path);
}

const struct path *path_build(struct kernel *kernel, const struct ib_uverbs_ah_attr *address,
			      uint32_t local_qp, uint32_t remote_qp)
{
	if (kernel_endpoint(kernel)->link_layer == LINK_INFINIBAND)
		return build_infiniband(kernel, address);

	uint8_t mac[6];
	uint32_t flow_label = address->grh.flow_label & PATH_FLOW_LABEL_MASK;
	if (flow_label == 0)
		flow_label = path_flow_label(local_qp, remote_qp);
	if (path_resolve_mac(kernel, address->grh.dgid, mac))
		return NULL;
	return build_ethernet(kernel, address, path_udp_source_port(flow_label), mac);
}

/* Fields of struct mlx5_wqe_av, <infiniband/mlx5dv.h>; in big-endian order. */
enum {
	AV_RATE_AND_SL = 12, /* SL: InfiniBand bits 0-3, Ethernet bits 1-3 */
	AV_LID = 14,         /* Ethernet: UDP source port */
	AV_MAC = 20,
	AV_TRAFFIC_CLASS = 26,
	AV_HOP_LIMIT = 27,
	AV_GRH_GID_FLOW = 28, /* bit 30: GRH present; 20-27: source GID index; 0-19: flow label */
	AV_GID = 32,
};

const struct path *path_resolve_address_vector(struct address_resolver *resolver,
					       const uint8_t av[48])
{
	struct kernel *kernel = container_of(resolver, struct kernel, resolver);
	bool ethernet = kernel_endpoint(kernel)->link_layer == LINK_ETHERNET;
	uint32_t global = (uint32_t)av[AV_GRH_GID_FLOW] << 24 |
			  (uint32_t)av[AV_GRH_GID_FLOW + 1] << 16 |
			  (uint32_t)av[AV_GRH_GID_FLOW + 2] << 8 | av[AV_GRH_GID_FLOW + 3];
	uint16_t lid = (uint16_t)(av[AV_LID] << 8 | av[AV_LID + 1]);
	struct ib_uverbs_ah_attr address = {
		.port_num = 1,
		.is_global = ethernet || (global >> 30 & 1),
		.sl = ethernet ? av[AV_RATE_AND_SL] >> 1 & 7 : av[AV_RATE_AND_SL] & 0xf,
		.dlid = lid,
		.grh.sgid_index = (uint8_t)(global >> 20),
		.grh.flow_label = global & PATH_FLOW_LABEL_MASK,
		.grh.traffic_class = av[AV_TRAFFIC_CLASS],
		.grh.hop_limit = av[AV_HOP_LIMIT],
	};
	memcpy(address.grh.dgid, av + AV_GID, 16);
	if (path_check(kernel, &address))
		return NULL;
	return ethernet ? build_ethernet(kernel, &address, lid, av + AV_MAC)
			: build_infiniband(kernel, &address);
}
