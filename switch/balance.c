/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance: which of several ports that lead closer equally well a packet takes. Ports whose link is down are left
 * out at once.
 *
 *     ecmp      a hash of the addresses and the UDP source port, with a seed of each switch
 *     letflow   a path at random for each flowlet: the flow's packets until its next silence (Vanini et al., NSDI 2017)
 *     spray     at random, packet by packet (Dixit et al., INFOCOM 2013)
 *     adaptive  the fewest bytes waiting in the packet's VL, in units of adaptive_grade; among equals at random
 *     drill     the same among a few at random and the best of last time (Ghorbani et al., SIGCOMM 2017)
 *
 * Under conga and conweave (overlay.h) leaf switches choose for packets from their hosts; all else goes by the hash.
 */
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Protocol and destination port are the same for all RoCEv2 packets and say nothing. */
static uint64_t flow_hash(const struct fabric_switch *box, const struct path *path)
{
	uint64_t words[4];
	uint64_t hash = box->hash_seed;

	if (path->link_layer == LINK_INFINIBAND)
		return mix(mix(hash, (uint64_t)path->slid << 16 | path->dlid), path->flow_label);
	memcpy(&words[0], path->sgid, sizeof(path->sgid));
	memcpy(&words[2], path->dgid, sizeof(path->dgid));
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		hash = mix(hash, words[i]);
	return mix(hash, (uint64_t)path->udp_source_port << 32 | path->flow_label);
}

uint64_t balance_hash(const struct fabric_switch *box, const struct path *path)
{
	return flow_hash(box, path);
}

static unsigned nth(const struct port_group *group, uint64_t hash)
{
	return group->ports[((hash >> 32) * group->count) >> 32];
}

static unsigned at_random(struct fabric_switch *box, const struct port_group *group)
{
	return nth(group, random_u64(&box->chance));
}

struct flowlet *balance_flowlet(struct fabric_switch *box, const struct port_group *group,
				const struct path *path, unsigned *next_hop)
{
	struct flowlet *entry = &box->flowlets[flow_hash(box, path) & box->flowlet_mask];
	sim_time now = sim_now(box->block.sim);
	bool goes_on = port_set_has(&group->set, entry->port) && entry->last &&
		       now - entry->last <= box->params.flowlet_gap;

	*next_hop = entry->port;
	if (!entry->last)
		*next_hop = PORT_SET_PORTS;
	entry->last = now ? now : 1; /* 0: never used */
	return goes_on ? NULL : entry;
}

unsigned balance_begin_flowlet(struct fabric_switch *box, struct flowlet *entry, unsigned before,
			       unsigned next_hop)
{
	box->count.flowlets++;
	box->count.reroutes += before != PORT_SET_PORTS && before != next_hop;
	entry->port = (uint8_t)next_hop;
	return next_hop;
}

static unsigned letflow(struct fabric_switch *box, const struct port_group *group,
			const struct path *path)
{
	unsigned next_hop;
	struct flowlet *entry = balance_flowlet(box, group, path, &next_hop);

	return entry ? balance_begin_flowlet(box, entry, next_hop, at_random(box, group))
		     : next_hop;
}

static uint64_t waiting_bytes(const struct fabric_switch *box, unsigned port, unsigned vl)
{
	const struct port *output = box->ports[port].port;

	return port_queued_bytes(output, vl) + port_leaving_bytes(output);
}

/* The memory is the group's, as DRILL has one a set of equal ports. */
static unsigned drill(struct fabric_switch *box, struct port_group *group, unsigned vl)
{
	unsigned best = group->ports[group->next % group->count];
	uint64_t best_bytes = waiting_bytes(box, best, vl);

	for (uint64_t i = 0; i < box->params.drill_samples; i++) {
		unsigned place = (unsigned)random_below(&box->chance, group->count);
		uint64_t bytes = waiting_bytes(box, group->ports[place], vl);

		if (bytes < best_bytes) {
			best = group->ports[place];
			best_bytes = bytes;
			group->next = (uint8_t)place;
		}
	}
	return best;
}

static unsigned shortest(struct fabric_switch *box, const struct port_group *group, unsigned vl)
{
	struct port_group best;
	uint64_t least = UINT64_MAX;

	best.count = 0;
	for (unsigned i = 0; i < group->count; i++) {
		uint64_t grade =
			waiting_bytes(box, group->ports[i], vl) / box->params.adaptive_grade;

		if (grade < least) {
			best.count = 0;
			least = grade;
		}
		if (grade == least)
			best.ports[best.count++] = group->ports[i];
	}
	return best.count == 1 ? best.ports[0] : at_random(box, &best);
}

static unsigned choose(struct fabric_switch *box, struct port_group *group,
		       const struct packet *packet)
{
	switch ((enum balance)box->params.balance) {
	case BALANCE_LETFLOW:
		return letflow(box, group, packet->path);
	case BALANCE_SPRAY:
		return at_random(box, group);
	case BALANCE_ADAPTIVE:
		return shortest(box, group, packet->vl);
	case BALANCE_DRILL:
		return drill(box, group, packet->vl);
	case BALANCE_CONGA:
	case BALANCE_CONWEAVE:
	case BALANCE_DESTINATION: /* a group that somebody has set by hand */
	case BALANCE_ECMP:
		break;
	}
	return nth(group, flow_hash(box, packet->path));
}

bool balance_all_up(const struct fabric_switch *box, const struct port_group *group)
{
	for (unsigned i = 0; i < group->count; i++)
		if (!port_is_up(box->ports[group->ports[i]].port))
			return false;
	return true;
}

void balance_up(const struct fabric_switch *box, const struct port_group *group,
		struct port_group *up)
{
	*up = (struct port_group){.next = group->next};
	for (unsigned i = 0; i < group->count; i++) {
		if (!port_is_up(box->ports[group->ports[i]].port))
			continue;
		port_set_add(&up->set, group->ports[i]);
		up->ports[up->count++] = group->ports[i];
	}
}

/* Some link is down: the same choice among those that are up. */
static unsigned choose_up(struct fabric_switch *box, const struct port_group *group,
			  const struct packet *packet)
{
	struct port_group up;

	balance_up(box, group, &up);
	return up.count ? choose(box, &up, packet) : group->ports[0];
}

unsigned balance_choose(struct fabric_switch *box, struct port_group *group,
			const struct packet *packet)
{
	unsigned port = choose(box, group, packet);

	if (__builtin_expect(!port_is_up(box->ports[port].port), 0))
		return choose_up(box, group, packet);
	return port;
}

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t power = 1;

	while (power < at_least)
		power *= 2;
	return power;
}

void balance_init(struct fabric_switch *box)
{
	random_init(&box->chance, &box->block, "balance");
	box->hash_seed = box->params.hash_seed ? box->params.hash_seed : random_u64(&box->chance);
	if (box->params.balance != BALANCE_LETFLOW && box->params.balance != BALANCE_CONGA)
		return;
	box->flowlet_mask = power_of_two(box->params.flowlet_entries) - 1;
	box->flowlets = calloc(box->flowlet_mask + 1, sizeof(box->flowlets[0]));
	assert(box->flowlets);
}

void balance_fini(struct fabric_switch *box)
{
	free(box->flowlets);
}
