/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive: the payload of segments, the receive window, and the time of ACKs. RFC 9293 3.8.6
 * (window, delayed ACKs, silly windows), RFC 5681 4.2, RFC 3168 6.1.3 and RFC 8257 3.2 (ECE).
 */
#include "tcp/connection.h"

struct arrival {
	struct tcp_connection *connection;
	const uint8_t *payload; /* payload of byte `sequence`; NULL if only lengths are simulated */
	uint64_t sequence;
};

static void new_bytes(void *context, uint64_t start, uint64_t end)
{
	const struct arrival *arrival = context;
	const struct tcp_connection *c = arrival->connection;

	if (c->host->receive)
		c->host->receive(
			c->context, start - TCP_SEQUENCE_FIRST - 1, (uint32_t)(end - start),
			arrival->payload ? arrival->payload + (start - arrival->sequence) : NULL);
}

uint64_t tcp_receive_window_end(const struct tcp_connection *c)
{
	uint64_t end = c->receive.taken + c->params->receive_buffer;
	uint64_t least = c->params->receive_buffer / 2;

	if (least > c->local_mss)
		least = c->local_mss;
	return end >= c->receive.window_end + least ? end : c->receive.window_end;
}

/* Updates the window after the application has read. An ACK is sent at once if the window at least
 * doubles. Otherwise the next ACK carries it. A delayed ACK is sent at once if nothing is left to
 * read and a segment had PSH. In ping-pong mode it waits for the response, unless two segments had
 * PSH. Linux does so in tcp_cleanup_rbuf(). */
void tcp_receive_taken(struct tcp_connection *c)
{
	const struct tcp_receive *receive = &c->receive;
	bool pushed = receive->pushed_twice || (receive->pushed && !receive->ping_pong);
	uint64_t end = tcp_receive_window_end(c);

	if (pushed && receive->ack_pending && !tcp_readable(c))
		c->receive.ack_now = true;
	if (end > c->receive.window_end &&
	    end - c->receive.next >= 2 * (c->receive.window_end - c->receive.next))
		c->receive.ack_now = true;
}

/* Follows the intervals of received data. The first data, and data after a pause of an RTO, are
 * acknowledged at once. It follows tcp_event_data_recv() of Linux. */
static void follow_intervals(struct tcp_connection *c)
{
	struct tcp_receive *receive = &c->receive;
	sim_time least = c->params->delayed_ack, interval = c->now - receive->data_at;
	bool first = !receive->response_time;

	if (first || (interval >= receive->response_time && interval > c->rtt.rto))
		receive->quick_acks = (uint32_t)c->params->quick_acks;
	if (first) {
		receive->response_time = least;
	} else if (interval <= least / 2) {
		receive->response_time = receive->response_time / 2 + least / 2;
	} else if (interval < receive->response_time) {
		receive->response_time = receive->response_time / 2 + interval;
		if (receive->response_time > c->rtt.rto)
			receive->response_time = c->rtt.rto;
	}
	receive->data_at = c->now;
}

/* Ping-pong mode begins with the first response. It follows tcp_event_data_sent() of Linux. */
void tcp_receive_data_sent(struct tcp_connection *c)
{
	if (c->now - c->receive.data_at < c->receive.response_time)
		c->receive.ping_pong = true;
}

void tcp_receive_ack_sent(struct tcp_connection *c)
{
	struct tcp_receive *receive = &c->receive;

	receive->ack_now = receive->ack_pending = false;
	receive->pushed = receive->pushed_twice = false;
	receive->acked = receive->next;
	if (receive->quick_acks)
		receive->quick_acks--;
	tcp_timers_clear(c, TCP_DEADLINE_ACK);
}

/* No response came in time: ping-pong mode ends. It follows tcp_delack_timer_handler() of Linux. */
void tcp_receive_delay_over(struct tcp_connection *c)
{
	struct tcp_receive *receive = &c->receive;
	sim_time longer = 2 * receive->response_time;

	if (receive->ping_pong)
		receive->response_time = c->params->delayed_ack;
	else
		receive->response_time = longer < c->rtt.rto ? longer : c->rtt.rto;
	receive->ping_pong = false;
	receive->ack_now = true;
}

/* Handles new payload in order. */
static void acknowledge(struct tcp_connection *c, uint32_t bytes)
{
	struct tcp_receive *receive = &c->receive;
	uint64_t waiting = receive->next - receive->acked;

	if (bytes > receive->segment_max)
		receive->segment_max = bytes < c->local_mss ? bytes : c->local_mss;
	follow_intervals(c);
	if (receive->quick_acks && !receive->ping_pong)
		receive->ack_now = true;
	if (!c->params->delayed_ack || waiting > (c->params->ack_every - 1) * receive->segment_max)
		receive->ack_now = true;
	if (receive->ack_now || receive->ack_pending)
		return;
	receive->ack_pending = true;
	tcp_timers_set(c, TCP_DEADLINE_ACK, c->params->delayed_ack);
}

static void report_duplicate(struct tcp_connection *c, uint64_t start, uint64_t end)
{
	if (c->with_sack && end > start)
		c->reassembly.duplicate = (struct reassembly_range){start, end};
}

static void take_out_of_order(struct tcp_connection *c, struct arrival *arrival,
			      struct reassembly_range range)
{
	tcp_count(c, out_of_order, 1);
	if (reassembly_has(&c->reassembly, range)) {
		tcp_count(c, duplicates, 1);
		report_duplicate(c, range.start, range.end);
	} else {
		reassembly_add(&c->reassembly, range, new_bytes, arrival);
	}
	c->receive.ack_now = true;
}

static void take_in_order(struct tcp_connection *c, struct arrival *arrival,
			  struct reassembly_range range)
{
	if (c->reassembly.count) { /* the payload fills a gap, or a part of a gap */
		reassembly_add(&c->reassembly, range, new_bytes, arrival);
		c->receive.next = reassembly_advance(&c->reassembly, range.end);
		c->receive.ack_now = true;
	} else {
		new_bytes(arrival, range.start, range.end);
		c->receive.next = range.end;
	}
	c->events |= TCP_READABLE;
	acknowledge(c, (uint32_t)(range.end - range.start));
}

static void take_payload(struct tcp_connection *c, const struct tcp_segment *segment,
			 uint64_t sequence)
{
	struct arrival arrival = {c, segment->payload, sequence};
	struct reassembly_range range = {sequence, sequence + segment->payload_bytes};

	if (range.end > c->receive.window_end)
		range.end = c->receive.window_end;
	if (range.start < c->receive.next) {
		report_duplicate(c, range.start,
				 range.end < c->receive.next ? range.end : c->receive.next);
		range.start = c->receive.next;
		c->receive.ping_pong = false;
		c->receive.ack_now = true;
	}
	if (range.start >= range.end) {
		tcp_count(c, duplicates, 1);
		c->receive.ack_now = true;
	} else if (range.start == c->receive.next) {
		take_in_order(c, &arrival, range);
	} else {
		take_out_of_order(c, &arrival, range);
	}
}

void tcp_receive_data(struct tcp_connection *c, const struct tcp_segment *segment,
		      uint64_t sequence)
{
	uint64_t end = sequence + segment->payload_bytes;

	if (segment->payload_bytes && (segment->header.flags & TCP_PSH)) {
		c->receive.pushed_twice = c->receive.pushed;
		c->receive.pushed = true;
	}
	if (segment->payload_bytes)
		take_payload(c, segment, sequence);
	if ((segment->header.flags & TCP_FIN) && end <= c->receive.window_end)
		c->receive.fin = end;
	if (!c->receive.fin || c->receive.next != c->receive.fin)
		return;
	c->receive.next++;
	c->receive.ack_now = true;
	c->events |= TCP_PEER_CLOSED;
}

/* Linux: tcp_check_urg(), tcp_urg(). */
void tcp_receive_urgent(struct tcp_connection *c, const struct tcp_segment *segment,
			uint64_t sequence)
{
	struct tcp_receive *receive = &c->receive;
	uint16_t pointer = segment->header.urgent;
	uint64_t byte = sequence + pointer - (pointer > 0), end = sequence + segment->payload_bytes;

	if (segment->header.flags & TCP_URG && byte >= receive->next && byte > receive->urgent) {
		receive->urgent = byte;
		receive->urgent_awaited = true;
		c->events |= TCP_URGENT_ANNOUNCED;
	}
	if (end > receive->window_end)
		end = receive->window_end;
	if (receive->urgent_awaited && receive->urgent >= sequence && receive->urgent < end) {
		receive->urgent_awaited = false;
		c->events |= TCP_URGENT_ARRIVED;
	}
}

/* DCTCP: sends an ACK for the segments before a change of the mark, so that each ACK covers
 * segments of one kind. */
static void follow_mark(struct tcp_connection *c, bool ce)
{
	if (ce == c->receive.ce)
		return;
	if (c->receive.ack_pending)
		tcp_output_ack(c);
	c->receive.ce = ce;
	c->receive.ack_now = true;
}

void tcp_receive_ecn(struct tcp_connection *c, const struct tcp_segment *segment)
{
	bool ce = segment->ecn == ECN_CE;

	if (!c->with_ecn)
		return;
	tcp_count(c, ce_received, ce);
	if (c->ecn_dctcp) {
		if (segment->payload_bytes)
			follow_mark(c, ce);
		return;
	}
	if (segment->header.flags & TCP_CWR)
		c->receive.ce = false;
	if (ce)
		c->receive.ce = true;
}
