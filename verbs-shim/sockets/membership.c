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

static struct socket_host *host_of(const struct socket *socket)
{
	return socket->sockets->hosts[socket->host];
}

int membership_join(struct socket *socket, const struct shim_membership *wanted)
{
	bool six = wanted->group[0] == 0xff, is_new;
	uint32_t interface = wanted->interface ? wanted->interface : SHIM_INTERFACE_ETH0;
	struct shim_membership *list;
	uint32_t count = 0;

	for (uint32_t i = 0; i < socket->member_count; i++) {
		if (is_of(&socket->members[i], wanted->group, wanted->interface))
			return -EADDRINUSE;
		count += (socket->members[i].group[0] == 0xff) == six;
	}
	if (!six && count >= MOST_FOUR)
		return -ENOBUFS;
	is_new = interface == SHIM_INTERFACE_ETH0 &&
		 !membership_of_host(socket->sockets, socket->host, wanted->group, interface);
	list = realloc(socket->members, (socket->member_count + 1) * sizeof(*list));
	assert(list);
	socket->members = list;
	list[socket->member_count] = *wanted;
	list[socket->member_count].interface = interface;
	socket->member_count++;
	if (is_new)
		reports_send(host_of(socket), wanted->group, false);
	return 0;
}

/* Removes an entry of the list. */
static void end_one(struct socket *socket, uint32_t place)
{
	struct shim_membership member = socket->members[place];

	socket->member_count--;
	memmove(&socket->members[place], &socket->members[place + 1],
		(socket->member_count - place) * sizeof(socket->members[0]));
	if (member.interface == SHIM_INTERFACE_ETH0 &&
	    !membership_of_host(socket->sockets, socket->host, member.group, member.interface))
		reports_send(host_of(socket), member.group, true);
}

int membership_leave(struct socket *socket, const struct shim_membership *wanted)
{
	for (uint32_t i = 0; i < socket->member_count; i++) {
		if (!is_of(&socket->members[i], wanted->group, wanted->interface))
			continue;
		end_one(socket, i);
		return 0;
	}
	return -EADDRNOTAVAIL;
}

void membership_end(struct socket *socket)
{
	while (socket->member_count)
		end_one(socket, socket->member_count - 1);
	free(socket->members);
	socket->members = NULL;
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
	if (is_of_all_hosts(group) || ports_is_broadcast(sockets, group))
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

	return has(socket, group, interface) || ports_is_broadcast(socket->sockets, group) ||
	       shim_socket_option_value(socket->record, six ? IPPROTO_IPV6 : IPPROTO_IP,
					six ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, 1);
}
