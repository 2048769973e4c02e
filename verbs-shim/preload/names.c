/* SPDX-License-Identifier: Apache-2.0 */
/* names: see names.h. */
#include "verbs-shim/preload/names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#define NAME_BYTES 64

static struct {
	char name[NAME_BYTES];
	uint32_t address; /* network order */
} table[NAMES_MOST_HOSTS];

static uint32_t count, own_index;

/* Reads one "name=address" up to the comma. Returns false for another form. */
static bool add_entry(const char *entry, size_t length)
{
	const char *equals = memchr(entry, '=', length);
	char address[INET_ADDRSTRLEN];
	struct in_addr parsed;

	if (!equals || count == NAMES_MOST_HOSTS)
		return false;
	size_t name_length = (size_t)(equals - entry), address_length = length - name_length - 1;

	if (name_length == 0 || name_length >= NAME_BYTES || address_length >= sizeof(address))
		return false;
	memcpy(address, equals + 1, address_length);
	address[address_length] = '\0';
	if (inet_pton(AF_INET, address, &parsed) != 1)
		return false;
	memcpy(table[count].name, entry, name_length);
	table[count].name[name_length] = '\0';
	table[count].address = parsed.s_addr;
	count++;
	return true;
}

void names_init(const char *text, uint32_t own)
{
	count = 0;
	while (*text) {
		size_t length = strcspn(text, ",");

		if (!add_entry(text, length))
			break;
		text += length;
		text += *text == ',';
	}
	own_index = own;
	if (own >= count)
		count = 0;
}

bool names_active(void)
{
	return count != 0;
}

bool names_find(const char *name, uint32_t *address)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0) {
			*address = table[i].address;
			return true;
		}
	if (count && strcmp(name, "localhost") == 0) {
		*address = table[own_index].address;
		return true;
	}
	return false;
}

const char *names_own(void)
{
	return count ? table[own_index].name : NULL;
}

uint32_t names_own_address(void)
{
	return count ? table[own_index].address : 0;
}

static bool is_host(uint32_t address)
{
	for (uint32_t i = 0; i < count; i++)
		if (table[i].address == address)
			return true;
	return false;
}

/* Returns the address on this host that replaces the address; 0: the address is not replaced. */
static uint32_t replacement(uint32_t address)
{
	bool any = address == htonl(INADDR_ANY);
	bool loopback = ntohl(address) >> 24 == 127 && !is_host(address);

	return any || loopback ? names_own_address() : 0;
}

static const struct sockaddr *rewrite_ipv4(const struct sockaddr *address, socklen_t length,
					   struct sockaddr_storage *changed)
{
	struct sockaddr_in copy;

	if (length < sizeof(copy))
		return address;
	memcpy(&copy, address, sizeof(copy));

	uint32_t own = replacement(copy.sin_addr.s_addr);

	if (!own)
		return address;
	copy.sin_addr.s_addr = own;
	memcpy(changed, &copy, sizeof(copy));
	return (const struct sockaddr *)changed;
}

/* An IPv6 socket reaches the same hosts by IPv4-mapped addresses. */
static const struct sockaddr *rewrite_ipv6(int socket, const struct sockaddr *address,
					   socklen_t length, struct sockaddr_storage *changed)
{
	struct sockaddr_in6 copy;
	uint32_t own = 0;
	int off = 0;

	if (length < sizeof(copy))
		return address;
	memcpy(&copy, address, sizeof(copy));
	if (IN6_IS_ADDR_UNSPECIFIED(&copy.sin6_addr) || IN6_IS_ADDR_LOOPBACK(&copy.sin6_addr)) {
		own = names_own_address();
	} else if (IN6_IS_ADDR_V4MAPPED(&copy.sin6_addr)) {
		uint32_t mapped;

		memcpy(&mapped, &copy.sin6_addr.s6_addr[12], sizeof(mapped));
		own = replacement(mapped);
	}
	if (!own)
		return address;
	setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	memset(&copy.sin6_addr, 0, sizeof(copy.sin6_addr));
	copy.sin6_addr.s6_addr[10] = copy.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&copy.sin6_addr.s6_addr[12], &own, sizeof(own));
	memcpy(changed, &copy, sizeof(copy));
	return (const struct sockaddr *)changed;
}

const struct sockaddr *names_rewrite(int socket, const struct sockaddr *address, socklen_t *length,
				     struct sockaddr_storage *changed)
{
	if (!count || !address || *length < sizeof(address->sa_family))
		return address;
	if (address->sa_family == AF_INET)
		return rewrite_ipv4(address, *length, changed);
	if (address->sa_family == AF_INET6)
		return rewrite_ipv6(socket, address, *length, changed);
	return address;
}
