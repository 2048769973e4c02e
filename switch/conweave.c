/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conweave: moves a flow to another path when a probe is late. The last leaf restores the order of
 * its packets (Song et al., ConWeave, SIGCOMM 2023).
 *
 *     first leaf                                          last leaf
 *       first packet of an epoch: RTT_REQUEST --------------> RTT_REPLY back
 *       reply in time: the next packet begins an epoch, on the same path
 *       reply late: one more packet by the old path, TAIL --> CLEAR back: the next packet begins
 *                                                             an epoch
 *         all after it REROUTED, by another path -----------> queued, if they come before the TAIL
 *       a path is not chosen for a while <------------------- NOTIFY: a packet of it was marked
 *
 * The other path is the first of two random paths that is not busy. Time stamps give the last leaf
 * the latest time at which the TAIL should arrive. Queued packets continue at this time at the
 * latest. Header fields have no width limits in hcasim, so epochs do not wrap.
 */
#include <stdlib.h>

#include "sim/timer.h"
#include "switch/overlay.h"

/* State of a flow at its first leaf. */
struct sender {
	const struct path *path; /* NULL if the entry was never used */
	sim_time active_at, tail_at;
	sim_time reply_by; /* SIM_NEVER if no reply is expected */
	uint32_t epoch;    /* taken from a counter of the leaf; the epochs of a flow only grow */
	uint16_t next_hop;
	bool rerouted, settled; /* settled: the next packet begins an epoch */
};

/* State of a flow at its last leaf. */
struct receiver {
	const struct path *path;
	sim_time active_at;
	sim_time before_sent_at, before_came_at; /* of the last packet on the old path */
	sim_time tail_at;
	uint32_t epoch;
	bool rerouted;               /* all packets of the old path have arrived */
	bool before_seen;            /* a packet of the old path has arrived in this epoch */
	struct reorder_queue *queue; /* NULL if no packet is queued */
};

/* Rerouted packets of one flow. Each has space in the shared buffer, or takes it when it
 * continues. */
struct reorder_queue {
	struct timer timer;
	struct fabric_switch *sw;
	struct receiver *receiver;
	struct packet *head, **tail;
	uint64_t packets, bytes;
	unsigned output;
	struct reorder_queue *next, **link; /* list of the queues in use */
};

struct conweave {
	struct sender *senders;
	struct receiver *receivers;
	uint64_t flow_mask;
	uint32_t epochs;      /* number of epochs begun */
	sim_time *busy_until; /* [leaf][next hop] */
	struct pool queues;
	struct reorder_queue *in_use;
	uint32_t *port_queues; /* queues in use, by output */
	uint64_t reorder_bytes;
};

/* ---- first leaf ---- */

/* Number of table entries that a flow may use. */
#define PLACES 4u

static size_t first_place(const struct fabric_switch *sw, const struct path *path)
{
	return balance_hash(sw, path) & sw->overlay->conweave->flow_mask & ~(uint64_t)(PLACES - 1);
}

/* Returns the entry of the flow, or NULL. */
static struct sender *find_sender(const struct fabric_switch *sw, const struct path *path)
{
	struct sender *places = &sw->overlay->conweave->senders[first_place(sw, path)];

	for (unsigned i = 0; i < PLACES; i++)
		if (places[i].path == path)
			return &places[i];
	return NULL;
}

/* Returns an entry whose flow was silent for long, or that was never used. Returns NULL if there is
 * none. */
static struct sender *new_sender(const struct fabric_switch *sw, const struct path *path,
				 sim_time now)
{
	struct sender *places = &sw->overlay->conweave->senders[first_place(sw, path)];

	for (unsigned i = 0; i < PLACES; i++) {
		if (places[i].path && now - places[i].active_at <= sw->params.conweave.inactive)
			continue;
		places[i] = (struct sender){.path = path, .next_hop = NO_NEXT_HOP};
		return &places[i];
	}
	return NULL;
}

static bool has_next_hop(const struct sender *sender, const struct port_group *group)
{
	return sender->next_hop != NO_NEXT_HOP && port_set_has(&group->set, sender->next_hop);
}

static bool is_free(const struct port_group *group, const sim_time *busy_until, unsigned next_hop,
		    sim_time now)
{
	return port_set_has(&group->set, next_hop) && busy_until[next_hop] <= now;
}

/* Returns the first of two random next hops without recent marks, or NO_NEXT_HOP if both had
 * marks. */
static unsigned other_next_hop(struct fabric_switch *sw, uint16_t leaf,
			       const struct port_group *group)
{
	const sim_time *busy_until =
		&sw->overlay->conweave->busy_until[(size_t)leaf * sw->port_count];
	sim_time now = sim_now(sw->block.sim);
	unsigned one = group->ports[random_below(&sw->chance, group->count)];
	unsigned other = group->ports[random_below(&sw->chance, group->count)];

	if (is_free(group, busy_until, one, now))
		return one;
	return is_free(group, busy_until, other, now) ? other : NO_NEXT_HOP;
}

static void take(struct fabric_switch *sw, struct sender *sender, unsigned next_hop)
{
	sw->count.reroutes += sender->next_hop != NO_NEXT_HOP && sender->next_hop != next_hop;
	sender->next_hop = (uint16_t)next_hop;
}

static void begin_epoch(struct fabric_switch *sw, struct sender *sender, sim_time now)
{
	sender->epoch = ++sw->overlay->conweave->epochs;
	sender->rerouted = false;
	sender->reply_by = now + sw->params.conweave.reply_timeout;
	sender->tail_at = 0;
}

/* Begins a flow that is new or was silent for long. Its earlier packets have arrived. */
static void begin(struct fabric_switch *sw, struct sender *sender, uint16_t leaf,
		  const struct port_group *group, sim_time now)
{
	unsigned next_hop = other_next_hop(sw, leaf, group);

	sw->count.flowlets++;
	begin_epoch(sw, sender, now);
	if (next_hop == NO_NEXT_HOP && !has_next_hop(sender, group))
		next_hop = group->ports[random_below(&sw->chance, group->count)];
	if (next_hop != NO_NEXT_HOP)
		take(sw, sender, next_hop);
}

/* Reroutes the flow. The current packet is the last one on its present path. */
static void reroute(struct fabric_switch *sw, struct sender *sender, uint16_t leaf,
		    const struct port_group *group, sim_time now)
{
	unsigned next_hop = other_next_hop(sw, leaf, group);

	sw->count.replies_late++;
	sender->reply_by = SIM_NEVER;
	sender->rerouted = true;
	sender->tail_at = now;
	if (next_hop == NO_NEXT_HOP)
		sw->count.paths_busy++;
	else
		take(sw, sender, next_hop);
}

unsigned conweave_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		       struct packet *packet)
{
	const struct switch_conweave_params *params = &sw->params.conweave;
	struct sender *sender = find_sender(sw, packet->path);
	struct overlay *header = &packet->overlay;
	sim_time now = sim_now(sw->block.sim);
	bool silent = sender && now - sender->active_at > params->inactive;
	unsigned next_hop;

	if (!sender)
		sender = new_sender(sw, packet->path, now);
	if (!sender) {
		sw->count.flows_unknown++;
		return group->ports[balance_hash(sw, packet->path) % group->count];
	}
	sender->active_at = now;
	*header = (struct overlay){.kind = OVERLAY_WEAVE};
	if (silent || !has_next_hop(sender, group)) {
		begin(sw, sender, leaf, group, now);
		header->request = true;
	} else if (sender->settled) {
		begin_epoch(sw, sender, now);
		header->request = true;
	}
	sender->settled = false;
	header->rerouted = sender->rerouted;
	next_hop = sender->next_hop;
	if (sender->reply_by < now) {
		reroute(sw, sender, leaf, group, now);
		header->tail = true;
	}
	header->epoch = sender->epoch;
	header->next_hop = (uint8_t)next_hop;
	header->weave.sent_at = now;
	header->weave.tail_at = sender->tail_at;
	return next_hop;
}

void conweave_take_control(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet)
{
	const struct overlay *header = &packet->overlay;
	struct sender *sender = find_sender(sw, packet->path);
	sim_time now = sim_now(sw->block.sim);

	if (header->kind == OVERLAY_NOTIFY) {
		sw->overlay->conweave
			->busy_until[(size_t)leaf * sw->port_count + header->next_hop] =
			now + sw->params.conweave.busy_time;
		return;
	}
	if (!sender || sender->epoch != header->epoch ||
	    sender->rerouted != (header->kind == OVERLAY_CLEAR))
		return;
	if (header->kind == OVERLAY_REPLY &&
	    (sender->reply_by == SIM_NEVER || now >= sender->reply_by))
		return;
	sender->settled = true;
	sender->reply_by = SIM_NEVER;
}

/* ---- last leaf ---- */

static void release(struct reorder_queue *queue)
{
	struct fabric_switch *sw = queue->sw;
	struct conweave *weave = sw->overlay->conweave;
	sim_time now = sim_now(sw->block.sim);

	while (queue->head) {
		struct packet *packet = queue->head;

		queue->head = packet->next;
		if (packet->head_at < now)
			packet->head_at = now;
		if (sw->params.conweave.reorder_memory == REORDER_SHARED)
			switch_queue(&sw->ports[queue->output], packet);
		else
			switch_forward(&sw->ports[packet->ingress], queue->output, packet);
	}
	timer_disarm(&queue->timer);
	sw->count.reorder_released += queue->packets;
	weave->reorder_bytes -= queue->bytes;
	weave->port_queues[queue->output]--;
	queue->receiver->rerouted = true;
	queue->receiver->queue = NULL;
	*queue->link = queue->next;
	if (queue->next)
		queue->next->link = queue->link;
	pool_give(&weave->queues, queue);
}

static void expire(struct timer *timer)
{
	struct reorder_queue *queue = container_of(timer, struct reorder_queue, timer);

	queue->sw->count.reorder_timeouts++;
	release(queue);
}

static struct reorder_queue *open_queue(struct fabric_switch *sw, struct receiver *receiver,
					unsigned output, sim_time wait)
{
	struct conweave *weave = sw->overlay->conweave;
	uint64_t limit = sw->params.conweave.reorder_queues;
	struct reorder_queue *queue;

	if (limit && weave->port_queues[output] >= limit)
		return NULL;
	queue = pool_take(&weave->queues);
	*queue = (struct reorder_queue){.sw = sw,
					.receiver = receiver,
					.tail = &queue->head,
					.output = output,
					.next = weave->in_use,
					.link = &weave->in_use};
	if (queue->next)
		queue->next->link = &queue->next;
	weave->in_use = queue;
	timer_init(&queue->timer, &sw->block, expire);
	timer_arm(&queue->timer, wait);
	if (sw->count.reorder_queues_max < ++weave->port_queues[output])
		sw->count.reorder_queues_max = weave->port_queues[output];
	return queue;
}

static void reorder(struct switch_port *input, struct reorder_queue *queue, struct packet *packet)
{
	struct fabric_switch *sw = input->sw;
	struct conweave *weave = sw->overlay->conweave;

	packet->ingress = (uint16_t)port_index(input);
	if (sw->params.conweave.reorder_memory == REORDER_SHARED &&
	    !switch_admit(input, queue->output, packet))
		return;
	packet->next = NULL;
	*queue->tail = packet;
	queue->tail = &packet->next;
	queue->bytes += packet->wire_bytes;
	weave->reorder_bytes += packet->wire_bytes;
	sw->count.reorder_packets++;
	if (sw->count.reorder_packets_max < ++queue->packets)
		sw->count.reorder_packets_max = queue->packets;
	if (sw->count.reorder_bytes_max < weave->reorder_bytes)
		sw->count.reorder_bytes_max = weave->reorder_bytes;
}

/* Returns the time from a packet of the old path to the TAIL, by their departure times, plus
 * resume_extra. */
static sim_time gap_to_tail(const struct fabric_switch *sw, const struct receiver *receiver)
{
	sim_time gap = receiver->tail_at > receiver->before_sent_at
			       ? receiver->tail_at - receiver->before_sent_at
			       : 0;

	return gap + sw->params.conweave.resume_extra;
}

/* Returns the time after which a packet that arrives now is released if the TAIL does not
 * arrive. */
static sim_time first_wait(const struct fabric_switch *sw, const struct receiver *receiver)
{
	const struct switch_conweave_params *params = &sw->params.conweave;
	sim_time now = sim_now(sw->block.sim), until;

	if (!receiver->before_seen)
		return params->resume_default + params->resume_extra;
	until = receiver->before_came_at + gap_to_tail(sw, receiver);
	return until > now ? until - now : 0;
}

static void came_rerouted(struct switch_port *input, unsigned output, struct receiver *receiver,
			  struct packet *packet)
{
	struct fabric_switch *sw = input->sw;

	if (!receiver->rerouted && !receiver->queue) {
		receiver->queue = open_queue(sw, receiver, output, first_wait(sw, receiver));
		sw->count.reorder_full += !receiver->queue;
	}
	if (receiver->queue)
		reorder(input, receiver->queue, packet);
	else
		switch_forward(input, output, packet);
}

static void came_by_path_before(struct switch_port *input, unsigned output,
				struct receiver *receiver, struct packet *packet,
				const struct overlay *header)
{
	struct fabric_switch *sw = input->sw;

	switch_forward(input, output, packet);
	if (!header->tail) {
		if (receiver->queue)
			timer_arm(&receiver->queue->timer, gap_to_tail(sw, receiver));
		return;
	}
	receiver->rerouted = true;
	if (receiver->queue) {
		sw->count.reorder_tails++;
		release(receiver->queue);
	}
}

static void note(struct receiver *receiver, const struct overlay *header, sim_time now)
{
	if (receiver->epoch != header->epoch) {
		receiver->epoch = header->epoch;
		receiver->rerouted = false;
		receiver->before_seen = false;
	}
	if (!header->rerouted) {
		receiver->before_seen = true;
		receiver->before_sent_at = header->weave.sent_at;
		receiver->before_came_at = now;
	}
	if (header->rerouted || header->tail)
		receiver->tail_at = header->weave.tail_at;
}

static void send_control(struct switch_port *input, const struct packet *packet,
			 const struct overlay *header)
{
	if (packet->ecn == ECN_CE) {
		input->sw->count.notifies++;
		overlay_send_control(input, packet, OVERLAY_NOTIFY, header);
	}
	if (header->request)
		overlay_send_control(input, packet, OVERLAY_REPLY, header);
	if (header->tail)
		overlay_send_control(input, packet, OVERLAY_CLEAR, header);
}

/* Returns the entry of the flow, or NULL if other flows hold all of its entries. */
static struct receiver *receiver_of(const struct fabric_switch *sw, const struct path *path,
				    sim_time now)
{
	struct receiver *places = &sw->overlay->conweave->receivers[first_place(sw, path)];

	for (unsigned i = 0; i < PLACES; i++)
		if (places[i].path == path)
			return &places[i];
	for (unsigned i = 0; i < PLACES; i++) {
		if (places[i].queue ||
		    (places[i].path && now - places[i].active_at <= sw->params.conweave.inactive))
			continue;
		places[i] = (struct receiver){.path = path};
		return &places[i];
	}
	return NULL;
}

void conweave_arrive(struct switch_port *input, unsigned output, struct packet *packet,
		     const struct overlay *header)
{
	struct fabric_switch *sw = input->sw;
	sim_time now = sim_now(sw->block.sim);
	struct receiver *receiver = receiver_of(sw, packet->path, now);

	if (!receiver) {
		sw->count.flows_unknown++;
		switch_forward(input, output, packet);
		return;
	}
	receiver->active_at = now;
	if (header->epoch < receiver->epoch) { /* the packet was overtaken by a whole epoch */
		switch_forward(input, output, packet);
		return;
	}
	if (header->epoch > receiver->epoch && receiver->queue)
		release(receiver->queue);
	note(receiver, header, now);
	send_control(input, packet, header);
	if (header->rerouted)
		came_rerouted(input, output, receiver, packet);
	else
		came_by_path_before(input, output, receiver, packet, header);
}

/* ---- creation and destruction ---- */

struct conweave *conweave_create(struct fabric_switch *sw)
{
	struct conweave *weave = calloc(1, sizeof(*weave));
	uint64_t entries = PLACES;

	assert(weave);
	while (entries < sw->params.conweave.flow_entries)
		entries *= 2;
	weave->flow_mask = entries - 1;
	weave->senders = calloc(entries, sizeof(weave->senders[0]));
	weave->receivers = calloc(entries, sizeof(weave->receivers[0]));
	weave->busy_until = calloc((size_t)sw->overlay->leaf_count * sw->port_count,
				   sizeof(weave->busy_until[0]));
	weave->port_queues = calloc(sw->port_count, sizeof(weave->port_queues[0]));
	assert(weave->senders && weave->receivers && weave->busy_until && weave->port_queues);
	pool_init(&weave->queues, sizeof(struct reorder_queue), 0);
	return weave;
}

/* Frees the packets that are still queued at the end of a run. */
void conweave_destroy(struct fabric_switch *sw)
{
	struct conweave *weave = sw->overlay->conweave;

	for (struct reorder_queue *queue = weave->in_use; queue; queue = queue->next) {
		timer_disarm(&queue->timer);
		while (queue->head) {
			struct packet *packet = queue->head;

			queue->head = packet->next;
			packet_free(sw->pool, packet);
		}
	}
	pool_fini(&weave->queues);
	free(weave->senders);
	free(weave->receivers);
	free(weave->busy_until);
	free(weave->port_queues);
	free(weave);
}
