/* SPDX-License-Identifier: Apache-2.0 */
/* interfaces: see interfaces.h. getifaddrs() returns one block, so that libc's freeifaddrs() frees
 * it. */
#include "verbs-shim/preload/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/names.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/socket_record.h"

#define LOOPBACK_MTU 65536

enum { LOOPBACK, ETHERNET, INTERFACES };

static const struct interface {
	const char *name;
	uint32_t netmask, flags;
} interfaces[INTERFACES] = {
	[LOOPBACK] = {"lo", 0xff000000, IFF_UP | IFF_LOOPBACK | IFF_RUNNING},
	[ETHERNET] = {"eth0", 0xffff0000, IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST},
};

static char *put_name(char name[IFNAMSIZ], unsigned index)
{
	return memcpy(name, interfaces[index].name, strlen(interfaces[index].name) + 1);
}

static struct sockaddr_in internet(uint32_t network_order)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = network_order};
}

static struct sockaddr_in address_of(unsigned index)
{
	return internet(index == LOOPBACK ? htonl(INADDR_LOOPBACK) : names_own_address());
}

static struct sockaddr_in mask_of(unsigned index)
{
	return internet(htonl(interfaces[index].netmask));
}

static struct sockaddr_in broadcast_of(unsigned index)
{
	return internet(address_of(index).sin_addr.s_addr | ~htonl(interfaces[index].netmask));
}

/* Loopback has 127/8 but the network of eth0. */
uint32_t interfaces_with(uint32_t address)
{
	uint32_t net = htonl(interfaces[ETHERNET].netmask);

	if (address == names_own_address())
		return SHIM_INTERFACE_ETH0;
	return ntohl(address) >> 24 == IN_LOOPBACKNET &&
			       (address & net) != (names_own_address() & net)
		       ? SHIM_INTERFACE_LO
		       : 0;
}

/* INTERFACES: there is none of that name. */
static unsigned find(const char *name)
{
	unsigned index = 0;

	while (index < INTERFACES && strncmp(interfaces[index].name, name, IFNAMSIZ) != 0)
		index++;
	return index;
}

/* Returns the address of the adapter on RoCE. Otherwise returns a local address, made of the IP
 * address. */
static struct sockaddr hardware_of(unsigned index)
{
	struct sockaddr hardware = {.sa_family =
					    index == LOOPBACK ? ARPHRD_LOOPBACK : ARPHRD_ETHER};
	uint32_t own = names_own_address();
	char name[256];
	FILE *file;

	if (index == LOOPBACK)
		return hardware;
	hardware.sa_data[0] = 2;
	memcpy(hardware.sa_data + 2, &own, sizeof(own));
	snprintf(name, sizeof(name), "%s/sys/class/net/eth0/address", shim.tree);
	file = fopen(name, "re");
	if (file) {
		unsigned byte;

		for (int i = 0; i < 6 && fscanf(file, i ? ":%2x" : "%2x", &byte) == 1; i++)
			hardware.sa_data[i] = (char)byte;
		fclose(file);
	}
	return hardware;
}

static int list_all(struct ifconf *list)
{
	int room = list->ifc_len / (int)sizeof(struct ifreq), count = 0;

	if (!list->ifc_req)
		room = 0;
	for (unsigned i = 0; i < INTERFACES && (count < room || !list->ifc_req); i++, count++) {
		struct sockaddr_in address = address_of(i);

		if (!list->ifc_req)
			continue;
		memset(&list->ifc_req[count], 0, sizeof(list->ifc_req[count]));
		put_name(list->ifc_req[count].ifr_name, i);
		memcpy(&list->ifc_req[count].ifr_addr, &address, sizeof(address));
	}
	list->ifc_len = count * (int)sizeof(struct ifreq);
	return 0;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

static int interface_request(unsigned long request, struct ifreq *about)
{
	unsigned index = find(about->ifr_name);
	struct sockaddr_in address;

	if (request == SIOCGIFNAME) {
		if (about->ifr_ifindex < 1 || about->ifr_ifindex > INTERFACES)
			return fail(ENODEV);
		put_name(about->ifr_name, (unsigned)about->ifr_ifindex - 1);
		return 0;
	}
	if (index == INTERFACES)
		return fail(ENODEV);
	switch (request) {
	case SIOCETHTOOL:
		return fail(EOPNOTSUPP);
	case SIOCGIFFLAGS:
		about->ifr_flags = (short)interfaces[index].flags;
		return 0;
	case SIOCGIFINDEX:
		about->ifr_ifindex = (int)index + 1;
		return 0;
	case SIOCGIFMTU:
		about->ifr_mtu =
			index == LOOPBACK ? LOOPBACK_MTU : (int)shim.memory->socket_costs.mtu_bytes;
		return 0;
	case SIOCGIFHWADDR:
		about->ifr_hwaddr = hardware_of(index);
		return 0;
	default:
		address = request == SIOCGIFNETMASK   ? mask_of(index)
			  : request == SIOCGIFBRDADDR ? broadcast_of(index)
						      : address_of(index);
		memcpy(&about->ifr_addr, &address, sizeof(address));
		return 0;
	}
}

bool interfaces_ioctl(unsigned long request, void *argument, int *result)
{
	static const unsigned long known[] = {SIOCGIFNAME,  SIOCGIFFLAGS,   SIOCGIFADDR,
					      SIOCGIFINDEX, SIOCGIFNETMASK, SIOCGIFBRDADDR,
					      SIOCGIFMTU,   SIOCGIFHWADDR,  SIOCETHTOOL};

	if (!names_active() || !argument)
		return false;
	if (request == SIOCGIFCONF) {
		*result = list_all(argument);
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == request) {
			*result = interface_request(request, argument);
			return true;
		}
	return false;
}

EXPORT int getifaddrs(struct ifaddrs **result)
{
	struct one {
		struct ifaddrs entry;
		struct sockaddr_in address, mask, broadcast;
		char name[IFNAMSIZ];
	} * all;

	if (!names_active())
		return REAL(getifaddrs)(result);
	all = calloc(INTERFACES, sizeof(*all));
	if (!all)
		return -1;
	for (unsigned i = 0; i < INTERFACES; i++) {
		struct one *one = &all[i];

		put_name(one->name, i);
		one->address = address_of(i);
		one->mask = mask_of(i);
		one->broadcast = broadcast_of(i);
		one->entry = (struct ifaddrs){
			.ifa_next = i + 1 < INTERFACES ? &all[i + 1].entry : NULL,
			.ifa_name = one->name,
			.ifa_flags = interfaces[i].flags,
			.ifa_addr = (struct sockaddr *)&one->address,
			.ifa_netmask = (struct sockaddr *)&one->mask,
			.ifa_broadaddr = (struct sockaddr *)&one->broadcast,
		};
	}
	*result = &all[0].entry;
	return 0;
}

EXPORT unsigned if_nametoindex(const char *name)
{
	unsigned index;

	if (!names_active())
		return REAL(if_nametoindex)(name);
	index = find(name);
	if (index < INTERFACES)
		return index + 1;
	errno = ENODEV;
	return 0;
}

EXPORT char *if_indextoname(unsigned number, char name[IF_NAMESIZE])
{
	if (!names_active())
		return REAL(if_indextoname)(number, name);
	if (number < 1 || number > INTERFACES) {
		errno = ENXIO;
		return NULL;
	}
	return put_name(name, number - 1);
}
