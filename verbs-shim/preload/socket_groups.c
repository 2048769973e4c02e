/* SPDX-License-Identifier: Apache-2.0 */
/* socket_groups: see socket_groups.h. */
#include "verbs-shim/preload/socket_groups.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "verbs-shim/preload/interfaces.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/sockets.h"

#define HOPS_DEFAULT 1
#define HOPS_MOST    255

static int fail(int error)
{
	errno = error;
	return -1;
}

static bool is_interface(int64_t index)
{
	return index == SHIM_INTERFACE_LO || index == SHIM_INTERFACE_ETH0;
}

/* Returns the interface that an index or an address selects, or 0. eth0: neither is given. */
static uint32_t choose(int32_t index, uint32_t address)
{
	if (index)
		return is_interface(index) ? (uint32_t)index : 0;
	return address == INADDR_ANY ? SHIM_INTERFACE_ETH0 : interfaces_with(address);
}

/* Carries out the call for record->group. */
static int change(struct shim_socket *record, bool joins)
{
	int64_t result = sockets_call_number(joins ? SOCKET_JOIN : SOCKET_LEAVE, record);

	return result < 0 ? fail((int)-result) : 0;
}

static int change_four(struct shim_socket *record, bool joins, const struct ip_mreqn *request)
{
	uint32_t found = choose(request->imr_ifindex, request->imr_address.s_addr);

	if (!IN_MULTICAST(ntohl(request->imr_multiaddr.s_addr))) {
		if (joins)
			return fail(EINVAL);
		if (!request->imr_ifindex && request->imr_address.s_addr == INADDR_ANY)
			return fail(ENODEV); /* no route */
	}
	if (!found)
		return fail(joins ? ENODEV : EADDRNOTAVAIL);
	record->group = (struct shim_membership){.group = {[10] = 0xff, 0xff}, .interface = found};
	memcpy(record->group.group + 12, &request->imr_multiaddr, sizeof(struct in_addr));
	return change(record, joins);
}

static int change_six(struct shim_socket *record, bool joins, const struct ipv6_mreq *request)
{
	uint32_t index = request->ipv6mr_interface;

	if (!IN6_IS_ADDR_MULTICAST(&request->ipv6mr_multiaddr))
		return fail(EINVAL);
	if (index && !is_interface(index))
		return fail(joins ? ENODEV : EADDRNOTAVAIL);
	record->group.interface = index;
	memcpy(record->group.group, &request->ipv6mr_multiaddr, sizeof(record->group.group));
	return change(record, joins);
}

/* Reads a struct ip_mreq or ip_mreqn, of which only the second has an index, or an address. */
static bool read_request(const void *value, socklen_t length, socklen_t least,
			 struct ip_mreqn *request)
{
	*request = (struct ip_mreqn){.imr_ifindex = 0};
	if (length < least)
		return false;
	if (length >= sizeof(*request))
		memcpy(request, value, sizeof(*request));
	else if (length >= sizeof(struct ip_mreq))
		memcpy(request, value, sizeof(struct ip_mreq));
	else
		memcpy(&request->imr_address, value, sizeof(request->imr_address));
	return true;
}

/* Implements MCAST_JOIN_GROUP and MCAST_LEAVE_GROUP. Linux permits them for TCP, too. */
static int change_by_request(struct shim_socket *record, int level, bool joins, const void *value,
			     socklen_t length)
{
	struct group_req request;
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (length < sizeof(request))
		return fail(EINVAL);
	memcpy(&request, value, sizeof(request));
	memcpy(&four, &request.gr_group, sizeof(four));
	memcpy(&six, &request.gr_group, sizeof(six));
	if (level == IPPROTO_IP)
		return four.sin_family != AF_INET
			       ? fail(EINVAL)
			       : change_four(record, joins,
					     &(struct ip_mreqn){.imr_multiaddr = four.sin_addr,
								.imr_ifindex =
									(int)request.gr_interface});
	return six.sin6_family != AF_INET6
		       ? fail(EADDRNOTAVAIL)
		       : change_six(record, joins,
				    &(struct ipv6_mreq){six.sin6_addr, request.gr_interface});
}

static int choose_interface(struct shim_socket *record, const void *value, socklen_t length)
{
	struct ip_mreqn request;
	uint32_t found;

	if (!record->datagram || !read_request(value, length, sizeof(struct in_addr), &request))
		return fail(EINVAL);
	found = choose(request.imr_ifindex, request.imr_address.s_addr);
	if (!found)
		return fail(EADDRNOTAVAIL);
	record->group_source = request.imr_address.s_addr;
	return socket_options_keep(record, IPPROTO_IP, IP_MULTICAST_IF, (int)found);
}

static int set_four(struct shim_socket *record, int option, const void *value, socklen_t length)
{
	struct ip_mreqn request;
	int number = length ? *(const uint8_t *)value : 0;

	if (length >= sizeof(number))
		memcpy(&number, value, sizeof(number));
	switch (option) {
	case IP_MULTICAST_IF:
		return choose_interface(record, value, length);
	case IP_ADD_MEMBERSHIP:
	case IP_DROP_MEMBERSHIP:
		if (!record->datagram)
			return fail(EPROTO);
		return read_request(value, length, sizeof(struct ip_mreq), &request)
			       ? change_four(record, option == IP_ADD_MEMBERSHIP, &request)
			       : fail(EINVAL);
	case IP_MULTICAST_TTL:
		if (number == -1)
			number = HOPS_DEFAULT;
		if (!record->datagram || number < 0 || number > HOPS_MOST)
			return fail(EINVAL);
		break;
	case IP_MULTICAST_ALL:
		if (number != 0 && number != 1)
			return fail(EINVAL);
		break;
	default:
		number = number != 0;
		break;
	}
	return length ? socket_options_keep(record, IPPROTO_IP, option, number) : fail(EINVAL);
}

static int set_six(struct shim_socket *record, int option, const void *value, socklen_t length)
{
	struct ipv6_mreq request;
	int number = 0;

	if (option == IPV6_JOIN_GROUP || option == IPV6_LEAVE_GROUP) {
		if (length < sizeof(request))
			return fail(EINVAL);
		memcpy(&request, value, sizeof(request));
		return record->datagram ? change_six(record, option == IPV6_JOIN_GROUP, &request)
					: fail(EPROTO);
	}
	if (!record->datagram && (option == IPV6_MULTICAST_HOPS || option == IPV6_MULTICAST_IF))
		return fail(ENOPROTOOPT);
	if (length < sizeof(number))
		return fail(EINVAL);
	memcpy(&number, value, sizeof(number));
	if (option == IPV6_MULTICAST_IF && number && !is_interface(number))
		return fail(ENODEV);
	if ((option == IPV6_MULTICAST_HOPS && (number < -1 || number > HOPS_MOST)) ||
	    (option == IPV6_MULTICAST_LOOP && number != 0 && number != 1))
		return fail(EINVAL);
	if (option == IPV6_MULTICAST_HOPS && number == -1)
		number = HOPS_DEFAULT;
	if (option == IPV6_MULTICAST_ALL)
		number = number != 0;
	return socket_options_keep(record, IPPROTO_IPV6, option, number);
}

static bool is_of_groups(int level, int option)
{
	static const int four[] = {IP_MULTICAST_IF,   IP_MULTICAST_TTL,   IP_MULTICAST_LOOP,
				   IP_ADD_MEMBERSHIP, IP_DROP_MEMBERSHIP, IP_MULTICAST_ALL};
	static const int six[] = {IPV6_MULTICAST_IF, IPV6_MULTICAST_HOPS, IPV6_MULTICAST_LOOP,
				  IPV6_JOIN_GROUP,   IPV6_LEAVE_GROUP,    IPV6_MULTICAST_ALL};
	const int *options = level == IPPROTO_IP ? four : six;

	if (level != IPPROTO_IP && level != IPPROTO_IPV6)
		return false;
	for (unsigned i = 0; i < sizeof(four) / sizeof(four[0]); i++)
		if (options[i] == option)
			return true;
	return option == MCAST_JOIN_GROUP || option == MCAST_LEAVE_GROUP;
}

bool socket_groups_set(struct shim_socket *record, int level, int option, const void *value,
		       socklen_t length, int *result)
{
	if (!is_of_groups(level, option) || (level == IPPROTO_IPV6 && record->family != AF_INET6))
		return false;
	if (option == MCAST_JOIN_GROUP || option == MCAST_LEAVE_GROUP)
		*result =
			change_by_request(record, level, option == MCAST_JOIN_GROUP, value, length);
	else if (level == IPPROTO_IP)
		*result = set_four(record, option, value, length);
	else
		*result = set_six(record, option, value, length);
	return true;
}

bool socket_groups_get(const struct shim_socket *record, int level, int option, int *value)
{
	bool source = level == IPPROTO_IP && option == IP_MULTICAST_IF;
	bool index = level == IPPROTO_IPV6 && option == IPV6_MULTICAST_IF;
	bool sets = level == IPPROTO_IP
			    ? option == IP_ADD_MEMBERSHIP || option == IP_DROP_MEMBERSHIP
			    : option == IPV6_JOIN_GROUP || option == IPV6_LEAVE_GROUP;

	if (!is_of_groups(level, option) || sets || option == MCAST_JOIN_GROUP ||
	    option == MCAST_LEAVE_GROUP || (level == IPPROTO_IPV6 && record->family != AF_INET6))
		return false;
	*value = source ? (int)record->group_source
			: shim_socket_option_value(record, level, option, !index);
	return true;
}
