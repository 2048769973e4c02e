/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ack: processes an ACK: RFC 9293 3.10.7.4 (fifth check), RFC 2018, 2883 and 6675 (SACK), RFC 5961
 * 5 (acceptable ACKs).
 */
#include "tcp/connection.h"

/* Handles a record that is delivered (acknowledged or SACKed) for the first time. */
static void deliver(struct tcp_connection *c, struct tcp_delivery *delivery,
		    const struct scoreboard_record *record, const struct tcp_header *header)
{
	delivery->delivered_bytes += record->bytes;
	if (!record->retransmitted) {
		sim_time rtt = c->now - record->sent_at;

		if (!delivery->rtt_first)
			delivery->rtt_first = rtt;
		delivery->rtt = rtt;
	}
	tcp_rack_deliver(c, record, header);
}

static void acknowledge(struct tcp_connection *c, struct tcp_delivery *delivery,
			const struct tcp_header *header, uint64_t ack)
{
	struct scoreboard_record *record;

	delivery->advanced = true;
	while ((record = scoreboard_first(&c->board)) && scoreboard_end(record) <= ack) {
		if (record->place != SCOREBOARD_SACKED)
			deliver(c, delivery, record, header);
		delivery->acked_bytes += record->bytes;
		scoreboard_pop(&c->board);
	}
	if (record && record->start < ack) {
		if (record->place != SCOREBOARD_SACKED)
			delivery->delivered_bytes += ack - record->start;
		delivery->acked_bytes += ack - record->start;
		scoreboard_trim(&c->board, ack);
	}
	c->send.una = ack;
	c->events |= delivery->acked_bytes ? TCP_ACKNOWLEDGED : 0;
}

/* Returns the end of the known SACKed range that contains the whole record, or 0. */
static uint64_t seen_end(const struct scoreboard *board, const struct scoreboard_record *record)
{
	for (unsigned i = 0; i < TCP_SACK_MAX; i++)
		if (record->start >= board->seen[i].start &&
		    scoreboard_end(record) <= board->seen[i].end)
			return board->seen[i].end;
	return 0;
}

/* SACKs each record within the block. Records of blocks that were processed before are skipped at
 * once, because a receiver repeats its blocks. */
static void sack_block(struct tcp_connection *c, struct tcp_delivery *delivery,
		       struct scoreboard_range block, const struct tcp_header *header)
{
	struct scoreboard *board = &c->board;
	uint32_t index = scoreboard_find(board, block.start);

	while (index != scoreboard_end_index(board)) {
		struct scoreboard_record *record = scoreboard_at(board, index);
		uint64_t end = seen_end(board, record);

		if (scoreboard_end(record) > block.end)
			return;
		if (end) {
			index = scoreboard_find(board, end);
			continue;
		}
		if (record->start >= block.start && record->place != SCOREBOARD_SACKED) {
			deliver(c, delivery, record, header);
			scoreboard_sack(board, index);
			delivery->sacked = true;
		}
		index = scoreboard_next_index(index);
	}
}

/* Returns true if the first block reports bytes that were received twice. RFC 2883 4. */
static bool is_duplicate(const struct scoreboard_range *blocks, unsigned count, uint64_t ack)
{
	if (blocks[0].end <= ack)
		return true;
	return count > 1 && blocks[0].start >= blocks[1].start && blocks[0].end <= blocks[1].end;
}

static void sack(struct tcp_connection *c, struct tcp_delivery *delivery,
		 const struct tcp_header *header, uint64_t ack)
{
	struct scoreboard_range blocks[TCP_SACK_MAX] = {{0, 0}};
	unsigned first = 0;

	for (unsigned i = 0; i < header->sack_count; i++) {
		blocks[i].start = tcp_unwrap(ack, c->send.initial, header->sack[i].left);
		blocks[i].end = tcp_unwrap(ack, c->send.initial, header->sack[i].right);
	}
	if (header->sack_count && is_duplicate(blocks, header->sack_count, ack)) {
		first = 1;
		delivery->dsack = true;
		tcp_count(c, dsacks, 1);
		tcp_rack_dsack(c);
	}
	for (unsigned i = first; i < header->sack_count; i++)
		if (blocks[i].start >= ack && blocks[i].start < blocks[i].end &&
		    blocks[i].end <= c->send.next)
			sack_block(c, delivery, blocks[i], header);
	for (unsigned i = 0; i < TCP_SACK_MAX; i++)
		c->board.seen[i] = i < first ? (struct scoreboard_range){0, 0} : blocks[i];
}

/* Returns true if the window has changed. */
static bool update_window(struct tcp_connection *c, const struct tcp_header *header,
			  uint64_t sequence, uint64_t ack)
{
	uint64_t window = (uint64_t)header->window << c->send.window_scale;
	uint64_t end = ack + window;
	bool changed = end != c->send.window_end;

	if (sequence < c->send.update_sequence ||
	    (sequence == c->send.update_sequence && ack < c->send.update_ack))
		return false;
	/* The order of the two segments is unknown, but a window does not shrink. */
	if (sequence == c->send.update_sequence && ack == c->send.update_ack &&
	    end < c->send.window_end)
		return false;
	c->send.update_sequence = sequence;
	c->send.update_ack = ack;
	c->send.window_end = end;
	if (window > c->send.window_max)
		c->send.window_max = window;
	return changed;
}

static bool acceptable(const struct tcp_connection *c, uint64_t ack)
{
	return ack <= c->send.next && ack + c->send.window_max >= c->send.una;
}

bool tcp_ack(struct tcp_connection *c, const struct tcp_segment *segment, uint64_t sequence)
{
	const struct tcp_header *header = &segment->header;
	uint64_t ack = tcp_unwrap(c->send.una, c->send.initial, header->acknowledgment);
	struct tcp_delivery delivery = {.prior_una = c->send.una,
					.prior_flight_bytes = tcp_flight(c)};
	bool ece = c->with_ecn && (header->flags & TCP_ECE);
	bool window_changed;

	if (!acceptable(c, ack)) {
		tcp_count(c, refused, 1);
		tcp_output_challenge(c);
		return false;
	}
	c->rtt.unanswered = 0;
	if (ack < c->send.una)
		return true;
	tcp_count(c, ece_received, ece);
	if (ack > c->send.una)
		acknowledge(c, &delivery, header, ack);
	if (c->with_sack)
		sack(c, &delivery, header, ack);
	window_changed = update_window(c, header, sequence, ack);
	delivery.duplicate = !delivery.advanced && !segment->payload_bytes && !window_changed &&
			     delivery.prior_flight_bytes && !(header->flags & TCP_FIN);
	tcp_count(c, duplicate_acks, delivery.duplicate);
	if (delivery.rtt_first)
		tcp_timers_sample(c, delivery.rtt_first);
	tcp_rack_probe_acked(c, header, ack, &delivery);
	delivery.lost = tcp_rack_detect(c, &delivery);
	tcp_recovery_acked(c, &delivery, ece);
	if (delivery.advanced)
		tcp_timers_acked(c);
	return true;
}
