/* player: see player.h. */
#include "scenarios/workload/player.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "sim/pool.h"

#define READ_BYTES_MAX (UINT64_C(1) << 30)

struct pair {                       /* of hosts: their queue pairs of one number */
	uint64_t key;               /* 0: free */
	struct endpoint_qp *sender; /* where the data comes from */
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
	uint32_t marks, cnps; /* of the queue pairs, before */
	sim_time paused;
	bool failed;
};

struct start {
	sim_time at;
	uint32_t flow;
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
	struct start *starts; /* a heap: the earliest first, of equals the lower number */
	uint32_t start_count;
	struct pool posts;
	struct event start;
	struct block block;
};

static void release(struct player *player, uint32_t flow, bool arrival);

/* ---- what begins when ---- */

static bool before(const struct start *one, const struct start *other)
{
	return one->at != other->at ? one->at < other->at : one->flow < other->flow;
}

static void push_start(struct player *player, sim_time at, uint32_t flow)
{
	const struct start start = {at, flow};
	uint32_t place = player->start_count++;

	while (place && before(&start, &player->starts[(place - 1) / 2])) {
		player->starts[place] = player->starts[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	player->starts[place] = start;
}

static uint32_t pop_start(struct player *player)
{
	uint32_t flow = player->starts[0].flow, place = 0;
	struct start last = player->starts[--player->start_count];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= player->start_count)
			break;
		if (child + 1 < player->start_count &&
		    before(&player->starts[child + 1], &player->starts[child]))
			child++;
		if (!before(&player->starts[child], &last))
			break;
		player->starts[place] = player->starts[child];
		place = child;
	}
	player->starts[place] = last;
	return flow;
}

static void schedule_start(struct player *player)
{
	sim_time at = player->start_count ? player->starts[0].at : SIM_NEVER;

	if (event_pending(&player->start)) {
		if (event_time(&player->start) == at)
			return;
		sim_cancel(&player->start);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&player->start, at);
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
	const struct port *port = endpoint_port(endpoint_of(sender));

	record->finished = sim_now(player->block.sim);
	record->status = play->failed ? FLOW_failed : FLOW_done;
	record->marked = endpoint_marks(endpoint_peer(sender)) - play->marks;
	record->cnps = endpoint_cnps(sender) - play->cnps;
	record->paused =
		port_paused_time(port, port_lane(port, endpoint_path(sender)->service_level)) -
		play->paused;
	if (play->failed) /* what waits for it never begins */
		return;
	if (what->operation == WORKLOAD_READ || what->operation == WORKLOAD_ATOMIC) {
		record->arrived = record->finished;
		release(player, flow, true);
	}
	release(player, flow, false);
}

static void post_next(struct player *player, struct post *post);

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
		pool_give(&player->posts, post);
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

	record->ready = sim_now(player->block.sim);
	if (workload_is_barrier(what)) {
		record->status = FLOW_done;
		record->finished = record->ready;
		release(player, flow, true);
		release(player, flow, false);
		return;
	}
	sender = play->pair->sender;
	port = endpoint_port(endpoint_of(sender));
	record->status = FLOW_under_way;
	play->marks = endpoint_marks(endpoint_peer(sender));
	play->cnps = endpoint_cnps(sender);
	play->paused =
		port_paused_time(port, port_lane(port, endpoint_path(sender)->service_level));
	play->bytes_left = what->bytes;
	play->messages_left = (uint32_t)((what->bytes - 1) / most + 1);
	play->undelivered = play->messages_left;
	for (uint64_t i = 0; i < player->params->post_list && play->bytes_left; i++) {
		struct post *post = pool_take(&player->posts);

		post->player = player;
		post->flow = flow;
		post_next(player, post);
	}
}

static void start_fire(struct event *event)
{
	struct player *player = container_of(event, struct player, start);
	sim_time now = sim_now(player->block.sim);

	while (player->start_count && player->starts[0].at <= now)
		begin(player, pop_start(player));
	schedule_start(player);
}

static void delivered(struct endpoint_user *user, struct endpoint_qp *qp, uint32_t tag)
{
	struct player *player = (struct player *)(void *)user;
	uint32_t flow = tag - 1;

	(void)qp;
	assert(tag && flow < player->workload->count && player->plays[flow].undelivered);
	if (--player->plays[flow].undelivered)
		return;
	player->records[flow].arrived = sim_now(player->block.sim);
	release(player, flow, true);
	schedule_start(player);
}

/* ---- what waits for what ---- */

/* Does `then` wait for the arrival of `first`, or for its completion at the sender? */
static bool waits_for_arrival(const struct workload_flow *first, const struct workload_flow *then)
{
	return !workload_is_barrier(then) && then->source == first->destination;
}

static void enter(struct player *player, uint32_t flow, sim_time at)
{
	if (at <= player->params->stop)
		push_start(player, at, flow);
}

static void release(struct player *player, uint32_t flow, bool arrival)
{
	const struct workload *workload = player->workload;
	const struct workload_flow *first = &workload->flows[flow];
	sim_time now = sim_now(player->block.sim);

	for (uint32_t i = 0; i < first->next_count; i++) {
		uint32_t then = workload->next[first->first_next + i];

		if (waits_for_arrival(first, &workload->flows[then]) == arrival &&
		    --player->plays[then].waits == 0)
			enter(player, then, now + workload->flows[then].start);
	}
	schedule_start(player);
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
	return player->start_count == 0;
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
	pool_init(&player->posts, sizeof(struct post), 0);
	event_init(&player->start, &player->block, start_fire);
	join(player);
	for (uint32_t i = 0; i < workload->hosts; i++)
		endpoint_set_user(hcas[i], &player->user);
	for (uint32_t i = 0; i < workload->count; i++) {
		describe(player, i);
		player->plays[i].waits = workload->flows[i].waits;
		if (!player->plays[i].waits)
			enter(player, i, workload->flows[i].start);
	}
	schedule_start(player);
	return player;
}

void player_destroy(struct player *player)
{
	sim_cancel(&player->start);
	pool_fini(&player->posts);
	free(player->plays);
	free(player->records);
	free(player->starts);
	free(player->pairs);
	block_fini(&player->block);
	free(player);
}
