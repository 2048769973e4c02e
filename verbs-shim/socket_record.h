/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_record: state of each simulated socket, shared by the preloaded library and the simulator.
 *
 *     program --send(), recv()--> far end of a Unix pair | near end <--> sockets/ in the simulator
 *
 * A descriptor of the program is the far end of a Unix pair. The far end is bound to an abstract
 * name that holds the number of the record. The library thus finds the record of any descriptor,
 * also after dup(), fork() and exec(). The pair provides readiness and the order of bytes.
 */
#ifndef VERBS_SHIM_SOCKET_RECORD_H
#define VERBS_SHIM_SOCKET_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SHIM_SOCKETS 4096

/* The abstract name: SHIM_SOCKET_NAME, and the number of the record in hexadecimal digits. */
#define SHIM_SOCKET_NAME "hcasim-socket:"

/* Socket options with values in the record. */
#define SHIM_SOCKET_OPTIONS 32

/* Bytes that a pair holds in each direction, by the accounting of Linux. Every user may set it. */
#define SHIM_SOCKET_ROOM 212992

/* Bytes that listen() and a nonblocking connect() write, so that the far end is not writable before
 * a connection is there. The simulator takes them out. */
#define SHIM_SOCKET_PLUG 65536

enum shim_socket_state {
	SOCKET_FREE,
	SOCKET_IDLE,
	SOCKET_LISTENING,
	SOCKET_CONNECTING,
	SOCKET_CONNECTED,
	SOCKET_REFUSED, /* connect() failed; the pair is used up */
};

/* What wakes those who wait for a socket, as in Linux: bytes or connections that came, room for
 * bytes, or a changed state or an error. */
enum shim_wake { WAKE_INPUT, WAKE_OUTPUT, WAKE_STATE, SHIM_WAKES };

/* State of urgent data that a peer has announced. Linux: TCP_URG_NOTYET, VALID, READ. */
enum shim_urgent { URGENT_NONE, URGENT_AWAITED, URGENT_THERE, URGENT_READ };

enum shim_shut { SHUT_READING = 1, SHUT_WRITING = 2, SHUT_BOTH = 3 };

enum shim_socket_call {
	/* value: family, and SHIM_SOCKET_DATAGRAM; the result is the record; its descriptor
	 * follows */
	SOCKET_CREATE,
	/* binds to record->wanted; value 1: even if another socket has the address */
	SOCKET_BIND,
	SOCKET_LISTEN, /* value: backlog */
	SOCKET_UNLISTEN,
	SOCKET_CONNECT,    /* connects to record->wanted; value 1: the pair has a plug */
	SOCKET_ACCEPT,     /* the result is the record; its descriptor follows */
	SOCKET_MOVED,      /* bytes passed through the pair, or an end was closed */
	SOCKET_FOLLOW,     /* options changed that set a timer of the connection */
	SOCKET_ROUTE,      /* UDP: checks that record->wanted can be reached; binds the socket */
	SOCKET_DISCONNECT, /* UDP */
	SOCKET_JOIN,       /* UDP: record->group */
	SOCKET_LEAVE,      /* UDP: record->group */
	SOCKET_TAP,        /* AF_PACKET: tap_protocol or tap_all changed */
	SOCKET_CALLS,
};

#define SHIM_SOCKET_DATAGRAM (UINT64_C(1) << 16)

/* An address of IPv6, or one of IPv4 in its mapped form; the port in host order. */
struct shim_address {
	uint8_t ip[16];
	uint16_t port;
};

/* Before the bytes of each datagram in a pair: its destination or its source. */
struct shim_datagram {
	/* AF_PACKET: the port is the Ethertype, and the bytes are interface, type and source of
	 * struct sockaddr_ll. */
	struct shim_address address;
	/* UDP: bytes that the datagram uses of the receive buffer; AF_PACKET: of the frame */
	uint32_t truesize;
	uint64_t at_ns; /* AF_PACKET: virtual time of the frame */
};

/* A multicast group on an interface. */
struct shim_membership {
	uint8_t group[16];
	uint32_t interface; /* 0: any of them; a new member joins on eth0 */
};

/* IP_TTL that no program has set. Linux: net.ipv4.ip_default_ttl */
#define SHIM_TTL_DEFAULT 64

/* Numbers of interfaces. */
enum { SHIM_INTERFACE_LO = 1, SHIM_INTERFACE_ETH0 = 2 };

struct shim_socket_option {
	int32_t level, name, value;
};

struct shim_socket {
	/* enum shim_socket_state. */
	uint32_t state;
	/* AF_INET, AF_INET6 or AF_PACKET. */
	uint32_t family;
	struct shim_address local, peer, wanted;
	/* errno that SO_ERROR, or the next call, reports. */
	int32_t error;
	/* 1: connect() returned EINPROGRESS, and the program has not called it again. */
	uint32_t unreported;
	/* 1: a RST came. */
	uint32_t reset;
	/* State of the connection, as Linux numbers states. 0: no connection. */
	uint32_t tcp_state;
	/* ended: the FIN of the peer has arrived. over: the connection has ended (TCP: CLOSED or
	 * TIME_WAIT). */
	uint32_t ended, over;
	/* Ends that shutdown() closed, of enum shim_shut. */
	uint32_t shut;
	/* 1: shutdown() closed the end for writing before there was a connection: without FIN. */
	uint32_t silent_end;
	/* 1: shutdown() was called during a connect(). No connection can begin any more. */
	uint32_t spoiled;
	/* 1: bytes, or an end, wait in the simulator for room in the pair. */
	uint32_t stalled;
	/* 1: the program has written to the pair, and reports it at a later time. */
	uint32_t announced;
	/* Segments and packets of this host, and their bytes, whose processor time no read has paid
	 * yet. */
	uint32_t segments, packets;
	uint64_t unpaid;
	/* 1 + the core of the thread that last read or sent. */
	uint32_t reader;
	/* bind() chose the port; it chose an address other than the wildcard address. */
	uint32_t bound, bound_address;
	/* 1: the socket has its port. When its connection ends it loses a port that bind() did not
	 * choose, and can then be bound again. */
	uint32_t held;
	/* SO_RCVLOWAT; 0: not set, 1 byte. bytes_taken: of bytes_received, those that the program
	 * has read. */
	uint32_t low_water;
	uint64_t bytes_taken;
	/* Urgent data: enum shim_urgent, the byte, and its place in the stream. urgent_holes: the
	 * next bytes that were urgent, which no read returns. */
	uint32_t urgent, urgent_byte, urgent_holes;
	uint64_t urgent_at;
	/* 1: the bytes that are written end with urgent data. */
	uint32_t sends_urgent;
	/* F_SETOWN: the process that gets SIGURG, or a group if negative. System's numbers. */
	int32_t owner;
	/* SO_REUSEADDR; SO_REUSEPORT; IPV6_V6ONLY; SO_LINGER of 0 seconds. */
	uint32_t reuse, reuse_port, only_six, aborts;
	/* SO_SNDBUF and SO_RCVBUF as they are read. 0: not set. */
	uint32_t send_buffer, receive_buffer;
	uint32_t segment_bytes;
	uint64_t round_trip_ns, bytes_sent, bytes_received;
	uint64_t window_bytes; /* congestion window */
	uint32_t retransmissions;
	/* datagram: this is a UDP socket. has_route: `routed` was a destination that can be
	 * reached. */
	uint32_t datagram, has_route;
	struct shim_address routed;
	/* Sum of the truesize of all datagrams that were read. */
	uint64_t taken;
	/* Datagrams that found the receive buffer full. */
	uint64_t drops;
	/* UDP: of SOCKET_JOIN and SOCKET_LEAVE. */
	struct shim_membership group;
	/* UDP: of IP_MULTICAST_IF, in network order. */
	uint32_t group_source;
	/* AF_PACKET: Ethertype, 0 for none; 1: also frames for others. */
	uint32_t tap_protocol, tap_all;
	uint64_t taps_seen; /* frames that were read, since PACKET_STATISTICS */
	/* epoll (watch_record.h): the first registration + 1; 0: none. */
	uint32_t watches;
	/* 1: a write or a check found no room. Linux: SOCK_NOSPACE. */
	uint32_t no_space;
	uint32_t option_count;
	struct shim_socket_option options[SHIM_SOCKET_OPTIONS];
	char congestion[16];
};

/* Returns the value of an option, or `value` if it is not set. */
static inline int32_t shim_socket_option_value(const struct shim_socket *record, int level,
					       int name, int32_t value)
{
	for (uint32_t i = 0; i < record->option_count; i++)
		if (record->options[i].level == level && record->options[i].name == name)
			return record->options[i].value;
	return value;
}

/* Keeps the value of an option. Returns false if there is no place for it. */
static inline bool shim_socket_keep_option(struct shim_socket *record, int level, int name,
					   int32_t value)
{
	uint32_t i = 0;

	while (i < record->option_count &&
	       (record->options[i].level != level || record->options[i].name != name))
		i++;
	if (i == SHIM_SOCKET_OPTIONS)
		return false;
	record->option_count += i == record->option_count;
	record->options[i] = (struct shim_socket_option){level, name, value};
	return true;
}

/* Copies all values that options have set. */
static inline void shim_socket_copy_options(struct shim_socket *to, const struct shim_socket *from)
{
	to->reuse = from->reuse;
	to->reuse_port = from->reuse_port;
	to->low_water = from->low_water;
	to->only_six = from->only_six;
	to->aborts = from->aborts;
	to->send_buffer = from->send_buffer;
	to->receive_buffer = from->receive_buffer;
	to->option_count = from->option_count;
	memcpy(to->options, from->options, sizeof(to->options));
	memcpy(to->congestion, from->congestion, sizeof(to->congestion));
}

/* Returns true if fewer bytes than SO_RCVLOWAT are in the pair, and more may come. Linux:
 * tcp_epollin_ready() */
static inline bool shim_socket_is_low(const struct shim_socket *record)
{
	return record->low_water > 1 && !record->ended &&
	       record->bytes_received - record->bytes_taken < record->low_water;
}

/* The next read pays for a segment. */
static inline void shim_socket_owe(struct shim_socket *record, uint32_t bytes, uint32_t packets)
{
	record->segments += bytes > 0;
	record->packets += bytes > 0 ? packets : 0;
	record->unpaid += bytes;
}

/* Costs of the library for a thread that calls a simulated socket. */
struct shim_socket_costs {
	/* 0: sockets are the machine's. */
	uint32_t modelled;
	/* Bytes of a packet of eth0, and of the longest segment. */
	uint32_t mtu_bytes, burst_bytes;
	/* Time, ps, for each segment sent, each that arrived, each of its packets, and 4 KiB of its
	 * payload. */
	uint64_t send_segment, receive_segment, receive_packet, receive_page;
	uint64_t copy_bps;
};

#endif
