/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membership: see state.h. UDP sockets in multicast groups: RFC 1112. A host's adapter passes
 * datagrams of a group to the stack if a socket of the host has joined the group. Linux then gives
 * them to all sockets that are bound to their address and port, members or not (IP_MULTICAST_ALL).
 */
#include <netinet/in.h>

#include "fabric/groups.h"
#include "verbs-shim/sockets/state.h"

#define MOST_FOUR 20 /* Linux: net.ipv4.igmp_max_memberships */

static bool is_of(const struct shim_membership *member, const uint8_t group[16], uint32_t interface)
{
	return memcmp(member->group, group, sizeof(member->group)) == 0 &&
	       (!interface || member->interface == interface);
}

int membership_join(struct socket *socket, const struct shim_membership *wanted)
{
	bool six = wanted->group[0] == 0xff;
	struct shim_membership *list;
	uint32_t count = 0;

	for (uint32_t i = 0; i < socket->member_count; i++) {
		if (is_of(&socket->members[i], wanted->group, wanted->interface))
			return -EADDRINUSE;
		count += (socket->members[i].group[0] == 0xff) == six;
	}
	if (!six && count >= MOST_FOUR)
		return -ENOBUFS;
	list = realloc(socket->members, (socket->member_count + 1) * sizeof(*list));
	assert(list);
	socket->members = list;
	list[socket->member_count] = *wanted;
	if (!wanted->interface)
		list[socket->member_count].interface = SHIM_INTERFACE_ETH0;
	socket->member_count++;
	return 0;
}

int membership_leave(struct socket *socket, const struct shim_membership *wanted)
{
	for (uint32_t i = 0; i < socket->member_count; i++) {
		if (!is_of(&socket->members[i], wanted->group, wanted->interface))
			continue;
		socket->member_count--;
		memmove(&socket->members[i], &socket->members[i + 1],
			(socket->member_count - i) * sizeof(socket->members[0]));
		return 0;
	}
	return -EADDRNOTAVAIL;
}

void membership_end(struct socket *socket)
{
	free(socket->members);
	socket->members = NULL;
	socket->member_count = 0;
}

static bool has(const struct socket *socket, const uint8_t group[16], uint32_t interface)
{
	for (uint32_t i = 0; i < socket->member_count; i++)
		if (is_of(&socket->members[i], group, interface))
			return true;
	return false;
}

/* Every host is in 224.0.0.1 and ff02::1: RFC 1112 4, RFC 4291 2.7.1. */
static bool is_of_all_hosts(const uint8_t group[16])
{
	static const uint8_t four[16] = {[10] = 0xff, 0xff, 224, 0, 0, 1};
	static const uint8_t six[16] = {0xff, 2, [15] = 1};

	return memcmp(group, four, sizeof(four)) == 0 || memcmp(group, six, sizeof(six)) == 0;
}

bool membership_of_host(const struct sockets *sockets, uint32_t host, const uint8_t group[16],
			uint32_t interface)
{
	if (is_of_all_hosts(group))
		return true;
	for (uint32_t i = 0; i < sockets->highest; i++) {
		const struct socket *socket = &sockets->table[i];

		if (socket->used && socket->host == host && has(socket, group, interface))
			return true;
	}
	return false;
}

bool membership_passes(const struct socket *socket, const uint8_t group[16], uint32_t interface)
{
	bool six = group[0] == 0xff;

	return has(socket, group, interface) ||
	       shim_socket_option_value(socket->record, six ? IPPROTO_IPV6 : IPPROTO_IP,
					six ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, 1);
}
