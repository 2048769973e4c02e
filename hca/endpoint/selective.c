/*
 * selective: the bitmaps of selective repeat: what the responder has out of order, and what the requester knows has
 * arrived. Rings of one bit a PSN, made when the first packet is out of order.
 *
 * IRN (Mittal et al., SIGCOMM'18), 3.1: the first NAK starts a recovery: the packet at the cumulative ACK is sent
 * again, then each that is missing below the highest one selectively acknowledged, then new ones; the recovery ends when
 * all that had been sent at its start is acknowledged. A packet lost twice is found by timeout; so is each of a tail that is lost
 * whole, one after the other, unless timeout_resends says that all of it is lost then.
 */
#include <stdlib.h>

#include "hca/endpoint/endpoint_state.h"

struct selective {
	uint64_t mask; /* bits less 1, a power of two */
	/* the responder's */
	uint64_t *stored, *ends; /* ends: stays until a packet of the same place is stored */
	uint32_t *tags;          /* of those that end a message */
	/* the requester's */
	uint64_t *sacked;
	uint64_t highest;   /* behind the highest PSN known to have arrived, or to be lost */
	uint64_t again_psn; /* next to look at */
	uint64_t end_psn;   /* of the recovery */
	bool recovers;
	bool windowed; /* what is sent again keeps to the window: after a timeout that lost all */
};

static bool bit_get(const uint64_t *bits, const struct selective *selective, uint64_t psn)
{
	uint64_t index = psn & selective->mask;

	return bits[index / 64] >> index % 64 & 1;
}

static void bit_set(uint64_t *bits, const struct selective *selective, uint64_t psn, bool value)
{
	uint64_t index = psn & selective->mask;
	uint64_t bit = UINT64_C(1) << index % 64;

	bits[index / 64] = value ? bits[index / 64] | bit : bits[index / 64] & ~bit;
}

void selective_create(struct endpoint_qp *qp)
{
	struct selective *selective = calloc(1, sizeof(*selective));
	uint64_t bits = 64;

	while (bits < qp->hca->params->window_packets)
		bits *= 2;
	assert(selective);
	selective->mask = bits - 1;
	selective->stored = calloc(bits / 64 * 3, sizeof(uint64_t));
	selective->tags = calloc(bits, sizeof(uint32_t));
	assert(selective->stored && selective->tags);
	selective->ends = selective->stored + bits / 64;
	selective->sacked = selective->ends + bits / 64;
	qp->selective = selective;
}

void selective_destroy(struct endpoint_qp *qp)
{
	if (qp->selective) {
		free(qp->selective->stored);
		free(qp->selective->tags);
	}
	free(qp->selective);
}

bool selective_store(struct endpoint_qp *qp, uint64_t psn, bool ends, uint32_t tag)
{
	if (!qp->selective)
		selective_create(qp);
	if (psn - qp->expected_psn > qp->selective->mask ||
	    bit_get(qp->selective->stored, qp->selective, psn))
		return false;
	bit_set(qp->selective->stored, qp->selective, psn, true);
	bit_set(qp->selective->ends, qp->selective, psn, ends);
	qp->selective->tags[psn & qp->selective->mask] = tag;
	return true;
}

bool selective_ended(const struct endpoint_qp *qp, uint64_t psn, uint32_t *tag)
{
	*tag = qp->selective->tags[psn & qp->selective->mask];
	return bit_get(qp->selective->ends, qp->selective, psn);
}

unsigned selective_advance(struct endpoint_qp *qp)
{
	struct selective *selective = qp->selective;
	unsigned ended = 0;

	while (bit_get(selective->stored, selective, qp->expected_psn)) {
		ended += bit_get(selective->ends, selective, qp->expected_psn);
		bit_set(selective->stored, selective, qp->expected_psn, false);
		qp->expected_psn++;
	}
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

void selective_sacked(struct endpoint_qp *qp, uint64_t psn)
{
	struct selective *selective;

	if (!qp->selective)
		selective_create(qp);
	selective = qp->selective;
	bit_set(selective->sacked, selective, psn, true);
	if (psn >= selective->highest)
		selective->highest = psn + 1;
	if (!selective->recovers)
		recover(qp);
}

void selective_lost(struct endpoint_qp *qp)
{
	if (!qp->selective)
		selective_create(qp);
	recover(qp);
	if (qp->hca->params->timeout_resends == RESENDS_ALL) {
		qp->selective->highest = qp->made_psn;
		qp->selective->windowed = true;
	} else if (qp->selective->highest <= qp->unacked_psn) {
		qp->selective->highest = qp->unacked_psn + 1;
	}
}

void selective_acked(struct endpoint_qp *qp, uint64_t from)
{
	struct selective *selective = qp->selective;

	for (uint64_t psn = from; psn < qp->unacked_psn; psn++)
		bit_set(selective->sacked, selective, psn, false);
	if (selective->again_psn < qp->unacked_psn)
		selective->again_psn = qp->unacked_psn;
	if (qp->unacked_psn >= selective->end_psn)
		selective->recovers = false;
}

/* The first goes in any case. */
static bool window_full(const struct endpoint_qp *qp, const struct selective *selective)
{
	uint64_t again = selective->again_psn - qp->unacked_psn;
	const struct congestion_flow *flow =
		(const struct congestion_flow *)(const void *)qp->box->flow;

	return again && (again + 1) * qp->hca->mtu_bytes > flow->window_bytes;
}

bool selective_next(struct endpoint_qp *qp, uint64_t *psn)
{
	struct selective *selective = qp->selective;

	if (!selective->recovers)
		return false;
	while (selective->again_psn < selective->highest &&
	       bit_get(selective->sacked, selective, selective->again_psn))
		selective->again_psn++;
	if (selective->again_psn >= selective->highest ||
	    (selective->windowed && window_full(qp, selective)))
		return false;
	*psn = selective->again_psn;
	return true;
}

void selective_sent(struct endpoint_qp *qp, uint64_t psn)
{
	qp->selective->again_psn = psn + 1;
}

bool selective_recovers(const struct endpoint_qp *qp)
{
	return qp->selective->recovers;
}
