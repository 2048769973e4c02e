/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance: chooses among several ports that lead equally close. Ports whose link is down are
 * excluded at once.
 *
 *     ecmp      a hash of the addresses and the UDP source port or both TCP ports, with a seed of
 *               each switch
 *     letflow   a path at random for each flowlet: the flow's packets until its next silence
 *               (Vanini et al., NSDI 2017)
 *     spray     at random, packet by packet (Dixit et al., INFOCOM 2013)
 *     adaptive  the fewest bytes waiting in the packet's VL, in units of adaptive_grade; among
 *               equals at random
 *     drill     the same among a few at random and the best of last time (Ghorbani et al.,
 *               SIGCOMM 2017)
 *
 * With plugin, a shared object chooses (plugins.h).
 *
 * With conga and conweave (overlay.h), leaf switches choose for packets from their hosts. Other
 * packets follow the hash.
 */
#include <stdlib.h>
#include <string.h>

#include "switch/switch_state.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Returns the hash of a flow. Protocol and destination port are omitted, because they are the same
 * for all RoCEv2 packets. */
static uint64_t flow_hash(const struct fabric_switch *sw, const struct path *path)
{
	uint64_t words[4];
	uint64_t hash = sw->hash_seed;

	if (path->link_layer == LINK_INFINIBAND)
		return mix(mix(hash, (uint64_t)path->slid << 16 | path->dlid), path->flow_label);
	if (sw->params.hash_fields == HASH_DESTINATION_PORT)
		return mix(hash, path->tcp_destination_port);
	memcpy(&words[0], path->sgid, sizeof(path->sgid));
	memcpy(&words[2], path->dgid, sizeof(path->dgid));
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		hash = mix(hash, words[i]);
	hash = mix(hash, (uint64_t)path->udp_source_port << 32 | path->flow_label);
	if (path_is_tcp(path))
		hash = mix(hash,
			   (uint64_t)path->tcp_source_port << 16 | path->tcp_destination_port);
	return hash;
}

uint64_t balance_hash(const struct fabric_switch *sw, const struct path *path)
{
	return flow_hash(sw, path);
}

static unsigned nth(const struct port_group *group, uint64_t hash)
{
	return group->ports[((hash >> 32) * group->count) >> 32];
}

unsigned balance_hashed(const struct fabric_switch *sw, const struct port_group *group,
			const struct path *path)
{
	return nth(group, flow_hash(sw, path));
}

static unsigned at_random(struct fabric_switch *sw, const struct port_group *group)
{
	return nth(group, random_u64(&sw->chance));
}

struct flowlet *balance_flowlet(struct fabric_switch *sw, const struct port_group *group,
				const struct path *path, unsigned *next_hop)
{
	struct flowlet *entry = &sw->flowlets[flow_hash(sw, path) & sw->flowlet_mask];
	sim_time now = sim_now(sw->block.sim);
	bool goes_on = port_set_has(&group->set, entry->port) && entry->last &&
		       now - entry->last <= sw->params.flowlet_gap;

	*next_hop = entry->port;
	if (!entry->last)
		*next_hop = PORT_SET_PORTS;
	entry->last = now ? now : 1; /* 0 means never used */
	return goes_on ? NULL : entry;
}

unsigned balance_begin_flowlet(struct fabric_switch *sw, struct flowlet *entry, unsigned before,
			       unsigned next_hop)
{
	sw->count.flowlets++;
	sw->count.reroutes += before != PORT_SET_PORTS && before != next_hop;
	entry->port = (uint8_t)next_hop;
	return next_hop;
}

static unsigned letflow(struct fabric_switch *sw, const struct port_group *group,
			const struct path *path)
{
	unsigned next_hop;
	struct flowlet *entry = balance_flowlet(sw, group, path, &next_hop);

	return entry ? balance_begin_flowlet(sw, entry, next_hop, at_random(sw, group)) : next_hop;
}

static uint64_t waiting_bytes(const struct fabric_switch *sw, unsigned port, unsigned vl)
{
	const struct port *output = sw->ports[port].port;

	return port_queued_bytes(output, vl) + port_leaving_bytes(output);
}

/* Chooses a port by DRILL. The memory belongs to the group, because DRILL has one for each set of
 * equal ports. */
static unsigned drill(struct fabric_switch *sw, struct port_group *group, unsigned vl)
{
	unsigned best = group->ports[group->next % group->count];
	uint64_t best_bytes = waiting_bytes(sw, best, vl);

	for (uint64_t i = 0; i < sw->params.drill_samples; i++) {
		unsigned place = (unsigned)random_below(&sw->chance, group->count);
		uint64_t bytes = waiting_bytes(sw, group->ports[place], vl);

		if (bytes < best_bytes) {
			best = group->ports[place];
			best_bytes = bytes;
			group->next = (uint8_t)place;
		}
	}
	return best;
}

static unsigned shortest(struct fabric_switch *sw, const struct port_group *group, unsigned vl)
{
	struct port_group best;
	uint64_t least = UINT64_MAX;

	best.count = 0;
	for (unsigned i = 0; i < group->count; i++) {
		uint64_t grade = waiting_bytes(sw, group->ports[i], vl) / sw->params.adaptive_grade;

		if (grade < least) {
			best.count = 0;
			least = grade;
		}
		if (grade == least)
			best.ports[best.count++] = group->ports[i];
	}
	return best.count == 1 ? best.ports[0] : at_random(sw, &best);
}

static unsigned choose(struct fabric_switch *sw, struct port_group *group,
		       const struct packet *packet)
{
	switch ((enum balance)sw->params.balance) {
	case BALANCE_LETFLOW:
		return letflow(sw, group, packet->path);
	case BALANCE_SPRAY:
		return at_random(sw, group);
	case BALANCE_ADAPTIVE:
		return shortest(sw, group, packet->vl);
	case BALANCE_DRILL:
		return drill(sw, group, packet->vl);
	case BALANCE_PLUGIN:
		return plugins_choose(sw, group, packet);
	case BALANCE_CONGA:
	case BALANCE_CONWEAVE:
	case BALANCE_DESTINATION: /* a group that was set by hand */
	case BALANCE_ECMP:
		break;
	}
	return balance_hashed(sw, group, packet->path);
}

bool balance_all_up(const struct fabric_switch *sw, const struct port_group *group)
{
	for (unsigned i = 0; i < group->count; i++)
		if (!port_is_up(sw->ports[group->ports[i]].port))
			return false;
	return true;
}

void balance_up(const struct fabric_switch *sw, const struct port_group *group,
		struct port_group *up)
{
	*up = (struct port_group){.next = group->next};
	for (unsigned i = 0; i < group->count; i++) {
		if (!port_is_up(sw->ports[group->ports[i]].port))
			continue;
		port_set_add(&up->set, group->ports[i]);
		up->ports[up->count++] = group->ports[i];
	}
}

/* Chooses among the ports whose link is up. */
static unsigned choose_up(struct fabric_switch *sw, const struct port_group *group,
			  const struct packet *packet)
{
	struct port_group up;

	balance_up(sw, group, &up);
	return up.count ? choose(sw, &up, packet) : group->ports[0];
}

unsigned balance_choose(struct fabric_switch *sw, struct port_group *group,
			const struct packet *packet)
{
	unsigned port = choose(sw, group, packet);

	if (__builtin_expect(!port_is_up(sw->ports[port].port), 0))
		return choose_up(sw, group, packet);
	return port;
}

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t power = 1;

	while (power < at_least)
		power *= 2;
	return power;
}

void balance_init(struct fabric_switch *sw)
{
	random_init(&sw->chance, &sw->block, "balance");
	sw->hash_seed = sw->params.hash_seed ? sw->params.hash_seed : random_u64(&sw->chance);
	if (sw->params.balance != BALANCE_LETFLOW && sw->params.balance != BALANCE_CONGA)
		return;
	sw->flowlet_mask = power_of_two(sw->params.flowlet_entries) - 1;
	sw->flowlets = calloc(sw->flowlet_mask + 1, sizeof(sw->flowlets[0]));
	assert(sw->flowlets);
}

void balance_fini(struct fabric_switch *sw)
{
	free(sw->flowlets);
}
