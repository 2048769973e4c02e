/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault: see fault.h.
 */
#include "fabric/fault.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct active_rule {
	struct fault_rule rule;
	struct random chance;
	uint64_t matched;
	bool bad; /* bad state of a burst channel */
};

struct fault {
	struct block block;
	struct fault_counters count;
	/* rules do not move, because a random stream points into itself */
	struct active_rule **rules;
	unsigned rule_count;
};

static bool applies(const struct fault *fault, const struct fault_rule *rule,
		    const struct packet *packet)
{
	sim_time now = sim_now(fault->block.sim);

	if (now < rule->from || (rule->until && now >= rule->until))
		return false;
	if (rule->watched && *rule->watched < rule->reaches)
		return false;
	if (rule->vls && !(rule->vls & 1u << packet->vl))
		return false;
	if (packet->kind == PACKET_TCP || packet->kind == PACKET_RAW)
		return rule->kind == PACKET_DATA && rule->opcode == FAULT_ANY_OPCODE;
	if ((unsigned)rule->kind != packet->kind)
		return false;
	return rule->kind != PACKET_DATA || rule->opcode == FAULT_ANY_OPCODE ||
	       rule->opcode == packet->opcode;
}

static bool in_burst(struct active_rule *active)
{
	const struct fault_burst *burst = &active->rule.burst;

	if (random_chance(&active->chance, active->bad ? burst->to_good : burst->to_bad))
		active->bad = !active->bad;
	return random_chance(&active->chance, active->bad ? burst->loss_bad : burst->loss_good);
}

/* Returns 1 - (1 - rate)^bits, without losing a small rate to rounding. */
static double packet_error_rate(const struct fault_rule *rule, const struct packet *packet)
{
	return -expm1(8.0 * packet->wire_bytes * log1p(-rule->bit_error_rate));
}

static bool strikes(struct active_rule *active, const struct packet *packet)
{
	active->matched++;
	if (active->rule.nth)
		return active->matched == active->rule.nth;
	if (active->rule.bit_error_rate > 0)
		return random_chance(&active->chance, packet_error_rate(&active->rule, packet));
	if (active->rule.burst.to_bad > 0)
		return in_burst(active);
	return random_chance(&active->chance, active->rule.probability);
}

/* Applies the action. Returns false if the packet is dropped. */
static bool strike(struct fault *fault, const struct fault_rule *rule, struct packet *packet)
{
	switch (rule->action) {
	case FAULT_drop:
		fault->count.packets_dropped++;
		return false;
	case FAULT_corrupt_icrc:
		fault->count.packets_icrc_damaged++;
		packet->damage |= DAMAGE_ICRC;
		return true;
	case FAULT_corrupt_vcrc:
		fault->count.packets_vcrc_damaged++;
		packet->damage |= DAMAGE_VCRC;
		return true;
	case FAULT_delay:
		fault->count.packets_delayed++;
		packet->head_at += rule->delay;
		packet->tail_at += rule->delay;
		return true;
	case FAULT_reorder:
		fault->count.packets_reordered++;
		packet->head_at += rule->delay;
		packet->tail_at += rule->delay;
		return true;
	case FAULT_mark:
		if (packet->ecn != ECN_NOT_ECT || packet->path->link_layer == LINK_INFINIBAND) {
			fault->count.packets_marked++;
			packet->ecn = ECN_CE;
		}
		return true;
	case FAULT_ACTION_COUNT:
		break;
	}
	assert(false);
	return true;
}

bool fault_judge(struct fault *fault, struct packet *packet)
{
	fault->count.packets_seen++;
	for (unsigned i = 0; i < fault->rule_count; i++) {
		struct active_rule *active = fault->rules[i];

		if (applies(fault, &active->rule, packet) && strikes(active, packet) &&
		    !strike(fault, &active->rule, packet))
			return false;
	}
	return true;
}

bool fault_delays(const struct fault *fault)
{
	for (unsigned i = 0; i < fault->rule_count; i++)
		if (fault->rules[i]->rule.action == FAULT_delay)
			return true;
	return false;
}

bool fault_reorders(const struct fault *fault)
{
	for (unsigned i = 0; i < fault->rule_count; i++)
		if (fault->rules[i]->rule.action == FAULT_reorder)
			return true;
	return false;
}

void fault_add(struct fault *fault, const struct fault_rule *rule)
{
	struct active_rule *active = calloc(1, sizeof(*active));
	char purpose[24];

	assert(active && rule->action < FAULT_ACTION_COUNT);
	snprintf(purpose, sizeof(purpose), "rule%u", fault->rule_count);
	active->rule = *rule;
	random_init(&active->chance, &fault->block, purpose);
	fault->rules = realloc(fault->rules, (fault->rule_count + 1) * sizeof(fault->rules[0]));
	assert(fault->rules);
	fault->rules[fault->rule_count++] = active;
}

const struct fault_counters *fault_counters(const struct fault *fault)
{
	return &fault->count;
}

/* clang-format off */
static const struct block_type fault_type = {
	.name     = "fault",
	.counters = (const struct counter[]){ FAULT_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

struct fault *fault_create(struct sim *sim, const char *name)
{
	struct fault *fault = calloc(1, sizeof(*fault));

	assert(fault);
	block_init(&fault->block, sim, &fault_type, name, NULL, &fault->count);
	return fault;
}

void fault_destroy(struct fault *fault)
{
	for (unsigned i = 0; i < fault->rule_count; i++)
		free(fault->rules[i]);
	free(fault->rules);
	block_fini(&fault->block);
	free(fault);
}
