/* player: see player.h. */
#include "scenarios/workload/player.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "sim/parallel.h"
#include "sim/pool.h"

#define READ_BYTES_MAX (UINT64_C(1) << 30)

struct pair {                       /* of hosts: their queue pairs of one number */
	uint64_t key;               /* 0: free */
	struct endpoint_qp *sender; /* where the data comes from */
	uint32_t marks_told;        /* marked packets that came, of flows that have arrived */
	struct ideal_path way;
};

struct post {
	struct endpoint_message message; /* first */
	struct player *player;
	uint32_t flow;
};

struct play {
	struct pair *pair;
	uint64_t bytes_left;    /* not posted */
	uint32_t messages_left; /* not complete */
	uint32_t undelivered;
	uint32_t waits;
	uint32_t cnps; /* of the sender, before */
	sim_time paused;
	bool failed;
};

struct start {
	sim_time at;
	uint32_t flow;
};

/* What begins at a host, its requester's: one event, of a block of its own. */
struct player_host {
	struct player *player;
	struct start *starts; /* a heap: the earliest first, of equals the lower number */
	uint32_t start_count;
	struct event start;
	struct block block;
};

struct player {
	struct endpoint_user user; /* first */
	const struct workload *workload;
	const struct player_params *params;
	struct endpoint_hca *const *hcas;
	const struct endpoint_params *endpoint_params;
	player_way_function *way;
	void *context;
	struct play *plays;
	struct flow_record *records;
	struct pair *pairs;
	uint64_t pair_mask;
	struct player_host *hosts;
	struct start *starts;             /* [flows] of all hosts */
	struct pool posts[SIM_PARTS_MAX]; /* of each part of the run */
	struct block block;
};

static void release(struct player *player, uint32_t flow, bool arrival, sim_time now);
static void arrive(struct player *player, uint32_t flow, sim_time now, uint32_t marks);

/* ---- what begins when ---- */

static bool before(const struct start *one, const struct start *other)
{
	return one->at != other->at ? one->at < other->at : one->flow < other->flow;
}

static void push_start(struct player_host *host, sim_time at, uint32_t flow)
{
	const struct start start = {at, flow};
	uint32_t place = host->start_count++;

	while (place && before(&start, &host->starts[(place - 1) / 2])) {
		host->starts[place] = host->starts[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	host->starts[place] = start;
}

static uint32_t pop_start(struct player_host *host)
{
	uint32_t flow = host->starts[0].flow, place = 0;
	struct start last = host->starts[--host->start_count];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= host->start_count)
			break;
		if (child + 1 < host->start_count &&
		    before(&host->starts[child + 1], &host->starts[child]))
			child++;
		if (!before(&host->starts[child], &last))
			break;
		host->starts[place] = host->starts[child];
		place = child;
	}
	host->starts[place] = last;
	return flow;
}

static void schedule_start(struct player_host *host)
{
	sim_time at = host->start_count ? host->starts[0].at : SIM_NEVER;

	if (event_pending(&host->start)) {
		if (event_time(&host->start) == at)
			return;
		sim_cancel(&host->start);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&host->start, at);
}

/* ---- one flow ---- */

static struct endpoint_qp *requester_of(const struct play *play, unsigned operation)
{
	return operation == WORKLOAD_READ ? endpoint_peer(play->pair->sender) : play->pair->sender;
}

static void finish(struct player *player, uint32_t flow)
{
	const struct workload_flow *what = &player->workload->flows[flow];
	struct flow_record *record = &player->records[flow];
	struct play *play = &player->plays[flow];
	struct endpoint_qp *sender = play->pair->sender;
	struct endpoint_qp *requester = requester_of(play, what->operation);
	const struct port *port = endpoint_port(endpoint_of(sender));
	sim_time now = sim_now(endpoint_sim(endpoint_of(requester)));

	record->finished = now;
	record->status = play->failed ? FLOW_failed : FLOW_done;
	record->cnps = endpoint_cnps(sender) - play->cnps;
	record->paused =
		port_paused_time(port, port_lane(port, endpoint_path(sender)->service_level)) -
		play->paused;
	if (play->failed) /* what waits for it never begins */
		return;
	if (what->operation == WORKLOAD_READ)
		arrive(player, flow, now, endpoint_marks(requester));
	else if (what->operation == WORKLOAD_ATOMIC)
		arrive(player, flow, now, play->pair->marks_told);
	release(player, flow, false, now);
}

static void post_next(struct player *player, struct post *post);

static struct pool *posts_of(struct player *player, uint32_t flow)
{
	uint32_t host = workload_home(&player->workload->flows[flow]);

	return &player->posts[sim_part_of(endpoint_sim(player->hcas[host]))];
}

static void message_done(struct endpoint_message *message)
{
	struct post *post = (struct post *)(void *)message;
	struct player *player = post->player;
	struct play *play = &player->plays[post->flow];
	struct flow_record *record = &player->records[post->flow];
	uint32_t flow = post->flow;

	if (message->started_at && (!record->started || message->started_at < record->started))
		record->started = message->started_at;
	record->packets += message->packets_sent;
	record->resent += message->packets_resent;
	play->failed |= message->status != ENDPOINT_OK;
	play->messages_left--;
	if (play->bytes_left)
		post_next(player, post);
	else
		pool_give(posts_of(player, flow), post);
	if (!play->messages_left)
		finish(player, flow);
}

static uint64_t message_bytes(const struct player *player, uint32_t flow)
{
	uint64_t bytes = player->params->message;

	if (player->workload->flows[flow].operation == WORKLOAD_READ &&
	    (!bytes || bytes > READ_BYTES_MAX))
		return READ_BYTES_MAX;
	return bytes ? bytes : UINT64_MAX;
}

static void post_next(struct player *player, struct post *post)
{
	static const enum endpoint_operation operations[] = {
		[WORKLOAD_WRITE] = ENDPOINT_WRITE,
		[WORKLOAD_SEND] = ENDPOINT_SEND,
		[WORKLOAD_READ] = ENDPOINT_READ,
		[WORKLOAD_ATOMIC] = ENDPOINT_ATOMIC,
	};
	struct play *play = &player->plays[post->flow];
	unsigned operation = player->workload->flows[post->flow].operation;
	uint64_t most = message_bytes(player, post->flow);

	memset(&post->message, 0, sizeof(post->message));
	post->message.bytes = play->bytes_left < most ? play->bytes_left : most;
	post->message.operation = operations[operation];
	post->message.tag = post->flow + 1;
	post->message.done = message_done;
	play->bytes_left -= post->message.bytes;
	endpoint_post(requester_of(play, operation), &post->message);
}

static void begin(struct player *player, uint32_t flow)
{
	const struct workload_flow *what = &player->workload->flows[flow];
	struct flow_record *record = &player->records[flow];
	struct play *play = &player->plays[flow];
	uint64_t most = message_bytes(player, flow);
	struct endpoint_qp *sender;
	const struct port *port;

	record->ready = sim_now(endpoint_sim(player->hcas[workload_home(what)]));
	if (workload_is_barrier(what)) {
		record->status = FLOW_done;
		record->finished = record->ready;
		release(player, flow, true, record->ready);
		release(player, flow, false, record->ready);
		return;
	}
	sender = play->pair->sender;
	port = endpoint_port(endpoint_of(sender));
	record->status = FLOW_under_way;
	play->cnps = endpoint_cnps(sender);
	play->paused =
		port_paused_time(port, port_lane(port, endpoint_path(sender)->service_level));
	play->bytes_left = what->bytes;
	play->messages_left = (uint32_t)((what->bytes - 1) / most + 1);
	play->undelivered = play->messages_left;
	for (uint64_t i = 0; i < player->params->post_list && play->bytes_left; i++) {
		struct post *post = pool_take(posts_of(player, flow));

		post->player = player;
		post->flow = flow;
		post_next(player, post);
	}
}

static void start_fire(struct event *event)
{
	struct player_host *host = container_of(event, struct player_host, start);
	sim_time now = sim_now(host->block.sim);

	while (host->start_count && host->starts[0].at <= now)
		begin(host->player, pop_start(host));
	schedule_start(host);
}

/* At the host where the data come to. */
static void arrive(struct player *player, uint32_t flow, sim_time now, uint32_t marks)
{
	struct pair *pair = player->plays[flow].pair;

	player->records[flow].arrived = now;
	player->records[flow].marked = marks - pair->marks_told;
	pair->marks_told = marks;
	release(player, flow, true, now);
}

static void delivered(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag)
{
	struct player *player = (struct player *)(void *)user;
	uint32_t flow = tag - 1;

	assert(tag && flow < player->workload->count && player->plays[flow].undelivered);
	if (--player->plays[flow].undelivered == 0)
		arrive(player, flow, sim_now(endpoint_sim(endpoint_of(qp))), endpoint_marks(qp));
}

/* ---- what waits for what ---- */

static void enter(struct player *player, uint32_t flow, sim_time at)
{
	struct player_host *host = &player->hosts[workload_home(&player->workload->flows[flow])];

	if (at > player->params->stop)
		return;
	push_start(host, at, flow);
	schedule_start(host);
}

static void release(struct player *player, uint32_t flow, bool arrival, sim_time now)
{
	const struct workload *workload = player->workload;
	const struct workload_flow *first = &workload->flows[flow];

	for (uint32_t i = 0; i < first->next_count; i++) {
		uint32_t then = workload->next[first->first_next + i];

		if (workload_waits_for_arrival(first, &workload->flows[then]) == arrival &&
		    --player->plays[then].waits == 0)
			enter(player, then, now + workload->flows[then].start);
	}
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
			pair->sender = endpoint_join(
				player->hcas[flow->source], player->hcas[flow->destination],
				service_level_of(player, flow), flow->queue_pair);
			pair->way = player->way(player->context, flow->source, flow->destination);
		}
		player->plays[i].pair = pair;
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
	const struct port *port = endpoint_port(player->hcas[flow->source]);

	player->records[number].hops = play->pair->way.hops;
	player->records[number].ideal =
		ideal_time(player->endpoint_params, (uint32_t)port_params(port)->mtu,
			   endpoint_path(play->pair->sender), &play->pair->way,
			   (enum workload_operation)flow->operation, flow->bytes);
}

bool player_finished(const struct player *player)
{
	for (uint32_t i = 0; i < player->workload->count; i++)
		if (player->records[i].status == FLOW_under_way)
			return false;
	for (uint32_t i = 0; i < player->workload->hosts; i++)
		if (player->hosts[i].start_count)
			return false;
	return true;
}

struct endpoint_qp *player_requester(const struct player *player, uint32_t flow)
{
	const struct workload_flow *what = &player->workload->flows[flow];

	return workload_is_barrier(what) ? NULL
					 : requester_of(&player->plays[flow], what->operation);
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

static void create_hosts(struct player *player)
{
	const struct workload *workload = player->workload;
	struct start *starts = player->starts;
	uint32_t *counts = calloc(workload->hosts + 1, sizeof(counts[0]));
	char name[64];

	player->hosts = calloc(workload->hosts + 1, sizeof(player->hosts[0]));
	assert(player->hosts && counts);
	for (uint32_t i = 0; i < workload->count; i++)
		counts[workload_home(&workload->flows[i])]++;
	for (uint32_t i = 0; i < workload->hosts; i++) {
		struct player_host *host = &player->hosts[i];

		snprintf(name, sizeof(name), "workload.%u", i);
		block_init(&host->block, endpoint_sim(player->hcas[i]), &player_host_type, name,
			   NULL, NULL);
		event_init(&host->start, &host->block, start_fire);
		host->player = player;
		host->starts = starts;
		starts += counts[i];
	}
	free(counts);
}

struct player *player_create(struct sim *sim, const struct workload *workload,
			     const struct player_params *params, struct endpoint_hca *const *hcas,
			     const struct endpoint_params *endpoint_params,
			     player_way_function *way, void *context)
{
	struct player *player = calloc(1, sizeof(*player));

	assert(player);
	block_init(&player->block, sim, &player_type, "workload", params, NULL);
	player->user.delivered = delivered;
	player->workload = workload;
	player->params = params;
	player->hcas = hcas;
	player->endpoint_params = endpoint_params;
	player->way = way;
	player->context = context;
	player->plays = calloc(workload->count + 1, sizeof(player->plays[0]));
	player->records = calloc(workload->count + 1, sizeof(player->records[0]));
	player->starts = calloc(workload->count + 1, sizeof(player->starts[0]));
	assert(player->plays && player->records && player->starts);
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_init(&player->posts[i], sizeof(struct post), 0);
	create_hosts(player);
	join(player);
	for (uint32_t i = 0; i < workload->hosts; i++)
		endpoint_set_user(hcas[i], &player->user);
	for (uint32_t i = 0; i < workload->count; i++) {
		describe(player, i);
		player->plays[i].waits = workload->flows[i].waits;
		if (!player->plays[i].waits)
			enter(player, i, workload->flows[i].start);
	}
	return player;
}

void player_destroy(struct player *player)
{
	for (uint32_t i = 0; i < player->workload->hosts; i++) {
		sim_cancel(&player->hosts[i].start);
		block_fini(&player->hosts[i].block);
	}
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_fini(&player->posts[i]);
	free(player->hosts);
	free(player->plays);
	free(player->records);
	free(player->starts);
	free(player->pairs);
	block_fini(&player->block);
	free(player);
}
