/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_address: meaning of addresses. An IPv4 address belongs to a host's network interface (RoCE) or
 * represents its IPoIB interface. An IPv6 address is the link-local address, which is the port's
 * first GID in both cases. Groups become the GIDs that Linux makes of them: in InfiniBand RFC 4391,
 * section 4, with the marks of rdma_cm; in RoCE IBTA annex A17.
 */
#include <string.h>

#include "fabric/groups.h"
#include "fabric/partition.h"
#include "verbs-shim/kernel/cm.h"

/* Second half of the first 32 bits of a group's GID, by which rdma_cm marks its own groups. */
enum { MARK_IPV4 = 0x4001, MARK_IPV6 = 0x6001 };

const void *cm_address_bytes(const struct sockaddr_in6 *address, uint32_t *length)
{
	if (address->sin6_family == AF_INET6) {
		*length = sizeof(address->sin6_addr);
		return &address->sin6_addr;
	}
	*length = sizeof(struct in_addr);
	return (const uint8_t *)address + offsetof(struct sockaddr_in, sin_addr);
}

bool cm_address_known(const struct sockaddr_in6 *address)
{
	return address->sin6_family == AF_INET || address->sin6_family == AF_INET6;
}

bool cm_address_equal(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	uint32_t length, other;
	const void *bytes = cm_address_bytes(a, &length), *bytes_b = cm_address_bytes(b, &other);

	return a->sin6_family == b->sin6_family && memcmp(bytes, bytes_b, length) == 0;
}

bool cm_address_is_any(const struct sockaddr_in6 *address)
{
	static const uint8_t any[16];
	uint32_t length;
	const void *bytes = cm_address_bytes(address, &length);

	return memcmp(bytes, any, length) == 0;
}

bool cm_address_is_group(const struct sockaddr_in6 *address)
{
	uint32_t length;
	const uint8_t *bytes = cm_address_bytes(address, &length);

	return length == 4 ? (bytes[0] & 0xf0) == 0xe0 : bytes[0] == 0xff;
}

/* Returns the GID index. An IPv4 address has the only GID of InfiniBand, or the RoCE v2 GID of the
 * IPv4 address. An IPv6 address has the RoCE v2 GID of the link-local address. */
uint32_t cm_gid_index(const struct endpoint *endpoint, const struct sockaddr_in6 *address)
{
	if (address->sin6_family == AF_INET || endpoint->link_layer != LINK_ETHERNET)
		return endpoint->gid_count - 1;
	return 1;
}

bool cm_address_is_of(const struct endpoint *endpoint, const struct sockaddr_in6 *address)
{
	uint32_t length;
	const void *bytes = cm_address_bytes(address, &length);

	return length == 4 ? memcmp(bytes, endpoint->ipv4, 4) == 0
			   : memcmp(bytes, endpoint->gids[cm_gid_index(endpoint, address)].bytes,
				    16) == 0;
}

void cm_address_set_own(const struct kernel *kernel, struct sockaddr_in6 *address,
			sa_family_t family)
{
	const struct endpoint *own = kernel_endpoint(kernel);

	address->sin6_family = family;
	if (family == AF_INET)
		memcpy((uint8_t *)address + offsetof(struct sockaddr_in, sin_addr), own->ipv4, 4);
	else
		memcpy(&address->sin6_addr, own->gids[cm_gid_index(own, address)].bytes, 16);
}

/* Writes the group's GID: 12 bits FFxs, the mark, the partition, and the low 28 or 80 bits of the
 * address. */
static void group_of_infiniband(const struct kernel *kernel, const struct sockaddr_in6 *address,
				uint8_t gid[16])
{
	uint16_t key = kernel_endpoint(kernel)->partitions->keys[0] | PKEY_FULL;
	bool ipv4 = address->sin6_family == AF_INET;
	uint32_t mark = ipv4 ? MARK_IPV4 : MARK_IPV6, length;
	const uint8_t *bytes = cm_address_bytes(address, &length);

	memset(gid, 0, 16);
	gid[0] = 0xff;
	gid[1] = 0x12; /* transient, of the link's scope, as IPoIB's broadcast group */
	gid[2] = (uint8_t)(mark >> 8);
	gid[3] = (uint8_t)mark;
	gid[4] = (uint8_t)(key >> 8);
	gid[5] = (uint8_t)key;
	if (ipv4) {
		memcpy(gid + 12, bytes, 4);
		gid[12] &= 0x0f;
	} else {
		memcpy(gid + 6, bytes + 6, 10);
	}
}

void cm_address_group(const struct kernel *kernel, const struct sockaddr_in6 *address,
		      uint8_t gid[16])
{
	uint32_t length;
	const uint8_t *bytes = cm_address_bytes(address, &length);

	if (kernel_endpoint(kernel)->link_layer != LINK_ETHERNET) {
		if (length == 16 && bytes[1] >> 4 == 1 && bytes[2] == 0xa0 && bytes[3] == 0x1b)
			memcpy(gid, bytes, 16); /* GID of a group, as written by a program */
		else
			group_of_infiniband(kernel, address, gid);
		return;
	}
	memset(gid, 0, 16);
	memcpy(gid + 16 - length, bytes, length);
	if (length == 4)
		gid[10] = gid[11] = 0xff;
}
