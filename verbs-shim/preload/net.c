/* net: see net.h. */
#include "verbs-shim/preload/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "verbs-shim/preload/names.h"
#include "verbs-shim/preload/shim.h"

/* The name as dotted digits if it is one of ours, else the name. */
static const char *numeric(const char *name, char digits[INET_ADDRSTRLEN])
{
	uint32_t address;

	if (!name || !names_find(name, &address))
		return name;
	inet_ntop(AF_INET, &address, digits, INET_ADDRSTRLEN);
	return digits;
}

EXPORT int getaddrinfo(const char *restrict node, const char *restrict service,
		       const struct addrinfo *restrict hints, struct addrinfo **restrict result)
{
	char digits[INET_ADDRSTRLEN];
	struct addrinfo ours = {0};
	const char *name = numeric(node, digits);

	if (name != node && hints &&
	    hints->ai_family == AF_INET6) { /* reached by its IPv4-mapped form */
		ours = *hints;
		ours.ai_flags |= AI_V4MAPPED;
		hints = &ours;
	}
	return REAL(getaddrinfo)(name, service, hints, result);
}

EXPORT struct hostent *gethostbyname(const char *name)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname)(numeric(name, digits));
}

EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname2)(family == AF_INET ? numeric(name, digits) : name, family);
}

EXPORT int gethostbyname_r(const char *restrict name, struct hostent *restrict entry,
			   char *restrict buffer, size_t bytes, struct hostent **restrict result,
			   int *restrict error)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname_r)(numeric(name, digits), entry, buffer, bytes, result, error);
}

EXPORT int gethostname(char *name, size_t bytes)
{
	const char *own = names_own();

	if (!own)
		return REAL(gethostname)(name, bytes);
	if (strlen(own) >= bytes) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, own, strlen(own) + 1);
	return 0;
}

EXPORT int uname(struct utsname *system)
{
	int result = REAL(uname)(system);
	const char *own = names_own();

	if (result == 0 && own) {
		memset(system->nodename, 0, sizeof(system->nodename));
		memcpy(system->nodename, own, strnlen(own, sizeof(system->nodename) - 1));
	}
	return result;
}

EXPORT int bind(int socket, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_storage changed;

	address = names_rewrite(socket, address, &length, &changed);
	return REAL(bind)(socket, address, length);
}

static bool is_unbound(int socket)
{
	struct sockaddr_storage bound = {0};
	socklen_t length = sizeof(bound);

	if (getsockname(socket, (struct sockaddr *)&bound, &length) != 0)
		return false;
	if (bound.ss_family == AF_INET)
		return ((struct sockaddr_in *)&bound)->sin_port == 0;
	return bound.ss_family == AF_INET6 && ((struct sockaddr_in6 *)&bound)->sin6_port == 0;
}

/* So that the peer sees which host it is. The port is chosen at connect time. */
static void bind_own_address(int socket, int family)
{
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family}, changed;
	socklen_t length =
		family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	const struct sockaddr *own =
		names_rewrite(socket, (struct sockaddr *)&any, &length, &changed);
	int before = errno, on = 1;

	setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	REAL(bind)(socket, own, length);
	errno = before;
}

static bool leads_to_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) &&
	       six->sin6_addr.s6_addr[12] == 127;
}

int net_connect(int socket, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_storage changed;

	address = names_rewrite(socket, address, &length, &changed);
	if (names_active() && length >= sizeof(struct sockaddr_in) && leads_to_loopback(address) &&
	    is_unbound(socket))
		bind_own_address(socket, address->sa_family);
	return REAL(connect)(socket, address, length);
}

EXPORT int connect(int socket, const struct sockaddr *address, socklen_t length)
{
	int result = net_connect(socket, address, length);

	if (shim_active())
		gate_visible();
	return result;
}
