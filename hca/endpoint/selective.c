/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selective: the bitmaps of selective repeat: the responder's packets that are out of order, and
 * the packets that the requester knows to have arrived. A bitmap is a ring with one bit per PSN. It
 * is created when the first packet is out of order. It doubles when a PSN lies beyond it, up to
 * window_packets.
 *
 * Source: IRN (Mittal et al., SIGCOMM'18), 3.1. The first NAK starts a recovery. The packet at the
 * cumulative ACK is retransmitted first, then each missing packet below the highest selectively
 * acknowledged one, then new packets are sent. The recovery ends when all packets are acknowledged
 * that had been created before the last retransmission.
 *
 * An ACK of fewer packets shows that the next packet is lost. There are two exceptions: the next
 * packet was retransmitted already, or the ACK responds to a packet that left before the
 * retransmission. In the second case (Eifel, RFC 3522, by the time stamps of ACKs) the timeout was
 * wrong, and the packets in flight need no retransmission.
 *
 * A tail that is lost completely therefore takes a timeout and a round trip per packet.
 * timeout_retransmits can declare the whole tail lost at the timeout. The timeout finds a packet
 * that is lost twice. This is the behaviour of the authors' circuit,
 * github.com/NetSys/irn-vivado-hls, irn_sender. The responder does not store READs and atomics.
 */
#include <stdlib.h>

#include "hca/endpoint/endpoint_state.h"

enum { RING_LEAST = 64 };

/* One bit per PSN, from a first PSN on. */
struct ring {
	uint64_t *bits;
	/* number of bits less 1; the number is a power of two. `bits` is NULL and the mask 0
	 * without a ring. */
	uint64_t mask;
};

struct selective {
	/* largest distance from the expected PSN at which a packet is stored: a power of two, less
	 * 1 */
	uint64_t limit;
	/* responder: rings of equal length, from first_psn on */
	/* a bit of `ends` stays until another packet is stored at its place */
	struct ring stored, ends;
	uint32_t *tags;       /* tags of packets that end a message */
	uint64_t first_psn;   /* no earlier PSN is stored or undelivered */
	uint64_t undelivered; /* packets in order for which selective_ended() was not called yet */
	/* requester: ring from unacked_psn on */
	struct ring sacked;
	uint64_t highest;   /* PSN after the highest one known to have arrived or to be lost */
	uint64_t again_psn; /* next PSN to examine */
	uint64_t end_psn;   /* end of the recovery */
	sim_time again_at;  /* time of the last retransmission */
	bool recovers;
	/* retransmissions respect the window: after a timeout that declared all packets lost */
	bool windowed;
};

static bool ring_get(const struct ring *ring, uint64_t psn)
{
	uint64_t index = psn & ring->mask;

	return ring->bits && ring->bits[index / 64] >> index % 64 & 1;
}

static void ring_set(struct ring *ring, uint64_t psn, bool value)
{
	uint64_t index = psn & ring->mask;
	uint64_t bit = UINT64_C(1) << index % 64;

	ring->bits[index / 64] =
		value ? ring->bits[index / 64] | bit : ring->bits[index / 64] & ~bit;
}

static bool ring_holds(const struct ring *ring, uint64_t first, uint64_t psn)
{
	return ring->bits && psn - first <= ring->mask;
}

/* Returns the mask of a ring from `first` on that can hold `psn`, at most `limit`. */
static uint64_t mask_for(const struct ring *ring, uint64_t first, uint64_t psn, uint64_t limit)
{
	uint64_t mask = ring->bits ? ring->mask : RING_LEAST - 1;

	while (psn - first > mask && mask < limit)
		mask = mask * 2 + 1;
	return mask;
}

/* Lengthens the ring and keeps its bits from `first` on. */
static void ring_lengthen(struct ring *ring, uint64_t first, uint64_t mask)
{
	struct ring longer = {calloc((mask + 1) / 64, sizeof(uint64_t)), mask};

	assert(longer.bits);
	for (uint64_t psn = first; ring->bits && psn - first <= ring->mask; psn++)
		ring_set(&longer, psn, ring_get(ring, psn));
	free(ring->bits);
	*ring = longer;
}

static void lengthen_tags(struct selective *selective, uint64_t mask)
{
	uint32_t *longer = calloc(mask + 1, sizeof(*longer));
	uint64_t first = selective->first_psn, old = selective->stored.mask;

	assert(longer);
	for (uint64_t psn = first; selective->tags && psn - first <= old; psn++)
		longer[psn & mask] = selective->tags[psn & old];
	free(selective->tags);
	selective->tags = longer;
}

static struct selective *selective_of(struct endpoint_qp *qp)
{
	struct selective *selective = qp->selective;

	if (selective)
		return selective;
	selective = calloc(1, sizeof(*selective));
	assert(selective);
	selective->limit = RING_LEAST - 1;
	while (selective->limit + 1 < qp->ep->params->window_packets)
		selective->limit = selective->limit * 2 + 1;
	qp->selective = selective;
	return selective;
}

void selective_destroy(struct endpoint_qp *qp)
{
	if (qp->selective) {
		free(qp->selective->stored.bits);
		free(qp->selective->ends.bits);
		free(qp->selective->tags);
		free(qp->selective->sacked.bits);
	}
	free(qp->selective);
}

bool selective_store(struct endpoint_qp *qp, uint64_t psn, bool ends, uint32_t tag)
{
	struct selective *selective = selective_of(qp);
	uint64_t mask;

	if (psn - qp->expected_psn > selective->limit)
		return false;
	if (!selective->undelivered)
		selective->first_psn = qp->expected_psn;
	mask = mask_for(&selective->stored, selective->first_psn, psn, selective->limit);
	if (!selective->stored.bits || mask > selective->stored.mask) {
		lengthen_tags(selective, mask);
		ring_lengthen(&selective->ends, selective->first_psn, mask);
		ring_lengthen(&selective->stored, selective->first_psn, mask);
	}
	if (ring_get(&selective->stored, psn))
		return false;
	ring_set(&selective->stored, psn, true);
	ring_set(&selective->ends, psn, ends);
	selective->tags[psn & mask] = tag;
	return true;
}

bool selective_ended(struct endpoint_qp *qp, uint64_t psn, uint32_t *tag)
{
	struct selective *selective = qp->selective;

	*tag = selective->tags[psn & selective->stored.mask];
	selective->first_psn = psn + 1;
	selective->undelivered--;
	return ring_get(&selective->ends, psn);
}

bool selective_stored(const struct endpoint_qp *qp, uint64_t psn)
{
	const struct selective *selective = qp->selective;

	return selective && psn >= qp->expected_psn &&
	       ring_holds(&selective->stored, selective->first_psn, psn) &&
	       ring_get(&selective->stored, psn);
}

/* Clears stored bits of PSNs that have arrived in order, possibly for a second time. */
void selective_take(struct endpoint_qp *qp, uint64_t from)
{
	struct selective *selective = qp->selective;

	for (uint64_t psn = from; psn < qp->expected_psn; psn++)
		if (ring_holds(&selective->stored, from, psn))
			ring_set(&selective->stored, psn, false);
}

unsigned selective_advance(struct endpoint_qp *qp)
{
	struct selective *selective = qp->selective;
	unsigned ended = 0, passed = 0;

	while (ring_get(&selective->stored, qp->expected_psn)) {
		ended += ring_get(&selective->ends, qp->expected_psn);
		ring_set(&selective->stored, qp->expected_psn, false);
		qp->expected_psn++;
		passed++;
	}
	if (ended && qp->ep->user)
		selective->undelivered += passed;
	return ended;
}

static void recover(struct endpoint_qp *qp)
{
	struct selective *selective = qp->selective;

	selective->recovers = true;
	selective->windowed = false;
	selective->end_psn = qp->made_psn;
	selective->again_psn = qp->unacked_psn;
}

void selective_sacked(struct endpoint_qp *qp, uint64_t psn, bool stored)
{
	struct selective *selective = selective_of(qp);

	if (!ring_holds(&selective->sacked, qp->unacked_psn, psn))
		ring_lengthen(&selective->sacked, qp->unacked_psn,
			      mask_for(&selective->sacked, qp->unacked_psn, psn, selective->limit));
	ring_set(&selective->sacked, psn, stored);
	if (psn >= selective->highest)
		selective->highest = psn + 1;
	if (!selective->recovers)
		recover(qp);
}

void selective_lost(struct endpoint_qp *qp)
{
	struct selective *selective = selective_of(qp);

	recover(qp);
	if (qp->ep->params->timeout_retransmits == RETRANSMITS_ALL) {
		selective->highest = qp->made_psn;
		selective->windowed = true;
	} else if (selective->highest <= qp->unacked_psn) {
		selective->highest = qp->unacked_psn + 1;
	}
}

/* Returns true if an ACK of fewer packets shows that the next packet is lost. */
static bool shows_loss(const struct endpoint_qp *qp, sim_time asked_at)
{
	return qp->ep->params->partial_ack == PARTIAL_ANY || asked_at >= qp->selective->again_at;
}

void selective_acked(struct endpoint_qp *qp, uint64_t from, sim_time asked_at)
{
	struct selective *selective = qp->selective;

	for (uint64_t psn = from; psn < qp->unacked_psn; psn++)
		if (ring_holds(&selective->sacked, from, psn))
			ring_set(&selective->sacked, psn, false);
	if (qp->unacked_psn >= selective->end_psn)
		selective->recovers = false;
	if (selective->again_psn > qp->unacked_psn)
		return;
	selective->again_psn = qp->unacked_psn;
	if (selective->recovers && selective->highest <= qp->unacked_psn &&
	    !(qp->flags & QP_READS) && shows_loss(qp, asked_at))
		selective->highest = qp->unacked_psn + 1;
}

/* Returns true if the window allows no further retransmission. The first one is always allowed. */
static bool cwnd_full(const struct endpoint_qp *qp, const struct selective *selective)
{
	uint64_t again = selective->again_psn - qp->unacked_psn;
	const struct cc_state *cc = (const struct cc_state *)(const void *)qp->cc->state;

	return again && (again + 1) * qp->ep->mtu_bytes > cc->cwnd_bytes;
}

bool selective_next(struct endpoint_qp *qp, uint64_t *psn)
{
	struct selective *selective = qp->selective;

	if (!selective->recovers)
		return false;
	while (selective->again_psn < selective->highest &&
	       ring_holds(&selective->sacked, qp->unacked_psn, selective->again_psn) &&
	       ring_get(&selective->sacked, selective->again_psn))
		selective->again_psn++;
	if (selective->again_psn >= selective->highest ||
	    (selective->windowed && cwnd_full(qp, selective)))
		return false;
	*psn = selective->again_psn;
	return true;
}

void selective_sent(struct endpoint_qp *qp, uint64_t end)
{
	qp->selective->again_psn = end;
	qp->selective->end_psn = qp->made_psn;
	qp->selective->again_at = endpoint_now(qp->ep);
}

void selective_carry(struct endpoint_qp *qp, struct carry *carry)
{
	bool stores = qp->selective && qp->selective->stored.bits;
	struct selective *selective;
	uint64_t mask;

	CARRY(carry, stores);
	if (!stores)
		return;
	selective = selective_of(qp);
	mask = selective->stored.mask;
	CARRY(carry, mask);
	CARRY(carry, selective->first_psn);
	if (carry->reads && (!selective->stored.bits || mask != selective->stored.mask)) {
		free(selective->stored.bits);
		selective->stored = (struct ring){calloc((mask + 1) / 64, sizeof(uint64_t)), mask};
		assert(selective->stored.bits);
	}
	carry_raw(carry, selective->stored.bits, (mask + 1) / 64 * sizeof(uint64_t));
}

bool selective_recovers(const struct endpoint_qp *qp)
{
	return qp->selective->recovers;
}
