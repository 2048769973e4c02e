/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state: definitions for all files of sockets/.
 *
 *     table.c    creation and end of sockets; calls of programs
 *     ports.c    port numbers of sockets
 *     connect.c  connect, listen, accept, reset; lookup of the socket for an arriving segment
 *     stream.c   bytes between a program and its connection (tcp/)
 *     datagram.c  UDP
 *     membership.c  multicast groups of UDP sockets
 *     reports.c  IGMP and MLD
 *     taps.c     AF_PACKET
 *     network.c  segments between hosts: within a host, on a modelled link, and by frames
 *     frames.c   segments as frames of the host's adapter, GRO
 *     softirq.c  receive queues, and cores that process received frames
 *     rss.c      choice of a queue
 *     fragments.c  datagrams as frames, which may be IP fragments
 */
#ifndef VERBS_SHIM_SOCKETS_STATE_H
#define VERBS_SHIM_SOCKETS_STATE_H

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/endpoints.h"
#include "hca/port/netdev.h"
#include "sim/random.h"
#include "tcp/byte_ring.h"
#include "tcp/tcp.h"
#include "verbs-shim/sockets/rss.h"
#include "verbs-shim/sockets/sockets.h"

#define NO_SOCKET      UINT32_MAX
#define FLOW_BUCKETS   1024
#define SEGMENT_MAX    65536 /* bytes of the longest segment */
#define CONGESTION_ALL 3
#define DATAGRAM_MAX   65507 /* bytes of the longest UDP datagram over IPv4 */

/* A socket's number, and a serial number that distinguishes sockets that had the same number. */
struct socket_name {
	uint32_t number;
	uint64_t serial;
};

/* Both ends of a connection, in the direction of a segment. */
struct flow {
	uint32_t from_host, to_host;
	struct shim_address source, destination;
	/* UDP to a group: by which interface. to_host: that receives it; NO_SOCKET: many. */
	uint8_t interface;
	uint8_t hop_limit; /* TTL of the segment or datagram */
};

enum segment_kind { SEGMENT_TCP, SEGMENT_DATAGRAM, SEGMENT_REFUSAL /* ICMP: port unreachable */ };

/* A segment that is on its way within a host, or on a modelled link. */
struct segment {
	struct event event;
	struct sockets *sockets;
	struct segment *older, *newer; /* list of all segments */
	struct segment *next;          /* of the same receive queue */
	struct flow flow;
	enum segment_kind kind;
	struct tcp_segment tcp; /* of a datagram: payload_bytes */
	uint8_t data[];
};

/* The path of a connection's segments. */
enum carrier { CARRIER_LOOPBACK, CARRIER_LINK, CARRIER_FRAMES };

struct socket {
	struct sockets *sockets;
	struct shim_socket *record;
	struct socket_name name;
	uint32_t host;
	bool used;
	int near, far; /* far: -1 once the program owns it */
	bool embryo;   /* no program has it yet */
	bool gone;     /* no descriptor of it is left */
	bool listed;   /* in the table of flows */
	/* SO_REUSEADDR and SO_REUSEPORT when the connection ended */
	bool reuse, reuse_port;
	/* a listener: connections in the order of their handshakes */
	uint32_t backlog, handshakes, waiting;
	struct socket *accept_first, *accept_last, *accept_next;
	struct socket_name listener;
	/* the connection; NULL before connect() or the SYN */
	struct tcp_connection *connection;
	struct tcp_params tcp;
	uint32_t peer_host;
	enum carrier carrier;
	struct flow flow;
	struct socket *flow_next; /* of the same bucket */
	unsigned events;          /* enum tcp_event bits that were not handled yet */
	struct event timer;
	sim_time timer_at; /* SIM_NEVER: none */
	/* sending */
	struct byte_ring unacked; /* written by the program and not acknowledged */
	bool finished;            /* the program writes no more */
	bool waits_for_room;      /* the socket waits for room on its link */
	struct socket *sending_next;
	/* receiving */
	struct byte_ring unread; /* arrived bytes that are not in the pair, in order or not */
	bool reader_ended;       /* the program reads no more */
	bool fin_came, reset_came, end_pushed;
	/* UDP: bytes of all datagrams that were put into the pair */
	uint64_t pushed;
	struct shim_membership *members; /* multicast groups; owned */
	uint32_t member_count;
};

/* Packets of a connection that make one segment, or one frame with a datagram or a part of it. */
struct merge {
	struct packet *first, *last;
	struct segment *segment; /* of a modelled link, in place of packets */
	uint32_t bytes, packets;
	sim_time cost; /* of the segment, at the core */
};

struct softirq_counters {
	SOFTIRQ_COUNTERS(COUNTER_FIELD)
};

struct core {
	sim_time busy_until;
	/* of the softirq under way */
	uint32_t polling; /* queues that are polled */
	uint32_t frames;
	sim_time since;
	bool threaded; /* in ksoftirqd */
};

/* ARMED: its interrupt is due. AGAIN: it is polled again without an interrupt. */
enum queue_state { QUEUE_IDLE, QUEUE_ARMED, QUEUE_POLLING, QUEUE_AGAIN };

/* A receive queue of the adapter. */
struct queue {
	struct socket_host *host;
	uint32_t core;
	enum queue_state state;
	struct event event;
	/* in host memory, not taken yet: frames, or segments of a modelled link */
	struct packet *first, *last;
	struct segment *first_segment, *last_segment;
	uint32_t count;
	sim_time poll_at, poll_until; /* next interrupt, and at the latest */
	/* of the poll under way */
	struct merge *merges;
	uint32_t most, merge_count, next, taken;
	sim_time at; /* arrival of the next segment */
	sim_time polled_at;
};

struct closed_port {
	struct shim_address address;
	bool reuse, reuse_port; /* SO_REUSEADDR, SO_REUSEPORT */
	sim_time until;
};

struct socket_host {
	struct sockets *sockets;
	uint32_t number;
	uint8_t ipv4[4];
	uint64_t rate_bps;
	uint32_t next_port;
	/* sockets that wait for room take turns */
	struct socket *sending_first, *sending_last;
	/* CARRIER_LINK */
	struct segment *leaving;
	struct event left;
	sim_time arrived;
	/* CARRIER_FRAMES */
	struct netdev *netdev; /* NULL on InfiniBand */
	struct netdev_user user;
	struct fragments *fragments; /* incomplete datagrams */
	uint32_t taps;               /* AF_PACKET sockets */
	struct report *reports;      /* of memberships, to be repeated */
	struct event report;         /* the next one */
	uint16_t identification;     /* of the next datagram */
	/* receiving */
	struct core *cores;
	struct queue *queues;
	struct block softirq_block;
	struct softirq_counters softirq;
	/* TIME_WAIT */
	struct closed_port *closed;
	uint32_t closed_count, closed_room;
};

struct sockets {
	struct block block;
	struct sim *sim;
	const struct socket_params *params;
	const struct socket_services *services;
	void *context;
	struct endpoints *endpoints;
	struct shim_watches *watches;
	struct congestion congestion[CONGESTION_ALL];
	uint32_t cores, queues; /* of each host */
	uint8_t rss_key[RSS_KEY_BYTES];
	int epoll;
	uint64_t serial;
	struct random chance; /* times of membership reports */
	bool ends;            /* the run is over */
	uint32_t highest;     /* number in use + 1 */
	struct segment *newest;
	struct socket_host **hosts;
	uint32_t host_count;
	struct socket *flows[FLOW_BUCKETS];
	uint8_t scratch[SEGMENT_MAX];
	uint8_t datagram[DATAGRAM_MAX + sizeof(struct shim_datagram)];
	struct socket table[SHIM_SOCKETS];
};

/* table.c */
/* kind: family, and SHIM_SOCKET_DATAGRAM. */
struct socket *socket_create(struct sockets *sockets, uint32_t host, uint64_t kind);
struct socket *socket_find(struct sockets *sockets, struct socket_name name);
void socket_free_if_done(struct socket *socket);
/* Wakes threads that wait for the socket. */
void socket_ready(const struct socket *socket);
void socket_wake(const struct socket *socket, enum shim_wake wake);

/* ports.c */
bool ports_is_any(const struct shim_address *address);
/* Returns true for 255.255.255.255, and for the broadcast address of eth0's network. */
bool ports_is_broadcast(const struct sockets *sockets, const uint8_t ip[16]);
/* Returns true for the address of a group, and for a broadcast address. */
bool ports_has_many(const struct sockets *sockets, const uint8_t ip[16]);
/* Returns the host that has the address, as seen by `from`, or NO_SOCKET if there is none. */
uint32_t ports_host_of(const struct sockets *sockets, uint32_t from,
		       const struct shim_address *address);
/* Returns 0, or -errno if the socket cannot reach destinations of that IP version. */
int ports_may_reach(const struct socket *socket, const struct shim_address *destination);
/* keeps: another socket may have the address. */
int ports_bind(struct socket *socket, const struct shim_address *wanted, bool keeps);
/* Binds to a free port, and to the source address for the destination. */
int ports_bind_any(struct socket *socket, const struct shim_address *destination);
/* Returns false if another socket listens at the address. */
bool ports_may_listen(const struct socket *socket);
struct socket *ports_listener(struct sockets *sockets, uint32_t host,
			      const struct shim_address *address, const struct shim_address *peer);
void ports_close(struct socket *socket);
/* Returns the UDP socket that receives at an address from a peer, or NULL. */
struct socket *ports_receiver(struct sockets *sockets, uint32_t host,
			      const struct shim_address *address, const struct shim_address *peer);
/* Returns true if the UDP socket receives what a peer sends to a group and port. */
bool ports_receives_group(const struct socket *socket, const struct flow *flow);
/* Sets the IP address of *source for the destination, if it is the wildcard address. */
void ports_choose_source(const struct socket *socket, const struct shim_address *destination,
			 struct shim_address *source);
/* Forgets the address and the port that bind() did not choose. */
void ports_forget(struct socket *socket);
/* Manage the table of sockets with a connection, by both ends. */
void ports_add_flow(struct socket *socket);
void ports_remove_flow(struct socket *socket);
struct socket *ports_find_flow(struct sockets *sockets, const struct flow *flow);

/* connect.c */
int connect_listen(struct socket *socket, uint32_t backlog);
int connect_begin(struct socket *socket);
struct socket *connect_accept(struct socket *listener);
/* Processes a segment that GRO made of `packets` packets. */
void connect_arrived(struct sockets *sockets, const struct flow *flow,
		     const struct tcp_segment *segment, uint32_t packets);
void connect_opened(struct socket *socket);
void connect_lost(struct socket *socket, int error);
void connect_reset(struct socket *socket); /* this end ends the connection by a RST */
/* Bytes came after the program shut down both directions: RFC 1122 4.2.2.13. */
void connect_refuse(struct socket *socket);
void connect_unlisten(struct socket *listener);

/* stream.c */
void stream_open(struct socket *socket); /* creates the connection */
void stream_close(struct socket *socket);
void stream_follow(struct socket *socket); /* the program changed options that set a timer */
void stream_orphan(struct socket *socket); /* no descriptor is left */
void stream_take(struct socket *socket);   /* data written by the program, up to the capacity */
void stream_push(struct socket *socket);   /* arrived data, up to the capacity */
void stream_input(struct socket *socket, const struct tcp_segment *segment, uint32_t packets);
void stream_resume(struct socket *socket); /* the carrier has room */
/* Handles the events of the connection. May free the socket. */
void stream_settle(struct socket *socket);
void stream_timer(struct event *event);

/* datagram.c */
int datagram_route(struct socket *socket);
int datagram_connect(struct socket *socket);
void datagram_disconnect(struct socket *socket);
void datagram_take(struct socket *socket); /* takes sent datagrams while there is room */
void datagram_timer(struct socket *socket);
void datagram_arrived(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
		      uint32_t count, uint32_t packets);
void datagram_refused(struct sockets *sockets, const struct flow *flow); /* flow: of the datagram */

/* membership.c */
int membership_join(struct socket *socket, const struct shim_membership *wanted);
int membership_leave(struct socket *socket, const struct shim_membership *wanted);
void membership_end(struct socket *socket);
/* Returns true if the stack of the host receives datagrams of the group by that interface. */
bool membership_of_host(const struct sockets *sockets, uint32_t host, const uint8_t group[16],
			uint32_t interface);
/* Returns true if the socket gets datagrams of a group that the host is in. */
bool membership_passes(const struct socket *socket, const uint8_t group[16], uint32_t interface);

/* reports.c */
/* Reports to switches and routers that the host joins or leaves a group by eth0. */
void reports_send(struct socket_host *host, const uint8_t group[16], bool leaves);
void reports_init_host(struct socket_host *host);
void reports_fini_host(struct socket_host *host);

/* taps.c */
void taps_update(struct socket_host *host); /* after a change of its AF_PACKET sockets */
void taps_push(struct socket *socket);      /* the pair has room */
/* Gives a frame of the stack to the AF_PACKET sockets of the host. */
void taps_see(struct socket_host *host, const struct packet *packet, bool sent);

/* network.c */
void network_init_host(struct socket_host *host);
void network_fini_host(struct socket_host *host);
enum carrier network_carrier(const struct sockets *sockets, uint32_t from, uint32_t to);
bool network_reaches(const struct sockets *sockets, uint32_t from, uint32_t to);
uint16_t network_mss(const struct sockets *sockets, enum carrier carrier);
/* Returns true if there is room for a segment with payload. Otherwise the socket waits for its
 * turn. */
bool network_has_room(struct socket *socket);
void network_stop_waiting(struct socket *socket);
void network_resume(struct socket_host *host); /* there is room */
/* `payload` has segment->payload_bytes bytes. */
void network_send(struct sockets *sockets, const struct flow *flow,
		  const struct tcp_segment *segment, const uint8_t *payload);
void network_send_datagram(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
			   uint32_t count);
void network_send_refusal(struct sockets *sockets, const struct flow *flow);

/* As frames_take(), for segments of the modelled link. */
uint32_t network_take(struct queue *queue, uint64_t work[CPU_KIND_COUNT]);
void network_deliver(struct segment *segment);

/* frames.c */
void frames_init_host(struct socket_host *host, struct hca *hca);
void frames_fini_host(struct socket_host *host);
void frames_send(struct sockets *sockets, const struct flow *flow,
		 const struct tcp_segment *segment, const uint8_t *payload);

/* Takes the frames of a poll and merges consecutive segments. Adds them to the queue's merges, and
 * adds the core's work for the frames. Returns the number of frames. */
uint32_t frames_take(struct queue *queue, uint64_t work[CPU_KIND_COUNT]);
void frames_deliver(struct socket_host *host, struct merge *merge);
void frames_drop(struct socket_host *host, struct merge *merge);

/* softirq.c */
struct queue *softirq_queue(struct socket_host *host, const struct flow *flow, bool datagram);
/* Adds the work of a core for packets that are not merged yet. */
void softirq_cost(const struct socket_params *params, uint32_t bytes, uint32_t packets,
		  uint64_t work[CPU_KIND_COUNT]);
/* Puts a frame into the queue. Returns false if the queue is full. */
bool softirq_put(struct queue *queue, struct packet *packet);
struct packet *softirq_get(struct queue *queue); /* NULL: none */
/* The same for segments of a modelled link. */
bool softirq_put_segment(struct queue *queue, struct segment *segment);
struct segment *softirq_get_segment(struct queue *queue);
void softirq_add(struct queue *queue, const struct merge *merge); /* to the poll under way */
void softirq_init_host(struct socket_host *host, const char *name);
void softirq_fini_host(struct socket_host *host);

/* fragments.c */
/* Returns false for a frame that no UDP socket of the host can get. */
bool fragments_are_wanted(const struct socket_host *host, const struct packet *packet);
bool fragments_are_last(const struct packet *packet); /* no fragment follows */
void fragments_send(struct sockets *sockets, const struct flow *flow, const uint8_t *bytes,
		    uint32_t count);
void fragments_arrived(struct socket_host *host, struct packet *packet);
void fragments_fini_host(struct socket_host *host);

#endif
