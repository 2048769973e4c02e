/* SPDX-License-Identifier: Apache-2.0 */
/* player: see player.h. */
#include "traffic/workload/player.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "traffic/workload/agenda.h"
#include "traffic/workload/waits.h"

#define READ_BYTES_MAX (UINT64_C(1) << 30)

struct pair {                      /* of hosts: their queue pairs of one number */
	uint64_t key;              /* 0: free */
	struct backend_qp *sender; /* where the data comes from */
	uint32_t marks_told;       /* marked packets that came, of flows that have arrived */
	struct ideal_path way;
};

struct play {
	struct pair *pair;
	uint64_t bytes_left;    /* not posted */
	uint32_t messages_left; /* not complete */
	uint32_t undelivered;
	bool failed;
	/* at the host that the data come from */
	bool sends;
	uint32_t cnps; /* of the sender, before */
	sim_time paused;
};

/* What begins at a host, its requester's. */
struct player_host {
	struct agenda agendas[AGENDAS];
	struct block block;
};

struct player {
	struct backend_user user; /* first */
	struct waits_user waits_user;
	struct waits *waits;
	const struct workload *workload;
	const struct player_params *params;
	struct backend *backend;
	const struct backend_ops *ops; /* the backend's */
	player_way_function *way;
	void *context;
	struct play *plays;
	struct flow_record *records;
	struct pair *pairs;
	uint64_t pair_mask;
	struct player_host *hosts;
	struct start *starts; /* [flows] of all hosts */
	struct block block;
};

static void arrive(struct player *player, uint32_t flow, sim_time now);
static void arrive_unmarked(struct player *player, uint32_t flow, sim_time now);

/* ---- one flow ---- */

static sim_time time_at(const struct player *player, uint32_t host)
{
	return sim_now(port_sim(player->ops->port(player->backend, host)));
}

static sim_time sender_paused(const struct player *player, uint32_t flow)
{
	const struct path *path = player->ops->path(player->plays[flow].pair->sender);
	const struct port *port =
		player->ops->port(player->backend, player->workload->flows[flow].source);

	return port_paused_time(port, port_lane(port, path->service_level));
}

/* What happens to the sender of the data, at its host: of a read, from its request's arrival to the last response. */
static void sender_begins(struct player *player, uint32_t flow)
{
	struct play *play = &player->plays[flow];

	if (play->sends)
		return;
	play->sends = true;
	play->cnps = player->ops->cnps(play->pair->sender);
	play->paused = sender_paused(player, flow);
}

static void sender_ends(struct player *player, uint32_t flow)
{
	const struct play *play = &player->plays[flow];
	struct flow_record *record = &player->records[flow];

	record->cnps = player->ops->cnps(play->pair->sender) - play->cnps;
	record->paused = sender_paused(player, flow) - play->paused;
}

static void finish(struct player *player, uint32_t flow)
{
	const struct workload_flow *what = &player->workload->flows[flow];
	struct flow_record *record = &player->records[flow];
	struct play *play = &player->plays[flow];
	sim_time now = time_at(player, workload_home(what));

	record->finished = now;
	record->status = play->failed ? FLOW_failed : FLOW_done;
	if (what->operation != WORKLOAD_READ)
		sender_ends(player, flow);
	if (play->failed) /* what waits for it never begins */
		return;
	if (what->operation == WORKLOAD_READ)
		arrive(player, flow, now);
	else if (what->operation == WORKLOAD_ATOMIC)
		arrive_unmarked(player, flow, now);
	waits_happened(player->waits, flow, false, now);
}

static uint64_t message_bytes(const struct player *player, uint32_t flow)
{
	uint64_t bytes = player->params->message, most = player->backend->message_max;

	if (player->workload->flows[flow].operation == WORKLOAD_READ && READ_BYTES_MAX < most)
		most = READ_BYTES_MAX;
	return bytes && bytes < most ? bytes : most;
}

static uint64_t message_count(const struct player *player, uint32_t flow)
{
	return (player->workload->flows[flow].bytes - 1) / message_bytes(player, flow) + 1;
}

static void post_next(struct player *player, uint32_t flow)
{
	struct play *play = &player->plays[flow];
	uint64_t most = message_bytes(player, flow);
	uint64_t bytes = play->bytes_left < most ? play->bytes_left : most;

	play->bytes_left -= bytes;
	player->ops->post(player->backend, play->pair->sender, flow,
			  (enum workload_operation)player->workload->flows[flow].operation, bytes);
}

static void add_report(struct flow_record *record, const struct backend_report *report)
{
	if (report->started_at && (!record->started || report->started_at < record->started))
		record->started = report->started_at;
	record->packets += report->packets_sent;
	record->resent += report->packets_resent;
}

static void message_done(struct backend_user *user, uint32_t flow,
			 const struct backend_report *report)
{
	struct player *player = (struct player *)(void *)user;
	struct play *play = &player->plays[flow];

	add_report(&player->records[flow], report);
	play->failed |= report->failed;
	play->messages_left--;
	if (play->bytes_left)
		post_next(player, flow);
	if (!play->messages_left)
		finish(player, flow);
}

static void begin(void *context, uint32_t flow)
{
	struct player *player = context;
	const struct workload_flow *what = &player->workload->flows[flow];
	struct flow_record *record = &player->records[flow];
	struct play *play = &player->plays[flow];

	record->ready = time_at(player, workload_home(what));
	if (workload_is_barrier(what)) {
		record->status = FLOW_done;
		record->finished = record->ready;
		waits_happened(player->waits, flow, true, record->ready);
		waits_happened(player->waits, flow, false, record->ready);
		return;
	}
	record->status = FLOW_under_way;
	if (what->operation != WORKLOAD_READ)
		sender_begins(player, flow);
	play->bytes_left = what->bytes;
	play->messages_left = (uint32_t)message_count(player, flow);
	play->undelivered = play->messages_left;
	for (uint64_t i = 0; i < player->params->post_list && play->bytes_left; i++)
		post_next(player, flow);
}

static void arrive_unmarked(struct player *player, uint32_t flow, sim_time now)
{
	player->records[flow].arrived = now;
	waits_happened(player->waits, flow, true, now);
}

/* Those that came since the flow before it arrived. */
static void count_marks(struct player *player, uint32_t flow)
{
	struct pair *pair = player->plays[flow].pair;
	uint32_t marks = player->ops->marks(player->ops->peer(pair->sender));

	player->records[flow].marked = marks - pair->marks_told;
	pair->marks_told = marks;
}

/* At the host where the data come to. */
static void arrive(struct player *player, uint32_t flow, sim_time now)
{
	count_marks(player, flow);
	arrive_unmarked(player, flow, now);
}

static void delivered(struct backend_user *user, uint32_t flow)
{
	struct player *player = (struct player *)(void *)user;

	assert(flow < player->workload->count && player->plays[flow].undelivered);
	if (--player->plays[flow].undelivered == 0)
		arrive(player, flow, time_at(player, player->workload->flows[flow].destination));
}

static void read_begins(struct backend_user *user, uint32_t flow)
{
	sender_begins((struct player *)(void *)user, flow);
}

static void read_ends(struct backend_user *user, uint32_t flow)
{
	sender_ends((struct player *)(void *)user, flow);
}

/* ---- the end of a run ---- */

static void add_outstanding(void *context, uint32_t flow, const struct backend_report *so_far)
{
	struct player *player = context;

	add_report(&player->records[flow], so_far);
}

static int compare_ready(const void *one, const void *other)
{
	const struct flow_record *a = *(const struct flow_record *const *)one;
	const struct flow_record *b = *(const struct flow_record *const *)other;

	if (a->ready != b->ready)
		return a->ready < b->ready ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* Flows of one queue pair arrive in the order in which they became ready: the first has the marks since the last arrival. */
void player_end(struct player *player)
{
	const struct flow_record **flows = malloc((player->workload->count + 1) * sizeof(flows[0]));
	uint32_t count = 0;

	assert(flows);
	player->ops->outstanding(player->backend, add_outstanding, player);
	for (uint32_t i = 0; i < player->workload->count; i++)
		if (player->records[i].status == FLOW_under_way)
			flows[count++] = &player->records[i];
	qsort(flows, count, sizeof(flows[0]), compare_ready);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t flow = flows[i]->flow;

		if (!flows[i]->arrived && flows[i]->operation != WORKLOAD_ATOMIC)
			count_marks(player, flow);
		if (player->plays[flow].sends)
			sender_ends(player, flow);
	}
	free(flows);
}

/* ---- what waits for what ---- */

static void release(struct waits_user *user, uint32_t flow, sim_time at, bool told)
{
	struct player *player = container_of(user, struct player, waits_user);
	struct player_host *host = &player->hosts[workload_home(&player->workload->flows[flow])];
	enum agenda_kind kind = told ? AGENDA_TOLD : AGENDA_OWN;

	if (at > player->params->stop)
		return;
	agenda_add(&host->agendas[kind], at, flow);
}

static void reached(struct waits_user *user, uint32_t barrier, sim_time at)
{
	struct player *player = container_of(user, struct player, waits_user);
	struct flow_record *record = &player->records[barrier];

	if (at > player->params->stop)
		return;
	record->ready = record->finished = at;
	record->status = FLOW_done;
}

/* ---- queue pairs ---- */

static struct pair *find_pair(struct player *player, uint64_t key)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 20 & player->pair_mask;

	while (player->pairs[place].key && player->pairs[place].key != key)
		place = (place + 1) & player->pair_mask;
	return &player->pairs[place];
}

static unsigned service_level_of(const struct player *player, const struct workload_flow *flow)
{
	return (unsigned)(player->params->service_level +
			  flow->queue_pair % player->params->service_levels) %
	       16;
}

static void join(struct player *player)
{
	const struct workload *workload = player->workload;

	while (player->pair_mask < 2 * (uint64_t)workload->count)
		player->pair_mask = player->pair_mask * 2 + 1;
	player->pairs = calloc(player->pair_mask + 1, sizeof(player->pairs[0]));
	assert(player->pairs);
	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *flow = &workload->flows[i];
		uint64_t key = ((uint64_t)flow->source << 48 ^ (uint64_t)flow->destination << 32 ^
				flow->queue_pair) +
			       1;
		struct pair *pair = find_pair(player, key);

		if (workload_is_barrier(flow))
			continue;
		if (!pair->key) {
			pair->key = key;
			pair->sender = player->ops->join(
				player->backend,
				&(struct backend_pair){.source = flow->source,
						       .destination = flow->destination,
						       .service_level =
							       service_level_of(player, flow),
						       .entropy = flow->queue_pair});
			pair->way = player->way(player->context, flow->source, flow->destination);
		}
		player->plays[i].pair = pair;
		player->ops->plan(player->backend, pair->sender,
				  flow->bytes < message_bytes(player, i) ? flow->bytes
									 : message_bytes(player, i),
				  message_count(player, i),
				  (enum workload_operation)flow->operation);
	}
}

/* ---- life ---- */

static void describe(struct player *player, uint32_t number)
{
	const struct workload_flow *flow = &player->workload->flows[number];
	const struct play *play = &player->plays[number];

	player->records[number] = (struct flow_record){
		.flow = number,
		.source = flow->source,
		.destination = flow->destination,
		.operation = flow->operation,
		.queue_pair = flow->queue_pair,
		.bytes = flow->bytes,
		.incast = flow->incast,
		.status = FLOW_not_started,
	};
	if (workload_is_barrier(flow))
		return;
	const struct port *port = player->ops->port(player->backend, flow->source);

	player->records[number].hops = play->pair->way.hops;
	player->records[number].ideal =
		ideal_time(player->backend->ideal, (uint32_t)port_params(port)->mtu,
			   player->ops->path(play->pair->sender), &play->pair->way,
			   (enum workload_operation)flow->operation, flow->bytes);
}

bool player_finished(const struct player *player)
{
	for (uint32_t i = 0; i < player->workload->count; i++)
		if (player->records[i].status == FLOW_under_way)
			return false;
	for (uint32_t i = 0; i < player->workload->hosts; i++)
		if (player->hosts[i].agendas[AGENDA_OWN].count ||
		    player->hosts[i].agendas[AGENDA_TOLD].count)
			return false;
	return true;
}

static struct backend_qp *requester_of(const struct player *player, uint32_t flow)
{
	struct backend_qp *sender = player->plays[flow].pair->sender;

	return player->workload->flows[flow].operation == WORKLOAD_READ ? player->ops->peer(sender)
									: sender;
}

const struct backend_qp *player_requester(const struct player *player, uint32_t flow)
{
	return workload_is_barrier(&player->workload->flows[flow]) ? NULL
								   : requester_of(player, flow);
}

uint64_t player_acked_bytes(const struct player *player, uint32_t flow)
{
	return player->ops->acked_bytes(requester_of(player, flow));
}

uint64_t player_arrived_bytes(const struct player *player, uint32_t flow)
{
	return player->ops->arrived_bytes(requester_of(player, flow));
}

uint64_t player_rate_bps(const struct player *player, uint32_t flow)
{
	return player->ops->rate_bps(requester_of(player, flow));
}

const struct flow_record *player_records(const struct player *player)
{
	return player->records;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct player_params, __VA_ARGS__)
const struct param player_param_list[] = { PLAYER_PARAMS(ROW) { 0 } };

static const struct block_type player_type = {
	.name   = "player",
	.params = player_param_list,
};
/* clang-format on */

static const struct block_type player_host_type = {.name = "player_host"};

static void create_waits(struct player *player)
{
	const struct workload *workload = player->workload;
	struct sim **sims = calloc(workload->hosts + 1, sizeof(struct sim *));

	assert(sims);
	for (uint32_t i = 0; i < workload->hosts; i++)
		sims[i] = port_sim(player->ops->port(player->backend, i));
	player->waits_user = (struct waits_user){.release = release, .reached = reached};
	player->waits = waits_create(workload, player->params->notice, sims, &player->waits_user);
	free(sims);
}

static uint32_t *count_starts(const struct player *player)
{
	const struct workload *workload = player->workload;
	uint32_t *counts = calloc((size_t)AGENDAS * workload->hosts + 1, sizeof(counts[0]));

	assert(counts);
	for (uint32_t i = 0; i < workload->count; i++)
		counts[AGENDAS * workload_home(&workload->flows[i]) +
		       waits_told(player->waits, i)]++;
	return counts;
}

static void create_hosts(struct player *player)
{
	const struct workload *workload = player->workload;
	struct start *starts = player->starts;
	uint32_t *counts = count_starts(player);
	char name[64];

	player->hosts = calloc(workload->hosts + 1, sizeof(player->hosts[0]));
	assert(player->hosts);
	for (uint32_t i = 0; i < workload->hosts; i++) {
		struct player_host *host = &player->hosts[i];

		snprintf(name, sizeof(name), "workload.%u", i);
		block_init(&host->block, port_sim(player->ops->port(player->backend, i)),
			   &player_host_type, name, NULL, NULL);
		for (enum agenda_kind kind = 0; kind < AGENDAS; kind++) {
			agenda_init(&host->agendas[kind], &host->block, kind, starts, begin,
				    player);
			starts += counts[AGENDAS * i + kind];
		}
	}
	free(counts);
}

struct player *player_create(struct sim *sim, const struct workload *workload,
			     const struct player_params *params, struct backend *backend,
			     player_way_function *way, void *context)
{
	struct player *player = calloc(1, sizeof(*player));

	assert(player);
	block_init(&player->block, sim, &player_type, "workload", params, NULL);
	player->user = (struct backend_user){message_done, delivered, read_begins, read_ends};
	player->workload = workload;
	player->params = params;
	player->backend = backend;
	player->ops = backend->ops;
	backend->user = &player->user;
	player->way = way;
	player->context = context;
	player->plays = calloc(workload->count + 1, sizeof(player->plays[0]));
	player->records = calloc(workload->count + 1, sizeof(player->records[0]));
	player->starts = calloc(workload->count + 1, sizeof(player->starts[0]));
	assert(player->plays && player->records && player->starts);
	create_waits(player);
	create_hosts(player);
	join(player);
	player->ops->start(backend);
	for (uint32_t i = 0; i < workload->count; i++)
		describe(player, i);
	waits_start(player->waits);
	return player;
}

void player_destroy(struct player *player)
{
	for (uint32_t i = 0; i < player->workload->hosts; i++) {
		for (unsigned kind = 0; kind < AGENDAS; kind++)
			agenda_fini(&player->hosts[i].agendas[kind]);
		block_fini(&player->hosts[i].block);
	}
	waits_destroy(player->waits);
	free(player->hosts);
	free(player->plays);
	free(player->records);
	free(player->starts);
	free(player->pairs);
	block_fini(&player->block);
	free(player);
}
