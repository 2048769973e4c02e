/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_carry: see endpoint_carry.h. Carries what has arrived at each queue pair: the expected
 * PSN, and the PSNs stored out of order. Queue pairs to which nothing has come are omitted. TCP
 * counts what has arrived at the receiver itself.
 */
#include "hca/endpoint/endpoint_carry.h"

#include "hca/endpoint/endpoint_state.h"
#include "sim/carry.h"
#include "sim/parallel.h"

#define NO_QP UINT32_MAX

static bool has_received(struct endpoint_slot *slot)
{
	const struct endpoint_qp *qp;

	if (!slot_peer(slot))
		return false;
	qp = endpoint_look(slot);
	return !qp->is_tcp && (qp->expected_psn || qp->selective);
}

static void write_qp(struct endpoint_slot *slot, uint32_t index, struct carry *carry)
{
	struct endpoint_qp *qp = endpoint_look(slot);

	if (!has_received(slot))
		return;
	CARRY(carry, index);
	CARRY(carry, qp->expected_psn);
	selective_carry(qp, carry);
}

/* Reads a queue pair. The peer, which this process may fire, then finds it. */
static void read_qp(struct endpoint_slot *slot, struct carry *carry)
{
	struct endpoint_qp *qp = endpoint_at(slot);

	CARRY(carry, qp->expected_psn);
	selective_carry(qp, carry);
}

void endpoint_carry(struct block *block, struct carry *carry)
{
	struct endpoint_hca *ep = container_of(block, struct endpoint_hca, block);
	uint32_t index = NO_QP;

	for (uint32_t i = 0; i < ep->qp_count && !carry->reads; i++)
		write_qp(slot_of(ep, i), i, carry);
	CARRY(carry, index);
	while (index != NO_QP) {
		assert(index < ep->qp_count);
		read_qp(slot_of(ep, index), carry);
		CARRY(carry, index);
	}
}
