/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet: pools of packets and payloads, and the length of a packet on the wire. Pools grow in
 * slabs and never shrink. A run therefore allocates no memory after its warm-up.
 */
#include "fabric/wire/packet.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"
#include "fabric/wire/tcp_packet.h"
#include "sim/arena.h"

#define SLAB_PACKETS   512
#define SLAB_PAYLOADS  128
#define SLAB_TELEMETRY 256
#define CACHE_LINE     64

#define ETHERNET_BYTES_MIN 64 /* destination..FCS, IEEE 802.3 */
#define FLOW_CONTROL_BYTES 6

#define BATCH_PACKETS 64
#define BATCHES_KEPT  4

/* Shared state of pools that exchange packets. A pool that frees more packets than it creates
 * stores batches here. */
struct depot {
	pthread_mutex_t lock;
	struct packet *batches; /* the first packet of each; ->path leads to the next */
	struct packet_pool *pools;
	struct paths *paths; /* NULL: packets stay in this process */
};

struct packet_pool {
	struct packet *free_packets; /* less than a batch, linked by ->next */
	uint32_t free_count;
	uint32_t batch_count;
	struct packet *batches; /* full batches, as in the depot */
	/* modulo 2^64, because other pools may free packets of this pool */
	uint64_t packets_in_use;
	struct payload *free_payloads;
	struct telemetry *free_telemetry;
	uint64_t payloads_in_use;
	struct arena arena;
	struct depot *depot;
	struct packet_pool *next; /* list of the depot */
};

static size_t round_to_line(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static struct packet_pool *create(struct depot *depot)
{
	struct packet_pool *pool = aligned_alloc(CACHE_LINE, round_to_line(sizeof(*pool)));

	if (!pool)
		abort();
	*pool = (struct packet_pool){.depot = depot, .next = depot->pools};
	depot->pools = pool;
	return pool;
}

struct packet_pool *packet_pool_create(void)
{
	struct depot *depot = calloc(1, sizeof(*depot));

	if (!depot)
		abort();
	pthread_mutex_init(&depot->lock, NULL);
	return create(depot);
}

struct packet_pool *packet_pool_create_beside(struct packet_pool *pool)
{
	return create(pool->depot);
}

static void free_pool(struct packet_pool *pool)
{
	arena_fini(&pool->arena);
	free(pool);
}

void packet_pool_destroy(struct packet_pool *pool)
{
	struct depot *depot = pool->depot;

	while (depot->pools) {
		struct packet_pool *one = depot->pools;

		depot->pools = one->next;
		free_pool(one);
	}
	pthread_mutex_destroy(&depot->lock);
	free(depot);
}

static struct packet *batch_next(const struct packet *batch)
{
	return (struct packet *)(uintptr_t)batch->path;
}

static void batch_push(struct packet **list, struct packet *batch)
{
	batch->path = (const struct path *)(const void *)*list;
	*list = batch;
}

static void packets_grow(struct packet_pool *pool)
{
	size_t stride = round_to_line(sizeof(struct packet));
	uint8_t *memory = arena_take(&pool->arena, stride * SLAB_PACKETS);

	for (size_t i = SLAB_PACKETS; i-- > 0;) {
		struct packet *packet = (struct packet *)(void *)(memory + i * stride);

		packet->next = i % BATCH_PACKETS == BATCH_PACKETS - 1
				       ? NULL
				       : (struct packet *)(void *)(memory + (i + 1) * stride);
		if (i % BATCH_PACKETS == 0) {
			batch_push(&pool->batches, packet);
			pool->batch_count++;
		}
	}
}

/* Refills free_packets: from the pool's own batches, from batches of other pools, or with new
 * packets. */
static void refill(struct packet_pool *pool)
{
	struct depot *depot = pool->depot;
	struct packet *batch = pool->batches;

	if (!batch && (depot->pools != pool || pool->next)) {
		pthread_mutex_lock(&depot->lock);
		batch = depot->batches;
		if (batch)
			depot->batches = batch_next(batch);
		pthread_mutex_unlock(&depot->lock);
	} else if (batch) {
		pool->batches = batch_next(batch);
		pool->batch_count--;
	}
	if (!batch) {
		packets_grow(pool);
		batch = pool->batches;
		pool->batches = batch_next(batch);
		pool->batch_count--;
	}
	pool->free_packets = batch;
	pool->free_count = BATCH_PACKETS;
}

/* Stores free_packets, which is a full batch. */
static void put_away(struct packet_pool *pool)
{
	struct depot *depot = pool->depot;
	bool alone = depot->pools == pool && !pool->next;

	if (alone || pool->batch_count < BATCHES_KEPT) {
		batch_push(&pool->batches, pool->free_packets);
		pool->batch_count++;
	} else {
		pthread_mutex_lock(&depot->lock);
		batch_push(&depot->batches, pool->free_packets);
		pthread_mutex_unlock(&depot->lock);
	}
	pool->free_packets = NULL;
	pool->free_count = 0;
}

static void payloads_grow(struct packet_pool *pool)
{
	size_t stride = round_to_line(sizeof(struct payload));
	uint8_t *memory = arena_take(&pool->arena, stride * SLAB_PAYLOADS);

	for (size_t i = SLAB_PAYLOADS; i-- > 0;) {
		struct payload *payload = (struct payload *)(void *)(memory + i * stride);

		payload->references = 0;
		payload->next_free = pool->free_payloads;
		pool->free_payloads = payload;
	}
}

struct packet *packet_new(struct packet_pool *pool)
{
	struct packet *packet;

	if (!pool->free_packets)
		refill(pool);
	packet = pool->free_packets;
	pool->free_packets = packet->next;
	pool->free_count--;
	pool->packets_in_use++;
	memset(packet, 0, sizeof(*packet));
	return packet;
}

struct packet *packet_copy(struct packet_pool *pool, const struct packet *original)
{
	struct packet *packet = packet_new(pool);

	*packet = *original;
	packet->next = NULL;
	packet->telemetry = NULL;
	if (packet->payload)
		payload_hold(packet->payload);
	return packet;
}

static void telemetry_grow(struct packet_pool *pool)
{
	size_t stride = round_to_line(sizeof(struct telemetry));
	uint8_t *memory = arena_take(&pool->arena, stride * SLAB_TELEMETRY);

	for (size_t i = 0; i < SLAB_TELEMETRY; i++) {
		struct telemetry *telemetry = (struct telemetry *)(void *)(memory + i * stride);

		telemetry->next_free = pool->free_telemetry;
		pool->free_telemetry = telemetry;
	}
}

struct telemetry *packet_telemetry_new(struct packet_pool *pool)
{
	struct telemetry *telemetry;

	if (!pool->free_telemetry)
		telemetry_grow(pool);
	telemetry = pool->free_telemetry;
	pool->free_telemetry = telemetry->next_free;
	telemetry->count = telemetry->skipped = 0;
	telemetry->complete = false;
	return telemetry;
}

void packet_telemetry_free(struct packet_pool *pool, struct telemetry *telemetry)
{
	telemetry->next_free = pool->free_telemetry;
	pool->free_telemetry = telemetry;
}

struct payload *packet_payload_new(struct packet_pool *pool)
{
	struct payload *payload;

	if (!pool->free_payloads)
		payloads_grow(pool);
	payload = pool->free_payloads;
	assert(payload->references == 0);
	pool->free_payloads = payload->next_free;
	pool->payloads_in_use++;
	payload->next_free = NULL;
	payload->more = NULL;
	payload->references = 1;
	return payload;
}

struct payload *packet_payload_of(struct packet_pool *pool, const uint8_t *bytes, uint32_t length)
{
	struct payload *first = NULL, **place = &first;

	while (length > 0) {
		uint32_t part = length < PAYLOAD_MAX ? length : PAYLOAD_MAX;

		*place = packet_payload_new(pool);
		memcpy((*place)->bytes, bytes, part);
		place = &(*place)->more;
		bytes += part;
		length -= part;
	}
	return first;
}

void packet_payload_copy(const struct payload *payload, uint8_t *bytes, uint32_t length)
{
	for (; length > 0; payload = payload->more) {
		uint32_t part = length < PAYLOAD_MAX ? length : PAYLOAD_MAX;

		memcpy(bytes, payload->bytes, part);
		bytes += part;
		length -= part;
	}
}

void packet_payload_drop(struct packet_pool *pool, struct payload *payload)
{
	assert(payload->references > 0);
	if (--payload->references > 0)
		return;
	while (payload) {
		struct payload *more = payload->more;

		payload->next_free = pool->free_payloads;
		pool->free_payloads = payload;
		payload->references = 0;
		assert(pool->payloads_in_use > 0);
		pool->payloads_in_use--;
		payload = more;
	}
}

void packet_free(struct packet_pool *pool, struct packet *packet)
{
	if (packet->payload)
		packet_payload_drop(pool, packet->payload);
	packet->payload = NULL;
	if (packet->telemetry)
		packet_telemetry_free(pool, packet->telemetry);
	packet->telemetry = NULL;
	packet->next = pool->free_packets;
	pool->free_packets = packet;
	pool->packets_in_use--;
	if (++pool->free_count == BATCH_PACKETS)
		put_away(pool);
}

uint64_t packet_pool_in_use(const struct packet_pool *pool)
{
	uint64_t packets = 0;

	for (const struct packet_pool *one = pool->depot->pools; one; one = one->next)
		packets += one->packets_in_use;
	return packets;
}

uint64_t packet_pool_in_use_alone(const struct packet_pool *pool)
{
	return pool->packets_in_use;
}

void packet_pool_set_paths(struct packet_pool *pool, struct paths *paths)
{
	pool->depot->paths = paths;
}

static void carry_telemetry(struct packet_pool *pool, struct telemetry **telemetry,
			    struct carry *carry)
{
	if (carry->reads)
		*telemetry = packet_telemetry_new(pool);
	CARRY(carry, (*telemetry)->count);
	CARRY(carry, (*telemetry)->skipped);
	CARRY(carry, (*telemetry)->complete);
	carry_raw(carry, (*telemetry)->hops, (*telemetry)->count * sizeof((*telemetry)->hops[0]));
}

void packet_carry(struct packet_pool *pool, struct packet *packet, struct carry *carry)
{
	struct paths *paths = pool->depot->paths;
	struct telemetry *telemetry = packet->telemetry;
	uint64_t words[sizeof(*packet) / 8];
	uint32_t path = packet->path ? path_number(paths, packet->path) : NO_PATH;
	bool measured = telemetry != NULL;

	static_assert(sizeof(*packet) % 8 == 0 && sizeof(*packet) <= 64 * 8, "carry_words()");
	assert(!packet->payload);
	memcpy(words, packet, sizeof(words));
	words[offsetof(struct packet, next) / 8] = 0;
	words[offsetof(struct packet, path) / 8] = 0;
	words[offsetof(struct packet, telemetry) / 8] = 0;
	words[offsetof(struct packet, replica) / 8] = 0;
	carry_words(carry, words, ARRAY_SIZE(words));
	CARRY(carry, path);
	CARRY(carry, measured);
	if (carry->reads) {
		memcpy(packet, words, sizeof(words));
		packet->path = path == NO_PATH ? NULL : path_numbered(paths, path);
	}
	if (measured)
		carry_telemetry(pool, carry->reads ? &packet->telemetry : &telemetry, carry);
}

uint64_t packet_pool_payloads_in_use(const struct packet_pool *pool)
{
	return pool->payloads_in_use;
}

uint32_t packet_wire_bytes(const struct packet *packet)
{
	uint32_t transport_bytes = 0, bytes;

	switch ((enum packet_kind)packet->kind) {
	case PACKET_FLOW_CONTROL:
		return FLOW_CONTROL_BYTES;
	case PACKET_PFC:
		return ETHERNET_BYTES_MIN;
	case PACKET_RAW:
		return packet->wire_bytes; /* only its creator knows the length */
	case PACKET_TCP:
		transport_bytes = tcp_packet_bytes(packet);
		break;
	case PACKET_DATA:
		assert(opcode_known(packet->opcode));
		transport_bytes = opcode_info[packet->opcode].bytes + packet->payload_bytes +
				  packet_pad_bytes(packet);
		break;
	}
	assert(packet->path);
	bytes = path_header_bytes(packet->path) + transport_bytes +
		path_trailer_bytes(packet->path);
	if (packet->path->link_layer == LINK_ETHERNET && bytes < ETHERNET_BYTES_MIN)
		bytes = ETHERNET_BYTES_MIN;
	return bytes;
}
