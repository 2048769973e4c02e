/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection_memory: see connection_memory.h.
 */
#include "hca/endpoint/connection_memory.h"

#include "hca/endpoint/connection_params.h"
#include "hca/endpoint/iwarp_end.h"
#include "hca/endpoint/tcp_end.h"

uint64_t connection_memory_iwarp_state(const struct endpoint_hca *ep)
{
	const struct connection_memory_params *params = ep->memory;

	return params ? params->iwarp_context +
				params->receive_entries * params->iwarp_receive_entry
		      : 0;
}

static uint64_t lower(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* Returns the bytes in the send buffer: those without an ACK, and those that fit of the message
 * that is being sent. */
static uint64_t send_buffer_bytes(const struct tcp_end *end)
{
	const struct connection_memory_params *params = end->qp->ep->memory;
	uint64_t sent = tcp_held_sent(end->connection), unsent = tcp_unsent(end->connection);
	uint64_t most;

	if (!unsent || !params)
		return sent;
	most = end->iwarp ? params->iwarp_send_buffer
			  : lower(2 * tcp_cwnd_bytes(end->connection), params->socket_send_buffer);
	return sent < most ? lower(sent + unsent, most) : sent;
}

void connection_memory_count(struct tcp_end *end)
{
	struct endpoint_tcp *host = end->host;
	uint64_t bytes = send_buffer_bytes(end) + tcp_held_received(end->connection);

	host->held_bytes += bytes - end->held_bytes;
	end->held_bytes = bytes;
	if (end->iwarp)
		iwarp_end_count_held(end->qp, bytes);
	if (host->held_bytes > host->count.held_bytes)
		host->count.held_bytes = host->held_bytes;
}

static void add(struct connection_memory *memory, uint64_t count, uint64_t state, uint64_t rings)
{
	memory->connections += count;
	memory->state_bytes += count * state;
	memory->ring_bytes += count * rings;
}

struct connection_memory connection_memory_of(const struct endpoint_hca *ep)
{
	struct connection_memory memory = {.held_bytes = ep->tcp ? ep->tcp->count.held_bytes : 0};
	const struct connection_memory_params *params = ep->memory;
	uint64_t iwarp = ep->iwarp ? ep->iwarp->count.connections : 0;
	uint64_t tcp = ep->tcp ? ep->tcp->count.connections : 0;

	if (!params)
		return (struct connection_memory){.connections = 0};
	add(&memory, ep->qp_count - tcp, params->rdma_context,
	    params->send_entries * params->rdma_send_wqe +
		    params->receive_entries * params->rdma_receive_wqe);
	add(&memory, iwarp, connection_memory_iwarp_state(ep),
	    params->send_entries * params->iwarp_send_wqe +
		    params->receive_entries * params->iwarp_receive_wqe);
	add(&memory, tcp - iwarp, params->socket, 0);
	return memory;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct connection_memory_params, __VA_ARGS__)
const struct param connection_memory_param_list[] = { CONNECTION_MEMORY_PARAMS(ROW) { 0 } };
/* clang-format on */
