/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: selects the next segment and builds its header. RFC 9293 3.7.4 (Nagle) and 3.8.6.2.1
 * (silly windows), RFC 6675 5 (lost segments first), RFC 3168 6.1.5 (no ECT on retransmissions).
 */
#include "hca/congestion/pace.h"
#include "tcp/connection.h"

#define LINK_OVERHEAD 78 /* overhead of a segment: Ethernet with preamble and gap, IPv4, TCP */

/* Returns the advertised window, which never shrinks. */
static uint16_t advertise(struct tcp_connection *c, bool syn)
{
	struct tcp_receive *receive = &c->receive;
	unsigned scale = syn ? 0 : receive->window_scale;
	uint64_t window = (tcp_receive_window_end(c) - receive->next) >> scale;

	if (window > UINT16_MAX)
		window = UINT16_MAX;
	if (window < UINT16_MAX && receive->next + (window << scale) < receive->window_end)
		window++;
	if (receive->next + (window << scale) > receive->window_end)
		receive->window_end = receive->next + (window << scale);
	return (uint16_t)window;
}

static void put_sacks(struct tcp_connection *c, struct tcp_header *header)
{
	struct reassembly_range blocks[TCP_SACK_MAX];
	unsigned count = reassembly_blocks(&c->reassembly, tcp_sack_room(header), blocks);

	header->sack_count = (uint8_t)count;
	for (unsigned i = 0; i < count; i++)
		header->sack[i] = (struct tcp_sack){tcp_wire(c->receive.initial, blocks[i].start),
						    tcp_wire(c->receive.initial, blocks[i].end)};
}

static uint32_t timestamp(const struct tcp_connection *c)
{
	/* Linux treats 0 as no time stamp */
	return (uint32_t)(c->now / c->params->timestamp_clock) + 1;
}

/* Linux: tcp_transmit_skb(). */
static void put_urgent(const struct tcp_connection *c, struct tcp_header *header, uint64_t sequence)
{
	uint64_t distance = c->send.urgent - sequence;

	if (!tcp_is_urgent(c) || sequence >= c->send.urgent ||
	    (distance > UINT16_MAX && sequence + UINT16_MAX <= c->send.next))
		return;
	header->flags |= TCP_URG;
	header->urgent = (uint16_t)(distance < UINT16_MAX ? distance : UINT16_MAX);
}

/* Returns a segment with the fields that all segments of a synchronized connection have. */
static struct tcp_segment begin(struct tcp_connection *c, uint64_t sequence, unsigned flags)
{
	struct tcp_segment segment = {
		.header =
			{
				.source_port = c->local_port,
				.destination_port = c->remote_port,
				.sequence = tcp_wire(c->send.initial, sequence),
				.acknowledgment = tcp_wire(c->receive.initial, c->receive.next),
				.flags = (uint8_t)(flags | TCP_ACK),
			},
		.ecn = c->with_ecn && c->ecn_dctcp ? ECN_ECT0 : ECN_NOT_ECT,
	};

	segment.header.window = advertise(c, false);
	if (c->with_timestamps) {
		segment.header.options = TCP_OPTION_TIMESTAMPS;
		segment.header.timestamp = timestamp(c);
		segment.header.timestamp_echo = c->receive.timestamp;
	}
	if (c->with_sack)
		put_sacks(c, &segment.header);
	if (c->with_ecn && c->receive.ce)
		segment.header.flags |= TCP_ECE;
	put_urgent(c, &segment.header, sequence);
	return segment;
}

static bool transmit(struct tcp_connection *c, const struct tcp_segment *segment)
{
	if (!c->host->transmit(c->context, segment)) {
		c->send.blocked = true;
		return false;
	}
	tcp_count(c, segments_sent, 1);
	tcp_count(c, retransmissions, segment->retransmission);
	if (segment->payload_bytes)
		tcp_receive_data_sent(c);
	if (segment->header.flags & TCP_ACK)
		tcp_receive_ack_sent(c);
	return true;
}

void tcp_output_ack(struct tcp_connection *c)
{
	struct tcp_segment segment = begin(c, c->send.next, 0);

	tcp_count(c, acks_sent, 1);
	transmit(c, &segment);
}

void tcp_output_keepalive(struct tcp_connection *c)
{
	struct tcp_segment segment = begin(c, c->send.una - 1, 0);

	tcp_count(c, keepalive_probes, 1);
	transmit(c, &segment);
}

void tcp_output_challenge(struct tcp_connection *c)
{
	if (c->challenge_at != SIM_NEVER && c->now - c->challenge_at < TCP_CHALLENGE_EVERY)
		return;
	c->challenge_at = c->now;
	tcp_output_ack(c);
}

void tcp_output_reset(struct tcp_connection *c, uint64_t sequence)
{
	const struct tcp_segment segment = {
		.header =
			{
				.source_port = c->local_port,
				.destination_port = c->remote_port,
				.sequence = tcp_wire(c->send.initial, sequence),
				.flags = TCP_RST,
			},
	};

	transmit(c, &segment);
}

static uint8_t own_window_scale(const struct tcp_connection *c)
{
	uint8_t scale = 0;

	while (scale < TCP_WINDOW_SCALE_MAX && c->params->receive_buffer >> scale > UINT16_MAX)
		scale++;
	return scale;
}

static unsigned syn_options(const struct tcp_connection *c)
{
	unsigned options = TCP_OPTION_MSS;

	if (c->with_timestamps)
		options |= TCP_OPTION_TIMESTAMPS;
	if (c->with_sack)
		options |= TCP_OPTION_SACK_PERMITTED;
	if (c->with_window_scale)
		options |= TCP_OPTION_WINDOW_SCALE;
	return options;
}

/* RFC 3168 6.1.1. */
static unsigned syn_ecn_flags(const struct tcp_connection *c)
{
	if (!c->with_ecn)
		return 0;
	return c->state == TCP_STATE_SYN_SENT ? TCP_ECE | TCP_CWR : TCP_ECE;
}

void tcp_output_syn(struct tcp_connection *c)
{
	bool response = c->state == TCP_STATE_SYN_RECEIVED;
	struct tcp_segment segment = {
		.header =
			{
				.source_port = c->local_port,
				.destination_port = c->remote_port,
				.sequence = tcp_wire(c->send.initial, TCP_SEQUENCE_FIRST),
				.flags = (uint8_t)(TCP_SYN | (response ? TCP_ACK : 0) |
						   syn_ecn_flags(c)),
				.options = (uint8_t)syn_options(c),
				.mss = c->local_mss,
			},
		.ecn = c->with_ecn && c->ecn_dctcp ? ECN_ECT0 : ECN_NOT_ECT,
		.retransmission = c->send.next > TCP_SEQUENCE_FIRST,
	};

	if (response)
		segment.header.acknowledgment = tcp_wire(c->receive.initial, c->receive.next);
	if (c->with_window_scale)
		segment.header.window_scale = own_window_scale(c);
	if (c->with_timestamps) {
		segment.header.timestamp = timestamp(c);
		segment.header.timestamp_echo = response ? c->receive.timestamp : 0;
	}
	segment.header.window = advertise(c, true);
	c->syn_sent_again = segment.retransmission;
	c->send.next = TCP_SEQUENCE_FIRST + 1;
	c->send.last_at = c->now;
	transmit(c, &segment);
	tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
}

static bool is_last(const struct tcp_connection *c, uint64_t end)
{
	return end == c->send.end;
}

static struct tcp_segment data_segment(struct tcp_connection *c, uint64_t start, uint32_t bytes,
				       bool fin, bool again)
{
	unsigned flags = fin ? TCP_FIN : 0;
	struct tcp_segment segment;

	if (bytes && is_last(c, start + bytes))
		flags |= TCP_PSH;
	segment = begin(c, start, flags);
	segment.payload_bytes = bytes;
	segment.offset = start - TCP_SEQUENCE_FIRST - 1;
	segment.retransmission = again;
	if (c->with_ecn && bytes && (c->ecn_dctcp || !again))
		segment.ecn = ECN_ECT0;
	if (c->with_ecn && bytes && !again && c->recovery.cwr)
		segment.header.flags |= TCP_CWR;
	return segment;
}

/* Records a segment with payload or FIN that has left. */
static void sent(struct tcp_connection *c, const struct tcp_segment *segment)
{
	uint32_t bytes = segment->payload_bytes;

	tcp_count(c, data_sent, bytes > 0);
	tcp_count(c, retransmitted_bytes, segment->retransmission ? bytes : 0);
	if (segment->header.flags & TCP_CWR)
		c->recovery.cwr = false;
	c->send.last_at = c->now;
	tcp_recovery_sent(c, bytes);
	if (c->cc->rate_bps != RATE_UNLIMITED)
		pace_pay(c->congestion, c->cc, &c->allowed_at, c->now, bytes,
			 bytes + LINK_OVERHEAD);
	if (c->congestion->ops->on_send)
		c->congestion->ops->on_send(c->cc, c->congestion->params, c->now,
					    bytes + LINK_OVERHEAD);
}

bool tcp_output_again(struct tcp_connection *c, uint32_t index)
{
	struct scoreboard_record *record = scoreboard_at(&c->board, index);
	struct tcp_segment segment =
		data_segment(c, record->start, record->bytes, record->fin, true);

	if (!transmit(c, &segment))
		return false;
	scoreboard_resend(&c->board, index, c->now);
	sent(c, &segment);
	if (index == c->board.first) /* RFC 6675 6 */
		tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
	return true;
}

static bool send_new(struct tcp_connection *c, uint32_t bytes)
{
	uint64_t start = c->send.next;
	bool fin = c->send.fin && start + bytes == c->send.end;
	struct tcp_segment segment = data_segment(c, start, bytes, fin, false);

	if (!transmit(c, &segment))
		return false;
	scoreboard_append(&c->board, start, bytes, fin, c->now);
	c->send.next += bytes + fin;
	if (bytes && bytes < c->send.mss && !c->send.probe)
		c->send.small_end = c->send.next;
	sent(c, &segment);
	tcp_timers_sent(c);
	return true;
}

/* Returns the payload of the next new segment: written, and within the peer's window. */
static uint32_t next_bytes(const struct tcp_connection *c)
{
	uint64_t bytes = c->send.end > c->send.next ? c->send.end - c->send.next : 0;
	uint64_t window = c->send.window_end > c->send.next ? c->send.window_end - c->send.next : 0;

	if (bytes > window)
		bytes = window;
	return (uint32_t)(bytes < c->send.mss ? bytes : c->send.mss);
}

/* Returns true if a FIN is due. A FIN needs no space in the peer's window. */
static bool fin_due(const struct tcp_connection *c)
{
	return c->send.fin && c->send.next == c->send.end;
}

/* Returns true if a segment below the MSS must wait. */
static bool small_waits(const struct tcp_connection *c, uint32_t bytes)
{
	bool in_flight = c->send.una < c->send.next;

	if (c->send.next + bytes < c->send.end) /* the window limits it */
		return bytes < c->send.window_max / 2 || !bytes;
	if (c->send.fin || tcp_is_urgent(c))
		return false;
	switch ((enum tcp_nagle)c->params->nagle) {
	case TCP_NAGLE_OFF:
		return false;
	case TCP_NAGLE_CLASSIC:
		return in_flight;
	case TCP_NAGLE_MINSHALL:
		break;
	}
	return in_flight && c->send.small_end > c->send.una;
}

bool tcp_output_one_new(struct tcp_connection *c)
{
	uint32_t bytes = next_bytes(c);

	return bytes && send_new(c, bytes);
}

/* RFC 9293 3.8.6.1. */
bool tcp_output_window_probe(struct tcp_connection *c)
{
	uint32_t bytes = next_bytes(c);

	if (bytes && !c->board.count) { /* the window is too small for a full segment */
		send_new(c, bytes);
		return false;
	}
	tcp_count(c, window_probes, 1);
	if (c->board.count)
		return tcp_output_again(c, c->board.first);
	c->send.probe = true;
	return send_new(c, 1);
}

/* RFC 5681 4.1. */
static void restart_if_idle(struct tcp_connection *c)
{
	const struct congestion_ops *ops = c->congestion->ops;

	if (!c->params->idle_restart || !ops->on_idle || tcp_flight(c) ||
	    c->now - c->send.last_at <= tcp_timers_rto(c))
		return;
	ops->on_idle(c->cc, c->congestion->params, c->now);
}

static bool pace_allows(struct tcp_connection *c)
{
	if (c->cc->rate_bps == RATE_UNLIMITED || c->allowed_at <= c->now)
		return true;
	tcp_timers_set(c, TCP_DEADLINE_PACE, c->allowed_at - c->now);
	return false;
}

/* Returns true if the congestion window allows the bytes. Otherwise records that it has stopped the
 * sender. */
static bool room_allows(struct tcp_connection *c, uint32_t bytes)
{
	if (bytes <= tcp_recovery_room(c))
		return true;
	c->send.limited_end = c->send.next;
	return false;
}

/* Retransmits a lost segment. Returns false if no segment is lost, or none may be sent. */
static bool output_lost(struct tcp_connection *c)
{
	uint32_t index = c->board.lost.first;
	const struct scoreboard_record *record;

	if (index == SCOREBOARD_NONE)
		return false;
	record = scoreboard_at(&c->board, index);
	if (scoreboard_end(record) > c->send.window_end && index != c->board.first)
		return false;
	return room_allows(c, record->bytes) && pace_allows(c) && tcp_output_again(c, index);
}

/* Sends a new segment. Returns false if there is none, or if it may not be sent. */
static bool output_new(struct tcp_connection *c)
{
	uint32_t bytes = next_bytes(c);

	if (fin_due(c))
		return send_new(c, 0);
	if (!bytes || (bytes < c->send.mss && small_waits(c, bytes)))
		return false;
	restart_if_idle(c);
	return room_allows(c, bytes) && pace_allows(c) && send_new(c, bytes);
}

static bool may_send(const struct tcp_connection *c)
{
	switch ((enum tcp_state)c->state) {
	case TCP_STATE_ESTABLISHED:
	case TCP_STATE_CLOSE_WAIT:
	case TCP_STATE_FIN_WAIT_1:
	case TCP_STATE_CLOSING:
	case TCP_STATE_LAST_ACK:
		return true;
	default:
		return false;
	}
}

/* Returns true if only the peer's window holds back the waiting bytes. */
static bool window_blocks(const struct tcp_connection *c)
{
	const struct scoreboard_record *first = scoreboard_first(&c->board);

	if (first) /* a probe is in flight */
		return first->start >= c->send.window_end;
	return c->send.next < c->send.end && next_bytes(c) < c->send.mss &&
	       c->send.next + next_bytes(c) < c->send.end;
}

/* Runs the persist timer instead of the retransmission timer while the window is closed. */
static void arm_window_probe(struct tcp_connection *c)
{
	if (!window_blocks(c)) {
		if (tcp_timers_running(c, TCP_DEADLINE_WINDOW_PROBE))
			tcp_timers_window_open(c);
		return;
	}
	tcp_timers_clear(c, TCP_DEADLINE_RETRANSMIT);
	tcp_timers_clear(c, TCP_DEADLINE_TAIL_PROBE);
	if (!tcp_timers_running(c, TCP_DEADLINE_WINDOW_PROBE))
		tcp_timers_set(c, TCP_DEADLINE_WINDOW_PROBE, tcp_timers_probe_interval(c));
}

/* Frees a probe that the peer did not accept before the window opened. */
static void free_probe(struct tcp_connection *c)
{
	const struct scoreboard_record *first = scoreboard_first(&c->board);

	if (!c->send.probe || (first && first->start >= c->send.window_end))
		return;
	c->send.probe = false;
	c->rtt.probes = 0;
	if (first && first->place == SCOREBOARD_IN_FLIGHT)
		scoreboard_lose(&c->board, c->board.first);
}

void tcp_output(struct tcp_connection *c)
{
	if (may_send(c)) {
		congestion_settle(c->congestion, c->cc, c->now);
		free_probe(c);
		c->send.blocked = false;
		while (!c->send.blocked && (output_lost(c) || output_new(c)))
			;
		arm_window_probe(c);
	}
	if (c->receive.ack_now)
		tcp_output_ack(c);
}
