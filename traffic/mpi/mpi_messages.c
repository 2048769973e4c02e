/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_messages: see mpi_messages.h. */
#include "traffic/mpi/mpi_messages.h"

#include <stdlib.h>
#include <string.h>

#include "sim/pool.h"

struct connection {
	uint64_t key;          /* 0: free */
	struct backend_qp *qp; /* at the host with the lower number */
};

struct mpi_message {
	struct mpi_messages *messages;
	struct event event; /* the receiver's program sees the message */
	struct mpi_message *next;
	void *user;
	uint32_t number; /* number of its record */
	uint32_t undone,
		/* pieces that have not been delivered; the HCA's maximum message size determines
		 * their number */
		undelivered;
	bool failed;
	bool seen; /* seen by the receiver's program; freed when `done` is also true */
};

struct mpi_messages {
	struct backend_user user; /* first */
	struct mpi_messages_uses uses;
	struct backend *backend;
	struct connection *connections; /* hash table, open addressing */
	uint64_t connection_mask, connection_count;
	struct flow_record *records;
	struct mpi_message **by_number; /* messages in flight */
	uint32_t count, capacity;
	struct mpi_message *ended, **ended_last;
	struct pool pool;
	uint64_t bytes, failed;
	struct block block;
};

/* ---- connections ---- */

static struct connection *find(struct mpi_messages *messages, uint64_t key)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 20 & messages->connection_mask;

	while (messages->connections[place].key && messages->connections[place].key != key)
		place = (place + 1) & messages->connection_mask;
	return &messages->connections[place];
}

static void grow(struct mpi_messages *messages)
{
	struct connection *old = messages->connections;
	uint64_t entries = old ? messages->connection_mask + 1 : 0;

	messages->connection_mask = entries ? 2 * entries - 1 : 255;
	messages->connections =
		calloc(messages->connection_mask + 1, sizeof(*messages->connections));
	assert(messages->connections);
	for (uint64_t i = 0; i < entries; i++)
		if (old[i].key)
			*find(messages, old[i].key) = old[i];
	free(old);
}

/* Opens the queue pair of a host that is connected with the other host. */
static struct backend_qp *open_connection(struct mpi_messages *messages, uint32_t source,
					  uint32_t destination)
{
	const struct backend_ops *ops = messages->backend->ops;
	uint32_t low = source < destination ? source : destination,
		 high = source ^ destination ^ low;
	uint64_t key = ((uint64_t)low << 32 | high) + 1;
	struct connection *connection;

	if (2 * (messages->connection_count + 1) > messages->connection_mask)
		grow(messages);
	connection = find(messages, key);
	if (!connection->key) {
		connection->key = key;
		connection->qp = ops->connect_pair(
			messages->backend,
			&(struct backend_pair){.source = low,
					       .destination = high,
					       .service_level = messages->uses.service_level});
		messages->connection_count++;
	}
	return source == low ? connection->qp : ops->peer(connection->qp);
}

/* ---- one message ---- */

static void release(struct mpi_message *message)
{
	struct mpi_messages *messages = message->messages;

	if (message->undone || !message->seen)
		return;
	messages->by_number[message->number] = NULL;
	pool_give(&messages->pool, message);
}

static void end(struct mpi_message *message)
{
	struct mpi_messages *messages = message->messages;

	message->next = NULL;
	*messages->ended_last = message;
	messages->ended_last = &message->next;
	sim_stop(messages->uses.sim);
}

static void see(struct event *event)
{
	end(container_of(event, struct mpi_message, event));
}

static void delivered(struct backend_user *user, uint32_t flow)
{
	struct mpi_messages *messages = (struct mpi_messages *)(void *)user;
	struct mpi_message *message = messages->by_number[flow];
	struct flow_record *record = &messages->records[flow];

	if (--message->undelivered)
		return;
	record->arrived = sim_now(messages->uses.sim);
	sim_schedule(&message->event,
		     messages->uses.complete_latency(messages->uses.context, record->destination));
}

static void add_report(void *context, uint32_t flow, const struct backend_report *report)
{
	const struct mpi_messages *messages = context;
	struct flow_record *record = &messages->records[flow];

	if (!record->started)
		record->started = report->started_at;
	record->packets += report->packets_sent;
	record->retransmitted += report->packets_retransmitted;
}

static void done(struct backend_user *user, uint32_t flow, const struct backend_report *report)
{
	struct mpi_messages *messages = (struct mpi_messages *)(void *)user;
	struct mpi_message *message = messages->by_number[flow];
	struct flow_record *record = &messages->records[flow];

	add_report(messages, flow, report);
	message->failed |= report->failed;
	if (--message->undone)
		return;
	record->finished = sim_now(messages->uses.sim);
	record->status = message->failed ? FLOW_failed : FLOW_done;
	if (message->failed && !message->seen && !event_pending(&message->event)) {
		messages->failed++;
		end(message);
	}
	release(message);
}

/* Sends alone are posted. */
static void ignore_read(struct backend_user *user, uint32_t flow)
{
	(void)user, (void)flow;
}

static uint32_t add_record(struct mpi_messages *messages, uint32_t source, uint32_t destination,
			   uint64_t bytes, const struct backend_qp *qp)
{
	unsigned hops = 0;
	sim_time ideal =
		messages->uses.ideal(messages->uses.context, source, destination, qp, bytes, &hops);
	uint32_t number = messages->count++;

	if (number == messages->capacity) {
		messages->capacity = messages->capacity ? 2 * messages->capacity : 1024;
		messages->records =
			realloc(messages->records, messages->capacity * sizeof(*messages->records));
		messages->by_number = realloc(messages->by_number,
					      messages->capacity * sizeof(struct mpi_message *));
		assert(messages->records && messages->by_number);
	}
	messages->records[number] = (struct flow_record){
		.flow = number,
		.source = source,
		.destination = destination,
		.operation = WORKLOAD_SEND,
		.hops = hops,
		.bytes = bytes,
		.ready = sim_now(messages->uses.sim),
		.ideal = ideal,
		.status = FLOW_under_way,
	};
	return number;
}

/* A message that ends stops a run. */
void mpi_messages_reach(struct mpi_messages *messages, sim_time now)
{
	while (sim_now(messages->uses.sim) < now)
		sim_run(messages->uses.sim, now);
}

static void post(struct mpi_messages *messages, struct mpi_message *message, struct backend_qp *qp,
		 uint64_t bytes)
{
	uint64_t most = messages->backend->message_max;

	message->undone = message->undelivered = (uint32_t)((bytes - 1) / most + 1);
	for (; bytes > 0; bytes -= bytes < most ? bytes : most)
		messages->backend->ops->post(messages->backend, qp, message->number, WORKLOAD_SEND,
					     bytes < most ? bytes : most);
}

const char *mpi_messages_send(struct mpi_messages *messages, sim_time now, uint32_t source,
			      uint32_t destination, uint64_t bytes, void *user)
{
	struct mpi_message *message;
	struct backend_qp *qp;
	const char *trouble;

	assert(source != destination && bytes > 0);
	mpi_messages_reach(messages, now);
	qp = open_connection(messages, source, destination);
	trouble = messages->backend->ops->trouble(messages->backend);
	if (trouble)
		return trouble;
	message = pool_take(&messages->pool);
	*message = (struct mpi_message){
		.messages = messages,
		.user = user,
		.number = add_record(messages, source, destination, bytes, qp),
	};
	messages->by_number[message->number] = message;
	messages->bytes += bytes;
	event_init(&message->event, &messages->block, see);
	post(messages, message, qp, bytes);
	return NULL;
}

sim_time mpi_messages_advance(struct mpi_messages *messages, sim_time until)
{
	struct sim *sim = messages->uses.sim;

	if (messages->ended)
		return sim_now(sim);
	if (until == SIM_NEVER && sim_next(sim) == SIM_NEVER)
		return SIM_NEVER;
	sim_run(sim, until);
	return messages->ended || until != SIM_NEVER ? sim_now(sim) : SIM_NEVER;
}

void *mpi_messages_take(struct mpi_messages *messages, bool *failed)
{
	struct mpi_message *message = messages->ended;
	void *user;

	if (!message)
		return NULL;
	messages->ended = message->next;
	if (!messages->ended)
		messages->ended_last = &messages->ended;
	*failed = message->failed;
	user = message->user;
	message->seen = true;
	release(message);
	return user;
}

void mpi_messages_drain(struct mpi_messages *messages)
{
	struct sim *sim = messages->uses.sim;

	while (messages->pool.in_use > 0 &&
	       sim_next(sim) != SIM_NEVER) { /* ACKs, and messages that no rank waits for */
		bool failed;
		sim_run(sim, sim_next(sim) + 1);
		while (mpi_messages_take(messages, &failed))
			;
	}
	messages->backend->ops->outstanding(messages->backend, add_report, messages);
}

struct mpi_messages_totals mpi_messages_totals(const struct mpi_messages *messages)
{
	return (struct mpi_messages_totals){.records = messages->records,
					    .count = messages->count,
					    .bytes = messages->bytes,
					    .failed = messages->failed};
}

static const struct block_type mpi_type = {.name = "mpi_world"};

struct mpi_messages *mpi_messages_create(const struct mpi_messages_uses *uses)
{
	struct mpi_messages *messages = calloc(1, sizeof(*messages));

	assert(messages);
	messages->uses = *uses;
	messages->user = (struct backend_user){done, delivered, ignore_read, ignore_read};
	block_init(&messages->block, uses->sim, &mpi_type, "mpi", NULL, NULL);
	pool_init(&messages->pool, sizeof(struct mpi_message), 0);
	messages->ended_last = &messages->ended;
	return messages;
}

/* The program alone knows which connections there will be, and how long messages are. */
const char *mpi_messages_start(struct mpi_messages *messages, struct backend *backend,
			       uint64_t bytes_max)
{
	messages->backend = backend;
	backend->user = &messages->user;
	backend->ops->plan_any(backend, bytes_max);
	backend->ops->start(backend);
	return backend->ops->trouble(backend);
}

void mpi_messages_destroy(struct mpi_messages *messages)
{
	pool_fini(&messages->pool);
	block_fini(&messages->block);
	free(messages->connections);
	free(messages->records);
	free(messages->by_number);
	free(messages);
}
