/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conga: chooses for each flowlet the path whose most congested link is least congested (Alizadeh
 * et al., CONGA, SIGCOMM 2014). Numbers in brackets are the paper's sections.
 *
 *     each link      a discounting rate estimator: bytes sent, less a share at each interval (3.2)
 *     each packet    the larger of its metric and the link's, as it leaves (3.3)
 *     each leaf      from-leaf: metrics that came, to go back in packets the other way, those that
 *                    changed first; to-leaf: metrics that came back, old ones count as idle (3.3)
 *     a flowlet      the least of max(own link, to-leaf); of equals the path before, or one at
 *                    random (3.5)
 */
#include <math.h>
#include <stdlib.h>

#include "switch/overlay.h"

struct estimator {
	uint64_t bytes;
	sim_time decayed_at;
	double full_bytes; /* bytes of a link that is always busy: rate times tau */
};

struct from_next_hop {
	uint8_t metric;
	bool known, changed;
};

struct to_next_hop {
	sim_time heard_at; /* 0 before the first feedback */
	uint8_t metric;
};

struct conga {
	struct estimator *estimators; /* by port */
	struct from_next_hop *from;   /* [leaf][next hop] */
	struct to_next_hop *to;       /* [leaf][next hop] */
	struct feedback {
		uint16_t next_hops; /* number of next hops that may be known */
		uint16_t next;      /* next hop whose metric is returned next */
	} * feedback;               /* by leaf */
};

/* Returns the index of an entry. Another leaf may have more ports than this one. */
static size_t place(uint16_t leaf, unsigned next_hop)
{
	return (size_t)leaf * PORT_SET_PORTS + next_hop;
}

/* Decays the estimate until `now`. A share below one byte is not removed. */
static void decay(struct estimator *link, const struct switch_conga_params *params, sim_time now)
{
	while (link->bytes && now >= link->decayed_at + params->dre_interval) {
		uint64_t loss = (uint64_t)((double)link->bytes * params->dre_alpha);

		link->decayed_at += params->dre_interval;
		if (!loss)
			break;
		link->bytes -= loss;
	}
	if (now >= link->decayed_at + params->dre_interval)
		link->decayed_at = now - now % params->dre_interval;
}

static uint8_t quantise(const struct estimator *link, const struct switch_conga_params *params)
{
	unsigned levels = 1u << params->metric_bits;
	double level = (double)link->bytes / link->full_bytes * levels;

	return (uint8_t)(level < levels ? level : levels - 1);
}

void conga_departs(struct port_user *user, struct port *port, struct packet *packet,
		   sim_time starts_at, sim_time until)
{
	struct switch_port *output = container_of(user, struct switch_port, user);
	const struct switch_conga_params *params = &output->sw->params.conga;
	struct estimator *link = &output->sw->overlay->conga->estimators[port_index(output)];

	decay(link, params, starts_at);
	link->bytes += packet->wire_bytes;
	if (packet->overlay.kind == OVERLAY_CONGA) {
		uint8_t metric = quantise(link, params);

		if (packet->overlay.conga.metric < metric)
			packet->overlay.conga.metric = metric;
	}
	switch_departs(user, port, packet, starts_at, until);
}

/* Adds one metric of packets from that leaf to the header. Changed metrics go first, in turns. */
static void feed_back(struct conga *conga, uint16_t leaf, struct overlay *header)
{
	struct from_next_hop *next_hops = &conga->from[place(leaf, 0)];
	struct feedback *feedback = &conga->feedback[leaf];
	unsigned found = NO_NEXT_HOP;

	for (unsigned i = 0; i < feedback->next_hops; i++) {
		unsigned next_hop = (feedback->next + i) % feedback->next_hops;

		if (next_hops[next_hop].known &&
		    (found == NO_NEXT_HOP || next_hops[next_hop].changed))
			found = next_hop;
		if (found != NO_NEXT_HOP && next_hops[found].changed)
			break;
	}
	if (found == NO_NEXT_HOP)
		return;
	header->conga.has_feedback = true;
	header->conga.feedback_next_hop = (uint8_t)found;
	header->conga.feedback_metric = next_hops[found].metric;
	next_hops[found].changed = false;
	feedback->next = (uint16_t)((found + 1) % feedback->next_hops);
}

static uint8_t metric_of(struct fabric_switch *sw, uint16_t leaf, unsigned next_hop)
{
	const struct switch_conga_params *params = &sw->params.conga;
	struct conga *conga = sw->overlay->conga;
	const struct to_next_hop *to = &conga->to[place(leaf, next_hop)];
	struct estimator *link = &conga->estimators[next_hop];
	sim_time now = sim_now(sw->block.sim);
	uint8_t metric, remote = 0;

	decay(link, params, now);
	metric = quantise(link, params);
	if (to->heard_at && now - to->heard_at <= params->metric_age)
		remote = to->metric;
	return metric > remote ? metric : remote;
}

static unsigned least_congested(struct fabric_switch *sw, uint16_t leaf,
				const struct port_group *group, unsigned before)
{
	unsigned equals[PORT_SET_PORTS], count = 0, least = UINT8_MAX + 1u;

	for (unsigned i = 0; i < group->count; i++) {
		unsigned metric = metric_of(sw, leaf, group->ports[i]);

		if (metric < least) {
			least = metric;
			count = 0;
		}
		if (metric == least)
			equals[count++] = group->ports[i];
	}
	for (unsigned i = 0; i < count; i++)
		if (equals[i] == before)
			return before;
	return equals[random_below(&sw->chance, count)];
}

unsigned conga_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		    struct packet *packet)
{
	unsigned next_hop, before;
	struct flowlet *entry = balance_flowlet(sw, group, packet->path, &before);

	next_hop = before;
	if (entry)
		next_hop = balance_begin_flowlet(sw, entry, before,
						 least_congested(sw, leaf, group, before));
	packet->overlay = (struct overlay){.kind = OVERLAY_CONGA, .next_hop = (uint8_t)next_hop};
	feed_back(sw->overlay->conga, leaf, &packet->overlay);
	return next_hop;
}

void conga_learn(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet)
{
	struct conga *conga = sw->overlay->conga;
	const struct overlay *header = &packet->overlay;
	struct from_next_hop *from = &conga->from[place(leaf, header->next_hop)];

	if (!from->known || from->metric != header->conga.metric)
		*from = (struct from_next_hop){header->conga.metric, true, true};
	if (conga->feedback[leaf].next_hops <= header->next_hop)
		conga->feedback[leaf].next_hops = header->next_hop + 1u;
	if (header->conga.has_feedback)
		conga->to[place(leaf, header->conga.feedback_next_hop)] =
			(struct to_next_hop){sim_now(sw->block.sim), header->conga.feedback_metric};
}

unsigned conga_heard(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop)
{
	const struct conga *conga = sw->overlay->conga;

	return conga->to[place(leaf, next_hop)].metric;
}

unsigned conga_measured(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop)
{
	const struct conga *conga = sw->overlay->conga;

	return conga->from[place(leaf, next_hop)].metric;
}

struct conga *conga_create(const struct fabric_switch *sw)
{
	const struct switch_conga_params *params = &sw->params.conga;
	size_t leaves = sw->overlay->leaf_count;
	struct conga *conga = calloc(1, sizeof(*conga));

	assert(conga);
	conga->estimators = calloc(sw->port_count, sizeof(conga->estimators[0]));
	conga->from = calloc(leaves * PORT_SET_PORTS, sizeof(conga->from[0]));
	conga->to = calloc(leaves * PORT_SET_PORTS, sizeof(conga->to[0]));
	conga->feedback = calloc(leaves, sizeof(conga->feedback[0]));
	assert(conga->estimators && conga->from && conga->to && conga->feedback);
	for (unsigned i = 0; i < sw->port_count; i++)
		conga->estimators[i].full_bytes = (double)port_rate_bps(sw->ports[i].port) / 8e12 *
						  (double)params->dre_interval / params->dre_alpha;
	return conga;
}

void conga_destroy(struct conga *conga)
{
	free(conga->estimators);
	free(conga->from);
	free(conga->to);
	free(conga->feedback);
	free(conga);
}
