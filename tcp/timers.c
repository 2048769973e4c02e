/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers: RTT and RTO (RFC 6298), and the actions at deadlines. A connection requests one time from
 * its host, the earliest of its deadlines. Idle connections follow Linux tcp_keepalive_timer().
 */
#include "tcp/connection.h"

#define BACKOFF_MAX 30 /* doublings; rto_max is reached much earlier */

bool tcp_timers_running(const struct tcp_connection *c, enum tcp_deadline deadline)
{
	return c->deadlines[deadline] != SIM_NEVER;
}

/* Returns the delay, or the rest of the user timeout if it is shorter. It follows
 * tcp_clamp_rto_to_user_timeout() of Linux. */
static sim_time within_user_timeout(const struct tcp_connection *c, sim_time delay)
{
	sim_time most = c->params->user_timeout, passed = c->now - c->rtt.stalled_at;

	if (!most || c->rtt.stalled_at == SIM_NEVER)
		return delay;
	if (passed >= most)
		return 0;
	return most - passed < delay ? most - passed : delay;
}

void tcp_timers_set(struct tcp_connection *c, enum tcp_deadline deadline, sim_time delay)
{
	if (deadline == TCP_DEADLINE_RETRANSMIT || deadline == TCP_DEADLINE_WINDOW_PROBE)
		delay = within_user_timeout(c, delay);
	c->deadlines[deadline] = c->now + delay;
}

void tcp_timers_clear(struct tcp_connection *c, enum tcp_deadline deadline)
{
	c->deadlines[deadline] = SIM_NEVER;
}

static sim_time doubled(const struct tcp_connection *c, uint32_t times)
{
	sim_time limit = c->params->rto_max;

	if (times > BACKOFF_MAX)
		times = BACKOFF_MAX;
	return c->rtt.rto > limit >> times ? limit : c->rtt.rto << times;
}

sim_time tcp_timers_rto(const struct tcp_connection *c)
{
	return doubled(c, c->rtt.backoff);
}

sim_time tcp_timers_probe_interval(const struct tcp_connection *c)
{
	return doubled(c, c->rtt.probes);
}

/* Implements RFC 6298 2.2 and 2.3. The granularity of the clock is negligible. */
void tcp_timers_sample(struct tcp_connection *c, sim_time rtt)
{
	struct tcp_rtt *state = &c->rtt;
	sim_time rto;

	if (!state->srtt) {
		state->srtt = rtt;
		state->rttvar = rtt / 2;
	} else {
		sim_time error = rtt > state->srtt ? rtt - state->srtt : state->srtt - rtt;

		state->rttvar = (3 * state->rttvar + error) / 4;
		state->srtt = (7 * state->srtt + rtt) / 8;
	}
	rto = state->srtt + 4 * state->rttvar;
	if (rto < c->params->rto_min)
		rto = c->params->rto_min;
	state->rto = rto < c->params->rto_max ? rto : c->params->rto_max;
	state->backoff = 0;
}

/* Handles an ACK of new data. RFC 6298 5.2 and 5.3, RFC 8985 7.2. With time stamps, the ACK of a
 * retransmitted segment is also a measurement, which ends the back-off: RFC 6298 3. */
void tcp_timers_acked(struct tcp_connection *c)
{
	c->rtt.retries = 0;
	c->rtt.stalled_at = SIM_NEVER;
	if (c->with_timestamps)
		c->rtt.backoff = 0;
	if (!c->board.count)
		tcp_timers_clear(c, TCP_DEADLINE_RETRANSMIT);
	else
		tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
	tcp_rack_arm_probe(c);
}

/* Handles the transmission of new data. RFC 6298 5.1. */
void tcp_timers_sent(struct tcp_connection *c)
{
	if (!tcp_timers_running(c, TCP_DEADLINE_RETRANSMIT))
		tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
	tcp_rack_arm_probe(c);
}

/* The peer's window is open: the retransmission timer runs again. */
void tcp_timers_window_open(struct tcp_connection *c)
{
	tcp_timers_clear(c, TCP_DEADLINE_WINDOW_PROBE);
	c->rtt.stalled_at = SIM_NEVER;
	c->rtt.unanswered = 0;
	if (c->board.count)
		tcp_timers_sent(c);
}

/* Returns true if the connection fails now, because of its retries or its user timeout. It follows
 * tcp_write_timeout() and tcp_probe_timer() of Linux. */
static bool gives_up(struct tcp_connection *c, uint32_t retries)
{
	bool opening = !tcp_synchronized(c);
	uint64_t limit = c->orphan ? c->params->orphan_retries : c->params->retries;
	sim_time most = opening ? 0 : c->params->user_timeout;

	if (opening)
		limit = c->params->syn_retries;
	else if (c->rtt.stalled_at == SIM_NEVER)
		c->rtt.stalled_at = c->now;
	if (most ? c->now - c->rtt.stalled_at < most : retries < limit)
		return false;
	tcp_closed(c, TCP_TIMED_OUT);
	return true;
}

/* Implements RFC 6298 5.4 to 5.7. */
static void retransmission_timeout(struct tcp_connection *c)
{
	bool opening = !tcp_synchronized(c);

	if (gives_up(c, c->rtt.retries))
		return;
	c->rtt.retries++;
	c->rtt.backoff++;
	tcp_count(c, timeouts, 1);
	if (opening) {
		tcp_output_syn(c);
		return;
	}
	tcp_recovery_timeout(c);
	tcp_timers_clear(c, TCP_DEADLINE_REORDER);
	tcp_timers_clear(c, TCP_DEADLINE_TAIL_PROBE);
	tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
}

/* A peer that answers is probed for ever, unless no application is left. RFC 9293 3.8.6.1. */
static void window_probe_due(struct tcp_connection *c)
{
	bool longest = tcp_timers_probe_interval(c) >= c->params->rto_max;
	uint32_t retries = c->orphan && longest ? UINT32_MAX : c->rtt.unanswered;

	if (gives_up(c, retries) || !tcp_output_window_probe(c))
		return;
	c->rtt.probes++;
	c->rtt.unanswered++;
	tcp_timers_set(c, TCP_DEADLINE_WINDOW_PROBE, tcp_timers_probe_interval(c));
}

void tcp_timers_heard(struct tcp_connection *c)
{
	c->keepalive.heard_at = c->now;
	if (c->keepalive.unanswered)
		c->keepalive.confirmed = true;
	c->keepalive.unanswered = 0;
}

static void keepalive_due(struct tcp_connection *c)
{
	const struct tcp_params *params = c->params;
	sim_time idle = c->now - c->keepalive.heard_at;
	bool failed = params->user_timeout ? c->keepalive.unanswered && idle >= params->user_timeout
					   : c->keepalive.unanswered >= params->keepalive_probes;

	if (tcp_flight(c) || c->send.next < c->send.end) { /* it is alive without probes */
		tcp_timers_set(c, TCP_DEADLINE_KEEPALIVE, params->keepalive_idle);
	} else if (idle < params->keepalive_idle) {
		tcp_timers_set(c, TCP_DEADLINE_KEEPALIVE, params->keepalive_idle - idle);
	} else if (failed) {
		tcp_output_reset(c, c->send.next);
		tcp_closed(c, TCP_TIMED_OUT);
	} else {
		c->keepalive.confirmed = false;
		c->keepalive.unanswered++;
		tcp_output_keepalive(c);
		tcp_timers_set(c, TCP_DEADLINE_KEEPALIVE, params->keepalive_interval);
	}
}

static void set_keepalive(struct tcp_connection *c)
{
	sim_time idle = c->params->keepalive_idle, passed = c->now - c->keepalive.heard_at;
	bool running = tcp_timers_running(c, TCP_DEADLINE_KEEPALIVE);

	if (!c->params->keepalive || !tcp_synchronized(c) || c->state == TCP_STATE_TIME_WAIT) {
		tcp_timers_clear(c, TCP_DEADLINE_KEEPALIVE);
		return;
	}
	if (!running)
		tcp_timers_set(c, TCP_DEADLINE_KEEPALIVE, idle);
	else if (c->keepalive.idle != idle) /* the application has changed it */
		tcp_timers_set(c, TCP_DEADLINE_KEEPALIVE, passed < idle ? idle - passed : 0);
	c->keepalive.idle = idle;
}

/* Returns the time in FIN-WAIT-2. Linux tcp_fin_time(); beyond the time of TIME-WAIT, it keeps the
 * socket for the excess, and then its address for the excess once more. */
static sim_time fin_time(const struct tcp_connection *c)
{
	sim_time time = c->params->fin_timeout, least = c->rtt.rto * 7 / 2;
	sim_time most = c->params->time_wait;

	if (time < least)
		time = least;
	return time <= most ? time : 2 * (time - most);
}

static void set_fin_wait(struct tcp_connection *c)
{
	if (!c->orphan || c->state != TCP_STATE_FIN_WAIT_2) {
		tcp_timers_clear(c, TCP_DEADLINE_FIN_WAIT_2);
	} else if (!c->params->fin_timeout) {
		tcp_output_reset(c, c->send.next);
		tcp_closed(c, TCP_FINISHED);
	} else if (!tcp_timers_running(c, TCP_DEADLINE_FIN_WAIT_2)) {
		tcp_timers_set(c, TCP_DEADLINE_FIN_WAIT_2, fin_time(c));
	}
}

void tcp_timers_idle(struct tcp_connection *c)
{
	set_fin_wait(c);
	set_keepalive(c);
}

static bool take_due(struct tcp_connection *c, enum tcp_deadline deadline)
{
	if (c->deadlines[deadline] > c->now)
		return false;
	c->deadlines[deadline] = SIM_NEVER;
	return true;
}

void tcp_timers_expire(struct tcp_connection *c)
{
	if (take_due(c, TCP_DEADLINE_TIME_WAIT) || take_due(c, TCP_DEADLINE_FIN_WAIT_2)) {
		tcp_closed(c, TCP_FINISHED);
		return;
	}
	if (take_due(c, TCP_DEADLINE_ACK))
		tcp_receive_delay_over(c);
	if (take_due(c, TCP_DEADLINE_REORDER))
		tcp_rack_timeout(c);
	if (take_due(c, TCP_DEADLINE_TAIL_PROBE))
		tcp_rack_probe(c);
	if (take_due(c, TCP_DEADLINE_RETRANSMIT))
		retransmission_timeout(c);
	if (take_due(c, TCP_DEADLINE_WINDOW_PROBE))
		window_probe_due(c);
	if (take_due(c, TCP_DEADLINE_KEEPALIVE))
		keepalive_due(c);
	take_due(c, TCP_DEADLINE_PACE); /* tcp_output() sends the due segments */
}
