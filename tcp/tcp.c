/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp: see tcp.h. Each call of the host or the application ends with tcp_output(). It sends the
 * segments that may be sent, requests the earliest deadline, and reports events to the application.
 */
#include "tcp/connection.h"

#include <assert.h>
#include <stdlib.h>

static unsigned ecn_choice(const struct tcp_params *params, const struct congestion *congestion)
{
	const struct congestion_ops *ops = congestion->ops;

	if (params->ecn != TCP_ECN_AUTO)
		return params->ecn;
	if (!(ops->lives_by & CONGESTION_MARKS))
		return TCP_ECN_OFF;
	return ops->on_cnp ? TCP_ECN_CLASSIC : TCP_ECN_DCTCP;
}

bool tcp_ecn_fits(const struct tcp_params *params, const struct congestion *congestion)
{
	const struct congestion_ops *ops = congestion->ops;

	switch ((enum tcp_ecn)params->ecn) {
	case TCP_ECN_CLASSIC:
		return ops->on_cnp;
	case TCP_ECN_DCTCP:
		return congestion->library || (ops->lives_by & CONGESTION_MARKS && !ops->on_cnp);
	case TCP_ECN_AUTO:
	case TCP_ECN_OFF:
		break;
	}
	return true;
}

struct tcp_connection *tcp_create(const struct tcp_setup *setup)
{
	size_t cc_at = (sizeof(struct tcp_connection) + 15) / 16 * 16;
	struct tcp_connection *c = calloc(1, cc_at + setup->congestion->ops->state_bytes);
	unsigned ecn = ecn_choice(setup->params, setup->congestion);

	if (!c)
		abort();
	c->params = setup->params;
	c->congestion = setup->congestion;
	c->cc = (struct cc_state *)(void *)((char *)c + cc_at);
	c->host = setup->host;
	c->context = setup->context;
	c->local_port = setup->local_port;
	c->remote_port = setup->remote_port;
	c->local_mss = setup->mss;
	c->line_rate_bps = setup->line_rate_bps;
	c->totals = setup->totals;
	c->with_timestamps = c->params->timestamps;
	c->with_sack = c->params->sack;
	c->with_window_scale = c->params->window_scale;
	c->with_ecn = ecn == TCP_ECN_CLASSIC || ecn == TCP_ECN_DCTCP;
	c->ecn_dctcp = ecn == TCP_ECN_DCTCP;
	c->send.initial = setup->initial_sequence;
	c->send.una = c->send.next = TCP_SEQUENCE_FIRST;
	c->send.end = TCP_SEQUENCE_FIRST + 1;
	c->send.mss = setup->mss;
	c->rtt.rto = c->params->rto_initial;
	c->asked_at = c->challenge_at = c->rtt.stalled_at = SIM_NEVER;
	for (unsigned i = 0; i < TCP_DEADLINE_COUNT; i++)
		c->deadlines[i] = SIM_NEVER;
	c->cc->rate_bps = RATE_UNLIMITED;
	c->cc->next_step = SIM_NEVER;
	scoreboard_init(&c->board);
	reassembly_init(&c->reassembly);
	return c;
}

void tcp_destroy(struct tcp_connection *c)
{
	assert(!c->busy);
	scoreboard_fini(&c->board);
	reassembly_fini(&c->reassembly);
	free(c);
}

static void enter(struct tcp_connection *c, sim_time now)
{
	assert(!c->busy && now >= c->now);
	c->busy = true;
	c->now = now;
}

static void ask_for_timer(struct tcp_connection *c)
{
	sim_time at = SIM_NEVER;

	for (unsigned i = 0; i < TCP_DEADLINE_COUNT; i++)
		if (c->deadlines[i] < at)
			at = c->deadlines[i];
	if (at == c->asked_at)
		return;
	c->asked_at = at;
	c->host->set_timer(c->context, at);
}

static void leave(struct tcp_connection *c)
{
	unsigned events;

	tcp_output(c);
	tcp_timers_idle(c);
	ask_for_timer(c);
	c->busy = false;
	events = c->events;
	c->events = 0;
	if (events && c->host->notify)
		c->host->notify(c->context, events);
}

void tcp_established(struct tcp_connection *c, sim_time handshake_rtt)
{
	c->state = TCP_STATE_ESTABLISHED;
	c->events |= TCP_CONNECTED;
	c->rtt.backoff = c->rtt.retries = 0;
	tcp_timers_heard(c);
	tcp_timers_clear(c, TCP_DEADLINE_RETRANSMIT);
	if (c->counts.timeouts) /* RFC 6298 5.7 */
		c->rtt.rto = 3 * c->params->rto_initial;
	if (handshake_rtt) {
		c->rtt.min = handshake_rtt;
		tcp_timers_sample(c, handshake_rtt);
	}
	tcp_recovery_begin(c, handshake_rtt);
	if (c->send.fin) /* tcp_shutdown() was called before */
		c->state = TCP_STATE_FIN_WAIT_1;
}

void tcp_closed(struct tcp_connection *c, unsigned event)
{
	c->state = TCP_STATE_CLOSED;
	c->events |= event;
	c->receive.ack_now = false;
	for (unsigned i = 0; i < TCP_DEADLINE_COUNT; i++)
		c->deadlines[i] = SIM_NEVER;
}

void tcp_connect(struct tcp_connection *c, sim_time now)
{
	assert(c->state == TCP_STATE_CLOSED);
	enter(c, now);
	c->state = TCP_STATE_SYN_SENT;
	tcp_output_syn(c);
	leave(c);
}

void tcp_listen(struct tcp_connection *c, sim_time now)
{
	assert(c->state == TCP_STATE_CLOSED);
	c->now = now;
	c->state = TCP_STATE_LISTEN;
}

void tcp_input(struct tcp_connection *c, sim_time now, const struct tcp_segment *segment)
{
	enter(c, now);
	tcp_input_segment(c, segment);
	leave(c);
}

void tcp_timer(struct tcp_connection *c, sim_time now)
{
	enter(c, now);
	c->asked_at = SIM_NEVER;
	tcp_timers_expire(c);
	leave(c);
}

void tcp_resume(struct tcp_connection *c, sim_time now)
{
	enter(c, now);
	leave(c);
}

void tcp_hold(struct tcp_connection *c)
{
	assert(c->busy);
	c->send.blocked = true;
}

void tcp_write(struct tcp_connection *c, sim_time now, uint64_t bytes)
{
	assert(!c->send.fin);
	enter(c, now);
	c->send.end += bytes;
	leave(c);
}

void tcp_urge(struct tcp_connection *c, uint64_t end)
{
	c->send.urgent = TCP_SEQUENCE_FIRST + 1 + end;
}

uint64_t tcp_urgent(const struct tcp_connection *c)
{
	return c->receive.urgent - TCP_SEQUENCE_FIRST - 1;
}

uint64_t tcp_readable(const struct tcp_connection *c)
{
	bool fin = c->receive.fin && c->receive.next > c->receive.fin;

	return c->receive.next - fin - c->receive.taken;
}

void tcp_read(struct tcp_connection *c, sim_time now, uint64_t bytes)
{
	assert(bytes <= tcp_readable(c));
	enter(c, now);
	c->receive.taken += bytes;
	if (c->state != TCP_STATE_CLOSED)
		tcp_receive_taken(c);
	leave(c);
}

void tcp_shutdown(struct tcp_connection *c, sim_time now)
{
	if (c->send.fin || c->state == TCP_STATE_CLOSED)
		return;
	enter(c, now);
	c->send.fin = true;
	if (c->state == TCP_STATE_ESTABLISHED)
		c->state = TCP_STATE_FIN_WAIT_1;
	else if (c->state == TCP_STATE_CLOSE_WAIT)
		c->state = TCP_STATE_LAST_ACK;
	else if (c->state == TCP_STATE_LISTEN || c->state == TCP_STATE_SYN_SENT)
		tcp_closed(c, TCP_FINISHED);
	leave(c);
}

void tcp_orphan(struct tcp_connection *c, sim_time now)
{
	enter(c, now);
	c->orphan = true;
	leave(c);
}

bool tcp_stuck(const struct tcp_connection *c)
{
	bool at_window = tcp_timers_running(c, TCP_DEADLINE_WINDOW_PROBE);
	bool idle = tcp_timers_running(c, TCP_DEADLINE_KEEPALIVE);

	for (unsigned i = 0; i < TCP_DEADLINE_COUNT; i++)
		if (i != TCP_DEADLINE_WINDOW_PROBE && i != TCP_DEADLINE_KEEPALIVE &&
		    c->deadlines[i] != SIM_NEVER)
			return false;
	if (at_window)
		return c->rtt.probes && !c->rtt.unanswered && !c->orphan &&
		       !c->params->user_timeout;
	return idle && c->keepalive.confirmed;
}

void tcp_abort(struct tcp_connection *c, sim_time now)
{
	enter(c, now);
	if (c->state >= TCP_STATE_SYN_RECEIVED && c->state != TCP_STATE_TIME_WAIT)
		tcp_output_reset(c, c->send.next);
	if (c->state != TCP_STATE_CLOSED)
		tcp_closed(c, TCP_FINISHED);
	leave(c);
}

/* RFC 9293 3.10.7.1. */
bool tcp_refuse(const struct tcp_segment *segment, struct tcp_segment *response)
{
	const struct tcp_header *header = &segment->header;
	uint32_t length =
		segment->payload_bytes + !!(header->flags & TCP_SYN) + !!(header->flags & TCP_FIN);

	*response = (struct tcp_segment){
		.header = {.source_port = header->destination_port,
			   .destination_port = header->source_port,
			   .flags = TCP_RST},
	};
	if (header->flags & TCP_RST)
		return false;
	if (header->flags & TCP_ACK) {
		response->header.sequence = header->acknowledgment;
	} else {
		response->header.flags |= TCP_ACK;
		response->header.acknowledgment = header->sequence + length;
	}
	return true;
}

uint64_t tcp_acknowledged(const struct tcp_connection *c)
{
	uint64_t first = TCP_SEQUENCE_FIRST + 1;
	uint64_t una = c->send.una < first ? first : c->send.una;

	return (una < c->send.end ? una : c->send.end) - first;
}

uint64_t tcp_unsent(const struct tcp_connection *c)
{
	return c->send.end > c->send.next ? c->send.end - c->send.next : 0;
}

uint64_t tcp_cwnd_bytes(const struct tcp_connection *c)
{
	return tcp_recovery_cwnd(c);
}

uint32_t tcp_mss(const struct tcp_connection *c)
{
	return c->send.mss;
}

uint32_t tcp_peer_initial(const struct tcp_connection *c)
{
	return c->receive.initial;
}

uint64_t tcp_held_sent(const struct tcp_connection *c)
{
	uint64_t sent = c->send.end - (TCP_SEQUENCE_FIRST + 1) - tcp_unsent(c);

	return sent - tcp_acknowledged(c);
}

uint64_t tcp_held_received(const struct tcp_connection *c)
{
	uint64_t bytes = tcp_readable(c);

	for (uint32_t i = 0; i < c->reassembly.count; i++)
		bytes += c->reassembly.ranges[i].end - c->reassembly.ranges[i].start;
	return bytes;
}

void tcp_report(const struct tcp_connection *c, struct tcp_report *report)
{
	uint64_t first = TCP_SEQUENCE_FIRST + 1;
	uint64_t una = c->send.una < first ? first : c->send.una;

	*report = (struct tcp_report){
		.state = (enum tcp_state)c->state,
		.written = c->send.end - first,
		.acknowledged = tcp_acknowledged(c),
		.received = c->receive.next ? c->receive.taken + tcp_readable(c) - first : 0,
		.cwnd_bytes = tcp_cwnd_bytes(c),
		.peer_window_bytes = c->send.window_end > una ? c->send.window_end - una : 0,
		.in_flight_bytes = tcp_recovery_pipe(c),
		.srtt = c->rtt.srtt,
		.rttvar = c->rtt.rttvar,
		.min_rtt = c->rtt.min,
		.rto = tcp_timers_rto(c),
		.mss = c->send.mss,
		.recovering = c->recovery.phase != TCP_OPEN,
		.counts = c->counts,
	};
}

const struct tcp_counts *tcp_counts(const struct tcp_connection *c)
{
	return &c->counts;
}

enum tcp_state tcp_state(const struct tcp_connection *c)
{
	return (enum tcp_state)c->state;
}

const char *tcp_state_name(enum tcp_state state)
{
#define TCP_STATE_NAME(name) #name,
	static const char *const names[] = {TCP_STATES(TCP_STATE_NAME)};

	return names[state];
}
