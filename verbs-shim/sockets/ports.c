/* SPDX-License-Identifier: Apache-2.0 */
/* ports: see state.h. Addresses are IPv6 addresses. IPv4 addresses are in mapped form. */
#include <sys/socket.h>

#include "fabric/groups.h"
#include "verbs-shim/sockets/state.h"

/* Linux: net.ipv4.ip_local_port_range. */
enum { PORT_FIRST = 32768, PORT_LAST = 60999, LOOPBACK_NET = 127 };

/* Of the network of eth0, whose mask is 255.255.0.0. */
enum { NET_BYTES = 2 };

/* Linux: TCP_TIMEWAIT_LEN. */
#define TIME_WAIT (60 * SEC)

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t any_six[16], loopback_six[16] = {[15] = 1};

static bool is_same(const struct shim_address *one, const struct shim_address *other)
{
	return one->port == other->port && memcmp(one->ip, other->ip, sizeof(one->ip)) == 0;
}

static bool is_mapped(const struct shim_address *address)
{
	return memcmp(address->ip, mapped, sizeof(mapped)) == 0;
}

bool ports_is_any(const struct shim_address *address)
{
	return memcmp(address->ip, any_six, 16) == 0 ||
	       (is_mapped(address) && memcmp(address->ip + 12, any_six, 4) == 0);
}

bool ports_is_broadcast(const struct sockets *sockets, const uint8_t ip[16])
{
	static const uint8_t all[4] = {255, 255, 255, 255};
	const uint8_t *net = sockets->hosts[0]->ipv4;

	return memcmp(ip, mapped, sizeof(mapped)) == 0 &&
	       (memcmp(ip + 12, all, sizeof(all)) == 0 ||
		(memcmp(ip + 12, net, NET_BYTES) == 0 &&
		 memcmp(ip + 12 + NET_BYTES, all, sizeof(all) - NET_BYTES) == 0));
}

bool ports_has_many(const struct sockets *sockets, const uint8_t ip[16])
{
	return group_has_gid(ip) || ports_is_broadcast(sockets, ip);
}

uint32_t ports_host_of(const struct sockets *sockets, uint32_t from,
		       const struct shim_address *address)
{
	if (ports_is_broadcast(sockets, address->ip))
		return NO_SOCKET;
	if (ports_is_any(address) || memcmp(address->ip, loopback_six, 16) == 0)
		return from;
	if (!is_mapped(address))
		return NO_SOCKET;
	for (uint32_t i = 0; i < sockets->host_count; i++)
		if (memcmp(address->ip + 12, sockets->hosts[i]->ipv4, 4) == 0)
			return i;
	return address->ip[12] == LOOPBACK_NET ? from : NO_SOCKET;
}

/* Returns true if both sockets could accept the same connection request. */
static bool overlap(const struct shim_socket *a, const struct shim_address *at,
		    const struct shim_socket *b, const struct shim_address *bt)
{
	if (at->port != bt->port)
		return false;
	if (memcmp(at->ip, any_six, 16) == 0)
		return !is_mapped(bt) || !a->only_six;
	if (memcmp(bt->ip, any_six, 16) == 0)
		return !is_mapped(at) || !b->only_six;
	/* Linux: IPv4's wildcard and an address that connect() chose */
	if (is_mapped(at) != is_mapped(bt))
		return a->family == AF_INET && ports_is_any(at) && !b->only_six;
	return ports_is_any(at) || ports_is_any(bt) || memcmp(at->ip, bt->ip, 16) == 0;
}

/* Returns true if a connection that has ended still has the address. */
static bool is_waiting(struct socket_host *host, const struct shim_socket *record,
		       const struct shim_address *wanted)
{
	sim_time now = sim_now(host->sockets->sim);
	uint32_t kept = 0;
	bool found = false;

	for (uint32_t i = 0; i < host->closed_count; i++) {
		if (host->closed[i].until <= now)
			continue;
		found |= !(record->reuse && host->closed[i].reuse) &&
			 !(record->reuse_port && host->closed[i].reuse_port) &&
			 overlap(record, wanted, record, &host->closed[i].address);
		host->closed[kept++] = host->closed[i];
	}
	host->closed_count = kept;
	return found;
}

static bool in_time_wait(const struct socket *socket)
{
	return socket->connection && tcp_state(socket->connection) == TCP_STATE_TIME_WAIT;
}

/* Returns true if the other socket, or its connection in TIME_WAIT, has an address that overlaps. A
 * connection has the SO_REUSEADDR and SO_REUSEPORT of the time at which it ended. */
static bool has_address(const struct socket *other, const struct shim_socket *record,
			const struct shim_address *wanted)
{
	bool shared =
		(record->reuse_port && other->record->reuse_port) ||
		(record->reuse && other->record->reuse && other->record->state != SOCKET_LISTENING);
	bool leaves = (record->reuse_port && other->reuse_port) || (record->reuse && other->reuse);

	return (other->record->held && !shared &&
		overlap(record, wanted, other->record, &other->record->local)) ||
	       (in_time_wait(other) && !leaves &&
		overlap(record, wanted, other->record, &other->flow.source));
}

static bool is_taken(const struct socket *socket, const struct shim_address *wanted)
{
	const struct sockets *sockets = socket->sockets;
	const struct shim_socket *record = socket->record;

	for (uint32_t i = 0; i < sockets->highest; i++) {
		const struct socket *other = &sockets->table[i];

		if (other->used && other != socket && other->host == socket->host &&
		    record->datagram == other->record->datagram &&
		    has_address(other, record, wanted))
			return true;
	}
	return !record->datagram &&
	       is_waiting(socket->sockets->hosts[socket->host], record, wanted);
}

static int take_any(struct socket *socket, struct shim_address *wanted)
{
	struct socket_host *host = socket->sockets->hosts[socket->host];
	uint32_t ports = PORT_LAST - PORT_FIRST + 1;

	for (uint32_t i = 0; i < ports; i++) {
		wanted->port = (uint16_t)(PORT_FIRST + (host->next_port + i) % ports);
		if (!is_taken(socket, wanted)) {
			host->next_port += i + 1;
			return 0;
		}
	}
	return -EADDRINUSE;
}

bool ports_may_listen(const struct socket *socket)
{
	return !is_taken(socket, &socket->record->local);
}

int ports_may_reach(const struct socket *socket, const struct shim_address *destination)
{
	const struct shim_socket *record = socket->record;

	if (record->only_six && is_mapped(destination))
		return -ENETUNREACH;
	return is_mapped(&record->local) && !is_mapped(destination) ? -EAFNOSUPPORT : 0;
}

/* The address is taken. Linux forgets the address that the socket had. */
static int refuse(struct socket *socket)
{
	uint8_t *ip = socket->record->local.ip;

	memset(ip, 0, 16);
	if (socket->record->family == AF_INET)
		ip[10] = ip[11] = 0xff;
	return -EADDRINUSE;
}

int ports_bind(struct socket *socket, const struct shim_address *wanted, bool keeps)
{
	struct shim_address address = *wanted;
	bool six = socket->record->family == AF_INET6;
	int result = 0;

	if (six &&
	    (socket->record->held || (!keeps && socket->record->only_six && is_mapped(wanted))))
		return -EINVAL;
	if (!ports_has_many(socket->sockets, address.ip) &&
	    ports_host_of(socket->sockets, socket->host, &address) != socket->host)
		return -EADDRNOTAVAIL;
	if (socket->record->held)
		return -EINVAL;
	if (address.port == 0)
		result = take_any(socket, &address);
	else if (!keeps && is_taken(socket, &address))
		result = refuse(socket);
	if (result == 0) {
		socket->record->local = address;
		socket->record->held = 1;
		socket->record->has_route = 0;
	}
	return result;
}

/* Sets the source IP address that a host uses for a destination. Within the host it is the
 * destination's address. Otherwise it is the host's own address. */
static void reach(const struct sockets *sockets, uint32_t from, uint32_t to,
		  const struct shim_address *destination, struct shim_address *source)
{
	if (to == from) {
		memcpy(source->ip, destination->ip, sizeof(source->ip));
	} else {
		memcpy(source->ip, mapped, sizeof(mapped));
		memcpy(source->ip + 12, sockets->hosts[from]->ipv4, 4);
	}
}

int ports_bind_any(struct socket *socket, const struct shim_address *destination)
{
	const struct sockets *sockets = socket->sockets;
	struct shim_address address = {.port = 0};
	uint32_t host = ports_host_of(sockets, socket->host, destination);
	int result = 0;

	reach(sockets, socket->host, host, destination, &address);
	if (!socket->record->held)
		result = take_any(socket, &address);
	else
		address.port = socket->record->local.port;
	if (result == 0 && (!socket->record->held || ports_is_any(&socket->record->local)))
		socket->record->local = address;
	socket->record->held |= result == 0;
	return result;
}

/* Chooses among the sockets of a SO_REUSEPORT group, which have the address and port of `first`. As
 * in Linux, a hash of the peer decides. Here the hash has no random key. */
static struct socket *choose(struct sockets *sockets, struct socket *first,
			     const struct shim_address *peer)
{
	const struct shim_socket *record = first->record;
	struct socket *group[SHIM_SOCKETS];
	uint32_t count = 0, hash = peer->port;

	if (!record->reuse_port || record->state == SOCKET_CONNECTED)
		return first;
	for (uint32_t i = 0; i < sockets->highest; i++) {
		struct socket *socket = &sockets->table[i];
		const struct shim_socket *other = socket->record;

		if (socket->used && !socket->gone && socket->host == first->host &&
		    other->reuse_port && other->datagram == record->datagram &&
		    other->state == record->state && is_same(&other->local, &record->local))
			group[count++] = socket;
	}
	for (unsigned i = 0; i < sizeof(peer->ip); i++)
		hash = (hash ^ peer->ip[i]) * 16777619u; /* FNV-1a */
	hash = (hash ^ peer->port) * 16777619u;
	return count ? group[(uint64_t)hash * count >> 32] : first;
}

struct socket *ports_listener(struct sockets *sockets, uint32_t host,
			      const struct shim_address *address, const struct shim_address *peer)
{
	struct socket *best = NULL;

	for (uint32_t i = 0; i < sockets->highest; i++) {
		struct socket *socket = &sockets->table[i];
		const struct shim_socket *record = socket->record;
		bool exact;

		if (!socket->used || socket->host != host || record->state != SOCKET_LISTENING ||
		    record->local.port != address->port)
			continue;
		exact = memcmp(record->local.ip, address->ip, 16) == 0;
		if (!exact && (!ports_is_any(&record->local) ||
			       (is_mapped(address) ? record->only_six : is_mapped(&record->local))))
			continue;
		if (!best || exact)
			best = socket;
	}
	return best ? choose(sockets, best, peer) : NULL;
}

void ports_close(struct socket *socket)
{
	struct socket_host *host = socket->sockets->hosts[socket->host];

	/* of the end that closed first */
	if (!in_time_wait(socket))
		return;
	if (host->closed_count == host->closed_room) {
		host->closed_room = host->closed_room ? 2 * host->closed_room : 16;
		host->closed = realloc(host->closed, host->closed_room * sizeof(host->closed[0]));
		assert(host->closed);
	}
	host->closed[host->closed_count++] =
		(struct closed_port){.address = socket->flow.source,
				     .reuse = socket->reuse,
				     .reuse_port = socket->reuse_port,
				     .until = sim_now(host->sockets->sim) + TIME_WAIT};
}

void ports_choose_source(const struct socket *socket, const struct shim_address *destination,
			 struct shim_address *source)
{
	const struct sockets *sockets = socket->sockets;

	/* Linux: what is sent from an address of many hosts has the address of the host.
	 * A socket that is connected to ::1 has no address of IPv4. */
	if (ports_is_any(source) || ports_has_many(sockets, source->ip) ||
	    (is_mapped(destination) && !is_mapped(source)))
		reach(sockets, socket->host, ports_host_of(sockets, socket->host, destination),
		      destination, source);
}

void ports_forget(struct socket *socket)
{
	struct shim_socket *record = socket->record;

	if (!record->bound_address) {
		memset(record->local.ip, 0, sizeof(record->local.ip));
		memset(record->local.ip + 10, record->family == AF_INET ? 0xff : 0, 2);
	}
	if (!record->bound)
		record->local.port = 0;
	record->held &= record->bound;
}

/* Returns how well a UDP socket matches. As in Linux, the peer counts more than the address.
 * Returns 0 if the socket does not receive the datagram. */
static unsigned fit(const struct shim_socket *record, const struct shim_address *address,
		    const struct shim_address *peer)
{
	bool exact = memcmp(record->local.ip, address->ip, sizeof(address->ip)) == 0;
	bool connected = record->state == SOCKET_CONNECTED;

	if (record->local.port != address->port || (connected && !is_same(&record->peer, peer)))
		return 0;
	if (!exact && (!ports_is_any(&record->local) ||
		       (is_mapped(address) ? record->only_six : is_mapped(&record->local))))
		return 0;
	return 1u + exact + (connected ? 2u : 0u);
}

struct socket *ports_receiver(struct sockets *sockets, uint32_t host,
			      const struct shim_address *address, const struct shim_address *peer)
{
	struct socket *best = NULL;
	unsigned most = 0;

	for (uint32_t i = 0; i < sockets->highest; i++) {
		struct socket *socket = &sockets->table[i];
		unsigned fits;

		if (!socket->used || socket->host != host || !socket->record->datagram ||
		    !socket->record->held || socket->gone)
			continue;
		fits = fit(socket->record, address, peer);
		if (fits > most) {
			most = fits;
			best = socket;
		}
	}
	return best ? choose(sockets, best, peer) : NULL;
}

/* Checks what __udp_is_mcast_sock() of Linux checks. */
bool ports_receives_group(const struct socket *socket, const struct flow *flow)
{
	const struct shim_socket *record = socket->record;
	const struct shim_address *local = &record->local, *to = &flow->destination;

	if (!socket->used || socket->host != flow->to_host || !record->datagram || !record->held ||
	    socket->gone || local->port != to->port)
		return false;
	if (record->state == SOCKET_CONNECTED && !is_same(&record->peer, &flow->source))
		return false;
	if (memcmp(local->ip, to->ip, sizeof(to->ip)) != 0 &&
	    (!ports_is_any(local) ||
	     (is_mapped(to) ? record->only_six : record->family != AF_INET6)))
		return false;
	return membership_passes(socket, to->ip, flow->interface);
}

static uint32_t bucket_of(const struct flow *flow)
{
	uint32_t hash = flow->from_host;

	hash = hash * 31 + flow->to_host;
	hash = hash * 31 + flow->source.port;
	hash = hash * 31 + flow->destination.port;
	return hash % FLOW_BUCKETS;
}

static struct flow flow_of(const struct socket *socket)
{
	const struct shim_socket *record = socket->record;

	return (struct flow){.from_host = socket->host,
			     .to_host = socket->peer_host,
			     .source = record->local,
			     .destination = record->peer};
}

void ports_add_flow(struct socket *socket)
{
	const struct flow flow = flow_of(socket);
	struct socket **bucket = &socket->sockets->flows[bucket_of(&flow)];

	socket->listed = true;
	socket->flow = flow;
	socket->flow_next = *bucket;
	*bucket = socket;
}

void ports_remove_flow(struct socket *socket)
{
	struct socket **place = &socket->sockets->flows[bucket_of(&socket->flow)];

	if (!socket->listed)
		return;
	socket->listed = false;
	while (*place != socket)
		place = &(*place)->flow_next;
	*place = socket->flow_next;
}

struct socket *ports_find_flow(struct sockets *sockets, const struct flow *flow)
{
	struct socket *socket = sockets->flows[bucket_of(flow)];

	while (socket && !(socket->host == flow->from_host && socket->peer_host == flow->to_host &&
			   is_same(&socket->flow.source, &flow->source) &&
			   is_same(&socket->flow.destination, &flow->destination)))
		socket = socket->flow_next;
	return socket;
}
