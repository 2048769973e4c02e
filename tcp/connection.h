/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection: the private declarations of a connection, for the files of this folder.
 *
 *     input.c    arriving segments: states, acceptance (RFC 9293 3.10.7)
 *     ack.c      ACK and SACK blocks of arriving segments
 *     rack.c     detection of lost segments, and tail loss probes (RFC 8985)
 *     recovery.c repair of losses, PRR, and events for congestion control
 *     receive.c  payload of arriving segments, receive window, delay of ACKs
 *     output.c   segments to send
 *     timers.c   RTT, RTO, window probes, and the next deadline
 *     tcp.c      calls of the application and the host
 *
 * Sequence numbers have 64 bits and do not wrap. The SYN has TCP_SEQUENCE_FIRST. The number on the
 * wire is the initial sequence number plus the low half. Byte `n` of the stream has
 * TCP_SEQUENCE_FIRST + 1 + n.
 */
#ifndef TCP_CONNECTION_H
#define TCP_CONNECTION_H

#include "tcp/reassembly.h"
#include "tcp/scoreboard.h"
#include "tcp/tcp.h"

#define TCP_SEQUENCE_FIRST  (UINT64_C(1) << 32)
#define TCP_MSS_DEFAULT     536        /* RFC 9293 3.7.1 */
#define TCP_CHALLENGE_EVERY (500 * MS) /* RFC 5961 10; Linux tcp_invalid_ratelimit */
#define TCP_SYN_AGAIN       (8 * MS)   /* Linux: TCP_TIMEOUT_MIN, two ticks of 4 ms */

enum tcp_deadline {
	TCP_DEADLINE_RETRANSMIT,
	TCP_DEADLINE_TAIL_PROBE,
	TCP_DEADLINE_REORDER,
	TCP_DEADLINE_WINDOW_PROBE,
	TCP_DEADLINE_ACK,
	TCP_DEADLINE_PACE,
	TCP_DEADLINE_TIME_WAIT,
	TCP_DEADLINE_KEEPALIVE,
	TCP_DEADLINE_FIN_WAIT_2,
	TCP_DEADLINE_COUNT,
};

/* Phase of congestion control, which determines the window. */
enum tcp_phase {
	TCP_OPEN,
	TCP_RECOVERY, /* fast recovery: PRR limits sending */
	TCP_LOSS,     /* after a timeout: slow start */
};

struct tcp_send {
	uint32_t initial;    /* sequence number on the wire */
	uint64_t una, next;  /* first not acknowledged, first not sent */
	uint64_t end;        /* number after the last byte that the application wrote */
	uint64_t urgent;     /* number after the last urgent byte, or 0 */
	uint64_t window_end; /* end of the peer's receive window */
	uint64_t window_max; /* largest window seen */
	/* numbers of the segment that changed the window: WL1, WL2 */
	uint64_t update_sequence, update_ack;
	uint64_t small_end; /* end of the last segment below the MSS */
	/* value of `next` when the congestion window last stopped the sender */
	uint64_t limited_end;
	sim_time last_at; /* time of the last segment with payload */
	uint32_t mss;     /* payload of a full segment */
	uint8_t window_scale;
	bool fin;     /* tcp_shutdown() was called; the FIN has the number `end` */
	bool blocked; /* transmit() has returned false */
	bool probe;   /* one byte beyond the peer's window was sent */
};

struct tcp_receive {
	uint32_t initial;
	uint64_t next;        /* first number that was not received in order */
	uint64_t taken;       /* first number that the application has not read */
	uint64_t window_end;  /* end that was advertised last */
	uint64_t acked;       /* `next` of the last ACK sent */
	uint64_t fin;         /* number of the peer's FIN, or 0 if unknown */
	uint64_t urgent;      /* number of the urgent byte announced last, or 0 */
	bool urgent_awaited;  /* it has not arrived */
	uint32_t segment_max; /* largest payload so far, at most the MSS */
	uint32_t quick_acks;  /* remaining quick ACKs */
	uint32_t timestamp;   /* TS.Recent */
	sim_time data_at;     /* time of the last payload in order */
	/* Data sent within this time after received data is a response. 0 before the first
	 * payload. Linux icsk_ack.ato. */
	sim_time response_time;
	uint8_t window_scale;
	bool ack_now, ack_pending;
	/* segments with PSH since the last ACK: one at least, two at least */
	bool pushed, pushed_twice;
	bool ping_pong; /* the application responds to data: ACKs wait for its responses */
	bool ce;        /* dctcp: the last segment was marked; classic: send ECE until CWR */
};

struct tcp_rtt {
	sim_time srtt, rttvar, min; /* 0 before the first sample */
	sim_time rto;               /* without back-off */
	uint32_t backoff;           /* doublings of the RTO */
	uint32_t retries;           /* timeouts since the last new ACK */
	uint32_t probes;            /* probes of the peer's window, in a row */
	uint32_t unanswered;        /* probes without an ACK since the last ACK */
	/* time of the first timeout or window probe without progress since; SIM_NEVER for none */
	sim_time stalled_at;
};

/* Probes of an idle connection. */
struct tcp_keepalive {
	sim_time heard_at;   /* time of the last valid segment of the peer */
	sim_time idle;       /* parameter by which the deadline was set */
	uint32_t unanswered; /* probes since then */
	bool confirmed;      /* the last probe got an ACK */
};

/* RFC 8985 5.2 and 7. */
struct tcp_rack {
	sim_time sent_at; /* send time of the latest segment that was delivered */
	uint64_t end;     /* its end */
	uint64_t highest; /* end of the highest segment that was delivered: RACK.fack */
	sim_time rtt;
	uint64_t dsack_round; /* 0 for none */
	uint32_t window_steps, window_persist;
	bool reordering;
	uint64_t probe_end; /* TLP.end_seq, or 0 if no probe is in flight */
	bool probe_retransmits;
};

struct tcp_recovery {
	enum tcp_phase phase;
	uint64_t end;             /* recovery ends when this is acknowledged */
	uint64_t flight_bytes;    /* RecoverFS */
	uint64_t delivered_bytes; /* prr_delivered */
	uint64_t sent_bytes;      /* prr_out */
	uint64_t cwnd_bytes;      /* window of PRR */
	uint64_t reduced_end;     /* marks up to here belong to one window of data */
	uint32_t duplicate_acks;  /* without SACK */
	bool force;               /* one segment may be sent regardless of the window */
	bool cwr;                 /* the next new segment carries CWR */
};

struct tcp_connection {
	struct tcp_send send;
	struct tcp_receive receive;
	struct scoreboard board;
	struct tcp_rtt rtt;
	struct tcp_keepalive keepalive;
	struct tcp_rack rack;
	struct tcp_recovery recovery;
	struct reassembly reassembly;
	const struct tcp_params *params;
	const struct congestion *congestion;
	struct cc_state *cc;
	const struct tcp_host *host;
	void *context;
	sim_time now;
	sim_time deadlines[TCP_DEADLINE_COUNT];
	sim_time asked_at;     /* set_timer() */
	sim_time challenge_at; /* time of the last ACK in response to an unacceptable segment */
	sim_time allowed_at;   /* pacing */
	uint64_t line_rate_bps;
	unsigned events;
	uint16_t local_port, remote_port, local_mss;
	uint8_t state; /* enum tcp_state */
	bool passive;  /* opened by tcp_listen() */
	bool orphan;   /* no application has it any more */
	bool busy;     /* in a call */
	bool with_timestamps, with_sack, with_window_scale;
	bool with_ecn, ecn_dctcp;
	bool syn_sent_again;
	struct tcp_counts counts;
	struct tcp_counts *totals; /* counters of the host, or NULL */
};

/* Adds `number` to a counter of the connection and of its host. */
#define tcp_count(c, name, number)                     \
	do {                                           \
		(c)->counts.name += (number);          \
		if ((c)->totals)                       \
			(c)->totals->name += (number); \
	} while (0)

/* Contents of one ACK. */
struct tcp_delivery {
	uint64_t acked_bytes;     /* by the acknowledgment number */
	uint64_t delivered_bytes; /* acknowledged or SACKed for the first time */
	uint64_t prior_una;
	uint64_t prior_flight_bytes;
	sim_time rtt;       /* RTT of the last delivered segment that was sent once; 0 for none */
	sim_time rtt_first; /* RTT of the first such segment */
	bool advanced;      /* SND.UNA moved */
	bool sacked;        /* a record was SACKed for the first time */
	bool duplicate;
	bool dsack;
	bool lost; /* a segment was found lost */
};

static inline uint64_t tcp_unwrap(uint64_t near, uint32_t initial, uint32_t wire)
{
	return near + (uint64_t)(int64_t)(int32_t)(wire - initial - (uint32_t)near);
}

static inline uint32_t tcp_wire(uint32_t initial, uint64_t sequence)
{
	return initial + (uint32_t)sequence;
}

static inline bool tcp_synchronized(const struct tcp_connection *c)
{
	return c->state >= TCP_STATE_ESTABLISHED;
}

/* Returns true if urgent data is not acknowledged. */
static inline bool tcp_is_urgent(const struct tcp_connection *c)
{
	return c->send.urgent > c->send.una;
}

/* Returns the bytes, including the FIN, that are sent and not acknowledged. */
static inline uint64_t tcp_flight(const struct tcp_connection *c)
{
	return c->send.next - c->send.una;
}

/* input.c */
void tcp_input_segment(struct tcp_connection *c, const struct tcp_segment *segment);

/* ack.c */
/* Processes the ACK of a segment. Returns false if the segment must not be processed further. */
bool tcp_ack(struct tcp_connection *c, const struct tcp_segment *segment, uint64_t sequence);

/* rack.c */
void tcp_rack_deliver(struct tcp_connection *c, const struct scoreboard_record *record,
		      const struct tcp_header *header);
void tcp_rack_dsack(struct tcp_connection *c);
void tcp_rack_recovered(struct tcp_connection *c);
/* Marks lost segments. Returns true if there are new ones. */
bool tcp_rack_detect(struct tcp_connection *c, struct tcp_delivery *delivery);
void tcp_rack_lose_on_rto(struct tcp_connection *c);
void tcp_rack_timeout(struct tcp_connection *c);
void tcp_rack_arm_probe(struct tcp_connection *c);
void tcp_rack_probe(struct tcp_connection *c);
void tcp_rack_probe_acked(struct tcp_connection *c, const struct tcp_header *header, uint64_t ack,
			  const struct tcp_delivery *delivery);

/* recovery.c */
/* Initialises congestion control. handshake_rtt is 0 if it is unknown. */
void tcp_recovery_begin(struct tcp_connection *c, sim_time handshake_rtt);
void tcp_recovery_acked(struct tcp_connection *c, const struct tcp_delivery *delivery, bool ece);
void tcp_recovery_lost(struct tcp_connection *c); /* losses were found without an ACK */
void tcp_recovery_timeout(struct tcp_connection *c);
/* reduces once, for a loss that is already repaired */
void tcp_recovery_reduce(struct tcp_connection *c);
void tcp_recovery_sent(struct tcp_connection *c, uint32_t bytes);
/* Returns the congestion window, or the window of PRR. */
uint64_t tcp_recovery_cwnd(const struct tcp_connection *c);
/* Returns the bytes in the network. */
uint64_t tcp_recovery_pipe(const struct tcp_connection *c);
/* Returns the bytes that the congestion window allows to send now. */
uint64_t tcp_recovery_room(const struct tcp_connection *c);

/* receive.c */
void tcp_receive_data(struct tcp_connection *c, const struct tcp_segment *segment,
		      uint64_t sequence);
void tcp_receive_ecn(struct tcp_connection *c, const struct tcp_segment *segment);
uint64_t tcp_receive_window_end(const struct tcp_connection *c);
void tcp_receive_taken(struct tcp_connection *c);
/* Records that payload was sent, and that a segment with an ACK was sent. */
void tcp_receive_data_sent(struct tcp_connection *c);
void tcp_receive_ack_sent(struct tcp_connection *c);
void tcp_receive_delay_over(struct tcp_connection *c); /* the ACK's delay has passed */

/* Processes the urgent pointer, and the arrival of the urgent byte. */
void tcp_receive_urgent(struct tcp_connection *c, const struct tcp_segment *segment,
			uint64_t sequence);

/* output.c */
void tcp_output(struct tcp_connection *c);
void tcp_output_ack(struct tcp_connection *c);
void tcp_output_challenge(struct tcp_connection *c);
void tcp_output_syn(struct tcp_connection *c);
void tcp_output_reset(struct tcp_connection *c, uint64_t sequence);
/* Sends one byte beyond the window. Returns false if the byte was within, because the window allows
 * a small segment. */
bool tcp_output_window_probe(struct tcp_connection *c);
/* Sends an ACK with a number that the peer has acknowledged, which it answers. */
void tcp_output_keepalive(struct tcp_connection *c);
/* Retransmits the record, regardless of the window. */
bool tcp_output_again(struct tcp_connection *c, uint32_t index);
/* Sends one new segment, regardless of the congestion window. Returns false if there is none. */
bool tcp_output_one_new(struct tcp_connection *c);

/* timers.c */
void tcp_timers_expire(struct tcp_connection *c);
void tcp_timers_sample(struct tcp_connection *c, sim_time rtt);
sim_time tcp_timers_rto(const struct tcp_connection *c); /* includes the back-off */
sim_time tcp_timers_probe_interval(const struct tcp_connection *c);
void tcp_timers_set(struct tcp_connection *c, enum tcp_deadline deadline, sim_time delay);
void tcp_timers_clear(struct tcp_connection *c, enum tcp_deadline deadline);
void tcp_timers_acked(struct tcp_connection *c);
void tcp_timers_window_open(struct tcp_connection *c);
void tcp_timers_heard(struct tcp_connection *c); /* a valid segment of the peer came */
/* Sets the deadlines of an idle connection, and of one without an application. */
void tcp_timers_idle(struct tcp_connection *c);
void tcp_timers_sent(struct tcp_connection *c);
bool tcp_timers_running(const struct tcp_connection *c, enum tcp_deadline deadline);

/* tcp.c */
void tcp_established(struct tcp_connection *c, sim_time handshake_rtt);
void tcp_closed(struct tcp_connection *c, unsigned event);

#endif
