/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp: one TCP connection, independent of hosts and links. Its inputs are segments, calls of the
 * application and the passing of time. Its outputs are segments and events.
 *
 *     application --tcp_write, tcp_read, tcp_shutdown--> connection --transmit()--> host --> link
 *     link --> host --tcp_input--> connection --receive(), notify()--> application
 *     host --tcp_timer, at the time of set_timer()--> connection
 *
 * The connection stores no bytes. An application writes and reads lengths, and the host finds the
 * bytes of a segment by their offset in the stream. A host that only models lengths stores no bytes
 * either.
 *
 * RFC 9293 (TCP), 7323 (window scale, time stamps), 2018, 2883 and 6675 (SACK), 6298 (RTO), 8985
 * (RACK-TLP), 6937 (PRR), 3168 (ECN), 8257 (DCTCP's ECE), 5681 and 5961. Congestion control is an
 * algorithm of include/hcasim/congestion.h. As in BSD, the urgent pointer points behind the urgent
 * byte.
 */
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include "fabric/wire/packet.h"
#include "fabric/wire/tcp.h"
#include "hca/congestion/congestion.h"
#include "tcp/params.h"

/* clang-format off */
#define TCP_STATES(X)                                                                              \
	X(CLOSED) X(LISTEN) X(SYN_SENT) X(SYN_RECEIVED) X(ESTABLISHED) X(FIN_WAIT_1)               \
	X(FIN_WAIT_2) X(CLOSE_WAIT) X(CLOSING) X(LAST_ACK) X(TIME_WAIT)
#define TCP_STATE_ENUM(name) TCP_STATE_##name,
enum tcp_state { TCP_STATES(TCP_STATE_ENUM) TCP_STATE_COUNT };
/* clang-format on */

enum tcp_event {
	TCP_CONNECTED = 1,          /* ESTABLISHED */
	TCP_READABLE = 2,           /* more bytes in order */
	TCP_ACKNOWLEDGED = 4,       /* the peer has received more bytes */
	TCP_PEER_CLOSED = 8,        /* FIN, after all bytes */
	TCP_FINISHED = 16,          /* CLOSED: no more events */
	TCP_RESET = 32,             /* CLOSED by RST of the peer, including a refused connect */
	TCP_TIMED_OUT = 64,         /* CLOSED: no response */
	TCP_URGENT_ANNOUNCED = 128, /* the peer sends urgent data; see tcp_urgent() */
	TCP_URGENT_ARRIVED = 256,   /* the urgent byte, in order or not */
};

struct tcp_segment {
	struct tcp_header header;
	uint8_t ecn;            /* enum ecn, of the IP header */
	bool retransmission;    /* out: was sent before */
	uint32_t payload_bytes; /* without SYN and FIN */
	uint64_t offset;        /* out: offset of the payload in the stream */
	const uint8_t *payload; /* in: passed to receive(); NULL if only lengths are simulated */
};

struct tcp_connection;

/* Functions of the host that a connection calls. `context` is the argument of tcp_create(). */
struct tcp_host {
	/* Sends a segment. Returns false if there is no space now, which is only allowed for a
	 * segment with payload or FIN. The host then calls tcp_resume() when there is space. May
	 * call tcp_hold(). */
	bool (*transmit)(void *context, const struct tcp_segment *segment);
	/* Reports new bytes at `offset` of the stream, in order or not, each byte once. May be
	 * NULL. */
	void (*receive)(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload);
	/* Requests a call of tcp_timer() at `at`, which replaces any earlier request. SIM_NEVER
	 * requests none. */
	void (*set_timer)(void *context, sim_time at);
	/* Reports enum tcp_event bits at the end of a call. May call the connection, but not
	 * destroy it. NULL if it is not needed. */
	void (*notify)(void *context, unsigned events);
};

struct tcp_counts;

struct tcp_setup {
	const struct tcp_params *params;     /* outlives the connection */
	const struct congestion *congestion; /* outlives the connection */
	const struct tcp_host *host;
	void *context;
	uint16_t local_port, remote_port;
	uint16_t mss; /* of the local link: MTU less IP and TCP headers */
	uint32_t initial_sequence;
	uint64_t line_rate_bps; /* rate of the local link, for congestion control */
	/* counters of the host, which are also incremented; NULL for none */
	struct tcp_counts *totals;
};

/* Returns true if the algorithm reacts to the marks that `params->ecn` negotiates, or if it
 * negotiates none. An algorithm reacts to ECE of `classic` by on_cnp(), and to that of `dctcp` by
 * congestion_ack.marked. A plug-in may use both. */
bool tcp_ecn_fits(const struct tcp_params *params, const struct congestion *congestion);

struct tcp_connection *tcp_create(const struct tcp_setup *setup);
void tcp_destroy(struct tcp_connection *connection);

/* Open actively, and passively by the next SYN. */
void tcp_connect(struct tcp_connection *connection, sim_time now);
void tcp_listen(struct tcp_connection *connection, sim_time now);

/* Processes a segment that has arrived with a correct checksum. */
void tcp_input(struct tcp_connection *connection, sim_time now, const struct tcp_segment *segment);

/* Processes the time of set_timer(). An early call has no effect. */
void tcp_timer(struct tcp_connection *connection, sim_time now);

/* Reports that there is space again after transmit() has returned false, or after tcp_hold(). */
void tcp_resume(struct tcp_connection *connection, sim_time now);

/* Reports, within transmit(), that there is no space after this segment. The connection then builds
 * no further segment. */
void tcp_hold(struct tcp_connection *connection);

/* Adds `bytes` to the data that the application sends. The call is not allowed after
 * tcp_shutdown(). */
void tcp_write(struct tcp_connection *connection, sim_time now, uint64_t bytes);

/* The bytes before offset `end` of the stream end with urgent data. Call this function before
 * tcp_write(), which sends them. */
void tcp_urge(struct tcp_connection *connection, uint64_t end);
/* Returns the offset of the urgent byte that the peer announced last. */
uint64_t tcp_urgent(const struct tcp_connection *connection);

/* Reports that the application has read `bytes`, at most tcp_readable(). */
void tcp_read(struct tcp_connection *connection, sim_time now, uint64_t bytes);
uint64_t tcp_readable(const struct tcp_connection *connection);

/* Sends a FIN after the last byte written. */
void tcp_shutdown(struct tcp_connection *connection, sim_time now);

/* Reports that no application has the connection any more. The connection then fails after fewer
 * timeouts and probes, and waits in FIN-WAIT-2 for a limited time. */
void tcp_orphan(struct tcp_connection *connection, sim_time now);

/* Returns true if the connection only waits for an application. Only probes of the peer's window,
 * or of an idle connection, are then left, and the last probe got an ACK. */
bool tcp_stuck(const struct tcp_connection *connection);

/* Sends RST and closes the connection. */
void tcp_abort(struct tcp_connection *connection, sim_time now);

/* Builds the response to a segment that belongs to no connection. Returns false if no response is
 * due. */
bool tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *response);

/* clang-format off */
/* X(field, unit, meaning), counted from the start of a connection */
#define TCP_COUNTERS(X)                                                                            \
	X(segments_sent,          "segments",                                                      \
	  "segments sent, pure ACKs and retransmissions included")                                 \
	X(segments_received,      "segments", "segments received")                                 \
	X(acks_sent,              "segments", "segments without payload, SYN, FIN and RST")        \
	X(data_sent,              "segments",                                                      \
	  "segments with payload sent, retransmissions included")                                  \
	X(retransmissions,        "segments", "retransmitted segments with payload, SYN or FIN")   \
	X(retransmitted_bytes,    "bytes",    "payload retransmitted")                             \
	X(timeouts,               "events",   "retransmission timeouts")                           \
	X(recoveries,             "events",   "fast recoveries")                                   \
	X(tail_probes,            "segments", "tail loss probes")                                  \
	X(window_probes,          "segments", "probes of a zero window")                           \
	X(keepalive_probes,       "segments", "probes of an idle connection")                      \
	X(duplicate_acks,         "segments",                                                      \
	  "ACKs received that acknowledge nothing new, with data in flight")                       \
	X(dsacks,                 "segments", "ACKs received that report bytes received twice")    \
	X(ece_received,           "segments", "ACKs received with ECE")                            \
	X(ce_received,            "segments", "segments received with a CE mark")                  \
	X(window_reductions,      "events",   "reductions of the congestion window for ECN marks") \
	X(out_of_order,           "segments", "segments received ahead of a gap")                  \
	X(duplicates,             "segments", "segments received with no new byte")                \
	X(refused,                "segments", "segments received that are not acceptable")
/* clang-format on */

struct tcp_counts {
	TCP_COUNTERS(COUNTER_FIELD)
};

struct tcp_report {
	enum tcp_state state;
	uint64_t written, acknowledged;      /* bytes of the application */
	uint64_t received;                   /* bytes in order */
	uint64_t cwnd_bytes;                 /* congestion window */
	uint64_t peer_window_bytes;          /* receive window of the peer */
	uint64_t in_flight_bytes;            /* sent, and neither acknowledged, SACKed nor lost */
	sim_time srtt, rttvar, min_rtt, rto; /* 0 before the first sample */
	uint32_t mss;                        /* payload of a full segment */
	bool recovering;                     /* a loss is being repaired */
	struct tcp_counts counts;
};

void tcp_report(const struct tcp_connection *connection, struct tcp_report *report);
uint64_t tcp_acknowledged(const struct tcp_connection *connection); /* bytes of the application */
uint64_t tcp_unsent(const struct tcp_connection *connection);       /* bytes that were never sent */
uint64_t tcp_cwnd_bytes(const struct tcp_connection *connection);   /* congestion window */
uint32_t tcp_mss(const struct tcp_connection *connection);          /* payload of a full segment */
/* Returns the sequence number on the wire of the received SYN. */
uint32_t tcp_peer_initial(const struct tcp_connection *connection);
/* Return the bytes that were sent and not acknowledged, and the bytes that were received, in order
 * or not, and not read. */
uint64_t tcp_held_sent(const struct tcp_connection *connection);
uint64_t tcp_held_received(const struct tcp_connection *connection);
const struct tcp_counts *tcp_counts(const struct tcp_connection *connection);
enum tcp_state tcp_state(const struct tcp_connection *connection);
const char *tcp_state_name(enum tcp_state state);

#endif
