/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rack: determines lost segments. RFC 8985: a segment is lost if a segment that was sent a
 * reordering window later was delivered. A flight whose end is not acknowledged is probed. Without
 * RACK or SACK: RFC 6675 4 and RFC 6582 3.2, by three segments or ACKs after the lost segment.
 */
#include "tcp/connection.h"

#define DSACK_PERSIST 16  /* recoveries without a DSACK that reset the window, RFC 8985 6.2 */
#define PROBE_FIRST   SEC /* before the first RTT sample, RFC 8985 7.2 */

static bool sent_after(sim_time one_at, uint64_t one_end, sim_time other_at, uint64_t other_end)
{
	return one_at > other_at || (one_at == other_at && one_end > other_end);
}

static bool with_rack(const struct tcp_connection *c)
{
	return c->params->rack && c->with_sack;
}

/* Returns true if the ACK may be for the first transmission of a retransmitted segment. Step 2. */
static bool ambiguous(const struct tcp_connection *c, const struct scoreboard_record *record,
		      const struct tcp_header *header)
{
	uint32_t sent = (uint32_t)(record->sent_at / c->params->timestamp_clock) + 1;

	if (!record->retransmitted)
		return false;
	if ((header->options & TCP_OPTION_TIMESTAMPS) &&
	    (int32_t)(header->timestamp_echo - sent) < 0)
		return true;
	return c->now - record->sent_at < c->rtt.min;
}

void tcp_rack_deliver(struct tcp_connection *c, const struct scoreboard_record *record,
		      const struct tcp_header *header)
{
	struct tcp_rack *rack = &c->rack;
	uint64_t end = scoreboard_end(record);
	sim_time rtt = c->now - record->sent_at;

	if (!record->retransmitted && (!c->rtt.min || rtt < c->rtt.min))
		c->rtt.min = rtt;
	if (end > rack->highest)
		rack->highest = end;
	else if (end < rack->highest && !record->retransmitted)
		rack->reordering = true;
	if (ambiguous(c, record, header))
		return;
	rack->rtt = rtt;
	if (sent_after(record->sent_at, end, rack->sent_at, rack->end)) {
		rack->sent_at = record->sent_at;
		rack->end = end;
	}
}

void tcp_rack_dsack(struct tcp_connection *c)
{
	struct tcp_rack *rack = &c->rack;

	if (rack->dsack_round && c->send.una < rack->dsack_round)
		return;
	rack->dsack_round = c->send.next;
	rack->window_steps++;
	rack->window_persist = DSACK_PERSIST;
}

void tcp_rack_recovered(struct tcp_connection *c)
{
	struct tcp_rack *rack = &c->rack;

	if (rack->window_persist && --rack->window_persist == 0)
		rack->window_steps = 0;
}

static sim_time reorder_window(const struct tcp_connection *c)
{
	const struct tcp_rack *rack = &c->rack;
	sim_time window = (sim_time)((double)c->rtt.min * c->params->reorder_window) *
			  (rack->window_steps + 1);

	if (!rack->reordering &&
	    (c->recovery.phase != TCP_OPEN || c->board.sacked_count >= c->params->dup_threshold))
		return 0;
	return window < c->rtt.srtt ? window : c->rtt.srtt;
}

/* Step 5. Sets the time at which the next segments may be found lost. */
static bool detect_by_time(struct tcp_connection *c)
{
	struct scoreboard *board = &c->board;
	uint32_t index = board->in_flight.first;
	sim_time allowed = c->rack.rtt + reorder_window(c);
	sim_time longest = 0;
	bool lost = false;

	while (index != SCOREBOARD_NONE) {
		const struct scoreboard_record *record = scoreboard_at(board, index);
		uint32_t next = record->next;
		sim_time due = record->sent_at + allowed;

		if (!sent_after(c->rack.sent_at, c->rack.end, record->sent_at,
				scoreboard_end(record)))
			break;
		if (due <= c->now) {
			scoreboard_lose(board, index);
			lost = true;
		} else if (due - c->now > longest) {
			longest = due - c->now;
		}
		index = next;
	}
	if (longest)
		tcp_timers_set(c, TCP_DEADLINE_REORDER, longest);
	else
		tcp_timers_clear(c, TCP_DEADLINE_REORDER);
	return lost;
}

/* RFC 6675 4, IsLost(): three later segments are SACKed. */
static bool detect_by_sacks(struct tcp_connection *c)
{
	struct scoreboard *board = &c->board;
	unsigned above = 0;
	bool lost = false;

	for (uint32_t i = board->count; i-- > 0;) {
		uint32_t index = (board->first + i) & SCOREBOARD_INDEX_MASK;
		const struct scoreboard_record *record = scoreboard_at(board, index);

		if (record->place == SCOREBOARD_SACKED) {
			above++;
		} else if (above >= c->params->dup_threshold &&
			   record->place == SCOREBOARD_IN_FLIGHT && !record->retransmitted) {
			scoreboard_lose(board, index);
			lost = true;
		}
	}
	return lost;
}

/* Counts duplicate ACKs. Each one represents a segment that has left the network, until that
 * segment is acknowledged. */
static void count_duplicates(struct tcp_connection *c, struct tcp_delivery *delivery)
{
	uint32_t *count = &c->recovery.duplicate_acks;
	uint32_t acked = (uint32_t)(delivery->acked_bytes / c->send.mss), gone;

	if (delivery->duplicate) {
		++*count;
		delivery->delivered_bytes += c->send.mss;
	} else if (delivery->advanced) {
		gone = acked ? acked - 1 : 0; /* the first segment was lost */
		if (gone > *count || c->recovery.phase == TCP_OPEN)
			gone = *count;
		*count -= gone;
		gone = gone < acked ? gone : acked;
		delivery->delivered_bytes -= (uint64_t)gone * c->send.mss;
	}
}

/* Detects losses by RFC 6582 3.2: at the duplicate ACK of dup_threshold (the third), and at each
 * partial ACK in recovery. */
static bool detect_by_duplicates(struct tcp_connection *c, struct tcp_delivery *delivery)
{
	const struct scoreboard_record *first = scoreboard_first(&c->board);
	bool partial = c->recovery.phase != TCP_OPEN && c->send.una < c->recovery.end;

	count_duplicates(c, delivery);
	if (!first || first->place != SCOREBOARD_IN_FLIGHT || first->retransmitted)
		return false;
	if (partial ? !delivery->advanced : c->recovery.duplicate_acks < c->params->dup_threshold)
		return false;
	scoreboard_lose(&c->board, c->board.first);
	return true;
}

bool tcp_rack_detect(struct tcp_connection *c, struct tcp_delivery *delivery)
{
	if (!c->with_sack)
		return detect_by_duplicates(c, delivery);
	if (!with_rack(c))
		return c->board.sacked_count && detect_by_sacks(c);
	return detect_by_time(c);
}

void tcp_rack_timeout(struct tcp_connection *c)
{
	if (detect_by_time(c))
		tcp_recovery_lost(c);
}

/* RFC 8985 6.3. Without RACK, all segments are lost. */
void tcp_rack_lose_on_rto(struct tcp_connection *c)
{
	struct scoreboard *board = &c->board;
	sim_time allowed = c->rack.rtt + reorder_window(c);
	uint32_t index = board->in_flight.first;

	if (board->count && scoreboard_first(board)->place == SCOREBOARD_SACKED)
		scoreboard_renege(board);
	while (index != SCOREBOARD_NONE) {
		const struct scoreboard_record *record = scoreboard_at(board, index);
		uint32_t next = record->next;

		if (!with_rack(c) || index == board->first || record->sent_at + allowed <= c->now)
			scoreboard_lose(board, index);
		index = next;
	}
}

void tcp_rack_arm_probe(struct tcp_connection *c)
{
	sim_time delay = c->rtt.srtt ? 2 * c->rtt.srtt : PROBE_FIRST;
	sim_time rto_at = c->deadlines[TCP_DEADLINE_RETRANSMIT];

	tcp_timers_clear(c, TCP_DEADLINE_TAIL_PROBE);
	if (!c->params->tail_probe || !with_rack(c) || c->recovery.phase != TCP_OPEN ||
	    c->board.sacked_count || !c->board.count || c->rack.probe_end || rto_at == SIM_NEVER)
		return;
	if (c->rtt.srtt && c->board.count == 1)
		delay += c->params->probe_ack_delay;
	if (c->now + delay > rto_at)
		delay = rto_at - c->now;
	tcp_timers_set(c, TCP_DEADLINE_TAIL_PROBE, delay);
}

void tcp_rack_probe(struct tcp_connection *c)
{
	/* RFC 8985 7.2: once something is SACKed, the flight's end needs no probe. */
	if (!c->board.count || c->board.sacked_count || c->rack.probe_end)
		return;
	c->rack.probe_retransmits = !tcp_output_one_new(c);
	if (c->rack.probe_retransmits &&
	    !tcp_output_again(c, scoreboard_index_of(&c->board, scoreboard_last(&c->board))))
		return;
	tcp_count(c, tail_probes, 1);
	c->rack.probe_end = c->send.next;
	tcp_timers_set(c, TCP_DEADLINE_RETRANSMIT, tcp_timers_rto(c));
}

/* RFC 8985 7.4.2. */
void tcp_rack_probe_acked(struct tcp_connection *c, const struct tcp_header *header, uint64_t ack,
			  const struct tcp_delivery *delivery)
{
	struct tcp_rack *rack = &c->rack;

	if (!rack->probe_end || ack < rack->probe_end)
		return;
	if (rack->probe_retransmits && !delivery->dsack) {
		if (ack > rack->probe_end)
			tcp_recovery_reduce(c);
		else if (!delivery->duplicate || header->sack_count)
			return;
	}
	rack->probe_end = 0;
}
