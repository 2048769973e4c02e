/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_fold: the state of a port for sim/fold.h, while no packet is queued or in flight.
 *
 * Releases of input space that are due wait in a ring until something reads the space. They count
 * as released here. The counters of credits are folded as differences, because only these matter
 * (IBTA vol. 1, 7.9.4).
 */
#include "fabric/port_fold.h"

#include "fabric/port_state.h"
#include "sim/fold.h"

#define FIELD(member, kind) FOLD_FIELD(struct port, member, FOLD_##kind)

/* advertised_at, which shares memory with paused_from and paused_before, is read after a loss.
 * blocked_since is read while a packet waits. */
static const struct fold_field fields[] = {
	FIELD(arrive, SKIP),
	FIELD(flying, SKIP),
	FIELD(deferred, SKIP),
	FIELD(deferred_first, SKIP),
	FIELD(deferred_count, SKIP),
	FIELD(deferred_room, SKIP),
	FIELD(gained, SKIP),
	FIELD(arriving_until, DEADLINE),
	FIELD(deferred_last, DEADLINE),
	FIELD(deferred_inline, SKIP),
	FIELD(block, SKIP),
	FIELD(busy_until, DEADLINE),
	FIELD(last_arrival, DEADLINE),
	FIELD(count, SKIP),
	FIELD(transmit, SKIP),
	FIELD(residue, SKIP),
	FIELD(release, SKIP),
	FIELD(refresh, SKIP),
	FIELD(drained_at, DEADLINE),
	FIELD(react, SKIP),
	FIELD(reacting, SKIP),
	FIELD(paused_from, SKIP),
	FIELD(paused_before, SKIP),
	FIELD(give_up, SKIP),
	FIELD(gauge, SKIP),
	FIELD(blocked_since, SKIP),
	FIELD(departures, SKIP),
	FIELD(lost_arriving, SKIP),
};

static const struct deferred_release *deferred_at(const struct port *port, uint32_t index)
{
	return &port->deferred[(port->deferred_first + index) & (port->deferred_room - 1)];
}

/* Folds the releases that are not due. Writes the units that are due, by VL. */
static void fold_deferred(const struct port *port, struct fold *fold, uint64_t due[PORT_VLS])
{
	uint16_t gained = port->gained;

	for (uint32_t i = 0; i < port->deferred_count; i++) {
		const struct deferred_release *release = deferred_at(port, i);

		if (release->at <= fold->at) {
			due[release->vl] += release->units;
			gained |= (uint16_t)(1u << release->vl);
			continue;
		}
		fold_since(fold, release->at);
		fold_number(fold, (uint64_t)release->units << 32 | release->vl);
	}
	fold_number(fold, gained);
}

static void fold_credits(const struct port *port, unsigned vl, struct fold *fold)
{
	const struct vl *here = &port->vls[vl];
	uint32_t received = port->peer ? port->peer->vls[vl].received : here->credit_total;

	fold_number(fold, (uint32_t)(here->credit_limit - here->credit_total) & CREDIT_MASK);
	fold_number(fold, (received - here->credit_total) & CREDIT_MASK);
	fold_number(fold, (uint32_t)(here->advertised - here->received) & CREDIT_MASK);
}

static void fold_hoq(const struct port *port, unsigned vl, struct fold *fold)
{
	const struct hoq_state *hoq = port->hoq;

	fold_deadline(fold, hoq->stalled_until[vl]);
	fold_number(fold, hoq->drops_in_a_row[vl]);
	if (port->count.hoq_life_drops)
		fold_number(fold, (uint32_t)(port->vls[vl].credit_total - hoq->last_drop_at[vl]) &
					  CREDIT_MASK);
}

/* paused_before is a statistic: the total duration of the pauses before the last one. If each
 * period has a pause, the last pause moves with the period. */
static void fold_pauses(struct port *port, unsigned vl, struct fold *fold)
{
	sim_time until = port->vls[vl].paused_until;

	fold_deadline(fold, until);
	fold_number(fold, (until < fold->at ? until : fold->at) - port->paused_from[vl]);
	fold_sum(fold, &port->paused_before[vl], port->paused_before[vl]);
	fold_sum(fold, &port->paused_from[vl], port->paused_from[vl]);
	fold_sum(fold, &port->vls[vl].paused_until, until);
}

static void fold_vl(struct port *port, unsigned vl, uint64_t due, struct fold *fold)
{
	const struct vl *here = &port->vls[vl];

	fold_number(fold, here->source_waiting);
	fold_number(fold, here->queued);
	fold_number(fold, here->queued_bytes);
	fold_number(fold, here->last_source);
	fold_number(fold, here->depth);
	fold_number(fold, here->used - due);
	if (!port->ethernet) {
		fold_number(fold, here->deferred_units - due);
		fold_credits(port, vl, fold);
	} else {
		fold_pauses(port, vl, fold);
	}
	if (port->hoq)
		fold_hoq(port, vl, fold);
}

static const char *trouble(const struct port *port)
{
	if (port->flying.head || port->reacting.head || port->waiting ||
	    (port->keeps_leaving && port->leaving->wire_bytes))
		return "a packet is on its way";
	if (port->transmit_fault || port->receive_fault || port->departures.count ||
	    port->lost_arriving.count)
		return "a fault acts on its packets";
	if (port->down || port->given_up || port->hoq_blocked || port->blocked)
		return "its link is down or stalled";
	if (port->watched)
		return "its packets are recorded";
	if (port->between_lps)
		return "its ends are in different threads";
	return NULL;
}

void port_fold(struct block *block, struct fold *fold)
{
	struct port *port = container_of(block, struct port, block);
	const char *reason = trouble(port);
	uint64_t due[PORT_VLS] = {0};

	if (reason) {
		fold_refuse(fold, "%s: %s", block->name, reason);
		return;
	}
	fold_struct(fold, port, sizeof(*port), fields, ARRAY_SIZE(fields));
	fold_number(fold, port->busy_until >= fold->at ? port->residue : 0);
	fold_deferred(port, fold, due);
	for (unsigned vl = 0; vl < port_vl_room(port); vl++)
		fold_vl(port, vl, due[vl], fold);
	if (port->schedule && !schedule_fold(port->schedule, fold))
		fold_refuse(fold, "%s: a plug-in schedules its VLs", block->name);
}
