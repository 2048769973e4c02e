/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softirq: see state.h. Cores that process received frames.
 *
 *     frame --RSS or aRFS--> queue --interrupt--> core: NAPI poll --> merged segments --> sockets
 *                                                   |
 *                                    services: the thread on the core loses the time
 *
 * A core is a server. One poll takes up to `weight` frames of one queue. Each frame and each merged
 * segment costs the core time, and a segment arrives when the core has processed it. A queue whose
 * poll took fewer frames gets its next interrupt. Otherwise the core polls again. After `budget`
 * frames or `budget_time` the polls run in ksoftirqd, which shares the core with the programs. On a
 * modelled link, segments take the place of frames.
 */
#include "hca/device/hca.h"
#include "verbs-shim/sockets/rss.h"
#include "verbs-shim/sockets/state.h"

enum { MTU_PAGE = 4096 }; /* bytes, of receive_page */

/* clang-format off */
static const struct block_type softirq_type = {
	.name = "softirq",
	.counters = (const struct counter[]){SOFTIRQ_COUNTERS(COUNTER_ENTRY){0}},
};
/* clang-format on */

/* ---- choice of the queue ---- */

/* Returns the core whose thread last read from the flow's socket, or NO_SOCKET. */
static uint32_t reader_of(struct sockets *sockets, const struct flow *flow, bool datagram)
{
	const struct flow reverse = {.from_host = flow->to_host,
				     .to_host = flow->from_host,
				     .source = flow->destination,
				     .destination = flow->source};
	struct socket *socket =
		datagram ? ports_receiver(sockets, flow->to_host, &flow->destination, &flow->source)
			 : ports_find_flow(sockets, &reverse);

	return socket && socket->record->reader ? socket->record->reader - 1 : NO_SOCKET;
}

struct queue *softirq_queue(struct socket_host *host, const struct flow *flow, bool datagram)
{
	const struct sockets *sockets = host->sockets;
	uint32_t core = NO_SOCKET;

	if (sockets->params->steering == STEERING_ARFS)
		core = reader_of(host->sockets, flow, datagram);
	if (core < sockets->queues)
		return &host->queues[core];
	return &host->queues[rss_queue(
		rss_hash(sockets->rss_key, &flow->source, &flow->destination), sockets->queues)];
}

/* ---- the core ---- */

static struct core *core_of(const struct queue *queue)
{
	return &queue->host->cores[queue->core];
}

void softirq_cost(const struct socket_params *params, uint32_t bytes, uint32_t packets,
		  uint64_t work[CPU_KIND_COUNT])
{
	work[CPU_gro] += packets * params->receive_packet;
	work[CPU_skb] += bytes * params->receive_page / MTU_PAGE;
}

/* Occupies the core from now until the end of the work. The interrupt's own time has passed. */
static sim_time occupy(struct queue *queue, const uint64_t work[CPU_KIND_COUNT], sim_time before)
{
	struct sockets *sockets = queue->host->sockets;
	struct core *core = core_of(queue);
	sim_time total = 0;

	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		total += work[kind];
	core->busy_until = sim_now(sockets->sim) + total - before;
	sockets->services->occupy(sockets->context, queue->host->number, queue->core, work,
				  core->threaded);
	return core->busy_until;
}

/* ---- polls ---- */

static void schedule(struct queue *queue, sim_time at)
{
	sim_time now = sim_now(queue->host->sockets->sim);

	sim_schedule_at(&queue->event, at > now ? at : now);
}

void softirq_add(struct queue *queue, const struct merge *merge)
{
	if (!queue->merges)
		queue->merges = calloc(queue->most, sizeof(*queue->merges));
	assert(queue->merges && queue->merge_count < queue->most);
	queue->merges[queue->merge_count++] = *merge;
}

/* Begins one poll: takes frames, and plans the arrival of their segments. */
static void poll(struct queue *queue, bool interrupt)
{
	struct socket_host *host = queue->host;
	const struct socket_params *params = host->sockets->params;
	sim_time before = interrupt ? params->interrupt_work + params->poll_work : 0;
	uint64_t work[CPU_KIND_COUNT] = {0};

	work[CPU_interrupt] = interrupt ? before : params->poll_work;
	host->softirq.interrupts += interrupt;
	host->softirq.polls++;
	queue->taken = host->netdev ? frames_take(queue, work) : network_take(queue, work);
	queue->at = sim_now(host->sockets->sim) + (interrupt ? 0 : params->poll_work);
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		queue->at += kind == CPU_interrupt ? 0 : work[kind];
	for (uint32_t i = 0; i < queue->merge_count; i++)
		work[CPU_receive] += queue->merges[i].cost;
	core_of(queue)->frames += queue->taken;
	host->softirq.frames += queue->taken;
	(void)occupy(queue, work, before);
	queue->state = QUEUE_POLLING;
	queue->next = 0;
	if (queue->merge_count)
		queue->at += queue->merges[0].cost;
	schedule(queue, queue->at);
}

static void end_of_softirq(struct core *core)
{
	core->polling--;
	if (core->polling == 0)
		core->threaded = false;
}

/* Returns the time of the next poll of the queue. ksoftirqd and a program have equal shares. */
static sim_time next_poll(struct queue *queue)
{
	struct socket_host *host = queue->host;
	const struct sockets *sockets = host->sockets;
	struct core *core = core_of(queue);
	sim_time now = sim_now(sockets->sim);

	if (!core->threaded && (core->frames >= sockets->params->budget ||
				now - core->since >= sockets->params->budget_time)) {
		core->threaded = true;
		host->softirq.squeezed++;
	}
	if (core->threaded && sockets->services->runs(sockets->context, host->number, queue->core))
		return core->busy_until + (now - queue->polled_at);
	return core->busy_until;
}

static void finish(struct queue *queue)
{
	if (queue->taken == queue->most && queue->count) {
		queue->state = QUEUE_AGAIN;
		schedule(queue, next_poll(queue));
		return;
	}
	end_of_softirq(core_of(queue));
	queue->state = queue->count ? QUEUE_ARMED : QUEUE_IDLE;
	if (queue->count)
		schedule(queue, queue->poll_at);
}

/* A segment of the poll has been processed. */
static void arrive(struct queue *queue)
{
	if (queue->next < queue->merge_count) {
		struct merge *merge = &queue->merges[queue->next++];

		queue->host->softirq.segments++;
		if (merge->segment)
			network_deliver(merge->segment);
		else
			frames_deliver(queue->host, merge);
		if (queue->next < queue->merge_count) {
			queue->at += queue->merges[queue->next].cost;
			schedule(queue, queue->at);
			return;
		}
	}
	queue->merge_count = 0;
	finish(queue);
}

static void interrupt(struct queue *queue)
{
	const struct sockets *sockets = queue->host->sockets;
	struct core *core = core_of(queue);
	sim_time start =
		core->busy_until + sockets->params->interrupt_work + sockets->params->poll_work;
	sim_time now = sim_now(sockets->sim);

	if (queue->poll_at > now) { /* more frames came */
		schedule(queue, queue->poll_at);
		return;
	}
	if (core->busy_until > 0 && start > now) {
		schedule(queue, start);
		return;
	}
	if (core->polling++ == 0) {
		core->frames = 0;
		core->since = now;
	}
	queue->polled_at = now;
	poll(queue, true);
}

static void step(struct event *event)
{
	struct queue *queue = container_of(event, struct queue, event);

	switch (queue->state) {
	case QUEUE_ARMED:
		interrupt(queue);
		break;
	case QUEUE_AGAIN:
		if (core_of(queue)->busy_until > sim_now(queue->host->sockets->sim)) {
			schedule(queue, core_of(queue)->busy_until); /* of another queue */
			break;
		}
		queue->polled_at = sim_now(queue->host->sockets->sim);
		poll(queue, false);
		break;
	case QUEUE_POLLING:
		arrive(queue);
		break;
	case QUEUE_IDLE:
		break;
	}
}

static void begin(struct queue *queue)
{
	if (queue->state != QUEUE_IDLE)
		return;
	queue->state = QUEUE_ARMED;
	schedule(queue, queue->poll_at);
}

static bool is_full(struct queue *queue)
{
	bool full = queue->count == queue->host->sockets->params->ring;

	queue->host->softirq.ring_drops += full;
	return full;
}

bool softirq_put_segment(struct queue *queue, struct segment *segment)
{
	if (is_full(queue))
		return false;
	segment->next = NULL;
	if (queue->count)
		queue->last_segment->next = segment;
	else
		queue->first_segment = segment;
	queue->last_segment = segment;
	queue->count++;
	queue->poll_at = sim_now(queue->host->sockets->sim);
	begin(queue);
	return true;
}

struct segment *softirq_get_segment(struct queue *queue)
{
	struct segment *segment = queue->count ? queue->first_segment : NULL;

	if (segment) {
		queue->first_segment = segment->next;
		queue->count--;
	}
	return segment;
}

bool softirq_put(struct queue *queue, struct packet *packet)
{
	const struct socket_params *params = queue->host->sockets->params;
	sim_time now = sim_now(queue->host->sockets->sim);

	if (is_full(queue))
		return false;
	packet->next = NULL;
	queue->poll_at = now + params->interrupt;
	if (queue->count) {
		queue->last->next = packet;
		if (queue->poll_at > queue->poll_until)
			queue->poll_at = queue->poll_until;
	} else {
		queue->first = packet;
		queue->poll_until =
			now + (params->moderation > params->interrupt ? params->moderation
								      : params->interrupt);
	}
	queue->last = packet;
	queue->count++;
	begin(queue);
	return true;
}

struct packet *softirq_get(struct queue *queue)
{
	struct packet *packet = queue->first;

	if (packet) {
		queue->first = packet->next;
		queue->count--;
	}
	return packet;
}

sim_time sockets_core_free(const struct sockets *sockets, uint32_t host, uint32_t core)
{
	return sockets->hosts[host]->cores[core].busy_until;
}

/* ---- */

bool sockets_are_possible(const struct socket_params *params, char *error, size_t error_bytes)
{
	uint8_t key[RSS_KEY_BYTES];

	if (rss_read_key(params->rss_key.text, key))
		return true;
	snprintf(error, error_bytes, "sockets.rss_key is \"%s\"; expected %d hexadecimal digits",
		 params->rss_key.text, 2 * RSS_KEY_BYTES);
	return false;
}

void softirq_init_host(struct socket_host *host, const char *name)
{
	struct sockets *sockets = host->sockets;
	char block[96];

	snprintf(block, sizeof(block), "%s.softirq", name);
	block_init(&host->softirq_block, sockets->sim, &softirq_type, block, NULL, &host->softirq);
	host->cores = calloc(sockets->cores, sizeof(*host->cores));
	host->queues = calloc(sockets->queues, sizeof(*host->queues));
	assert(host->cores && host->queues);
	for (uint32_t i = 0; i < sockets->queues; i++) {
		host->queues[i].host = host;
		host->queues[i].most = (uint32_t)sockets->params->weight;
		host->queues[i].core = i % sockets->cores;
		event_init(&host->queues[i].event, &host->softirq_block, step);
	}
}

void softirq_fini_host(struct socket_host *host)
{
	struct packet *packet;

	for (uint32_t i = 0; i < host->sockets->queues; i++) {
		struct queue *queue = &host->queues[i];

		sim_cancel(&queue->event);
		while (host->netdev && queue->next < queue->merge_count)
			frames_drop(host, &queue->merges[queue->next++]);
		while (host->netdev && (packet = softirq_get(queue)) != NULL)
			packet_free(netdev_packets(host->netdev), packet);
		free(queue->merges);
	}
	block_fini(&host->softirq_block);
	free(host->cores);
	free(host->queues);
}
