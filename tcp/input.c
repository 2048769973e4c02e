/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input: processes a segment that arrives: RFC 9293 3.10.7, in the order of its checks, with RFC
 * 5961 (RST and SYN in the window) and RFC 7323 5 (PAWS).
 */
#include "tcp/connection.h"

static uint64_t sequence_of(const struct tcp_connection *c, const struct tcp_header *header)
{
	return tcp_unwrap(c->receive.next, c->receive.initial, header->sequence);
}

/* Processes the options and ECN bits of the peer's SYN. An option applies if both sides offer
 * it. */
static void agree(struct tcp_connection *c, const struct tcp_header *header)
{
	unsigned ecn = header->flags & (TCP_ECE | TCP_CWR);
	uint16_t mss = header->options & TCP_OPTION_MSS ? header->mss : TCP_MSS_DEFAULT;

	c->with_timestamps = c->with_timestamps && (header->options & TCP_OPTION_TIMESTAMPS);
	c->with_sack = c->with_sack && (header->options & TCP_OPTION_SACK_PERMITTED);
	c->with_window_scale = c->with_window_scale && (header->options & TCP_OPTION_WINDOW_SCALE);
	c->with_ecn = c->with_ecn && ecn == (header->flags & TCP_ACK ? TCP_ECE : TCP_ECE | TCP_CWR);
	c->send.mss = mss < c->local_mss ? mss : c->local_mss;
	if (c->with_timestamps && c->send.mss > TCP_TIMESTAMP_BYTES)
		c->send.mss -= TCP_TIMESTAMP_BYTES;
	if (c->with_window_scale) {
		c->send.window_scale = header->window_scale < TCP_WINDOW_SCALE_MAX
					       ? header->window_scale
					       : TCP_WINDOW_SCALE_MAX;
		while (c->params->receive_buffer >> c->receive.window_scale > UINT16_MAX &&
		       c->receive.window_scale < TCP_WINDOW_SCALE_MAX)
			c->receive.window_scale++;
	}
	if (!c->send.mss)
		c->send.mss = 1;
}

static void take_syn(struct tcp_connection *c, const struct tcp_header *header)
{
	c->receive.initial = header->sequence;
	c->receive.next = c->receive.acked = c->receive.taken = TCP_SEQUENCE_FIRST + 1;
	c->receive.window_end = c->receive.next;
	c->receive.timestamp = header->timestamp;
	c->remote_port = header->source_port;
	agree(c, header);
	c->send.update_sequence = TCP_SEQUENCE_FIRST;
	c->send.window_end = c->send.una + header->window; /* never scaled on a SYN */
	c->send.window_max = header->window;
}

static void input_listen(struct tcp_connection *c, const struct tcp_segment *segment)
{
	const struct tcp_header *header = &segment->header;

	if ((header->flags & (TCP_RST | TCP_ACK | TCP_SYN)) != TCP_SYN) {
		tcp_count(c, refused, 1);
		return;
	}
	take_syn(c, header);
	c->state = TCP_STATE_SYN_RECEIVED;
	tcp_output_syn(c);
}

static sim_time handshake_rtt(const struct tcp_connection *c)
{
	return c->syn_sent_again ? 0 : c->now - c->send.last_at;
}

static void input_syn_sent(struct tcp_connection *c, const struct tcp_segment *segment)
{
	const struct tcp_header *header = &segment->header;
	bool ack = header->flags & TCP_ACK;

	if (ack && header->acknowledgment != tcp_wire(c->send.initial, TCP_SEQUENCE_FIRST + 1)) {
		tcp_count(c, refused, 1);
		if (header->flags & TCP_RST)
			return;
		/* The peer has an earlier connection in TIME-WAIT, which the RST ends. */
		tcp_output_reset(c,
				 tcp_unwrap(c->send.una, c->send.initial, header->acknowledgment));
		if (!c->rtt.retries)
			tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, TCP_SYN_AGAIN);
		return;
	}
	if (header->flags & TCP_RST) {
		if (ack)
			tcp_closed(c, TCP_RESET);
		return;
	}
	if (!(header->flags & TCP_SYN))
		return;
	if (ack)
		c->send.una = TCP_SEQUENCE_FIRST + 1;
	take_syn(c, header);
	if (ack) {
		tcp_established(c, handshake_rtt(c));
		c->receive.ack_now = true;
	} else { /* both sides have sent a SYN */
		c->state = TCP_STATE_SYN_RECEIVED;
		tcp_output_syn(c);
	}
}

/* Checks PAWS, RFC 7323 5.3, and 3.2: on a connection with time stamps, each segment but RST has
 * one. */
static bool timestamp_acceptable(const struct tcp_connection *c, const struct tcp_header *header)
{
	if (!c->with_timestamps || (header->flags & TCP_RST))
		return true;
	return (header->options & TCP_OPTION_TIMESTAMPS) &&
	       (int32_t)(header->timestamp - c->receive.timestamp) >= 0;
}

/* Makes the first check of RFC 9293 3.10.7.4, as tcp_sequence() of Linux does. The window starts at
 * the last ACK sent, so that an ACK that was overtaken by a later segment is valid. */
static bool in_window(const struct tcp_connection *c, uint64_t sequence, uint64_t end)
{
	return end >= c->receive.acked && sequence <= c->receive.window_end;
}

/* Responds to an unacceptable segment. The response to a segment without payload is
 * rate-limited. */
static void refuse(struct tcp_connection *c, const struct tcp_segment *segment, uint64_t sequence)
{
	uint64_t end = sequence + segment->payload_bytes;

	tcp_count(c, refused, 1);
	if (segment->header.flags & TCP_RST)
		return;
	if (!segment->payload_bytes && !(segment->header.flags & TCP_FIN)) {
		tcp_output_challenge(c);
		return;
	}
	if (end <= c->receive.next && end > sequence) {
		tcp_count(c, duplicates, 1);
		if (c->with_sack)
			c->reassembly.duplicate = (struct reassembly_range){sequence, end};
	}
	c->receive.ack_now = true;
	if (c->state == TCP_STATE_TIME_WAIT)
		tcp_timers_set(c, TCP_DEADLINE_TIME_WAIT, c->params->time_wait);
}

/* Makes the second check, by RFC 5961 3.2. */
static void input_reset(struct tcp_connection *c, uint64_t sequence)
{
	if (sequence != c->receive.next) {
		tcp_output_challenge(c);
		return;
	}
	tcp_closed(c, c->state == TCP_STATE_CLOSING || c->state == TCP_STATE_LAST_ACK ||
				      c->state == TCP_STATE_TIME_WAIT
			      ? TCP_FINISHED
			      : TCP_RESET);
}

/* Makes the fifth check in the state SYN-RECEIVED. Returns false if the segment must not be
 * processed further. */
static bool open_by_ack(struct tcp_connection *c, const struct tcp_segment *segment)
{
	uint32_t ack = segment->header.acknowledgment;

	if (ack != tcp_wire(c->send.initial, TCP_SEQUENCE_FIRST + 1)) {
		tcp_count(c, refused, 1);
		tcp_output_reset(c, tcp_unwrap(c->send.una, c->send.initial, ack));
		return false;
	}
	c->send.una = TCP_SEQUENCE_FIRST + 1;
	c->send.window_end =
		c->send.una + ((uint64_t)segment->header.window << c->send.window_scale);
	tcp_established(c, handshake_rtt(c));
	return true;
}

static void enter_time_wait(struct tcp_connection *c)
{
	c->state = TCP_STATE_TIME_WAIT;
	for (unsigned i = 0; i < TCP_DEADLINE_COUNT; i++)
		c->deadlines[i] = SIM_NEVER;
	tcp_timers_set(c, TCP_DEADLINE_TIME_WAIT, c->params->time_wait);
}

/* Handles the acknowledgment of the local FIN. */
static void fin_acked(struct tcp_connection *c)
{
	if (!c->send.fin || c->send.una <= c->send.end)
		return;
	if (c->state == TCP_STATE_FIN_WAIT_1)
		c->state = TCP_STATE_FIN_WAIT_2;
	else if (c->state == TCP_STATE_CLOSING)
		enter_time_wait(c);
	else if (c->state == TCP_STATE_LAST_ACK)
		tcp_closed(c, TCP_FINISHED);
}

/* Eighth check: handles the peer's FIN, which is in order. */
static void fin_received(struct tcp_connection *c)
{
	if (c->state == TCP_STATE_ESTABLISHED)
		c->state = TCP_STATE_CLOSE_WAIT;
	else if (c->state == TCP_STATE_FIN_WAIT_1)
		c->state = TCP_STATE_CLOSING;
	else if (c->state == TCP_STATE_FIN_WAIT_2)
		enter_time_wait(c);
}

static bool may_receive(const struct tcp_connection *c)
{
	return c->state == TCP_STATE_ESTABLISHED || c->state == TCP_STATE_FIN_WAIT_1 ||
	       c->state == TCP_STATE_FIN_WAIT_2;
}

/* Records TS.Recent, the time stamp of the segment that the next ACK acknowledges: RFC 7323 4.3. */
static void take_timestamp(struct tcp_connection *c, const struct tcp_header *header,
			   uint64_t sequence)
{
	if (c->with_timestamps && sequence <= c->receive.acked)
		c->receive.timestamp = header->timestamp;
}

static void input_acceptable(struct tcp_connection *c, const struct tcp_segment *segment,
			     uint64_t sequence)
{
	take_timestamp(c, &segment->header, sequence);
	if (!(segment->header.flags & TCP_ACK))
		return;
	if (c->state == TCP_STATE_SYN_RECEIVED && !open_by_ack(c, segment))
		return;
	tcp_receive_ecn(c, segment);
	if (!tcp_ack(c, segment, sequence))
		return;
	tcp_timers_heard(c);
	fin_acked(c);
	if (!may_receive(c)) {
		if (segment->payload_bytes || (segment->header.flags & TCP_FIN))
			refuse(c, segment, sequence);
		return;
	}
	tcp_receive_urgent(c, segment, sequence);
	tcp_receive_data(c, segment, sequence);
	if (c->receive.fin && c->receive.next > c->receive.fin)
		fin_received(c);
}

/* Handles a SYN on an existing connection. Returns true if no further processing is needed. */
static bool input_syn(struct tcp_connection *c, const struct tcp_segment *segment,
		      uint64_t sequence)
{
	if (!(segment->header.flags & TCP_SYN))
		return false;
	if (c->state != TCP_STATE_SYN_RECEIVED || sequence != TCP_SEQUENCE_FIRST) {
		tcp_output_challenge(c); /* RFC 5961 4.2 */
		return true;
	}
	/* also the response of a peer that opened actively */
	if (segment->header.flags & TCP_ACK) {
		input_acceptable(c, segment, sequence + 1);
		c->receive.ack_now = true;
	} else { /* the response was lost */
		tcp_output_syn(c);
	}
	return true;
}

static void input_synchronized(struct tcp_connection *c, const struct tcp_segment *segment)
{
	const struct tcp_header *header = &segment->header;
	uint64_t sequence = sequence_of(c, header);
	uint64_t end = sequence + segment->payload_bytes + !!(header->flags & TCP_FIN);

	if (c->state == TCP_STATE_SYN_RECEIVED && input_syn(c, segment, sequence))
		return;
	if (!timestamp_acceptable(c, header) || !in_window(c, sequence, end)) {
		refuse(c, segment, sequence);
		return;
	}
	if (header->flags & TCP_RST)
		input_reset(c, sequence);
	else if (!input_syn(c, segment, sequence))
		input_acceptable(c, segment, sequence);
}

void tcp_input_segment(struct tcp_connection *c, const struct tcp_segment *segment)
{
	tcp_count(c, segments_received, 1);
	switch ((enum tcp_state)c->state) {
	case TCP_STATE_CLOSED:
		return;
	case TCP_STATE_LISTEN:
		input_listen(c, segment);
		return;
	case TCP_STATE_SYN_SENT:
		input_syn_sent(c, segment);
		return;
	default:
		input_synchronized(c, segment);
	}
}
