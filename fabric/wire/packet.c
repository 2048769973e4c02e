/*
 * packet: pools of packets and payloads, and the length of a packet on the wire. Pools grow in
 * slabs and never shrink, so a run that has warmed up allocates nothing.
 */
#include "fabric/wire/packet.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/wire/opcode.h"

#define SLAB_PACKETS   512
#define SLAB_PAYLOADS  128
#define SLAB_TELEMETRY 256
#define CACHE_LINE     64

#define ETHERNET_BYTES_MIN 64 /* destination..FCS, IEEE 802.3 */
#define FLOW_CONTROL_BYTES 6

struct slab {
	struct slab *next;
};

struct packet_pool {
	struct slab *slabs;
	struct packet *free_packets;
	struct payload *free_payloads;
	struct telemetry *free_telemetry;
	uint64_t packets_in_use;
	uint64_t payloads_in_use;
	uint64_t telemetry_in_use;
};

struct packet_pool *packet_pool_create(void)
{
	struct packet_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		abort();
	return pool;
}

void packet_pool_destroy(struct packet_pool *pool)
{
	while (pool->slabs) {
		struct slab *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	free(pool);
}

static size_t round_to_line(size_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The first cache line of a slab is its list link. */
static uint8_t *slab_add(struct packet_pool *pool, size_t bytes)
{
	struct slab *slab = aligned_alloc(CACHE_LINE, CACHE_LINE + bytes);

	if (!slab)
		abort();
	slab->next = pool->slabs;
	pool->slabs = slab;
	return (uint8_t *)slab + CACHE_LINE;
}

static void packets_grow(struct packet_pool *pool)
{
	size_t stride = round_to_line(sizeof(struct packet));
	uint8_t *memory = slab_add(pool, stride * SLAB_PACKETS);

	for (size_t i = SLAB_PACKETS; i-- > 0;) {
		struct packet *packet = (struct packet *)(void *)(memory + i * stride);

		packet->next = pool->free_packets;
		pool->free_packets = packet;
	}
}

static void payloads_grow(struct packet_pool *pool)
{
	size_t stride = round_to_line(sizeof(struct payload));
	uint8_t *memory = slab_add(pool, stride * SLAB_PAYLOADS);

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
		packets_grow(pool);
	packet = pool->free_packets;
	pool->free_packets = packet->next;
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
	uint8_t *memory = slab_add(pool, stride * SLAB_TELEMETRY);

	for (size_t i = 0; i < SLAB_TELEMETRY; i++) {
		struct telemetry *telemetry = (struct telemetry *)(void *)(memory + i * stride);

		telemetry->next_free = pool->free_telemetry;
		pool->free_telemetry = telemetry;
	}
}

struct telemetry *telemetry_new(struct packet_pool *pool)
{
	struct telemetry *telemetry;

	if (!pool->free_telemetry)
		telemetry_grow(pool);
	telemetry = pool->free_telemetry;
	pool->free_telemetry = telemetry->next_free;
	pool->telemetry_in_use++;
	telemetry->count = telemetry->skipped = 0;
	return telemetry;
}

void telemetry_free(struct packet_pool *pool, struct telemetry *telemetry)
{
	assert(pool->telemetry_in_use > 0);
	pool->telemetry_in_use--;
	telemetry->next_free = pool->free_telemetry;
	pool->free_telemetry = telemetry;
}

struct payload *payload_new(struct packet_pool *pool)
{
	struct payload *payload;

	if (!pool->free_payloads)
		payloads_grow(pool);
	payload = pool->free_payloads;
	assert(payload->references == 0);
	pool->free_payloads = payload->next_free;
	pool->payloads_in_use++;
	payload->next_free = NULL;
	payload->references = 1;
	return payload;
}

void payload_drop(struct packet_pool *pool, struct payload *payload)
{
	assert(payload->references > 0);
	if (--payload->references > 0)
		return;
	payload->next_free = pool->free_payloads;
	pool->free_payloads = payload;
	assert(pool->payloads_in_use > 0);
	pool->payloads_in_use--;
}

void packet_free(struct packet_pool *pool, struct packet *packet)
{
	if (packet->payload)
		payload_drop(pool, packet->payload);
	packet->payload = NULL;
	if (pool->telemetry_in_use && packet->telemetry) /* spares most runs the cache line */
		telemetry_free(pool, packet->telemetry);
	packet->next = pool->free_packets;
	pool->free_packets = packet;
	assert(pool->packets_in_use > 0);
	pool->packets_in_use--;
}

uint64_t packet_pool_in_use(const struct packet_pool *pool)
{
	return pool->packets_in_use;
}

uint64_t packet_pool_payloads_in_use(const struct packet_pool *pool)
{
	return pool->payloads_in_use;
}

uint32_t packet_wire_bytes(const struct packet *packet)
{
	uint32_t bytes;

	switch ((enum packet_kind)packet->kind) {
	case PACKET_FLOW_CONTROL:
		return FLOW_CONTROL_BYTES;
	case PACKET_PFC:
		return ETHERNET_BYTES_MIN;
	case PACKET_RAW:
		return packet->wire_bytes; /* nobody knows but who made it */
	case PACKET_DATA:
		break;
	}
	assert(packet->path && opcode_known(packet->opcode));
	bytes = path_header_bytes(packet->path) + opcode_info[packet->opcode].bytes +
		packet->payload_bytes + packet_pad_bytes(packet) + path_trailer_bytes(packet->path);
	if (packet->path->link_layer == LINK_ETHERNET && bytes < ETHERNET_BYTES_MIN)
		bytes = ETHERNET_BYTES_MIN;
	return bytes;
}
