/*
 * fault: see fault.h.
 */
#include "fabric/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct active_rule {
	struct fault_rule rule;
	struct random chance;
	uint64_t matched;
};

struct fault {
	struct block block;
	struct fault_counters count;
	struct active_rule **rules; /* each stays in place: its stream points into itself */
	unsigned rule_count;
};

static bool applies(const struct fault_rule *rule, const struct packet *packet)
{
	if ((unsigned)rule->kind != packet->kind)
		return false;
	return rule->kind != PACKET_DATA || rule->opcode == FAULT_ANY_OPCODE ||
	       rule->opcode == packet->opcode;
}

static bool strikes(struct active_rule *active)
{
	active->matched++;
	if (active->rule.nth)
		return active->matched == active->rule.nth;
	return random_chance(&active->chance, active->rule.probability);
}

/* false: the packet is gone. */
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

		if (applies(&active->rule, packet) && strikes(active) &&
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
#define FAULT_ACTION_NAME(name, meaning) #name,
static const char *const action_names[] = { FAULT_ACTIONS(FAULT_ACTION_NAME) };

static const struct block_type fault_type = {
	.name     = "fault",
	.counters = (const struct counter[]){ FAULT_COUNTERS(COUNTER_ENTRY) { 0 } },
};
/* clang-format on */

bool fault_action_from_name(const char *name, enum fault_action *action)
{
	for (unsigned i = 0; i < FAULT_ACTION_COUNT; i++) {
		if (strcmp(name, action_names[i]) == 0) {
			*action = (enum fault_action)i;
			return true;
		}
	}
	return false;
}

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
