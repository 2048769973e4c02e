/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp: one TCP connection. It knows neither hosts nor links: segments, calls of the application and
 * the passing of time go in, segments and events come out.
 *
 *     application --tcp_write, tcp_read, tcp_shutdown--> connection --transmit()--> host --> link
 *     link --> host --tcp_input--> connection --receive(), notify()--> application
 *     host --tcp_timer, at the time of set_timer()--> connection
 *
 * The connection holds no bytes. An application writes and reads lengths, and the host finds the
 * bytes of a segment by their offset in the stream. A host that models lengths only needs nothing.
 *
 * RFC 9293 (TCP), 7323 (window scale, time stamps), 2018, 2883 and 6675 (SACK), 6298 (RTO), 8985
 * (RACK-TLP), 6937 (PRR), 3168 (ECN), 8257 (DCTCP's ECE), 5681 and 5961. Congestion control is an
 * algorithm of hca/congestion/congestion.h. Urgent data and keep-alives are not modelled.
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
	TCP_CONNECTED = 1,    /* ESTABLISHED */
	TCP_READABLE = 2,     /* more bytes in order */
	TCP_ACKNOWLEDGED = 4, /* the peer has more bytes */
	TCP_PEER_CLOSED = 8,  /* FIN, behind all bytes */
	TCP_FINISHED = 16,    /* CLOSED: nothing comes any more */
	TCP_RESET = 32,       /* CLOSED by RST of the peer, a refused connect included */
	TCP_TIMED_OUT = 64,   /* CLOSED: no answer */
};

struct tcp_segment {
	struct tcp_header header;
	uint8_t ecn;            /* enum ecn, of the IP header */
	bool retransmission;    /* out: sent before */
	uint32_t payload_bytes; /* without SYN and FIN */
	uint64_t offset;        /* out: of the payload in the stream of bytes */
	const uint8_t *payload; /* in: passed on to receive(); NULL: lengths only */
};

struct tcp_connection;

/* What a connection asks of its host. `context` is that of tcp_create(). */
struct tcp_host {
	/* Sends a segment. Returns false if there is no room now, only for a segment with payload
	 * or FIN. The host then calls tcp_resume() when there is room. */
	bool (*transmit)(void *context, const struct tcp_segment *segment);
	/* New bytes at `offset` of the stream, in order or not, each byte once. NULL: not told. */
	void (*receive)(void *context, uint64_t offset, uint32_t bytes, const uint8_t *payload);
	/* Asks for tcp_timer() at `at`, instead of at any time before; SIM_NEVER: not at all. */
	void (*set_timer)(void *context, sim_time at);
	/* enum tcp_event bits, at the end of a call. May call the connection, but not destroy it.
	 * NULL: not told. */
	void (*notify)(void *context, unsigned events);
};

struct tcp_setup {
	const struct tcp_params *params;     /* outlives the connection */
	const struct congestion *congestion; /* outlives the connection */
	const struct tcp_host *host;
	void *context;
	uint16_t local_port, remote_port;
	uint16_t mss; /* of the local link: MTU less IP and TCP headers */
	uint32_t initial_sequence;
	uint64_t line_rate_bps; /* of the local link, for congestion control */
};

struct tcp_connection *tcp_create(const struct tcp_setup *setup);
void tcp_destroy(struct tcp_connection *connection);

/* Active open, and passive open: the next SYN. */
void tcp_connect(struct tcp_connection *connection, sim_time now);
void tcp_listen(struct tcp_connection *connection, sim_time now);

/* A segment has arrived, with a right checksum. */
void tcp_input(struct tcp_connection *connection, sim_time now, const struct tcp_segment *segment);

/* The time of set_timer() has come. An early call does no harm. */
void tcp_timer(struct tcp_connection *connection, sim_time now);

/* There is room again after transmit() has returned false. */
void tcp_resume(struct tcp_connection *connection, sim_time now);

/* The application has `bytes` more to send, before tcp_shutdown(). */
void tcp_write(struct tcp_connection *connection, sim_time now, uint64_t bytes);

/* The application has taken `bytes` from the received bytes, at most tcp_readable(). */
void tcp_read(struct tcp_connection *connection, sim_time now, uint64_t bytes);
uint64_t tcp_readable(const struct tcp_connection *connection);

/* FIN behind the last byte written. */
void tcp_shutdown(struct tcp_connection *connection, sim_time now);

/* RST, and CLOSED. */
void tcp_abort(struct tcp_connection *connection, sim_time now);

/* Answers a segment that belongs to no connection. Returns false if no answer is due. */
bool tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *answer);

/* clang-format off */
/* X(field, unit, meaning): counted from the start of a connection */
#define TCP_COUNTERS(X)                                                                            \
	X(segments_sent,          "segments", "segments sent, pure ACKs and retransmissions included") \
	X(segments_received,      "segments", "segments received")                                 \
	X(acks_sent,              "segments", "segments without payload, SYN, FIN and RST")        \
	X(data_sent,              "segments", "segments with payload sent, retransmissions included") \
	X(retransmissions,        "segments", "segments with payload, SYN or FIN sent again")      \
	X(retransmitted_bytes,    "bytes",    "payload sent again")                                \
	X(timeouts,               "events",   "retransmission timeouts")                           \
	X(recoveries,             "events",   "fast recoveries")                                   \
	X(tail_probes,            "segments", "tail loss probes")                                  \
	X(window_probes,          "segments", "probes of a zero window")                           \
	X(duplicate_acks,         "segments", "ACKs received that acknowledge nothing new, with data in flight") \
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
	sim_time srtt, rttvar, min_rtt, rto; /* 0: no sample */
	uint32_t mss;                        /* payload of a full segment */
	bool recovering;                     /* repairs a loss */
	struct tcp_counts counts;
};

void tcp_report(const struct tcp_connection *connection, struct tcp_report *report);
const struct tcp_counts *tcp_counts(const struct tcp_connection *connection);
enum tcp_state tcp_state(const struct tcp_connection *connection);
const char *tcp_state_name(enum tcp_state state);

#endif
