/* SPDX-License-Identifier: Apache-2.0 */
/* table: the connections of an adapter. A segment finds its connection by a hash of both ends. */
#include "hca/iwarp/rnic_state.h"

#define HASH_MULTIPLIER 2654435761u

/* Returns the connections that may have these ends. */
static struct rnic_connection **bucket_of(struct rnic *rnic, const uint8_t peer[16],
					  uint16_t own_port, uint16_t peer_port)
{
	uint32_t hash = (uint32_t)own_port << 16 | peer_port;

	for (unsigned i = 12; i < 16; i++) /* IPv4 */
		hash = hash * HASH_MULTIPLIER + peer[i];
	return &rnic->buckets[hash * HASH_MULTIPLIER >> 16 & (RNIC_BUCKETS - 1)];
}

static struct rnic_connection **own_bucket(const struct rnic_connection *connection)
{
	const struct path *path = connection->path;

	return bucket_of(connection->rnic, path->dgid, path->tcp_source_port,
			 path->tcp_destination_port);
}

void iwarp_table_add(struct rnic_connection *connection)
{
	struct rnic *rnic = connection->rnic;

	connection->next = rnic->connections;
	if (connection->next)
		connection->next->last = connection;
	rnic->connections = connection;
	connection->bucket_next = *own_bucket(connection);
	*own_bucket(connection) = connection;
}

void iwarp_table_remove(struct rnic_connection *connection)
{
	struct rnic_connection **link = own_bucket(connection);

	while (*link != connection)
		link = &(*link)->bucket_next;
	*link = connection->bucket_next;
	if (connection->next)
		connection->next->last = connection->last;
	if (connection->last)
		connection->last->next = connection->next;
	else
		connection->rnic->connections = connection->next;
}

static bool is_of(const struct rnic_connection *connection, const struct path *path)
{
	const struct path *own = connection->path;

	return own->tcp_source_port == path->tcp_destination_port &&
	       own->tcp_destination_port == path->tcp_source_port &&
	       memcmp(own->sgid, path->dgid, sizeof(own->sgid)) == 0 &&
	       memcmp(own->dgid, path->sgid, sizeof(own->dgid)) == 0;
}

struct rnic_connection *iwarp_table_find(struct rnic *rnic, const struct path *path)
{
	struct rnic_connection *connection =
		*bucket_of(rnic, path->sgid, path->tcp_destination_port, path->tcp_source_port);

	while (connection && !is_of(connection, path))
		connection = connection->bucket_next;
	return connection;
}
